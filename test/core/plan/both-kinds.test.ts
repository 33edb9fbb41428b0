// Placements of both kinds in one fleet: names that would be one without their namespace, shared namespaces, runs.
import { beforeEach, describe, expect, test } from "vitest";
import { readLedger } from "../../../src/core/ledger/reader.ts";
import { stateEdits } from "../../../src/core/ledger/writer.ts";
import { emptyLedger } from "../../../src/core/model/ledger.ts";
import type { Override } from "../../../src/core/model/override.ts";
import { type Placement, placementKey, type ResourceSelector } from "../../../src/core/model/placement.ts";
import { runKey, strategyKey } from "../../../src/core/model/update-run.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf, runOf, strategyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const [m1, m2] = ["m1", "m2"] as const;

let world: World;
beforeEach(() => {
  world = new World();
  world.commit(() => {
    world.fleet = { ...world.fleet, guards: { ...world.fleet.guards, clusters: 10, percentOfClusters: 100 } };
    world.join(clusterOf(m1, ["env=prod"]));
    world.join(clusterOf(m2, ["env=dev"]));
    for (const it of ["web", "db"]) {
      write(world, objectOf("Namespace", it, "-"));
      for (const name of ["mine", "theirs"]) write(world, objectOf("ConfigMap", `${it}/${name}`, "one"));
    }
    place(ofPlatform("web", "NamespaceOnly"));
    place(ofPlatform("db", "NamespaceOnly"));
  });
  settle();
});

const place = (it: Placement): void => void world.placements.set(it.key, it);

function settle(): void {
  for (let pass = 0; pass < 14; pass++) world.pass();
  world.flush();
}

const selector = (kind: string, name: string, more: Partial<ResourceSelector> = {}): ResourceSelector => ({
  ...{ group: "", version: "v1", kind, name, labelSelector: null },
  selectionScope: "NamespaceWithResources",
  ...more,
});

/** A ClusterResourcePlacement of the namespace of its name. */
function ofPlatform(name: string, selectionScope: ResourceSelector["selectionScope"], options: readonly string[] = []) {
  const made = placementOf({ name, policy: policyOf("PickAll", undefined), options });
  return { ...made, spec: { ...made.spec, resourceSelectors: [selector("Namespace", name, { selectionScope })] } };
}

/** A ResourcePlacement of ConfigMaps in its namespace. */
function ofTeam(
  namespace: string,
  name: string,
  objects: readonly string[],
  options: readonly string[] = [],
): Placement {
  const made = placementOf({ name, policy: policyOf("PickAll", undefined), options });
  return {
    ...made,
    key: placementKey(namespace, name),
    scope: "Namespaced",
    namespace,
    spec: { ...made.spec, resourceSelectors: objects.map((it) => selector("ConfigMap", it)) },
    source: { ...made.source, path: `teams/${namespace}/${name}.yaml` },
  };
}

const carried = (cluster: string): readonly string[] => world.carried(cluster);
const namespaces = ["Namespace db -", "Namespace web -"];
const keys = (): readonly string[] => [...world.head.placements.keys()];

describe("a placement in a namespace", () => {
  test("brings what it selects there, beside the placement of the Namespace", () => {
    world.commit(() => place(ofTeam("web", "app", ["mine"])));
    settle();
    expect(carried(m1)).toEqual(["ConfigMap web/mine one", ...namespaces]);
  });

  test("is another one than those of its name in the fleet and in another namespace", () => {
    world.commit(() => {
      place(ofTeam("web", "web", ["mine"]));
      place(ofTeam("db", "web", ["theirs"]));
    });
    settle();
    expect(keys()).toEqual(["db", "db/web", "web", "web/web"]);
    expect(carried(m1)).toEqual(["ConfigMap db/theirs one", "ConfigMap web/mine one", ...namespaces]);
    world.commit(() => world.placements.delete("web/web" as PlacementKey));
    settle();
    expect(carried(m1)).toEqual(["ConfigMap db/theirs one", ...namespaces]);
    expect(keys()).toEqual(["db", "db/web", "web"]);
  });

  test("stands in the record where no other one does, and is read back", () => {
    world.commit(() => {
      place(ofTeam("web", "web", ["mine"]));
      place(ofTeam("db", "web", ["theirs"]));
    });
    settle();
    const shown = { rowsOf: () => [], indexOf: () => "0", selectedOf: () => [] };
    const edits = stateEdits(emptyLedger, world.head, shown);
    const paths = edits.map((it) => it.path);
    expect(paths.filter((it) => it.endsWith("/placement.yaml"))).toEqual([
      "namespaces/db/placements/web/placement.yaml",
      "namespaces/web/placements/web/placement.yaml",
      "placements/db/placement.yaml",
      "placements/web/placement.yaml",
    ]);
    expect(new Set(paths).size).toBe(paths.length);
    const texts = new Map(edits.flatMap((it) => (it.kind === "write" ? [[it.path, it.text] as const] : [])));
    expect(readLedger(texts)).toEqual({ kind: "read", ledger: world.head });
  });

  test("says what it comes to in conditions of its own kind", () => {
    world.commit(() => place(ofTeam("web", "app", ["mine"])));
    settle();
    const types = world.head.placements.get("web/app" as PlacementKey)?.conditions.map((it) => it.type);
    expect(types).toContain("ResourcePlacementScheduled");
    expect(types?.filter((it) => it.startsWith("Cluster"))).toEqual([]);
  });

  test("selects nothing outside of its namespace, nor anything that has none", () => {
    const namespace = ofTeam("web", "app", ["mine"]);
    const selectors = [selector("Namespace", "db")];
    world.commit(() => place({ ...namespace, spec: { ...namespace.spec, resourceSelectors: selectors } }));
    settle();
    expect(world.head.placements.get("web/app" as PlacementKey)?.selectionError).toContain(
      "a ResourcePlacement cannot select a Namespace",
    );
    expect(carried(m1)).toEqual(namespaces);
  });
});

