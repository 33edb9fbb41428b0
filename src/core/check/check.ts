import type { Binding, PendingRemoval } from "../model/binding.ts";
import { type InventoryEntry, maxTombstones } from "../model/inventory.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { Observation } from "../model/observation.ts";
import type { ClusterActions, ObjectRemoval, PlacementActions, Plan, World } from "../model/plan.ts";
import type { DefectSubject, PlanDefect } from "../model/plan-defect.ts";
import { checkAuthors } from "./check-authors.ts";
import { checkCascades } from "./check-cascades.ts";
import { checkClusters } from "./check-clusters.ts";
import { checkConfirmations } from "./check-confirmations.ts";
import { defect, inventoryKey, placementActionsIn, sameKey, sameObject } from "./check-defect.ts";
import { checkDeletions } from "./check-deletions.ts";
import { availabilityOf, checkEvictions, evictedFrom, isAvailabilityUnknown, isDisturbed } from "./check-disruption.ts";
import { checkEnvelopes } from "./check-envelopes.ts";
import { checkFates } from "./check-fates.ts";
import { carriedByOthers, checkHandOvers, checkHolders, checkTakers, isKeptForOthers } from "./check-hand-over.ts";
import { checkFormerNames } from "./check-names.ts";
import { checkProtection } from "./check-protection.ts";
import { checkQuarantines } from "./check-quarantines.ts";
import { checkRuns } from "./check-runs.ts";
import { checkSchedules } from "./check-schedule.ts";
import { checkTenants } from "./check-tenants.ts";
import { checkTrust } from "./check-trust.ts";

/**
 * Lists what is wrong with a plan, from nothing but the plan and the world it was made for.
 *
 * This is the second opinion. It shares no code with the planner, so a bug has to be made twice, in two different ways,
 * to reach a cluster. An empty list lets the plan pass; anything else stops the pass before anything is written.
 */
export function check(plan: Plan, world: World): readonly PlanDefect[] {
  if (plan.refusal !== null) {
    return plan.actions.length === 0 && plan.ledger === world.ledger
      ? []
      : [defect("RefusalIgnored", { kind: "ledger" }, "acts although the world was refused")];
  }
  return [
    ...checkClusters(plan, world),
    ...checkSchedules(plan, world),
    ...appliesWhatTheLedgerSays(plan),
    ...checkEnvelopes(plan, world),
    ...checkTenants(plan, world),
    ...deletesOnlyWhatIsOurs(plan, world),
    ...checkDeletions(plan, world),
    ...checkFates(plan, world),
    ...checkHandOvers(plan, world),
    ...checkHolders(plan),
    ...checkTakers(plan),
    ...checkConfirmations(plan, world),
    ...keepsTheBudget(plan, world),
    ...checkRuns(plan, world),
    ...checkEvictions(plan, world),
    ...checkTrust(plan, world),
    ...checkProtection(plan, world),
    ...checkCascades(plan, world),
    ...checkFormerNames(plan, world),
    ...checkAuthors(plan, world),
    ...sequencesGrow(plan, world),
    ...forgetsNothing(plan, world),
    ...checkQuarantines(plan, world),
  ];
}

function* appliesWhatTheLedgerSays({ actions, ledger }: Plan): Generator<PlanDefect> {
  for (const [cluster, work] of placementActionsIn(actions)) {
    const binding = bindingOf(ledger, work, cluster);
    const subject = { kind: "binding", placement: work.placement, cluster } as const;
    if (binding === undefined) {
      yield defect("BindingNotFound", subject, `touches ${work.placement} on ${cluster} without a binding`);
      continue;
    }
    const sequence = binding.removal?.sequence ?? binding.target?.sequence;
    if (work.sequence !== sequence)
      yield defect(
        "SequenceMismatch",
        subject,
        `acts on ${work.placement} on ${cluster} under a sequence nobody decided`,
      );
    const isAdmitted = binding.removal === null && binding.state !== "Scheduled";
    if (!isAdmitted && work.apply.some((it) => !isKeptForOthers(it, binding)))
      yield defect("BindingNotAdmitted", subject, `applies ${work.placement} to ${cluster}, where it is not admitted`);
    for (const { id } of work.apply) {
      if (id.kind !== "Namespace") continue;
      const space = id.group === "" ? id.name : id.namespace;
      if (space !== null && /^(kube-|fleet-)|^(default|flotilla-system)$/.test(space))
        yield defect("NamespaceReserved", subject, `writes the reserved namespace ${space} on ${cluster}`);
    }
  }
}

