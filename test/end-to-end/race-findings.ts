import { readMark } from "../../src/core/apply/mark.ts";
import { isObject, type JsonObject, memberAt, textOf } from "../../src/core/model/json.ts";
import { decodeInventory, shardOf } from "../../src/shell/kube/inventory/inventory-text.ts";
import type { Change } from "./door.ts";
import type { Move } from "./observed-git.ts";
import type { Decision } from "./state-branch.ts";

/** What one process did, as seen from outside. */
export interface Deeds {
  readonly name: string;
  readonly moves: readonly Move[];
  readonly changes: readonly Change[];
  /** When it said that another reconciler committed first, or was killed. */
  readonly yields: readonly number[];
}

/** What is wrong with the history of a state branch: it must be a line, and nothing in it may go back. */
export function flawsOf(history: readonly Decision[]): readonly string[] {
  return history.flatMap(({ commit, parents, sequence, ledger }, at) => {
    const before = history[at - 1];
    const flaw = (what: string): string => `${commit.slice(0, 10)}, decision ${sequence}: ${what}`;
    const parent = before === undefined ? [] : [before.commit];
    const flaws: string[] = [];
    if (parents.join() !== parent.join()) flaws.push(flaw(`its parent is not ${parent.join()}`));
    if (sequence !== ledger.sequence) flaws.push(flaw(`its ledger says ${ledger.sequence}`));
    if (before === undefined) return flaws;
    if (sequence <= before.sequence) flaws.push(flaw(`it follows decision ${before.sequence}`));
    return [...flaws, ...setbacks(before, ledger).map(flaw)];
  });
}

/** Placements and bindings of which the later ledger knows less than the earlier one. */
function setbacks(before: Decision, later: Decision["ledger"]): readonly string[] {
  return [...before.ledger.placements].flatMap(([key, was]) => {
    const is = later.placements.get(key);
    if (is === undefined || is.uid !== was.uid) return [];
    const index = (of: typeof was): number => of.resourceSnapshots.at(-1)?.index ?? -1;
    const rows = [...was.bindings].flatMap(([cluster, old]) => {
      const now = is.bindings.get(cluster);
      if (now === undefined || now.uid !== old.uid) return [];
      // A cluster that is picked again while its removal is under way begins with nothing.
      const least = now.target === null && old.removal !== null ? 0 : (old.target?.sequence ?? 0);
      const isOlder = now.generation < old.generation || (now.target?.sequence ?? 0) < least;
      return isOlder ? [`${key} on ${cluster} goes back`] : [];
    });
    return index(is) < index(was) || is.generation < was.generation ? [`${key} goes back`, ...rows] : rows;
  });
}

/**
 * Changing requests that no acknowledged decision covers, that came before its push was over, or that were sent by whoever was
 * losing a push and knew, at that time, nothing of the decision. Requests under earlier decisions may still be on their way then.
 */
export function uncoveredBy(history: readonly Decision[], all: readonly Deeds[]): readonly string[] {
  const decided = decisionsIn(history);
  const numbers = new Map(history.map((it, at) => [it.commit, at]));
  const pushes = all.flatMap(({ name, moves }) => moves.map((it) => ({ ...it, by: name })));
  // Where it stands tells, not what git said: whoever was killed may have left a push that nobody listened to any more.
  const landed = new Map(pushes.filter((it) => numbers.has(it.commit)).map((it) => [it.commit, it]));
  return all.flatMap(({ name, changes, moves, yields }) => {
    const losses = moves
      .filter((it) => !numbers.has(it.commit))
      .map((it) => ({ ...it, to: yields.find((at) => at >= it.from) ?? it.to }));
    return changes.flatMap((change) => {
      const where = `${name}: ${change.method} ${change.path} on ${change.cluster}`;
      const loss = losses.find(({ from, to }) => change.at >= from && change.at <= to);
      return claimsOf(change).flatMap(({ text, isPassedOn }) => {
        // The inventory of a placement that goes names the version that was there, if any.
        const commit = decided.get(text) ?? decided.get(text.replace(/\S*$/, "goes")) ?? "";
        const move = landed.get(commit);
        if (move === undefined) return [`${where}: nobody decided ${text}`];
        // Others may act as soon as the branch has moved, which is while git is still at it.
        if (change.at < (move.by === name ? move.to : move.from)) return [`${where}: ${text} before it was decided`];
        const isKnown = (numbers.get(commit) ?? 0) <= (numbers.get(loss?.parent ?? "") ?? -1);
        return loss === undefined || isKnown || isPassedOn ? [] : [`${where}: ${text} in a lost pass`];
      });
    });
  });
}

/** The first commit that says so: `placement member sequence`, the same with a digest, `placement member sequence goes`, or without. */
function decisionsIn(history: readonly Decision[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { commit, ledger } of history) {
    for (const [key, { bindings }] of ledger.placements) {
      for (const [cluster, { target, removal }] of bindings) {
        const version = `${key} ${cluster} ${(removal ?? target)?.sequence}`;
        const facts =
          removal === null ? [version, `${version} ${target?.digest}`] : [`${version} goes`, `${key} ${cluster} goes`];
        for (const it of target === null ? [] : facts) if (!first.has(it)) first.set(it, commit);
      }
    }
  }
  return first;
}

/** What must have been decided for a request. An inventory passes on what others claimed. */
interface Claim {
  readonly text: string;
  readonly isPassedOn: boolean;
}

function claimsOf({ method, cluster, path, body }: Change): readonly Claim[] {
  const object: JsonObject = isObject(body) ? body : {};
  if (path.includes("/namespaces/flotilla-system/configmaps")) {
    const inventory = decodeInventory(new Map([[0, shardOf(memberAt(object, "data") as JsonObject)]]));
    const versions = [...(inventory?.placements ?? [])].map(
      ([key, it]) => `${key} ${cluster} ${it.sequence} ${it.digest}`,
    );
    return versions.map((text) => ({ text, isPassedOn: true }));
  }
  if (method === "POST" && textOf(memberAt(object, "metadata", "name")) === "flotilla-system") return [];
  const [, namespace = path] = /\/namespaces\/([^/]+)/.exec(path) ?? [];
  if (method === "DELETE") return [{ text: `${namespace} ${cluster} goes`, isPassedOn: false }];
  const mark = readMark(object);
  return [
    { text: mark === null ? `${method} ${path}` : `${mark.label} ${cluster} ${mark.sequence}`, isPassedOn: false },
  ];
}
