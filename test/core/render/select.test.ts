import { describe, expect, it } from "vitest";
import { objectText, type SourcedManifest } from "../../../src/core/model/manifest.ts";
import type { Placement } from "../../../src/core/model/placement.ts";
import { selectResources } from "../../../src/core/render/select.ts";
import { clusterPlacement, labelled, object, objectsOf, placementIn, scopes, selector } from "./repository.ts";

const app = object("v1 Namespace app");
const web = labelled("apps/v1 Deployment app/web", { tier: "web" });
const batch = labelled("apps/v1 Deployment app/batch", { tier: "batch" });
const config = object("v1 ConfigMap app/config");
const admin = object("rbac.authorization.k8s.io/v1 ClusterRole admin");
const reader = object("rbac.authorization.k8s.io/v1 ClusterRole reader");
const elsewhere = labelled("apps/v1 Deployment other/web", { tier: "web" });
const repository = [app, web, batch, config, admin, reader, elsewhere, object("v1 Namespace default")];

const select = (placement: Placement, objects: readonly SourcedManifest[] = repository) =>
  selectResources(placement, { objects: objectsOf(objects), scopes });

/** What is selected, in order; or the refusal. */
function outcome(placement: Placement, objects?: readonly SourcedManifest[]): readonly string[] | string {
  const selection = select(placement, objects);
  return selection.kind === "refused" ? selection.message : selection.resources.map((it) => objectText(it.id));
}

const namespaceApp = selector("v1 Namespace app");
const withSelectors = selector("v1 Namespace app", { selectionScope: "NamespaceWithResourceSelectors" });
const role = (name: string) => selector(`rbac.authorization.k8s.io/v1 ClusterRole ${name}`);
const byTier = (line: string, tier: string) => selector(line, { labelSelector: { matchLabels: { tier } } });

describe("what is selected", () => {
  const cases: readonly { id: string; claim: string; placement: Placement; want: readonly string[] }[] = [
    {
      id: "L1",
      claim: "a Namespace by name brings everything inside",
      placement: clusterPlacement(namespaceApp),
      want: ["Namespace app", "ConfigMap app/config", "Deployment app/batch", "Deployment app/web"],
    },
    {
      id: "L5",
      claim: "a Namespace that does not exist selects nothing and is no error",
      placement: clusterPlacement(selector("v1 Namespace missing")),
      want: [],
    },
    {
      id: "L7",
      claim: "NamespaceWithResourceSelectors takes what the other selectors take inside, and cluster-scoped objects",
      placement: clusterPlacement(withSelectors, byTier("apps/v1 Deployment", "web"), role("admin")),
      want: ["Namespace app", "ClusterRole admin", "Deployment app/web"],
    },
    {
      id: "also",
      claim: "NamespaceOnly takes the Namespace alone",
      placement: clusterPlacement(selector("v1 Namespace app", { selectionScope: "NamespaceOnly" })),
      want: ["Namespace app"],
    },
    {
      id: "also",
      claim: "a selector without name and labels takes all of its kind",
      placement: clusterPlacement(selector("rbac.authorization.k8s.io/v1 ClusterRole")),
      want: ["ClusterRole admin", "ClusterRole reader"],
    },
    {
      id: "also",
      claim: "a ResourcePlacement selects in its own namespace only",
      placement: placementIn("app", byTier("apps/v1 Deployment", "web"), selector("v1 ConfigMap config")),
      want: ["ConfigMap app/config", "Deployment app/web"],
    },
    {
      id: "never placed",
      claim: "a selector of a denied kind selects nothing",
      placement: clusterPlacement(selector("v1 Node n"), role("admin")),
      want: ["ClusterRole admin"],
    },
  ];
  for (const { id, claim, placement, want } of cases)
    it(`${id}: ${claim}`, () => expect(outcome(placement)).toEqual(want));
});

