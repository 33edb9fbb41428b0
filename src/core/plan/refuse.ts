import { remembered } from "../model/identity.ts";
import type { Inventory } from "../model/inventory.ts";
import type { Refusal, World } from "../model/plan.ts";

/**
 * Says why this world must not be acted upon, or null.
 *
 * A member that remembers more than the ledger does proves that the state branch was lost or set back: deciding from
 * such a ledger would undo what it has forgotten (`reconcile/README.md#branches-that-are-not-as-they-were`).
 */
export function refuse({ ledger, observed }: World): Refusal | null {
  for (const [name, seen] of observed) {
    if (seen.kind !== "reached" || seen.inventory.fleet === "") continue;
    const { inventory } = seen;
    if (ledger.fleet === "") {
      return {
        code: "StateLost",
        message: `there is no state branch, but member ${name} holds the inventory of fleet ${inventory.fleet}`,
        fix: "restore the state branch from a clone or a backup, or delete the namespace flotilla-system in members that are to start anew",
      };
    }
    if (inventory.fleet !== ledger.fleet) continue;
    const newest = newestIn(inventory);
    if (inventory.epoch > ledger.epoch || newest > ledger.sequence) {
      return {
        code: "StateRewound",
        message: `member ${name} was last written in epoch ${inventory.epoch}, sequence ${newest}, but the state branch stands at epoch ${ledger.epoch}, sequence ${ledger.sequence}`,
        fix: "restore the state branch to its newest commit",
      };
    }
  }
  return null;
}

/** The latest decision that an inventory knows of. */
const newestIn = remembered(({ placements }: Inventory): number => {
  let newest = 0;
  for (const { sequence } of placements.values()) if (sequence > newest) newest = sequence;
  return newest;
});
