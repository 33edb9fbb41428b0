import { boundedMessage, type Verdict } from "../model/condition.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { Quarantine } from "../model/plan-defect.ts";

/** The condition of a placement that stays as recorded, since every plan for it fails the check (`status/README.md#quarantine`). */
export const quarantineVerdict = (
  { scope, generation }: Pick<PlacementRecord, "scope" | "generation">,
  { violations }: Pick<Quarantine, "violations">,
): Verdict => ({
  type: `${scope === "Cluster" ? "ClusterResourcePlacement" : "ResourcePlacement"}Planned`,
  status: "False",
  reason: "Quarantined",
  message: boundedMessage(quarantineText(violations)),
  observedGeneration: generation,
});

/** Whether it is that condition: no placement that is planned has it. */
export const isQuarantineType = (type: string): boolean => /^(Cluster)?ResourcePlacementPlanned$/.test(type);

/** Why a placement stays as recorded, in words. */
export const quarantineText = (violations: Quarantine["violations"]): string => {
  const said = violations.map(({ code, message }) => `${code}: the plan ${message}`).join("; ");
  return `stays as recorded until the source changes, because of a defect in Flotilla: ${said}`;
};
