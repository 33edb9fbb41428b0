import type { Taint } from "../../model/fleet.ts";
import { remembered } from "../../model/identity.ts";
import type { Toleration } from "../../model/placement.ts";
import type { Candidate } from "../framework/cycle.ts";
import type { Plugin } from "../framework/plugin.ts";

/**
 * Refuses clusters with a taint that no toleration covers, and names the first such taint
 * (`schedule/README.md#tainttoleration`).
 *
 * A taint only keeps new placements out: clusters that have the placement under the present policy stay.
 */
export const taintToleration: Plugin = {
  name: "TaintToleration",
  changesWithPicks: false,

  prepare({ policy }) {
    if (policy.kind === "PickFixed") return {};
    const { tolerations } = policy;
    const untolerated = ({ cluster: { taints } }: Candidate): Taint | undefined =>
      taints.find((it) => !tolerations.some((toleration) => tolerates(toleration, it)));
    const isTolerated = (candidate: Candidate): boolean => untolerated(candidate) === undefined;
    return {
      filter: (candidate) => (isTolerated(candidate) ? "fits" : "unschedulable"),
      parts: { fits: [{ asked: toleratedText(tolerations), of: (it) => (isTolerated(it) ? 1 : 0) }], scores: [] },
      because(candidate) {
        const taint = untolerated(candidate);
        return taint === undefined ? "" : `taint ${taintText(taint)} is not tolerated`;
      },
      remedy(candidate) {
        const taint = untolerated(candidate);
        return taint === undefined
          ? ""
          : `tolerate ${taintText(taint)} in the policy, or take the taint off the cluster`;
      },
    };
  },

  looksAt: () => ["taints"],
};

const toleratedText = remembered((tolerations: readonly Toleration[]) => `fits ${JSON.stringify(tolerations)}`);

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  switch (operator) {
    case "Exists":
      return key === "" || key === taint.key;
    case "Equal":
      return key === taint.key && value === taint.value;
  }
}

/** As kubectl writes taints: `key=value:Effect`, or `key:Effect` without a value. */
const taintText = ({ key, value, effect }: Taint): string => `${key}${value === "" ? "" : `=${value}`}:${effect}`;
