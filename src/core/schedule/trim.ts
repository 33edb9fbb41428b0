import type { SpreadConstraint } from "../model/placement.ts";
import { compareText } from "../model/value.ts";
import { type Classes, type Cycle, type CycleBinding, candidatesByName } from "./framework/cycle.ts";
import { domainOf } from "./framework/domains.ts";
import type { Profile } from "./profile.ts";

/** Which bindings stay, in the order in which they are recorded, and which are too many. */
interface Trimmed {
  readonly stay: readonly CycleBinding[];
  readonly trimmed: readonly CycleBinding[];
}

/**
 * Chooses `surplus` bindings to give up: Scheduled before Bound, and inside each those without a recorded score first,
 * then by recorded topology, affinity, and name. The scores are those of the cycle that picked the cluster
 * (`schedule/README.md#pickn`).
 *
 * By default, a cluster in the fullest domain goes before all of that (`#a-21`).
 */
export function trim(surplus: number, cycle: Cycle, { scheduled, bound }: Classes, profile: Profile): Trimmed {
  const spread = cycle.policy.kind === "PickN" && profile.trimsFullestDomain ? cycle.policy.spread : [];
  const domains = domainsOf(cycle, spread);
  const counts = spread.map(() => new Map<string, number>());
  const count = (it: CycleBinding, by: 1 | -1): void => {
    for (const [at, domain] of (domains(it) ?? []).entries())
      if (domain !== undefined) counts[at]?.set(domain, (counts[at].get(domain) ?? 0) + by);
  };
  for (const it of [...scheduled, ...bound]) count(it, 1);
  const fullness = (it: CycleBinding): readonly number[] =>
    domains(it).map((domain, at) => (domain === undefined ? 0 : (counts[at]?.get(domain) ?? 0)));
  const trimmed: CycleBinding[] = [];
  const rest = [weakestFirst(scheduled), weakestFirst(bound)];
  for (const [at, group] of rest.entries()) {
    if (spread.length === 0) {
      const gone = group.slice(0, surplus - trimmed.length);
      trimmed.push(...gone);
      rest[at] = group.slice(gone.length);
      continue;
    }
    const left = [...group];
    while (trimmed.length < surplus && left.length > 0) {
      const next = left.reduce((best, it) => (compareFullness(fullness(it), fullness(best)) > 0 ? it : best));
      left.splice(left.indexOf(next), 1);
      trimmed.push(next);
      count(next, -1);
    }
    rest[at] = left;
  }
  return { stay: inRecordedOrder(rest, [scheduled, bound]), trimmed };
}

/** A group of which nothing was given up keeps its order. */
const inRecordedOrder = (
  rest: readonly (readonly CycleBinding[])[],
  groups: readonly (readonly CycleBinding[])[],
): readonly CycleBinding[] =>
  groups.flatMap((group, at) => (rest[at]?.length === group.length ? group : (rest[at] ?? [])));

/** The domain of a binding's cluster under each constraint. */
function domainsOf(
  { candidates }: Cycle,
  spread: readonly SpreadConstraint[],
): (it: CycleBinding) => readonly (string | undefined)[] {
  const members = candidatesByName(candidates);
  return ({ cluster }) => {
    const member = members.get(cluster);
    return spread.map((it) => (member === undefined ? undefined : domainOf(member, it.topologyKey)));
  };
}

function compareFullness(a: readonly number[], b: readonly number[]): number {
  for (const [at, count] of a.entries()) {
    const other = b[at] ?? 0;
    if (count !== other) return count - other;
  }
  return 0;
}

const weakestFirst = (cycleBindings: readonly CycleBinding[]): readonly CycleBinding[] =>
  [...cycleBindings].sort((a, b) => compareRecorded(a, b) || compareText(a.cluster, b.cluster));

function compareRecorded({ decision: { score: a } }: CycleBinding, { decision: { score: b } }: CycleBinding): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return a.topology - b.topology || a.affinity - b.affinity;
}
