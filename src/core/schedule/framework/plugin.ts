import type { PlacementPolicy } from "../../model/placement.ts";
import type { ClusterName, Instant } from "../../model/value.ts";
import type { Candidate, Cycle } from "./cycle.ts";

/**
 * A scheduling plugin (`schedule/README.md#plugins`).
 *
 * `prepare` takes the place of PreFilter and PreScore: what it computes lives in its closure. A missing extension point
 * is what KubeFleet calls Skip.
 */
export interface Plugin {
  readonly name: string;
  /**
   * Picks change what it says of others: it is prepared for every batch, and otherwise once per cycle. One that says
   * false scores affinity alone, and for PickN it sees nothing but what a {@link Ranking} rests on.
   */
  readonly changesWithPicks: boolean;
  prepare(input: PluginInput): Extensions;
  /** What of a candidate the results for others rest on, as one text. Left out: nothing. */
  othersSee?(candidate: Candidate, policy: PlacementPolicy): string;
  /**
   * What of a candidate it looks at under a policy, for a placement that stands there: whatever else changes, it says the
   * same of everybody, to the word. Left out: it may look at anything.
   */
  looksAt?(policy: PlacementPolicy, place: PlacementPlace): readonly Aspect[];
}

/**
 * Something about a candidate that may change while everything else stays as it is; `namespaces` is whether it reports
 * them, and all of them.
 */
export type Aspect =
  | `label ${string}`
  | `property ${string}`
  | `namespace ${string}`
  | "taints"
  | "namespaces"
  | "contact";

/** A candidate before and after a change. */
export interface CandidateChange {
  readonly was: Candidate;
  readonly is: Candidate;
}

/** Where a placement stands in the repository, as far as that matters to where it may go. */
export type PlacementPlace = Pick<Cycle, "namespace" | "grants">;

/** A placement before the next batch of picks. */
export interface Situation extends PlacementPlace {
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

/** What a plugin sees. */
export interface PluginInput extends Situation {
  /** What the plugins say that picks do not change. */
  readonly ranking: () => Ranking;
}

/**
 * What the plugins that picks do not change say of a whole fleet, for PickN (`schedule/README.md#rankings`): for these
 * candidates, and from a moment until time alone changes it.
 */
export interface Ranking {
  /** In the order of their names; in all else a candidate goes by its place here. */
  readonly candidates: readonly Candidate[];
  /** Whether it fits: 1 or 0. Placements that ask the same have the very same. */
  readonly fits: Uint8Array;
  /** They add up to the affinity: `affinityAt`. */
  readonly scores: readonly Float64Array[];
  /** The places of those that fit, best first: by affinity and by name, both descending. */
  readonly best: () => Uint32Array;
  /** When time alone changes whether it fits; places without such a moment are left out. */
  readonly turnsAt: ReadonlyMap<number, Instant>;
}

/** What `filter`, `turnsAt` and `score` of a plugin come to, in parts that placements share which ask the same. */
export interface Parts {
  /** Those who fit have a 1 in all of them. */
  readonly fits: readonly Part[];
  /** They add up to the affinity. */
  readonly scores: readonly Part[];
}

/** One of them. */
export interface Part {
  /** All of a placement that it rests on, as a text that no other part of the plugin has. */
  readonly asked: string;
  of(candidate: Candidate): number;
  /** When time alone changes `of`. Left out: time has no part in it. */
  turnsAt?(candidate: Candidate): Instant | null;
  /** Whether a change of a candidate may change what is said of others in the fleet as it is now. Left out: it does not. */
  concernsOthers?(change: CandidateChange, candidates: readonly Candidate[]): boolean;
}

/** The extension points of a plugin; all may be left out. */
export interface Extensions {
  /** Judges a candidate. The first plugin that refuses it gives the reason that people read. */
  filter?(candidate: Candidate): FilterResult;
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
  /** For plugins that picks do not change, under PickN. Left out: what they say is remembered for each placement alone. */
  readonly parts?: Parts;
  /** Candidates that `filter` and `score` judge alike in this batch. For plugins that picks change. */
  groups?(): Groups;
  /** The same after these were picked. Left out: it is prepared anew. */
  next?(picked: readonly Candidate[]): Extensions;
  /** Problems that do not change the result. */
  readonly warnings?: readonly string[];
  /** PostBatch: at most so many clusters are picked before everything is judged again. */
  readonly batchLimit?: number;
}

/** Whom a plugin judges alike in a batch: all in one group, but for those that are apart. */
export interface Groups {
  readonly fleet: FleetGroups;
  /**
   * Those who are judged in another way than the rest of their group: the places of those who are judged in one other way,
   * and so on. Who is among several goes with the last of them.
   */
  readonly apart: readonly (readonly number[])[];
}

/** Which group each candidate of a fleet is in, by its place in the order of names; groups have numbers from 0. */
export interface FleetGroups {
  /** Those without a number are in the first group. */
  readonly of: ArrayLike<number>;
  readonly count: number;
}

/** Whether a candidate takes part in the batch. One that is selected already does not, and needs no explanation. */
export type FilterResult = "fits" | "unschedulable" | "alreadySelected";

/** Integers, compared in this order. Stickiness is never recorded (`schedule/README.md#the-order-of-candidates`). */
export interface Score {
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

/** The plugins of one batch, ready to judge. */
export interface Prepared {
  readonly input: PluginInput;
  readonly plugins: readonly PreparedPlugin[];
}

/** A plugin, ready to judge. */
export interface PreparedPlugin {
  readonly plugin: Plugin;
  readonly at: Extensions;
}
