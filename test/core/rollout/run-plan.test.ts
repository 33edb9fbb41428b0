import { describe, expect, it } from "vitest";
import { digestOf } from "../../../src/core/model/json.ts";
import type { RunPlan, RunRecord, UpdateStrategy } from "../../../src/core/model/update-run.ts";
import { type Planning, type PlanVersion, planRoot } from "../../../src/core/rollout/run-plan.ts";
import { requestDigest } from "../../../src/core/rollout/tasks/approval.ts";
import { planningText, play } from "./run-script.ts";
import { create, join, runIn, strategyOf, versionOf, type World, worldOf } from "./run-world.ts";

const fleet = "member1:env=canary,order=2 member2:env=staging member3:env=canary,order=1";
const staged = "staging env=staging 30% after:1m | canary env=canary sort:order x2 before after";

const planned = (members: string, stages: string, change: (world: World) => void = () => {}): string => {
  const world = worldOf(members);
  change(world);
  return planningText(create(world, "A", 0, strategyOf(stages)));
};

const drop =
  (...names: readonly string[]) =>
  (world: World): void => {
    for (const [name, spot] of world.spots)
      if (names.includes(name)) world.spots.set(name, { ...spot, state: "Unscheduled" });
  };

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `m${at + 10}:env=dev`).join(" ");

describe("the plan of a run", () => {
  it.each([
    [
      "U1: stages in the strategy's order, clusters by label",
      fleet,
      staged,
      "staging=member2 canary=member3,member1 deletion=",
    ],
    ["U13: integers, not texts", "a:o=10 b:o=9", "all * sort:o", "all=b,a deletion="],
    ["U13: equal integers by name", "b:o=1 a:o=01 c:o=+1", "all * sort:o", "all=a,b,c deletion="],
    ["U13: signs and zeros", "a:o=007 b:o=-3 c:o=+2", "all * sort:o", "all=b,c,a deletion="],
    ["without a label by name", "c a b", "all *", "all=a,b,c deletion="],
    ["U16: a stage without selector holds nothing", "a b", "none - | all *", "none= all=a,b deletion="],
  ])("%s", (_name, members, stages, want) => {
    expect(planned(members, stages)).toBe(want);
  });

  it("lists the clusters that are no longer picked, by name, also one that is on its way out", () => {
    const change = (world: World): void => {
      drop("member1", "member2")(world);
      for (const [name, spot] of world.spots)
        if (name === "member1") world.spots.set(name, { ...spot, removing: true });
    };
    expect(planned(fleet, staged, change)).toBe("staging= canary=member3 deletion=member1,member2");
  });

  it("ignores clusters that a selector matches and the placement does not pick", () => {
    const unpicked = (world: World): void => {
      join(world, "member4:env=canary,order=x");
      world.spots.delete("member4" as never);
    };
    expect(planned(fleet, staged, unpicked)).toBe("staging=member2 canary=member3,member1 deletion=");
  });

  it("freezes the policy, the count, the version and the apply strategy", () => {
    const world = worldOf(fleet);
    const { plan } = create(world, "A", 4, strategyOf(staged)) as Extract<Planning, { kind: "planned" }>;
    expect(plan).toMatchObject({
      policySnapshot: 0,
      policyHash: digestOf("first"),
      clusterCount: 3,
      resourceIndex: 4,
      applyStrategy: world.applyStrategy,
      deletions: [],
    });
    expect(plan.stages[1]).toEqual({
      ...strategyOf(staged).stages[1],
      clusters: ["member3", "member1"].map((it) => ({
        cluster: it,
        clusterOverrides: [],
        resourceOverrides: [],
        labels: {},
        digest: digestOf([4, it]),
      })),
    });
  });

  it("has another root whenever anything of it is another", () => {
    const { plan } = create(worldOf(fleet), "A", 0, strategyOf(staged)) as Extract<Planning, { kind: "planned" }>;
    const other = digestOf("other");
    const changes: readonly Partial<RunPlan>[] = [
      { policySnapshot: 1 },
      { policyHash: other },
      { clusterCount: 9 },
      { resourceIndex: 9 },
      { applyStrategy: { ...plan.applyStrategy, type: "ReportDiff" } },
      { stages: plan.stages.slice(1) },
      { stages: plan.stages.map((it) => ({ ...it, maxFailures: { count: 7 } })) },
      { stages: plan.stages.map((it) => ({ ...it, clusters: it.clusters.map((c) => ({ ...c, digest: other })) })) },
      { stages: plan.stages.map((it) => ({ ...it, clusters: [...it.clusters].reverse() })) },
      { deletions: plan.deletions.concat("x" as never) },
    ];
    expect(new Set([plan, ...changes.map((it) => ({ ...plan, ...it }))].map(planRoot)).size).toBe(1 + changes.length);
    expect(planRoot(plan)).toBe(plan.root);
  });
});

