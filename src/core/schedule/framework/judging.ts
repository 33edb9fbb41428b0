import { remembered } from "../../model/identity.ts";
import { compareText, earliest, type Instant } from "../../model/value.ts";
import type { Candidate } from "./cycle.ts";
import type {
  FilterResult,
  Plugin,
  PluginInput,
  Prepared,
  PreparedPlugin,
  Ranked,
  Ranking,
  RefusedCandidate,
  Score,
  Situation,
} from "./plugin.ts";
import { rankingOf } from "./ranking.ts";

/** Which candidates may be picked, which may not and why, and when time alone changes that. */
interface Admission {
  readonly fits: readonly Candidate[];
  /** The first of them, in the order of candidates. */
  readonly refused: readonly RefusedCandidate[];
  readonly wakeAt: Instant | null;
}

/** The plugins that picks do not change, ready to judge candidates one by one. */
export function prepareSteady(situation: Situation, plugins: readonly Plugin[]): Prepared {
  const { policy, namespace, grants, candidates, now } = situation;
  // For PickN they see nothing else of a situation; and one candidate is asked about for the sake of itself.
  const isKept = policy.kind === "PickN" && candidates.length > 1;
  const last = isKept ? lastSteady(candidates) : { plugins: null, prepared: null };
  const { prepared } = last;
  const isSame =
    last.plugins === plugins &&
    prepared?.input.policy === policy &&
    prepared.input.namespace === namespace &&
    prepared.input.grants === grants;
  if (isSame && prepared.input.now === now) return prepared;
  const steady = plugins.filter((it) => !it.changesWithPicks);
  const input: PluginInput = { ...situation, ranking: () => rankingOf(situation, found.plugins) };
  const found: Prepared = { input, plugins: steady.map((plugin) => ({ plugin, at: plugin.prepare(input) })) };
  if (isKept) Object.assign(last, { plugins, prepared: found });
  return found;
}

/** Of a fleet, the policy that was prepared for last: whether a cycle is needed is found out just before it runs. */
const lastSteady = remembered(
  (_: readonly Candidate[]): { plugins: readonly Plugin[] | null; prepared: Prepared | null } => ({
    plugins: null,
    prepared: null,
  }),
);

/** Prepares every plugin for the first batch, in the order in which they judge. */
export function preparePlugins(situation: Situation, plugins: readonly Plugin[]): Prepared {
  let found: Ranking | null = null;
  const ranking = (): Ranking => {
    found ??= rankingOf(situation, steady.plugins);
    return found;
  };
  const input: PluginInput = { ...situation, ranking };
  const steady = prepareSteady(situation, plugins);
  const ready = new Map(steady.plugins.map((it) => [it.plugin, it]));
  const prepared = (plugin: Plugin): PreparedPlugin => ({ plugin, at: plugin.prepare(input) });
  return { input, plugins: plugins.map((it) => ready.get(it) ?? prepared(it)) };
}

/** The same plugins for the next batch, after these were picked; null: all that hold the placement are others now. */
export function preparedAgain(
  { input: before, plugins }: Prepared,
  now: Pick<Situation, "holders" | "obsolete" | "leaving">,
  picked: readonly Candidate[] | null,
): Prepared {
  const input = { ...before, ...now };
  return {
    input,
    plugins: plugins.map((it) =>
      it.plugin.changesWithPicks
        ? { ...it, at: (picked === null ? null : it.at.next?.(picked)) ?? it.plugin.prepare(input) }
        : it,
    ),
  };
}

/** Only the plugins that picks change, or only the others. */
export const preparedPart = ({ input, plugins }: Prepared, changesWithPicks: boolean): Prepared => ({
  input,
  plugins: plugins.filter((it) => it.plugin.changesWithPicks === changesWithPicks),
});

/**
 * Runs the filters over every candidate, in the order of the plugins, until one refuses it. Explains the first
 * `explained` refusals.
 */
export function filterCandidates(candidates: readonly Candidate[], prepared: Prepared, explained: number): Admission {
  const fits: Candidate[] = [];
  const refused: RefusedCandidate[] = [];
  let wakeAt: Instant | null = null;
  for (const candidate of candidates) {
    let turnsAt: Instant | null = null;
    let judgement: FilterResult = "fits";
    for (const { plugin, at } of prepared.plugins) {
      if (at.turnsAt !== undefined) turnsAt = earliest(turnsAt, at.turnsAt(candidate));
      if (at.filter !== undefined) judgement = at.filter(candidate);
      if (judgement === "fits") continue;
      if (judgement === "unschedulable" && refused.length < explained) refused.push(refusal(candidate, { plugin, at }));
      break;
    }
    if (judgement === "alreadySelected") continue;
    if (turnsAt !== null) wakeAt = earliest(wakeAt, turnsAt);
    if (judgement === "fits") fits.push(candidate);
  }
  return { fits, refused, wakeAt };
}

