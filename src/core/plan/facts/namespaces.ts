import { type NamespacesFound, recordedNamespaces } from "../../members/namespaces.ts";
import { conditionOf, type Verdict } from "../../model/condition.ts";
import type { ClusterRecord } from "../../model/ledger.ts";
import type { NamespacesSeen, Observation } from "../../model/observation.ts";
import { placedNamespaces } from "../../model/placement.ts";
import type { World } from "../../model/plan.ts";
import type { Instant } from "../../model/value.ts";
import type { Reached } from "./members.ts";

/** What is recorded of the namespaces of a member that answered; what it was, where nothing is worth a commit. */
export function namespacesOf(
  { namespaces: before }: ClusterRecord,
  { namespaces: seen }: Reached,
  { intent, now }: Pick<World, "intent" | "now">,
): NamespacesFound {
  const placed = placedNamespaces(intent.placements);
  const known = seen === undefined ? undefined : judged.get(seen);
  if (known !== undefined && known.found.namespaces === before && known.placed === placed && isCalm(known.found, now))
    return known.found;
  const found = recordedNamespaces(before, seen, { placed, now });
  if (seen !== undefined) judged.set(seen, { found, placed });
  return found;
}

/** What was last made of a list of namespaces: one that did not change is judged once. */
const judged = new WeakMap<NamespacesSeen, { readonly found: NamespacesFound; readonly placed: ReadonlySet<string> }>();

const isCalm = ({ until }: NamespacesFound, now: Instant): boolean => until === null || now < until;

const conditionType = "NamespaceCollectionSucceeded";

/**
 * What listing the namespaces of a member came to, by KubeFleet's type and reasons: none where nobody asks about them,
 * and Unknown where they could not be listed (`members/README.md#namespaces`).
 */
export function namespacesVerdict(
  { namespaces, conditions, generation }: ClusterRecord,
  seen: NamespacesSeen | null,
  { placements }: Pick<World["intent"], "placements">,
): readonly Verdict[] {
  if (placedNamespaces(placements).size === 0) return [];
  const verdict = (status: Verdict["status"], reason: string, message: string): readonly Verdict[] => [
    { type: conditionType, status, reason, message, observedGeneration: generation },
  ];
  if (seen?.kind === "missing") return verdict("Unknown", seen.missing.code, seen.missing.message);
  if (seen === null || namespaces === null) {
    const said = conditionOf(conditions, conditionType);
    return said === null ? [] : [{ ...said, observedGeneration: generation }];
  }
  return namespaces.isCut
    ? verdict(
        "False",
        "Degraded",
        `it has more namespaces than the ${namespaces.names.size} that are recorded: one that is not among them may be there`,
      )
    : verdict("True", "Succeeded", "its namespaces were listed");
}

/** What a member said of its namespaces in this look; null where nobody asked. */
export const namespacesIn = (seen: Observation | undefined): NamespacesSeen | null =>
  seen?.kind === "reached" ? (seen.namespaces ?? null) : null;
