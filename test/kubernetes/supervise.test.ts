import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "./eventually.ts";
import { isRunning, makeScratch, startProgram, tailOfLog } from "./supervise.ts";

const isGone = (pid: number, path: string) => async () => (isRunning(pid) || existsSync(path) ? null : true);

/** A program that starts another one, and writes down both ids. */
const twoProgramsDeep = ["sh", "-c", "sleep 600 & echo $$ $!; wait"];

test("a stopped program is gone, with what it had started, and so is its folder", async () => {
  const scratch = await makeScratch();
  const log = join(scratch.path, "log");
  const program = startProgram(twoProgramsDeep, log, scratch.path);
  const line = await eventually("the program has started", async () => (await readFile(log, "utf8")) || null);
  const pids = [program.pid, ...line.trim().split(" ").map(Number)];
  expect(pids.filter(isRunning)).toEqual(pids);
  expect(program.ended()).toBeNull();
  await program.stop();
  await program.stop();
  expect(isRunning(program.pid)).toBe(false);
  await eventually("what it had started is gone", async () => (pids.some(isRunning) ? null : true), 5_000);
  await scratch.stop();
  expect(existsSync(scratch.path)).toBe(false);
});

test("a program that ends by itself says how, and what it said last", async () => {
  const scratch = await makeScratch();
  onTestFinished(() => scratch.stop());
  const log = join(scratch.path, "log");
  const program = startProgram(["sh", "-c", "echo no such port >&2; exit 7"], log, scratch.path);
  expect(await eventually("the program has ended", async () => program.ended())).toBe("exit code 7");
  expect(await tailOfLog(log)).toBe("no such port");
  await program.stop();
});

test("when a test's process is killed, its programs and folders go too", async () => {
  const scratch = await makeScratch();
  onTestFinished(() => scratch.stop());
  const source = fileURLToPath(new URL("supervise.ts", import.meta.url));
  const outfile = join(scratch.path, "supervise.mjs");
  await build({ entryPoints: [source], bundle: true, platform: "node", format: "esm", outfile, logLevel: "silent" });
  const parent = join(scratch.path, "parent.mjs");
  await writeFile(
    parent,
    `import { makeScratch, startProgram } from "./supervise.mjs";
     const scratch = await makeScratch();
     const program = startProgram(["sleep", "600"], scratch.path + "/log", scratch.path);
     process.stdout.write(JSON.stringify({ pid: program.pid, path: scratch.path }));
     process.kill(process.pid, "SIGKILL");`,
  );
  const child = spawn(process.execPath, [parent], { stdio: ["ignore", "pipe", "inherit"] });
  const [[, signal], said] = await Promise.all([once(child, "exit"), text(child.stdout)]);
  const { pid, path }: { pid: number; path: string } = JSON.parse(said);
  expect(signal).toBe("SIGKILL");
  await eventually("program and folder are gone", isGone(pid, path), 10_000);
});
