import type { Binding, ClusterDecision } from "../model/binding.ts";
import { remembered } from "../model/identity.ts";
import type { PolicySnapshot } from "../model/ledger.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import type { ClusterName } from "../model/value.ts";
import { maxExplained } from "./explain.ts";
import type { MemberNamespaces } from "./framework/facts.ts";
import { filterCandidates, prepareSteady, rankCandidates, warningsOf } from "./framework/judging.ts";
import type { Aspect, CandidateChange, Parts, PlacementPlace, Plugin, Situation } from "./framework/plugin.ts";
import { labelsOfGrants, notGranted } from "./plugins/tenant-clusters.ts";
import type { Profile } from "./profile.ts";

// Whether a cycle that was carried out comes out the same although a member changed. False only means that it has to run.

/** A placement as far as what it looks at goes. */
type Looking = Pick<Situation, "policy" | "namespace" | "grants">;

/**
 * Whether nothing that changed about a candidate is looked at: not by a plugin, under this policy and in this namespace,
 * nor because the policy names the candidate. Such a change is none for the placement, wherever that is.
 */
export function isLookedPast({ policy, ...place }: Looking, change: CandidateChange, { plugins }: Profile): boolean {
  const aspects = changedAspects(change);
  if (aspects === null) return false;
  if (aspects.length === 0) return true;
  if (policy.kind === "PickFixed") {
    // Namespaces keep nothing away from there, but are warned of.
    const warned = place.namespace === null ? [] : ["namespaces", `namespace ${place.namespace}`];
    const asked: readonly string[] = ["contact", ...warned, ...labelsOfGrants(place.grants)];
    return !policy.clusterNames.includes(change.is.cluster.name) || !aspects.some((it) => asked.includes(it));
  }
  const looked = lookedAt(plugins)(policy)(place);
  return looked !== null && !aspects.some((it) => looked.has(it));
}

/** What plugins look at under a policy, for the place that was asked about last; null where one of them does not say. */
const lookedAt = remembered((plugins: readonly Plugin[]) =>
  remembered((policy: PlacementPolicy) => {
    let last: { readonly place: PlacementPlace; readonly looked: ReadonlySet<Aspect> | null } | null = null;
    return ({ namespace, grants }: PlacementPlace): ReadonlySet<Aspect> | null => {
      if (last === null || last.place.namespace !== namespace || last.place.grants !== grants) {
        const place = { namespace, grants };
        const said = plugins.map((it) => it.looksAt?.(policy, place) ?? null);
        last = { place, looked: said.every((it) => it !== null) ? new Set(said.flat()) : null };
      }
      return last.looked;
    };
  }),
);

/** What changed about a candidate; null where it is another one. */
const changedAspects = remembered(({ was, is }: CandidateChange): readonly Aspect[] | null => {
  if (was.cluster.name !== is.cluster.name) return null;
  const keys = [was, is].flatMap((it) => [...Object.keys(it.cluster.labels), ...Object.keys(it.facts.labels)]);
  const properties = [...was.facts.properties.keys(), ...is.facts.properties.keys()];
  return [
    ...[...new Set(keys)]
      .filter((it) => was.cluster.labels[it] !== is.cluster.labels[it] || was.facts.labels[it] !== is.facts.labels[it])
      .map((it) => `label ${it}` as const),
    ...[...new Set(properties)]
      .filter((it) => was.facts.properties.get(it)?.value !== is.facts.properties.get(it)?.value)
      .map((it) => `property ${it}` as const),
    ...(JSON.stringify(was.cluster.taints) === JSON.stringify(is.cluster.taints) ? [] : ["taints" as const]),
    ...changedNamespaces(was.facts.namespaces, is.facts.namespaces),
    ...(was.contactFailure === is.contactFailure && was.agent === is.agent ? [] : ["contact" as const]),
  ];
});

function changedNamespaces(was: MemberNamespaces | null, is: MemberNamespaces | null): readonly Aspect[] {
  if (was === is) return [];
  const [before, after] = [was?.names ?? null, is?.names ?? null];
  if (was?.isCut !== is?.isCut || before === null || after === null) return ["namespaces"];
  return [...before.keys(), ...after.keys()]
    .filter((it) => before.has(it) !== after.has(it))
    .map((it) => `namespace ${it}` as const);
}

/**
 * Whether a cycle gives the same result although a candidate that the placement is not on has changed: every plugin
 * gives the same verdict on it, to the word. So relabelling a cluster only affects placements that look at the label.
 *
 * True needs plugins that judge every candidate by itself.
 */
export function hasSameVerdict(
  { policy, namespace, grants, now }: Looking & Pick<Situation, "now">,
  { was, is }: CandidateChange,
  profile: Profile,
): boolean {
  if (was.cluster.name !== is.cluster.name) return false;
  if (policy.kind === "PickFixed") return !policy.clusterNames.includes(is.cluster.name);
  if (!isSeenAlike({ was, is }, policy, profile.plugins)) return false;
  const [before, after] = [was, is].map((candidate) => {
    const situation = { policy, namespace, grants, candidates: [candidate], now };
    // The others judge alike whom others see alike.
    const prepared = prepareSteady(
      { ...situation, holders: nobody, obsolete: nobody, leaving: nobody },
      profile.plugins,
    );
    const { fits, refused, wakeAt } = filterCandidates([candidate], prepared, 1);
    return {
      score: rankCandidates(fits, prepared)[0]?.score,
      refused: refused[0],
      wakeAt,
      warnings: warningsOf(prepared),
    };
  });
  return (
    before?.warnings.join("\n") === after?.warnings.join("\n") &&
    before?.wakeAt === after?.wakeAt &&
    before?.refused?.plugin === after?.refused?.plugin &&
    before?.refused?.because === after?.refused?.because &&
    before?.score?.affinity === after?.score?.affinity
  );
}

