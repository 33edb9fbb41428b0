import { remembered, rememberedPair } from "../../model/identity.ts";
import { earliest, type Instant } from "../../model/value.ts";
import type { Candidate } from "./cycle.ts";
import type { Part, Plugin, PreparedPlugin, Situation } from "./plugin.ts";

/** What one part of a plugin says of every candidate of a fleet, by their places. */
export interface Column {
  /** 1 or 0 of who fits; a score otherwise. */
  readonly values: Float64Array;
  /** Whether all are 1. */
  readonly isOne: boolean;
  /** When time alone changes a value; places without such a moment are left out. */
  readonly turnsAt: ReadonlyMap<number, Instant>;
  /** All of a placement that it rests on. */
  readonly asked: string;
  readonly from: Instant | null;
  readonly until: Instant | null;
}

/** Values of one fleet that placements share: 32 MB of them. */
const mostRemembered = 4_000_000;

/** With more changes than this, nothing is gained by judging only those. */
const mostChanged = 32;

/** What a policy had last of a plugin, in the order of its parts. */
interface Last {
  readonly candidates: readonly Candidate[];
  readonly columns: readonly Column[];
}

/** Columns of fleets, by what they ask; and the last ones of every policy, which the next fleet's are made from. */
const remembering = remembered((_: Plugin) => ({
  ofFleets: remembered((_fleet: readonly Candidate[]) => new Map<string, Column>()),
  ofPolicies: new WeakMap<Situation["policy"], Last>(),
}));

/**
 * What the parts of a plugin say of a fleet, or what placements that ask the same were told in this pass. Where few
 * candidates changed since the policy last was asked about, only those are judged again: it comes out the same
 * (`schedule/README.md#rankings`).
 */
export function columnsOf(
  { plugin }: PreparedPlugin,
  parts: readonly Part[],
  { policy, candidates, now }: Situation,
): readonly Column[] {
  // One candidate is asked about for the sake of itself.
  if (candidates.length <= 1) return parts.map((it) => judgedAnew(it, candidates, now));
  const { ofFleets, ofPolicies } = remembering(plugin);
  const ofFleet = ofFleets(candidates);
  const last = ofPolicies.get(policy);
  const columns = parts.map((part, at) => {
    const known = ofFleet.get(part.asked);
    if (known !== undefined && holdsAt(known, now)) return known;
    const before = last?.columns[at];
    const isOfUse = last !== undefined && before?.asked === part.asked && holdsAt(before, now);
    const again = isOfUse ? judgedAgain(part, before, last.candidates, candidates) : null;
    const found = again ?? judgedAnew(part, candidates, now);
    if (ofFleet.size * candidates.length < mostRemembered) ofFleet.set(part.asked, found);
    return found;
  });
  // Whoever keeps the fleet itself keeps what all others had of it.
  ofPolicies.set(policy, { columns, candidates: copyOf(candidates) });
  return columns;
}

const copyOf = remembered((fleet: readonly Candidate[]): readonly Candidate[] => [...fleet]);

const holdsAt = ({ from, until }: Column, now: Instant): boolean =>
  (from === null || now >= from) && (until === null || now < until);

function judgedAnew(part: Part, candidates: readonly Candidate[], now: Instant): Column {
  const values = new Float64Array(candidates.length);
  const turnsAt = new Map<number, Instant>();
  for (let place = 0; place < candidates.length; place++) judge(part, candidates[place], place, { values, turnsAt });
  return columnWith(part, { values, turnsAt }, now);
}

/** Null where what changed may have changed what is said of others. */
function judgedAgain(
  part: Part,
  before: Column,
  was: readonly Candidate[],
  candidates: readonly Candidate[],
): Column | null {
  const changed = changedPlaces(was, candidates);
  if (changed === null || changed.length > mostChanged) return null;
  if (changed.length === 0) return before;
  const { concernsOthers } = part;
  const isAlone =
    concernsOthers === undefined ||
    changed.every((at) => {
      const [one, other] = [was[at], candidates[at]];
      return one !== undefined && other !== undefined && !concernsOthers({ was: one, is: other }, candidates);
    });
  if (!isAlone) return null;
  const judged = { values: before.values.slice(), turnsAt: new Map(before.turnsAt) };
  for (const at of changed) {
    judged.turnsAt.delete(at);
    judge(part, candidates[at], at, judged);
  }
  return columnWith(part, judged, before.from);
}

type Judged = Pick<Column, "values"> & { readonly turnsAt: Map<number, Instant> };

function judge(part: Part, candidate: Candidate | undefined, place: number, { values, turnsAt }: Judged): void {
  if (candidate === undefined) return;
  values[place] = part.of(candidate);
  const turns = part.turnsAt?.(candidate) ?? null;
  if (turns !== null) turnsAt.set(place, turns);
}

function columnWith({ asked, turnsAt: turns }: Part, { values, turnsAt }: Judged, from: Instant | null): Column {
  const until = [...turnsAt.values()].reduce<Instant | null>((first, it) => earliest(first, it), null);
  const isOne = values.every((it) => it === 1);
  return { values, isOne, turnsAt, asked, from: turns === undefined ? null : from, until };
}

/** The places at which two fleets differ; null where somebody joined or left. */
const changedPlaces = rememberedPair(
  (before: readonly Candidate[], after: readonly Candidate[]): readonly number[] | null => {
    if (before.length !== after.length) return null;
    const changed: number[] = [];
    for (const [at, is] of after.entries()) {
      const was = before[at];
      if (was?.cluster.name !== is.cluster.name) return null;
      if (!isSame(was, is)) changed.push(at);
    }
    return changed;
  },
);

const isSame = (a: Candidate, b: Candidate): boolean =>
  a === b ||
  (a.cluster === b.cluster && a.facts === b.facts && a.contactFailure === b.contactFailure && a.agent === b.agent);
