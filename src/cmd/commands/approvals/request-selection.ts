import type { DeletionLedger, HeldDeletion } from "../../../core/model/deletion.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import { approversText } from "../../../core/model/trust.ts";
import type { RunRecord } from "../../../core/model/update-run.ts";
import { instantText, type PlacementKey, type RunKey } from "../../../core/model/value.ts";
import {
  type ApprovalRequest,
  changeRequestOf,
  type GateApprovalRequest,
  gateRequestsOf,
  requestState,
} from "../../../core/plan/approval/approval-request.ts";
import { approveCommand } from "../../../core/report/approval-files.ts";
import { confirmationFile } from "../../../core/report/deletion-text.ts";
import { didYouMean } from "../../../core/yaml/nearest.ts";

export interface RequestSelector {
  readonly run: string | null;
  readonly stage: string | null;
  readonly when: "before" | "after" | null;
  /** A placement, whose change of what is protected is meant; then there is no run. */
  readonly change: string | null;
}

/** Why no request can be answered, and what to do. */
export interface RefusedRequest {
  readonly kind: "refused";
  readonly message: string;
  readonly fix: string;
}

type SelectedRequest = { readonly kind: "chosen"; readonly ask: ApprovalRequest } | RefusedRequest;

const refused = (message: string, fix: string): SelectedRequest => ({ kind: "refused", message, fix });

/** Finds the open request that is meant: one has to be named, unless there is no other. `verb`: what is typed. */
export function selectRequest(ledger: Ledger, selector: RequestSelector, verb: string): SelectedRequest {
  const { run: name, change } = selector;
  if (change !== null && name !== null)
    return refused(
      "a run and --change cannot be combined",
      "give a run and perhaps a stage, or --change and a placement",
    );
  if (change !== null) return chooseChange(ledger, change);
  if (name === null)
    return refused("no request is named", "give a run and perhaps a stage; flotilla get approvals lists all");
  const run = ledger.runs.get(name as RunKey);
  if (run === undefined)
    return refused(`there is no record of run ${name}`, recordedText("run", name, ledger.runs.keys()));
  return chooseGate(run, selector, verb);
}

function chooseChange({ placements }: Ledger, name: string): SelectedRequest {
  const record = placements.get(name as PlacementKey);
  if (record === undefined)
    return refused(`there is no record of placement ${name}`, recordedText("placement", name, placements.keys()));
  const ask = changeRequestOf(record);
  if (ask !== null) return ifOpen(ask);
  return record.change === null
    ? refused(`no change to ${name} waits for an approval`, "flotilla get approvals lists what does")
    : refused(`the change to ${name} has not been requested yet`, "the next pass requests it; then run this again");
}

function recordedText(noun: string, name: string, keys: Iterable<string>): string {
  const all = [...keys];
  return didYouMean(name, all, all.length === 0 ? `no ${noun} is on record` : `recorded are: ${all.join(", ")}`);
}

function chooseGate(run: RunRecord, { stage, when }: RequestSelector, verb: string): SelectedRequest {
  const stages = (run.plan?.stages ?? []).map((it) => it.name);
  if (stage !== null && run.plan !== null && !stages.includes(stage))
    return refused(
      `run ${run.key} has no stage ${stage}`,
      didYouMean(stage, stages, `its stages are: ${stages.join(", ")}`),
    );
  const asks = gateRequestsOf(run);
  const meant = asks.filter((it) => (stage ?? it.stage.name) === it.stage.name && (when ?? it.when) === it.when);
  const open = meant.filter((it) => requestState(it) === "open");
  const [first, second] = open;
  if (first !== undefined && second === undefined) return { kind: "chosen", ask: first };
  if (first !== undefined)
    return refused(
      `run ${run.key} waits for several approvals`,
      `choose one: ${open.map((it) => command(it, verb)).join(" or ")}`,
    );
  const last = meant.at(-1);
  return last === undefined ? notAsked(run, asks) : ifOpen(last);
}

const command = (ask: GateApprovalRequest, verb: string): string => `${approveCommand(ask, verb)} --${ask.when}`;