describe("what two placements of both kinds want", () => {
  test("the first on record keeps, whichever kind it is, and nothing is deleted", () => {
    world.commit(() => place(ofTeam("web", "app", ["mine"])));
    settle();
    const uid = () => world.member(m1).objects.get(keyOf("ConfigMap", "web/mine"))?.uid;
    const before = uid();
    world.commit(() => place(ofPlatform("web", "NamespaceWithResources")));
    settle();
    expect(carried(m1)).toEqual(["ConfigMap web/mine one", "ConfigMap web/theirs one", ...namespaces]);
    expect(uid()).toBe(before);
    const owners = [...world.member(m1).inventory.placements].flatMap(([key, { entries }]) =>
      entries.get(keyOf("ConfigMap", "web/mine"))?.uid === before ? [key] : [],
    );
    expect(owners).toEqual(["web/app"]);
  });

  test("is handed over from one kind to the other, as the same object", () => {
    world.commit(() => place(ofPlatform("web", "NamespaceWithResources", ["unavailable=100%"])));
    settle();
    const uid = () => world.member(m1).objects.get(keyOf("ConfigMap", "web/mine"))?.uid;
    const before = uid();
    world.commit(() => {
      place(ofPlatform("web", "NamespaceOnly", ["unavailable=100%"]));
      place(ofTeam("web", "app", ["mine", "theirs"], ["unavailable=100%"]));
    });
    settle();
    expect([carried(m1).length, uid()]).toEqual([4, before]);
  });

  test("the Namespace of a placement that goes stays while anything in it is wanted", () => {
    world.commit(() => place(ofTeam("web", "app", ["mine"])));
    settle();
    world.commit(() => world.placements.delete("web" as PlacementKey));
    settle();
    expect(carried(m1)).toContain("Namespace web -");
    expect(carried(m1)).toContain("ConfigMap web/mine one");
    const reasons = world.pass().plan.reasons.flatMap((it) => (it.kind === "leaving" ? it.message : []));
    expect(new Set(reasons)).toEqual(new Set(["Namespace web stays while something in it is wanted"]));
  });

  test("a placement is put back where nothing of it was left but the Namespace that stayed for another one", () => {
    world.commit(() => place(ofTeam("web", "app", ["mine"])));
    settle();
    const uid = () => world.member(m1).objects.get(keyOf("Namespace", "web"))?.uid;
    const before = uid();
    world.commit(() => world.placements.delete("web" as PlacementKey));
    settle();
    world.commit(() => place(ofPlatform("web", "NamespaceOnly")));
    settle();
    const bindings = [...(world.head.placements.get("web" as PlacementKey)?.bindings.values() ?? [])];
    expect(bindings.map((it) => [it.state, it.removal, it.leaving, it.facts?.phase])).toEqual([
      ["Bound", null, [], "available"],
      ["Bound", null, [], "available"],
    ]);
    expect(uid()).toBe(before);
  });

  test("what is evicted comes back where it is picked again, once all but the Namespace is gone that stays", () => {
    const made = ofPlatform("web", "NamespaceWithResourceSelectors");
    const resourceSelectors = [...made.spec.resourceSelectors, selector("ConfigMap", "theirs")];
    world.commit(() => {
      place(ofTeam("web", "app", ["mine"]));
      place({ ...made, spec: { ...made.spec, resourceSelectors } });
    });
    settle();
    const uidOf = (kind: string, name: string) => world.member(m1).objects.get(keyOf(kind, name))?.uid;
    const [space, theirs] = [uidOf("Namespace", "web"), uidOf("ConfigMap", "web/theirs")];
    const source = { path: "evictions/out.yaml", document: 0, line: 1, column: 1 };
    const eviction = { name: "out", placement: "web" as PlacementKey, cluster: m1 as ClusterName, source };
    world.commit(() => world.evictions.set("out", eviction));
    const bindingNow = () => world.head.placements.get("web" as PlacementKey)?.bindings.get(m1 as ClusterName);
    for (let pass = 0; pass < 4; pass++) world.pass({ isLate: true });
    expect(bindingNow()?.removal).not.toBeNull();
    settle();
    const binding = bindingNow();
    expect([binding?.state, binding?.removal, binding?.leaving]).toEqual(["Bound", null, []]);
    expect(uidOf("Namespace", "web")).toBe(space);
    expect(uidOf("ConfigMap", "web/theirs")).not.toBe(theirs);
  });

  test("a Namespace goes with the last of the placements in it", () => {
    world.commit(() => place(ofTeam("web", "app", ["mine"])));
    settle();
    world.commit(() => world.placements.delete("web" as PlacementKey));
    settle();
    world.commit(() => world.placements.delete("web/app" as PlacementKey));
    settle();
    expect(carried(m1)).toEqual(["Namespace db -"]);
    expect(keys()).toEqual(["db"]);
  });
});

