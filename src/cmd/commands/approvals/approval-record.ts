import { trustPath } from "../../../core/intent/trust/trust-file.ts";
import { commitLines } from "../../../core/model/commit.ts";
import { digestOfText } from "../../../core/model/json.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import {
  type AnswerRecord,
  type ApprovalFile,
  approversText,
  type StandingAnswers,
} from "../../../core/model/trust.ts";
import type { BlobId, Commit } from "../../../core/model/value.ts";
import {
  type ApprovalRequest,
  isGenuine,
  requestState,
  requestsIn,
} from "../../../core/plan/approval/approval-request.ts";
import { approveCommand } from "../../../core/report/approval-files.ts";
import type { ShownDeletion } from "../../../core/report/deletion-text.ts";
import type { ShownContent } from "../../../core/report/request-changes.ts";
import { readApprovalView } from "../../../shell/reconcile/approval-content.ts";
import { Fault } from "../../../shell/reconcile/fault.ts";
import type { State } from "../../../shell/reconcile/memory.ts";
import type { DeliveryObjection, Repository } from "../../../shell/reconcile/ports.ts";
import { standingAnswers, stateIn } from "../../hub/record.ts";
import { closing, type Environment, type HubOptions, openReconcilerRecord, openRecord } from "../../hub/wire.ts";
import {
  type RefusedRequest,
  type RequestSelector,
  requestTitle,
  selectDeletion,
  selectRequest,
  undoHint,
} from "./request-selection.ts";

/** What is recorded of a work tree's fleet, as far as answers to requests go. */
export interface ApprovalRecord {
  readonly ledger: Ledger;
  /** The paths of all files that were read last. */
  readonly accepted: ReadonlyMap<string, BlobId>;
  /** Those that count as long as their file is there. */
  readonly answers: readonly AnswerRecord[];
  /** The answers that were read last, and whether `fleet.yaml` lets those count that nobody signed. */
  readonly standing: StandingAnswers;
  /** Why no gate opens, whoever approves; null when one may. */
  readonly closed: string | null;
}

/** A request that somebody is about to answer, with what is recorded around it. */
interface FoundRequest {
  readonly kind: "found";
  readonly ask: ApprovalRequest;
  readonly place: ApprovalRecord;
  /** Null where nothing of what it is about can be had: then only the record's own words are shown. */
  readonly look: ShownContent | null;
}

/** Finds the open request that is meant in the record of the work tree's fleet; a forged digest is refused. */
export const findRequest = async (
  selector: RequestSelector,
  verb: string,
  options: HubOptions,
  environment: Environment,
): Promise<FoundRequest | RefusedRequest> =>
  closing(await openRecord(options, environment), async (repository) => {
    const state = await stateIn(repository);
    const chosen = selectRequest(state.ledger, selector, verb);
    if (chosen.kind === "refused") return chosen;
    const { ask } = chosen;
    if (!isGenuine(ask, state.ledger))
      return {
        kind: "refused",
        message: "the request's digest does not match what the record shows: it may be forged",
        fix: "do not approve it; see who wrote the state branch (git log), and let the reconciler make a new request",
      };
    const place = await approvalRecordOf(repository, state);
    return { kind: "found", ask, place, look: await requestContent(repository, state, ask) };
  });

async function approvalRecordOf(repository: Repository, state: State): Promise<ApprovalRecord> {
  const { ledger, accepted } = state;
  const trust = await textAt(repository, state, trustPath);
  return {
    ledger,
    accepted,
    answers: [...ledger.answers.values()].filter(
      ({ file }) => file.decision !== "Approve" || accepted.get(file.path) === file.blob,
    ),
    standing: await standingAnswers(repository, state),
    closed: closedBy(ledger, trust),
  };
}

