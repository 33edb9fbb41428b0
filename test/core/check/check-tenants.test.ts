// What a planner that forgot all about tenants would apply, and who notices.
import { expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { Tenant } from "../../../src/core/model/fleet.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../../../src/core/model/manifest.ts";
import { placementGroup } from "../../../src/core/model/names.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import type { Commit, PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

const key = "web" as PlacementKey;
const folder = "teams/web/";

const tenant = (change: Partial<Tenant> = {}): Tenant => ({
  folder,
  namespaces: ["web", "web-*"],
  kinds: ["Namespace", "ConfigMap", "ClusterResourcePlacement"],
  clusters: null,
  place: "fleet.yaml:5:7",
  ...change,
});

/** A plan that applies `web`, with a ConfigMap in it; then these files become those of a tenant. */
function applying(files: { readonly placement: string; readonly objects: string }, it: Tenant): readonly [Seen, Plan] {
  const world = new World();
  world.commit(() => {
    world.join(clusterOf("m1", []));
    write(world, objectOf("Namespace", "web", "one"));
    write(world, objectOf("ConfigMap", "web/settings", "one"));
    world.placements.set(key, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: [] }));
  });
  const seen = world.look();
  const of = <T extends { readonly source: { readonly path: string } }>(value: T, path: string): T => ({
    ...value,
    source: { ...value.source, path },
  });
  const intent = {
    ...seen.intent,
    tenants: [it],
    placements: new Map([...seen.intent.placements].map(([name, value]) => [name, of(value, files.placement)])),
    objects: new Map([...seen.intent.objects].map(([name, value]) => [name, of(value, files.objects)])),
  };
  return [{ ...seen, intent }, plan(seen)];
}

const ours = { placement: `${folder}a.yaml`, objects: `${folder}b.yaml` };
const theirs = { placement: "a.yaml", objects: "b.yaml" };

test.each([
  ["what is granted", ours, tenant(), []],
  ["what a prefix grants", ours, tenant({ namespaces: ["we*"] }), []],
  [
    "a placement in another namespace",
    { ...ours, objects: "b.yaml" },
    tenant({ namespaces: ["shop"] }),
    ["/Namespace//web", "/ConfigMap/web/settings"],
  ],
  ["a placement of the platform's", theirs, tenant({ namespaces: ["shop"], kinds: ["Secret"] }), []],
  [
    "an object in another namespace",
    { ...theirs, objects: ours.objects },
    tenant({ namespaces: ["shop"] }),
    ["/Namespace//web", "/ConfigMap/web/settings"],
  ],
  [
    "an object of another kind",
    { ...theirs, objects: ours.objects },
    tenant({ kinds: ["Namespace"] }),
    ["/ConfigMap/web/settings"],
  ],
  [
    "another spelling of the folder",
    { ...theirs, objects: "Teams/WEB/b.yaml" },
    tenant({ kinds: ["Namespace"] }),
    ["/ConfigMap/web/settings"],
  ],
  ["a folder that begins alike", { ...theirs, objects: "teams/web2/b.yaml" }, tenant({ kinds: ["Namespace"] }), []],
] as const)("I-46: %s", (_, files, it, want) => {
  const [seen, made] = applying(files, it);
  expect(made.actions.flatMap((work) => work.placements.flatMap((one) => one.apply))).not.toEqual([]);
  const found = check(made, seen).filter((defect) => defect.code === "GrantExceeded");
  expect(found.map(({ subject }) => (subject.kind === "object" ? subject.object : null)).sort()).toEqual(
    [...want].sort(),
  );
  for (const { message } of found) expect(message).toContain("which teams/web/ is not granted (fleet.yaml:5:7)");
});

test("I-46: what was accepted before the grant became tighter is held, and stays", () => {
  const [seen, made] = applying(ours, tenant({ namespaces: ["shop"] }));
  const ids = [
    ...seen.intent.objects.keys(),
    objectKey({ group: placementGroup, kind: "ClusterResourcePlacement", namespace: null, name: "web" }),
  ];
  const holds = ids.map((it: ObjectKey) => ({
    id: objectIdOf(it),
    commit: "c1" as Commit,
    path: "",
    document: 0,
    blob: "" as never,
  }));
  const held = { ...seen, intent: { ...seen.intent, holds } };
  expect(check(made, held).filter((it) => it.code === "GrantExceeded")).toEqual([]);
});
