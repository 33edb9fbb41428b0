import { digestOf } from "../model/digest.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { Plan, Refusal, World } from "../model/plan.ts";
import { compareText, earliest, type PlacementKey } from "../model/value.ts";
import { latestOf, nextOverrideSnapshots } from "../render/override-snapshot.ts";
import { actionsFor } from "./actions.ts";
import type { PlanContext } from "./context.ts";
import { isDecision } from "./decision.ts";
import { guard, heldIndex } from "./holding.ts";
import { displace, isSuspended, type Placed, place, suspend } from "./place.ts";
import { fleetReasons, nextRetry } from "./reasons.ts";
import { record, sameMap } from "./record.ts";
import { refuse } from "./refuse.ts";
import { contentOf } from "./version.ts";
import { nextSequence } from "./where.ts";

/**
 * Decides everything: what to write down, what to do, and when to look again (`DESIGN.md` §1).
 *
 * Pure and total. The same world always gives the same plan, so a plan can be shown in a pull request, replayed in a
 * test, and computed by two daemons at once.
 */
export function plan(world: World): Plan {
  const refusal = refuse(world);
  if (refusal !== null) return refused(world, refusal);
  const context = contextOf(world);
  const placed = placeAll(context);
  const before = world.ledger;
  const placements = new Map(
    [...placed].flatMap(([key, it]) => (it.record === null ? [] : [[key, it.record] as const])),
  );
  const { ledger: heard } = context;
  const told: Ledger = {
    ...heard,
    sourceCommit: world.intent.commit,
    holds: JSON.stringify(world.intent.holds) === JSON.stringify(before.holds) ? before.holds : world.intent.holds,
    overrides: context.overrides,
    placements: sameMap(placements, heard.placements) ? heard.placements : placements,
  };
  const guarded: Ledger = { ...told, deletions: guard(told, placed, context) };
  const decides = isDecision(before, guarded);
  const ledger = decides ? { ...guarded, sequence: context.sequence } : kept(before, guarded);
  const steps = [...placed.values()];
  const { isHeld } = heldIndex(ledger.deletions);
  return {
    refusal: null,
    ledger,
    decides,
    actions: actionsFor(ledger, context),
    rendered: steps.flatMap((it) => it.rendered),
    wakeAt: earliest(nextRetry(world), ...steps.map((it) => it.wakeAt)),
    reasons: [...fleetReasons(ledger, context), ...steps.flatMap((it) => it.reasons(isHeld))],
  };
}

/** The ledger as it is committed although it decides nothing: news about members, under the next sequence. */
export const sealed = (ledger: Ledger): Ledger => ({ ...ledger, sequence: nextSequence(ledger) });

function refused(world: World, refusal: Refusal): Plan {
  const nothing = { actions: [], rendered: [], wakeAt: null, reasons: [] };
  return { refusal, ledger: world.ledger, decides: false, ...nothing };
}

/** The ledger itself when nothing in it differs. */
const kept = (before: Ledger, after: Ledger): Ledger =>
  (Object.keys(after) as (keyof Ledger)[]).every((key) => before[key] === after[key]) ? before : after;

function contextOf(world: World): PlanContext {
  const ledger = record({ ...world, ledger: founded(world) });
  const overrides = nextOverrideSnapshots(ledger.overrides, world.intent.overrides, overridesInUse(ledger));
  return {
    world,
    ledger,
    sequence: nextSequence(ledger),
    content: contentOf(world),
    overrides,
    latestOverrides: latestOf(overrides, world.intent.overrides),
    isNewCommit: world.intent.commit !== world.ledger.sourceCommit,
    isHeld: heldIndex(ledger.deletions).isHeld,
  };
}

/** The fleet gets its name with its first decision, and keeps it. */
function founded({ ledger, intent, now }: World): Ledger {
  if (ledger.fleet !== "") return ledger;
  return { ...ledger, fleet: digestOf(["Fleet", intent.commit, now]).slice(0, 16) };
}

/** Names of the override snapshots that a target was made with. */
function overridesInUse({ placements }: Ledger): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { bindings } of placements.values()) {
    for (const { target } of bindings.values())
      for (const name of [...(target?.clusterOverrides ?? []), ...(target?.resourceOverrides ?? [])]) names.add(name);
  }
  return names;
}

/** Every placement that is asked for or still stands somewhere, decided, in the order of their keys. */
function placeAll(context: PlanContext): ReadonlyMap<PlacementKey, Placed> {
  const { placements } = context.world.intent;
  const records: ReadonlyMap<PlacementKey, PlacementRecord> = context.ledger.placements;
  const keys = [...new Set([...placements.keys(), ...records.keys()])].sort(compareText);
  const placed = new Map<PlacementKey, Placed>();
  for (const key of keys) {
    const placement = placements.get(key);
    const before = records.get(key) ?? null;
    if (before !== null && isSuspended(before, context.world.intent)) placed.set(key, suspend(before, context));
    else if (placement !== undefined) placed.set(key, place(placement, before, context));
    else if (before !== null) placed.set(key, displace(before, context));
  }
  return placed;
}
