import { describe, expect, it } from "vitest";
import type { Intent } from "../../../src/core/model/intent.ts";
import {
  builtInScopes,
  objectText,
  placedText,
  type ScopeTable,
  type SourcedManifest,
} from "../../../src/core/model/manifest.ts";
import type { OverrideSnapshot } from "../../../src/core/model/override.ts";
import { render } from "../../../src/core/render/render.ts";
import { contentDigest } from "../../../src/core/render/resource-snapshot.ts";
import { selectResources, unselectedObjects } from "../../../src/core/render/select.ts";
import { envelopeOf } from "../../intent.ts";
import {
  c1,
  clusterPlacement,
  everywhere,
  labelled,
  object,
  objectsOf,
  override,
  patch,
  placementIn,
  prodLabels,
  remove,
  selector,
} from "./repository.ts";

const group = "placement.kubernetes-fleet.io";
/** As they are read: Kubernetes' kinds, and envelopes. */
const scopes: ScopeTable = new Map([
  ...builtInScopes,
  [`${group}/ClusterResourceEnvelope`, "Cluster"],
  [`${group}/ResourceEnvelope`, "Namespaced"],
]);
const app = labelled("v1 Namespace app", { x: "y" });
const inner = object("apps/v1 Deployment app/inner", { spec: { replicas: 1 } });
const settings = object("v1 ConfigMap app/settings");
const reader = object("rbac.authorization.k8s.io/v1 ClusterRole reader");
const tools = envelopeOf("tools", [reader]);
const example = envelopeOf("app/example", [settings, inner]);
const wholeNamespace = selector("v1 Namespace app");
const ofTools = selector(`${group}/v1beta1 ClusterResourceEnvelope tools`);

const selected = (objects: readonly SourcedManifest[], ...selectors: readonly ReturnType<typeof selector>[]) =>
  selectResources(clusterPlacement(...selectors), { objects: objectsOf(objects), scopes });

function outcome(...args: Parameters<typeof selected>): readonly string[] | string {
  const selection = selected(...args);
  return selection.kind === "refused" ? selection.message : selection.resources.map(placedText);
}

const place = (kind: string, name: string): string => `resources/${kind}-${name}.yaml:1`;
const exampleAt = `ResourceEnvelope app/example (${place("ResourceEnvelope", "example")})`;

describe("an envelope is selected like any object, and what it wraps is placed in its place", () => {
  it("a ResourceEnvelope with its namespace, its contents in the order of selection", () =>
    expect(outcome([app, example], wholeNamespace)).toEqual([
      "Namespace app",
      "ConfigMap app/settings in ResourceEnvelope app/example",
      "Deployment app/inner in ResourceEnvelope app/example",
    ]));

  it("a ClusterResourceEnvelope by name", () =>
    expect(outcome([tools], ofTools)).toEqual(["ClusterRole reader in ClusterResourceEnvelope tools"]));

  it("by two selectors once", () =>
    expect(outcome([tools], ofTools, selector(`${group}/v1beta1 ClusterResourceEnvelope`))).toHaveLength(1));

  it("by NamespaceWithResourceSelectors, by name", () =>
    expect(
      outcome(
        [app, example, object("v1 ConfigMap app/other")],
        selector("v1 Namespace app", { selectionScope: "NamespaceWithResourceSelectors" }),
        selector(`${group}/v1beta1 ResourceEnvelope example`),
      ),
    ).toHaveLength(3));

  it("by a ResourcePlacement of its namespace", () => {
    const selection = selectResources(placementIn("app", selector(`${group}/v1beta1 ResourceEnvelope example`)), {
      objects: objectsOf([app, example]),
      scopes,
    });
    expect(selection).toMatchObject({
      kind: "selected",
      resources: [{ id: { kind: "ConfigMap" } }, { id: { kind: "Deployment" } }],
    });
  });

  it("the same objects (===) for the same envelope", () => {
    const [one, other] = [selected([app, example], wholeNamespace), selected([app, example], wholeNamespace)];
    if (one.kind === "refused" || other.kind === "refused") throw new Error("both are selected");
    expect(one.resources.map((it, at) => it === other.resources[at])).toEqual([true, true, true]);
  });

  it("counts as selected itself", () => {
    const placement = clusterPlacement(wholeNamespace);
    const intent = {
      placements: new Map([[placement.key, placement]]),
      objects: objectsOf([app, example, tools]),
      scopes,
    };
    expect(unselectedObjects(intent as unknown as Intent).map((it) => objectText(it.id))).toEqual([
      `ClusterResourceEnvelope.${group} tools`,
    ]);
  });

  it("moving an object into an envelope is another content, although every object is as it was", () => {
    const [direct, wrapped] = [
      selected([app, settings], wholeNamespace),
      selected([app, envelopeOf("app/e", [settings])], wholeNamespace),
    ];
    if (direct.kind === "refused" || wrapped.kind === "refused") throw new Error("both are selected");
    expect(direct.resources.map((it) => it.digest)).toEqual(wrapped.resources.map((it) => it.digest));
    expect(contentDigest(direct.resources)).not.toBe(contentDigest(wrapped.resources));
  });
});