/** What a file said when it was read last; null when there was none. */
async function textAt(repository: Repository, { accepted }: State, path: string): Promise<string | null> {
  const blob = accepted.get(path);
  if (blob === undefined) return null;
  const bytes = (await repository.blobs([blob])).get(blob);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** A trust file that was read and did not come into force closes every gate, and so does one that is gone. */
function closedBy({ hasTrust, trust }: Ledger, text: string | null): string | null {
  if (trust === null) return hasTrust ? "there was a trust/ folder, but no trust file is in force" : null;
  if (text === trust.text || (text !== null && digestOfText(text) === trust.trust.digest)) return null;
  const what = text === null ? "is missing" : "as last read is not in force";
  return `${trustPath} ${what}; version ${trust.trust.version} is, and no gate opens until it is restored or followed by the next one`;
}

async function requestContent(
  repository: Repository,
  { commit, ledger }: State,
  ask: ApprovalRequest,
): Promise<ShownContent | null> {
  if (commit === null) return null;
  const view = await readApprovalView(repository, commit, ask, ledger);
  const lines: string[] = [];
  for (const it of view.commits) lines.push(await commitText(repository, it));
  return { ...view, commitLines: lines, state: commit };
}

/** `1a2b3c4d5e6f Take web 1.5 (Dave <dave@example.com>)`, as far as git has it here. */
async function commitText(repository: Repository, commit: Commit): Promise<string> {
  const short = commit.slice(0, 12);
  const raw = await rawOf(repository, commit);
  if (raw === null) return short;
  const text = new TextDecoder().decode(raw);
  const body = text.slice(text.indexOf("\n\n") + 2);
  const author = Buffer.from(commitLines(raw)?.author ?? "", "latin1").toString("utf8");
  const who = /^(.*?) \d+ [+-]\d{4}$/.exec(author)?.[1] ?? "unknown author";
  return `${short} ${body.split("\n", 1)[0]?.slice(0, 100) ?? ""} (${who.slice(0, 100)})`;
}

async function rawOf(repository: Repository, commit: Commit): Promise<Uint8Array | null> {
  try {
    const [found] = (await repository.firstParents?.(commit, 1)) ?? [];
    return found?.commit === commit ? found.raw : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Looks at the reconciler's record again before a push: what speaks against an answer with this decision. */
export const recheckRequest =
  (
    ask: ApprovalRequest,
    decision: ApprovalFile["decision"],
    options: HubOptions,
    environment: Environment,
  ): (() => Promise<DeliveryObjection | null>) =>
  () =>
    objectionByRecord(options, environment, (ledger) => requestObjection(ask, decision, ledger));

/** The same for deletions that wait for a person. `isForetold`: they were not recorded when they were shown. */
export const recheckDeletions =
  (
    set: ShownDeletion,
    isForetold: boolean,
    options: HubOptions,
    environment: Environment,
  ): (() => Promise<DeliveryObjection | null>) =>
  () =>
    objectionByRecord(options, environment, ({ deletions }) => {
      const chosen = selectDeletion(deletions, set.digest);
      if (chosen.kind === "refused") return chosen;
      if (chosen.kind === "chosen" || isForetold) return null;
      return {
        message: `nothing waits under ${set.digest} any longer`,
        fix: "flotilla get deletions lists what waits now",
      };
    });

async function objectionByRecord(
  options: HubOptions,
  environment: Environment,
  objection: (ledger: Ledger) => DeliveryObjection | null,
): Promise<DeliveryObjection | null> {
  try {
    return objection((await closing(await openReconcilerRecord(options, environment), stateIn)).ledger);
  } catch (error) {
    // What nobody can look at is not pushed.
    if (error instanceof Fault) return { message: `${error.during}: ${error.message}`, fix: error.fix };
    throw error;
  }
}

function requestObjection(
  ask: ApprovalRequest,
  decision: ApprovalFile["decision"],
  ledger: Ledger,
): DeliveryObjection | null {
  const same = requestsIn(ledger).find((it) => it.request.digest === ask.request.digest);
  if (same !== undefined && requestState(same) === "open") return null;
  const what = requestTitle(ask);
  const approval = same?.request.approval ?? null;
  if (approval !== null)
    return {
      message: `${what} was approved meanwhile, by ${approversText(approval)}`,
      fix: decision === "Approve" ? "there is nothing to do" : undoHint(ask),
    };
  if (same !== undefined)
    return { message: `${what} is no longer needed: the run has ended`, fix: "there is nothing to do" };
  return {
    message: `${what} has changed since it was shown`,
    fix: `${approveCommand(ask)} --dry-run shows the current request`,
  };
}
