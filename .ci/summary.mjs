// Prints what failed and `N passed, N failed` over JSON reports of the test runner, and fails unless everything that ran
// passed. The end of an output that was cut off tells what failed: whatever is named comes right before the last line.
import { existsSync, readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const linesShown = 6;
const lettersShown = 1_000;

/** The first lines of a message, without a terminal's colours and the runner's own frames, each cut where it is long. */
function firstLines(message) {
  const lines = stripVTControlCharacters(message).split("\n");
  const telling = lines.filter((it) => it.trim() !== "" && !it.includes("/node_modules/"));
  return telling
    .slice(0, linesShown)
    .map((it) => `    ${it.slice(0, lettersShown)}`)
    .join("\n");
}

// A runner that died left no report: that is a failure of its own.
const lost = process.argv.slice(2).filter((it) => !existsSync(it));
const results = process.argv
  .slice(2)
  .filter((it) => existsSync(it))
  .flatMap((it) => JSON.parse(readFileSync(it, "utf8")).testResults);
const statuses = results.flatMap((file) => file.assertionResults.map((test) => test.status));
const count = (status) => statuses.filter((it) => it === status).length;
// A file that could not be read has no test to blame, and counts as one.
const broken = results.filter(
  (file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"),
);

const passed = count("passed");
const failed = count("failed") + broken.length + lost.length;
const others = statuses.length - passed - count("failed");
if (others > 0) console.log(`${others} skipped`);
for (const file of results) {
  for (const test of file.assertionResults.filter((it) => it.status === "failed")) {
    console.log(
      `failed: ${file.name}: ${JSON.stringify(test.fullName)}\n${firstLines(test.failureMessages.join("\n"))}`,
    );
  }
}
for (const file of broken) console.log(`failed: ${file.name}\n${firstLines(file.message)}`);
for (const it of lost) console.log(`failed: ${it}: there is no report`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
