// A plan that fails its check is made once more without the placements that the violations name (D 10).
import { expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import { decide, type Planner } from "../../../src/core/decide/decide.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, keyOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { planWithDefect } from "../../simulation/planted-defect.ts";
import { World, write } from "../../world.ts";

const [web, shop] = ["web" as PlacementKey, "shop" as PlacementKey];

/** Two placements at rest on one cluster. */
function atRest(): World {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1", ["env=prod"]));
    for (const name of [web, shop]) place(world, name);
  });
  settle(world);
  return world;
}

function place(world: World, name: PlacementKey): void {
  write(world, objectOf("ConfigMap", `${name}/config`, "one"));
  write(world, objectOf("Namespace", name, "one"));
  world.placements.set(name, placementOf({ name, policy: policyOf("PickAll", undefined), options: [] }));
}

function settle(world: World): void {
  for (let pass = 0; pass < 10; pass++) world.pass();
}

const change = (world: World, value: string): void =>
  world.commit(() => {
    for (const name of [web, shop]) write(world, objectOf("ConfigMap", `${name}/config`, value));
  });

const broken: Planner = (seen) => planWithDefect(seen, web);

function soundly(seen: Seen, planner: Planner): Plan {
  const decided = decide(seen, planner);
  if (decided.kind === "unsound") return expect.fail(decided.faults.map((it) => it.message).join("; "));
  return decided.plan;
}

const acting = ({ actions }: Plan): readonly string[] =>
  actions.flatMap(({ placements }) => placements.map((it) => it.placement));

/** The world after a plan was committed and nobody acted. */
const following = (seen: Seen, { ledger }: Plan): Seen => ({ ...seen, ledger });

test("D 10: a placement whose plan fails the check stays as recorded, and all others go on", () => {
  const world = atRest();
  change(world, "two");
  const seen = world.look();
  const { ledger, ...decided } = soundly(seen, broken);
  const [was, is] = [seen.ledger, ledger].map((it) => it.placements.get(web));
  expect({ ...is, conditions: [] }).toEqual({ ...was, conditions: [] });
  expect(is?.bindings).toBe(was?.bindings);
  expect(is?.conditions[0]).toMatchObject({
    type: "ClusterResourcePlacementPlanned",
    status: "False",
    reason: "Quarantined",
    message: expect.stringContaining("TargetSequenceWrong: the plan dates the target of web on m1 wrongly"),
  });
  expect(ledger.quarantines.get(web)).toMatchObject({ commit: seen.intent.commit, since: seen.now });
  expect(acting({ ledger, ...decided })).toEqual([shop]);
  expect(decided.reasons).toContainEqual(expect.objectContaining({ kind: "quarantined", placement: web }));
});

test("D 10: what others do to its objects on a member is not put right, and does not stop the pass", () => {
  const world = atRest();
  change(world, "two");
  const seen = world.look();
  const { ledger } = soundly(seen, broken);
  for (const name of [web, shop]) world.member("m1").objects.delete(keyOf("ConfigMap", `${name}/config`));
  expect(acting(soundly(world.look(), broken))).toEqual([shop]);
  expect(acting(soundly({ ...world.look(), ledger }, plan))).toEqual([shop]);
});

test("D 10: what a placement in quarantine has is wanted as recorded: who shares it keeps it until that one goes on", () => {
  const world = atRest();
  const placing = (name: PlacementKey, where: string, ns: string): void => {
    const policy = policyOf("PickFixed", where);
    world.placements.set(name, placementOf({ name, policy, options: [`ns=${ns}`, "unavailable=2"] }));
  };
  world.commit(() => {
    world.join(clusterOf("m2", ["env=prod"]));
    placing(web, "m1,m2", "web,shop");
  });
  settle(world);
  // By what their documents say, nobody wants what both have on m1 any more; by the record, web does.
  world.commit(() => {
    placing(web, "m2", "web,shop");
    placing(shop, "m1", "elsewhere");
  });
  const config = keyOf("ConfigMap", "shop/config");
  world.member("m1").objects.delete(config);
  const { ledger, actions } = soundly(world.look(), broken);
  const leaving = ledger.placements.get(shop)?.bindings.get("m1" as ClusterName)?.leaving ?? [];
  expect(leaving.map(({ id, handOver }) => `${id.kind} ${id.name} to ${handOver?.to}`).sort()).toEqual([
    "ConfigMap config to web",
    "Namespace shop to web",
  ]);
  const work = actions.flatMap((it) => it.placements);
  expect(work.flatMap((it) => it.remove)).toEqual([]);
  expect(work.filter((it) => it.apply.some(({ key }) => key === config)).map((it) => it.placement)).toEqual([shop]);
});

