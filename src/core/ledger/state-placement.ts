import type { Json, JsonObject } from "../model/json.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import { placementKey } from "../model/placement.ts";
import type { Commit, Digest } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { changeOf, changeText } from "./state-change.ts";
import { conditionJson, conditionsOf } from "./state-condition.ts";
import { countAt, type Findings, filled, given, instantAt, textAt, textOrNull } from "./state-fields.ts";
import { headingJson, kindIn, open, ownKey, placementApiVersion, scopeIn } from "./state-names.ts";
import { specAnnotations, specJson, specOf } from "./state-spec.ts";

const own = {
  specDigest: ownKey("spec-digest"),
  deletionCause: ownKey("deletion-cause"),
  selectionError: ownKey("selection-error"),
  unrolled: ownKey("unrolled"),
  change: ownKey("change"),
} as const;

/** What a placement's status shows and the record does not hold: derived by `core/status`, never read back. */
export interface DerivedStatus {
  /** `status.observedResourceIndex`. */
  readonly index: string;
  /** `status.selectedResources`. */
  readonly selected: readonly Json[];
  /** `status.placementStatuses`. */
  readonly rows: readonly Json[];
}

/** The head of a placement's record: all of it that stands in `placement.yaml`. */
export type PlacementHead = Omit<PlacementRecord, "policySnapshots" | "resourceSnapshots" | "bindings">;

/** The text of `placement.yaml`: KubeFleet's placement with its status. The rows come last, see {@link withoutRows}. */
export const placementText = (record: PlacementRecord, { index, selected, rows }: DerivedStatus): string =>
  emitYaml({
    ...headingJson({
      apiVersion: placementApiVersion,
      kind: kindIn(record.namespace, "ResourcePlacement"),
      name: record.name,
      namespace: record.namespace,
      uid: record.uid,
      generation: record.generation,
      deletedAt: record.deleting?.since ?? null,
      annotations: {
        ...specAnnotations(record.spec),
        [own.specDigest]: record.specDigest,
        [own.deletionCause]: record.deleting?.cause ?? null,
        [own.selectionError]: record.selectionError,
        [own.unrolled]: record.unrolled,
        [own.change]: record.change === null ? null : changeText(record.change),
      },
    }),
    spec: specJson(record.spec),
    status: given({
      conditions: record.conditions.map(conditionJson),
      observedResourceIndex: index,
      selectedResources: filled(selected),
      placementStatuses: filled(rows),
    }),
  });

/**
 * The text of `placement.yaml` without its rows, which are most of it and say nothing that the bindings do not say.
 * A text in which anything else comes after the rows is left as it is.
 */
export function withoutRows(text: string): string {
  const start = text.indexOf(rowsLine);
  if (start < 0) return text;
  let line = start + rowsLine.length;
  while (line > 0 && (text.startsWith("  - ", line) || text.startsWith("    ", line)))
    line = text.indexOf("\n", line) + 1;
  return line === text.length ? text.slice(0, start + 1) : text;
}

const rowsLine = "\n  placementStatuses:\n";

export function placementHeadOf(findings: Findings, document: Json): PlacementHead {
  const { name, namespace, metadata, annotations, spec, status } = open(findings, document, "ResourcePlacement");
  return {
    key: placementKey(namespace, name),
    scope: scopeIn(namespace),
    namespace,
    name,
    uid: textAt(findings, metadata, "uid"),
    generation: countAt(findings, metadata, "generation"),
    specDigest: textAt(findings, annotations, own.specDigest) as Digest,
    spec: specOf(findings, spec, annotations),
    deleting: deletingOf(findings, metadata, annotations),
    change: changeOf(findings, annotations, own.change),
    selectionError: textOrNull(findings, annotations, own.selectionError),
    unrolled: textOrNull(findings, annotations, own.unrolled) as Digest | null,
    conditions: conditionsOf(findings, status),
  };
}

function deletingOf(findings: Findings, metadata: JsonObject, annotations: JsonObject): PlacementRecord["deleting"] {
  if (!Object.hasOwn(annotations, own.deletionCause)) return null;
  return {
    since: instantAt(findings, metadata, "deletionTimestamp"),
    cause: textAt(findings, annotations, own.deletionCause) as Commit,
  };
}
