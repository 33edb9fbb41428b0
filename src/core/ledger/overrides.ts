import { digestOf, type JsonObject } from "../model/json.ts";
import type {
  OverrideRule,
  OverrideSelector,
  OverrideSnapshot,
  OverrideSpec,
  PatchOperation,
} from "../model/override.ts";
import { placementKey } from "../model/placement.ts";
import type { LabelSelector, PlacementKey } from "../model/value.ts";
import { emitDocuments } from "../yaml/canonical.ts";
import { kubeLabelSelector } from "./api-types.ts";
import { at, type Codec, converted, listOf, nullable, object, orNull, unionOf } from "./codec/codec.ts";
import { choice, integerText, json, string } from "./codec/scalars.ts";
import { documentOf, fleetKey, inLabels, inSpec } from "./document.ts";

/** KubeFleet's PlacementRef: a namespaced placement stands in the override's own namespace, which is not repeated. */
const placementRef = (namespace: string | null): Codec<PlacementKey> =>
  converted(
    object<{ readonly name: string; readonly scope: "Cluster" | "Namespaced" }>({
      name: string,
      scope: choice("Cluster", "Namespaced"),
    }),
    (key: PlacementKey) =>
      ({ name: key.slice(key.indexOf("/") + 1), scope: key.includes("/") ? "Namespaced" : "Cluster" }) as const,
    ({ name, scope }) => placementKey(scope === "Cluster" ? null : namespace, name),
  );

const clusterSelector: Codec<readonly LabelSelector[]> = converted(
  object<{ readonly clusterSelectorTerms: readonly { readonly labelSelector: LabelSelector }[] }>({
    clusterSelectorTerms: listOf(
      object<{ readonly labelSelector: LabelSelector }>({ labelSelector: kubeLabelSelector }),
    ),
  }),
  (all) => ({ clusterSelectorTerms: all.map((it) => ({ labelSelector: it })) }),
  ({ clusterSelectorTerms }) => clusterSelectorTerms.map((it) => it.labelSelector),
);

const patchOperation = object<PatchOperation>({
  op: choice("add", "remove", "replace"),
  path: string,
  value: {
    put(into, value, { op }) {
      if (op !== "remove") into["value"] = value;
    },
    take: at(["value"], json).take,
  },
});

const overrideRule = object<OverrideRule>({
  clusters: at(["clusterSelector"], nullable(clusterSelector)),
  action: unionOf<OverrideRule["action"]>("overrideType", {
    JSONPatch: { operations: at(["jsonPatchOverrides"], listOf(patchOperation)) },
    Delete: {},
  }),
});

const overrideSpec = (namespace: string | null): Codec<OverrideSpec> =>
  object<OverrideSpec>({
    placement: nullable(placementRef(namespace)),
    selectors: at(
      [namespace === null ? "clusterResourceSelectors" : "resourceSelectors"],
      listOf(object<OverrideSelector>({ group: string, version: string, kind: string, name: string })),
    ),
    rules: at(["policy", "overrideRules"], listOf(overrideRule)),
  });

/** A document of an override's file: KubeFleet's ResourceOverrideSnapshot. */
export const overrideSnapshotCodec = documentOf<OverrideSnapshot>(
  { kind: "ResourceOverrideSnapshot" },
  {
    name: string,
    namespace: orNull(string),
    override: inLabels(fleetKey.parentOverride, string),
    index: inLabels(fleetKey.overrideIndex, integerText),
    spec: {
      put(into, spec, { namespace }) {
        const written = overrideSpec(namespace).write(spec) as JsonObject;
        into["spec"] = { overrideSpec: written, overrideHash: btoa(digestOf(written)) };
      },
      take: (from, context) =>
        inSpec("overrideSpec", overrideSpec(from["namespace"] as string | null)).take(from, context),
    },
  },
);

/** The text of an override's file: a document for each snapshot, ascending by index. */
export const overrideText = (snapshots: readonly OverrideSnapshot[]): string =>
  emitDocuments(
    snapshots.map((it) =>
      overrideSnapshotCodec.write(it, {
        labels: { [fleetKey.isLatest]: String(it === snapshots.at(-1)) },
      }),
    ),
  );
