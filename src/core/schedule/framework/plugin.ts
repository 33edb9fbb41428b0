import type { PlacementPolicy } from "../../model/placement.ts";
import { type ClusterName, compareText, earliest, type Instant } from "../../model/value.ts";
import type { Candidate } from "./cycle.ts";

/**
 * A scheduling plugin (`schedule/README.md#plugins`).
 *
 * `prepare` takes the place of PreFilter and PreScore: what it computes lives in its closure. A missing extension point
 * is what KubeFleet calls Skip.
 */
export interface Plugin {
  readonly name: string;
  /** Picks change what it says of others: it is prepared for every batch, and otherwise once per cycle. */
  readonly changesWithPicks: boolean;
  prepare(input: PluginInput): Extensions;
  /** What of a candidate the results for others rest on, as one text. Left out: nothing. */
  othersSee?(candidate: Candidate, policy: PlacementPolicy): string;
}

/** A placement before the next batch of picks. */
export interface Situation {
  readonly policy: PlacementPolicy;
  /** Of the placement; null for a ClusterResourcePlacement. */
  readonly namespace: string | null;
  readonly candidates: readonly Candidate[];
  readonly now: Instant;
  /** Clusters that count already: placed under the present policy, or picked by an earlier batch of this cycle. */
  readonly holders: ReadonlySet<ClusterName>;
  /** Clusters that were picked under an earlier policy and are judged again. */
  readonly obsolete: ReadonlySet<ClusterName>;
  /** Clusters that are no longer wanted and whose removal has not started. */
  readonly leaving: ReadonlySet<ClusterName>;
}

/** What a plugin sees. */
export interface PluginInput extends Situation {
  /** Candidates that pass all plugins that picks do not change; in order. */
  readonly feasible: () => readonly Candidate[];
}

/** The extension points of a plugin; all may be left out. */
export interface Extensions {
  /** Judges a candidate. The first plugin that refuses it gives the reason that people read. */
  filter?(candidate: Candidate): Judgement;
  /** Why `filter` refused a candidate, in words. Separate, since few of the refusals are shown. */
  because?(candidate: Candidate): string;
  /** What would have to change for `filter` to let a refused candidate pass, in words. */
  remedy?(candidate: Candidate): string;
  /** What `filter` and `score` compute with, in words; one line each. */
  numbers?(candidate: Candidate): readonly string[];
  /** When time alone changes the result of `filter`; null when there is no such moment. */
  turnsAt?(candidate: Candidate): Instant | null;
  /** Adds to the components of a candidate's score; a component left out is 0. */
  score?(candidate: Candidate): Partial<Score>;
  /** Why a candidate that fits cannot be scored, which ends the cycle; null if it can. */
  failure?(candidate: Candidate): string | null;
  /** The same for candidates that `filter` and `score` judge alike in this batch. For plugins that picks change. */
  groupOf?(candidate: Candidate): string;
  /** The same after these were picked. Left out: it is prepared anew. */
  next?(picked: readonly Candidate[]): Extensions;
  /** Problems that do not change the result. */
  readonly warnings?: readonly string[];
  /** PostBatch: at most so many clusters are picked before everything is judged again. */
  readonly batchLimit?: number;
}

/** Whether a candidate takes part in the batch. One that is selected already does not, and needs no explanation. */
type Judgement = "fits" | "unschedulable" | "alreadySelected";

/** Integers, compared in this order. Stickiness is never recorded (`schedule/README.md#the-order-of-candidates`). */
interface Score {
  readonly topology: number;
  readonly affinity: number;
  readonly stickiness: number;
}

/** A candidate that fits, and how well. */
export interface Ranked {
  readonly candidate: Candidate;
  readonly score: Score;
}

/** A candidate that was refused, by which plugin and why. */
export interface RefusedCandidate {
  readonly cluster: ClusterName;
  readonly plugin: string;
  readonly because: string;
}

/** Which candidates may be picked, which may not and why, and when time alone changes that. */
interface Admission {
  readonly fits: readonly Candidate[];
  /** The first of them, in the order of candidates. */
  readonly refused: readonly RefusedCandidate[];
  readonly wakeAt: Instant | null;
}

/** The plugins of one batch, ready to judge. */
export interface Prepared {
  readonly input: PluginInput;
  readonly plugins: readonly { readonly plugin: Plugin; readonly at: Extensions }[];
}

/** Prepares every plugin for the first batch, in the order in which they judge. */
export function preparePlugins(situation: Situation, plugins: readonly Plugin[]): Prepared {
  let found: readonly Candidate[] | null = null;
  const feasible = (): readonly Candidate[] => {
    found ??= filterCandidates(situation.candidates, { input, plugins: steady }, 0).fits;
    return found;
  };
  const input: PluginInput = { ...situation, feasible };
  const prepared = (it: Plugin) => ({ plugin: it, at: it.prepare(input) });
  const steady = plugins.filter((it) => !it.changesWithPicks).map(prepared);
  const ready = new Map(steady.map((it) => [it.plugin, it]));
  return { input, plugins: plugins.map((it) => ready.get(it) ?? prepared(it)) };
}

