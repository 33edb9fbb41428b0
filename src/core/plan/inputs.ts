import { digestOf } from "../model/digest.ts";
import { defaultFleet } from "../model/fleet.ts";
import type { Json } from "../model/json.ts";
import { type ObjectKey, objectKey, type SourcedManifest } from "../model/manifest.ts";
import type { OverrideSnapshot } from "../model/override.ts";
import {
  fleetDocument,
  type PastDocument,
  placementDocument,
  runDocument,
  type Said,
  strategyDocument,
} from "../model/past-document.ts";
import type { Placement, PlacementSpec } from "../model/placement.ts";
import type { RunRecord } from "../model/run-record.ts";
import { selectorKeys } from "../model/selector.ts";
import { type ClusterName, compareText, type Labels } from "../model/value.ts";
import { overridesOf, overridesOn } from "../render/applicable.ts";
import { selectResources } from "../render/select.ts";
import { actingRules, type Decided, type Subject } from "./decided.ts";

/**
 * What a decision read: given a document, as it is or as it once was, what of it the decision reads, or would have read
 * had it stood there then; null for nothing. Two versions of which the same is read are the same to the decision.
 *
 * This is all that says who has a part in a change (`security.md` §2.4, 8): who changed what is read, and nobody else.
 */
export interface Inputs {
  readonly read: (document: PastDocument) => Json | null;
  /** Where what is read stands: of a file there that cannot be taken apart, all of it counts. */
  readonly paths: ReadonlySet<string>;
  /** The folders that are read. */
  readonly roots: readonly string[];
}

/** The change of some clusters: what they carry, and what they are to carry. Null: nothing. */
export interface Course {
  /** Of one of the clusters. */
  readonly subject: Subject;
  /** All that go the same way. */
  readonly clusters: ReadonlySet<ClusterName>;
  readonly carried: Decided | null;
  readonly wanted: Decided | null;
  /** The run that brings it, if its gate asks: then the run and its strategy are read as well. */
  readonly run: RunRecord | null;
}

/** Everything that the decision about one cluster read, now and when it was decided last. */
export function inputsOf(course: Course): Inputs {
  const { subject, carried, wanted } = course;
  const { intent, record } = subject;
  const placement = intent.placements.get(record.key);
  const both = [carried, wanted].flatMap((it) => it ?? []);
  const paths = pathsOf(course);
  // Nothing of a placement that is gone matters any more but that it went.
  const isGone = placement === undefined && wanted === null;
  const readers: readonly Reader[] = isGone
    ? [placementReader(course), fleetReader(course, paths)]
    : [
        manifestReader(course, both),
        overrideReader(course, both),
        clusterReader(course, both),
        placementReader(course),
        fleetReader(course, paths),
        rolloutReader(course),
      ];
  return { read: (document) => firstOf(readers, document), paths, roots: intent.fleet.roots };
}

/** What one kind of document means to a decision; null where it means nothing, or is another kind. */
export type Reader = (document: PastDocument) => Json | null;

function firstOf(readers: readonly Reader[], document: PastDocument): Json | null {
  for (const read of readers) {
    const found = read(document);
    if (found !== null) return found;
  }
  return null;
}

const json = (value: unknown): Json => value as Json;

/** Whether the scheduler's word is asked for: the cluster gets the placement, or loses it. */
const isPicked = ({ carried, wanted }: Course): boolean => carried === null || wanted === null;

function pathsOf({ subject: { intent, record, binding }, carried, wanted }: Course): ReadonlySet<string> {
  const placement = intent.placements.get(record.key);
  if (placement === undefined && wanted === null) return new Set();
  const names = new Set([carried, wanted].flatMap((it) => it?.overrides.map(({ override }) => override) ?? []));
  return new Set([
    ...[carried, wanted].flatMap((it) => it?.resources.map(({ path }) => path) ?? []),
    ...[placement, intent.clusters.get(binding.cluster)].flatMap((it) => it?.source.path ?? []),
    ...intent.overrides.filter((it) => names.has(it.name)).map((it) => it.source.path),
  ]);
}

