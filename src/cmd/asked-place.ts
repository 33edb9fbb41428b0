import { trustPath } from "../core/intent/trust/trust-file.ts";
import { digestOfText } from "../core/model/json.ts";
import type { Ledger } from "../core/model/ledger.ts";
import type { AnswerRecord, ApprovalFile } from "../core/model/trust.ts";
import type { BlobId } from "../core/model/value.ts";
import type { State } from "../shell/reconcile/memory.ts";
import type { Repository } from "../shell/reconcile/ports.ts";
import { readState } from "../shell/reconcile/state.ts";
import { documentsIn } from "./edits/found-document.ts";
import { acceptedAnswers } from "./recorded.ts";
import { type HubOptions, openRecord } from "./wire.ts";

/** What is recorded of a work tree's fleet, as far as answers to requests go. */
export interface AskedPlace {
  readonly ledger: Ledger;
  /** The paths of all files that were read last. */
  readonly accepted: ReadonlyMap<string, BlobId>;
  /** Those that count as long as their file is there. */
  readonly answers: readonly AnswerRecord[];
  /** Where nobody set up who may approve: the answers that were read last. */
  readonly standing: readonly ApprovalFile[];
  /** `fleet.yaml`, as it was read last, lets approvals count that nobody signed. */
  readonly allowsUnsigned: boolean;
  /** Why no gate opens, whoever approves; null when one may. */
  readonly closed: string | null;
}

/** Reads what is recorded of the fleet of the work tree at `--repo`, or here. */
export async function openAsked(
  options: HubOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<AskedPlace> {
  const repository = await openRecord(options, environment);
  try {
    const state = await readState(repository, (await repository.heads()).state);
    const { ledger, accepted } = state;
    const fleet =
      (await textAt(repository, state, "fleet.yaml")) ?? (await textAt(repository, state, "fleet.yml")) ?? "";
    const trust = await textAt(repository, state, trustPath);
    return {
      ledger,
      accepted,
      answers: [...ledger.answers.values()].filter(
        ({ file }) => file.decision !== "Approve" || accepted.get(file.path) === file.blob,
      ),
      standing: ledger.trust === null ? await acceptedAnswers(repository, state) : [],
      allowsUnsigned: documentsIn(fleet)[0]?.getIn(["spec", "approvals", "unsigned"]) === "allow",
      closed: closedBy(ledger, trust),
    };
  } finally {
    await repository.close();
  }
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
  if (trust === null) return hasTrust ? "there was a trust/ folder, and no trust file is in force" : null;
  if (text === trust.text || (text !== null && digestOfText(text) === trust.trust.digest)) return null;
  const what = text === null ? "is not there any more" : "as it was read last is not in force";
  return `${trustPath} ${what}; version ${trust.trust.version} is, and no gate opens until it is restored or followed`;
}
