import { type Json, type JsonObject, listAt, memberAt, textOf } from "../model/json.ts";
import { statusSynced } from "../model/names.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { type PlacementHead, placementCodec } from "./placements.ts";

/** What a placement's status shows and the record does not hold: derived by `core/status`, never read back. */
export interface DerivedStatus {
  /** `status.observedResourceIndex`. */
  readonly index: string;
  /** `status.selectedResources`. */
  readonly selected: readonly Json[];
  /** `status.placementStatuses`. */
  readonly rows: readonly Json[];
}

/** The text of `placement.yaml`. The rows come last, see {@link withoutRows}. */
export function placementText(record: PlacementHead, derived: DerivedStatus): string {
  const document = placementCodec.write(record, {});
  return emitYaml({ ...document, status: wholeStatus(document, derived) });
}

const wholeStatus = (document: JsonObject, { index, selected, rows }: DerivedStatus): JsonObject => ({
  ...(document["status"] as JsonObject),
  observedResourceIndex: index,
  ...(selected.length > 0 ? { selectedResources: selected } : {}),
  ...(rows.length > 0 ? { placementStatuses: rows } : {}),
});

/**
 * The text of a placement's status in the namespace whose people may read nothing else: KubeFleet's
 * ClusterResourcePlacementStatus (`status/README.md#status-for-others`). Never read back.
 */
export function accessibleStatusText(record: PlacementHead, namespace: string, derived: DerivedStatus): string {
  const shown = record.conditions.filter((it) => it.type !== statusSynced);
  const document = placementCodec.write({ ...record, conditions: shown }, {});
  const { apiVersion = "", kind = "" } = document;
  const owner = { apiVersion, kind, name: record.name, uid: record.uid, controller: true };
  const status = wholeStatus(document, derived);
  return emitYaml({
    apiVersion,
    kind: "ClusterResourcePlacementStatus",
    metadata: { name: record.name, namespace, ownerReferences: [owner] },
    lastUpdatedTime: lastTransition(status),
    sourceStatus: status,
  });
}

/** The latest transition that a status shows: it is no heartbeat, and the same status has the same. */
function lastTransition(status: JsonObject): Json {
  const parts = [status, ...listAt(status, "placementStatuses")];
  const times = parts.flatMap((it) =>
    listAt(it, "conditions").map((one) => textOf(memberAt(one, "lastTransitionTime"))),
  );
  return times.reduce<string>((last, it) => (it !== null && it > last ? it : last), "");
}

/** `placement.yaml` without its rows, which repeat the bindings; as it is if anything comes after them. */
export function withoutRows(text: string): string {
  const start = text.indexOf(rowsLine);
  if (start < 0) return text;
  let line = start + rowsLine.length;
  while (line > 0 && (text.startsWith("  - ", line) || text.startsWith("    ", line)))
    line = text.indexOf("\n", line) + 1;
  return line === text.length ? text.slice(0, start + 1) : text;
}

const rowsLine = "\n  placementStatuses:\n";
