import type { MemberCluster } from "../model/fleet.ts";
import { overrideDocumentKey } from "../model/history.ts";
import type { Intent } from "../model/intent.ts";
import { sameJson } from "../model/json.ts";
import { placedText, type ScopeTable, type SourcedManifest } from "../model/manifest.ts";
import type { Override, OverrideSnapshot } from "../model/override.ts";
import { mayPick } from "../model/placement.ts";
import type { ClusterName, PlacementKey } from "../model/value.ts";
import {
  dependsOnName,
  labelsLookedAt,
  matchesRule,
  overrideKeysOf,
  overridesOf,
  selectorKeysOf,
} from "./applicable-overrides.ts";
import { overrideManifest } from "./override-manifest.ts";
import { nextOverrideSnapshots } from "./override-snapshot.ts";
import { selectResources } from "./select.ts";
import { hasVariableKey, holdsVariable, stringsIn, variableLabels } from "./variables.ts";

/** What showed when an override was tried on the clusters that it matches (`render/README.md#trying-overrides`). */
export type OverrideFinding = { readonly override: Override } & (
  | FailingOverride
  /** What it selects is there already as the override wants it, or another one takes it away. */
  | { readonly kind: "idle"; readonly clusters: readonly ClusterName[]; readonly placements: readonly PlacementKey[] }
  /** It fails for more reasons than are told. */
  | { readonly kind: "more"; readonly reasons: number }
  /** There is more to try than this many times. */
  | { readonly kind: "cut"; readonly tries: number }
);

/** Nothing of the placements reaches the clusters. None of the lists is empty. */
export interface FailingOverride {
  readonly kind: "fails";
  /** From 0. */
  readonly rule: number;
  /** From 0; null for all of the rule. */
  readonly operation: number | null;
  /** Holds paths and keys of labels, never values. */
  readonly reason: string;
  readonly clusters: readonly ClusterName[];
  readonly placements: readonly PlacementKey[];
  /** In words. */
  readonly objects: readonly string[];
}

/** How often an override is tried: once for every object and every group of clusters that it does the same on. */
export const maxTries = 5000;

/** For how many different reasons an override is said to fail. */
const maxReasons = 5;

type Tried = Pick<Intent, "clusters" | "placements" | "overrides" | "objects" | "scopes">;

/**
 * Tries every override of a commit on all clusters that its files declare, and that a placement may pick by their labels.
 * What is the same on many clusters is one finding; in the order of the overrides. No member is asked.
 */
export function overrideFindings(intent: Tried): readonly OverrideFinding[] {
  if (intent.overrides.length === 0 || intent.clusters.size === 0) return [];
  const snapshots = nextOverrideSnapshots([], intent.overrides, new Set());
  const trials = new Map(snapshots.map((it) => [it, trialOf(it)]));
  for (const placement of intent.placements.values()) {
    const selection = selectResources(placement, intent);
    if (selection.kind === "refused") continue;
    const candidates = overridesOf(placement.key, selection.resources, snapshots, intent.scopes);
    if (candidates.length === 0) continue;
    const members = [...intent.clusters.values()].filter((it) => mayPick(placement.spec.policy, it));
    for (const chain of chainsOf(selection.resources, candidates, intent.scopes))
      tryChain(chain, { placement: placement.key, members, trials });
  }
  const written = new Map(intent.overrides.map((it) => [overrideDocumentKey(it), it]));
  return snapshots.flatMap((it) => {
    const override = written.get(overrideDocumentKey({ namespace: it.namespace, name: it.override }));
    const trial = trials.get(it);
    return override === undefined || trial === undefined ? [] : findingsOf(override, trial);
  });
}

/** Objects on which the same overrides act, in their order. */
interface Chain {
  readonly overrides: readonly OverrideSnapshot[];
  readonly objects: readonly SourcedManifest[];
}

