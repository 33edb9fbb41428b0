import type { ClusterDecision } from "../model/ledger.ts";
import type { PlacementPolicy } from "../model/placement.ts";
import { type ClusterName, earliest, type Instant } from "../model/value.ts";
import { type Candidate, type Classes, type Cycle, clustersOf, membersIn } from "./cycle.ts";
import { namedDecision, refusedDecision } from "./decision.ts";
import { type Changes, crossReference, namesOf } from "./moves.ts";
import { clusterEligibility, ineligibility, turnsIneligibleAt } from "./plugins/cluster-eligibility.ts";
import type { Profile } from "./profile.ts";

/** The outcome for a list of names: PickFixed explains every one of them, in the order of the list. */
export interface FixedPick {
  readonly changes: Changes;
  readonly decisions: readonly ClusterDecision[];
  readonly warnings: readonly string[];
  readonly wakeAt: Instant | null;
}

/**
 * Picks the named clusters that exist and are eligible; affinity and taints play no part
 * (`schedule/README.md#pickfixed`).
 *
 * Bindings of the present policy are never dropped. By default, a named cluster that holds the placement stays selected
 * when it becomes ineligible, with a warning (`#a-36`, cases `#f3` and `#f4`).
 */
export function pickFixed(
  cycle: Cycle,
  { clusterNames }: Extract<PlacementPolicy, { readonly kind: "PickFixed" }>,
  classes: Classes,
  profile: Profile,
): FixedPick {
  const stay = [...classes.scheduled, ...classes.bound];
  const holders = clustersOf(stay);
  const resident = clustersOf(
    profile.keepsIneligibleTargets ? [...stay, ...classes.obsolete, ...classes.unscheduled] : [],
  );
  const members = membersIn(cycle.candidates);
  const judge = (name: ClusterName): Target =>
    judgeTarget(name, members.get(name) ?? null, { isResident: resident.has(name), now: cycle.now });
  const targets = [...new Set(clusterNames)].map(judge);
  const valid = targets.filter((it) => it.kind === "valid");
  const picked = valid.filter((it) => !holders.has(it.decision.cluster)).map((it) => it.decision);
  return {
    changes: crossReference(picked, classes),
    decisions: [
      ...valid.map((it) => it.decision),
      ...targets.filter((it) => it.kind === "ineligible").map((it) => it.decision),
      ...targets.filter((it) => it.kind === "unknown").map((it) => it.decision),
    ],
    warnings: valid.flatMap((it) => it.warning ?? []),
    wakeAt: earliest(...targets.map((it) => it.turnsAt)),
  };
}

/**
 * What KubeFleet makes of an emptied list: only clusters that left are cleaned up, and nothing is said (case
 * `schedule/README.md#f6`).
 */
export const pickNothing = ({ dangling }: Classes): FixedPick => ({
  changes: { create: [], keep: [], drop: namesOf(dangling) },
  decisions: [],
  warnings: [],
  wakeAt: null,
});

interface Target {
  readonly kind: "valid" | "ineligible" | "unknown";
  readonly decision: ClusterDecision;
  readonly warning: string | null;
  readonly turnsAt: Instant | null;
}

function judgeTarget(
  name: ClusterName,
  candidate: Candidate | null,
  { isResident, now }: { readonly isResident: boolean; readonly now: Instant },
): Target {
  if (candidate === null) {
    const because = "no member cluster has this name";
    const decision = refusedDecision({ cluster: name, plugin: "PickFixed", because });
    return { kind: "unknown", decision, warning: null, turnsAt: null };
  }
  const because = ineligibility(candidate, now);
  const turnsAt = turnsIneligibleAt(candidate, now);
  if (because === null) return { kind: "valid", decision: namedDecision(name, null), warning: null, turnsAt };
  if (isResident) {
    const warning = `${name} stays selected although it is not eligible: ${because}`;
    return { kind: "valid", decision: namedDecision(name, because), warning, turnsAt };
  }
  const decision = refusedDecision({ cluster: name, plugin: clusterEligibility.name, because });
  return { kind: "ineligible", decision, warning: null, turnsAt };
}