/** The same plugins for the next batch, after these were picked; null: all that hold the placement are others now. */
export function preparedAgain(
  { input: before, plugins }: Prepared,
  now: Pick<Situation, "holders" | "obsolete" | "leaving">,
  picked: readonly Candidate[] | null,
): Prepared {
  const input = { ...before, ...now };
  return {
    input,
    plugins: plugins.map((it) =>
      it.plugin.changesWithPicks
        ? { ...it, at: (picked === null ? null : it.at.next?.(picked)) ?? it.plugin.prepare(input) }
        : it,
    ),
  };
}

/** Only the plugins that picks change, or only the others. */
export const preparedPart = ({ input, plugins }: Prepared, changesWithPicks: boolean): Prepared => ({
  input,
  plugins: plugins.filter((it) => it.plugin.changesWithPicks === changesWithPicks),
});

/**
 * Runs the filters over every candidate, in the order of the plugins, until one refuses it. Explains the first
 * `explained` refusals.
 */
export function filterCandidates(
  candidates: readonly Candidate[],
  { plugins }: Prepared,
  explained: number,
): Admission {
  const fits: Candidate[] = [];
  const refused: RefusedCandidate[] = [];
  let wakeAt: Instant | null = null;
  for (const candidate of candidates) {
    let turnsAt: Instant | null = null;
    let judgement: Judgement = "fits";
    for (const { plugin, at } of plugins) {
      if (at.turnsAt !== undefined) turnsAt = earliest(turnsAt, at.turnsAt(candidate));
      if (at.filter !== undefined) judgement = at.filter(candidate);
      if (judgement === "fits") continue;
      if (judgement === "unschedulable" && refused.length < explained)
        refused.push({
          cluster: candidate.cluster.name,
          plugin: plugin.name,
          because: at.because?.(candidate) ?? "it does not fit",
        });
      break;
    }
    if (judgement === "alreadySelected") continue;
    if (turnsAt !== null) wakeAt = earliest(wakeAt, turnsAt);
    if (judgement === "fits") fits.push(candidate);
  }
  return { fits, refused, wakeAt };
}

/** The best of these candidates, at most so many (`schedule/README.md#the-order-of-candidates`). */
export function bestOfAll(candidates: readonly Candidate[], prepared: Prepared, most: number): readonly Ranked[] {
  const best: Ranked[] = [];
  for (const candidate of candidates) {
    const ranked = { candidate, score: totalScore(candidate, prepared) };
    const worst = best.at(-1);
    if (worst !== undefined && best.length >= most && compareRanked(worst, ranked) < 0) continue;
    const at = best.findIndex((it) => compareRanked(ranked, it) < 0);
    best.splice(at < 0 ? best.length : at, 0, ranked);
    if (best.length > most) best.pop();
  }
  return best;
}

/** Whether none of the plugins refuses a candidate. */
export const fitsAll = ({ plugins }: Prepared, candidate: Candidate): boolean =>
  plugins.every(({ at }) => at.filter === undefined || at.filter(candidate) === "fits");

/** With what other plugins add to the score. */
export function withScore({ candidate, score }: Ranked, others: Prepared): Ranked {
  const more = totalScore(candidate, others);
  return {
    candidate,
    score: {
      topology: score.topology + more.topology,
      affinity: score.affinity + more.affinity,
      stickiness: score.stickiness + more.stickiness,
    },
  };
}

/**
 * Orders candidates best first: by topology, affinity, stickiness and name, all descending
 * (`schedule/README.md#the-order-of-candidates`). Among equals the largest name wins, as in KubeFleet.
 */
export const rankCandidates = (candidates: readonly Candidate[], prepared: Prepared): readonly Ranked[] =>
  candidates.map((candidate): Ranked => ({ candidate, score: totalScore(candidate, prepared) })).sort(compareRanked);

/** How many clusters the next batch may pick: the smallest limit of any plugin. */
export const batchLimit = ({ plugins }: Prepared): number =>
  Math.min(...plugins.map((it) => it.at.batchLimit ?? Number.POSITIVE_INFINITY));

/** Why the first candidate that cannot be scored cannot; null if all can. */
export function scoringFailure(candidates: readonly Candidate[], { plugins }: Prepared): string | null {
  const failing = plugins.filter((it) => it.at.failure !== undefined);
  if (failing.length === 0) return null;
  for (const candidate of candidates)
    for (const { at } of failing) {
      const failure = at.failure?.(candidate) ?? null;
      if (failure !== null) return failure;
    }
  return null;
}

/** What all plugins warn of. */
export const warningsOf = ({ plugins }: Prepared): readonly string[] => plugins.flatMap((it) => it.at.warnings ?? []);

function totalScore(candidate: Candidate, { plugins }: Prepared): Score {
  let topology = 0;
  let affinity = 0;
  let stickiness = 0;
  for (const { at } of plugins) {
    const part = at.score?.(candidate);
    topology += part?.topology ?? 0;
    affinity += part?.affinity ?? 0;
    stickiness += part?.stickiness ?? 0;
  }
  return { topology, affinity, stickiness };
}

/** The better of two comes first; among equals the one with the largest name. */
export const compareRanked = (a: Ranked, b: Ranked): number =>
  compareScores(b.score, a.score) || compareText(b.candidate.cluster.name, a.candidate.cluster.name);

const compareScores = (a: Score, b: Score): number =>
  a.topology - b.topology || a.affinity - b.affinity || a.stickiness - b.stickiness;
