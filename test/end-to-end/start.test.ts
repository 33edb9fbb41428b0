import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundle, projectFolder } from "./bundle.ts";
import { flotilla, start } from "./program.ts";

const commands = ["demo", "embedded", "validate", "plan", "reconcile", "get", "explain"];

test("flotilla --version says which version it is", async () => {
  const { version } = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
  expect(await flotilla(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

test("flotilla --help names every command, on stdout", async () => {
  const { code, out, err } = await flotilla(["--help"]);
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
  const { code, out, err } = await flotilla([]);
  expect({ code, out }).toEqual({ code: 64, out: "" });
  expect(err).toContain("Commands:");
});

test("an unknown command is suggested the nearest one", async () => {
  const { code, out, err } = await flotilla(["reconcil"]);
  expect({ code, out }).toEqual({ code: 64, out: "" });
  expect(err).toBe("error: unknown command 'reconcil'\n(Did you mean reconcile?)\n(flotilla --help tells more)\n");
});

test("npm start runs the demo, and ends with the fleet", async () => {
  await bundle();
  const began = Date.now();
  const run = await start(["npm", "start", "--silent"], { cwd: projectFolder, limitMs: 90_000 }).ended;
  expect(run.code, run.out + run.err).toBe(0);
  expect(Date.now() - began).toBeLessThan(60_000);
  const scenes = run.out.split("\n").filter((it) => it.startsWith("== "));
  expect(scenes).toHaveLength(6);
  const fleet = run.out.slice(run.out.indexOf("NAME  "));
  expect(fleet).toMatch(/^NAME +VERSION +STATUS +AVAILABLE +SINCE\n(\S+ +v1\.\d+\.\d+ +Healthy +(\d+)\/\2 *\n){9}\n/);
  expect(fleet).toMatch(/\nNAME +TYPE +CLUSTERS +UPDATED +AVAILABLE +INDEX +STATE\n(\S+ .+ Available\n){5}$/);
}, 100_000);
