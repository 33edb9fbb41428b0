import { signedApproval } from "../../../core/intent/kinds/approval.ts";
import type { SignatureFact } from "../../../core/model/commit.ts";
import type { ApprovalFile, GateAnswer, Judgement } from "../../../core/model/trust.ts";
import { oneLine } from "../../../core/model/value.ts";
import type { ApprovalRequest } from "../../../core/plan/approval/approval-request.ts";
import {
  approvalFileText,
  approvalPathPrefix,
  newApprovalPath,
  requestObjectName,
} from "../../../core/report/approval-files.ts";
import {
  type ApprovalContext,
  acceptedEvidence,
  type DraftApproval,
  previewJudgement,
  requestVerdict,
  withDraft,
} from "../../../core/report/approval-status.ts";
import { broughtLines, contentLines } from "../../../core/report/manifest-diff.ts";
import { requestLines, ruleLines, verdictText } from "../../../core/report/request-text.ts";
import { approvalNamespace } from "../../../core/trust/judge-approval.ts";
import type { Author, AuthoredFile } from "../../../shell/reconcile/ports.ts";
import { type CurrentApprover, findApprover } from "../../hub/approver.ts";
import { type CommitOptions, commitFiles, usageError } from "../../hub/commit-files.ts";
import { detachedSignatureFact, now, openWorkTree, originUrl } from "../../hub/wire.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { type ApprovalRecord, findRequest, recheckRequest } from "./approval-record.ts";
import { ownWithdrawals, type UnsignedDraft, unsignedObjection, unsignedOutcome } from "./unsigned-answer.ts";

export interface DecisionOptions extends CommitOptions {
  /** `name`, or `namespace/name`; null with `change`. */
  readonly run: string | null;
  readonly stage: string | null;
  readonly before?: boolean;
  readonly after?: boolean;
  /** A placement, whose change of what is protected is answered. */
  readonly change?: string;
  readonly comment?: string;
  /** In whose name; without it whoever the signing key is of. */
  readonly as?: string;
  /** Also a signature inside of the file: a squash or a rebase loses the commit's. */
  readonly detached?: boolean;
  /** Writes what would not count, too. */
  readonly force?: boolean;
}

type Decision = ApprovalFile["decision"];

/** Shows an open request and whether the answer counts, and commits it, signed (`trust/README.md#the-request`). */
export async function submitDecision(
  options: DecisionOptions,
  decision: Decision,
  terminal: Terminal,
): Promise<ExitCode> {
  const { run, stage, comment = "", change = null } = options;
  const flaw = commentFlaw(comment, decision);
  if (flaw !== null) return usageError(flaw, "say why with --comment, in at most 1000 characters", terminal);
  const author = await openWorkTree(options);
  const when = options.before === true ? "before" : options.after === true ? "after" : null;
  const verb = decision === "Reject" ? "reject" : "approve";
  const found = await findRequest({ run, stage, when, change }, verb, options, terminal.environment);
  if (found.kind === "refused") return usageError(found.message, found.fix, terminal);
  const { ask, place, look } = found;
  const context = approvalContextAt(place);
  const lines = [...requestLines(ask, place.ledger, look), ...broughtLines(look), ...ruleLines(ask, context)];
  for (const line of [...lines, ...contentLines(ask, place.ledger, look, options)]) terminal.out(`${oneLine(line)}\n`);
  if (place.closed !== null) terminal.err(`warning: ${oneLine(place.closed)}\n`);
  const who = await findApprover(options, context);
  if (who.kind === "nobody") return usageError(who.message, who.fix, terminal);
  return context === null
    ? unsigned({ ask, who, decision, place, author }, options, terminal)
    : signed({ ask, who, decision, place, author }, context, options, terminal);
}

function commentFlaw(comment: string, decision: Decision): string | null {
  if (comment.length > 1000) return "the comment is too long";
  return decision === "Reject" && comment.trim() === "" ? "a rejection needs a reason" : null;
}

const approvalContextAt = ({ ledger, answers }: ApprovalRecord): ApprovalContext | null =>
  ledger.trust === null ? null : { ledger, trust: ledger.trust.trust, answers, now: now() };

/** Somebody's answer to a request, before it has a path. */
interface DecisionDraft {
  readonly ask: ApprovalRequest;
  readonly who: CurrentApprover;
  readonly decision: Decision;
  readonly place: ApprovalRecord;
  readonly author: Author;
}

