// Prints `N passed, N failed` from the JSON report of the test runner, and fails unless everything that ran passed.
import { readFileSync } from "node:fs";

const report = JSON.parse(readFileSync(process.argv[2], "utf8") || '{"testResults":[]}');
const statuses = report.testResults.flatMap((file) => file.assertionResults.map((test) => test.status));
const count = (status) => statuses.filter((it) => it === status).length;
// A file that could not be read has no test to blame, and counts as one.
const broken = report.testResults.filter(
  (file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"),
);
for (const file of broken) console.log(`${file.name}: ${file.message}`);

const passed = count("passed");
const failed = count("failed") + broken.length;
const others = statuses.length - passed - count("failed");
if (others > 0) console.log(`${others} skipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
