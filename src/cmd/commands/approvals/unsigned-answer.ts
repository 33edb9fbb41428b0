import { decodeBlob } from "../../../core/intent/documents.ts";
import { approvalsIn } from "../../../core/intent/special-files.ts";
import { type ApprovalFile, type GateAnswer, isApprovalPath, type StandingAnswers } from "../../../core/model/trust.ts";
import type { BlobId, Digest } from "../../../core/model/value.ts";
import { unsignedAnswer } from "../../../core/trust/count.ts";
import type { AuthoredFile } from "../../../shell/reconcile/ports.ts";
import { filesWithout, ownRevocations, type TextFile } from "../../edits/found-document.ts";
import type { Declined } from "../../hub/commit-files.ts";
import { now } from "../../hub/wire.ts";

/** An answer where nobody has to sign. */
export interface UnsignedDraft {
  readonly digest: Digest;
  readonly principal: string;
  readonly decision: ApprovalFile["decision"];
  /** As they were read last. */
  readonly standing: StandingAnswers;
  /** The files of the work tree. */
  readonly here: readonly TextFile[];
}

type Withdrawals =
  /** The files with which who answers took an approval back: their newest word takes their place. */
  { readonly kind: "taken"; readonly files: readonly AuthoredFile[] } | Declined;

/** Unsigned answers have no order: what took an approval back goes in the commit that gives it again. */
export function ownWithdrawals({ digest, principal, decision, standing, here }: UnsignedDraft): Withdrawals {
  if (decision !== "Approve") return { kind: "taken", files: [] };
  const { files, stuck } = filesWithout(ownRevocations(here, { principal, digest }));
  const own = standing.files.filter(
    (it) => it.decision === "Revoke" && it.principal === principal && it.digest === digest,
  );
  const away = own.find((it) => !here.some(({ path }) => path === it.path));
  const [path] = [...(away === undefined ? [] : [away.path]), ...stuck];
  if (path === undefined) return { kind: "taken", files };
  const message = `${principal} withdrew an approval of this request (${path}), and nothing unsigned overrides that`;
  const fix = away === undefined ? `remove that from ${path} by hand, then approve` : "git pull, then approve";
  return { kind: "declined", message, fix: `${fix}; --force writes it anyway` };
}

/** Why what people said before leaves nothing for this answer to say; null when it does not. `gone`: paths that go with it. */
export function unsignedObjection(draft: UnsignedDraft, gone: ReadonlySet<string>): string | null {
  const { principal, decision } = draft;
  const files = wordsWithout(draft, gone);
  const said = (of: ApprovalFile["decision"]): ApprovalFile | undefined =>
    files.find((it) => it.decision === of && it.principal === principal);
  const [approval, revocation] = [said("Approve"), said("Revoke")];
  if (decision === "Revoke" && revocation !== undefined)
    return `${principal} has already withdrawn it (${revocation.path})`;
  if (decision === "Revoke" && approval === undefined)
    return `no approval of this request by ${principal} is recorded: there is nothing to withdraw`;
  if (decision !== "Approve") return null;
  const rejection = files.find((it) => it.decision === "Reject");
  if (rejection !== undefined)
    return `it was rejected by ${rejection.principal} (${rejection.path}); no approval overrides that`;
  // One that was taken back says nothing, unless what took it back goes.
  const isGivenAgain = gone.size > 0 || revocation !== undefined;
  return approval !== undefined && !isGivenAgain ? `${principal} has already approved it (${approval.path})` : null;
}

/** What the reconciler will say of the request once it has read this answer. */
export function unsignedOutcome(
  draft: UnsignedDraft,
  file: Omit<ApprovalFile, "blob">,
  { gone, hasTrust }: { readonly gone: ReadonlySet<string>; readonly hasTrust: boolean },
): GateAnswer {
  const files = [...wordsWithout(draft, gone), { ...file, blob: "" as BlobId }];
  return unsignedAnswer(draft.digest, files, { unsigned: draft.standing.unsigned, hasTrust, now: now() });
}

/** What people said to the request, here or as it was read last. */
function wordsWithout({ digest, standing, here }: UnsignedDraft, gone: ReadonlySet<string>): readonly ApprovalFile[] {
  const encoder = new TextEncoder();
  const own = here
    .filter(({ path }) => isApprovalPath(path))
    .map(({ path, text }) => ({
      ...{ path, blob: "" as BlobId, kind: "file" as const },
      decoded: decodeBlob(encoder.encode(text)),
    }));
  const files = new Map(standing.files.map((it) => [it.path, it]));
  for (const it of approvalsIn(own).approvals) files.set(it.path, it);
  return [...files.values()].filter((it) => it.digest === digest && !gone.has(it.path));
}