test("D 10: what the document of a placement in quarantine asks for is not deleted by who has it", () => {
  const world = atRest();
  // By the record, web has nothing of the namespace shop.
  world.commit(() => {
    const placing = (name: PlacementKey, ns: string): void => {
      const policy = policyOf("PickAll", undefined);
      world.placements.set(name, placementOf({ name, policy, options: [`ns=${ns}`, "unavailable=1"] }));
    };
    placing(web, "web,shop");
    placing(shop, "elsewhere");
  });
  const { ledger, actions } = soundly(world.look(), broken);
  expect([...ledger.quarantines.keys()]).toEqual([web]);
  expect(actions.flatMap((it) => it.placements.flatMap(({ remove }) => remove))).toEqual([]);
  const leaving = ledger.placements.get(shop)?.bindings.get("m1" as ClusterName)?.leaving ?? [];
  expect(leaving.map((it) => it.handOver?.to)).toEqual([web, web]);
});

test("D 10: the same commit is not planned again for it, and nothing is written anew", () => {
  const world = atRest();
  change(world, "two");
  const seen = world.look();
  const first = soundly(seen, broken);
  let plans = 0;
  const next = soundly(following(seen, first), (it) => {
    plans += 1;
    return broken(it);
  });
  expect(plans).toBe(1);
  expect(next.ledger.quarantines).toBe(first.ledger.quarantines);
  expect(next.ledger.placements.get(web)).toBe(first.ledger.placements.get(web));
});

test("D 10: another commit has it planned again, and since when it stays is kept while that fails", () => {
  const world = atRest();
  change(world, "two");
  const seen = world.look();
  const first = soundly(seen, broken);
  change(world, "three");
  const later = { ...following(world.look(), first) };
  const [again, mended] = [soundly(later, broken), soundly(later, plan)];
  expect(again.ledger.quarantines.get(web)).toMatchObject({ commit: later.intent.commit, since: seen.now });
  expect(mended.ledger.quarantines.size).toBe(0);
  expect(mended.ledger.placements.get(web)?.conditions.map((it) => it.reason)).not.toContain("Quarantined");
  expect(acting(mended)).toEqual([shop, web]);
});

test("D 10: the check finds a plan that leaves a placement in quarantine although another commit was read", () => {
  const world = atRest();
  change(world, "two");
  const first = soundly(world.look(), broken);
  change(world, "three");
  const seen = following(world.look(), first);
  const { quarantines } = first.ledger;
  const renewed = new Map([...quarantines].map(([key, it]) => [key, { ...it, commit: seen.intent.commit }]));
  const made = plan({ ...seen, ledger: { ...seen.ledger, quarantines: renewed } });
  const stubborn = { ...made, ledger: { ...made.ledger, quarantines } };
  expect(check(stubborn, seen).map((it) => it.code)).toEqual(["QuarantineUnfounded"]);
});

test("D 10: a release that decides by other rules plans it again", () => {
  const world = atRest();
  change(world, "two");
  const seen = world.look();
  const { ledger } = soundly(seen, broken);
  const quarantines = new Map([...ledger.quarantines].map(([key, it]) => [key, { ...it, decisionVersion: 0 }]));
  const next = soundly({ ...seen, ledger: { ...ledger, quarantines } }, plan);
  expect(next.ledger.quarantines.size).toBe(0);
  expect(acting(next)).toContain(web);
});

test("D 10: a placement that was never planned soundly has no record, and its evictions wait", () => {
  const world = atRest();
  const late = "late" as PlacementKey;
  world.commit(() => place(world, late));
  const seen = world.look();
  const { ledger } = soundly(seen, (it) => planWithDefect(it, late));
  expect(ledger.placements.has(late)).toBe(false);
  expect([...ledger.quarantines.keys()]).toEqual([late]);
});