function notAsked(run: RunRecord, asks: readonly GateApprovalRequest[]): SelectedRequest {
  if (run.end !== null) return refused(`run ${run.key} has ended: nothing is left to approve`, newRunHint);
  const open = asks.filter((it) => requestState(it) === "open").map((it) => `${it.when} stage ${it.stage.name}`);
  const now = open.length === 0 ? "it requests nothing now" : `it now requests the approval ${open.join(" and ")}`;
  return refused(
    `run ${run.key} has not requested that`,
    `${now}; flotilla describe run ${run.key} shows how far it is`,
  );
}

const newRunHint = "create a new run to continue (flotilla run create)";

/** `the request before stage canary of run web-2`. */
export const requestTitle = (ask: ApprovalRequest): string =>
  ask.kind === "gate"
    ? `the approval ${ask.when} stage ${ask.stage.name} of run ${ask.run.key}`
    : `the change to ${ask.record.key}`;

/** One that is over says what became of it. */
function ifOpen(ask: ApprovalRequest): SelectedRequest {
  const { approval, requestedAt } = ask.request;
  const what = requestTitle(ask);
  if (approval !== null) {
    const said = `${what} was approved at ${instantText(approval.at)} by ${approversText(approval)}`;
    return refused(said, undoHint(ask));
  }
  if (requestState(ask) === "moot")
    return refused(
      `${what}, requested at ${instantText(requestedAt)}, is no longer needed: the run has ended`,
      newRunHint,
    );
  return { kind: "chosen", ask };
}

/** What to do about a request that was approved, for whoever is against it. */
export const undoHint = (ask: ApprovalRequest): string =>
  "an accepted approval is final; " +
  (ask.kind === "gate"
    ? `to stop what it allowed: flotilla run stop ${ask.run.key}`
    : "to undo what it allowed, push another change");

/** Which set of deletions somebody means, or why none. */
export type SelectedDeletion =
  | { readonly kind: "chosen"; readonly set: HeldDeletion }
  /** Several are meant: one has to be named. */
  | { readonly kind: "several"; readonly sets: readonly HeldDeletion[] }
  /** Nothing of that is recorded. It may be what a commit would take away that nobody has reconciled yet. */
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly message: string; readonly fix: string };

/** Finds the waiting set by its digest or the beginning of it; without one, the only one that waits. */
export function selectDeletion({ held, confirmations }: DeletionLedger, selector: string | null): SelectedDeletion {
  const waiting = held.filter((it) => !it.confirmed && it.because !== "protected" && isMeant(it, selector));
  const [first, second] = waiting;
  if (first !== undefined)
    return second === undefined ? { kind: "chosen", set: first } : { kind: "several", sets: waiting };
  if (selector === null) return { kind: "unknown" };
  if (!/^[0-9a-f]{6,64}$/.test(selector))
    return refusedDeletion(
      `${selector} is not a digest of deletions`,
      "give at least the first six of its 64 hexadecimal digits",
    );
  const [placement] = held.find((it) => it.because === "protected" && isMeant(it, selector))?.groups ?? [];
  if (placement !== undefined)
    return refusedDeletion(
      `the deletions of ${selector} take along objects of others in a protected place, which no confirmation covers`,
      `approve the change instead: flotilla approve --change ${placement.placement}`,
    );
  if (held.some((it) => isMeant(it, selector)))
    return refusedDeletion(`the deletions of ${selector} are already confirmed`, "the rest of them will be deleted");
  const judged = [...confirmations.values()].find((it) => isMeant(it, selector));
  if (judged === undefined) return { kind: "unknown" };
  const { path } = confirmationFile(judged.digest);
  return judged.outcome === "used"
    ? refusedDeletion(
        `${path} was used: it counts once`,
        "flotilla get deletions lists what waits now, under other digests",
      )
    : refusedDeletion(
        `${path} was void when it was read: nothing waited for it`,
        "remove it; flotilla get deletions lists what waits now",
      );
}

const isMeant = ({ digest }: Pick<HeldDeletion, "digest">, selector: string | null): boolean =>
  selector === null || digest.startsWith(selector);

const refusedDeletion = (message: string, fix: string): SelectedDeletion => ({ kind: "refused", message, fix });
