import type { Intent } from "../model/intent.ts";
import { isObject, type Json, memberAt } from "../model/json.ts";
import type { PlacementRecord, ResourceSnapshot, SnapshotResource } from "../model/ledger.ts";
import type { ObjectKey } from "../model/manifest.ts";
import { placementGroup } from "../model/names.ts";
import type { Plan, World } from "../model/plan.ts";
import type { LedgerDefectCode, PlanDefect } from "../model/plan-defect.ts";
import { defect, inventoryKey, placementActionsIn } from "./check-defect.ts";

/**
 * Lists versions that hold half an envelope or an object twice, and envelopes that reach a member as they are: half a
 * version is worse than none (`render/README.md#envelopes`).
 */
export function* checkEnvelopes(
  { ledger, actions }: Plan,
  { ledger: before, intent }: World,
): Generator<PlanDefect<LedgerDefectCode>> {
  for (const [key, record] of ledger.placements) {
    const subject = { kind: "placement", placement: key } as const;
    for (const snapshot of freshSnapshots(record, before.placements.get(key))) {
      const keys = new Set(snapshot.resources.map(({ id }) => inventoryKey(id)));
      if (keys.size < snapshot.resources.length)
        yield defect("ObjectSelectedTwice", subject, `gives ${key} a version with an object twice in it`);
      for (const torn of tornEnvelopes(snapshot, intent))
        yield defect(
          "EnvelopeIncomplete",
          subject,
          `gives ${key} a version without all that ${torn} wraps, or with more`,
        );
    }
  }
  for (const [cluster, { placement, apply }] of placementActionsIn(actions))
    for (const { id } of apply)
      if (id.group === placementGroup)
        yield defect(
          "EnvelopePlaced",
          { kind: "binding", placement, cluster },
          `applies ${inventoryKey(id)} of ${placement} to ${cluster}`,
        );
}

/** The versions that a plan makes; only those that hold contents of envelopes can be wrong in this way. */
const freshSnapshots = (
  { resourceSnapshots }: PlacementRecord,
  before: PlacementRecord | undefined,
): readonly ResourceSnapshot[] =>
  resourceSnapshots === before?.resourceSnapshots
    ? []
    : resourceSnapshots.filter(
        (it) =>
          before?.resourceSnapshots.includes(it) !== true &&
          it.resources.some(({ envelope }) => envelope !== undefined),
      );

function* tornEnvelopes({ resources }: ResourceSnapshot, { objects }: Pick<Intent, "objects">): Generator<string> {
  const carried = new Map<string, SnapshotResource[]>();
  for (const it of resources) {
    if (it.envelope === undefined) continue;
    const { type, namespace, name } = it.envelope;
    const key = inventoryKey({ group: placementGroup, kind: type, namespace, name });
    carried.set(key, [...(carried.get(key) ?? []), it]);
  }
  for (const [key, parts] of carried) {
    const data = objects.get(key as ObjectKey)?.manifest["data"] ?? null;
    const wrapped = isObject(data) ? Object.values(data).map((it) => nameIn(it ?? null)) : [];
    const held = new Set(parts.map(({ id }) => [id.kind, id.namespace ?? "", id.name].join("/")));
    const isWhole = wrapped.length === parts.length && wrapped.every((it) => held.has(it));
    const isAtHome = parts.every(({ id, envelope }) => id.namespace === envelope?.namespace);
    if (!isWhole || !isAtHome) yield key;
  }
}

const nameIn = (manifest: Json): string =>
  [["kind"], ["metadata", "namespace"], ["metadata", "name"]].map((it) => memberAt(manifest, ...it) ?? "").join("/");
