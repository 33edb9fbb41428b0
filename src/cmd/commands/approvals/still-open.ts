import type { Ledger } from "../../../core/model/ledger.ts";
import type { ApprovalFile } from "../../../core/model/trust.ts";
import { type Ask, askState, asksIn } from "../../../core/plan/approval/ask.ts";
import { answerCommand, approversText } from "../../../core/report/approval-files.ts";
import type { ShownDeletion } from "../../../core/report/deletion-text.ts";
import { Fault } from "../../../shell/reconcile/fault.ts";
import type { DeliveryObjection } from "../../../shell/reconcile/ports.ts";
import { readState } from "../../../shell/reconcile/state.ts";
import { type HubOptions, openFollowed } from "../../hub/wire.ts";
import { chooseDeletion, requestText, stopText } from "./chosen-request.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Looks again, where the reconciler's record is, whether what is answered is still asked for; what speaks against an answer
 * with this decision.
 */
export const stillAsked =
  (
    ask: Ask,
    decision: ApprovalFile["decision"],
    options: HubOptions,
    environment: Environment,
  ): (() => Promise<DeliveryObjection | null>) =>
  () =>
    byRecord(options, environment, (ledger) => answerObjection(ask, decision, ledger));

/** The same for deletions that wait for a person. `isForetold`: they were not recorded when they were shown. */
export const stillHeld =
  (
    set: ShownDeletion,
    isForetold: boolean,
    options: HubOptions,
    environment: Environment,
  ): (() => Promise<DeliveryObjection | null>) =>
  () =>
    byRecord(options, environment, ({ deletions }) => {
      const chosen = chooseDeletion(deletions, set.digest);
      if (chosen.kind === "refused") return chosen;
      if (chosen.kind === "chosen" || isForetold) return null;
      return {
        message: `nothing waits under ${set.digest} any more`,
        fix: "flotilla get deletions lists what waits now",
      };
    });

async function byRecord(
  options: HubOptions,
  environment: Environment,
  objection: (ledger: Ledger) => DeliveryObjection | null,
): Promise<DeliveryObjection | null> {
  try {
    const repository = await openFollowed(options, environment);
    try {
      return objection((await readState(repository, (await repository.heads()).state)).ledger);
    } finally {
      await repository.close();
    }
  } catch (error) {
    // What nobody can look at is not pushed.
    if (error instanceof Fault) return { message: `${error.during}: ${error.message}`, fix: error.fix };
    throw error;
  }
}

function answerObjection(ask: Ask, decision: ApprovalFile["decision"], ledger: Ledger): DeliveryObjection | null {
  const same = asksIn(ledger).find((it) => it.request.digest === ask.request.digest);
  if (same !== undefined && askState(same) === "open") return null;
  const what = requestText(ask);
  const approval = same?.request.approval ?? null;
  if (approval !== null)
    return {
      message: `${what} was approved meanwhile, by ${approversText(approval)}`,
      fix: decision === "Approve" ? "there is nothing to do" : stopText(ask),
    };
  if (same !== undefined) return { message: `${what} is moot by now: the run is over`, fix: "there is nothing to do" };
  return {
    message: `${what} is not asked for any more as it was shown`,
    fix: `${answerCommand(ask)} --dry-run shows what is asked now`,
  };
}
