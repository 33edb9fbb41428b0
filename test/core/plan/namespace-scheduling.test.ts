// Placements of teams go where their namespace is: what a member's namespaces move, what they do not, and that a plan with
// warm memories is the plan of cold ones after each change.
import { beforeEach, describe, expect, test } from "vitest";
import { auditSchedule } from "../../../src/core/audit/audit-schedule.ts";
import { check } from "../../../src/core/check/check.ts";
import type { ClusterRecord } from "../../../src/core/model/ledger.ts";
import type { NamespacesSeen } from "../../../src/core/model/observation.ts";
import type { PlacementPolicy } from "../../../src/core/model/placement.ts";
import type { World as Seen } from "../../../src/core/model/plan.ts";
import { type ClusterName, minutes, type PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { assessPlacement } from "../../../src/core/schedule/assessment.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf } from "../../intent.ts";
import { World, write } from "../../world.ts";
import { policyOf } from "../schedule/notation.ts";
import { differenceOf } from "./same-ledger.ts";

let world: World;

const listed = (names: string): NamespacesSeen => ({
  kind: "listed",
  names: new Map(["kube-system", ...names.split(" ").filter((it) => it !== "")].sort().map((it) => [it, ""])),
});
const forbidden = "namespaces may not be read: grant list and watch on namespaces (core API group)";
const missing: NamespacesSeen = {
  kind: "missing",
  missing: { source: "namespaces", code: "Forbidden", message: forbidden },
};

/** A placement of the platform, or of a team, of one ConfigMap in a namespace that exists anyway. */
function place(key: string, policy: PlacementPolicy): void {
  const [namespace = null, name = ""] = key.includes("/") ? key.split("/") : [null, key];
  const made = placementOf({ name, policy, options: [] });
  const selector = { group: "", version: "v1", kind: "ConfigMap", name: "mine", labelSelector: null };
  const scoped =
    namespace === null
      ? made
      : {
          ...made,
          key: key as PlacementKey,
          scope: "Namespaced" as const,
          namespace,
          spec: {
            ...made.spec,
            resourceSelectors: [{ ...selector, selectionScope: "NamespaceWithResources" as const }],
          },
        };
  world.placements.set(key as PlacementKey, scoped);
}

function settle(): void {
  for (let pass = 0; pass < 6; pass++) world.pass();
  world.flush();
}

/** Where placements are by the plan of a world, which comes out the same whatever is remembered, and passes its check. */
function moved(seen: Seen, before: Seen): Readonly<Record<string, string>> {
  const warm = plan(seen);
  expect(differenceOf(warm, plan(structuredClone(seen)))).toBeNull();
  expect(differenceOf(plan(before), plan(structuredClone(before)))).toBeNull();
  expect(differenceOf(plan(seen), warm)).toBeNull();
  expect(check(warm, seen)).toEqual([]);
  return places(warm.ledger);
}

const places = (ledger: Seen["ledger"]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...ledger.placements].map(([key, { bindings }]) => [
      key,
      [...bindings.values()]
        .filter((it) => it.state !== "Unscheduled")
        .map((it) => it.cluster)
        .join(" "),
    ]),
  );

const namespacesOn = (ledger: Seen["ledger"], name: string): string | null => {
  const found = ledger.clusters.get(name as ClusterName)?.namespaces ?? null;
  return found === null ? null : [...found.names.keys()].join(" ");
};

const conditionOn = (ledger: Seen["ledger"], name: string): string | null => {
  const all = ledger.clusters.get(name as ClusterName)?.conditions;
  const found = all?.find((it) => it.type === "NamespaceCollectionSucceeded");
  return found === undefined ? null : `${found.status} ${found.reason}: ${found.message}`;
};