function chainsOf(
  objects: readonly SourcedManifest[],
  candidates: readonly OverrideSnapshot[],
  scopes: ScopeTable,
): Iterable<Chain> {
  const reached = candidates.map((override) => ({ override, keys: new Set(selectorKeysOf(override)) }));
  const chains = new Map<string, { overrides: readonly OverrideSnapshot[]; objects: SourcedManifest[] }>();
  for (const object of objects) {
    const keys = overrideKeysOf(object.id, scopes);
    const mine = reached.filter((it) => keys.some((key) => it.keys.has(key)));
    if (mine.length === 0) continue;
    const name = mine.map((it) => candidates.indexOf(it.override)).join();
    const chain = chains.get(name) ?? { overrides: mine.map((it) => it.override), objects: [] };
    chain.objects.push(object);
    chains.set(name, chain);
  }
  return chains.values();
}

/** What an override does on a cluster. */
interface Acting {
  /** In short: clusters with the same text are alike. Empty where no rule matches. */
  readonly kind: string;
  /** Whether it differs from cluster to cluster. */
  readonly isVariable: boolean;
}

/** What is known of an override while it is tried. */
interface Trial {
  readonly placements: Set<PlacementKey>;
  readonly matched: Set<ClusterName>;
  /** It changes something there, or may. */
  readonly changed: Set<ClusterName>;
  readonly failures: Map<string, Failure>;
  readonly actingOn: (cluster: MemberCluster) => Acting;
  tries: number;
}

interface Failure extends Pick<FailingOverride, "rule" | "operation" | "reason"> {
  readonly groups: Set<Alike>;
  readonly placements: Set<PlacementKey>;
  readonly objects: Set<string>;
}

function trialOf(override: OverrideSnapshot): Trial {
  const { rules } = override.spec;
  const values = rules.map(({ action }) =>
    action.kind === "JSONPatch" ? action.operations.map((operation) => operation.value) : [],
  );
  const texts = values.map((it) => it.flatMap((value) => [...stringsIn(value)].filter(holdsVariable)));
  // What a later operation finds may depend on a key.
  const isAlone = values.some((it) => it.some(hasVariableKey));
  // The labels that tell clusters apart; null where that takes their names.
  const looksAt = isAlone || dependsOnName(override) ? null : [...labelsLookedAt([override], "")];
  const known = new Map<string, Acting>();
  return {
    placements: new Set(),
    matched: new Set(),
    changed: new Set(),
    failures: new Map(),
    actingOn: (cluster) => {
      const { name, labels } = cluster;
      const like =
        looksAt === null ? name : looksAt.map((it) => (Object.hasOwn(labels, it) ? labels[it] : "\0")).join("\n");
      const found = known.get(like) ?? actingOf(rules, texts, cluster, isAlone);
      known.set(like, found);
      return found;
    },
    tries: 0,
  };
}

function actingOf(
  rules: OverrideSnapshot["spec"]["rules"],
  texts: readonly (readonly string[])[],
  { name, labels }: MemberCluster,
  isAlone: boolean,
): Acting {
  const matches = rules.flatMap(({ clusters }, at) => (matchesRule(clusters, labels) ? [at] : []));
  if (matches.length === 0) return { kind: "", isVariable: false };
  const looked = matches.flatMap((at) => (texts[at] ?? []).flatMap((it) => variableLabels(it, name)));
  const missing = looked.filter((it) => !Object.hasOwn(labels, it));
  return {
    kind: JSON.stringify([matches, missing, isAlone ? name : ""]),
    isVariable: matches.some((at) => (texts[at] ?? []).length > 0),
  };
}

interface Ground {
  readonly placement: PlacementKey;
  readonly members: readonly MemberCluster[];
  readonly trials: ReadonlyMap<OverrideSnapshot, Trial>;
}

/** Clusters on which a chain does the same, the first to try it on. */
type Alike = readonly [MemberCluster, ...MemberCluster[]];

/** An override on a group of clusters. */
interface GroupTrial {
  readonly override: OverrideSnapshot;
  readonly trial: Trial;
  isOfUse: boolean;
}

