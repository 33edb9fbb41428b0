import type { PlacementPolicy } from "../model/placement.ts";
import { type ClusterName, compareText, earliest, type Instant } from "../model/value.ts";
import type { Candidate } from "./cycle.ts";

/**
 * A scheduling plugin (`schedule/README.md#plugins`).
 *
 * `prepare` runs once for every batch and plays the part of PreFilter and PreScore: what is computed once lives in its
 * closure. Leaving an extension point out is what KubeFleet calls Skip.
 */
export interface Plugin {
  readonly name: string;
  /** It looks at one candidate at a time: what it says of one does not depend on the others. */
  readonly judgesAlone: boolean;
  prepare(situation: PluginInput): Extensions;
}

/** What a plugin may look at: the cycle, and the placement as it stands before the next batch of picks. */
export interface PluginInput {
  readonly policy: PlacementPolicy;
  readonly candidates: readonly Candidate[];
  readonly now: Instant;
  /** Clusters that count already: placed under the present policy, or picked by an earlier batch of this cycle. */
  readonly holders: ReadonlySet<ClusterName>;
  /** Clusters that were picked under an earlier policy and are judged again. */
  readonly obsolete: ReadonlySet<ClusterName>;
  /** Clusters that are wanted no more, whose removal has not begun. */
  readonly leaving: ReadonlySet<ClusterName>;
}

/** The extension points of a plugin; all may be left out. */
export interface Extensions {
  /** Judges a candidate. The first plugin that does not let it pass is the reason that people read. */
  filter?(candidate: Candidate): Judgement;
  /** Puts into words why `filter` found a candidate unschedulable: of a thousand refusals twenty are read. */
  because?(candidate: Candidate): string;
  /** The moment at which `filter` will answer otherwise if nothing but time passes; null when there is none. */
  turnsAt?(candidate: Candidate): Instant | null;
  /** Adds to the components of a candidate's score; a component left out is 0. */
  score?(candidate: Candidate): Partial<Score>;
  /** PostBatch: at most so many clusters are picked before everything is judged again. */
  readonly batchLimit?: number;
}

/** Whether a candidate has a part in the batch. One that counts already has none, and needs no explanation either. */
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

/** A candidate that does not fit, and which plugin says so. */
export interface RefusedCandidate {
  readonly cluster: ClusterName;
  readonly plugin: string;
  readonly because: string;
}

/** Who may be picked, who may not and why, and when that would change by itself. */
interface Admission {
  readonly fits: readonly Candidate[];
  /** The first of them, in the order of candidates. */
  readonly refused: readonly RefusedCandidate[];
  readonly wakeAt: Instant | null;
}

/** The plugins of one batch, ready to judge. */
type Prepared = readonly { readonly name: string; readonly at: Extensions }[];

/** Readies every plugin for one batch, in the order in which they judge. */
export const prepare = (situation: PluginInput, plugins: readonly Plugin[]): Prepared =>
  plugins.map((it) => ({ name: it.name, at: it.prepare(situation) }));

/**
 * Runs every filter over every candidate, in the order of the plugins; the first one that does not let it pass ends a
 * candidate's part. Explains as many refusals as are wanted.
 */
export function admit(candidates: readonly Candidate[], prepared: Prepared, explained: number): Admission {
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
export const rank = (candidates: readonly Candidate[], prepared: Prepared): readonly Ranked[] =>
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