describe("what is refused", () => {
  const cases: readonly { id: string; claim: string; placement: Placement; want: RegExp }[] = [
    {
      id: "L2",
      claim: "a reserved namespace by name",
      placement: clusterPlacement(selector("v1 Namespace kube-system")),
      want: /kube-system is reserved/,
    },
    {
      id: "L4, against it A 13",
      claim: "a reserved namespace by name, NamespaceOnly as well",
      placement: clusterPlacement(selector("v1 Namespace default", { selectionScope: "NamespaceOnly" })),
      want: /default is reserved/,
    },
    {
      id: "L6",
      claim: "NamespaceWithResourceSelectors of a Namespace that does not exist",
      placement: clusterPlacement(
        selector("v1 Namespace missing", { selectionScope: "NamespaceWithResourceSelectors" }),
      ),
      want: /no Namespace missing/,
    },
    {
      id: "also",
      claim: "two NamespaceWithResourceSelectors",
      placement: clusterPlacement(withSelectors, withSelectors),
      want: /exactly one/,
    },
    {
      id: "L8",
      claim: "a namespaced kind in a ClusterResourcePlacement",
      placement: clusterPlacement(selector("v1 ConfigMap")),
      want: /namespaced kind ConfigMap/,
    },
    {
      id: "L9",
      claim: "a cluster-scoped kind in a ResourcePlacement",
      placement: placementIn("app", role("admin")),
      want: /cluster-scoped kind ClusterRole/,
    },
    {
      id: "L9",
      claim: "a Namespace in a ResourcePlacement",
      placement: placementIn("app", namespaceApp),
      want: /cannot select a Namespace/,
    },
    {
      id: "D 5",
      claim: "anything in a reserved namespace, by a ResourcePlacement there",
      placement: placementIn("kube-system", selector("v1 ConfigMap config")),
      want: /namespace kube-system by a placement of its own: it is reserved/,
    },
    {
      id: "C 31",
      claim: "a kind that nobody knows",
      placement: clusterPlacement(selector("example.org/v1 Widget w")),
      want: /Widget\.example\.org is unknown/,
    },
    {
      id: "A 57",
      claim: "a version that the repository does not have",
      placement: clusterPlacement(selector("rbac.authorization.k8s.io/v1beta1 ClusterRole admin")),
      want: /asks for version v1beta1, but the repository has .*admin in version v1/,
    },
  ];
  for (const { id, claim, placement, want } of cases)
    it(`${id}: ${claim}`, () => expect(outcome(placement)).toMatch(want));

  it("A 9: a ConfigMap that is an envelope of the old kind", () => {
    const metadata = { annotations: { "kubernetes-fleet.io/envelope-configmap": "true" } };
    const objects = [app, object("v1 ConfigMap app/envelope", { metadata })];
    expect(outcome(clusterPlacement(namespaceApp), objects)).toMatch(/ClusterResourceEnvelope and ResourceEnvelope/);
  });

  it("an envelope of which nobody knows what it wraps, instead of placing it as it is", () => {
    const objects = [app, object("placement.kubernetes-fleet.io/v1beta1 ResourceEnvelope app/example")];
    expect(outcome(clusterPlacement(namespaceApp), objects)).toMatch(
      /ResourceEnvelope app\/example \(.*\) cannot be unwrapped: what it wraps was not read/,
    );
  });
});

describe("what a person is warned of", () => {
  const warnings = (placement: Placement, objects?: readonly SourcedManifest[]): readonly string[] => {
    const selection = select(placement, objects);
    return selection.kind === "refused" ? [`refused: ${selection.message}`] : selection.warnings;
  };

  it("L3, against it A 14: labels that match a reserved namespace skip it and select the rest", () => {
    const objects = [labelled("v1 Namespace app", { tier: "x" }), labelled("v1 Namespace fleet-ops", { tier: "x" })];
    const placement = clusterPlacement(byTier("v1 Namespace", "x"));
    expect(outcome(placement, objects)).toEqual(["Namespace app"]);
    expect(warnings(placement, objects)).toEqual([
      "reserved namespaces are never placed, skipped: Namespace fleet-ops",
    ]);
  });

  it("L10, against it A 15: overlapping selectors place an object once", () => {
    const placement = clusterPlacement(role("admin"), selector("rbac.authorization.k8s.io/v1 ClusterRole"));
    expect(outcome(placement)).toEqual(["ClusterRole admin", "ClusterRole reader"]);
    expect(warnings(placement)).toEqual(["selected by more than one selector, placed once: ClusterRole admin"]);
  });

  it("a selector that matches nothing", () => {
    expect(warnings(clusterPlacement(role("missing")))).toEqual([
      "the selector ClusterRole.rbac.authorization.k8s.io missing matches nothing",
    ]);
  });

  it("objects of the kind in another version than the selector's, beside those that it selects", () => {
    const objects = [object("example.com/v1 Foo new"), object("example.com/v1beta1 Foo old")];
    const placement = clusterPlacement(selector("example.com/v1 Foo"));
    expect(outcome(placement, objects)).toEqual(["Foo.example.com new"]);
    expect(warnings(placement, objects)).toEqual(["not in version v1, left out: Foo.example.com old"]);
  });

  it("objects whose Namespace is not in the repository", () => {
    expect(warnings(clusterPlacement(selector("v1 Namespace other")))).toEqual([
      "the selector Namespace other matches nothing",
      "the repository has objects in the namespace other (1), but not the Namespace itself",
    ]);
  });

  it("names the first five of many and counts the rest", () => {
    const pods = ["1", "2", "3", "4", "5", "6", "7"].map((it) => object(`v1 Pod app/p${it}`));
    expect(warnings(clusterPlacement(namespaceApp), [app, ...pods])).toEqual([
      "never placed, left out of namespace app: Pod app/p1, Pod app/p2, Pod app/p3, Pod app/p4, Pod app/p5 and 2 more",
    ]);
  });
});

