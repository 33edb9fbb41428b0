import { remembered } from "../../model/identity.ts";
import type { Candidate } from "./cycle.ts";
import type { FleetGroups } from "./plugin.ts";

/** The domain of a cluster: the value of the label, which may be empty; undefined without the label. */
export const domainOf = ({ cluster: { labels } }: Candidate, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

/** The values of a label over a fleet. */
export interface FleetDomains {
  /** In the order in which they are met. */
  readonly names: readonly string[];
  /** By the place of a candidate, the place of its domain in `names`; `names.length` without the label. */
  readonly of: readonly number[];
}

/** The values of a label over a fleet, which all placements share. */
export function fleetDomains(candidates: readonly Candidate[], key: string): FleetDomains {
  const known = domainsIn(candidates);
  const before = known.get(key);
  if (before !== undefined) return before;
  const places = new Map<string, number>();
  const found = candidates.map((it) => {
    const domain = domainOf(it, key);
    if (domain !== undefined && !places.has(domain)) places.set(domain, places.size);
    return domain === undefined ? null : (places.get(domain) ?? null);
  });
  const domains = { names: [...places.keys()], of: found.map((it) => it ?? places.size) };
  known.set(key, domains);
  return domains;
}

const domainsIn = remembered((_: readonly Candidate[]) => new Map<string, FleetDomains>());

/** Candidates with the same values of all these labels, or the same lack of them. */
export function domainGroups(candidates: readonly Candidate[], keys: readonly string[]): FleetGroups {
  const known = groupsIn(candidates);
  const text = JSON.stringify(keys);
  const before = known.get(text);
  if (before !== undefined) return before;
  const domains = keys.map((it) => fleetDomains(candidates, it));
  const numbers = new Map<string, number>();
  const of = candidates.map((_, place) => {
    const values = domains.map((it) => it.of[place]).join(" ");
    const number = numbers.get(values) ?? numbers.size;
    numbers.set(values, number);
    return number;
  });
  const groups = { of, count: numbers.size };
  known.set(text, groups);
  return groups;
}

const groupsIn = remembered((_: readonly Candidate[]) => new Map<string, FleetGroups>());
