import { remembered } from "../model/identity.ts";
import type { InventoryEntry } from "../model/inventory.ts";
import type { LiveObject, Observation } from "../model/observation.ts";
import type { PlacementKey } from "../model/value.ts";

/**
 * Placements with something to look at on a member; nearly always none, and nobody goes through their objects again.
 */
export const disturbedPlacements = remembered(
  ({ inventory, objects }: Extract<Observation, { kind: "reached" }>): ReadonlySet<PlacementKey> => {
    let disturbed: Set<PlacementKey> | null = null;
    for (const [placement, { entries }] of inventory.placements) {
      for (const [key, entry] of entries) {
        if (isUndisturbed(objects.get(key), entry)) continue;
        disturbed ??= new Set();
        disturbed.add(placement);
        break;
      }
    }
    return disturbed ?? none;
  },
);

const none: ReadonlySet<never> = new Set<never>();

const isUndisturbed = (live: LiveObject | undefined, entry: InventoryEntry): boolean =>
  live !== undefined &&
  live.fingerprint === entry.fingerprint &&
  live.uid === entry.uid &&
  live.health.phase === "available" &&
  !live.terminating &&
  entry.outcome.kind === "applied" &&
  !entry.adopted &&
  entry.repairs === undefined;
