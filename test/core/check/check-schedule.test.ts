import { expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { MemberCluster } from "../../../src/core/model/fleet.ts";
import type { ClusterRecord, PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { PlacementPolicy, PropertyRequirement } from "../../../src/core/model/placement.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import { type ClusterName, type Instant, minutes, type PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const web = "web" as PlacementKey;
const named = (name: string) => name as ClusterName;

const all = policyOf("PickAll", undefined) as Extract<PlacementPolicy, { kind: "PickAll" }>;
const two = policyOf("PickN", "2") as Extract<PlacementPolicy, { kind: "PickN" }>;
const four = { ...two, numberOfClusters: 4 };

const words = ["env=prod", "region=a"];
const members: readonly MemberCluster[] = [
  clusterOf("m1", words),
  clusterOf("m2", words),
  clusterOf("m3", words),
  { ...clusterOf("m4", ["env=dev", "region=b"]), properties: { np: { value: "4", observedAt: null } } },
];

/** A world in which `web` is about to be placed for the first time, and the plan for it. */
function placing(policy: PlacementPolicy): readonly [Seen, Plan] {
  const world = new World();
  world.commit(() => {
    for (const it of members) world.join(it);
    write(world, objectOf("Namespace", "web", "one"));
    world.placements.set(web, placementOf({ name: "web", policy, options: [] }));
  });
  const seen = world.look();
  return [seen, plan(seen)];
}

/** The same once it is there, with nothing to do. */
function placed(policy: PlacementPolicy): readonly [Seen, Plan] {
  const world = new World();
  world.commit(() => {
    for (const it of members) world.join(it);
    write(world, objectOf("Namespace", "web", "one"));
    world.placements.set(web, placementOf({ name: "web", policy, options: ["unavailable=4"] }));
  });
  for (let pass = 0; pass < 4; pass++) world.pass();
  world.flush();
  const seen = world.look();
  return [seen, plan(seen)];
}

const withRecord = (made: Plan, change: (it: PlacementRecord) => Partial<PlacementRecord>): Plan => {
  const record = made.ledger.placements.get(web) as PlacementRecord;
  return { ...made, ledger: { ...made.ledger, placements: new Map([[web, { ...record, ...change(record) }]]) } };
};

/** The plan as it is, but that its placement has another policy: what was picked was picked by mistake. */
const asking = (made: Plan, policy: Partial<PlacementPolicy>): Plan =>
  withRecord(made, ({ spec }) => ({ spec: { ...spec, policy: { ...spec.policy, ...policy } as PlacementPolicy } }));

const withBinding = (made: Plan, name: string, change: Partial<Binding>): Plan =>
  withRecord(made, ({ bindings }) => {
    const binding = bindings.get(named(name)) as Binding;
    return { bindings: new Map([...bindings, [binding.cluster, { ...binding, ...change }]]) };
  });

const without = (bindings: PlacementRecord["bindings"], name: string): PlacementRecord["bindings"] =>
  new Map([...bindings].filter(([cluster]) => cluster !== name));

const withMember = (seen: Seen, name: string, change: Partial<MemberCluster>): Seen => {
  const member = seen.intent.clusters.get(named(name)) as MemberCluster;
  const clusters = new Map([...seen.intent.clusters, [member.name, { ...member, ...change }]]);
  return { ...seen, intent: { ...seen.intent, clusters } };
};

const withMemberRecord = (made: Plan, name: string, change: Partial<ClusterRecord>): Plan => {
  const record = made.ledger.clusters.get(named(name)) as ClusterRecord;
  return {
    ...made,
    ledger: { ...made.ledger, clusters: new Map([...made.ledger.clusters, [record.name, { ...record, ...change }]]) },
  };
};

const asked = (operator: PropertyRequirement["operator"], value: string) => ({
  required: [{ labelSelector: null, properties: [{ name: "np", operator, value }] }],
});
const prod = { required: [{ labelSelector: { matchLabels: { env: "prod" } }, properties: [] }] };
const silentSince = (since: number) => ({ contactFailure: { code: "Unreachable", since: since as Instant } as never });
const taint = { key: "k", value: "v", effect: "NoSchedule" } as const;
const toleration = { key: "k", operator: "Equal", value: "v", effect: "" } as const;

type Case = readonly [what: string, wrong: () => readonly [Seen, Plan], codes: readonly string[]];

const cases: readonly Case[] = [
  [
    "picks what is no member",
    () => {
      const [seen, made] = placing(all);
      const clusters = new Map([...seen.intent.clusters].filter(([it]) => it !== "m4"));
      return [{ ...seen, intent: { ...seen.intent, clusters } }, made];
    },
    ["PickNotMember m4"],
  ],
  [
    "picks a cluster with another label than a required term asks for",
    () => {
      const [seen, made] = placing(all);
      return [seen, asking(made, prod)];
    },
    ["PickAffinityUnmet m4"],
  ],
  [
    "picks clusters without the property that a required term asks for",
    () => {
      const [seen, made] = placing(all);
      return [seen, asking(made, asked("Ne", "5"))];
    },
    ["PickAffinityUnmet m1", "PickAffinityUnmet m2", "PickAffinityUnmet m3"],
  ],
  [
    "picks a cluster of which what is recorded does not meet what its file would",
    () => {
      const [seen, made] = placing({ ...all, ...asked("Ge", "4") });
      return [seen, withMemberRecord(made, "m4", { properties: new Map([["np", "3999m"]]) })];
    },
    ["PickAffinityUnmet m4"],
  ],
  [
    "picks a cluster that has other namespaces than that of the placement, unless it may have more",
    () => {
      const [seen, made] = placing(all);
      const listed = { names: new Map([["other", ""]]), isCut: false, recordedAt: seen.now };
      const there = { ...listed, names: new Map([["team", ""]]) };
      const told = withMemberRecord(withMemberRecord(made, "m2", { namespaces: listed }), "m3", {
        namespaces: { ...listed, isCut: true },
      });
      return [seen, withRecord(withMemberRecord(told, "m4", { namespaces: there }), () => ({ namespace: "team" }))];
    },
    ["PickNamespaceAbsent m2"],
  ],
  [
    "picks a cluster with a taint that is not tolerated",
    () => {
      const [seen, made] = placing(all);
      return [withMember(seen, "m2", { taints: [taint] }), made];
    },
    ["PickTaintNotTolerated m2"],
  ],
  [
    "picks a cluster with a taint of which another value is tolerated",
    () => {
      const [seen, made] = placing({ ...all, tolerations: [toleration] });
      return [withMember(seen, "m2", { taints: [{ ...taint, value: "w" }] }), made];
    },
    ["PickTaintNotTolerated m2"],
  ],
  [
    "picks a cluster that the policy does not name",
    () => {
      const [seen, made] = placing(policyOf("PickFixed", "m1,m2"));
      return [seen, asking(made, { clusterNames: [named("m1")] })];
    },
    ["PickNotNamed m2"],
  ],
  [
    "picks a cluster that has been out of contact for longer than five minutes",
    () => {
      const [seen, made] = placing(all);
      return [seen, withMemberRecord(made, "m3", silentSince(seen.now - minutes(6)))];
    },
    ["PickOutOfContact m3"],
  ],
  [
    "picks more clusters than the policy wants",
    () => {
      const [seen, made] = placing(four);
      return [seen, asking(made, { numberOfClusters: 3 })];
    },
    ["PickNumberExceeded web"],
  ],
  [
    "picks three clusters in one region and one in the other",
    () => {
      const [seen, made] = placing(four);
      return [
        seen,
        asking(made, { spread: [{ topologyKey: "region", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }] }),
      ];
    },
    ["PickSkewExceeded web"],
  ],
  [
    "gives up a cluster that goes on belonging to it, as its labels did not matter",
    () => {
      const [seen, made] = placed(all);
      return [seen, withBinding(made, "m2", { state: "Unscheduled", previousState: "Bound" })];
    },
    ["PickDropped m2"],
  ],
  [
    "gives up a cluster although as many are wanted as there are",
    () => {
      const [seen, made] = placed(four);
      return [seen, withBinding(made, "m2", { state: "Unscheduled", previousState: "Bound" })];
    },
    ["PickDropped m2"],
  ],
  [
    "forgets a cluster where nothing was admitted yet",
    () => {
      const [seen, made] = placed(all);
      const begun = withBinding(made, "m2", { target: null, leaving: [] });
      const before = { ...seen, ledger: begun.ledger };
      return [before, withRecord(begun, ({ bindings }) => ({ bindings: without(bindings, "m2") }))];
    },
    ["PickDropped m2"],
  ],
  [
    "picks a cluster again that does not fit the new policy",
    () => {
      const [seen, made] = placed(all);
      return [seen, asking(withBinding(made, "m4", { policySnapshot: 1 }), prod)];
    },
    ["PickAffinityUnmet m4"],
  ],
];

const complaints = ([seen, made]: readonly [Seen, Plan]): readonly string[] =>
  check(made, seen).flatMap(({ code, subject }) => {
    if (!code.startsWith("Pick")) return [];
    return [
      `${code} ${subject.kind === "binding" ? subject.cluster : subject.kind === "placement" ? subject.placement : ""}`,
    ];
  });

test.each(cases)("check() sees that a plan %s", (_, wrong, codes) => {
  expect(complaints(wrong())).toEqual(codes);
});

const sound: readonly (readonly [what: string, made: () => readonly [Seen, Plan]])[] = [
  ["picks all", () => placing(all)],
  ["picks by a property that the file declares", () => placing({ ...all, ...asked("Eq", "4000m") })],
  ["picks two of four", () => placing(two)],
  [
    "tolerates the taint of a cluster",
    () => {
      const [seen, made] = placing({ ...all, tolerations: [toleration] });
      return [withMember(seen, "m2", { taints: [taint] }), made];
    },
  ],
  [
    "picks a cluster that has been out of contact for five minutes",
    () => {
      const [seen, made] = placing(all);
      return [seen, withMemberRecord(made, "m3", silentSince(seen.now - minutes(5)))];
    },
  ],
  [
    "prefers another spread than it gets",
    () => {
      const [seen, made] = placing(four);
      return [
        seen,
        asking(made, { spread: [{ topologyKey: "region", maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway" }] }),
      ];
    },
  ],
  [
    "spreads over a label that has the name of what every object has",
    () => {
      const [seen, made] = placing(four);
      return [
        withMember(seen, "m4", { labels: { constructor: "b" } }),
        asking(made, { spread: [{ topologyKey: "constructor", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }] }),
      ];
    },
  ],
  [
    "keeps a cluster that does not fit any more",
    () => {
      const [seen, made] = placed(all);
      return [seen, asking(withBinding(made, "m1", {}), prod)];
    },
  ],
  [
    "keeps a cluster that has a taint by now, and is silent",
    () => {
      const [seen, made] = placed(all);
      return [
        withMember(seen, "m2", { taints: [taint] }),
        withMemberRecord(withBinding(made, "m1", {}), "m2", silentSince(0)),
      ];
    },
  ],
  [
    "gives up a cluster since fewer are wanted",
    () => {
      const [seen, made] = placed(four);
      const fewer = asking(made, { numberOfClusters: 3 });
      return [seen, withBinding(fewer, "m2", { state: "Unscheduled", previousState: "Bound" })];
    },
  ],
];

test.each(sound)("check() has no complaint about a schedule that %s", (_, made) => {
  expect(complaints(made())).toEqual([]);
});