/** The first of the candidates that are refused, at most so many. */
export function firstRefused(
  candidates: Iterable<Candidate>,
  { plugins }: Prepared,
  most: number,
): readonly RefusedCandidate[] {
  const refused: RefusedCandidate[] = [];
  for (const candidate of candidates) {
    if (refused.length >= most) break;
    const by = plugins.find(({ at }) => at.filter !== undefined && at.filter(candidate) !== "fits");
    if (by?.at.filter?.(candidate) === "unschedulable") refused.push(refusal(candidate, by));
  }
  return refused;
}

const refusal = (candidate: Candidate, { plugin, at }: PreparedPlugin): RefusedCandidate => ({
  cluster: candidate.cluster.name,
  plugin: plugin.name,
  because: at.because?.(candidate) ?? "it does not fit",
});

/** The best of these candidates, at most so many (`schedule/README.md#the-order-of-candidates`). */
export function bestOfAll(candidates: readonly Candidate[], prepared: Prepared, most: number): readonly Ranked[] {
  const best: Ranked[] = [];
  for (const candidate of candidates) {
    const ranked = { candidate, score: totalScore(candidate, prepared) };
    const worst = best.at(-1);
    if (worst !== undefined && best.length >= most && compareRanked(worst, ranked) < 0) continue;
    const at = best.findIndex((it) => compareRanked(ranked, it) < 0);
    best.splice(at < 0 ? best.length : at, 0, ranked);
    if (best.length > most) best.pop();
  }
  return best;
}

/** Whether none of the plugins refuses a candidate. */
export const fitsAll = ({ plugins }: Prepared, candidate: Candidate): boolean =>
  plugins.every(({ at }) => at.filter === undefined || at.filter(candidate) === "fits");

/**
 * Orders candidates best first: by topology, affinity, stickiness and name, all descending
 * (`schedule/README.md#the-order-of-candidates`). Among equals the largest name wins, as in KubeFleet.
 */
export const rankCandidates = (candidates: readonly Candidate[], prepared: Prepared): readonly Ranked[] =>
  candidates.map((candidate): Ranked => ({ candidate, score: totalScore(candidate, prepared) })).sort(compareRanked);

/** How many clusters the next batch may pick: the smallest limit of any plugin. */
export const batchLimit = ({ plugins }: Prepared): number =>
  Math.min(...plugins.map((it) => it.at.batchLimit ?? Number.POSITIVE_INFINITY));

/** Why the first candidate that cannot be scored cannot; null if all can. */
export function scoringFailure(candidates: readonly Candidate[], { plugins }: Prepared): string | null {
  const failing = plugins.filter((it) => it.at.failure !== undefined);
  if (failing.length === 0) return null;
  for (const candidate of candidates)
    for (const { at } of failing) {
      const failure = at.failure?.(candidate) ?? null;
      if (failure !== null) return failure;
    }
  return null;
}

/** What all plugins warn of. */
export const warningsOf = ({ plugins }: Prepared): readonly string[] => plugins.flatMap((it) => it.at.warnings ?? []);

/** What the plugins give a candidate. */
export function totalScore(candidate: Candidate, { plugins }: Prepared): Score {
  let topology = 0;
  let affinity = 0;
  let stickiness = 0;
  for (const { at } of plugins) {
    const part = at.score?.(candidate);
    topology += part?.topology ?? 0;
    affinity += part?.affinity ?? 0;
    stickiness += part?.stickiness ?? 0;
  }
  return { topology, affinity, stickiness };
}

/** The better of two comes first; among equals the one with the largest name. */
const compareRanked = (a: Ranked, b: Ranked): number =>
  compareScores(b.score, a.score) || compareText(b.candidate.cluster.name, a.candidate.cluster.name);

/** Which of two is better, by topology, affinity and stickiness: positive if the first one is. */
const compareScores = (a: Score, b: Score): number =>
  a.topology - b.topology || a.affinity - b.affinity || a.stickiness - b.stickiness;