function* deletesOnlyWhatIsOurs({ actions, ledger }: Plan, { observed }: World): Generator<PlanDefect> {
  for (const [cluster, work] of placementActionsIn(actions)) {
    const seen = observed.get(cluster);
    const carried = seen?.kind === "reached" ? seen.inventory.placements.get(work.placement) : undefined;
    const binding = bindingOf(ledger, work, cluster);
    yield* looksUpLostObjects(work, cluster, binding);
    if (work.remove.length + work.forget.length === 0) continue;
    const wanted = new Set(work.apply.map((it) => it.key));
    for (const gone of work.remove) {
      const what = `${gone.key} of ${work.placement} from ${cluster}`;
      const subject = { kind: "object", placement: work.placement, cluster, object: gone.key } as const;
      const entry = carried?.entries.get(gone.key);
      if (entry === undefined)
        yield defect("ObjectNotInInventory", subject, `removes ${what}, which its inventory does not list`);
      // Without a uid nothing is deleted: it is looked up first.
      else if (gone.uid !== null && entry.uid !== gone.uid)
        yield defect("ObjectUidMismatch", subject, `removes ${what} under another uid than its inventory has`);
      if (wanted.has(gone.key)) yield defect("ObjectRemovedAndApplied", subject, `removes ${what} and applies it`);
      const leave = binding?.leaving.find((it) => sameObject(it.id, gone));
      if (leave === undefined) yield defect("ObjectRemovalUndecided", subject, `removes ${what}, which nobody decided`);
      if (gone.how === "release") continue;
      if (gone.cascadesTo.length === 0) yield* deletesReleasedObjects({ what, subject }, entry, leave);
      if (binding?.removal?.propagation === "Abandon")
        yield defect("AbandonedObjectDeleted", subject, `deletes ${what}, which is to be abandoned`);
      if (carriesData(gone) && binding?.removal === null && !isConfirmed(ledger, { cluster, work, gone }))
        yield defect("ObjectDeletionUnconfirmed", subject, `deletes ${what} because of an edit`);
    }
    for (const key of work.forget) {
      const entry = carried?.entries.get(key);
      const subject = { kind: "object", placement: work.placement, cluster, object: key } as const;
      const live = seen?.kind === "reached" ? seen.objects.get(key) : undefined;
      const isElsewhere = carriedByOthers(seen, work.placement, key, entry?.uid ?? null);
      if (live !== undefined && live.uid === entry?.uid && live.mark !== null && !isElsewhere)
        yield defect(
          "ObjectStillPresent",
          subject,
          `forgets ${key} of ${work.placement} on ${cluster}, which is still there`,
        );
    }
  }
}

/**
 * Objects that leave a member whose inventory has lost the placement are looked up before they count as gone: whoever
 * renews the claim may be the first to notice the loss (`apply/README.md#f-43`).
 */
function* looksUpLostObjects(
  { placement, recover }: PlacementActions,
  cluster: ClusterActions["cluster"],
  binding: Binding | undefined,
): Generator<PlanDefect> {
  const leaving = binding?.leaving.map((it) => it.id) ?? [];
  for (const id of recover)
    if (!leaving.some((it) => inventoryKey(it) === inventoryKey(id)))
      yield defect(
        "RecoveryUndecided",
        { kind: "object", placement, cluster, object: inventoryKey(id) },
        `looks for ${inventoryKey(id)} of ${placement} on ${cluster}, which nobody decided to take away`,
      );
  if (recover.length < leaving.length)
    yield defect(
      "RecoveryIncomplete",
      { kind: "binding", placement, cluster },
      `claims ${placement} on ${cluster} without looking for everything that leaves it`,
    );
}

/** Whether somebody confirmed the removal of an object. */
const isConfirmed = (
  { deletions }: Ledger,
  { cluster, work, gone }: { cluster: ClusterActions["cluster"]; work: PlacementActions; gone: ObjectRemoval },
): boolean =>
  deletions.held
    .filter((it) => it.confirmed)
    .flatMap((it) => it.groups)
    .filter((it) => it.placement === work.placement && it.clusters.includes(cluster))
    .some((it) => it.objects.some((id) => sameObject(id, gone)));

function* keepsTheBudget({ ledger }: Plan, world: World): Generator<PlanDefect> {
  for (const [key, after] of ledger.placements) {
    const before = world.ledger.placements.get(key);
    if (before === undefined || after === before || after.deleting !== null || isExternal(after)) continue;
    const wanted = after.spec.policy.kind === "PickN" ? after.spec.policy.numberOfClusters : targeted(after).length;
    const limit = after.spec.strategy.rollingUpdate.maxUnavailable;
    const may = "count" in limit ? limit.count : Math.ceil((limit.percent * wanted) / 100);
    const floor = Math.min(wanted, targeted(after).length) - may;
    // Evictions have a budget of their own.
    const evicted = evictedFrom(key, ledger, world);
    const all = [...before.bindings.values()].map((it) => ({
      cluster: it.cluster,
      life: availabilityOf(it, before, world),
      isDisturbed: isDisturbed(it, after.bindings.get(it.cluster)) && !evicted.has(it.cluster),
      isUnheard: isAvailabilityUnknown(it, after, world) && after.bindings.get(it.cluster)?.removal != null,
    }));
    const subject = { kind: "placement", placement: key } as const;
    const disturbed = all.filter((it) => it.isDisturbed && it.life === "up").length;
    const calm = all.filter((it) => !it.isDisturbed && it.life !== "down").length;
    if (disturbed > 0 && calm < floor)
      yield defect(
        "MaxUnavailableExceeded",
        subject,
        `disturbs ${disturbed} available clusters of ${key} and leaves ${calm}, at least ${floor} must stay`,
      );
    const unheard = all.filter((it) => it.isDisturbed && it.isUnheard).map((it) => it.cluster);
    if (unheard.length > 0 && calm < floor)
      yield defect(
        "UnobservedClusterRemoved",
        subject,
        `removes ${key} from ${unheard.join(", ")}, not heard of yet, and leaves ${calm}, at least ${floor} must stay`,
      );
  }
}