test("D 10: a violation that names no placement stops the pass", () => {
  const world = atRest();
  change(world, "two");
  const planner: Planner = (seen) => {
    if (seen.unsound.size > 0) return plan(seen);
    const decided = planWithDefect(seen, web);
    return { ...decided, ledger: { ...decided.ledger, sequence: (decided.ledger.sequence + 1) as never } };
  };
  expect(decide(world.look(), planner)).toMatchObject({
    kind: "unsound",
    faults: expect.arrayContaining([expect.objectContaining({ code: "LedgerSequenceWrong" })]),
  });
});

test("D 10: a second plan that fails stops the pass, whatever it names", () => {
  const world = atRest();
  change(world, "two");
  const planner: Planner = (seen) => planWithDefect(seen, seen.unsound.has(web) ? shop : web);
  const decided = decide(world.look(), planner);
  expect(decided.kind).toBe("unsound");
  if (decided.kind === "unsound") expect(new Set(decided.faults.map((it) => it.code))).toContain("TargetSequenceWrong");
});

const meddlers: readonly (readonly [string, (honest: Plan, seen: Seen) => Plan, string])[] = [
  [
    "changes what stays as recorded",
    ({ ledger, ...rest }) => {
      const record = ledger.placements.get(web);
      if (record === undefined) return expect.fail("no record");
      const placements = new Map(ledger.placements).set(web, { ...record, generation: record.generation + 1 });
      return { ...rest, ledger: { ...ledger, placements } };
    },
    "QuarantineBroken",
  ],
  [
    "keeps a placement as recorded of which no plan failed",
    ({ ledger, ...rest }) => {
      const [known] = ledger.quarantines.values();
      if (known === undefined) return expect.fail("no quarantine");
      const quarantines = new Map(ledger.quarantines).set(shop, { ...known, placement: shop });
      return { ...rest, ledger: { ...ledger, quarantines } };
    },
    "QuarantineUnfounded",
  ],
];

test.each(meddlers)("D 10: the check finds a plan that %s", (_, meddle, code) => {
  const world = atRest();
  change(world, "two");
  const planner: Planner = (seen) => (seen.unsound.size === 0 ? broken(seen) : meddle(broken(seen), seen));
  const decided = decide(world.look(), planner);
  expect(decided.kind === "unsound" ? decided.faults.map((it) => it.code) : []).toContain(code);
});

const permitting = (made: Plan, permitted: Plan["ledger"]["deletions"]["permitted"]): Plan => ({
  ...made,
  ledger: { ...made.ledger, deletions: { ...made.ledger.deletions, permitted } },
});

const unblamed: readonly { readonly code: string; readonly doctor: (made: Plan) => Plan }[] = [
  {
    code: "PermittedObjectsExceeded",
    doctor: (made) => permitting(made, new Map([["m1" as ClusterName, 99]])),
  },
  {
    code: "PermittedClustersExceeded",
    doctor: (made) => permitting(made, new Map(["m1", "m2", "m3", "m4"].map((it) => [it as ClusterName, 1]))),
  },
  {
    code: "ClusterNotMember",
    doctor: (made) => ({
      ...made,
      actions: made.actions.flatMap((it) => {
        const own = it.placements.filter((at) => at.placement === web);
        return [it, { ...it, cluster: "m9" as ClusterName, clusterUid: "of m9", placements: own }];
      }),
    }),
  },
];

test.each(unblamed)(
  "D 10: $code is the fault of who loses or is written there, and of nobody else",
  ({ code, doctor }) => {
    const world = atRest();
    world.commit(() => {
      world.objects.delete(keyOf("ConfigMap", "web/config"));
      write(world, objectOf("ConfigMap", "web/more", "one"));
      write(world, objectOf("ConfigMap", "shop/config", "two"));
    });
    const planner: Planner = (seen) => (seen.unsound.has(web) ? plan(seen) : doctor(plan(seen)));
    const made = soundly(world.look(), planner);
    expect([...made.ledger.quarantines.keys()]).toEqual([web]);
    expect(made.ledger.quarantines.get(web)?.violations.map((it) => it.code)).toContain(code);
    expect(acting(made)).toEqual([shop]);
  },
);
