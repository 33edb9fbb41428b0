import type { Binding, Target } from "../../model/binding.ts";
import type { Intent } from "../../model/intent.ts";
import { digestOf, type Json } from "../../model/json.ts";
import type { Ledger, PlacementRecord, SnapshotResource } from "../../model/ledger.ts";
import { memberNameLabel } from "../../model/names.ts";
import type { OverrideRule, OverrideSnapshot } from "../../model/override.ts";
import type { RunPlan, RunRecord } from "../../model/update-run.ts";
import type { ClusterName, Labels } from "../../model/value.ts";
import { labelsLookedAt, matchesRule, overridesOf, overridesOn } from "../../render/applicable-overrides.ts";
import { latestOf, nextOverrideSnapshots, overrideSnapshotKey } from "../../render/override-snapshot.ts";
import { snapshotOf } from "../../render/resource-snapshot.ts";
import { plannedIn } from "../../rollout/run-plan.ts";

/** What one cluster carries, or is to carry, and what that was decided by. */
export interface ClusterContent {
  readonly resources: readonly SnapshotResource[];
  /** Those that act on the cluster. */
  readonly overrides: readonly OverrideSnapshot[];
  readonly labels: Labels;
  /** The keys of labels that were looked at, whether or not the cluster has them. */
  readonly lookedAt: ReadonlySet<string>;
}

/** What is said about a placement on one cluster, as the ledger and the intent have it. */
export interface BindingSubject {
  readonly record: PlacementRecord;
  readonly binding: Pick<Binding, "cluster" | "target">;
  readonly intent: Intent;
  readonly overrides: readonly OverrideSnapshot[];
}

/** The change of some clusters: what they carry, and what they are to carry. Null: nothing. */
export interface ClusterUpdate {
  /** Of one of the clusters. */
  readonly subject: BindingSubject;
  /** All that go the same way. */
  readonly clusters: ReadonlySet<ClusterName>;
  readonly carried: ClusterContent | null;
  readonly wanted: ClusterContent | null;
  /** The run that brings it, if its gate asks: then the run and its strategy are read as well. */
  readonly run: RunRecord | null;
}

type Carried = Pick<Target, "resourceIndex" | "clusterOverrides" | "resourceOverrides" | "labels">;

/** What a target, or a run's plan, was decided by. */
function contentBy(
  { resourceIndex, clusterOverrides, resourceOverrides, labels }: Carried,
  { record, overrides, binding }: BindingSubject,
): ClusterContent {
  const names = new Set([...clusterOverrides, ...resourceOverrides]);
  const acting = overrides.filter((it) => names.has(overrideSnapshotKey(it)));
  const lookedAt = new Set([...Object.keys(labels), ...labelsLookedAt(acting, binding.cluster)]);
  return { resources: snapshotOf(record, resourceIndex)?.resources ?? [], overrides: acting, labels, lookedAt };
}

/** What the cluster carries; null when it carries nothing of the placement. */
export const carriedBy = (subject: BindingSubject): ClusterContent | null =>
  subject.binding.target === null ? null : contentBy(subject.binding.target, subject);

/** What a run's plan gives a cluster; null when it gives it nothing. */
export function plannedBy(plan: RunPlan, subject: BindingSubject): ClusterContent | null {
  const planned = plannedIn(plan).get(subject.binding.cluster);
  return planned === undefined ? null : contentBy({ ...planned, resourceIndex: plan.resourceIndex }, subject);
}

/** What the cluster is to carry by what the repository says now. */
export function wantedBy({ record, binding, intent, overrides }: BindingSubject): ClusterContent {
  const { scopes } = intent;
  const labels = intent.clusters.get(binding.cluster)?.labels ?? { [memberNameLabel]: binding.cluster };
  const resources = record.resourceSnapshots.at(-1)?.resources ?? [];
  const latest = latestOf(nextOverrideSnapshots(overrides, intent.overrides, new Set()), intent.overrides);
  const candidates = overridesOf(record.key, resources, latest, scopes);
  const lookedAt = labelsLookedAt(candidates, binding.cluster);
  return { resources, overrides: overridesOn(labels, candidates), labels, lookedAt };
}

/** What of an override acts on a cluster, by the digests of its rules: those that match these labels. */
export const actingRules = ({ spec }: Pick<OverrideSnapshot, "spec">, labels: Labels): readonly string[] =>
  spec.rules.filter((it) => matchesRule(it.clusters, labels)).map(ruleDigest);

export const ruleDigest = (rule: OverrideRule): string => digestOf(rule as unknown as Json);

/** Who is to carry what by the plan of a run, the newest first; null where no run says so. */
export function planWithContent(
  content: string,
  { record, binding }: BindingSubject,
  runs: Ledger["runs"],
): RunPlan | null {
  const plans = [...runs.values()]
    .filter((it) => it.spec.placement === record.key && it.plan !== null)
    .sort((a, b) => b.since - a.since)
    .flatMap((it) => it.plan ?? []);
  return plans.find((it) => contentOf(it, binding.cluster) === content) ?? null;
}

function contentOf(plan: RunPlan, cluster: Binding["cluster"]): string | null {
  const planned = plannedIn(plan).get(cluster);
  return planned === undefined ? null : digestOf([planned.digest, plan.applyStrategy as unknown as Json]);
}
