import { remembered } from "../../model/memo.ts";
import type { SpreadConstraint } from "../../model/placement.ts";
import { type Candidate, candidatesByName } from "../framework/cycle.ts";
import type { Extensions, Plugin, PluginInput } from "../framework/plugin.ts";

/** Which fixes of the default profile apply: `schedule/README.md#a-6`, `#a-20` and `#a-22`, in this order. */
interface SpreadFixes {
  readonly scoresSingleDomain: boolean;
  readonly refusesRepairs: boolean;
  readonly countsOutsiders: boolean;
}

/** What violating a ScheduleAnyway constraint costs. */
const penalty = -1000;

/**
 * Spreads picks over the values of labels: refuses what a DoNotSchedule constraint forbids, and scores the rest by what
 * one more would do to the skew (`schedule/README.md#topologyspreadconstraints`). One cluster is picked per batch.
 */
export const topologySpreadConstraints = (fixes: SpreadFixes): Plugin => ({
  name: "TopologySpreadConstraints",
  changesWithPicks: true,

  prepare(input: PluginInput): Extensions {
    const spread = constraintsOf(input.policy);
    if (spread.length === 0) return {};
    return extensionsFor(spread.map((it) => domainsFor(it, input, fixes)));
  },

  othersSee: (candidate, policy) =>
    constraintsOf(policy)
      .map((it) => domainKey(candidate, it.topologyKey))
      .join("\n"),
});

function extensionsFor(domains: readonly Domains[]): Extensions {
  // Whoever fits is scored next.
  let last: { readonly candidate: Candidate; readonly verdict: SpreadVerdict } | null = null;
  const judged = (candidate: Candidate): SpreadVerdict => {
    if (last?.candidate !== candidate) last = { candidate, verdict: judgeCandidate(domains, candidate) };
    return last.verdict;
  };
  return {
    batchLimit: 1,
    filter: (candidate) => (judged(candidate).refusedBy === null ? "fits" : "unschedulable"),
    because(candidate) {
      const { refusedBy } = judged(candidate);
      return refusedBy === null ? "" : refusalText(refusedBy, candidate);
    },
    remedy: () => "more of the placement in other domains, or a larger maxSkew",
    numbers: (candidate) => domains.map((it) => skewText(it, candidate)),
    score: (candidate) => ({ topology: judged(candidate).score }),
    groupOf: (candidate) => domains.map(({ constraint }) => domainKey(candidate, constraint.topologyKey)).join("\n"),
    next: (picked) => extensionsFor(domains.map((it) => it.next(picked))),
  };
}

/** The domain of a cluster as a text that no other domain has, nor the lack of one; label values have one line. */
function domainKey(candidate: Candidate, key: string): string {
  const domain = domainOf(candidate, key);
  return domain === undefined ? "" : `=${domain}`;
}

/** Those that forbid come first: each in the order of the policy. */
function constraintsOf(policy: PluginInput["policy"]): readonly SpreadConstraint[] {
  if (policy.kind !== "PickN" || policy.spread.length === 0) return none;
  const forbids = (it: SpreadConstraint): boolean => it.whenUnsatisfiable === "DoNotSchedule";
  return [...policy.spread.filter(forbids), ...policy.spread.filter((it) => !forbids(it))];
}

const none: readonly never[] = [];

