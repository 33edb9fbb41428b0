import type { Plugin } from "../framework.ts";

/**
 * Keeps a cluster from being picked twice, and prefers clusters that the placement is on already
 * (`schedule/README.md#sameplacementantiaffinity`): a change of policy moves nothing that it need not move.
 *
 * KubeFleet knows only clusters of an earlier policy here. With `prefersLeaving`, a cluster whose removal is pending
 * comes next: taking it back is cheaper than starting on an equal one (`#a-26`, case `#n14`).
 */
export const samePlacementAntiAffinity = ({ prefersLeaving }: { readonly prefersLeaving: boolean }): Plugin => ({
  name: "SamePlacementAntiAffinity",
  judgesAlone: true,

  prepare: ({ holders, obsolete, leaving }) => ({
    filter: ({ cluster }) => (holders.has(cluster.name) ? "alreadySelected" : "fits"),
    score({ cluster: { name } }) {
      if (obsolete.has(name)) return { stickiness: 2 };
      return { stickiness: prefersLeaving && leaving.has(name) ? 1 : 0 };
    },
  }),
});
