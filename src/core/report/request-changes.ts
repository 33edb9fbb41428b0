import type { ObjectFate } from "../model/deletion.ts";
import type { Ledger } from "../model/ledger.ts";
import { apiVersionOf, type ObjectId, objectKey, type VersionedId } from "../model/manifest.ts";
import type { RenderedManifest } from "../model/plan.ts";
import type { ClusterName, Commit } from "../model/value.ts";
import { type ApprovalRequest, requestedPlacement } from "../plan/approval/approval-request.ts";
import { deletableOf } from "../plan/moves/begin.ts";
import { quantity } from "./phrases.ts";
import { fateTexts } from "./request-page.ts";

/** What becomes of one object of a cluster. */
export interface ObjectRow {
  readonly fate: "created" | "changed" | (typeof fateTexts)[keyof typeof fateTexts];
  readonly id: ObjectId;
  /** Null if there is none, or it is unknown. */
  readonly before: RenderedManifest | null;
  readonly after: RenderedManifest | null;
}

export interface ChangeGroup {
  readonly clusters: readonly ClusterName[];
  readonly rows: readonly ObjectRow[];
  /** Objects that stay as they are. */
  readonly same: number;
}

/** The changes that a request would make, as far as they are known. */
interface RequestChanges {
  readonly groups: readonly ChangeGroup[];
  /** Clusters whose manifests before or after are unknown. */
  readonly unknown: readonly ClusterName[];
}

/** The changes to every object, by the verified content of the request. */
export function changesIn(ask: ApprovalRequest, view: RequestContent | null, ledger: Ledger): RequestChanges {
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

const clustersOf = (ask: ApprovalRequest): readonly ClusterName[] =>
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

type LeaveLookup = (id: ObjectId) => ObjectFate["fate"];

/** What happens to objects that leave: as a change says; else as the run's plan says, which releases adopted ones. */
export function fatesOn(ask: ApprovalRequest, cluster: ClusterName, ledger: Pick<Ledger, "placements">): LeaveLookup {
  if (ask.kind === "change") {
    const fates = new Map(ask.change.leaves.get(cluster)?.map(({ object, fate }) => [objectKey(object), fate]));
    // Objects that are leaving already were decided on before.
    const left = ask.record.bindings.get(cluster)?.leaving ?? [];
    const isReleased = (id: ObjectId): boolean => left.some((it) => it.released && objectKey(it.id) === objectKey(id));
    return (id) => fates.get(objectKey(id)) ?? (isReleased(id) ? "release" : "delete");
  }
  const facts = requestedPlacement(ask, ledger)?.bindings.get(cluster)?.facts ?? null;
  const isDeletable = deletableOf(ask.plan.deleteAdopted, facts);
  return (id) => (isDeletable(id) ? "delete" : "release");
}

/** The objects of a group, one line each. */
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

/** What a cluster runs now, and would run: identical lists are shared. Null if unknown. */
export interface ManifestChange {
  readonly before: Manifests | null;
  readonly after: Manifests | null;
}

/** What a request is about, read back and verified by its digest. */
export interface RequestContent {
  readonly moves: ReadonlyMap<ClusterName, ManifestChange>;
  /** The commits that it comes from, as far as recorded. */
  readonly commits: readonly Commit[];
}

/** The content of a request, ready to be shown. */
export interface ShownContent extends RequestContent {
  /** One line for each commit that it comes from. */
  readonly commitLines: readonly string[];
  /** The commit of the state branch that it was read from. */
  readonly state: Commit;
}
