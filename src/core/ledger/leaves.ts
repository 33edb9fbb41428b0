import type { ObjectFate } from "../model/deletion.ts";
import type { ChangeRequest } from "../model/ledger.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../model/manifest.ts";
import { type ClusterName, compareText, type PlacementKey } from "../model/value.ts";
import { type Codec, converted, listIfAny, object } from "./codec/codec.ts";
import { clusterName, stringOf } from "./codec/scalars.ts";

type Leaves = ChangeRequest["leaves"];

interface LeaveGroup {
  readonly clusters: readonly ClusterName[];
  readonly delete: readonly ObjectKey[];
  readonly release: readonly ObjectKey[];
  readonly handOver: readonly Handing[];
}

/** What one other placement is to take. */
interface Handing {
  readonly to: PlacementKey;
  readonly objects: readonly ObjectKey[];
}

/** What leaves which clusters, and how: those that lose the same in the same way are one entry. */
export const changedLeaves: Codec<Leaves> = converted(
  listIfAny(
    object<LeaveGroup>({
      clusters: listIfAny(clusterName),
      delete: listIfAny(stringOf<ObjectKey>()),
      release: listIfAny(stringOf<ObjectKey>()),
      handOver: listIfAny(object<Handing>({ to: stringOf<PlacementKey>(), objects: listIfAny(stringOf<ObjectKey>()) })),
    }),
  ),
  groupsOf,
  (groups) =>
    new Map(
      groups
        .flatMap((it) => {
          const leaves = leavesOf(it);
          return it.clusters.map((cluster) => [cluster, leaves] as const);
        })
        .sort(([a], [b]) => compareText(a, b)),
    ),
);

function groupsOf(leaves: Leaves): readonly LeaveGroup[] {
  const groups = new Map<string, LeaveGroup & { readonly clusters: ClusterName[] }>();
  for (const [cluster, all] of leaves) {
    const keysOf = (fate: ObjectFate["fate"]) => all.flatMap((it) => (it.fate === fate ? objectKey(it.object) : []));
    const fates = { delete: keysOf("delete"), release: keysOf("release"), handOver: handingsIn(all) };
    const text = JSON.stringify(fates);
    const group = groups.get(text) ?? { clusters: [], ...fates };
    groups.set(text, group);
    group.clusters.push(cluster);
  }
  return [...groups.values()];
}

function handingsIn(all: readonly ObjectFate[]): readonly Handing[] {
  const objects = new Map<PlacementKey, ObjectKey[]>();
  for (const it of all)
    if (it.fate === "handOver") objects.set(it.to, [...(objects.get(it.to) ?? []), objectKey(it.object)]);
  return [...objects].sort(([a], [b]) => compareText(a, b)).map(([to, keys]) => ({ to, objects: keys }));
}

const leavesOf = (group: LeaveGroup): readonly ObjectFate[] =>
  [
    ...group.delete.map((key): ObjectFate => ({ object: objectIdOf(key), fate: "delete" })),
    ...group.release.map((key): ObjectFate => ({ object: objectIdOf(key), fate: "release" })),
    ...group.handOver.flatMap(({ to, objects }) =>
      objects.map((key): ObjectFate => ({ object: objectIdOf(key), fate: "handOver", to })),
    ),
  ].sort((a, b) => compareText(objectKey(a.object), objectKey(b.object)));