describe("overrides of what a ResourcePlacement brings", () => {
  const settings = keyOf("ConfigMap", "web/mine");
  const ofObject = (name: string, placement: string | null): Override => {
    const made = overrideOf(name, settings, "env=prod", name);
    return { ...made, spec: { ...made.spec, placement: placement as PlacementKey | null } };
  };
  const ofNamespace = (name: string, placement: string | null): Override => {
    const made = ofObject(name, placement);
    const selectors = [{ group: "", version: "v1", kind: "Namespace", name: "web" }];
    return { ...made, scope: "Cluster", namespace: null, spec: { ...made.spec, selectors } };
  };
  const cases: readonly [name: string, override: Override, want: readonly string[]][] = [
    ["O-21 one of the Namespace, without a placement, applies to it", ofNamespace("all", null), ["all-0"]],
    ["O-21 one of the Namespace, with a placement, never does", ofNamespace("web", "web"), []],
    ["O-21 one in the namespace, without a placement, applies to it", ofObject("own", null), ["web/own-0"]],
    ["C 27 so does one that names it with its scope", ofObject("own", "web/web"), ["web/own-0"]],
    ["C 27 and not one that names the ClusterResourcePlacement of its name", ofObject("own", "web"), []],
  ];

  test.each(cases)("%s", (_, override, want) => {
    world.commit(() => {
      place(ofTeam("web", "web", ["mine"]));
      world.overrides.set("one", override);
    });
    settle();
    const bindings = [...(world.head.placements.get("web/web" as PlacementKey)?.bindings.values() ?? [])];
    const target = bindings.find((it) => it.cluster === m1)?.target;
    expect([...(target?.clusterOverrides ?? []), ...(target?.resourceOverrides ?? [])]).toEqual(want);
  });
});

test("a run in the namespace brings a version there, stage by stage, and no run of the fleet's does", () => {
  const strategy = strategyOf("ring", ["dev:env=dev", "prod:env=prod"]);
  world.commit(() => {
    place(ofTeam("web", "app", ["mine"], ["external"]));
    place(ofPlatform("app", "NamespaceOnly", ["external"]));
    write(world, objectOf("Namespace", "app", "-"));
    const key = strategyKey("web", "ring");
    world.strategies.set(key, { ...strategy, key, scope: "Namespaced", namespace: "web" });
    const run = runOf("first", {
      placement: placementKey("web", "app"),
      strategy: key,
      resourceIndex: null,
      state: "Run",
    });
    world.runs.set(runKey("web", "first"), {
      ...run,
      key: runKey("web", "first"),
      scope: "Namespaced",
      namespace: "web",
    });
  });
  settle();
  expect([carried(m1), carried(m2)].map((it) => it.includes("ConfigMap web/mine one"))).toEqual([true, true]);
  expect(carried(m1)).not.toContain("Namespace app -");
  const run = world.head.runs.get(runKey("web", "first"));
  expect(run?.end?.kind).toBe("succeeded");
});
