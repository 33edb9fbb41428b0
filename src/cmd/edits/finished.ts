import { confirmationPath } from "../../core/intent/kinds/deletion-confirmation.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { EvictionRecord } from "../../core/model/placement.ts";
import { isApprovalPath } from "../../core/model/trust.ts";
import type { RunRecord } from "../../core/model/update-run.ts";
import { compareText, type Digest, type PlacementKey } from "../../core/model/value.ts";
import { requestsIn } from "../../core/plan/approval/approval-request.ts";
import { chooseRollback } from "../../core/report/rollback-choice.ts";
import { isEvictionOf } from "./drain.ts";
import { documentsFound, type FoundDocument, type TextFile, valueIn, type WantedDocument } from "./found-document.ts";
import { evictionKind, runKind } from "./new-object.ts";

/** The files of a work tree. */
interface SourceTree {
  readonly find: (wanted: WantedDocument) => readonly FoundDocument[];
  readonly files: readonly TextFile[];
  /** Whether a file is as the record's reconciler read it last. */
  readonly wasRead: (file: TextFile) => boolean;
}

export interface FinishedDocuments {
  readonly runs: readonly FoundDocument[];
  readonly evictions: readonly FoundDocument[];
  readonly approvals: readonly FoundDocument[];
  readonly confirmations: readonly FoundDocument[];
}

/** How many runs of a placement stay in any case. */
const runsKept = 3;

/**
 * Documents that the record no longer needs: ended runs, but for each placement's last three and what a rollback needs;
 * processed evictions; idle answers; confirmations that were judged and are not being carried out.
 */
export function finishedDocuments(ledger: Ledger, tree: SourceTree): FinishedDocuments {
  const { find, files } = tree;
  const placements = [...new Set([...ledger.runs.values()].map((it) => it.spec.placement))].sort(compareText);
  return {
    runs: placements.flatMap((it) => dispensable(ledger, it)).flatMap((it) => find(wantedRun(it)).filter(isOf(it))),
    evictions: [...ledger.evictions.values()].flatMap((it) => find(wantedEviction(it)).filter(isEvictionOf(it))),
    approvals: idleApprovals(ledger, tree),
    confirmations: files.filter(({ path }) => isUsed(confirmationPath(path), ledger)).flatMap(documentsFound),
  };
}

/** The runs of a placement that have ended and are of no use, the oldest first. */
function dispensable(ledger: Ledger, placement: PlacementKey): readonly RunRecord[] {
  const its = [...ledger.runs.values()].filter((it) => it.spec.placement === placement);
  const old = its.sort((a, b) => b.since - a.since).slice(runsKept);
  const going: RunRecord[] = [];
  // What last went through is what people go back to, whatever is tried next.
  const good = its.find((it) => it.end?.kind === "succeeded");
  for (const run of old.filter((it) => it.end !== null && it !== good).reverse())
    if (rollsBackAlike(ledger, placement, [...going, run])) going.push(run);
  return going;
}

/** Whether a rollback would go to the same version by the same strategy, were it not for these runs. */
function rollsBackAlike(ledger: Ledger, placement: PlacementKey, without: readonly RunRecord[]): boolean {
  const record = ledger.placements.get(placement);
  if (record === undefined) return true;
  const request = { index: null, strategy: null };
  const runs = new Map([...ledger.runs].filter(([, it]) => !without.includes(it)));
  return (
    JSON.stringify(chooseRollback({ ...ledger, runs }, record, request)) ===
    JSON.stringify(chooseRollback(ledger, record, request))
  );
}

const wantedRun = ({ namespace, name }: RunRecord): WantedDocument => ({ kind: runKind(namespace), namespace, name });

/** Whether a file is about what was recorded, and not about something new under the name. */
const isOf =
  ({ spec, namespace }: RunRecord) =>
  (it: FoundDocument): boolean =>
    inNamespace(namespace, valueIn(it, "spec", "placementName")) === spec.placement &&
    inNamespace(namespace, valueIn(it, "spec", "stagedRolloutStrategyName")) === spec.strategy;

const inNamespace = (namespace: string | null, name: unknown): string =>
  namespace === null ? String(name) : `${namespace}/${String(name)}`;

const wantedEviction = ({ name }: EvictionRecord): WantedDocument => ({ kind: evictionKind, namespace: null, name });

/**
 * Answers without effect: to ended runs or, of those that were read, ones that do not count or whose request is gone,
 * for good: its digest contains a nonce. An unread answer may be to a newer request.
 */
function idleApprovals(ledger: Ledger, { files, wasRead }: SourceTree): readonly FoundDocument[] {
  const asks = requestsIn(ledger);
  const known = new Set<string>(asks.map((it) => it.request.digest));
  const over = asks.filter((it) => it.kind === "gate" && it.run.end !== null);
  const ended = new Set<string>(over.map((it) => it.request.digest));
  return files
    .filter(({ path }) => isApprovalPath(path))
    .flatMap((file) => {
      const isDenied = ledger.answers.get(file.path)?.judgement.kind === "denied";
      const isRead = wasRead(file);
      return documentsFound(file).filter((it) => {
        const digest = String(valueIn(it, "spec", "requestDigest"));
        return ended.has(digest) || (isRead && isAnswer(it) && (isDenied || !known.has(digest)));
      });
    });
}

/** Files that are not valid approvals stay: `validate` says what is wrong with them. */
const isAnswer = (it: FoundDocument): boolean =>
  valueIn(it, "kind") === "Approval" && typeof valueIn(it, "spec", "requestDigest") === "string";

/** A confirmation is judged once, and never counts again (`plan/README.md#d-3`). */
const isUsed = (digest: Digest | null, { deletions: { confirmations, held } }: Ledger): boolean =>
  digest !== null && confirmations.has(digest) && !held.some((it) => it.digest === digest);