/** Whether the verdicts on all other candidates rest on the same. */
const isSeenAlike = ({ was, is }: CandidateChange, policy: PlacementPolicy, plugins: readonly Plugin[]): boolean =>
  plugins.every((it) => it.othersSee === undefined || it.othersSee(was, policy) === it.othersSee(is, policy));

const nobody: ReadonlySet<ClusterName> = new Set();

/** How a placement that is carried out stands to a candidate. */
interface Standing {
  readonly binding: Pick<Binding, "state" | "removal" | "policySnapshot"> | null;
  /** The policy snapshot in force. */
  readonly latest: Pick<PolicySnapshot, "index" | "verdict">;
}

/**
 * Whether a cycle of PickN that was carried out gives the same result although a candidate changed, by which nothing is
 * said of the others: the placement is on it under the policy in force, and stays there whatever becomes of it; or all
 * that are wanted are there, the list of those that fit and are not needed is full, and the candidate was not good enough
 * for it and is not now.
 *
 * `cycle` is the one that would run.
 */
export function hasSameOutcome(
  cycle: Omit<Situation, "holders" | "obsolete" | "leaving">,
  change: CandidateChange,
  standing: Standing,
  { plugins }: Profile,
): boolean {
  const { was, is } = change;
  const { policy, candidates } = cycle;
  if (policy.kind !== "PickN" || was.cluster.name !== is.cluster.name || was.agent !== is.agent) return false;
  const isHeld = isHeldForGood(standing);
  if (standing.binding !== null && !isHeld) return false;
  const changing = plugins.filter((it) => it.changesWithPicks);
  if (!isSeenAlike(change, policy, changing)) return false;
  const situation = { ...cycle, holders: nobody, obsolete: nobody, leaving: nobody };
  const parts = partsIn(situation, plugins);
  if (parts === null || parts.scores.some((it) => it.concernsOthers?.(change, candidates) === true)) return false;
  if (was.facts !== is.facts && !isWarnedAlike(change, situation, plugins)) return false;
  // What stays on a cluster that its grant does not reach is reported.
  if (isHeld) return notGranted(was.cluster, cycle.grants) === notGranted(is.cluster, cycle.grants);
  // Which domains there are depends on who fits, and whoever did not fit may stand in a better one.
  const isSpread = changing.some((it) => it.looksAt === undefined || it.looksAt(policy, cycle).length > 0);
  return isUnlisted(change, standing.latest.verdict, parts, isSpread);
}

/** Whether the placement is on the candidate under the policy in force, and nothing takes it away. */
const isHeldForGood = ({ binding, latest }: Standing): boolean =>
  binding !== null &&
  binding.state !== "Unscheduled" &&
  binding.removal === null &&
  binding.policySnapshot === latest.index;

/** What the plugins that picks do not change say, in parts; null where one of them does not tell its parts. */
function partsIn(situation: Situation, plugins: readonly Plugin[]): Parts | null {
  const parts = prepareSteady(situation, plugins).plugins.map((it) => it.at.parts ?? null);
  if (!parts.every((it) => it !== null)) return null;
  return { fits: parts.flatMap((it) => it.fits), scores: parts.flatMap((it) => it.scores) };
}

/** Whether a candidate that is not on a full list of those that fit and are not needed was too bad for it, and still is. */
function isUnlisted(
  { was, is }: CandidateChange,
  verdict: PolicySnapshot["verdict"],
  { fits, scores }: Parts,
  isSpread: boolean,
): boolean {
  const worst = verdict === null ? null : lastListed(verdict);
  if (worst === null || verdict?.decisions.some((it) => it.cluster === is.cluster.name) !== false) return false;
  const [didFit, isFit] = [was, is].map((candidate) => fits.every((it) => it.of(candidate) === 1));
  if (didFit !== isFit && isSpread) return false;
  if (isFit !== true) return true;
  // Whoever fits in a worse domain than the last one listed stays behind it by any affinity; none fits in a better one.
  return scores.reduce((sum, it) => sum + it.of(is), 0) < worst.affinity;
}

/** The score of the last one listed that fits and is not needed; null where there is room for one more, or some lack. */
const lastListed = remembered(({ decisions, condition }: NonNullable<PolicySnapshot["verdict"]>) => {
  const surplus = decisions.filter((it) => !it.selected && it.score !== null);
  const isFull = condition.status === "True" && surplus.length === maxExplained;
  return isFull ? (surplus.reduce((worst, it) => (isBehind(it, worst) ? it : worst)).score ?? null) : null;
});

const isBehind = ({ score: a }: ClusterDecision, { score: b }: ClusterDecision): boolean =>
  a !== null && b !== null && (a.topology - b.topology || a.affinity - b.affinity) < 0;

const isWarnedAlike = ({ was, is }: CandidateChange, situation: Situation, plugins: Profile["plugins"]): boolean => {
  const [before, after] = [was, is].map((it) =>
    warningsOf(prepareSteady({ ...situation, candidates: [it] }, plugins)).join("\n"),
  );
  return before === after;
};
