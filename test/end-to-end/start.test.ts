import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundle, projectFolder } from "./bundle.ts";
import { flotilla, type Run, start, startFlotilla } from "./program.ts";

/** In a process of its own, always. */
const asProcess = async (args: readonly string[]): Promise<Run> => (await startFlotilla(args)).ended;

const commands = [
  ...["demo", "embedded", "validate", "schedule", "plan", "reconcile", "verify", "get", "explain"],
  ...["describe", "simulate", "run", "rollback", "prune", "evict", "drain", "uncordon"],
  ...["approve", "reject", "confirm", "trust"],
];

test("flotilla --version says which version it is", async () => {
  const { version } = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
  expect(await asProcess(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

test("flotilla --help names every command, on stdout", async () => {
  const { code, out, err } = await asProcess(["--help"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [, section = ""] = out.split(/^Commands:\n/m);
  const listed = [...(section.split("\n\n")[0] ?? "").matchAll(/^ {2}(\w+)/gm)].map((it) => it[1]);
  expect(listed.filter((it) => it !== "help")).toEqual(commands);
});

test.each(commands)("flotilla %s --help says what it does and which options it has", async (command) => {
  const { code, out, err } = await flotilla([command, "--help"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(new RegExp(`^Usage: flotilla ${command}.*\\n\\n\\S`));
});

test("flotilla alone shows the help, and is no success", async () => {
  const { code, out, err } = await asProcess([]);
  expect({ code, out }).toEqual({ code: 64, out: "" });
  expect(err).toContain("Commands:");
});

test("an unknown command is suggested the nearest one", async () => {
  const { code, out, err } = await asProcess(["reconcil"]);
  expect({ code, out }).toEqual({ code: 64, out: "" });
  expect(err).toBe("error: unknown command 'reconcil'\n(Did you mean reconcile?)\n(see flotilla --help)\n");
});

test("what is wrong with the words for a command is followed by where its own help is", async () => {
  const { code, err } = await asProcess(["run", "create", "next", "--strategy", "slow"]);
  expect({ code, err }).toEqual({
    code: 64,
    err: "error: required option '--placement <name>' not specified\n(see flotilla run create --help)\n",
  });
});

test("npm start runs the demo, and ends with the fleet", async () => {
  await bundle();
  const run = await start(["npm", "start", "--silent"], { cwd: projectFolder }).ended;
  expect(run.code, run.out + run.err).toBe(0);
  const scenes = run.out.split("\n").filter((it) => it.startsWith("== "));
  expect(scenes).toHaveLength(11);
  const [search = "", ...tables] = run.out.slice(run.out.indexOf("== Search")).split(/^(?=NAME )/m);
  for (const told of searchStory) expect(search).toMatch(told);
  expect(search).not.toMatch(/moves to resource snapshot 1 on (?!staging-eu-1\n)/);
  expect(tables.map((it) => it.trimEnd())).toEqual([
    expect.stringMatching(
      /^NAME +VERSION +STATUS +AVAILABLE +SINCE\n(\S+ +v1\.\d+\.\d+ +Healthy +(\d+)\/\2 *(\n|$)){9}$/,
    ),
    // The broken version is still what is selected, and no run brings it.
    expect.stringMatching(
      /^NAME +TYPE +CLUSTERS +UPDATED +AVAILABLE +INDEX +STATE\n(\S+ .+ Available\n){4}search .+ AwaitingRun\n\S+ .+ Available$/,
    ),
    expect.stringMatching(/^NAME .*\nsearch-1 .* Succeeded\nsearch-2 .* Superseded\nsearch-to-0 .* Succeeded$/),
  ]);
});

/** What the demo tells of its staged rollouts, each in its own words. */
const searchStory = [
  /\nsearch-1: Waiting: production: approval before it/,
  /\n {2}stage production of run search-1 was approved by ada@acme\.example/,
  /\n {2}search moves to resource snapshot 0 on prod-eu-1, prod-eu-2\n/,
  /\n {2}run search-1 is done\n/,
  /\nsearch-2: Stuck: stage staging .*\n[\s\S]*staging-eu-1: failed/,
  /\n {2}stage production of run search-to-0 has ended\n {2}run search-to-0 is done\n/,
];
