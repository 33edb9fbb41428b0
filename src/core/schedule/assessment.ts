import { clusterGrantsOf } from "../model/fleet.ts";
import type { Intent } from "../model/intent.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { ClusterName, Instant } from "../model/value.ts";
import {
  type Candidate,
  type Cycle,
  candidatesIn,
  classify,
  clustersIn,
  cycleBindingOf,
  sortedCycle,
} from "./framework/cycle.ts";
import { bestOfAll, fitsAll, preparedAgain, preparePlugins } from "./framework/judging.ts";
import type { Prepared } from "./framework/plugin.ts";
import { notGranted, tenantClusters } from "./plugins/tenant-clusters.ts";
import { type Profile, profiles } from "./profile.ts";

/** How one member stands to a placement as things are now. For people to read: nothing is decided by it. */
export interface Assessment {
  readonly cluster: ClusterName;
  /** Whether the placement is there, or is to be. Such a cluster stays even if it would be refused now. */
  readonly isSelected: boolean;
  /** Every plugin that refuses it, in the order in which they filter; none if it fits. */
  readonly refusals: readonly Refusal[];
  /** What the plugins computed with. */
  readonly numbers: readonly string[];
  /** Its place among the clusters that fit and are not selected, from 1; null for all others. */
  readonly rank: number | null;
  /** One of the two that would be picked first if more were wanted, or that the fewest plugins refuse. */
  readonly isNearest: boolean;
}

interface Refusal {
  readonly plugin: string;
  readonly because: string;
  /** What would have to change; null where the plugin knows nothing to do. */
  readonly remedy: string | null;
}

const nearestCount = 2;

/** {@link assessClusters} of a placement as it is recorded, over the members that the files declare. */
export function assessPlacement(
  { key, spec, namespace, policySnapshots, bindings }: PlacementRecord,
  { intent, ledger, now }: { readonly intent: Intent; readonly ledger: Ledger; readonly now: Instant },
): readonly Assessment[] {
  const latest = policySnapshots.at(-1);
  const source = intent.placements.get(key)?.source;
  const cycle = {
    policy: spec.policy,
    namespace,
    grants: source === undefined ? [] : clusterGrantsOf(source, intent.tenants),
    candidates: candidatesIn(intent.clusters, ledger.clusters),
    cycleBindings: [...bindings.values()].map((it) => cycleBindingOf(it, latest?.index ?? 0)),
    recorded: latest?.verdict?.decisions ?? [],
    now,
  };
  return assessClusters(cycle, profiles[intent.fleet.profile]);
}

/**
 * Judges every member anew, by all plugins (`schedule/README.md#an-assessment`). A selected cluster is judged as if the
 * placement were everywhere else but there. PickFixed asks no plugin: only whether a cluster is named counts.
 */
export function assessClusters(unordered: Cycle, { plugins }: Profile): readonly Assessment[] {
  const cycle = sortedCycle(unordered);
  const { policy } = cycle;
  if (policy.kind === "PickFixed") return cycle.candidates.map((it) => namedOrNot(it, policy.clusterNames, cycle));
  const { scheduled, bound, obsolete, unscheduled } = classify(cycle);
  const holders = clustersIn([...scheduled, ...bound, ...obsolete]);
  const leaving = clustersIn(unscheduled);
  const situation = { ...cycle, holders, leaving, obsolete: new Set<ClusterName>() };
  const present = preparePlugins(situation, plugins);
  const others = cycle.candidates.filter((it) => !holders.has(it.cluster.name));
  const ranked = bestOfAll(
    others.filter((it) => fitsAll(present, it)),
    present,
    others.length,
  );
  const ranks = new Map(ranked.map((it, at) => [it.candidate.cluster.name, at + 1]));
  const assessed = cycle.candidates.map((candidate): Omit<Assessment, "isNearest"> => {
    const { name } = candidate.cluster;
    const isSelected = holders.has(name);
    const elsewhere = isSelected ? new Set([...holders].filter((it) => it !== name)) : holders;
    const prepared = isSelected ? preparedAgain(present, { ...situation, holders: elsewhere }, null) : present;
    return {
      cluster: name,
      isSelected,
      refusals: refusalsOf(candidate, prepared),
      numbers: prepared.plugins.flatMap(({ plugin, at }) =>
        (at.numbers?.(candidate) ?? []).map((it) => `${plugin.name}: ${it}`),
      ),
      rank: ranks.get(name) ?? null,
    };
  });
  const nearest = nearestOf(assessed);
  return assessed.map((it) => ({ ...it, isNearest: nearest.has(it.cluster) }));
}

function namedOrNot(
  { cluster }: Candidate,
  clusterNames: readonly ClusterName[],
  { grants }: Pick<Cycle, "grants">,
): Assessment {
  const isNamed = clusterNames.includes(cluster.name);
  const beyond = notGranted(cluster, grants);
  return {
    cluster: cluster.name,
    isSelected: isNamed && beyond === null,
    refusals: [
      ...(isNamed
        ? []
        : [{ plugin: "PickFixed", because: "the policy does not name it", remedy: "add it to clusterNames" }]),
      ...(beyond === null
        ? []
        : [{ plugin: tenantClusters.name, because: beyond, remedy: "have it granted, or name another one" }]),
    ],
    numbers: [],
    rank: null,
    isNearest: false,
  };
}

const refusalsOf = (candidate: Candidate, { plugins }: Prepared): readonly Refusal[] =>
  plugins.flatMap(({ plugin, at }) =>
    at.filter?.(candidate) === "unschedulable"
      ? [
          {
            plugin: plugin.name,
            because: at.because?.(candidate) ?? "it does not fit",
            remedy: at.remedy?.(candidate) ?? null,
          },
        ]
      : [],
  );

/** Orders clusters that are not selected: those that fit, best first; then those that the fewest plugins refuse. */
export const compareNearness = (a: Nearness, b: Nearness): number =>
  a.refusals.length - b.refusals.length || (a.rank ?? 0) - (b.rank ?? 0);

type Nearness = Pick<Assessment, "refusals" | "rank">;

const nearestOf = (assessed: readonly Omit<Assessment, "isNearest">[]): ReadonlySet<ClusterName> =>
  new Set(
    assessed
      .filter((it) => !it.isSelected)
      .sort(compareNearness)
      .slice(0, nearestCount)
      .map((it) => it.cluster),
  );
