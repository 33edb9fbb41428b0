// ResourceOverrides of what ClusterResourcePlacements place: what reaches clusters, what is on record, and what is said.
import { beforeEach, describe, expect, test } from "vitest";
import { digestOf, type JsonObject, member as memberOf } from "../../../src/core/model/json.ts";
import type { Override, OverrideSpec, PatchOperation } from "../../../src/core/model/override.ts";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import { overrideSnapshotKey } from "../../../src/core/render/override-snapshot.ts";
import { envelopeOf, keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../intent.ts";
import { type World, write } from "../../world.ts";
import { m1, m2, settle as settleWorld, web, webPlacement, webRecord, webWorld } from "./web.ts";

const settings = keyOf("ConfigMap", "web/settings");

let world: World;
beforeEach(() => {
  world = webWorld(objectOf("ConfigMap", "web/settings", "one"));
});
const settle = (): void => settleWorld(world);
const record = () => webRecord(world);

const named = (cluster: string): readonly string[] => {
  const target = [...record().bindings.values()].find((it) => it.cluster === cluster)?.target;
  return [...(target?.clusterOverrides ?? []), ...(target?.resourceOverrides ?? [])];
};

/** Whether a member has an object as it is in the repository, with more in it. */
function has(cluster: string, kind: string, path: string, more: JsonObject): boolean {
  const { manifest } = objectOf(kind, path, kind === "Namespace" ? "-" : "one");
  const [data, metadata] = [memberOf(more, "data"), memberOf(more, "metadata")];
  const wanted = {
    ...manifest,
    data: { ...(manifest["data"] as JsonObject), ...(data as JsonObject | null) },
    metadata: { ...(manifest["metadata"] as JsonObject), ...(metadata as JsonObject | null) },
  };
  return world.member(cluster).objects.get(keyOf(kind, path))?.content === digestOf(wanted);
}

/** Which word an override has added to the ConfigMap. */
const moreOn = (cluster: string): string | undefined =>
  ["", "loud", "quiet"].find((it) =>
    has(cluster, "ConfigMap", "web/settings", it === "" ? {} : { data: { more: it } }),
  );

const overridden = (...overrides: readonly Override[]): void => {
  world.commit(() => {
    world.overrides.clear();
    for (const it of overrides) world.overrides.set(`${it.namespace}/${it.name}`, it);
  });
  settle();
};

const inProd = (value: string, spec: Partial<OverrideSpec> = {}): Override => {
  const override = overrideOf("more", settings, "env=prod", value);
  return { ...override, spec: { ...override.spec, ...spec } };
};

/** A cluster override of the Namespace that adds a label to all that is in it. */
const ofNamespace = (value: string): Override => {
  const operation: PatchOperation = { op: "add", path: "/metadata/labels", value: { more: value } };
  return {
    ...overrideOf("more", keyOf("Namespace", "web"), "env=prod", ""),
    scope: "Cluster",
    namespace: null,
    spec: {
      placement: null,
      selectors: [{ group: "", version: "v1", kind: "Namespace", name: "web" }],
      rules: [{ clusters: [], action: { kind: "JSONPatch", operations: [operation] } }],
    },
  };
};

describe("what a ResourceOverride says of an object", () => {
  test("O-01, O-02 is so on the clusters that its rules match, and its snapshot stands in their bindings alone", () => {
    overridden(inProd("loud"));
    expect([moreOn(m1), moreOn(m2)]).toEqual(["loud", ""]);
    expect([named(m1), named(m2)]).toEqual([["web/more-0"], []]);
  });

  test("is so at once when it is edited or deleted, although it names no placement", () => {
    overridden(inProd("loud"));
    overridden(inProd("quiet"));
    expect([moreOn(m1), named(m1)]).toEqual(["quiet", ["web/more-1"]]);
    overridden();
    expect([moreOn(m1), named(m1)]).toEqual(["", []]);
  });

  test("O-16 that it goes takes it away from the cluster, and it comes back without the override", () => {
    overridden(inProd("delete"));
    expect([world.carried(m1), world.carried(m2)]).toEqual([
      ["Namespace web -"],
      ["ConfigMap web/settings one", "Namespace web -"],
    ]);
    overridden();
    expect(world.carried(m1)).toContain("ConfigMap web/settings one");
  });

  test("O-21 is so for the placement that it names, and for no other", () => {
    overridden(inProd("loud", { placement: "shop" as PlacementKey }));
    expect([moreOn(m1), named(m1)]).toEqual(["", []]);
    overridden(inProd("loud", { placement: "web/web" as PlacementKey }));
    expect([moreOn(m1), named(m1)]).toEqual(["", []]);
    overridden(inProd("loud", { placement: web }));
    expect([moreOn(m1), named(m1)]).toEqual(["loud", ["web/more-2"]]);
  });

  test("O-23 is so inside of an envelope", () => {
    world.commit(() => {
      world.objects.delete(settings);
      write(world, envelopeOf("web/e", [objectOf("ConfigMap", "web/settings", "one")]));
    });
    overridden(inProd("loud"));
    expect([moreOn(m1), moreOn(m2)]).toEqual(["loud", ""]);
  });
});

describe("beside a cluster override", () => {
  test("O-05 it comes last and wins, though both have one name; the binding names both kinds apart", () => {
    const operation: PatchOperation = { op: "replace", path: "/metadata/labels/more", value: "namespaced" };
    const mine = inProd("", {
      rules: [{ clusters: [], action: { kind: "JSONPatch", operations: [operation] } }],
    });
    overridden(ofNamespace("cluster"), mine);
    const labelled = (more: string): JsonObject => ({ metadata: { labels: { more } } });
    expect(has(m1, "Namespace", "web", labelled("cluster"))).toBe(true);
    expect(has(m1, "ConfigMap", "web/settings", labelled("namespaced"))).toBe(true);
    expect(named(m1)).toEqual(["more-0", "web/more-0"]);
    expect(world.head.overrides.map(overrideSnapshotKey)).toEqual(["more-0", "web/more-0"]);
  });

  test("an edit of the one leaves the snapshots of the other alone", () => {
    overridden(ofNamespace("cluster"), inProd("loud"));
    overridden(ofNamespace("cluster"), inProd("quiet"));
    expect(named(m1)).toEqual(["more-0", "web/more-1"]);
  });
});

describe("one that cannot be carried out", () => {
  const failed = (cluster: string) => [...record().bindings.values()].find((it) => it.cluster === cluster);

  test("O-04 leaves its clusters as they are, with all of the version; the others go on", () => {
    overridden(inProd("broken"));
    world.commit(() => write(world, objectOf("ConfigMap", "web/extra", "one")));
    settle();
    expect([world.carried(m1), world.carried(m2)]).toEqual([
      ["ConfigMap web/settings one", "Namespace web -"],
      ["ConfigMap web/extra one", "ConfigMap web/settings one", "Namespace web -"],
    ]);
    const overriddenOf = failed(m1)?.conditions.find((it) => it.type === "Overridden");
    expect([overriddenOf?.status, overriddenOf?.reason]).toEqual(["False", "OverriddenFailed"]);
    expect(overriddenOf?.message).toContain(
      "ConfigMap web/settings cannot be overridden: override web/more-0, rule 1, operation 1 (remove /data/nothing): ",
    );
  });

  test("mended, lets everything go on", () => {
    overridden(inProd("broken"));
    overridden(inProd("loud"));
    expect(moreOn(m1)).toEqual("loud");
  });

  test("in one namespace stops no placement of another", () => {
    overridden(inProd("broken"));
    world.commit(() => {
      write(world, objectOf("Namespace", "shop", "-"));
      const shop = placementOf({ name: "shop", policy: policyOf("PickAll", undefined), options: [] });
      world.placements.set(shop.key, shop);
    });
    settle();
    expect(world.carried(m1)).toContain("Namespace shop -");
  });
});

test("C 22 an edited one goes through the budget like any other change", () => {
  world.commit(() => world.placements.set(web, webPlacement("unavailable=1", "surge=0")));
  settle();
  world.member(m1).silence = { code: "Unreachable", message: "no answer" };
  const everywhere: OverrideSpec["rules"] = [
    { clusters: [], action: { kind: "JSONPatch", operations: [{ op: "add", path: "/data/more", value: "loud" }] } },
  ];
  overridden(inProd("", { rules: everywhere }));
  expect([moreOn(m2), named(m2)]).toEqual(["", []]);
});
