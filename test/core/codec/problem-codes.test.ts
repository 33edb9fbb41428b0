import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { problemCodes } from "../../../src/core/codec/problem-codes.ts";

const folder = new URL("../../../src/core/codec/", import.meta.url);
const sources = readdirSync(folder).filter((it) => it.endsWith(".ts") && it !== "problem-codes.ts");
const used = new Set(sources.flatMap((it) => readFileSync(new URL(it, folder), "utf8").match(/FLT\d{4}/g) ?? []));

it("every code that is used is listed", () => {
  expect([...used].filter((it) => !Object.hasOwn(problemCodes, it))).toEqual([]);
});

it("every code that is listed is used", () => {
  expect(Object.keys(problemCodes).filter((it) => !used.has(it))).toEqual([]);
});

it("codes stand in order, each with a line of its own", () => {
  const codes = Object.keys(problemCodes);
  expect(codes).toEqual([...codes].sort());
  expect(new Set(Object.values(problemCodes)).size).toBe(codes.length);
});
