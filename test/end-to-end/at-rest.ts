import { readMark } from "../../src/core/apply/mark.ts";
import { isObject, type JsonObject, memberAt, textOf } from "../../src/core/model/json.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import { type ClusterName, compareText } from "../../src/core/model/value.ts";
import { decodeInventory, shardOf } from "../../src/shell/kube/inventory/inventory-text.ts";
import { type Member, objectAt } from "./member.ts";

/** What stands on a member: what it runs, in the words of `wantedBy`, and what does not fit what was decided. */
export interface Standing {
  readonly runs: readonly string[];
  readonly flaws: readonly string[];
}

/**
 * Looks at a member on which nothing moves. Its inventory must know the target that the ledger decided last, its objects must
 * be those of the inventory, written under the very decision that it names.
 */
export async function standingOf(member: Member, ledger: Ledger): Promise<Standing> {
  const [namespaces, configs, workloads, stored] = await Promise.all([
    itemsAt(member, "/api/v1/namespaces"),
    itemsAt(member, "/api/v1/configmaps"),
    itemsAt(member, "/apis/apps/v1/deployments"),
    objectAt(member, "/api/v1/namespaces/flotilla-system/configmaps/flotilla-inventory-0"),
  ]);
  const inventory = decodeInventory(new Map([[0, shardOf((memberAt(stored, "data") ?? {}) as JsonObject)]]));
  const live = new Map([...namespaces, ...configs, ...workloads].map((it) => [uidOf(it), it]));
  const flaws: string[] = [];
  for (const [key, { sequence, digest, entries }] of inventory?.placements ?? []) {
    const target = ledger.placements.get(key)?.bindings.get(member.name as ClusterName)?.target ?? null;
    if (entries.size > 0 && (sequence !== target?.sequence || digest !== target.digest))
      flaws.push(`${member.name} has ${key} of decision ${sequence}, and ${target?.sequence} was decided`);
    for (const [object, entry] of entries) {
      const written = readMark(live.get(entry.uid ?? "") ?? {})?.sequence ?? "none";
      live.delete(entry.uid ?? "");
      if (entry.outcome.kind === "applied" && written === entry.sequence) continue;
      flaws.push(`${member.name} ${object}: ${entry.outcome.kind}, decision ${written} instead of ${entry.sequence}`);
    }
  }
  const strays = [...live.values()].filter((it) => readMark(it) !== null);
  return {
    runs: namespaces.flatMap((it) => runsOf(member.name, it, configs, workloads)).sort(compareText),
    flaws: [...flaws, ...strays.map((it) => `${member.name} ${nameOf(it)} is in no inventory`)],
  };
}

/** What a namespace of ours runs. */
function runsOf(
  member: string,
  namespace: JsonObject,
  configs: readonly JsonObject[],
  workloads: readonly JsonObject[],
): readonly string[] {
  const name = nameOf(namespace);
  if (!name.startsWith("app-")) return [];
  const isOurs = (it: JsonObject): boolean => memberAt(it, "metadata", "namespace") === name && nameOf(it) === "app";
  const value = configs.filter(isOurs).map((it) => textOf(memberAt(it, "data", "value")));
  const image = workloads.filter(isOurs).map((it) => /"image":"app:(\d+)"/.exec(JSON.stringify(it))?.[1]);
  const isWhole = value.length === 1 && image.join() === value.join();
  const ring = textOf(memberAt(namespace, "metadata", "labels", "ring"));
  return [`${member} ${name} is ${isWhole ? value.join() : `${value}, with image ${image},`} in ${ring}`];
}

const nameOf = (it: JsonObject): string => textOf(memberAt(it, "metadata", "name")) ?? "";
const uidOf = (it: JsonObject): string => textOf(memberAt(it, "metadata", "uid")) ?? "";

async function itemsAt(member: Member, path: string): Promise<readonly JsonObject[]> {
  const items = (await objectAt(member, path))?.["items"];
  return Array.isArray(items) ? items.filter(isObject) : [];
}
