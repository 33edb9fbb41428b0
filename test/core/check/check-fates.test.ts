// The second opinion on what becomes of objects: no code of the planner has a part in it (T-36; D 11).
import { expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { ChangeRequest, PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { placementOf, policyOf } from "../../intent.ts";
import type { World } from "../../world.ts";
import { answer, by, changeOf, pass, settle, web } from "../plan/approval/trusted-world.ts";
import { standing } from "../plan/guard/guarded-world.ts";

type Case = readonly [Seen, Plan];

const m3 = "m3" as ClusterName;

const faultsOf = ([seen, made]: Case): string =>
  check(made, seen)
    .map((it) => it.message)
    .join("\n");

const planned = (world: World): Case => {
  const seen = world.look();
  return [seen, plan(seen)];
};

/** The placement is to leave the protected m3, which Ann allowed. */
function leaving(options: readonly string[]): World {
  const world = standing(["unavailable=3", ...options]);
  world.commit(() => {
    const policy = policyOf("PickFixed", "m1,m2");
    world.placements.set(web, placementOf({ name: "web", policy, options: ["unavailable=3", ...options] }));
  }, by("dave"));
  settle(world);
  answer(world, "ann", changeOf(world).digest);
  pass(world);
  return world;
}

const withRecord = <T extends Pick<Seen, "ledger">>(it: T, change: (record: PlacementRecord) => object): T => {
  const record = it.ledger.placements.get(web) as PlacementRecord;
  const placements = new Map([...it.ledger.placements, [web, { ...record, ...change(record) }]]);
  return { ...it, ledger: { ...it.ledger, placements } };
};

const withBinding = <T extends Pick<Seen, "ledger">>(it: T, change: (binding: Binding) => object): T =>
  withRecord(it, ({ bindings }) => {
    const binding = bindings.get(m3) as Binding;
    return { bindings: new Map([...bindings, [m3, { ...binding, ...change(binding) }]]) };
  });

const released = (value: boolean) => (it: Binding) => ({
  leaving: it.leaving.map((leave) => ({ ...leave, released: value })),
});

const others = (value: boolean) => (it: Binding) => ({
  leaving: it.leaving.map((leave) => ({ ...leave, evenAdopted: value })),
});

const propagating = (propagation: "Delete" | "Abandon") => (it: Binding) => ({
  removal: it.removal === null ? null : { ...it.removal, propagation },
});

const unasked = /changes web on m3, which is protected, and nobody approved that/;

test("what leaves a protected cluster leaves as it was asked for", () => {
  const [seen, made] = planned(leaving([]));
  expect(faultsOf([seen, made])).toBe("");
  expect(made.ledger.placements.get(web)?.bindings.get(m3)?.removal).not.toBeNull();
  expect(faultsOf([seen, withBinding(made, released(true))])).toMatch(unasked);
  expect(faultsOf([seen, withBinding(made, propagating("Abandon"))])).toMatch(unasked);
  const asking = (leaves: ChangeRequest["leaves"]): Case => {
    const change = (it: PlacementRecord) => ({ change: it.change && { ...it.change, leaves } });
    return [withRecord(seen, change), withRecord(made, change)];
  };
  expect(faultsOf(asking(new Map()))).toMatch(unasked);
  const { leaves } = seen.ledger.placements.get(web)?.change ?? { leaves: new Map() };
  expect(faultsOf(asking(leaves))).not.toMatch(unasked);
  const less = new Map([[m3, leaves.get(m3)?.slice(1) ?? []]]);
  expect(faultsOf(asking(less))).toMatch(unasked);
});

test("what leaves leaves as its placement says", () => {
  const [seen, made] = planned(leaving(["abandon"]));
  expect(faultsOf([seen, made])).toBe("");
  expect(faultsOf([seen, withBinding(made, propagating("Delete"))])).toContain(
    "removes web on m3 by Delete, which was Abandon",
  );
  expect(faultsOf([seen, withBinding(made, others(true))])).toContain(
    "takes /ConfigMap/web/settings of web on m3 away otherwise than was said of objects that were there before us",
  );
  const adopted = ({ facts, leaving: all }: Binding) => ({
    facts: facts && { ...facts, adopted: all.map((it) => it.id) },
  });
  const found = withBinding(seen, ({ facts }) => ({
    facts: facts && { ...facts, adopted: [{ group: "", kind: "ConfigMap", namespace: "web", name: "settings" }] },
  }));
  const unseen = { ...found, observed: new Map() };
  expect(faultsOf([unseen, withBinding(made, adopted)])).toContain(
    "is going to delete /ConfigMap/web/settings of web on m3, which was there before us",
  );
});

test("what is on its way out stays with what was said", () => {
  const world = leaving([]);
  pass(world);
  world.member("m3").silence = { code: "Unreachable", message: "no answer" };
  const [seen, made] = planned(world);
  expect(faultsOf([seen, made])).toBe("");
  const letGo = withBinding(seen, released(true));
  const to = (it: Seen, change: (binding: Binding) => object): Case => [
    it,
    withBinding({ ...made, ledger: it.ledger }, change),
  ];
  expect(faultsOf(to(letGo, released(false)))).toContain(
    "deletes /ConfigMap/web/settings of web on m3, which was to be let go",
  );
  expect(faultsOf(to(seen, others(true)))).toContain(
    "changes what becomes of /ConfigMap/web/settings of web on m3, which is leaving",
  );
  const certain = withBinding(seen, others(true));
  expect(faultsOf(to(certain, released(true)))).toContain(
    "lets /ConfigMap/web/settings of web on m3 go, which was to be deleted",
  );
  expect(faultsOf(to(seen, propagating("Abandon")))).toContain("removes web on m3 by Abandon, which was Delete");
  // Called off and evicted in one pass: another removal, of which the placement says what it says now.
  const again = ({ removal }: Binding) => ({ removal: removal && { ...removal, sequence: made.ledger.sequence } });
  const anew = (it: Binding) => ({ ...again(it), ...others(false)(it) });
  expect(faultsOf(to(certain, anew))).not.toContain("web on m3");
  expect(faultsOf(to(letGo, (it) => ({ ...again(it), ...released(false)(it) })))).toContain("which was to be let go");
});

test("nothing that is let go is deleted", () => {
  const world = leaving([]);
  const { plan: made, seen } = pass(world);
  const [first] = made.actions.flatMap((it) => it.placements.flatMap(({ remove }) => remove));
  expect(first?.how).toBe("delete");
  expect(faultsOf([seen, withBinding(made, released(true))])).toContain("which is to be let go");
});
