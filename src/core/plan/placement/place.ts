import { known } from "../../model/assert.ts";
import { versionsNamed } from "../../model/binding.ts";
import { remembered, revised } from "../../model/identity.ts";
import type { Intent } from "../../model/intent.ts";
import type { Json } from "../../model/json.ts";
import { digestOf } from "../../model/json.ts";
import type { PlacementRecord } from "../../model/ledger.ts";
import { documentKeyOf, objectKey } from "../../model/manifest.ts";
import type { Placement, PlacementSpec } from "../../model/placement.ts";
import type { Reason } from "../../model/reason.ts";
import { earliest } from "../../model/value.ts";
import { nextResourceSnapshots } from "../../render/resource-snapshot.ts";
import { type Selection, selectResources } from "../../render/select.ts";
import { type PlanContext, uidOf } from "../moves/context.ts";
import { type PlacementProgress, unmoved } from "../moves/progress.ts";
import { versionsOf } from "../moves/version.ts";
import { recordsOf } from "../runs/runs-of.ts";
import { placeExternal } from "./external.ts";
import { finished, type PlacementResult, paused } from "./result.ts";
import { callOffRemovals } from "./returns.ts";
import { type RolloutResult, rollingUpdate } from "./rollout.ts";
import type { scheduleOf } from "./schedule.ts";

/** Decides one placement that the repository asks for: what is selected, where it goes, and how far it gets now. `schedule` runs the scheduler. */
export function place(
  placement: Placement,
  before: PlacementRecord | null,
  context: PlanContext,
  schedule: typeof scheduleOf,
): PlacementResult {
  const accepted = acceptedRecord(placement, before, context);
  const selection = selectResources(placement, context.world.intent);
  if (placement.spec.strategy.type === "External") {
    const resources = selection.kind === "selected" ? selection.resources : [];
    const snapshotsNow = (): PlacementRecord["resourceSnapshots"] => snapshotsOf(accepted, resources, context);
    return placeExternal(
      before,
      schedule(revised(accepted, { selectionError: null }), context),
      { selection, snapshotsNow },
      context,
    );
  }
  if (selection.kind === "refused") {
    const reason: Reason = { kind: "selectionFailed", placement: placement.key, message: selection.message };
    const refused = revised(accepted, { selectionError: selection.message });
    return finished(before, { ...paused(unmoved(refused)), reasons: [reason] }, null, context);
  }
  const resourceSnapshots = snapshotsOf(accepted, selection.resources, context);
  const found = { selectionError: null, unrolled: null, resourceSnapshots };
  const { record, ...scheduled } = schedule(revised(accepted, found), context);
  const rollout = advance(callOffRemovals(unmoved(record), context), context);
  const result = finished(before, rollout, null, context);
  const remarks = selectionReasons(placement, selection);
  // Only conditions may be new, and nothing is decided by those: decided again, it comes out the same.
  const isStill = record === before && rollout.progress.record === before;
  const others = { reasons: [...remarks, ...rollout.reasons], wakeAt: rollout.wakeAt };
  return {
    ...result,
    // In the order in which a decision that is remembered gives them.
    reasons: [...scheduled.reasons, ...remarks, ...result.reasons],
    wakeAt: earliest(scheduled.wakeAt, result.wakeAt),
    standstill: isStill ? { selection, isSettled: rollout.isSettled, scheduled, others } : null,
  };
}

const selectionReasons = (
  { key }: Placement,
  { resources, warnings }: Extract<Selection, { kind: "selected" }>,
): readonly Reason[] =>
  resources.length === 0 && warnings.length === 0
    ? [{ kind: "nothingSelected", placement: key }]
    : warnings.map((message) => ({ kind: "selectionWarning", placement: key, message }));

