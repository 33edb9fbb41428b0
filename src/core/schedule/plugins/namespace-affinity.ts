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
    const because = (it: Candidate): string | null => namespaceMissing(it, namespace);
    return {
      filter: (candidate) => (because(candidate) === null ? "fits" : "unschedulable"),
      parts: { fits: [{ asked: `fits ${namespace}`, of: (it) => (because(it) === null ? 1 : 0) }], scores: [] },
      because: (candidate) => because(candidate) ?? "",
      remedy: () => `place the namespace ${namespace} there first`,
      warnings: candidates.flatMap((it) => namespaceUnsure(it, namespace) ?? []),
    };
  },

  looksAt: (_, { namespace }) => (namespace === null ? [] : ["namespaces", `namespace ${namespace}`]),
};

/** Why the namespace of a placement is not there, in words; null where it is, and where that is not known. */
export function namespaceMissing({ facts: { namespaces } }: Candidate, namespace: string): string | null {
  if (namespaces === null || namespaces.isCut || namespaces.names?.has(namespace) === true) return null;
  return namespaces.names === null
    ? "it says nothing of its namespaces"
    : `the namespace ${namespace} does not exist there`;
}

/** What to warn of where a cluster's list was cut, and the namespace is not on it (`schedule/README.md#a-55`). */
export const namespaceUnsure = (
  { cluster: { name }, facts: { namespaces } }: Candidate,
  namespace: string,
): string | null =>
  namespaces?.isCut === true && namespaces.names?.has(namespace) !== true
    ? `${name} has more namespaces than it lists: whether ${namespace} is among them is unknown`
    : null;