describe("nothing is selected where an envelope is not sound, since half a version is worse than none", () => {
  const cases: readonly [name: string, objects: readonly SourcedManifest[], want: string][] = [
    [
      "R-05 what was found wrong when it was read",
      [app, settings, envelopeOf("app/example", [inner], "data.k0: no")],
      `${exampleAt} cannot be unwrapped: data.k0: no`,
    ],
    [
      "A-32 an object by itself and wrapped",
      [app, settings, example],
      "ConfigMap app/settings (resources/ConfigMap-app-settings.yaml:1) is also selected wrapped (resources/ResourceEnvelope-example.yaml:1); keep one of them",
    ],
    [
      "A-32 an object in two envelopes",
      [app, example, envelopeOf("app/more", [settings])],
      "ConfigMap app/settings in ResourceEnvelope app/example (resources/ResourceEnvelope-example.yaml:1) is also selected wrapped (resources/ResourceEnvelope-more.yaml:1); keep one of them",
    ],
    [
      "a cluster-scoped object in a ResourceEnvelope",
      [app, envelopeOf("app/example", [reader])],
      `${exampleAt} cannot be unwrapped: ClusterRole of group rbac.authorization.k8s.io is cluster-scoped, and a ResourceEnvelope wraps objects of its namespace`,
    ],
    [
      "C 31 a kind that nobody knows",
      [app, envelopeOf("app/example", [object("example.com/v1 Gizmo app/g")])],
      `${exampleAt} cannot be unwrapped: Gizmo of group example.com is not known`,
    ],
    [
      "L11 what every cluster makes itself",
      [app, envelopeOf("app/example", [object("v1 ConfigMap app/kube-root-ca.crt")])],
      `${exampleAt} cannot be unwrapped: ConfigMap app/kube-root-ca.crt is never placed`,
    ],
    [
      "what is never placed",
      [app, envelopeOf("app/example", [object("v1 Pod app/p")])],
      `${exampleAt} cannot be unwrapped: Pod app/p is never placed`,
    ],
    [
      "A 9 an old envelope in a new one",
      [
        app,
        envelopeOf("app/example", [
          object("v1 ConfigMap app/old", {
            metadata: { annotations: { "kubernetes-fleet.io/envelope-configmap": "true" } },
          }),
        ]),
      ],
      "ConfigMap app/old in ResourceEnvelope app/example carries kubernetes-fleet.io/envelope-configmap, which is no longer read (ClusterResourceEnvelope and ResourceEnvelope replaced it); commit what it wraps as documents",
    ],
  ];
  for (const [name, objects, want] of cases) it(name, () => expect(outcome(objects, wholeNamespace)).toBe(want));

  it("an envelope that nobody selects stops nobody", () =>
    expect(outcome([app, settings, envelopeOf("tools", [reader], "broken")], wholeNamespace)).toHaveLength(2));

  it("a kind that becomes known is looked at again", () => {
    const objects = objectsOf([app, envelopeOf("app/example", [object("example.com/v1 Gizmo app/g")])]);
    const placement = clusterPlacement(wholeNamespace);
    const kinds = [
      selectResources(placement, { objects, scopes }),
      selectResources(placement, { objects, scopes: new Map([...scopes, ["example.com/Gizmo", "Namespaced"]]) }),
    ];
    expect(kinds.map((it) => it.kind)).toEqual(["refused", "selected"]);
  });
});

describe("O-23 overrides act on what is wrapped, and never on the envelope", () => {
  function rendered(overrides: readonly OverrideSnapshot[]) {
    const selection = selected([app, example], wholeNamespace);
    if (selection.kind === "refused") throw new Error(selection.message);
    return render({ resources: selection.resources, overrides, cluster: c1, labels: prodLabels, scopes });
  }
  const manifests = (...overrides: readonly OverrideSnapshot[]) => {
    const rendering = rendered(overrides);
    return rendering.kind === "failed"
      ? rendering.message
      : rendering.manifests.map((it) => [it.id.name, it.manifest["spec"] ?? it.manifest["metadata"]]);
  };

  it("by a ResourceOverride of its own key", () =>
    expect(
      manifests(override("app/ro-0", "apps/v1 Deployment inner", [patch(everywhere, "replace /spec/replicas 5")])),
    ).toContainEqual(["inner", { replicas: 5 }]));

  it("by a ClusterResourceOverride of its Namespace, which takes it away with the rest", () =>
    expect(manifests(override("cro-0", "v1 Namespace app", [remove(everywhere)]))).toEqual([]));

  it("one of an envelope is attached to nothing", () =>
    expect(
      manifests(override("app/ro-0", `${group}/v1beta1 ResourceEnvelope example`, [remove(everywhere)])),
    ).toHaveLength(3));

  it("one that fails names the override, the object, the envelope, the operation and why", () =>
    expect(
      manifests(override("app/ro-0", "v1 ConfigMap settings", [patch(everywhere, 'add /metadata/labels/a "b"')])),
    ).toBe(
      "ConfigMap app/settings in ResourceEnvelope app/example cannot be overridden: override app/ro-0, rule 1, operation 1 (add /metadata/labels/a): /metadata/labels does not exist",
    ));
});
