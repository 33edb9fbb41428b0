import { defaultFleet, isOfTenant } from "../../model/fleet.ts";
import {
  fleetDocumentKey,
  overrideDocumentKey,
  type PastContent,
  type PastDocument,
  placementDocumentKey,
  runDocumentKey,
  strategyDocumentKey,
} from "../../model/history.ts";
import { canonicalJson, digestOf, isObject, type Json, member, sameJson } from "../../model/json.ts";
import {
  documentKeyOf,
  idOf,
  isEnvelope,
  type Manifest,
  type ObjectId,
  type ObjectKey,
  objectKey,
} from "../../model/manifest.ts";
import type { OverrideSnapshot } from "../../model/override.ts";
import type { RunRecord } from "../../model/update-run.ts";
import { type BlobId, compareText } from "../../model/value.ts";
import { actingRules, type ClusterContent, type ClusterUpdate, ruleDigest } from "./cluster-content.ts";
import { clusterReader, isPicked, only, type Reader } from "./cluster-inputs.ts";
import { type DecisionScope, decisionScope, overrideSnapshotOf } from "./decision-scope.ts";
import { isUnder, passingRoots, type Roots, rootsAmong, rootsSince } from "./read-roots.ts";

/**
 * What a decision read: given a document, as it is or as it once was, what of it the decision reads, or would have read
 * had it stood there then; null for nothing. Two versions of which the same is read are the same to the decision.
 *
 * This is all that says who has a part in a change (`trust/README.md#step-8`): who changed what is read, and nobody
 * else.
 */
export interface Inputs {
  readonly read: (document: PastDocument) => Json | null;
  /** Where what is read stands: of a file there that cannot be taken apart, all of it counts. */
  readonly paths: ReadonlySet<string>;
  /** Whether a document says what is carried of it: what led there was decided with it, and counts no more. */
  readonly isCarried: (document: PastDocument) => boolean;
  /** The roots of today, and all that there were since. */
  readonly roots: readonly Roots[];
  /** What stands there now, by path. */
  readonly files: ReadonlyMap<string, BlobId>;
}

/** Documents that commits changed: as they were before one of them, and as one of them left them. */
export interface ChangedDocuments {
  readonly before: readonly PastDocument[];
  readonly after: readonly PastDocument[];
}

/**
 * Everything that the decision about some clusters reads, now and since it was decided last; `changed` is every document
 * that anybody changed since.
 */
export function inputsOf(update: ClusterUpdate, changed: ChangedDocuments): Inputs {
  const { subject, wanted } = update;
  const past = [...new Set([...changed.before, ...changed.after])];
  const { intent, record } = subject;
  const placement = intent.placements.get(record.key);
  const scope = decisionScope(update, past);
  const paths = pathsOf(update);
  const roots = rootsSince(intent.fleet, past);
  // Nothing of a placement that is gone matters any more but that it went.
  const isGone = placement === undefined && wanted === null;
  const readers: readonly Reader[] = isGone
    ? [placementReader(update), fleetReader(update, paths, [])]
    : [
        manifestReader(scope),
        overrideReader(scope),
        clusterReader(update, scope),
        placementReader(update),
        fleetReader(update, paths, passingRoots(rootsSince(intent.fleet, changed.after), update.carried)),
        rolloutReader(update),
      ];
  const { files } = intent;
  return { read: (document) => firstOf(readers, document), isCarried: carriedIn(update), paths, roots, files };
}

/** A target names the overrides that it was decided by, and the labels; when that was, only their text can tell. */
function carriedIn({ clusters, carried }: ClusterUpdate): Inputs["isCarried"] {
  const overrides = new Map(carried?.overrides.map((it) => [sourceKeyOf(it), it]));
  const labels = carried === null ? "" : canonicalJson(json(only(carried.labels, carried.lookedAt)));
  return ({ said }) => {
    if (said.kind === "override") {
      const { override } = said;
      return sameJson(json(override.spec), json(overrides.get(overrideDocumentKey(override))?.spec));
    }
    if (said.kind !== "cluster" || carried === null || !clusters.has(said.cluster.name)) return false;
    return carried.lookedAt.size > 0 && canonicalJson(json(only(said.cluster.labels, carried.lookedAt))) === labels;
  };
}

function firstOf(readers: readonly Reader[], document: PastDocument): Json | null {
  for (const read of readers) {
    const found = read(document);
    if (found !== null) return found;
  }
  return null;
}

const json = (value: unknown): Json => value as Json;

function pathsOf({ subject: { intent, record }, clusters, carried, wanted }: ClusterUpdate): ReadonlySet<string> {
  const placement = intent.placements.get(record.key);
  if (placement === undefined && wanted === null) return new Set();
  const acting = new Set([carried, wanted].flatMap((it) => it?.overrides.map(sourceKeyOf) ?? []));
  return new Set([
    ...[carried, wanted].flatMap((it) => it?.resources.map(({ path }) => path) ?? []),
    ...[placement, ...[...clusters].map((it) => intent.clusters.get(it))].flatMap((it) => it?.source.path ?? []),
    ...intent.overrides.filter((it) => acting.has(overrideDocumentKey(it))).map((it) => it.source.path),
  ]);
}

const sourceKeyOf = ({ namespace, override: name }: OverrideSnapshot): ObjectKey =>
  overrideDocumentKey({ namespace, name });

/** Objects that are selected, and the definitions of their kinds. */
function manifestReader({ resources, selects }: DecisionScope): Reader {
  const known = new Set(resources.map(documentKeyOf));
  const kinds = new Set(resources.map(({ id }) => `${id.group}/${id.kind}`));
  return ({ key, said }) => {
    if (said.kind === "unusable") return known.has(key) ? "unusable" : null;
    if (said.kind !== "manifest") return null;
    return known.has(key) || kindsDefinedBy(said).some((it) => kinds.has(it)) || selects(said) ? said.digest : null;
  };
}

