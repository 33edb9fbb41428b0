import type { DeletionLedger, HeldDeletion } from "../../core/model/deletion.ts";
import { confirmationFile } from "../../core/report/explain.ts";

/** Which set of deletions somebody means, or why none. */
export type ChosenDeletion =
  | { readonly kind: "chosen"; readonly set: HeldDeletion }
  /** Several are meant: one has to be named. */
  | { readonly kind: "several"; readonly sets: readonly HeldDeletion[] }
  /** Nothing of that is recorded. It may be what a commit would take away that nobody has reconciled yet. */
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly message: string; readonly fix: string };

/** Finds the set that waits and is meant: by its digest or the beginning of it; without one, the only one that waits. */
export function chooseDeletion({ held, confirmations }: DeletionLedger, wish: string | null): ChosenDeletion {
  const waiting = held.filter((it) => !it.confirmed && isMeant(it, wish));
  const [first, second] = waiting;
  if (first !== undefined)
    return second === undefined ? { kind: "chosen", set: first } : { kind: "several", sets: waiting };
  if (wish === null) return { kind: "unknown" };
  if (!/^[0-9a-f]{6,64}$/.test(wish))
    return refused(`${wish} is no digest of deletions`, "give at least the first six of its 64 hexadecimal digits");
  if (held.some((it) => isMeant(it, wish)))
    return refused(`the deletions of ${wish} are confirmed`, "what is left of them goes by itself");
  const judged = [...confirmations.values()].find((it) => isMeant(it, wish));
  if (judged === undefined) return { kind: "unknown" };
  const { path } = confirmationFile(judged.digest);
  return judged.outcome === "used"
    ? refused(`${path} was used: it counts once`, "flotilla get deletions lists what waits now, under other digests")
    : refused(
        `${path} was read when nothing waited for it, and is void`,
        "remove it; flotilla get deletions lists what waits now",
      );
}

const isMeant = ({ digest }: Pick<HeldDeletion, "digest">, wish: string | null): boolean =>
  wish === null || digest.startsWith(wish);

const refused = (message: string, fix: string): ChosenDeletion => ({ kind: "refused", message, fix });