/** The record under the spec as accepted now. A spec that changed counts as a generation. */
export function acceptedRecord(
  placement: Placement,
  before: PlacementRecord | null,
  { ledger }: PlanContext,
): PlacementRecord {
  const { key, scope, namespace, name, spec } = placement;
  const specDigest = specDigestOf(spec);
  if (before === null) {
    return {
      key,
      scope,
      namespace,
      name,
      uid: uidOf(ledger, "Placement", key),
      generation: 1,
      specDigest,
      spec,
      deleting: null,
      policySnapshots: [],
      resourceSnapshots: [],
      bindings: new Map(),
      change: null,
      selectionError: null,
      unrolled: null,
      conditions: [],
    };
  }
  if (before.specDigest === specDigest && before.deleting === null) return before;
  const generation = before.generation + (before.specDigest === specDigest ? 0 : 1);
  return {
    ...before,
    spec: before.specDigest === specDigest ? before.spec : spec,
    specDigest,
    generation,
    deleting: null,
  };
}

const specDigestOf = remembered((spec: PlacementSpec) => digestOf(spec as unknown as Json));

function snapshotsOf(
  record: PlacementRecord,
  resources: Parameters<typeof nextResourceSnapshots>[1],
  context: PlanContext,
): PlacementRecord["resourceSnapshots"] {
  const { commit, files, holds, unusable } = context.world.intent;
  // What is selected and cannot be read now is not deselected: the snapshot stays as it is until it can be.
  const latest = record.resourceSnapshots.at(-1);
  if (latest?.resources.some((it) => unusable.has(documentKeyOf(it)))) return record.resourceSnapshots;
  return nextResourceSnapshots(record.resourceSnapshots, resources, {
    commit,
    blobOf: (it) =>
      known(
        blobsOf(holds).get(documentKeyOf(it)) ?? files.get(it.source.path),
        `${it.source.path} is no file of the commit`,
      ),
    historyLimit: record.spec.revisionHistoryLimit,
    inUse: inUseOf(record, context),
    first: firstIndex(record, context),
  });
}

/**
 * An index means one version for good: whoever was asked about what a run brought of a placement that went was not
 * asked about another one of its name (`trust/README.md#t-39`).
 */
function firstIndex({ key }: PlacementRecord, { ledger }: PlanContext): number {
  const known = recordsOf(ledger, key).flatMap(({ plan }) => plan?.resourceIndex ?? []);
  return Math.max(-1, ...known) + 1;
}

/** Indexes that a binding or an unfinished run names: never trimmed (`render/README.md#a-51`). */
function inUseOf({ key, bindings }: PlacementRecord, { ledger }: PlanContext): ReadonlySet<number> {
  const runs = recordsOf(ledger, key).flatMap(({ plan, end }) =>
    plan === null || end !== null ? [] : plan.resourceIndex,
  );
  return runs.length === 0 ? indexesInUse(bindings) : new Set([...indexesInUse(bindings), ...runs]);
}

const blobsOf = remembered((holds: Intent["holds"]) => new Map(holds.map((it) => [objectKey(it.id), it.blob])));

const indexesInUse = remembered(
  (bindings: PlacementRecord["bindings"]): ReadonlySet<number> =>
    new Set([...bindings.values()].flatMap((it) => versionsNamed(it).map(({ resourceIndex }) => resourceIndex))),
);

function advance(progress: PlacementProgress, context: PlanContext): RolloutResult {
  const { record } = progress;
  const snapshot = record.resourceSnapshots.at(-1);
  if (snapshot === undefined) return paused(progress);
  const versionOf = versionsOf({
    placement: record.key,
    snapshot,
    applyStrategy: record.spec.strategy.applyStrategy,
    overrides: context.latestOverrides,
    scopes: context.world.intent.scopes,
    content: context.content,
  });
  if (versionOf !== null) return rollingUpdate(progress, versionOf, context);
  const lost: Reason = { kind: "contentLost", placement: record.key, resourceIndex: snapshot.index };
  return { ...paused(progress), reasons: [lost] };
}