/** Where nobody set up who may approve, `fleet.yaml` says whether anybody may. */
async function unsigned(answering: DecisionDraft, options: DecisionOptions, terminal: Terminal): Promise<ExitCode> {
  const { place, decision, ask, who, author } = answering;
  if (options.force !== true && place.closed !== null)
    return usageError(
      place.closed,
      "restore trust/root.yaml, and give its digest as --trust-anchor; --force writes it anyway",
      terminal,
    );
  if (options.force !== true && place.standing.unsigned !== "allow")
    return usageError(
      "it would not count: nobody is allowed to approve (no trust file is in force)",
      "flotilla trust init says who may; or set spec.approvals.unsigned: allow in fleet.yaml; --force writes it anyway",
      terminal,
    );
  const draft: UnsignedDraft = {
    ...{ digest: ask.request.digest, principal: who.principal, decision, standing: place.standing },
    here: author.files(),
  };
  const taken = ownWithdrawals(draft);
  if (taken.kind === "declined" && options.force !== true) return usageError(taken.message, taken.fix, terminal);
  const files = taken.kind === "taken" ? taken.files : [];
  const gone = new Set(files.flatMap((it) => (it.text === null ? [it.path] : [])));
  const objection = unsignedObjection(draft, gone);
  if (objection !== null && options.force !== true) return usageError(objection, forced, terminal);
  const file = fileOf(answering, options);
  const code = await write(answering, file, { isSigned: false, gone: files }, { options, terminal });
  if (options.dryRun === true) return code;
  const outcome = unsignedOutcome(draft, file, { gone, hasTrust: place.closed !== null });
  for (const line of unsignedLines(answering, outcome, options.branch)) terminal.out(`${oneLine(line)}\n`);
  return code;
}

/** What becomes of the request, once an answer that nobody has to sign is read. */
function unsignedLines({ ask, decision }: DecisionDraft, outcome: GateAnswer, branch: string): readonly string[] {
  if (outcome.kind === "rejected")
    return decision === "Reject"
      ? [effect.Reject(ask, branch)]
      : [`it was rejected by ${outcome.by} (${outcome.path})`];
  if (decision === "Revoke" && outcome.kind === "approved") {
    const others = outcome.approval.by.map((it) => `${it.principal} (${it.path})`);
    return [effect.Revoke(ask, branch), `that of ${others.join(", ")} is enough`];
  }
  if (decision === "Revoke") return [effect.Revoke(ask, branch)];
  return outcome.kind === "void" ? [outcome.because] : [effect.Approve(ask, branch)];
}

async function signed(
  answering: DecisionDraft,
  context: ApprovalContext,
  options: DecisionOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { ask, who, place, author } = answering;
  const bare = fileOf(answering, options);
  const own = ownDecisionObjection(answering, context);
  if (own !== null && options.force !== true) return usageError(own, forced, terminal);
  const ways = signaturePlaces(answering, context, options);
  const signature = ways.inFile ? await author.sign(bytesOf(bare), approvalNamespace) : null;
  const file = { ...bare, signature };
  const intended = await draftApproval(file, { key: who.key, isSigned: ways.onCommit }, context);
  const judgement = previewJudgement(intended, ask, context);
  if (judgement.kind === "denied" && options.force !== true)
    return usageError(`it would not count: ${judgement.code}: ${judgement.because}`, forced, terminal);
  if (options.pr === true && !ways.inFile) terminal.err(`warning: ${mergeWords}\n`);
  const code = await write(answering, file, { isSigned: ways.onCommit }, { options, terminal });
  if (options.dryRun === true) return code;
  const after = { ...context, answers: withDraft(context, intended, judgement) };
  for (const line of afterLines(answering, judgement, { context: after, branch: options.branch }))
    terminal.out(`${oneLine(line)}\n`);
  if (place.closed !== null) terminal.out("no gate opens until the trust file is restored\n");
  return code;
}

/** Where the signature goes: on the commit if the rules accept that; in the file if they do not, or may lose it. */
function signaturePlaces(
  { ask, who }: DecisionDraft,
  context: ApprovalContext,
  { detached = false, pr = false }: DecisionOptions,
): { readonly inFile: boolean; readonly onCommit: boolean } {
  const accepted = acceptedEvidence(who.principal, ask, context);
  const isWanted = accepted.has("detached") && (pr || !accepted.has("commit"));
  const inFile = detached || who.key === null || isWanted;
  return { inFile, onCommit: accepted.has("commit") || !inFile };
}

const forced = "--force writes it anyway";
const mergeWords =
  "the rules accept only the commit's signature: merge the pull request with a merge commit, since squash and rebase lose it";

/** Why somebody's own earlier answers leave nothing for this one to say; null when they do not. */
function ownDecisionObjection({ ask, who, decision }: DecisionDraft, context: ApprovalContext): string | null {
  const own = context.answers.filter(
    ({ file, judgement }) =>
      file.digest === ask.request.digest && file.principal === who.principal && judgement.kind === "counts",
  );
  // The newest word counts, as in the planner's own count.
  const newest = own
    .filter((it) => it.file.decision !== "Reject")
    .reduce<(typeof own)[number] | null>((last, it) => (last === null || it.order > last.order ? it : last), null);
  const isApproved = newest?.file.decision === "Approve";
  if (decision === "Revoke" && newest === null)
    return `no approval of this request by ${who.principal} is recorded: there is nothing to withdraw`;
  if (decision === "Revoke" && !isApproved) return `${who.principal} has already withdrawn it (${newest?.file.path})`;
  if (decision !== "Approve") return null;
  if (isApproved) return `${who.principal} has already approved it (${newest.file.path})`;
  const verdict = requestVerdict(ask, context);
  return verdict.kind === "rejected" ? `it was ${verdictText(ask, context)}; no approval overrides that` : null;
}

