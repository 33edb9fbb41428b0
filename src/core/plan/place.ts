import { known } from "../model/assert.ts";
import { conditionOf, settleConditions } from "../model/condition.ts";
import { digestOf } from "../model/digest.ts";
import type { Intent } from "../model/intent.ts";
import type { Json } from "../model/json.ts";
import type { Binding, PlacementRecord } from "../model/ledger.ts";
import { objectKey } from "../model/manifest.ts";
import { placementGroup } from "../model/names.ts";
import type { Placement } from "../model/placement.ts";
import type { Reason, RenderedTarget } from "../model/plan.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import { nextResourceSnapshots } from "../render/resource-snapshot.ts";
import { selectResources } from "../render/select.ts";
import { bindingVerdicts } from "../status/binding-conditions.ts";
import { placementVerdicts } from "../status/placement-conditions.ts";
import type { PlanContext } from "./context.ts";
import { doomedObjects, doomsOf } from "./doom.ts";
import type { Doom } from "./guard.ts";
import { bindingReasons, gathered } from "./reasons.ts";
import { memberKey, sameMap } from "./record.ts";
import { calledOff, withdrawn } from "./transition.ts";
import { versionsOf } from "./version.ts";
import { decideWhen, readinessIn, type When } from "./when.ts";
import { decideWhere, uidOf } from "./where.ts";

/** One placement, decided. */
export interface Placed {
  /** Null when the placement is gone from every member and is forgotten. */
  readonly record: PlacementRecord | null;
  readonly rendered: readonly RenderedTarget[];
  readonly dooms: readonly Doom[];
  /** What is to be said, once it is known what waits for a confirmation. */
  readonly reasons: (isHeld: PlanContext["isHeld"]) => readonly Reason[];
  readonly doomed: When["doomed"];
  readonly wakeAt: Instant | null;
}

/** Decides one placement that the repository asks for: what is selected, where it goes, how far its rollout goes now. */
export function place(placement: Placement, before: PlacementRecord | null, context: PlanContext): Placed {
  const { world, ledger } = context;
  const accepted = acceptedRecord(placement, before, context);
  const selection = selectResources(placement, world.intent);
  if (selection.kind === "refused") {
    const reason: Reason = { kind: "selectionFailed", placement: placement.key, message: selection.message };
    const refused = { ...accepted, selectionError: selection.message };
    return finished(before, refused, context, { ...still(accepted, context), reasons: [reason] });
  }
  const selected = {
    ...accepted,
    selectionError: null,
    resourceSnapshots: snapshotsOf(accepted, selection.resources, context),
  };
  const where = decideWhere(selected, world, ledger);
  const here = { ...where.record, bindings: callOff(where.record, context) };
  const when = advance(here, context);
  const { key } = placement;
  const nothing: readonly Reason[] = [
    ...selection.warnings.map((message): Reason => ({ kind: "selectionWarning", placement: key, message })),
    ...(selection.resources.length === 0 && selection.warnings.length === 0
      ? [{ kind: "nothingSelected", placement: key } as const]
      : []),
  ];
  return finished(before, { ...here, bindings: when.bindings }, context, {
    ...when,
    reasons: [...nothing, ...where.reasons, ...when.reasons],
    wakeAt: earliest(where.wakeAt, when.wakeAt),
  });
}

/** Decides one placement whose file was removed: everything of it goes from every member, or is let go. */
export function displace(before: PlacementRecord, context: PlanContext): Placed {
  const { world } = context;
  const deleting = before.deleting ?? { since: world.now, cause: world.intent.commit };
  const bindings = new Map<ClusterName, Binding>();
  const dooms: Doom[] = [];
  for (const [cluster, binding] of before.bindings) {
    // A member that left the fleet is nobody's business any more (`RULINGS.md` D 2).
    if (!world.intent.clusters.has(cluster)) continue;
    const gone = withdrawn(binding, { record: before, context });
    if (gone === null) continue;
    bindings.set(cluster, gone);
    if (gone !== binding) dooms.push(...doomsOf(before, gone));
  }
  if (bindings.size === 0) return { ...still(before, context), record: null, reasons: () => [] };
  const record = { ...before, deleting, bindings: sameMap(bindings, before.bindings) ? before.bindings : bindings };
  return finished(before, record, context, { ...still(record, context), dooms });
}

/**
 * Whether nothing may be decided about a placement: its own document or that of a member it is on cannot be used, and
 * there is no earlier version to keep in force. What cannot be read is neither a removal nor a member that left.
 */
export function isSuspended({ scope, namespace, name, bindings }: PlacementRecord, { unusable }: Intent): boolean {
  if (unusable.size === 0) return false;
  const kind = scope === "Cluster" ? "ClusterResourcePlacement" : "ResourcePlacement";
  const isMemberUnusable = [...bindings.keys()].some((it) => unusable.has(memberKey(it)));
  return isMemberUnusable || unusable.has(objectKey({ group: placementGroup, kind, namespace, name }));
}

