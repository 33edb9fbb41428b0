import type { Ledger } from "../model/ledger.ts";
import type { Reason, Refusal, World } from "../model/plan.ts";
import type { PlanDefect } from "../model/plan-defect.ts";
import { type ClusterName, compareText, type Instant } from "../model/value.ts";
import { eventsOf, type ForecastEvent, type ForecastPass, isUp, type RolloutFocus } from "./events.ts";

/** How a rollout would go if all went as supposed. */
export interface Forecast {
  readonly start: Instant;
  readonly events: readonly ForecastEvent[];
  readonly ending: Ending;
  /** When it ends: the earliest moment, or where it stays as it is. */
  readonly end: Instant;
  readonly passes: number;
  /** Clusters that had the placement and do not have it available, whenever that becomes another set. */
  readonly unavailable: readonly { readonly at: Instant; readonly clusters: readonly ClusterName[] }[];
  /** Clusters that were to be reached and were not, in order. */
  readonly unreached: readonly ClusterName[];
  /** What is left to say of the rollout at its end. */
  readonly reasons: readonly Reason[];
}

/** Why a forecast goes no further. */
export type Ending =
  | { readonly kind: "done" }
  /** The run failed for good. */
  | { readonly kind: "failed" }
  /** Nothing happens any more by itself: what it waits for stands in the reasons. */
  | { readonly kind: "waits" }
  /** Something would still happen, after the time that was to be foreseen. */
  | { readonly kind: "time"; readonly next: Instant }
  /** After so many passes it still moves. */
  | { readonly kind: "passes" }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** A plan failed its check: a defect of ours. */
  | { readonly kind: "unsound"; readonly faults: readonly PlanDefect[] };

/** What is told of a forecast while it goes on. */
export interface Timeline {
  readonly start: Instant;
  readonly focus: RolloutFocus;
  readonly events: ForecastEvent[];
  readonly unavailable: { readonly at: Instant; readonly clusters: readonly ClusterName[] }[];
  /** Clusters that had the placement available once, or had it when the forecast began. */
  readonly had: Set<ClusterName>;
  /** What keeps the rollout at present: it is told when it begins to. */
  holds: ReadonlySet<string>;
  last: Pick<ForecastPass, "after" | "reasons" | "now">;
}

/** A tale in which nothing has happened yet. */
export function newTimeline({ ledger, now }: World, focus: RolloutFocus): Timeline {
  const bindings = ledger.placements.get(focus.placement)?.bindings ?? new Map();
  const had = new Set([...bindings.values()].filter((it) => it.target !== null).map((it) => it.cluster));
  const last = { after: ledger, reasons: [], now };
  return { start: now, focus, events: [], unavailable: [], had, holds: new Set(), last };
}

/** Adds what one pass did. */
export function recordPass(tale: Timeline, passage: ForecastPass): void {
  const { now, after, reasons } = passage;
  const holds = new Set<string>();
  for (const it of eventsOf(tale.focus, passage)) {
    const hold = it.kind === "holds" ? `${it.stage} ${it.because}` : null;
    if (hold !== null) holds.add(hold);
    if (hold === null || !tale.holds.has(hold)) tale.events.push(it);
  }
  tale.holds = holds;
  tale.last = { after, reasons: reasonsOn(tale.focus, reasons, after), now };
  const clusters = unavailableIn(after, tale);
  // What is so for no time at all is not told.
  if (tale.unavailable.at(-1)?.at === now) tale.unavailable.pop();
  if (!sameNames(tale.unavailable.at(-1)?.clusters ?? [], clusters)) tale.unavailable.push({ at: now, clusters });
}

/** Reasons that speak of the rollout, or of a cluster that it concerns. */
export function reasonsOn(
  { placement, run }: RolloutFocus,
  reasons: readonly Reason[],
  ledger: Ledger,
): readonly Reason[] {
  const bindings = ledger.placements.get(placement)?.bindings;
  return reasons.filter((it) => {
    if ("run" in it) return it.placement === placement && (run === null || it.run === run);
    if ("placement" in it) return it.placement === placement;
    if ("placements" in it) return it.placements.includes(placement);
    return "cluster" in it ? bindings?.has(it.cluster) === true : it.kind === "sourceHeld";
  });
}

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((it, at) => it === b[at]);

/** A cluster that gets the placement for the first time loses nothing while it starts, nor does one that it leaves. */
function unavailableIn({ placements, clusters }: Ledger, { focus, had }: Timeline): readonly ClusterName[] {
  const down: ClusterName[] = [];
  for (const [cluster, binding] of placements.get(focus.placement)?.bindings ?? []) {
    const isWell = isUp(binding) && clusters.get(cluster)?.trouble == null;
    if (isWell) had.add(cluster);
    else if (had.has(cluster) && binding.removal === null) down.push(cluster);
  }
  return down;
}

/** The forecast that a tale came to. */
export function finishedForecast(
  { start, focus, events, unavailable, last }: Timeline,
  ending: Ending,
  passes: number,
): Forecast {
  const unreached = focus.run === null ? heldBack(last.after, last.reasons, focus) : notBegun(last.after, focus);
  const end = events.at(-1)?.at ?? start;
  return { start, events, ending, end, passes, unavailable, unreached, reasons: last.reasons };
}

/** Clusters of the run's plan that never began, in the order of the plan. */
function notBegun({ runs }: Ledger, focus: RolloutFocus): readonly ClusterName[] {
  const run = focus.run === null ? undefined : runs.get(focus.run);
  if (run?.plan == null) return [];
  const { stages, deletion, plan } = run;
  const updates = plan.stages.flatMap(({ clusters }, at) =>
    clusters.map((it) => it.cluster).filter((it) => !stages[at]?.clusters.has(it)),
  );
  return [...updates, ...plan.deletions.filter((it) => !deletion.clusters.has(it))];
}

/** Clusters that were picked and got nothing, or wait for the budget, by name. */
function heldBack(
  { placements }: Ledger,
  reasons: readonly Reason[],
  { placement }: RolloutFocus,
): readonly ClusterName[] {
  const bindings = [...(placements.get(placement)?.bindings.values() ?? [])];
  const bare = bindings.filter((it) => it.target === null).map((it) => it.cluster);
  const waiting = reasons.flatMap((it) => (it.kind === "heldBack" ? it.clusters : []));
  return [...new Set([...bare, ...waiting])].sort(compareText);
}
