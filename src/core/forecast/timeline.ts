import { sameList } from "../model/identity.ts";
import type { Ledger } from "../model/ledger.ts";
import type { Refusal, World } from "../model/plan.ts";
import type { PlanDefect } from "../model/plan-defect.ts";
import type { Reason } from "../model/reason.ts";
import { type ClusterName, compareText, type Instant } from "../model/value.ts";
import { eventsOf, type ForecastEvent, type ForecastPass, isUp, type RolloutFocus } from "./events.ts";

/** How a rollout would go under the assumptions. */
export interface Forecast {
  readonly start: Instant;
  readonly events: readonly ForecastEvent[];
  readonly ending: Ending;
  /** When it ends: the earliest moment, or where it stays as it is. */
  readonly end: Instant;
  readonly passes: number;
  /** Clusters that had the placement and on which it is unavailable, whenever that set changes. */
  readonly unavailable: readonly { readonly at: Instant; readonly clusters: readonly ClusterName[] }[];
  /** Clusters that were to be updated and were not, in order. */
  readonly unreached: readonly ClusterName[];
  /** The reasons about the rollout at its end. */
  readonly reasons: readonly Reason[];
}

/** Why a forecast goes no further. */
export type Ending =
  | { readonly kind: "done" }
  /** The run failed for good. */
  | { readonly kind: "failed" }
  /** Nothing more happens by itself: the reasons say what it waits for. */
  | { readonly kind: "waits" }
  /** Something would still happen after the forecast time. */
  | { readonly kind: "time"; readonly next: Instant }
  /** It still changes after the maximum of passes. */
  | { readonly kind: "passes" }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** A plan failed its check: a defect of ours. */
  | { readonly kind: "unsound"; readonly faults: readonly PlanDefect[] };

/** A forecast while it is being made. */
interface Timeline {
  readonly start: Instant;
  readonly focus: RolloutFocus;
  readonly events: ForecastEvent[];
  readonly unavailable: { readonly at: Instant; readonly clusters: readonly ClusterName[] }[];
  /** Clusters that had the placement available once, or had it when the forecast began. */
  readonly had: Set<ClusterName>;
  /** What delays the rollout at present: it becomes an event when it starts. */
  waits: ReadonlySet<string>;
  last: Pick<ForecastPass, "after" | "reasons" | "now">;
}

export function newTimeline({ ledger, now }: World, focus: RolloutFocus): Timeline {
  const bindings = ledger.placements.get(focus.placement)?.bindings ?? new Map();
  const had = new Set([...bindings.values()].filter((it) => it.target !== null).map((it) => it.cluster));
  const last = { after: ledger, reasons: [], now };
  return { start: now, focus, events: [], unavailable: [], had, waits: new Set(), last };
}

export function recordPass(timeline: Timeline, pass: ForecastPass): void {
  const { now, after, reasons } = pass;
  const waits = new Set<string>();
  for (const it of eventsOf(timeline.focus, pass)) {
    const waiting = it.kind === "holds" ? `${it.stage} ${it.because}` : null;
    if (waiting !== null) waits.add(waiting);
    if (waiting === null || !timeline.waits.has(waiting)) timeline.events.push(it);
  }
  timeline.waits = waits;
  timeline.last = { after, reasons: reasonsOn(timeline.focus, reasons, after), now };
  const clusters = unavailableIn(after, timeline);
  // States without duration are dropped.
  if (timeline.unavailable.at(-1)?.at === now) timeline.unavailable.pop();
  if (!sameList(timeline.unavailable.at(-1)?.clusters ?? [], clusters))
    timeline.unavailable.push({ at: now, clusters });
}

/** Reasons about the rollout or its clusters. */
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

/** A cluster that gets the placement for the first time loses nothing while it starts, nor does one that loses it. */
function unavailableIn({ placements, clusters }: Ledger, { focus, had }: Timeline): readonly ClusterName[] {
  const down: ClusterName[] = [];
  for (const [cluster, binding] of placements.get(focus.placement)?.bindings ?? []) {
    const isWell = isUp(binding) && clusters.get(cluster)?.contactFailure == null;
    if (isWell) had.add(cluster);
    else if (had.has(cluster) && binding.removal === null) down.push(cluster);
  }
  return down;
}

export function finishedForecast(
  { start, focus, events, unavailable, last }: Timeline,
  ending: Ending,
  passes: number,
): Forecast {
  const unreached = focus.run === null ? heldBack(last.after, last.reasons, focus) : notBegun(last.after, focus);
  const end = events.at(-1)?.at ?? start;
  return { start, events, ending, end, passes, unavailable, unreached, reasons: last.reasons };
}

/** Clusters of the run's plan that never started, in the order of the plan. */
function notBegun({ runs }: Ledger, focus: RolloutFocus): readonly ClusterName[] {
  const run = focus.run === null ? undefined : runs.get(focus.run);
  if (run?.plan == null) return [];
  const { stages, deletion, plan } = run;
  const updates = plan.stages.flatMap(({ clusters }, at) =>
    clusters.map((it) => it.cluster).filter((it) => !stages[at]?.clusters.has(it)),
  );
  return [...updates, ...plan.deletions.filter((it) => !deletion.clusters.has(it))];
}

/** Picked clusters that got nothing, or wait for the budget, sorted. */
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
