// Object literals that are spread on a condition, `...(x ? {} : { name })`, are held to no type: the compiler accepts any
// property in them, and one that nobody reads is dropped without a word. Here they are, written out, in a copy of the
// sources that the compiler looks at.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
let copy = "";
afterEach(() => rmSync(copy, { recursive: true, force: true }));

/** Such mistakes, each in another way of writing it; `known` is none. */
const mistakes = `
interface Options { readonly first: number; readonly second?: string; readonly third?: { readonly deep?: string } }
export const one = (it?: string): Options => ({ first: 1, ...(it === undefined ? {} : { unknownOne: it }) });
export const two = (it?: string): Options => ({ first: 1, ...(it !== undefined && { unknownTwo: "}" }) });
export const three = (it: string | null): Options => ({
  first: 1,
  ...(it === null
    ? { second: "it" }
    : { third: { ...(it === "" ? {} : { unknownThree: it }) } }),
});
export const four = (it?: string): Options => ({ first: 1, ...(it === undefined ? {} : { second: it }) });
`;

test("what is spread on a condition has no property that its type does not know", { timeout: 300_000 }, () => {
  copy = mkdtempSync(join(tmpdir(), "flotilla-spreads-"));
  for (const it of ["src", "schemas", "package.json", "tsconfig.json"])
    cpSync(join(root, it), join(copy, it), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  writeFileSync(join(copy, "src", "mistakes.ts"), mistakes);
  for (const it of readdirSync(join(copy, "src"), { recursive: true, encoding: "utf8" })) {
    if (!it.endsWith(".ts")) continue;
    const file = join(copy, "src", it);
    writeFileSync(file, writtenOut(readFileSync(file, "utf8")));
  }
  const args = ["--noEmit", "--pretty", "false", "--rootDir", copy, "--noUnusedLocals", "false"];
  const config = join(copy, "tsconfig.json");
  const include = JSON.stringify(["src"]);
  writeFileSync(config, readFileSync(config, "utf8").replace(/"include": \[[^\]]*\]/, `"include": ${include}`));
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), [...args, "-p", config], {
    encoding: "utf8",
    cwd: copy,
    maxBuffer: 1 << 26,
  });
  // Whatever else the compiler says is about conditions that are written out no more.
  const said = stdout.split("\n").flatMap((line) => {
    const found = /^(?:.*\/)?(src\/.*)\(\d+,\d+\): error TS(?:2353|2561):.*?'(\w+)'/.exec(line);
    return found === null ? [] : [`${found[1]}: ${found[2]}`];
  });
  expect(stdout).not.toMatch(/error TS1\d{3}:/);
  const found = new Set(said);
  for (const it of ["unknownOne", "unknownTwo", "unknownThree"]) {
    expect(said).toContain(`src/mistakes.ts: ${it}`);
    found.delete(`src/mistakes.ts: ${it}`);
  }
  expect([...found]).toEqual([]);
});

/** A text in which every conditional spread is its properties: `...(x ? {} : { name })` becomes `name`. */
function writtenOut(text: string): string {
  let [result, from] = ["", 0];
  for (let at = text.indexOf("...("); at >= 0; at = text.indexOf("...(", at + 4)) {
    if (at < from) continue;
    const end = closing(text, at + 3);
    const objects = end < 0 ? [] : [...alternatives(text.slice(at + 4, end))];
    if (objects.length === 0) continue;
    const properties = objects.map((it) => it.trim().replace(/,$/, "")).filter((it) => it !== "");
    result += text.slice(from, at) + writtenOut(properties.join(", "));
    from = end + 1;
    if (properties.length === 0) from += /^\s*,/.exec(text.slice(from))?.[0].length ?? 0;
  }
  return result + text.slice(from);
}

/** The bodies of the object literals that a condition chooses among. */
function* alternatives(expression: string): Generator<string> {
  for (let at = 0; at < expression.length; at += 1) {
    const sign = expression[at] ?? "";
    if (!`"'\`([{`.includes(sign)) continue;
    const end = closing(expression, at);
    if (end < 0) return;
    if (sign === "{" && /(?:\?|:|&&)\s*$/.test(expression.slice(0, at))) yield expression.slice(at + 1, end);
    at = end;
  }
}

const pairs: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Where what opens at an offset, a bracket or a quote, is closed. */
function closing(text: string, open: number): number {
  const awaited: string[] = [];
  for (let at = open; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    if (`"'\``.includes(sign)) {
      for (at += 1; at < text.length && text[at] !== sign; at += 1) if (text[at] === "\\") at += 1;
      if (awaited.length === 0) return at;
    } else if (text.startsWith("//", at)) at = text.indexOf("\n", at);
    else if (pairs[sign] !== undefined) awaited.push(pairs[sign]);
    else if (sign === awaited.at(-1)) {
      awaited.pop();
      if (awaited.length === 0) return at;
    }
  }
  return -1;
}