/** The domain of a cluster: the value of the label, which may be empty; undefined without the label. */
export const domainOf = ({ cluster: { labels } }: Candidate, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

/** One constraint with how many clusters each of its domains has that count. */
interface Domains {
  readonly constraint: SpreadConstraint;
  readonly counts: ReadonlyMap<string, number>;
  readonly smallest: number;
  /** One more in a domain with so many violates the constraint. */
  readonly isViolatedAt: (count: number) => boolean;
  /** What one more changes about the skew. */
  readonly changeAt: (count: number) => -1 | 0 | 1;
  /** The same when these count as well. */
  readonly next: (picked: readonly Candidate[]) => Domains;
}

function domainsFor(constraint: SpreadConstraint, input: PluginInput, fixes: SpreadFixes): Domains {
  const around = fixes.countsOutsiders ? input.candidates : input.feasible();
  const counts = new Map<string, number>();
  for (const it of domainNames(around, constraint.topologyKey)) counts.set(it, 0);
  const members = candidatesByName(input.candidates);
  const holders = [...input.holders].flatMap((it) => members.get(it) ?? []);
  return countedDomains(constraint, grown(counts, constraint, holders), fixes);
}

function grown(
  before: ReadonlyMap<string, number>,
  { topologyKey }: SpreadConstraint,
  holders: readonly Candidate[],
): ReadonlyMap<string, number> {
  const counts = new Map(before);
  for (const it of holders) {
    const domain = domainOf(it, topologyKey);
    if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  return counts;
}

function countedDomains(
  constraint: SpreadConstraint,
  counts: ReadonlyMap<string, number>,
  fixes: SpreadFixes,
): Domains {
  const { maxSkew, whenUnsatisfiable } = constraint;
  const { smallest, secondSmallest, largest } = extremesOf(counts);
  const skew = largest - smallest;
  const changeAt = (count: number): -1 | 0 | 1 => {
    if (counts.size <= 1 && !fixes.scoresSingleDomain) return 0;
    if (skew === 0) return 1;
    if (count === smallest && smallest !== secondSmallest) return -1;
    return count === largest ? 1 : 0;
  };
  const isRepaired = whenUnsatisfiable === "DoNotSchedule" && !fixes.refusesRepairs;
  const isViolatedAt = (count: number): boolean =>
    isRepaired ? count + 1 - smallest > maxSkew : skew + changeAt(count) > maxSkew;
  const next = (picked: readonly Candidate[]): Domains =>
    countedDomains(constraint, grown(counts, constraint, picked), fixes);
  return { constraint, counts, smallest, isViolatedAt, changeAt, next };
}

const domainNames = (candidates: readonly Candidate[], key: string): ReadonlySet<string> => {
  const known = domainNamesOf(candidates);
  const before = known.get(key);
  if (before !== undefined) return before;
  const found = new Set<string>();
  for (const it of candidates) {
    const domain = domainOf(it, key);
    if (domain !== undefined) found.add(domain);
  }
  known.set(key, found);
  return found;
};

const domainNamesOf = remembered((_: readonly Candidate[]) => new Map<string, ReadonlySet<string>>());

interface Extremes {
  readonly smallest: number;
  /** With multiplicity: the smallest one if two domains have that, or there is only one. */
  readonly secondSmallest: number;
  readonly largest: number;
}

function extremesOf(counts: ReadonlyMap<string, number>): Extremes {
  let smallest = Number.POSITIVE_INFINITY;
  let secondSmallest = Number.POSITIVE_INFINITY;
  let largest = 0;
  for (const count of counts.values()) {
    if (count < smallest) {
      secondSmallest = smallest;
      smallest = count;
    } else if (count < secondSmallest) secondSmallest = count;
    if (count > largest) largest = count;
  }
  if (counts.size === 0) smallest = 0;
  return { smallest, secondSmallest: counts.size < 2 ? smallest : secondSmallest, largest };
}

interface SpreadVerdict {
  readonly score: number;
  /** The first DoNotSchedule constraint that one more would violate. */
  readonly refusedBy: Domains | null;
}

function judgeCandidate(all: readonly Domains[], candidate: Candidate): SpreadVerdict {
  let score = 0;
  for (const domains of all) {
    const { topologyKey, whenUnsatisfiable } = domains.constraint;
    const domain = domainOf(candidate, topologyKey);
    if (domain === undefined) continue;
    const count = domains.counts.get(domain) ?? 0;
    if (!domains.isViolatedAt(count)) score -= domains.changeAt(count);
    else if (whenUnsatisfiable === "ScheduleAnyway") score += penalty;
    else return { score: 0, refusedBy: domains };
  }
  return { score, refusedBy: null };
}

function refusalText(
  { constraint: { topologyKey, maxSkew }, counts, smallest }: Domains,
  candidate: Candidate,
): string {
  const domain = domainOf(candidate, topologyKey) ?? "";
  const count = counts.get(domain) ?? 0;
  return `${topologyKey}=${domain} has ${clustersText(count)} of it, and the fewest is ${smallest}: one more exceeds maxSkew ${maxSkew}`;
}

/** The skew over the values of a label, and what it becomes with one more cluster in the domain of a candidate. */
function skewText({ constraint: { topologyKey, maxSkew }, counts }: Domains, candidate: Candidate): string {
  const domain = domainOf(candidate, topologyKey);
  if (domain === undefined) return `it has no ${topologyKey}`;
  const count = counts.get(domain) ?? 0;
  const after = skewOf(new Map(counts).set(domain, count + 1));
  return `${topologyKey}=${domain} has ${clustersText(count)} of it; one more makes the skew ${skewOf(counts)} → ${after} of at most ${maxSkew}`;
}

function skewOf(counts: ReadonlyMap<string, number>): number {
  const { smallest, largest } = extremesOf(counts);
  return largest - smallest;
}

const clustersText = (count: number): string => (count === 1 ? "1 cluster" : `${count} clusters`);
