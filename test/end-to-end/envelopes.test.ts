import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Json, memberAt } from "../../src/core/model/json.ts";
import { type Stage, setPlacedStage } from "./fleet.ts";
import { objectAt } from "./member.ts";
import { file } from "./small-fleet.ts";

const path = "resources/shop/wrapped.yaml";
const configMaps = "/api/v1/namespaces/shop/configmaps";

/** What the shop's team says of it on one cluster; everything of the shop names its cluster already. */
const override = (value: string): string =>
  file({
    apiVersion: "placement.kubernetes-fleet.io/v1beta1",
    kind: "ResourceOverride",
    metadata: { name: "settings", namespace: "shop" },
    spec: {
      placement: { name: "web-shop" },
      resourceSelectors: [{ group: "", version: "v1", kind: "ConfigMap", name: "settings" }],
      policy: {
        overrideRules: [
          {
            clusterSelector: {
              clusterSelectorTerms: [
                { labelSelector: { matchLabels: { "kubernetes-fleet.io/member-name": "prod-eu-2" } } },
              ],
            },
            jsonPatchOverrides: [
              { op: "replace", path: "/data/MODE", value },
              { op: "replace", path: "/metadata/labels/acme.example~1cluster", value: "the-${MEMBER-CLUSTER-NAME}" },
            ],
          },
        ],
      },
    },
  });

/** An envelope of the shop with one setting in it, in that namespace. */
const envelope = (value: string, namespace = "shop"): string =>
  file({
    apiVersion: "placement.kubernetes-fleet.io/v1beta1",
    kind: "ResourceEnvelope",
    metadata: { name: "wrapped", namespace: "shop" },
    data: {
      "settings.yaml": {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "settings", namespace, labels: { "app.kubernetes.io/name": "shop" } },
        data: { MODE: value },
      },
    },
  });

describe("an envelope", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setPlacedStage();
  });
  afterAll(() => stage?.stop());

  const settings = () => objectAt(stage.member("prod-eu-2"), `${configMaps}/settings`);
  const modeThere = async (): Promise<Json> => memberAt((await settings()) ?? {}, "data", "MODE");

  test("reaches clusters as what it wraps, overridden like the rest, and is shown as itself", async () => {
    await stage.hub.write(path, envelope("one"));
    stage.hub.push("Wrap a setting");
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    expect(await modeThere()).toBe("one");
    expect(memberAt((await settings()) ?? {}, "metadata", "labels", "acme.example/cluster")).toBe("prod-eu-2");
    const { out } = await stage.run("get", "placements", "web-shop", "-o", "json");
    const shown = memberAt(JSON.parse(out).items[0], "status", "selectedResources") as readonly Json[];
    expect(shown.filter((it) => ["wrapped", "settings"].includes(String(memberAt(it, "name"))))).toEqual([
      expect.objectContaining({ kind: "ResourceEnvelope", name: "wrapped", namespace: "shop" }),
    ]);
    const snapshot = stage.hub.stateFile("placements/web-shop/resource-snapshots/1/snapshot.yaml");
    expect(snapshot).toContain('kubernetes-fleet.io/number-of-enveloped-object: "1"\n');
  });

  test("that is not sound stops all of its placement's new version, and says so where it is wrong", async () => {
    const before = await stage.contents();
    await stage.hub.edit("resources/shop/config.yaml", "Autumn sale", "Winter sale");
    await stage.hub.write(path, envelope("two", "elsewhere"));
    stage.hub.push("A mistake in the envelope, and a change beside it");
    const run = await stage.reconcile();
    expect(run.code).toBe(3);
    expect(run.err).toMatch(
      /^resources\/shop\/wrapped\.yaml:\d+:\d+: error FLT1416: .*must be the envelope's, shop.*\n$/,
    );
    expect(run.out).toContain("stuck: web-shop: cannot select resources: ResourceEnvelope shop/wrapped");
    expect(await stage.differences(before)).toEqual({});
  });

  test("goes on once it is mended, with what waited beside it", async () => {
    await stage.hub.write(path, envelope("two"));
    stage.hub.push("Mend it");
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    expect(await modeThere()).toBe("two");
    const beside = await objectAt(stage.member("prod-eu-2"), `${configMaps}/web`);
    expect(memberAt(beside ?? {}, "data", "BANNER")).toBe("Winter sale");
  });

  test("has contents that the namespace's own override changes last, where it says so", async () => {
    await stage.hub.write("overrides/settings.yaml", override("mine"));
    stage.hub.push("Say something of one cluster");
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    expect(await modeThere()).toBe("mine");
    expect(memberAt((await settings()) ?? {}, "metadata", "labels", "acme.example/cluster")).toBe("the-prod-eu-2");
    const elsewhere = await objectAt(stage.member("prod-eu-1"), `${configMaps}/settings`);
    expect(memberAt(elsewhere ?? {}, "data", "MODE")).toBe("two");
    expect(stage.hub.stateFile("namespaces/shop/overrides/settings.yaml")).toContain(
      "kind: ResourceOverrideSnapshot\n",
    );
    const { out } = await stage.run("get", "placements", "web-shop", "-o", "json");
    const rows = memberAt(JSON.parse(out).items[0], "status", "placementStatuses") as readonly Json[];
    expect(rows.map((it) => [memberAt(it, "clusterName"), memberAt(it, "applicableResourceOverrides")])).toContainEqual(
      ["prod-eu-2", [{ namespace: "shop", name: "settings-0" }]],
    );
  });

  test("stops its cluster alone when that override fails there; what runs stays", async () => {
    await stage.hub.edit("overrides/settings.yaml", "path: /data/MODE", "path: /data/NOTHING");
    stage.hub.push("Change what is not there");
    const run = await stage.reconcile();
    expect(run.out).toContain("override shop/settings-1, rule 1, operation 1 (replace /data/NOTHING)");
    expect(await modeThere()).toBe("mine");
    await stage.hub.remove("overrides/settings.yaml");
    stage.hub.push("Say nothing");
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    expect(await modeThere()).toBe("two");
  });

  test("that goes takes what it wrapped along", async () => {
    await stage.hub.remove(path);
    stage.hub.push("Without it");
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    expect(await settings()).toBeNull();
  });
});
