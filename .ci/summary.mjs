// Prints `N passed, N failed` over JSON reports of the test runner, and fails unless everything that ran passed.
import { existsSync, readFileSync } from "node:fs";

// A runner that died left no report: that is a failure of its own.
const lost = process.argv.slice(2).filter((it) => !existsSync(it));
for (const it of lost) console.log(`${it}: there is no report`);
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
for (const file of broken) console.log(`${file.name}: ${file.message}`);

const passed = count("passed");
const failed = count("failed") + broken.length + lost.length;
const others = statuses.length - passed - count("failed");
if (others > 0) console.log(`${others} skipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
