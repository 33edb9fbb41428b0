import type { Leave } from "../model/deletion.ts";
import type { Ledger } from "../model/ledger.ts";
import { apiVersionOf, type ObjectId, objectKey, type VersionedId } from "../model/manifest.ts";
import type { RenderedManifest } from "../model/plan.ts";
import type { ClusterName, Commit } from "../model/value.ts";
import { type Ask, askedPlacement } from "../plan/approval/ask.ts";
import { deletableOf } from "../plan/moves/begin.ts";
import { quantity } from "./phrases.ts";
import { fateTexts } from "./request-page.ts";

/** What becomes of one object of a cluster. */
export interface ObjectRow {
  readonly fate: "created" | "changed" | (typeof fateTexts)[keyof typeof fateTexts];
  readonly id: ObjectId;
  /** Null where there is none, or nobody can show it. */
  readonly before: RenderedManifest | null;
  readonly after: RenderedManifest | null;
}

/** Clusters to which the same happens. */
export interface ChangeGroup {
  readonly clusters: readonly ClusterName[];
  readonly rows: readonly ObjectRow[];
  /** Objects that stay as they are. */
  readonly same: number;
}

/** What is known of what a request would do. */
export interface RequestChanges {
  readonly groups: readonly ChangeGroup[];
  /** Clusters of which it cannot be shown what they carry, or what they would carry. */
  readonly unknown: readonly ClusterName[];
}

/** What would become of every object, by what was read and found to be what is asked for. */
export function changesIn(ask: Ask, view: RequestContent | null, ledger: Ledger): RequestChanges {
  const clusters = clustersOf(ask);
  const groups = new Map<string, ChangeGroup>();
  const unknown: ClusterName[] = [];
  for (const cluster of clusters) {
    const move = view?.moves.get(cluster);
    if (move === undefined || !isKnown(move)) {
      unknown.push(cluster);
      continue;
    }
    const group = groupOf(cluster, move, fatesOn(ask, cluster, ledger));
    const key = JSON.stringify([
      group.same,
      group.rows.map((it) => [it.fate, it.id, it.before?.digest, it.after?.digest]),
    ]);
    const known = groups.get(key);
    groups.set(key, known === undefined ? group : { ...known, clusters: [...known.clusters, cluster] });
  }
  return { groups: [...groups.values()], unknown };
}

const clustersOf = (ask: Ask): readonly ClusterName[] =>
  ask.kind === "change" ? [...ask.change.clusters.keys()] : ask.stage.clusters.map((it) => it.cluster);

const isKnown = ({ before, after }: ManifestChange): boolean => before !== null && after !== null;

function groupOf(cluster: ClusterName, { before, after }: ManifestChange, leaves: LeaveLookup): ChangeGroup {
  const was = new Map((before ?? []).map((it) => [it.key, it]));
  const is = new Map((after ?? []).map((it) => [it.key, it]));
  const come = [...is.values()].flatMap((it): readonly ObjectRow[] => {
    const old = was.get(it.key) ?? null;
    if (old?.digest === it.digest) return [];
    return [{ fate: old === null ? "created" : "changed", id: it.id, before: old, after: it }];
  });
  const go = [...was.values()]
    .filter((it) => !is.has(it.key))
    .map((it): ObjectRow => ({ fate: fateTexts[leaves(it.id)], id: it.id, before: it, after: null }));
  return { clusters: [cluster], rows: [...come, ...go], same: is.size - come.length };
}

type LeaveLookup = (id: ObjectId) => Leave["fate"];

/**
 * What becomes of what leaves a cluster: by the request where it is a change; by the plan of a run otherwise, which lets go what
 * was there before us.
 */
export function fatesOn(ask: Ask, cluster: ClusterName, ledger: Pick<Ledger, "placements">): LeaveLookup {
  if (ask.kind === "change") {
    const fates = new Map(ask.change.leaves.get(cluster)?.map(({ object, fate }) => [objectKey(object), fate]));
    // Of what left before, that was decided then.
    const left = ask.record.bindings.get(cluster)?.leaving ?? [];
    const isReleased = (id: ObjectId): boolean => left.some((it) => it.released && objectKey(it.id) === objectKey(id));
    return (id) => fates.get(objectKey(id)) ?? (isReleased(id) ? "release" : "delete");
  }
  const facts = askedPlacement(ask, ledger)?.bindings.get(cluster)?.facts ?? null;
  const isDeletable = deletableOf(ask.plan.deleteAdopted, facts);
  return (id) => (isDeletable(id) ? "delete" : "release");
}

/** The objects of a group with what becomes of each, one a line. */
export function rowLines({ rows, same }: ChangeGroup): readonly string[] {
  const lines = rows
    .slice(0, mostRows)
    .map((it) => fateLine(it.fate, it.after?.id ?? it.before?.id ?? { ...it.id, version: "" }));
  const rest = same === 0 ? [] : [`  ${"same".padEnd(width)} ${quantity(same, "object")}`];
  const more = rows.length <= mostRows ? [] : [`  and ${quantity(rows.length - mostRows, "more object")}`];
  return [...lines, ...more, ...rest];
}

const mostRows = 100;

const width = fateTexts.release.length;

/** `  left in place v1 ConfigMap web/settings`. */
export const fateLine = (fate: string, id: VersionedId): string => `  ${fate.padEnd(width)} ${idText(id)}`;

const idText = ({ group, version, kind, namespace, name }: VersionedId): string => {
  const prefix = version === "" && group === "" ? "" : `${apiVersionOf({ group, version })} `;
  return `${prefix}${kind} ${namespace === null ? "" : `${namespace}/`}${name}`;
};

export type Manifests = readonly RenderedManifest[];

/** What one cluster carries, and would carry: the same lists for all that share them. Null where nobody can show it. */
export interface ManifestChange {
  readonly before: Manifests | null;
  readonly after: Manifests | null;
}

/** What a request is about, read back and held against its digest. */
export interface RequestContent {
  readonly moves: ReadonlyMap<ClusterName, ManifestChange>;
  /** The commits that brought it, as far as that was written down. */
  readonly commits: readonly Commit[];
}

/** What a request is about, and who says so. */
export interface ShownContent extends RequestContent {
  /** One line for each of the commits that brought it. */
  readonly commitLines: readonly string[];
  /** The commit of the state branch where all of it stands. */
  readonly state: Commit;
}
