import { remembered } from "../../model/identity.ts";
import type { SpreadConstraint } from "../../model/placement.ts";
import { type Candidate, membershipOf, placesOf } from "../framework/cycle.ts";
import { domainGroups, domainOf, type FleetDomains, fleetDomains } from "../framework/domains.ts";
import { nobodyApart } from "../framework/groups.ts";
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
    const holders = placesOf(input.holders, membershipOf(input.candidates));
    return extensionsFor(
      spread.map((it) => domainsFor(it, input, holders, fixes)),
      input.candidates,
    );
  },

  looksAt: (policy) => constraintsOf(policy).map((it) => `label ${it.topologyKey}` as const),

  othersSee: (candidate, policy) =>
    constraintsOf(policy)
      .map((it) => domainKey(candidate, it.topologyKey))
      .join("\n"),
});

function extensionsFor(domains: readonly Domains[], candidates: readonly Candidate[]): Extensions {
  const { places } = membershipOf(candidates);
  const placeOf = ({ cluster: { name } }: Candidate): number => places.get(name) ?? candidates.length;
  const keys = domains.map((it) => it.constraint.topologyKey);
  // Whoever fits is scored next.
  let lastPlace = -1;
  let verdict: SpreadVerdict = { score: 0, refusedBy: null };
  const judged = (candidate: Candidate): SpreadVerdict => {
    const place = placeOf(candidate);
    if (place !== lastPlace) verdict = judgeCandidate(domains, place);
    lastPlace = place;
    return verdict;
  };
  return {
    batchLimit: 1,
    filter: (candidate) => (judged(candidate).refusedBy === null ? "fits" : "unschedulable"),
    because(candidate) {
      const { refusedBy } = judged(candidate);
      return refusedBy === null ? "" : refusalText(refusedBy, candidate, placeOf(candidate));
    },
    remedy: () => "more of the placement in other domains, or a larger maxSkew",
    numbers: (candidate) => domains.map((it) => skewText(it, candidate, placeOf(candidate))),
    score: (candidate) => ({ topology: judged(candidate).score }),
    groups: () => ({ fleet: domainGroups(candidates, keys), apart: nobodyApart }),
    next(picked) {
      const more = picked.map(placeOf);
      return extensionsFor(
        domains.map((it) => it.next(more)),
        candidates,
      );
    },
  };
}

/** The domain of a cluster as a text that no other domain has, nor the lack of one; label values have one line. */
function domainKey(candidate: Candidate, key: string): string {
  const domain = domainOf(candidate, key);
  return domain === undefined ? "" : `=${domain}`;
}

/** Those that forbid come first: each in the order of the policy. */
const constraintsOf = remembered((policy: PluginInput["policy"]): readonly SpreadConstraint[] => {
  if (policy.kind !== "PickN" || policy.spread.length === 0) return none;
  const forbids = (it: SpreadConstraint): boolean => it.whenUnsatisfiable === "DoNotSchedule";
  return [...policy.spread.filter(forbids), ...policy.spread.filter((it) => !forbids(it))];
});

const none: readonly never[] = [];

/** One constraint with how many clusters each of its domains has that count. */
interface Domains {
  readonly constraint: SpreadConstraint;
  readonly fleet: FleetDomains;
  /** By the place of a domain in the fleet's; -1 for one that does not count as a domain. */
  readonly counts: readonly number[];
  readonly smallest: number;
  /** One more in a domain with so many violates the constraint. */
  readonly isViolatedAt: (count: number) => boolean;
  /** What one more changes about the skew. */
  readonly changeAt: (count: number) => -1 | 0 | 1;
  /** The same when those at these places count as well. */
  readonly next: (picked: readonly number[]) => Domains;
}

/** How many clusters a candidate's domain has; undefined without the label. */
function countAt({ fleet, counts }: Domains, place: number): number | undefined {
  const count = counts[fleet.of[place] ?? counts.length];
  return count === undefined ? undefined : Math.max(0, count);
}

/** With so many as the candidates at the places of `holders` make it. */
function domainsFor(
  constraint: SpreadConstraint,
  input: PluginInput,
  holders: readonly number[],
  fixes: SpreadFixes,
): Domains {
  const fleet = fleetDomains(input.candidates, constraint.topologyKey);
  const empty = fixes.countsOutsiders ? fleet.names.map(() => 0) : emptyDomains(input.ranking().fits)(fleet);
  return countedDomains(constraint, fleet, grown(empty, fleet, holders), fixes);
}