/** The placement as it was decided last. */
export function suspend(before: PlacementRecord, context: PlanContext): Placed {
  return finished(before, before, context, still(before, context));
}

/** The record under the spec as accepted now. A spec that changed counts as a generation. */
function acceptedRecord(
  placement: Placement,
  before: PlacementRecord | null,
  { ledger }: PlanContext,
): PlacementRecord {
  const { key, scope, namespace, name, spec } = placement;
  const specDigest = digestOf(spec as unknown as Json);
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
      selectionError: null,
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

function snapshotsOf(
  record: PlacementRecord,
  resources: Parameters<typeof nextResourceSnapshots>[1],
  { world }: PlanContext,
): PlacementRecord["resourceSnapshots"] {
  const { commit, files, holds, unusable } = world.intent;
  // What is selected and cannot be read now is not deselected: the snapshot stays as it is until it can be.
  const latest = record.resourceSnapshots.at(-1);
  if (latest?.resources.some((it) => unusable.has(objectKey(it.id)))) return record.resourceSnapshots;
  const inUse = new Set([...record.bindings.values()].flatMap((it) => it.target?.resourceIndex ?? []));
  const heldBlobs = new Map(holds.map((it) => [objectKey(it.id), it.blob]));
  return nextResourceSnapshots(record.resourceSnapshots, resources, {
    commit,
    blobOf: ({ id, source }) =>
      known(heldBlobs.get(objectKey(id)) ?? files.get(source.path), `${source.path} is no file of the commit`),
    historyLimit: record.spec.revisionHistoryLimit,
    inUse,
  });
}

function callOff(record: PlacementRecord, context: PlanContext): PlacementRecord["bindings"] {
  const next = new Map([...record.bindings].map(([cluster, it]) => [cluster, calledOff(it, record, context)]));
  return sameMap(next, record.bindings) ? record.bindings : next;
}

function advance(record: PlacementRecord, context: PlanContext): When {
  const snapshot = record.resourceSnapshots.at(-1);
  if (snapshot === undefined) return still(record, context);
  const versionOf = versionsOf({
    placement: record.key,
    snapshot,
    applyStrategy: record.spec.strategy.applyStrategy,
    overrides: context.latestOverrides,
    scopes: context.world.intent.scopes,
    content: context.content,
  });
  if (versionOf !== null) return decideWhen(record, versionOf, context);
  const lost: Reason = { kind: "contentLost", placement: record.key, resourceIndex: snapshot.index };
  return { ...still(record, context), reasons: [lost] };
}

/** A rollout in which nothing moves. */
const still = (record: PlacementRecord, context: PlanContext): When => ({
  bindings: record.bindings,
  rendered: [],
  dooms: [],
  reasons: [],
  // Whoever waited for the budget goes on waiting.
  heldBack: new Set([...record.bindings.values()].filter(isHeldBack).map((it) => it.cluster)),
  unrenderable: new Map(),
  readiness: new Map(),
  doomed: (cluster) => {
    const binding = record.bindings.get(cluster);
    return binding === undefined ? [] : doomedObjects(binding, undefined, record, context);
  },
  wakeAt: null,
});

const isHeldBack = ({ conditions }: Binding): boolean => conditionOf(conditions, "RolloutStarted")?.status === "False";

/** Adds the conditions, and gives back `before` itself when nothing differs from it. */
function finished(before: PlacementRecord | null, record: PlacementRecord, context: PlanContext, when: When): Placed {
  const { world, ledger } = context;
  const bindings = new Map<ClusterName, Binding>();
  for (const [cluster, binding] of record.bindings) {
    const verdicts = bindingVerdicts(binding, {
      trouble: ledger.clusters.get(cluster)?.trouble ?? null,
      heldBack: when.heldBack.has(cluster),
      failure: when.unrenderable.get(cluster) ?? null,
    });
    const conditions = settleConditions(binding.conditions, verdicts, world.now);
    bindings.set(cluster, conditions === binding.conditions ? binding : { ...binding, conditions });
  }
  const told = { ...record, bindings: sameMap(bindings, record.bindings) ? record.bindings : bindings };
  const conditions = settleConditions(told.conditions, placementVerdicts(told), world.now);
  const next = { ...told, conditions };
  const reasonsOf = (binding: Binding, isHeld: PlanContext["isHeld"]): readonly Reason[] => {
    const readiness = when.readiness.get(binding.cluster) ?? readinessIn(context, next, binding);
    return bindingReasons(next, binding, { readiness, context: { ...context, isHeld } });
  };
  return {
    record: before !== null && sameMembers(before, next) ? before : next,
    rendered: when.rendered,
    dooms: when.dooms,
    doomed: when.doomed,
    reasons: (isHeld) => [
      ...when.reasons,
      ...gathered([...next.bindings.values()].flatMap((it) => reasonsOf(it, isHeld))),
    ],
    wakeAt: when.wakeAt,
  };
}

const sameMembers = (a: PlacementRecord, b: PlacementRecord): boolean =>
  (Object.keys(b) as (keyof PlacementRecord)[]).every((key) => a[key] === b[key]);
