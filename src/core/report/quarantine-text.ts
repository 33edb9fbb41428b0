import type { Json } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import { placementGroup } from "../model/names.ts";
import type { Quarantine } from "../model/plan-defect.ts";
import { instantText, type PlacementKey } from "../model/value.ts";
import { quarantineText, quarantineVerdict } from "../status/quarantine.ts";

/** Quarantines of placements that were never planned soundly: nothing else is on record about them. */
const unplanned = ({ quarantines, placements }: Pick<Ledger, "quarantines" | "placements">) =>
  [...quarantines.values()].filter((it) => !placements.has(it.placement));

/** Every placement that is on record, or would be but for its quarantine. */
export const knownPlacements = (ledger: Pick<Ledger, "quarantines" | "placements">): readonly PlacementKey[] => [
  ...ledger.placements.keys(),
  ...unplanned(ledger).map((it) => it.placement),
];

/** Why placements stay as recorded, one line each. */
export const quarantineLines = (ledger: Ledger, name: string | null): readonly string[] =>
  [...ledger.quarantines.values()]
    .filter((it) => name === null || it.placement === name)
    .map((it) => lineOf(it, ledger));

function lineOf({ placement, since, violations }: Quarantine, { placements }: Pick<Ledger, "placements">): string {
  const never = placements.has(placement) ? "" : "was never placed, and ";
  return `${placement} is in quarantine since ${instantText(since)}: ${never}${quarantineText(violations)}`;
}

/** For programs: placements that were never planned soundly as KubeFleet's objects, of which there is a status alone. */
export const unplannedItems = (ledger: Ledger, name: string | null): readonly Json[] =>
  unplanned(ledger)
    .filter((it) => name === null || it.placement === name)
    .map((quarantine) => {
      const [first = "", second] = quarantine.placement.split("/");
      const [namespace, own] = second === undefined ? [null, first] : [first, second];
      const scope = namespace === null ? "Cluster" : "Namespaced";
      const { observedGeneration: _, ...verdict } = quarantineVerdict({ scope, generation: 0 }, quarantine);
      return {
        apiVersion: `${placementGroup}/v1beta1`,
        kind: namespace === null ? "ClusterResourcePlacement" : "ResourcePlacement",
        metadata: namespace === null ? { name: own } : { name: own, namespace },
        status: { conditions: [{ ...verdict, lastTransitionTime: instantText(quarantine.since) }] },
      };
    });