/** The counts of domains while nobody counts: only those where somebody fits are any. */
const emptyDomains = remembered((fits: Uint8Array) =>
  remembered(({ names, of }: FleetDomains): readonly number[] => {
    const inhabited = new Set(of.filter((_, place) => fits[place] === 1));
    return names.map((_, domain) => (inhabited.has(domain) ? 0 : -1));
  }),
);

function grown(before: readonly number[], { of }: FleetDomains, holders: readonly number[]): readonly number[] {
  const counts = before.slice();
  for (const place of holders) {
    const domain = of[place] ?? counts.length;
    if (domain < counts.length) counts[domain] = Math.max(0, counts[domain] ?? 0) + 1;
  }
  return counts;
}

function countedDomains(
  constraint: SpreadConstraint,
  fleet: FleetDomains,
  counts: readonly number[],
  fixes: SpreadFixes,
): Domains {
  const { maxSkew, whenUnsatisfiable } = constraint;
  const { size, smallest, secondSmallest, largest } = extremesOf(counts);
  const skew = largest - smallest;
  const changeAt = (count: number): -1 | 0 | 1 => {
    if (size <= 1 && !fixes.scoresSingleDomain) return 0;
    if (skew === 0) return 1;
    if (count === smallest && smallest !== secondSmallest) return -1;
    return count === largest ? 1 : 0;
  };
  const isRepaired = whenUnsatisfiable === "DoNotSchedule" && !fixes.refusesRepairs;
  const isViolatedAt = (count: number): boolean =>
    isRepaired ? count + 1 - smallest > maxSkew : skew + changeAt(count) > maxSkew;
  const next = (picked: readonly number[]): Domains =>
    countedDomains(constraint, fleet, grown(counts, fleet, picked), fixes);
  return { constraint, fleet, counts, smallest, isViolatedAt, changeAt, next };
}

interface Extremes {
  /** How many domains there are. */
  readonly size: number;
  readonly smallest: number;
  /** With multiplicity: the smallest one if two domains have that, or there is only one. */
  readonly secondSmallest: number;
  readonly largest: number;
}

function extremesOf(counts: readonly number[]): Extremes {
  let size = 0;
  let smallest = Number.POSITIVE_INFINITY;
  let secondSmallest = Number.POSITIVE_INFINITY;
  let largest = 0;
  for (const count of counts) {
    if (count < 0) continue;
    size += 1;
    if (count < smallest) {
      secondSmallest = smallest;
      smallest = count;
    } else if (count < secondSmallest) secondSmallest = count;
    if (count > largest) largest = count;
  }
  if (size === 0) smallest = 0;
  return { size, smallest, secondSmallest: size < 2 ? smallest : secondSmallest, largest };
}

interface SpreadVerdict {
  readonly score: number;
  /** The first DoNotSchedule constraint that one more would violate. */
  readonly refusedBy: Domains | null;
}

function judgeCandidate(all: readonly Domains[], place: number): SpreadVerdict {
  let score = 0;
  for (const domains of all) {
    const count = countAt(domains, place);
    if (count === undefined) continue;
    if (!domains.isViolatedAt(count)) score -= domains.changeAt(count);
    else if (domains.constraint.whenUnsatisfiable === "ScheduleAnyway") score += penalty;
    else return { score: 0, refusedBy: domains };
  }
  return { score, refusedBy: null };
}

function refusalText(domains: Domains, candidate: Candidate, place: number): string {
  const { topologyKey, maxSkew } = domains.constraint;
  const domain = domainOf(candidate, topologyKey) ?? "";
  const clusters = clustersText(countAt(domains, place) ?? 0);
  return `${topologyKey}=${domain} has ${clusters} of it, and the fewest is ${domains.smallest}: one more exceeds maxSkew ${maxSkew}`;
}

/** The skew over the values of a label, and what it becomes with one more cluster in the domain of a candidate. */
function skewText(domains: Domains, candidate: Candidate, place: number): string {
  const { topologyKey, maxSkew } = domains.constraint;
  const count = countAt(domains, place);
  if (count === undefined) return `it has no ${topologyKey}`;
  const domain = domainOf(candidate, topologyKey);
  const after = skewOf(grown(domains.counts, domains.fleet, [place]));
  return `${topologyKey}=${domain} has ${clustersText(count)} of it; one more makes the skew ${skewOf(domains.counts)} → ${after} of at most ${maxSkew}`;
}

function skewOf(counts: readonly number[]): number {
  const { smallest, largest } = extremesOf(counts);
  return largest - smallest;
}

const clustersText = (count: number): string => (count === 1 ? "1 cluster" : `${count} clusters`);
