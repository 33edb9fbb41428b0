import { type JsonObject, memberAt, textOf } from "../../src/core/model/json.ts";
import type { Objects } from "./real-fleet.ts";

/** How a hub is reached. */
export type Door = "path" | "url";

/** One run that was killed, and what it had done by then. */
export interface Kill {
  readonly door: Door;
  /** Another push came before the next run. */
  readonly isSplit: boolean;
  /** How many commits of its own it had made by then, as far as anybody saw. */
  readonly stretch: number;
  /** Milliseconds after the last of these; after its start-up when there is none. */
  readonly delayMs: number;
  /** How many of its commits stood on the state branch when it was dead. */
  readonly commits: number;
  /** Objects that were created, changed or deleted; claims in inventories apart. */
  readonly writes: number;
  readonly claims: number;
}

type Fleet = ReadonlyMap<string, Objects>;

const inventory = "configmaps flotilla-system/flotilla-inventory-0";

/** Objects of all members that differ from one look to the next; of the inventories, or of all others. */
export function changesBetween(before: Fleet, after: Fleet, of: "inventories" | "others"): number {
  const versionOf = (it: JsonObject | undefined) => textOf(memberAt(it ?? null, "metadata", "resourceVersion"));
  const counts = [...after].map(([name, now]) => {
    const then: Objects = before.get(name) ?? new Map();
    const keys = [...new Set([...then.keys(), ...now.keys()])].filter(
      (it) => (it === inventory) === (of === "inventories"),
    );
    return keys.filter((it) => versionOf(then.get(it)) !== versionOf(now.get(it))).length;
  });
  return counts.reduce((sum, it) => sum + it, 0);
}

/** In which phase a run was killed. */
function phaseOf({ commits, writes, claims }: Kill, all: number): string {
  if (commits === 0) return "nothing decided";
  if (claims === 0) return "decided, nothing claimed";
  if (writes === 0) return "claimed, nothing written";
  return writes < all ? "some written" : "everything written, not at rest";
}

/** How many kills fell into which phase, and each of them. */
export function tableOf(kills: readonly Kill[], all: number): string {
  const phases = new Map<string, number>();
  for (const it of kills) phases.set(phaseOf(it, all), (phases.get(phaseOf(it, all)) ?? 0) + 1);
  const rows = kills.map(
    (it) =>
      `${it.delayMs} ms after ${it.stretch === 0 ? "its start" : `commit ${it.stretch}`} by ${it.door}${it.isSplit ? ", another push before the next run" : ""}: ` +
      `${it.commits} commits, ${it.claims} inventories and ${it.writes} of ${all} objects written`,
  );
  return [...[...phases].map(([phase, count]) => `${count} × ${phase}`), ...rows].join("\n");
}