beforeEach(() => {
  world = new World();
  world.commit(() => {
    for (const it of ["m1", "m2", "m3"]) world.join(clusterOf(it, ["env=prod"]));
    for (const it of ["blue", "red", "web"]) {
      write(world, objectOf("Namespace", it, "one"));
      write(world, objectOf("ConfigMap", `${it}/mine`, "one"));
    }
    place("web", policyOf("all"));
    // Whoever is on a member with overrides looks at its labels again.
    world.overrides.set("loud", overrideOf("loud", keyOf("ConfigMap", "blue/mine"), "env=prod", "louder"));
    place("blue/all", policyOf("all"));
    place("blue/two", policyOf("2"));
    place("red/all", policyOf("all"));
    place("red/named", policyOf("fixed m1"));
  });
  world.member("m1").namespaces = listed("blue");
  world.member("m2").namespaces = listed("blue red");
  world.member("m3").namespaces = listed("");
  settle();
});

const start = { web: "m1 m2 m3", "blue/all": "m1 m2", "blue/two": "m1 m2", "red/all": "m2", "red/named": "m1" };

test("M1: placements of teams go where their namespace is, PickFixed wherever it says, and the platform's everywhere", () => {
  expect(places(world.look().ledger)).toEqual(start);
  const { ledger } = world.look();
  expect(namespacesOn(ledger, "m2")).toBe("blue kube-system red");
  expect(conditionOn(ledger, "m2")).toBe("True Succeeded: its namespaces were listed");
  const verdict = ledger.placements.get("blue/all" as PlacementKey)?.policySnapshots.at(-1)?.verdict;
  expect(verdict?.decisions.at(-1)?.reason).toBe("NamespaceAffinity: the namespace blue does not exist there");
  const named = ledger.placements.get("red/named" as PlacementKey)?.policySnapshots.at(-1)?.verdict;
  expect(named?.condition.message).toContain("m1 is named, and the namespace red does not exist there");
});

const changes: readonly { name: string; on: string; says: NamespacesSeen; moves: Partial<typeof start> }[] = [
  { name: "a namespace comes", on: "m3", says: listed("blue"), moves: { "blue/all": "m1 m2 m3" } },
  { name: "two come", on: "m3", says: listed("blue red"), moves: { "blue/all": "m1 m2 m3", "red/all": "m2 m3" } },
  { name: "one that nobody asks about comes", on: "m3", says: listed("green"), moves: {} },
  { name: "one goes that a placement is in", on: "m2", says: listed("red"), moves: {} },
  { name: "all go", on: "m2", says: listed(""), moves: {} },
  { name: "one goes where nothing is", on: "m1", says: listed("blue x"), moves: {} },
  { name: "they may not be listed any more", on: "m2", says: missing, moves: {} },
  {
    name: "the one comes that is missing where a policy names the member",
    on: "m1",
    says: listed("blue red"),
    moves: { "red/all": "m1 m2" },
  },
];

test.each(changes)("$name", ({ on, says, moves }) => {
  const before = world.look();
  world.member(on).namespaces = says;
  expect(moved(world.look(), before)).toEqual({ ...start, ...moves });
});

test("a placement that a namespace is missing for is judged anew when it comes, and others keep their records", () => {
  const before = world.look().ledger;
  world.member("m3").namespaces = listed("blue");
  const after = plan(world.look()).ledger;
  expect([...after.placements].filter(([key, it]) => before.placements.get(key) !== it).map(([key]) => key)).toEqual([
    "blue/all",
    "blue/two",
  ]);
});

test("what is said of a member that a policy names follows its namespaces", () => {
  world.member("m1").namespaces = listed("blue red");
  settle();
  const named = world
    .look()
    .ledger.placements.get("red/named" as PlacementKey)
    ?.policySnapshots.at(-1)?.verdict;
  expect(named?.decisions.map((it) => it.reason)).toEqual(["picked m1 by name"]);
});

test("people read why a member does not fit, and what would have to change", () => {
  const { intent, ledger, now } = world.look();
  const assessed = (key: string) => {
    const record = ledger.placements.get(key as PlacementKey);
    if (record === undefined) throw new Error(`there is no ${key}`);
    return assessPlacement(record, { intent, ledger, now }).map((it) => [it.cluster, it.refusals]);
  };
  const refusal = (namespace: string) => ({
    plugin: "NamespaceAffinity",
    because: `the namespace ${namespace} does not exist there`,
    remedy: `place the namespace ${namespace} there first`,
  });
  expect(assessed("blue/two")).toEqual([
    ["m1", []],
    ["m2", []],
    ["m3", [refusal("blue")]],
  ]);
  expect(assessed("red/all")).toEqual([
    ["m1", [refusal("red")]],
    ["m2", []],
    ["m3", [refusal("red")]],
  ]);
});

