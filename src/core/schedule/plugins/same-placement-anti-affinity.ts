import { membershipOf, placesOf } from "../framework/cycle.ts";
import { everybodyAlike } from "../framework/groups.ts";
import type { Plugin } from "../framework/plugin.ts";

/**
 * Keeps a cluster from being picked twice, and prefers clusters that the placement is on already
 * (`schedule/README.md#sameplacementantiaffinity`), so that a change of policy moves no more than it has to.
 *
 * KubeFleet prefers only clusters of an earlier policy. With `prefersLeaving`, clusters whose removal is pending come
 * next: taking one back is cheaper than starting on another (`#a-26`, case `#n14`).
 */
export const samePlacementAntiAffinity = ({ prefersLeaving }: { readonly prefersLeaving: boolean }): Plugin => ({
  name: "SamePlacementAntiAffinity",
  changesWithPicks: true,
  looksAt: () => [],

  prepare: ({ candidates, holders, obsolete, leaving }) => ({
    groups() {
      const membership = membershipOf(candidates);
      return { fleet: everybodyAlike, apart: [leaving, obsolete, holders].map((names) => placesOf(names, membership)) };
    },
    filter: ({ cluster }) => (holders.has(cluster.name) ? "alreadySelected" : "fits"),
    score({ cluster: { name } }) {
      if (obsolete.has(name)) return { stickiness: 2 };
      return { stickiness: prefersLeaving && leaving.has(name) ? 1 : 0 };
    },
  }),
});
