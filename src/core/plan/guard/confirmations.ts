import type { ConfirmationRecord, DeletionBasis, DeletionLedger, HeldDeletion } from "../../model/deletion.ts";
import { sameMap } from "../../model/identity.ts";
import { type Commit, compareText, type Digest } from "../../model/value.ts";
import { basisOf, type LedgerBefore } from "./deletion-digest.ts";
import type { SetLookup } from "./protected-others.ts";

export interface ConfirmationInput {
  readonly cause: Commit;
  /** Digests of the files under `approvals/deletions/`. */
  readonly confirmations: ReadonlySet<Digest>;
  readonly ledgerBefore: LedgerBefore;
  /** Whether a set takes along what others have in protected places, and enough people approved that before this pass. */
  readonly isApproved: SetLookup;
}

/**
 * Judges every confirmation that was not read before, once: the set that waits under its digest may go, and where none
 * waits it is void for good (`plan/README.md#d-3`). In protected places no file counts: there a set may go once the change
 * of its placement is approved. `before` itself when nothing came or went.
 */
export function withConfirmations(
  before: DeletionLedger,
  { cause, confirmations, ledgerBefore, isApproved }: ConfirmationInput,
): DeletionLedger {
  const fresh = [...confirmations].filter((it) => !before.confirmations.has(it));
  const kept = [...before.confirmations].filter(
    ([digest, it]) => confirmations.has(digest) || mayBeAsked(it, ledgerBefore),
  );
  const held = before.held.map((it) =>
    isConfirmedBy(it, fresh) || (isProtected(it) && !it.confirmed && isApproved(it, before.held))
      ? { ...it, confirmed: true }
      : it,
  );
  const isSame = held.every((it, at) => it === before.held[at]);
  if (isSame && fresh.length === 0 && kept.length === before.confirmations.size) return before;
  const judged = fresh.map((digest) => [digest, recordOf(digest, before, { cause, ledgerBefore })] as const);
  const records = new Map([...kept, ...judged].sort(([a], [b]) => compareText(a, b)));
  return {
    ...before,
    held: isSame ? before.held : held,
    confirmations: sameMap(records, before.confirmations) ? before.confirmations : records,
  };
}

const isConfirmedBy = (set: HeldDeletion, fresh: readonly Digest[]): boolean =>
  !set.confirmed && !isProtected(set) && fresh.includes(set.digest);

const isProtected = ({ because }: HeldDeletion): boolean => because === "protected";

function recordOf(
  digest: Digest,
  { held }: DeletionLedger,
  { cause, ledgerBefore }: Pick<ConfirmationInput, "cause" | "ledgerBefore">,
): ConfirmationRecord {
  const [group] = held.find((it) => it.digest === digest && !isProtected(it))?.groups ?? [];
  const [cluster] = group?.clusters ?? [];
  if (group === undefined || cluster === undefined) return { digest, outcome: "void", commit: cause, basis: null };
  return { digest, outcome: "used", commit: cause, basis: basisOf(group.placement, cluster, ledgerBefore) };
}

/** Whether the same could still be asked: then a file that comes back must not answer. */
function mayBeAsked({ basis }: ConfirmationRecord, ledgerBefore: LedgerBefore): boolean {
  return basis !== null && sameBasis(basis, basisOf(basis.placement, basis.cluster, ledgerBefore));
}

const sameBasis = (a: DeletionBasis, b: DeletionBasis): boolean => a.binding === b.binding && a.sequence === b.sequence;
