import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { eventually } from "../kubernetes/eventually.ts";
import { makeScratch } from "../kubernetes/supervise.ts";

/** Takes a moment to end after it was told to. */
const slow = `
import { writeFileSync } from "node:fs";
process.on("SIGTERM", () => setTimeout(() => { console.log("finished"); process.exit(5); }, 100));
setInterval(() => {}, 1000);
writeFileSync("started", "");
`;

test.each(["SIGINT", "SIGTERM"] as const)(
  "a job cancelled by %s lets Flotilla finish what it has in hand",
  async (signal) => {
    const scratch = await makeScratch();
    onTestFinished(() => scratch.stop());
    await mkdir(join(scratch.path, "dist"));
    await writeFile(join(scratch.path, "package.json"), `{ "type": "module" }`);
    await writeFile(join(scratch.path, "dist/flotilla.js"), slow);
    const action = parse(await readFile(new URL("../../action.yml", import.meta.url), "utf8"));
    const { run, env } = action.runs.steps.find((step: { id?: string }) => step.id === "run");
    const empty = Object.fromEntries(Object.keys(env).map((name) => [name, ""]));
    const runner = { GITHUB_ACTION_PATH: scratch.path, GITHUB_OUTPUT: join(scratch.path, "output") };

    const shell = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", run], {
      cwd: scratch.path,
      env: { ...process.env, ...empty, ...runner, INPUT_COMMAND: "reconcile" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = Promise.all([once(shell, "exit"), text(shell.stdout)]);
    await eventually("Flotilla has started", () => readFile(join(scratch.path, "started")).catch(() => null), 10_000);
    shell.kill(signal);
    const [[code], output] = await ended;

    expect({ code, output }).toEqual({ code: 5, output: "finished\n" });
    expect(await readFile(runner.GITHUB_OUTPUT, "utf8")).toBe("exit-code=5\n");
  },
);
