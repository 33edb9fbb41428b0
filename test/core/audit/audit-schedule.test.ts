// What the scheduler said follows from what it could see: every commit of honest storms is scheduled again and comes out the
// same, and whatever somebody else wrote into a verdict or a binding is named.
import { expect, test } from "vitest";
import { auditedScheduleCount, auditSchedule } from "../../../src/core/audit/audit-schedule.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { Ledger, PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { PlacementPolicy } from "../../../src/core/model/placement.ts";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";
import { Storm } from "../plan/storm.ts";

/** What whoever judges a commit knows of its world: the ledger before it, and nobody's answers. */
const asJudged = (seen: Seen, before: Ledger): Seen => ({ ...seen, ledger: before, observed: new Map() });

const storms = Number(process.env["STORMS"] ?? 20);

test("in storms every schedule comes out again as it was recorded", () => {
  let judged = 0;
  for (let seed = 1; seed <= storms; seed++) {
    const storm = new Storm(seed);
    for (let step = 0; step < 25; step++) {
      const { seen, plan, before, isCommitted } = storm.step();
      if (!isCommitted) continue;
      const world = asJudged(seen, before);
      judged += auditedScheduleCount(world, plan.ledger);
      expect([...auditSchedule(world, plan.ledger)], `seed ${seed}, step ${step}`).toEqual([]);
    }
  }
  expect(judged).toBeGreaterThan(3 * storms);
});

const web = "web" as PlacementKey;

const picky: PlacementPolicy = {
  ...(policyOf("PickN", "2") as Extract<PlacementPolicy, { kind: "PickN" }>),
  preferred: [{ weight: 30, preference: { labelSelector: { matchLabels: { env: "prod" } }, sorter: null } }],
};

/** The commit that places two of three clusters by preference. */
function firstCommit(): { readonly seen: Seen; readonly ledger: Ledger } {
  const world = new World();
  world.commit(() => {
    for (const [name, label] of [
      ["m1", "env=dev"],
      ["m2", "env=prod"],
      ["m3", "env=prod"],
    ] as const)
      world.join(clusterOf(name, [label]));
    write(world, objectOf("Namespace", "web", "one"));
    world.placements.set(web, placementOf({ name: "web", policy: picky, options: [] }));
  });
  const { seen, plan, before } = world.pass();
  return { seen: asJudged(seen, before), ledger: plan.ledger };
}

const { seen, ledger } = firstCommit();
const placed = ledger.placements.get(web) as PlacementRecord;

const withRecord = (change: Partial<PlacementRecord>): Ledger => ({
  ...ledger,
  placements: new Map([[web, { ...placed, ...change }]]),
});

const withBindings = (change: (all: Map<ClusterName, Binding>) => void): Ledger => {
  const bindings = new Map(placed.bindings);
  change(bindings);
  return withRecord({ bindings });
};

/** The same verdict with another word on one cluster. */
const withDecision = (cluster: string, change: object): Ledger =>
  withRecord({
    policySnapshots: placed.policySnapshots.map((it) => ({
      ...it,
      verdict: it.verdict && {
        ...it.verdict,
        decisions: it.verdict.decisions.map((one) => (one.cluster === cluster ? { ...one, ...change } : one)),
      },
    })),
  });

const m1 = "m1" as ClusterName;
const m2 = "m2" as ClusterName;
const bindingTo = (name: ClusterName): Binding => placed.bindings.get(name) as Binding;

test("the commit as it was written holds, and was looked at", () => {
  expect([[...placed.bindings.keys()], bindingTo(m2).decision.score?.affinity]).toEqual([["m2", "m3"], 30]);
  expect([auditedScheduleCount(seen, ledger), [...auditSchedule(seen, ledger)]]).toEqual([1, []]);
});

const forged: readonly (readonly [string, Ledger, string])[] = [
  [
    "another score in the verdict",
    withDecision("m2", { score: { affinity: 90, topology: 0 } }),
    "records a verdict that does not follow from its inputs: m2 is recorded as selected with affinity 90 and topology 0, and is selected with affinity 30 and topology 0 of web",
  ],
  [
    "a cluster that the verdict says is not selected",
    withDecision("m3", { selected: false }),
    "records a verdict that does not follow from its inputs: m3 is recorded as not selected with affinity 30 and topology 0, and is selected with affinity 30 and topology 0 of web",
  ],
  [
    "a cluster that the verdict lists twice, in the place of another one",
    withDecision("m3", { cluster: "m2" }),
    "records a verdict that does not follow from its inputs: m3 is recorded as not listed, and is selected with affinity 30 and topology 0 of web",
  ],
  [
    "another score in a binding",
    withBindings((it) => {
      const binding = bindingTo(m2);
      it.set(m2, { ...binding, decision: { ...binding.decision, score: { affinity: 90, topology: 0 } } });
    }),
    "records selected with affinity 90 and topology 0 for the binding to m2, which is selected with affinity 30 and topology 0, of web",
  ],
  [
    "a binding that nobody picked",
    withBindings((it) => it.set(m1, { ...bindingTo(m2), cluster: m1 })),
    "keeps a binding to m1, which is not picked, of web",
  ],
  [
    "a binding that is left out",
    withBindings((it) => it.delete(m2)),
    "leaves out the binding to m2, which is picked, of web",
  ],
  [
    "a policy of somebody's own",
    withRecord({ policySnapshots: placed.policySnapshots.map((it) => ({ ...it, index: it.index + 1 })) }),
    "schedules web under a policy that its source commit does not have",
  ],
];

test.each(forged)("%s is named", (_, after, what) => {
  expect([...auditSchedule(seen, after)].map((it) => it.what)).toContain(what);
});

test("a placement that no file defines is named", () => {
  const nobody = { ...seen, intent: { ...seen.intent, placements: new Map() } };
  expect([...auditSchedule(nobody, ledger)].map((it) => it.what)).toEqual([
    "schedules web, which no file of its source commit defines",
  ]);
});
