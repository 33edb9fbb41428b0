// What must hold for every plan, in any weather.
import { expect } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import { type Instant, later, minutes } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { differenceOf } from "./same-ledger.ts";

/**
 * A plan made with warm memories is the one made by cold ones, value by value: a copy of the world shares no identity with
 * anything that was seen before, so nothing of it is remembered. Asked again, the same world gives the same plan.
 */
export function isReproducible(seen: Seen, made: Plan, where: string): void {
  const copy = structuredClone(seen);
  const cold = plan(copy);
  expect(differenceOf(made, cold), `${where}: cold`).toBeNull();
  expect(differenceOf(plan(seen), cold), `${where}: again`).toBeNull();
  expect(check(cold, copy), where).toEqual([]);
  expect(made.ledger === seen.ledger, `${where}: stands as a cold plan says`).toBe(cold.ledger === copy.ledger);
}

/**
 * If the world stands still, decisions come to an end at once: what the members say of the newest ones is heard, and
 * then nothing is decided, done or written down before `wakeAt`.
 */
export function standsStill(seen: Seen, where: string): void {
  let settled = plan(seen);
  if (settled.refusal !== null) return;
  for (let again = 0; again < 8; again++) {
    const next = plan({ ...seen, ledger: settled.ledger });
    if (next.ledger === settled.ledger) break;
    settled = next;
  }
  const last = plan({ ...seen, ledger: settled.ledger, now: justBefore(settled, seen) });
  expect(last.ledger === settled.ledger ? "stands" : last.ledger, `${where}: the ledger moved`).toEqual("stands");
  expect(last.actions, `${where}: does something else before its time`).toEqual(settled.actions);
}

const justBefore = ({ wakeAt }: Plan, { now }: Seen): Instant =>
  wakeAt === null ? later(now, minutes(60 * 24 * 365)) : (Math.max(now, wakeAt - 1) as Instant);