/** Objects that are selected, and the definitions of their kinds. */
function manifestReader({ subject: { intent, record } }: Course, both: readonly Decided[]): Reader {
  const known = new Set(both.flatMap((it) => it.resources.map(({ id }) => objectKey(id))));
  const kinds = new Set(both.flatMap((it) => it.resources.map(({ id }) => `${id.group}/${id.kind}`)));
  const placement = intent.placements.get(record.key);
  // Of its own, so that what the placement selected last stays remembered.
  const asking = placement === undefined ? null : { ...placement };
  const namespaces = [...intent.objects].filter(([, { id }]) => id.kind === "Namespace" && id.group === "");
  return ({ key, said }) => {
    if (said.kind === "unusable") return known.has(key) ? "unusable" : null;
    if (said.kind !== "manifest") return null;
    const isRead = known.has(key) || kinds.has(kindDefinedBy(said)) || (asking !== null && selects(asking, said));
    return isRead ? said.digest : null;
  };

  function selects(by: Placement, said: Extract<Said, { kind: "manifest" }>): boolean {
    const source = { path: "", document: 0, line: 1, column: 1 };
    const object: SourcedManifest = { id: said.id, manifest: said.manifest, digest: said.digest, source };
    const key = objectKey(said.id);
    const selection = selectResources(by, { objects: new Map([...namespaces, [key, object]]), scopes: intent.scopes });
    return selection.kind === "refused" || selection.resources.some((it) => objectKey(it.id) === key);
  }
}

/** The `group/Kind` that a CustomResourceDefinition defines; empty for other objects. */
function kindDefinedBy({ id, manifest }: Extract<Said, { kind: "manifest" }>): string {
  if (id.kind !== "CustomResourceDefinition" || id.group !== "apiextensions.k8s.io") return "";
  const { group, names } = (manifest["spec"] ?? {}) as { readonly group?: string; readonly names?: { kind?: string } };
  return `${group ?? ""}/${names?.kind ?? ""}`;
}

/** Overrides that act on the cluster, by what it is or was: those of their rules that match. */
function overrideReader({ subject: { record, intent } }: Course, both: readonly Decided[]): Reader {
  const resources = both.flatMap((it) => it.resources);
  const labels = both.map((it) => it.labels);
  return ({ said }) => {
    if (said.kind !== "override") return null;
    const { namespace, name, spec } = said.override;
    const snapshot: OverrideSnapshot = { name, namespace, override: name, index: 0, spec };
    if (overridesOf(record.key, resources, [snapshot], intent.scopes).length === 0) return null;
    if (!labels.some((it) => overridesOn(it, [snapshot]).length > 0)) return null;
    return [json(spec.selectors), ...labels.map((it) => [...actingRules(snapshot, it)])];
  };
}

/** The cluster itself: the labels that were looked at, and, where the scheduler is asked, all that it goes by. */
function clusterReader(course: Course, both: readonly Decided[]): Reader {
  const { clusters, subject } = course;
  const { record, intent } = subject;
  const { policy } = intent.placements.get(record.key)?.spec ?? record.spec;
  const policies = [policy, record.spec.policy];
  const consulted = new Set(both.flatMap((it) => [...it.lookedAt]));
  const asked = isPicked(course) ? new Set([...consulted, ...policies.flatMap(labelsOf)]) : consulted;
  return ({ key, said }) => {
    if (said.kind !== "cluster") return null;
    const { name, labels, taints, properties, resourceUsage, spec } = said.cluster;
    if (!clusters.has(name) && !(isPicked(course) && policies.some((it) => it.kind === "PickN"))) return null;
    const own = [key, json(only(labels, asked))];
    return isPicked(course) ? [...own, json(taints), properties, json(resourceUsage), spec] : own;
  };
}

export const only = (labels: Labels, keys: ReadonlySet<string>): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => keys.has(key)));

