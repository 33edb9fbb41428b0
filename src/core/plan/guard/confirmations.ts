import type { ConfirmationRecord, DeletionBasis, DeletionLedger, HeldDeletion } from "../../model/deletion.ts";
import { sameMap } from "../../model/identity.ts";
import { type Commit, compareText, type Digest } from "../../model/value.ts";
import { basisOf, type LedgerBefore } from "./deletion-digest.ts";

export interface ConfirmationInput {
  readonly cause: Commit;
  /** Digests of the files under `approvals/deletions/`. */
  readonly confirmations: ReadonlySet<Digest>;
  readonly ledgerBefore: LedgerBefore;
}

/**
 * Judges every confirmation that was not read before, once: the set that waits under its digest may go, and where none
 * waits it is void for good (`plan/README.md#d-3`). `before` itself when no file came or went.
 */
export function withConfirmations(
  before: DeletionLedger,
  { cause, confirmations, ledgerBefore }: ConfirmationInput,
): DeletionLedger {
  const fresh = [...confirmations].filter((it) => !before.confirmations.has(it));
  const kept = [...before.confirmations].filter(
    ([digest, it]) => confirmations.has(digest) || mayBeAsked(it, ledgerBefore),
  );
  if (fresh.length === 0 && kept.length === before.confirmations.size) return before;
  const judged = fresh.map((digest) => [digest, recordOf(digest, before, { cause, ledgerBefore })] as const);
  const records = new Map([...kept, ...judged].sort(([a], [b]) => compareText(a, b)));
  const held = before.held.map((it) => (isConfirmedBy(it, fresh) ? { ...it, confirmed: true } : it));
  const isSame = held.every((it, at) => it === before.held[at]);
  return {
    ...before,
    held: isSame ? before.held : held,
    confirmations: sameMap(records, before.confirmations) ? before.confirmations : records,
  };
}

const isConfirmedBy = ({ confirmed, digest }: HeldDeletion, fresh: readonly Digest[]): boolean =>
  !confirmed && fresh.includes(digest);

function recordOf(
  digest: Digest,
  { held }: DeletionLedger,
  { cause, ledgerBefore }: Pick<ConfirmationInput, "cause" | "ledgerBefore">,
): ConfirmationRecord {
  const [group] = held.find((it) => it.digest === digest)?.groups ?? [];
  const [cluster] = group?.clusters ?? [];
  if (group === undefined || cluster === undefined) return { digest, outcome: "void", commit: cause, basis: null };
  return { digest, outcome: "used", commit: cause, basis: basisOf(group.placement, cluster, ledgerBefore) };
}

/** Whether the same could still be asked: then a file that comes back must not answer. */
function mayBeAsked({ basis }: ConfirmationRecord, ledgerBefore: LedgerBefore): boolean {
  return basis !== null && sameBasis(basis, basisOf(basis.placement, basis.cluster, ledgerBefore));
}

const sameBasis = (a: DeletionBasis, b: DeletionBasis): boolean => a.binding === b.binding && a.sequence === b.sequence;
