import type { Ports } from "../src/shell/reconcile/ports.ts";

/** Ports of a fleet where nobody signs anything, and all nonces are the same. */
export const unsigned: Pick<Ports, "verifier" | "entropy"> = {
  verifier: {
    commit: async ({ commit, changes, merge }) => {
      const signature = { kind: "unsigned" } as const;
      return { commit, parents: [], signature, claimedAuthor: "somebody", changes, merge };
    },
    detached: async () => ({ kind: "rejected", code: "Unsupported", message: "nobody verifies here" }),
  },
  entropy: () => "00".repeat(32),
};
