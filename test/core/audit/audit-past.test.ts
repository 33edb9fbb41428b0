// What an earlier version did by approvals as it asked for them is not held against whoever kept that record.
import { expect, test } from "vitest";
import { auditStep } from "../../../src/core/audit/audit.ts";
import { check } from "../../../src/core/check/check.ts";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import { changeDigest } from "../../../src/core/plan/approval/request-digest.ts";
import { placementOf, policyOf } from "../../intent.ts";
import { answer, by, changeOf, pass, settle, web } from "../plan/approval/trusted-world.ts";
import { standing } from "../plan/guard/guarded-world.ts";

/** The step in which the approved removal from the protected m3 is decided. */
function removal() {
  const world = standing();
  world.commit(() => {
    const policy = policyOf("PickFixed", "m1,m2");
    world.placements.set(web, placementOf({ name: "web", policy, options: ["unavailable=3"] }));
  }, by("dave"));
  settle(world);
  answer(world, "ann", changeOf(world).digest);
  for (let count = 0; count < 5; count++) {
    const { seen, plan } = pass(world);
    if (plan.ledger.placements.get(web)?.bindings.get("m3" as never)?.removal != null) return { seen, plan };
  }
  throw new Error("it is never decided");
}

/** The ledger as the earlier version had it: it asked without a word on what becomes of objects. */
function older(ledger: Ledger): Ledger {
  const record = ledger.placements.get(web);
  const change = record?.change ?? null;
  if (record === undefined || change?.request == null) return ledger;
  const bare = { ...change, leaves: new Map(), others: [] };
  const request = { ...change.request, digest: changeDigest(ledger, { ...bare, record }, change.request) };
  return { ...ledger, placements: new Map([...ledger.placements, [web, { ...record, change: { ...bare, request } }]]) };
}

const unapproved = "changes web on m3, which is protected, and nobody approved that";
const audited = (world: Parameters<typeof auditStep>[0], after: Ledger): readonly string[] =>
  auditStep(world, after).flatMap(({ what }) => (what === unapproved ? [what] : []));

test("a removal that an earlier version asked about in its way was approved", () => {
  const { seen, plan } = removal();
  const world = { ...seen, ledger: older(seen.ledger) };
  expect(audited(world, older(plan.ledger))).toEqual([]);
  expect(check({ ...plan, ledger: older(plan.ledger) }, world).map((it) => it.message)).toContain(unapproved);
});

test("one that nobody approved was not", () => {
  const { seen, plan } = removal();
  const denied = (ledger: Ledger): Ledger => {
    const record = ledger.placements.get(web);
    if (record?.change?.request == null) return ledger;
    const change = { ...record.change, request: { ...record.change.request, approval: null } };
    return { ...ledger, placements: new Map([...ledger.placements, [web, { ...record, change }]]) };
  };
  const world = { ...seen, ledger: older(denied(seen.ledger)) };
  expect(audited(world, older(denied(plan.ledger)))).toEqual([unapproved]);
});
