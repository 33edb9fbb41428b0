import type { PlacementPolicy } from "../../model/placement.ts";
import { type ClusterName, compareText, earliest, type Instant } from "../../model/value.ts";
import type { Candidate } from "./cycle.ts";

/**
 * A scheduling plugin (`schedule/README.md#plugins`).
 *
 * `prepare` runs once per batch and takes the place of PreFilter and PreScore: what it computes lives in its closure. A
 * missing extension point is what KubeFleet calls Skip.
 */
export interface Plugin {
  readonly name: string;
  /** Its result for one candidate does not depend on the others. */
  readonly judgesAlone: boolean;
  prepare(situation: PluginInput): Extensions;
}

/** What a plugin sees: the cycle, and the placement before the next batch of picks. */
export interface PluginInput {
  readonly policy: PlacementPolicy;
  readonly candidates: readonly Candidate[];
  readonly now: Instant;
  /** Clusters that count already: placed under the present policy, or picked by an earlier batch of this cycle. */
  readonly holders: ReadonlySet<ClusterName>;
  /** Clusters that were picked under an earlier policy and are judged again. */
  readonly obsolete: ReadonlySet<ClusterName>;
  /** Clusters that are no longer wanted and whose removal has not started. */
  readonly leaving: ReadonlySet<ClusterName>;
}

/** The extension points of a plugin; all may be left out. */
export interface Extensions {
  /** Judges a candidate. The first plugin that refuses it gives the reason that people read. */
  filter?(candidate: Candidate): Judgement;
  /** Why `filter` refused a candidate, in words. Separate, since few of the refusals are shown. */
  because?(candidate: Candidate): string;
  /** When time alone changes the result of `filter`; null when there is no such moment. */
  turnsAt?(candidate: Candidate): Instant | null;
  /** Adds to the components of a candidate's score; a component left out is 0. */
  score?(candidate: Candidate): Partial<Score>;
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
type Prepared = readonly { readonly name: string; readonly at: Extensions }[];

/** Prepares every plugin for one batch, in the order in which they judge. */
export const preparePlugins = (situation: PluginInput, plugins: readonly Plugin[]): Prepared =>
  plugins.map((it) => ({ name: it.name, at: it.prepare(situation) }));

/**
 * Runs the filters over every candidate, in the order of the plugins, until one refuses it. Explains the first
 * `explained` refusals.
 */
export function filterCandidates(candidates: readonly Candidate[], prepared: Prepared, explained: number): Admission {
  const fits: Candidate[] = [];
  const refused: RefusedCandidate[] = [];
  let wakeAt: Instant | null = null;
  for (const candidate of candidates) {
    let turnsAt: Instant | null = null;
    let judgement: Judgement = "fits";
    for (const { name, at } of prepared) {
      if (at.turnsAt !== undefined) turnsAt = earliest(turnsAt, at.turnsAt(candidate));
      if (at.filter !== undefined) judgement = at.filter(candidate);
      if (judgement === "fits") continue;
      if (judgement === "unschedulable" && refused.length < explained)
        refused.push({
          cluster: candidate.cluster.name,
          plugin: name,
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

/**
 * Orders candidates best first: by topology, affinity, stickiness and name, all descending
 * (`schedule/README.md#the-order-of-candidates`). Among equals the largest name wins, as in KubeFleet.
 */
export const rankCandidates = (candidates: readonly Candidate[], prepared: Prepared): readonly Ranked[] =>
  candidates
    .map((candidate): Ranked => ({ candidate, score: totalScore(candidate, prepared) }))
    .sort((a, b) => compareScores(b.score, a.score) || compareText(b.candidate.cluster.name, a.candidate.cluster.name));

/** How many clusters the next batch may pick: the smallest limit of any plugin. */
export const batchLimit = (prepared: Prepared): number =>
  Math.min(...prepared.map((it) => it.at.batchLimit ?? Number.POSITIVE_INFINITY));

function totalScore(candidate: Candidate, prepared: Prepared): Score {
  let topology = 0;
  let affinity = 0;
  let stickiness = 0;
  for (const { at } of prepared) {
    const part = at.score?.(candidate);
    topology += part?.topology ?? 0;
    affinity += part?.affinity ?? 0;
    stickiness += part?.stickiness ?? 0;
  }
  return { topology, affinity, stickiness };
}

const compareScores = (a: Score, b: Score): number =>
  a.topology - b.topology || a.affinity - b.affinity || a.stickiness - b.stickiness;