test("the audit schedules by the namespaces on record, and names a pick that does not follow from them (T-23)", () => {
  world.member("m3").namespaces = listed("blue");
  const { seen, plan: made, before } = world.pass();
  const judged = { ...seen, ledger: before, observed: new Map() };
  expect([...auditSchedule(judged, made.ledger)]).toEqual([]);
  const m3 = made.ledger.clusters.get("m3" as ClusterName) as ClusterRecord;
  const namespaces = m3.namespaces && { ...m3.namespaces, names: new Map([["kube-system", ""]]) };
  const clusters = new Map([...made.ledger.clusters, [m3.name, { ...m3, namespaces }]]);
  const told = [...auditSchedule(judged, { ...made.ledger, clusters })].map((it) => it.what);
  expect(told).toContain("keeps a binding to m3, which is not picked, of blue/all");
});

describe("a namespace that vanishes", () => {
  beforeEach(() => {
    world.member("m2").namespaces = listed("red");
    settle();
  });

  test("unpicks nothing under the same policy", () => {
    expect(places(world.look().ledger)).toEqual(start);
  });

  test("counts under another policy", () => {
    world.commit(() => place("blue/all", policyOf("all env=prod")));
    settle();
    expect(places(world.look().ledger)).toEqual({ ...start, "blue/all": "m1" });
  });
});

test("members whose namespaces nobody could list get placements of teams, and say why", () => {
  world.commit(() => {
    for (const it of ["m4", "m5"]) world.join(clusterOf(it, ["env=prod"]));
  });
  world.member("m4").namespaces = missing;
  settle();
  const { ledger } = world.look();
  expect(places(ledger)["red/all"]).toBe("m2 m4 m5");
  expect([namespacesOn(ledger, "m4"), conditionOn(ledger, "m4")]).toEqual([null, `Unknown Forbidden: ${forbidden}`]);
  expect([namespacesOn(ledger, "m5"), conditionOn(ledger, "m5")]).toEqual([null, null]);
});

test("a list that was cut keeps nothing away, and is said to be cut", () => {
  const many = Array.from({ length: 250 }, (_, at) => `n${at}`).join(" ");
  world.member("m3").namespaces = listed(`${many} red`);
  settle();
  const { ledger } = world.look();
  expect(places(ledger)).toEqual({ ...start, "blue/all": "m1 m2 m3", "red/all": "m2 m3" });
  expect(conditionOn(ledger, "m3")).toBe(
    "False Degraded: it has more namespaces than the 200 that are recorded: one that is not among them may be there",
  );
});

test("what nobody asks about is written down after 15 minutes, and the plan wakes for it", () => {
  const { ledger, now } = world.look();
  world.member("m3").namespaces = listed("green");
  const seen = plan(world.look());
  expect(namespacesOn(seen.ledger, "m3")).toBe("kube-system");
  expect(seen.ledger).toBe(ledger);
  const due = (ledger.clusters.get("m3" as ClusterName)?.namespaces?.recordedAt ?? 0) + minutes(15);
  expect(due).toBeGreaterThan(now);
  expect(seen.wakeAt).toBeLessThanOrEqual(due);
  world.wait(minutes(15));
  settle();
  expect(namespacesOn(world.look().ledger, "m3")).toBe("green kube-system");
  expect(plan(world.look()).ledger).toBe(world.look().ledger);
});

test("none are on record where no placement lives in a namespace, whether or not the member answers", () => {
  world.member("m3").silence = { code: "Unreachable", message: "connection refused" };
  settle();
  world.commit(() => {
    for (const it of ["blue/all", "blue/two", "red/all", "red/named"]) world.placements.delete(it as PlacementKey);
  });
  settle();
  const { ledger } = world.look();
  expect(["m1", "m2", "m3"].map((it) => [namespacesOn(ledger, it), conditionOn(ledger, it)])).toEqual(
    Array(3).fill([null, null]),
  );
});