function labelsOf(policy: PlacementSpec["policy"]): readonly string[] {
  if (policy.kind === "PickFixed") return [];
  const preferred = policy.kind === "PickN" ? policy.preferred.map((it) => it.preference) : [];
  return [...policy.required, ...preferred].flatMap(({ labelSelector }) =>
    labelSelector === null ? [] : selectorKeys(labelSelector),
  );
}

/** The placement: what it selects and how that is applied; all of it where the scheduler is asked. */
function placementReader(course: Course): Reader {
  const own = placementDocument(course.subject.record);
  return ({ key, said }) => {
    if (key !== own) return null;
    if (said.kind !== "placement") return "unusable";
    const { spec } = said.placement;
    if (isPicked(course)) return json(spec);
    return json([spec.resourceSelectors, spec.strategy.type, spec.strategy.applyStrategy]);
  };
}

/** `fleet.yaml`: whether it reads the files that matter, which member the cluster is, and how the scheduler goes about it. */
function fleetReader(course: Course, paths: ReadonlySet<string>): Reader {
  const { subject, clusters, carried, wanted } = course;
  const { intent, record } = subject;
  const standing = new Set(intent.overrides.map((it) => `${it.namespace ?? ""}/${it.name}`));
  // Where something stood that is gone, nobody knows any more.
  const isLost =
    !intent.placements.has(record.key) ||
    [carried, wanted].some((it) => it?.overrides.some((o) => !standing.has(`${o.namespace ?? ""}/${o.override}`)));
  return ({ key, said }) => {
    if (key !== fleetDocument) return null;
    const {
      roots,
      profile,
      contexts,
      guards: _,
      unsignedApprovals: __,
      ...rest
    } = said.kind === "fleet" ? said.fleet : defaultFleet;
    const found = isLost ? [...roots] : [...paths].map((path) => isUnder(path, roots));
    const renamed = [...contexts].filter(([name]) => clusters.has(name));
    return [found, json(renamed), isPicked(course) ? profile : null, json(rest)];
  };
}

/** Whether a path lies in one of the roots; no root means everywhere. */
export const isUnder = (path: string, roots: readonly string[]): boolean =>
  roots.length === 0 || roots.some((it) => path.startsWith(`${it}/`));

/** What makes it go, or leave: the run whose gate asks, its strategy, any run where only runs move it, and evictions. */
function rolloutReader({ subject: { record }, clusters, run, wanted }: Course): Reader {
  const { type } = record.spec.strategy;
  const strategy = run === null ? null : strategyDocument(strategyOf(run));
  const isOwn = (key: ObjectKey, it: { readonly placement: string }): boolean =>
    run === null ? type === "External" && it.placement === record.key : key === runDocument(run);
  return ({ key, said }) => {
    switch (said.kind) {
      case "run":
        return isOwn(key, said.run.spec) ? json(said.run.spec) : null;
      case "strategy":
        return key === strategy ? json(said.strategy) : null;
      case "eviction": {
        const { placement, cluster } = said.eviction;
        return wanted === null && placement === record.key && clusters.has(cluster) ? [placement, cluster] : null;
      }
      case "budget":
        return wanted === null && said.budget.placement === record.key ? json(said.budget) : null;
      default:
        return null;
    }
  };
}

function strategyOf({ scope, namespace, spec }: RunRecord): Parameters<typeof strategyDocument>[0] {
  const name = namespace === null ? spec.strategy : spec.strategy.slice(namespace.length + 1);
  return { scope, namespace, name };
}

/** Clusters of which this is the same go the same way. */
export const courseDigest = ({ carried, wanted }: Pick<Course, "carried" | "wanted">): string =>
  digestOf([decision(carried), decision(wanted)]);

const decision = (it: Decided | null): Json =>
  it === null
    ? null
    : [
        it.resources.map(({ digest, path }) => [digest, path]),
        it.overrides.map(({ namespace, name }) => [namespace, name]),
        json(only(it.labels, it.lookedAt)),
        [...it.lookedAt].sort(compareText),
      ];
