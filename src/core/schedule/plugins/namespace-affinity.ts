import type { Candidate } from "../framework/cycle.ts";
import type { Extensions, Plugin, PluginInput } from "../framework/plugin.ts";

/**
 * Refuses clusters that say which namespaces they have and do not have the one of the placement
 * (`schedule/README.md#namespaceaffinity`). Asks nothing for a placement without a namespace.
 */
export const namespaceAffinity: Plugin = {
  name: "NamespaceAffinity",
  changesWithPicks: false,

  prepare({ namespace, candidates }: PluginInput): Extensions {
    if (namespace === null) return { parts: { fits: [], scores: [] } };
    const because = ({ facts: { namespaces } }: Candidate): string | null => {
      if (namespaces === null || namespaces.names?.has(namespace) === true) return null;
      if (namespaces.isCut) return null;
      return namespaces.names === null
        ? "it says nothing of its namespaces"
        : `the namespace ${namespace} does not exist there`;
    };
    const unsure = candidates.filter(
      ({ facts: { namespaces } }) => namespaces?.isCut === true && namespaces.names?.has(namespace) !== true,
    );
    return {
      filter: (candidate) => (because(candidate) === null ? "fits" : "unschedulable"),
      parts: { fits: [{ asked: `fits ${namespace}`, of: (it) => (because(it) === null ? 1 : 0) }], scores: [] },
      because: (candidate) => because(candidate) ?? "",
      remedy: () => `place the namespace ${namespace} there first`,
      warnings: unsure.map(
        (it) => `${it.cluster.name} has more namespaces than it lists: whether ${namespace} is among them is unknown`,
      ),
    };
  },

  looksAt: () => ["namespaces"],
};
