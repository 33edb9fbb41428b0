import { type JsonObject, memberAt, textOf } from "../../src/core/model/json.ts";
import { decodeInventory, shardOf } from "../../src/shell/kube/inventory/inventory-text.ts";
import type { Objects } from "./real-fleet.ts";
import { filesAt } from "./state-branch.ts";

/**
 * What a reconcile leaves: everything that members hold, what they remember of it, and the whole state branch. Without what
 * differs whenever the same is done twice: instants, sequences, ids of commits and uids.
 */
export interface Outcome {
  /** By member, then by object. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly inventories: Readonly<Record<string, readonly string[]>>;
  /** By path. */
  readonly state: Readonly<Record<string, string>>;
}

const systemNamespace = "flotilla-system";
const isOwn = (key: string): boolean => key.includes(` ${systemNamespace}`);

export function outcomeOf(members: ReadonlyMap<string, Objects>, repo: string): Outcome {
  const byMember = <T>(of: (objects: Objects) => T): Readonly<Record<string, T>> =>
    Object.fromEntries([...members].map(([name, it]) => [name, of(it)]));
  return {
    objects: byMember((objects) =>
      Object.fromEntries([...objects].filter(([key]) => !isOwn(key)).map(([key, it]) => [key, lasting(it)])),
    ),
    inventories: byMember(inventoryLines),
    state: stateOf(repo),
  };
}

/** An object without what its API server counts and dates, and without the number of the decision that wrote it. */
function lasting(object: JsonObject): JsonObject {
  const { uid, resourceVersion, creationTimestamp, managedFields, ...metadata } = memberAt(
    object,
    "metadata",
  ) as JsonObject;
  return JSON.parse(JSON.stringify({ ...object, metadata }).replace(/"[0-9a-f]{16}\/\d+\/\d+"/g, '"_"')) as JsonObject;
}

/** What a member remembers, one line each: a placement's digest, or an object's version, digest, ownership and outcome. */
function inventoryLines(objects: Objects): readonly string[] {
  const shards = [...objects].flatMap(([key, it]) => {
    const number = /^configmaps flotilla-system\/flotilla-inventory-(\d+)$/.exec(key)?.[1];
    return number === undefined ? [] : [[Number(number), shardOf(memberAt(it, "data") as JsonObject)] as const];
  });
  const inventory = decodeInventory(new Map(shards));
  if (inventory === null) return ["unreadable"];
  return [...inventory.placements].flatMap(([placement, { digest, entries }]) => [
    `${placement} ${digest}`,
    ...[...entries].map(([key, { uid, version, digest, adopted, outcome }]) => {
      const isLive = uid !== null && hasUid(objects, uid);
      return `${placement} ${key} ${version} ${digest} ${JSON.stringify({ isLive, adopted, outcome })}`;
    }),
  ]);
}

const hasUid = (objects: Objects, uid: string): boolean =>
  [...objects.values()].some((it) => textOf(memberAt(it, "metadata", "uid")) === uid);

function stateOf(repo: string): Readonly<Record<string, string>> {
  const files = filesAt(repo);
  const fleet = /^fleet: "?([0-9a-f]{16})"?$/m.exec(files.get("ledger.yaml") ?? "")?.[1] ?? "unnamed";
  return Object.fromEntries([...files].map(([path, text]) => [path, steady(text, fleet)]));
}

const steady = (text: string, fleet: string): string =>
  text
    .replace(new RegExp(`"?${fleet}"?`, "g"), "FLEET")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "INSTANT")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "UID")
    .replace(/^( *uid: ).*$/gm, "$1UID")
    .replace(/"?\b[0-9a-f]{40}\b"?/g, "COMMIT")
    .replace(/(sequence: "?)\d+/g, "$1SEQUENCE")
    .replace(/^Decision \d+, from source commit `\w+`/m, "Decision SEQUENCE, from source commit `COMMIT`");
