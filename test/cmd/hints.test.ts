// Whoever follows a hint of ours must not be told that there is no such option.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";

const source = join(import.meta.dirname, "../../src");

async function helpOf(argv: readonly string[]): Promise<string> {
  let said = "";
  const out = (text: string): void => {
    said += text;
  };
  await main([...argv, "--help"], { out, err: out, environment: {} });
  return said;
}

/** The options of every command, as `--help` lists them. */
async function optionsFrom(argv: readonly string[]): Promise<readonly string[]> {
  const help = await helpOf(argv);
  const own = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z][a-z-]*)/gm)].map((it) => it[1] ?? "");
  const commands = help.split(/^Commands:$/m)[1]?.split(/^\S/m)[0] ?? "";
  const names = [...commands.matchAll(/^ {2}([a-z]+)/gm)].map((it) => it[1] ?? "").filter((it) => it !== "help");
  const below = await Promise.all(names.map((it) => optionsFrom([...argv, it])));
  return [...own, ...below.flat()];
}

/** What is said to people: string literals with a space in them. Options of other programs follow these programs' names. */
function* optionsNamedIn(text: string): Iterable<string> {
  const code = text.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, "");
  for (const [literal] of code.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)) {
    if (!literal.includes(" ")) continue;
    const ours = literal.replaceAll(/\b(?:git|npm|gpg|kubectl) [^,;()"`]*/g, "");
    for (const [option] of ours.matchAll(/(?<![\w-])--[a-z][a-z-]*(?![=\w-])/g)) yield option;
  }
}

test("every option that a message, a hint or a help text names is an option of some command", async () => {
  const known = new Set([...(await optionsFrom([])), "--help", "--version"]);
  expect(known).toContain("--state-branch");
  const named = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((it) => it.endsWith(".ts"))
    .flatMap((path) => [...optionsNamedIn(readFileSync(join(source, path), "utf8"))].map((it) => [path, it] as const));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(([, option]) => !known.has(option))).toEqual([]);
});

test("every option that the README names is one", async () => {
  const known = new Set([...(await optionsFrom([])), "--help", "--version"]);
  const text = readFileSync(join(source, "../README.md"), "utf8").replaceAll(/\b(?:git|npm|kubectl) [^,;()`]*/g, "");
  const named = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([option]) => option);
  expect(named.filter((it) => !known.has(it))).toEqual([]);
});
