import { describe, expect, it } from "vitest";
import { decodeBlob, maxDocuments } from "../../../src/core/intent/documents.ts";
import { readTrust } from "../../../src/core/intent/trust/trust-file.ts";
import { composeYaml, isBounded, maxTokens } from "../../../src/core/yaml/compose.ts";
import { readYaml } from "../../../src/core/yaml/kyaml.ts";
import { maxProblems } from "../../../src/core/yaml/problems.ts";
import { positionsIn, slicesOf } from "../../../src/core/yaml/text.ts";
import { bytesOf } from "../intent/reading.ts";
import { heavyTexts, largeTexts } from "./heavy-texts.ts";

describe("a text that is refused costs no more than so many tokens", () => {
  it.each([...heavyTexts])("%s", { timeout: 60_000 }, (_, text) => {
    const { documents, tokens } = decodeBlob(bytesOf(text));
    expect(documents.some((it) => it.problems.some(({ severity }) => severity === "error"))).toBe(true);
    expect(tokens).toBeLessThanOrEqual(maxTokens);
    expect(documents.length).toBeLessThanOrEqual(maxDocuments + 1);
    for (const { problems } of documents) expect(problems.length).toBeLessThanOrEqual(maxProblems + 1);
  });
});

describe("a large text that people really keep is accepted", () => {
  it.each([...largeTexts])("%s", { timeout: 60_000 }, (_, text) => {
    const { documents, tokens } = decodeBlob(bytesOf(text));
    expect(documents.flatMap((it) => it.problems.filter(({ severity }) => severity === "error"))).toEqual([]);
    expect(tokens).toBeLessThanOrEqual(4 * maxTokens);
  });
});

it("the library keeps no more than five hundred parser errors of a million, and no second document", () => {
  for (const text of [
    `a: "${"\\q".repeat(500_000)}"`,
    "%a\n".repeat(10_000),
    "...\n".repeat(10_000),
    "--- a\n".repeat(9_000),
  ]) {
    const read = composeYaml(text, maxTokens);
    expect(read?.parserErrors.length ?? 0).toBeLessThanOrEqual(500);
  }
});

it("of a document that is too long, its first keys still say which object it is", () => {
  const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: web}\n";
  const [document] = decodeBlob(bytesOf(`${head}x: &a b\ndata: [${"c,".repeat(100_000)}]\n`)).documents;
  expect(document).toMatchObject({ kind: "object", id: { name: "a" }, content: null });
  expect(document?.problems.map((it) => it.code)).toEqual(["FLT1006", "FLT1010"]);
});

it("a definition as large as the largest that people apply needs no library, and names the key that is there twice", () => {
  const text = largeTexts.get("a definition with descriptions") ?? "";
  expect(decodeBlob(bytesOf(text)).tokens).toBe(0);
  const [document] = decodeBlob(bytesOf(`${text}spec: {}\n`)).documents;
  expect(document?.problems.map((it) => it.code)).toContain("FLT1005");
});

it("a document is not refused for the length of those before it that are in order", () => {
  const long = `a: [${"b,".repeat(3_500)}]\nc: on\n`;
  const { documents } = decodeBlob(bytesOf(Array(4).fill(long).join("---\n")));
  expect(documents.flatMap((it) => it.problems.filter(({ code }) => code === "FLT1010"))).toEqual([]);
});

it("what hands a text to another reader of YAML asks first how long it is", () => {
  expect(isBounded("a: b\n---\nc: [d]\n", 40)).toBe(true);
  expect(isBounded("a: b\n---\nc: [d]\n", 10)).toBe(false);
  expect(isBounded(`a: [${",".repeat(1000)}]`, 10_000)).toBe(false);
  expect(isBounded(`a: ${"[".repeat(1000)}`, 10_000)).toBe(false);
});

it("a trust file of nothing but signs costs no more than its length", () => {
  for (const sign of [",", "{}", "? ", "- ", "%a\n", "---\n", "...\n", "&a ", '"']) {
    const text = sign.repeat(60_000 / sign.length);
    const tokens = slicesOf(text, 100).map((it) => readYaml(it, positionsIn(it)).tokens);
    expect(readTrust(text).trust).toBe(null);
    expect(tokens.reduce((sum, it) => sum + it, 0)).toBeLessThanOrEqual(maxTokens);
  }
});