type BareFile = Omit<ApprovalFile, "blob">;

function fileOf({ ask, who, decision, place, author }: DecisionDraft, { comment = "" }: DecisionOptions): BareFile {
  const here = new Set(author.files().map((it) => it.path));
  const isTaken = (path: string): boolean =>
    place.ledger.answers.has(path) || place.accepted.has(path) || here.has(path);
  const path = newApprovalPath(ask, who.principal, isTaken);
  return { path, digest: ask.request.digest, decision, principal: who.principal, comment, signature: null };
}

const bytesOf = (file: BareFile): Uint8Array => new TextEncoder().encode(signedApproval(file));

/** What will be known of the answer once it is read. Where the key is not at hand, its signature says which it is. */
async function draftApproval(
  file: BareFile,
  { key, isSigned }: { readonly key: SignatureFact | null; readonly isSigned: boolean },
  { trust }: ApprovalContext,
): Promise<DraftApproval> {
  const certificates = [...trust.principals.values()].flatMap((it) => [...it.openPgp.values()]);
  const { signature } = file;
  const detached =
    signature === null ? null : await detachedSignatureFact(signedApproval(file), signature, certificates);
  const same = detached?.kind === "ssh" ? { ...detached, namespace: "git" } : detached;
  const commit = isSigned ? (key ?? same) : null;
  return { file, commit: commit ?? { kind: "unsigned" }, detached };
}

interface CommandIo {
  readonly options: DecisionOptions;
  readonly terminal: Terminal;
}

async function write(
  { ask, author, decision, who }: DecisionDraft,
  file: BareFile,
  { isSigned, gone = [] }: { readonly isSigned: boolean; readonly gone?: readonly AuthoredFile[] },
  { options, terminal }: CommandIo,
): Promise<ExitCode> {
  const text = approvalFileText(requestObjectName(ask), file);
  const slug = `${decision}-${approvalPathPrefix(ask).replace("approvals/", "")}-${who.principal}`
    .replace(/namespaces\/([^/]+)\//, "$1_")
    .replaceAll(/[^A-Za-z0-9_]+/g, "-")
    .toLowerCase();
  const subject = `${verbs[decision]} ${whatText(ask)}`;
  const files = [{ path: file.path, text, before: null }, ...gone];
  const objection = recheckRequest(ask, decision, options, terminal.environment);
  const code = await commitFiles(author, { files, subject, slug, signed: isSigned, objection }, options, terminal);
  const isHereAlone = options.push !== true && options.pr !== true && options.dryRun !== true;
  if (isHereAlone && (await originUrl(options)) !== null) terminal.out("origin does not have it yet: git push\n");
  return code;
}

const whatText = (ask: ApprovalRequest): string =>
  ask.kind === "change"
    ? `the change to ${ask.record.key}`
    : `the ${ask.when === "before" ? "start" : "end"} of stage ${ask.stage.name} of run ${ask.run.key}`;

const verbs = { Approve: "Approve", Reject: "Reject", Revoke: "Withdraw the approval of" } as const;

/** What becomes of the request once the answer is read. */
function afterLines(
  { ask, decision }: DecisionDraft,
  judgement: Judgement,
  { context, branch }: { readonly context: ApprovalContext; readonly branch: string },
): readonly string[] {
  if (judgement.kind === "denied") return [`it does not count: ${judgement.code}: ${judgement.because}`];
  if (decision === "Reject") return [effect.Reject(ask, branch)];
  if (decision === "Approve" && requestVerdict(ask, context).kind === "approved") return [effect.Approve(ask, branch)];
  const missing = `still missing: ${verdictText(ask, context)}`;
  return decision === "Revoke" ? [effect.Revoke(ask, branch), missing] : [missing];
}

const effect: Readonly<Record<Decision, (ask: ApprovalRequest, branch: string) => string>> = {
  Approve: (ask, branch) =>
    ask.kind === "gate"
      ? `that is enough: once flotilla has read it on ${branch}, stage ${ask.stage.name} ${ask.when === "before" ? "may begin" : "may end"}`
      : `that is enough: once flotilla has read it on ${branch}, ${ask.record.key} may change as shown`,
  Reject: (ask, branch) =>
    ask.kind === "gate"
      ? `run ${ask.run.key} ends once flotilla has read it on ${branch}; clusters keep what they have`
      : `the change of ${ask.record.key} is not made; push another change, or revert it`,
  Revoke: (_, branch) => `once flotilla has read it on ${branch}, your approval no longer counts`,
};
