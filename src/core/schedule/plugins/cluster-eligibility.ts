import type { ContactFailure } from "../../model/ledger.ts";
import { type Instant, instantText, later, minutes, seconds } from "../../model/value.ts";
import { judgeAgent } from "../framework/agent.ts";
import type { Candidate } from "../framework/cycle.ts";
import type { Parts, Plugin } from "../framework/plugin.ts";

/**
 * Refuses clusters that have been out of contact for more than five minutes (`schedule/README.md#clustereligibility`,
 * `#a-48`). A member that was never asked is eligible.
 *
 * With PickAll, so is a cluster that has the placement from an earlier policy or is losing it: nothing new would be
 * placed there, and dropping it for its silence would delete what is wanted as soon as it answers
 * (`plan/README.md#d-2`). PickN finds other clusters (case `schedule/README.md#n22`).
 */
export const clusterEligibility: Plugin = {
  name: "ClusterEligibility",
  changesWithPicks: false,

  prepare({ policy, now, obsolete, leaving }) {
    const isThere = ({ cluster: { name }, agent }: Candidate): boolean =>
      policy.kind === "PickAll" && agent === null && (obsolete.has(name) || leaving.has(name));
    return {
      filter: (it) => (ineligibility(it, now) === null || isThere(it) ? "fits" : "unschedulable"),
      because: (it) => ineligibility(it, now) ?? "",
      remedy: () => "it has to be in contact again",
      turnsAt: (it) => (isThere(it) ? null : turnsIneligibleAt(it, now)),
      parts: eligibleParts(now),
    };
  },

  looksAt: () => ["contact"],
};

const eligibleParts = (now: Instant): Parts => ({
  fits: [
    {
      asked: "fits",
      of: (it) => (ineligibility(it, now) === null ? 1 : 0),
      turnsAt: (it) => turnsIneligibleAt(it, now),
    },
  ],
  scores: [],
});

/**
 * Why nothing new may be placed on the member now, or null. PickFixed checks nothing else.
 *
 * Names the moment and never the time elapsed, which would change the message in every pass
 * (`schedule/README.md#a-40`).
 */
export function ineligibility({ contactFailure, agent }: Candidate, now: Instant): string | null {
  if (agent !== null) return judgeAgent(agent, now).because;
  if (contactFailure === null) return null;
  if (contactFailure.code === "IdentityChanged")
    return "its address answers for another cluster than the one that joined";
  return now >= ineligibleFrom(contactFailure)
    ? `no contact since ${instantText(contactFailure.since)} (${contactFailure.code})`
    : null;
}

/** When a member out of contact stops being eligible; null when it is not eligible now, or in contact. */
export const turnsIneligibleAt = (candidate: Candidate, now: Instant): Instant | null =>
  candidate.agent !== null
    ? judgeAgent(candidate.agent, now).turnsAt
    : candidate.contactFailure !== null && ineligibility(candidate, now) === null
      ? ineligibleFrom(candidate.contactFailure)
      : null;

// "More than five minutes" at the record's resolution: exactly five minutes are still eligible, one second more is not.
const ineligibleFrom = ({ since }: ContactFailure): Instant => later(later(since, minutes(5)), seconds(1));