function tryChain({ overrides, objects }: Chain, { placement, members, trials }: Ground): void {
  const groups = new Map<string, [MemberCluster, ...MemberCluster[]]>();
  for (const member of members) {
    const kinds = overrides.map((it) => trials.get(it)?.actingOn(member).kind ?? "");
    if (kinds.every((it) => it === "")) continue;
    const group = groups.get(kinds.join("\n"));
    if (group === undefined) groups.set(kinds.join("\n"), [member]);
    else group.push(member);
  }
  for (const group of groups.values()) {
    const acting = overrides.flatMap((override): readonly GroupTrial[] => {
      const trial = trials.get(override);
      const does = trial?.actingOn(group[0]);
      if (trial === undefined || does === undefined || does.kind === "") return [];
      return [{ override, trial, isOfUse: does.isVariable }];
    });
    for (const object of objects) tryObject(object, acting, { placement, group });
    for (const { trial, isOfUse } of acting) {
      trial.placements.add(placement);
      for (const { name } of group) {
        trial.matched.add(name);
        if (isOfUse) trial.changed.add(name);
      }
    }
  }
}

function tryObject(
  object: SourcedManifest,
  acting: readonly GroupTrial[],
  { placement, group }: { readonly placement: PlacementKey; readonly group: Alike },
): void {
  const [{ name: cluster, labels }] = group;
  let here = object.manifest;
  for (const [at, act] of acting.entries()) {
    const { override, trial } = act;
    trial.tries += 1;
    const isCut = trial.tries > maxTries;
    const tried = isCut ? null : overrideManifest(object, here, [override], { cluster, labels });
    if (tried === null || tried.kind === "failed") {
      if (tried !== null) noteFailure(trial, tried, { object, placement, group });
      // Of those after it nobody knows.
      for (const later of acting.slice(at + 1)) later.isOfUse = true;
      return;
    }
    act.isOfUse ||= tried.kind === "deleted" || !sameJson(tried.manifest, here);
    if (tried.kind === "deleted") return;
    here = tried.manifest;
  }
}

interface Place {
  readonly object: SourcedManifest;
  readonly placement: PlacementKey;
  readonly group: Alike;
}

function noteFailure(
  { failures }: Trial,
  { rule, operation, reason }: Pick<FailingOverride, "rule" | "operation" | "reason">,
  { object, placement, group }: Place,
): void {
  const key = JSON.stringify([rule, operation, reason]);
  const known: Failure = failures.get(key) ?? {
    ...{ rule, operation, reason },
    ...{ groups: new Set<Alike>(), placements: new Set<PlacementKey>(), objects: new Set<string>() },
  };
  failures.set(key, known);
  known.groups.add(group);
  known.placements.add(placement);
  known.objects.add(placedText(object));
}

const clustersOf = ({ groups }: Failure): readonly ClusterName[] => [
  ...new Set([...groups].flatMap((group) => group.map((it) => it.name))),
];

function findingsOf(override: Override, trial: Trial): readonly OverrideFinding[] {
  const failures = [...trial.failures.values()].sort(
    (a, b) => a.rule - b.rule || (a.operation ?? -1) - (b.operation ?? -1),
  );
  const more = failures.length - maxReasons;
  const failed = new Set(failures.flatMap(clustersOf));
  const idle = [...trial.matched].filter((it) => !trial.changed.has(it) && !failed.has(it));
  const isCut = trial.tries > maxTries;
  return [
    ...failures.slice(0, maxReasons).map(
      (it): OverrideFinding => ({
        kind: "fails",
        override,
        rule: it.rule,
        operation: it.operation,
        reason: it.reason,
        clusters: clustersOf(it),
        placements: [...it.placements],
        objects: [...it.objects],
      }),
    ),
    ...(more > 0 ? [{ kind: "more", override, reasons: more } as const] : []),
    ...(idle.length > 0 && !isCut
      ? [{ kind: "idle", override, clusters: idle, placements: [...trial.placements] } as const]
      : []),
    ...(isCut ? [{ kind: "cut", override, tries: maxTries } as const] : []),
  ];
}