describe("what lives in a namespace", () => {
  const owned = { metadata: { ownerReferences: [{ kind: "Deployment", name: "web" }] } };
  const managed = { metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "x" } } };

  it("L11: what clusters make themselves is left out", () => {
    const objects = [
      app,
      object("v1 Service app/web"),
      object("v1 ConfigMap app/kube-root-ca.crt"),
      object("v1 ServiceAccount app/default"),
      object("v1 Secret app/token", { type: "kubernetes.io/service-account-token" }),
      object("apps/v1 ReplicaSet app/web-1", owned),
      object("apps/v1 ControllerRevision app/web-1", owned),
      object("v1 Endpoints app/web"),
      object("discovery.k8s.io/v1 EndpointSlice app/web-abc", managed),
      object("v1 Pod app/web-1"),
      object("coordination.k8s.io/v1 Lease app/lock"),
      object("v1 Event app/event"),
    ];
    expect(outcome(clusterPlacement(namespaceApp), objects)).toEqual(["Namespace app", "Service app/web"]);
  });

  it("L12: and what only looks like it is not", () => {
    const objects = [
      app,
      object("v1 Endpoints app/external"),
      object("apps/v1 ReplicaSet app/own"),
      object("discovery.k8s.io/v1 EndpointSlice app/own"),
      object("v1 PersistentVolumeClaim app/data"),
    ];
    expect(outcome(clusterPlacement(namespaceApp), objects)).toEqual([
      "Namespace app",
      "PersistentVolumeClaim app/data",
      "ReplicaSet app/own",
      "Endpoints app/external",
      "EndpointSlice.discovery.k8s.io app/own",
    ]);
  });

  it("C 31: an unknown kind is namespaced when the object says so itself", () => {
    const objects = [app, object("cert-manager.io/v1 Certificate app/tls")];
    expect(outcome(clusterPlacement(namespaceApp), objects)).toEqual([
      "Namespace app",
      "Certificate.cert-manager.io app/tls",
    ]);
    const byKind = clusterPlacement(withSelectors, selector("cert-manager.io/v1 Certificate"));
    expect(outcome(byKind, objects)).toEqual(["Namespace app", "Certificate.cert-manager.io app/tls"]);
  });
});

describe("the order of selection", () => {
  it("L13: goes by kind name, then by version and name", () => {
    const objects = [
      object("v1 Service a/s"),
      object("serving.knative.dev/v1 Service a/s"),
      object("apps/v1 Deployment a/d"),
      object("v1 ConfigMap a/c"),
      object("v1 Namespace b"),
      object("v1 Namespace a"),
      object("example.com/v1 Foo f"),
      object("v1 Bar a/b"),
    ];
    expect(outcome(clusterPlacement(selector("v1 Namespace"), selector("example.com/v1 Foo")), objects)).toEqual([
      "Namespace a",
      "Namespace b",
      "ConfigMap a/c",
      "Service.serving.knative.dev a/s",
      "Service a/s",
      "Deployment a/d",
      "Bar a/b",
      "Foo.example.com f",
    ]);
  });

  it("L14: compares namespace and name as one text", () => {
    const objects = ["a", "a-b"].map((it) => object(`v1 Namespace ${it}`));
    const inside = [object("v1 ConfigMap a/z"), object("v1 ConfigMap a-b/c")];
    expect(outcome(clusterPlacement(selector("v1 Namespace")), [...objects, ...inside])).toEqual([
      "Namespace a",
      "Namespace a-b",
      "ConfigMap a-b/c",
      "ConfigMap a/z",
    ]);
  });
});

it("a thousand placements cost what they select, not what the fleet holds", () => {
  let reads = 0;
  const count = 1000;
  const objects = Array.from({ length: count }, (_, at) => [
    object(`v1 Namespace n${at}`),
    object(`v1 ConfigMap n${at}/c`),
    object(`apps/v1 Deployment n${at}/d`),
  ]).flat();
  const counted = new Proxy(objectsOf(objects), {
    get(map, key) {
      const value = Reflect.get(map, key, map);
      if (key === "values") reads++;
      return typeof value === "function" ? value.bind(map) : value;
    },
  });
  for (let at = 0; at < count; at++) {
    const selection = selectResources(clusterPlacement(selector(`v1 Namespace n${at}`)), { objects: counted, scopes });
    expect(selection.kind === "selected" && selection.resources.length).toBe(3);
  }
  // Once by kind and once by namespace, for all placements together.
  expect(reads).toBe(2);
});
