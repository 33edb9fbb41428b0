// One run that waits for an approval of its only stage, and what an answer to it comes to.
import { expect } from "vitest";
import type { ApprovalFile, ApprovalRule } from "../../../../src/core/model/trust.ts";
import type { World } from "../../../world.ts";
import {
  answer,
  carries,
  everything,
  fleet,
  gateOf,
  run,
  settle,
  trust,
  verdictOf,
} from "../approval/trusted-world.ts";

export const gated = ["prod/3/ask-before"];
export const none = { m1: "-", m2: "-", m3: "-" };
const line = "ConfigMap web/settings zero";
export const all = { m1: line, m2: line, m3: line };

/** Dave's first run waits; everybody named may approve. */
export function waiting(more: Partial<ApprovalRule> = {}, prepare: (world: World) => void = () => {}): World {
  const world = fleet(gated, trust({ approvals: [everything(more)] }));
  prepare(world);
  run(world, "first");
  settle(world);
  return world;
}

export const asked = (world: World) => gateOf(world, "first", 0).digest;

/** Whether an answer opens the gate; if not, why not. */
export function outcome(world: World, ...files: readonly ApprovalFile[]): string {
  const said = settle(world).join("\n");
  if (gateOf(world, "first", 0).approval !== null) return "open";
  expect(carries(world)).toEqual(none);
  const denied = files.map((it) => verdictOf(world, it)).filter((it) => it !== "counts");
  // Whoever answered is told.
  for (const it of denied) expect(said).toContain(it);
  return denied[0] ?? said;
}

/** In the end, two people who may approve do so in the way in which it is meant. */
export function honestly(world: World): void {
  for (const who of ["ann", "carol"]) answer(world, who, asked(world));
  expect(outcome(world)).toBe("open");
  expect(carries(world)).toEqual(all);
}
