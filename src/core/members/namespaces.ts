import { sameMap } from "../model/identity.ts";
import type { ClusterRecord, NamespacesRecord } from "../model/ledger.ts";
import type { NamespacesSeen } from "../model/observation.ts";
import { placedNamespaces } from "../model/placement.ts";
import { compareText, type DurationMs, type Instant, later, minutes } from "../model/value.ts";

/** So many are recorded of one member, as in KubeFleet. */
const mostRecorded = 200;

/** How long what is recorded stays, unless a namespace that is asked about came or went. */
const calm: DurationMs = minutes(15);

/** What is recorded of a member's namespaces, and when the same observation would be recorded in another way. */
export interface NamespacesFound {
  readonly namespaces: NamespacesRecord | null;
  /** Null when there is no such moment. */
  readonly until: Instant | null;
}

interface NamespacesAsked {
  /** Those that placements live in. */
  readonly placed: ReadonlySet<string>;
  readonly now: Instant;
}

/**
 * What is recorded of a member's namespaces (`members/README.md#namespaces`). One that placements live in counts at once;
 * what else came, went or changed hands is recorded together, at most every 15 minutes. The same record (`===`) where
 * nothing is worth a commit; what was not read stays as recorded.
 */
export function recordedNamespaces(
  before: NamespacesRecord | null,
  seen: NamespacesSeen | undefined,
  { placed, now }: NamespacesAsked,
): NamespacesFound {
  if (placed.size === 0) return { namespaces: null, until: null };
  if (seen?.kind !== "listed") return { namespaces: before, until: null };
  const { names, isCut } = listed(seen.names, placed);
  const next = { names, isCut, recordedAt: now };
  if (before === null) return { namespaces: next, until: null };
  if (isCut === before.isCut && sameMap(names, before.names)) return { namespaces: before, until: null };
  const due = later(before.recordedAt, calm);
  const isNews = due <= now || [...placed].some((it) => names.has(it) !== before.names.has(it));
  return isNews ? { namespaces: next, until: null } : { namespaces: before, until: due };
}

/** Where there are too many, those that placements live in come first: those are what is asked about. */
function listed(
  found: ReadonlyMap<string, string>,
  placed: ReadonlySet<string>,
): Pick<NamespacesRecord, "names" | "isCut"> {
  const all = [...found].sort(([a], [b]) => compareText(a, b));
  if (all.length <= mostRecorded) return { names: new Map(all), isCut: false };
  const first = all.filter(([name]) => placed.has(name));
  const others = all.filter(([name]) => !placed.has(name));
  const kept = [...first, ...others].slice(0, mostRecorded).sort(([a], [b]) => compareText(a, b));
  return { names: new Map(kept), isCut: true };
}

/** The record without namespaces where no placement asks about any more, whether or not the member answers. */
export const withPlacedNamespaces = (
  cluster: ClusterRecord,
  placements: Parameters<typeof placedNamespaces>[0],
): ClusterRecord =>
  cluster.namespaces === null || placedNamespaces(placements).size > 0 ? cluster : { ...cluster, namespaces: null };