describe("what keeps a run from its plan", () => {
  it.each([
    ["no placement", "remove", "PlacementNotFound: there is no placement web, or it is being removed"],
    [
      "not External",
      "type RollingUpdate",
      "NotExternal: placement web rolls out by itself; set its spec.strategy.type to External, then create a new run",
    ],
    [
      "U18 (B 21): not fully scheduled is waited for",
      "Scheduled False",
      "waits for placement web to be fully scheduled: found 2 of 3 clusters",
    ],
    [
      "B 21: not scheduled yet is waited for",
      "Scheduled never",
      "waits for placement web to be scheduled as it is now",
    ],
    [
      "nothing is picked, nothing to remove",
      "member1,member2,member3 leave",
      "NothingToDo: placement web picks no cluster, and none has to lose it",
    ],
  ])("%s", (_name, script, want) => {
    const world = worldOf(fleet);
    play(world, script, strategyOf(staged));
    expect(planningText(create(world, "A", 0, strategyOf(staged)))).toBe(want);
  });

  it.each([
    [
      "U14: a cluster in two stages",
      fleet,
      "staging env=staging | canary env=canary/staging",
      "ClusterInTwoStages: stage canary selects 1 cluster that an earlier stage has already: member2 (staging); " +
        "narrow one of the labelSelectors, then create a new run",
    ],
    [
      "U13: a missing label, and labels that are no integers",
      "a:o=1 b c:o=1.5 d:o=99999999999999999999",
      "all * sort:o",
      "BadSortLabel: stage all is sorted by the label o, which is no integer on 3 clusters: b, c, d; " +
        "label them, then create a new run",
    ],
    [
      "U15: twelve clusters in no stage, ten of them by name",
      numbered(12),
      "prod env=prod",
      "ClusterInNoStage: no stage selects 12 clusters that the placement picks: " +
        "m10, m11, m12, m13, m14, m15, m16, m17, m18, m19 and 2 more; " +
        "add a stage or widen a labelSelector, then create a new run",
    ],
  ])("%s", (_name, members, stages, want) => {
    expect(planned(members, stages)).toBe(want);
  });

  it.each([
    ["U19: no such snapshot", { kind: "failed", code: "SnapshotNotFound", message: "there is no snapshot 7" }],
    ["nothing can be selected", { kind: "failed", code: "BadSelectors", message: "no such kind" }],
  ] as const satisfies readonly (readonly [string, PlanVersion])[])("%s", (_name, version) => {
    expect(create(worldOf(fleet), "A", 0, strategyOf(staged), version)).toEqual(version);
  });

  it("an override that cannot be applied, with the clusters and the first cause", () => {
    const found = versionOf(0) as Extract<PlanVersion, { kind: "found" }>;
    const clusterOf: typeof found.clusterOf = (it) =>
      it === "member2" ? found.clusterOf(it) : { kind: "failed", message: `no path /x on ${it}` };
    expect(planningText(create(worldOf(fleet), "A", 0, strategyOf(staged), { ...found, clusterOf }))).toBe(
      "OverrideError: the overrides cannot be applied for member1, member3: no path /x on member3; " +
        "mend them, then create a new run",
    );
  });

  it("a strategy that is not there", () => {
    expect(planningText(create(worldOf(fleet), "A", 0, null))).toBe(
      "StrategyNotFound: there is no strategy staged; add it or name another one, then create a new run",
    );
  });

  it.each([
    ["the same stages under another name", withValues(strategyOf(staged, "other")), "planned"],
    ["an expression without values is one with none", withoutValues(strategyOf(staged)), "planned"],
    ["another share", withValues(strategyOf(staged.replace("30%", "31%"))), "failed"],
    ["other allowed failures", withValues(strategyOf(staged.replace("x2", "x2 fails:1"))), "failed"],
    ["another order", withValues(strategyOf(staged.split(" | ").reverse().join(" | "))), "failed"],
  ] as const)("B 4: beside a run under way, %s", (_name, strategy, want) => {
    const world = worldOf(fleet);
    create(world, "A", 0, withValues(strategyOf(staged)));
    const planning = create(world, "B", 1, strategy);
    expect(planning.kind).toBe(want);
    if (planning.kind === "failed") {
      expect(planning).toEqual({
        kind: "failed",
        code: "StrategiesDiffer",
        message:
          "run A of placement web is under way with other stages (strategy staged); let it end or remove its file, " +
          "or use its stages, then create a new run",
      });
    }
  });
});

/** The selector of the first stage also asks for a label to be there: with and without an empty list of values. */
const asking = (strategy: UpdateStrategy, values: { readonly values?: readonly string[] }): UpdateStrategy => ({
  ...strategy,
  stages: strategy.stages.map((it) => ({
    ...it,
    selector: it.selector && {
      matchExpressions: [
        ...(it.selector.matchExpressions ?? []),
        { key: "gone", operator: "DoesNotExist" as const, ...values },
      ],
    },
  })),
});

function withoutValues(strategy: UpdateStrategy): UpdateStrategy {
  return asking(strategy, {});
}

function withValues(strategy: UpdateStrategy): UpdateStrategy {
  return asking(strategy, { values: [] });
}

describe("what a person approves", () => {
  it("is named by the fleet, the very run, the stage, the time, the plan, the nonce, the rules and the authors", () => {
    const world = worldOf(fleet);
    const created = (name: string): RunRecord => {
      create(world, name, 0, strategyOf(staged));
      return runIn(world, name);
    };
    const run = created("A");
    const again = created("A");
    const root = run.plan?.root ?? digestOf("no plan");
    expect(again.plan?.root).toBe(root);
    const authors = { principals: [], unknown: 0 };
    const request = { fleet, run, stage: "canary", when: "before", root, nonce: "0", rules: null, authors } as const;
    const others = [
      { fleet: "another" },
      { run: again },
      { run: created("B") },
      { stage: "staging" },
      { when: "after" },
      { root: digestOf("another plan") },
      { nonce: "1" },
      { rules: digestOf("strict") },
      { authors: { principals: ["ann"], unknown: 0 } },
      { authors: { principals: [], unknown: 1 } },
    ] as const;
    const digests = [request, ...others.map((it) => ({ ...request, ...it }))].map(requestDigest);
    expect(new Set(digests).size).toBe(digests.length);
  });
});