/** Moved by update runs, which have limits of their own. */
const isExternal = ({ spec }: PlacementRecord): boolean => spec.strategy.type === "External";

const targeted = (record: PlacementRecord): readonly Binding[] =>
  [...record.bindings.values()].filter((it) => it.state !== "Unscheduled" && it.removal === null);

function* sequencesGrow({ ledger, decides }: Plan, world: World): Generator<PlanDefect> {
  const last = world.ledger.sequence;
  if (ledger.sequence !== last + (decides ? 1 : 0))
    yield defect("LedgerSequenceWrong", { kind: "ledger" }, `numbers the ledger ${ledger.sequence} after ${last}`);
  for (const [key, record] of ledger.placements) {
    const before = world.ledger.placements.get(key);
    // The same value has nothing new.
    if (record === before) continue;
    const old = before?.bindings;
    for (const [cluster, { target, removal }] of record.bindings) {
      const was = old?.get(cluster);
      const subject = { kind: "binding", placement: key, cluster } as const;
      const isNew =
        target !== null && (target.digest !== was?.target?.digest || target.sequence !== was.target.sequence);
      if (isNew && target.sequence !== ledger.sequence)
        yield defect("TargetSequenceWrong", subject, `dates the target of ${key} on ${cluster} wrongly`);
      if (removal !== null && was?.removal == null && removal.sequence !== ledger.sequence)
        yield defect("RemovalSequenceWrong", subject, `dates the removal of ${key} from ${cluster} wrongly`);
      if (!decides && (isNew || removal !== (was?.removal ?? null)))
        yield defect("DecisionNotDeclared", subject, `decides about ${key} on ${cluster} silently`);
    }
  }
}

/** What a member may still carry must not leave the ledger, unless the member itself left the fleet. */
function* forgetsNothing({ ledger }: Plan, { ledger: old, intent, observed }: World): Generator<PlanDefect> {
  for (const [key, before] of old.placements) {
    if (ledger.placements.get(key) === before) continue;
    for (const [cluster, binding] of before.bindings) {
      if (ledger.placements.get(key)?.bindings.has(cluster) || !intent.clusters.has(cluster)) continue;
      if (binding.target === null) continue;
      const seen = observed.get(cluster);
      const left = seen?.kind === "reached" ? seen.inventory.placements.get(key) : undefined;
      const remains =
        seen?.kind !== "reached" ||
        (left === undefined && binding.leaving.length > 0) ||
        binding.leaving.some((it) => [...(left?.entries.keys() ?? [])].some((k) => sameKey(k, it.id)));
      // A member that does not know of a removal would accept an older decision, unless it has no room to remember it.
      const removed = binding.removal?.sequence ?? 0;
      const isHeard = (left?.sequence ?? -1) >= removed || hasNoRoom(seen, removed);
      if (binding.removal === null || remains || !isHeard)
        yield defect(
          "BindingForgotten",
          { kind: "binding", placement: key, cluster },
          `forgets ${key} on ${cluster}, which may still carry it`,
        );
    }
  }
}

/**
 * Whether a member remembers as many removals as it has room for, none of them older. What it carries takes no room.
 */
const hasNoRoom = (seen: Observation | undefined, removed: number): boolean =>
  seen?.kind === "reached" &&
  [...seen.inventory.placements.values()].filter((it) => it.entries.size === 0 && it.sequence >= removed).length >=
    maxTombstones;

const bindingOf = (ledger: Ledger, work: PlacementActions, cluster: ClusterActions["cluster"]): Binding | undefined =>
  ledger.placements.get(work.placement)?.bindings.get(cluster);

/** Adopted objects are deleted only if that was decided together with their removal (`plan/README.md#d-11`). */
function* deletesReleasedObjects(
  { what, subject }: { readonly what: string; readonly subject: DefectSubject },
  entry: InventoryEntry | undefined,
  leave: PendingRemoval | undefined,
): Generator<PlanDefect> {
  if (entry?.adopted === true && leave?.evenAdopted !== true)
    yield defect("AdoptedObjectDeleted", subject, `deletes ${what}, which was there before us`);
  if (leave?.released === true)
    yield defect("ReleasedObjectDeleted", subject, `deletes ${what}, which is to be let go`);
}

const carriesData = ({ id }: ObjectRemoval): boolean =>
  (id.group === "" && /^(Namespace|PersistentVolume|PersistentVolumeClaim)$/.test(id.kind)) ||
  id.kind === "CustomResourceDefinition";
