import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { problemCodes } from "../../../src/core/yaml/problems.ts";

const src = new URL("../../../src/", import.meta.url);
const rooms = ["core/yaml", "core/intent", "core/ledger", "core/rollout/tasks", "cmd/commands/reconcile"];
const sources = rooms.flatMap((room) =>
  readdirSync(new URL(room, src), { recursive: true, encoding: "utf8" })
    .filter((it) => it.endsWith(".ts") && it !== "problems.ts")
    .map((it) => readFileSync(new URL(`${room}/${it}`, src), "utf8")),
);
const used = new Set(sources.flatMap((it) => it.match(/FLT\d{4}/g) ?? []));

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
