// What the second opinion takes for selected is never more than what is selected, and all of it where nothing is odd.
import { expect, test } from "vitest";
import { certainlySelected } from "../../../src/core/check/check-selected.ts";
import type { Intent } from "../../../src/core/model/intent.ts";
import { objectText, type ScopeTable, type SourcedManifest } from "../../../src/core/model/manifest.ts";
import type { Placement, ResourceSelector } from "../../../src/core/model/placement.ts";
import { selectResources } from "../../../src/core/render/select.ts";
import { envelopeOf } from "../../intent.ts";
import {
  clusterPlacement,
  labelled,
  object,
  objectsOf,
  placementIn,
  scopes as plainScopes,
  selector,
} from "../render/repository.ts";
import { random } from "../schedule/random.ts";

const scopes: ScopeTable = new Map([
  ...plainScopes,
  ["placement.kubernetes-fleet.io/ClusterResourceEnvelope", "Cluster"],
  ["placement.kubernetes-fleet.io/ResourceEnvelope", "Namespaced"],
]);

const ordinary = [
  object("v1 Namespace app"),
  labelled("apps/v1 Deployment app/web", { tier: "web" }),
  labelled("apps/v1 Deployment app/batch", { tier: "batch" }),
  object("v1 ConfigMap app/config"),
  object("rbac.authorization.k8s.io/v1 ClusterRole admin"),
  labelled("rbac.authorization.k8s.io/v1 ClusterRole reader", { tier: "web" }),
  object("v1 Namespace other"),
  object("v1 ConfigMap other/config"),
  envelopeOf("app/wrapped", [object("v1 ConfigMap app/inner"), object("apps/v1 Deployment app/inner")]),
  envelopeOf("tools", [object("rbac.authorization.k8s.io/v1 ClusterRole inner")]),
];
/** What is not placed like everything else, or makes a placement invalid. */
const odd = [
  object("v1 ConfigMap app/kube-root-ca.crt"),
  object("v1 Pod other/alone"),
  object("v1 Namespace kube-system"),
  object("apps/v1beta1 Deployment other/old"),
  object("apps/v1 ReplicaSet other/set"),
  object("v1 Endpoints other/web"),
  object("placement.kubernetes-fleet.io/v1beta1 ResourceEnvelope other/unread"),
  envelopeOf("other/twice", [object("v1 ConfigMap other/config")]),
  envelopeOf("other/elsewhere", [object("rbac.authorization.k8s.io/v1 ClusterRole lost")]),
  envelopeOf("other/defect", [object("v1 ConfigMap other/inner")], "something in it is wrong"),
  envelopeOf("other/denied", [object("v1 Pod other/inner")]),
];

const inSpace = selector("v1 Namespace app", { selectionScope: "NamespaceWithResourceSelectors" });
const tier = { labelSelector: { matchLabels: { tier: "web" } } };
const selectors: readonly ResourceSelector[] = [
  selector("v1 Namespace app"),
  selector("v1 Namespace other"),
  selector("v1 Namespace missing"),
  selector("v1 Namespace kube-system"),
  selector("v1 Namespace"),
  selector("v1 Namespace app", { selectionScope: "NamespaceOnly" }),
  inSpace,
  selector("apps/v1 Deployment", tier),
  selector("apps/v1 Deployment web"),
  selector("apps/v1beta1 Deployment"),
  selector("v1 ConfigMap config"),
  selector("rbac.authorization.k8s.io/v1 ClusterRole", tier),
  selector("rbac.authorization.k8s.io/v1 ClusterRole admin"),
  selector("example.com/v1 Unknown thing"),
  selector("placement.kubernetes-fleet.io/v1beta1 ClusterResourceEnvelope tools"),
  selector("placement.kubernetes-fleet.io/v1beta1 ResourceEnvelope"),
];

const intentOf = (objects: readonly SourcedManifest[]): Intent =>
  ({ objects: objectsOf(objects), scopes, unusable: new Set() }) as unknown as Intent;

const certain = (placement: Placement, intent: Intent): readonly string[] =>
  certainlySelected(placement, intent).map(objectText).sort();

function selected(placement: Placement, intent: Intent): readonly string[] {
  const selection = selectResources(placement, intent);
  return selection.kind === "refused" ? [] : selection.resources.map((it) => objectText(it.id)).sort();
}

test.each([
  ["a Namespace with all in it", clusterPlacement(selector("v1 Namespace app")), 6],
  ["all Namespaces", clusterPlacement(selector("v1 Namespace")), 8],
  ["a Namespace alone", clusterPlacement(selector("v1 Namespace app", { selectionScope: "NamespaceOnly" })), 1],
  ["some of a Namespace", clusterPlacement(inSpace, selector("apps/v1 Deployment", tier)), 2],
  ["cluster-scoped objects by labels", clusterPlacement(selector("rbac.authorization.k8s.io/v1 ClusterRole", tier)), 1],
  [
    "what an envelope wraps",
    clusterPlacement(selector("placement.kubernetes-fleet.io/v1beta1 ClusterResourceEnvelope tools")),
    1,
  ],
  ["all of a kind in its own namespace", placementIn("app", selector("apps/v1 Deployment")), 2],
])("%s: what is certain is all that is selected", (_, placement, count) => {
  const intent = intentOf(ordinary);
  expect(certain(placement, intent)).toEqual(selected(placement, intent));
  expect(certain(placement, intent)).toHaveLength(count);
});

test("of whatever selectors and objects, nothing is certain that is not selected", () => {
  const dice = random(15);
  let found = 0;
  for (let round = 0; round < 2_000; round++) {
    const objects = [...ordinary.filter(() => dice.below(10) > 0), ...odd.filter(() => dice.below(6) === 0)];
    const intent = intentOf(objects);
    const some = dice.shuffled(selectors).slice(0, 1 + dice.below(3));
    const placement =
      dice.below(4) === 0 ? placementIn(dice.pick(["app", "other"]), ...some) : clusterPlacement(...some);
    const own = certain(placement, intent);
    found += own.length > 0 ? 1 : 0;
    const all = new Set(selected(placement, intent));
    expect(own.filter((it) => !all.has(it))).toEqual([]);
  }
  expect(found).toBeGreaterThan(300);
});
