import type { FleetSpec } from "../../model/fleet.ts";
import type { PastDocument } from "../../model/history.ts";
import type { ClusterContent } from "./cluster-content.ts";

/** The roots of a fleet: folders that are read; none: all of them. */
export type Roots = FleetSpec["roots"];

/** Whether a path lies in one of the roots; no root means everywhere. */
export const isUnder = (path: string, roots: Roots): boolean =>
  roots.length === 0 || roots.some((it) => path.startsWith(`${it}/`));

/** The roots of today, and those of documents. */
export function rootsSince({ roots }: Pick<FleetSpec, "roots">, past: readonly PastDocument[]): readonly Roots[] {
  const before = past.flatMap(({ said }) => (said.kind === "fleet" ? [said.fleet.roots] : []));
  return [...new Map([roots, ...before].map((it) => [it.join("\n"), it])).values()];
}

/** What read everything. */
const everywhere = "";

/**
 * The roots that somebody had read for a while and that are not read today: what they brought then, nobody can tell any
 * more. Not those of which something is carried: they were read before.
 */
export function passingRoots(all: readonly Roots[], carried: ClusterContent | null): readonly string[] {
  const [now = [], ...before] = all;
  if (now.length === 0) return [];
  const lost = (carried?.resources ?? []).map(({ path }) => path).filter((it) => !isUnder(it, now));
  const passing = new Set(before.flatMap((it) => (it.length === 0 ? [everywhere] : it)));
  for (const it of now) passing.delete(it);
  return [...passing].filter((root) => !lost.some((path) => isUnder(path, root === everywhere ? [] : [root])));
}

/** Which of the roots are among those of a fleet. */
export const rootsAmong = (wanted: readonly string[], roots: Roots): readonly boolean[] =>
  wanted.map((it) => (it === everywhere ? roots.length === 0 : roots.includes(it)));
