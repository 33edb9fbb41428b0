import { canonicalJson, digestOf, type Json, sameJson } from "../model/json.ts";
import type { PolicySnapshot } from "../model/ledger.ts";
import type { ClusterTerm, PlacementPolicy, Preference, Toleration } from "../model/placement.ts";
import type { Digest, LabelSelector } from "../model/value.ts";

/** What limits the history of policy snapshots. */
interface PolicyHistory {
  /** How many to keep, including the latest; at least 1. */
  readonly historyLimit: number;
  /** Indices that a binding or an unfinished run names: never trimmed. */
  readonly inUse: ReadonlySet<number>;
}

/**
 * The policy snapshots once `policy` is in force (`schedule/README.md#policy-snapshots`). Gives back `before` when
 * nothing changes.
 *
 * A new snapshot makes every binding obsolete, so that all are judged again. A new number of clusters, another order of
 * an unordered list and additional tolerations change no earlier judgement: they are written into the latest snapshot
 * (`#a-54`). History is trimmed on every pass, oldest first, except what is still named (`render/README.md#a-51`,
 * `#a-52`).
 */
export function nextPolicySnapshots(
  before: readonly PolicySnapshot[],
  policy: PlacementPolicy,
  { historyLimit, inUse }: PolicyHistory,
): readonly PolicySnapshot[] {
  const latest = before.at(-1);
  const current = latest === undefined ? firstSnapshot(policy) : withPolicy(latest, policy);
  const history = current.index === latest?.index ? before.slice(0, -1) : before;
  const firstKept = history.length - (historyLimit - 1);
  const kept = history.filter((it, at) => at >= firstKept || inUse.has(it.index));
  return current === latest && kept.length === history.length ? before : [...kept, current];
}

const firstSnapshot = (policy: PlacementPolicy): PolicySnapshot => ({
  index: 0,
  hash: policyHash(policy),
  policy,
  verdict: null,
});

function withPolicy(latest: PolicySnapshot, policy: PlacementPolicy): PolicySnapshot {
  // A policy is JSON: the types are narrower only.
  if (sameJson(latest.policy as unknown as Json, policy as unknown as Json)) return latest;
  const hash = policyHash(policy);
  if (hash === latest.hash || onlyAddsTolerations(latest.policy, policy)) return { ...latest, hash, policy };
  return { index: latest.index + 1, hash, policy, verdict: null };
}

/** Identity of a policy, regardless of its number of clusters and the order of its lists. */
export const policyHash = (policy: PlacementPolicy): Digest => digestOf(normalForm(policy));

/** A cluster that was picked with fewer tolerations would be picked with more. */
function onlyAddsTolerations(before: PlacementPolicy, after: PlacementPolicy): boolean {
  if (before.kind === "PickFixed" || after.kind === "PickFixed") return false;
  const kept = new Set(tolerationTexts(after.tolerations));
  return (
    tolerationTexts(before.tolerations).every((it) => kept.has(it)) &&
    policyHash({ ...before, tolerations: [] }) === policyHash({ ...after, tolerations: [] })
  );
}

function normalForm(policy: PlacementPolicy): Json {
  switch (policy.kind) {
    case "PickAll":
      return { kind: policy.kind, ...conditionsOf(policy) };
    case "PickN": {
      const preferred = policy.preferred.map(({ weight, preference }) => ({
        weight,
        preference: preferenceForm(preference),
      }));
      const spread = policy.spread.map((it) => canonicalJson({ ...it }));
      return {
        kind: policy.kind,
        ...conditionsOf(policy),
        preferred: preferred.map(canonicalJson).sort(),
        // Constraints are ANDed, and their scores add up.
        ...(spread.length === 0 ? {} : { spread: [...spread].sort() }),
      };
    }
    case "PickFixed":
      return { kind: policy.kind, clusterNames: [...new Set(policy.clusterNames)].sort() };
  }
}

interface Conditions {
  readonly required: readonly ClusterTerm[];
  readonly tolerations: readonly Toleration[];
}

const conditionsOf = ({ required, tolerations }: Conditions): { readonly [key: string]: Json } => ({
  required: distinct(required.map((it) => canonicalJson(termForm(it)))),
  tolerations: distinct(tolerationTexts(tolerations)),
});

const tolerationTexts = (tolerations: readonly Toleration[]): readonly string[] =>
  tolerations.map(({ key, operator, value, effect }) => canonicalJson({ key, operator, value, effect }));

/** Absent and empty select the same: everything. */
const termForm = ({ labelSelector, properties }: ClusterTerm): Json => {
  const selector = selectorForm(labelSelector ?? {});
  if (properties.length === 0) return selector;
  return { selector, properties: distinct(properties.map((it) => canonicalJson({ ...it }))) };
};

const preferenceForm = ({ labelSelector, sorter }: Preference): Json => {
  const selector = selectorForm(labelSelector ?? {});
  return sorter === null ? selector : { selector, sorter: { ...sorter } };
};

const selectorForm = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Json => ({
  matchLabels,
  matchExpressions: distinct(
    matchExpressions.map(({ key, operator, values = [] }) =>
      canonicalJson({ key, operator, values: distinct(values) }),
    ),
  ),
});

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort();