/** The kinds that a CustomResourceDefinition defines, or those that an envelope wraps. */
const kindsDefinedBy = ({ id, manifest }: Extract<PastContent, { kind: "manifest" }>): readonly string[] =>
  isEnvelope(id)
    ? Object.values(member(manifest, "data") ?? {}).flatMap((it) => {
        const wrapped = idOf(it);
        return wrapped === null || !isObject(it) ? [] : [kindDefinedBy(wrapped, it)];
      })
    : [kindDefinedBy(id, manifest)];

/** The `group/Kind` that a CustomResourceDefinition defines; empty for other objects. */
function kindDefinedBy(id: ObjectId, manifest: Manifest): string {
  if (id.kind !== "CustomResourceDefinition" || id.group !== "apiextensions.k8s.io") return "";
  const { group, names } = (manifest["spec"] ?? {}) as { readonly group?: string; readonly names?: { kind?: string } };
  return `${group ?? ""}/${names?.kind ?? ""}`;
}

/** Overrides that act on the cluster, by what it is or was: those of their rules that match. */
const overrideReader =
  ({ labels, reaches }: DecisionScope): Reader =>
  ({ said }) => {
    if (said.kind !== "override") return null;
    const snapshot = overrideSnapshotOf(said.override);
    const { selectors, rules } = snapshot.spec;
    const acting = new Set(labels.flatMap((it) => actingRules(snapshot, it)));
    if (acting.size === 0 || !reaches(snapshot)) return null;
    return [json(selectors), ...rules.map(ruleDigest).filter((it) => acting.has(it))];
  };

/** The placement: what it selects and how that is applied; all of it where the scheduler is asked. */
function placementReader(update: ClusterUpdate): Reader {
  const own = placementDocumentKey(update.subject.record);
  return ({ key, said }) => {
    if (key !== own) return null;
    if (said.kind !== "placement") return "unusable";
    const { spec } = said.placement;
    if (isPicked(update)) return json(spec);
    const { type, applyStrategy, deleteAdopted } = spec.strategy;
    // What becomes of what was there before us matters where something leaves.
    return json([spec.resourceSelectors, type, applyStrategy, isDropping(update) ? deleteAdopted : null]);
  };
}

/** Whether the cluster loses objects; where overrides act on it, they may drop some. */
function isDropping({ carried, wanted }: ClusterUpdate): boolean {
  if (carried === null || wanted === null) return carried !== null;
  if (carried.overrides.length + wanted.overrides.length > 0) return true;
  const keeps = new Set(wanted.resources.map((it) => objectKey(it.id)));
  return carried.resources.some((it) => !keeps.has(objectKey(it.id)));
}

/** `fleet.yaml`: whether it reads the files that matter, which member the cluster is, and how the scheduler goes about it. */
function fleetReader(update: ClusterUpdate, paths: ReadonlySet<string>, passing: readonly string[]): Reader {
  const { subject, clusters, carried, wanted } = update;
  const { intent, record } = subject;
  const standing = new Set(intent.overrides.map(overrideDocumentKey));
  // Where something stood that is gone, nobody knows any more.
  const isLost =
    !intent.placements.has(record.key) ||
    [carried, wanted].some((it) => it?.overrides.some((o) => !standing.has(sourceKeyOf(o))));
  return ({ key, said }) => {
    if (key !== fleetDocumentKey) return null;
    const {
      roots,
      profile,
      contexts,
      guards: _,
      prices,
      collect: __,
      unsignedApprovals: ___,
      tenants,
      ...rest
    } = said.kind === "fleet" ? said.fleet : defaultFleet;
    const found = isLost ? [...roots] : [...[...paths].map((it) => isUnder(it, roots)), ...rootsAmong(passing, roots)];
    const renamed = [...contexts].filter(([name]) => clusters.has(name));
    const granted = tenants.filter((it) => [...paths].some((path) => isOfTenant(path, it)));
    return [found, json(renamed), isPicked(update) ? json([profile, prices]) : null, json(granted), json(rest)];
  };
}

/** What makes it go, or leave: the run whose gate asks, its strategy, any run where only runs move it, and evictions. */
function rolloutReader({ subject: { record }, clusters, run, wanted }: ClusterUpdate): Reader {
  const { type } = record.spec.strategy;
  const strategy = run === null ? null : strategyDocumentKey(strategyOf(run));
  const isOwn = (key: ObjectKey, it: { readonly placement: string }): boolean =>
    run === null ? type === "External" && it.placement === record.key : key === runDocumentKey(run);
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
      case "manifest":
      case "cluster":
      case "placement":
      case "override":
      case "prices":
      case "fleet":
      case "unusable":
        return null;
    }
  };
}

function strategyOf({ scope, namespace, spec }: RunRecord): Parameters<typeof strategyDocumentKey>[0] {
  const name = namespace === null ? spec.strategy : spec.strategy.slice(namespace.length + 1);
  return { scope, namespace, name };
}

/** Clusters of which this is the same go the same way. */
export const updateDigest = ({ carried, wanted }: Pick<ClusterUpdate, "carried" | "wanted">): string =>
  digestOf([contentKey(carried), contentKey(wanted)]);

const contentKey = (it: ClusterContent | null): Json =>
  it === null
    ? null
    : [
        it.resources.map(({ digest, path }) => [digest, path]),
        it.overrides.map(({ namespace, name }) => [namespace, name]),
        json(only(it.labels, it.lookedAt)),
        [...it.lookedAt].sort(compareText),
      ];
