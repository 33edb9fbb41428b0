import type { CommitFact, SignatureFact } from "../model/commit.ts";
import type { ForgeFinding, ForgeReview } from "../model/history.ts";
import { remembered } from "../model/identity.ts";
import type { ApprovalFile, Authors, Denial, Judgement, Proof, Trust } from "../model/trust.ts";
import type { Digest, Instant } from "../model/value.ts";
import { denied } from "./denial.ts";
import { type RequestSubject, rulesFor } from "./protected.ts";
import { objectionOf } from "./rules.ts";
import { type Signer, signerOf } from "./signer.ts";

/** The namespace of an SSH signature inside an approval; on commits it is Git's own. */
export const approvalNamespace = "flotilla-approval-v1";
const commitNamespace = "git";

export interface OpenRequest extends RequestSubject {
  readonly digest: Digest;
  readonly requestedAt: Instant;
  readonly authors: Authors;
}

/** Everything that decides whether one approval file counts. */
export interface ApprovalInput {
  readonly file: ApprovalFile;
  /** All approvals of the commit, to attribute the other files that came with this one. */
  readonly files: readonly ApprovalFile[];
  /** The commits that have this blob at the path while none of their parents has it. */
  readonly introducers: readonly CommitFact[];
  /** The signature inside the file, over its contents; null without one. */
  readonly detached: SignatureFact | null;
  /** The forge's answer about the file; null when it was not asked. */
  readonly review: ForgeFinding | null;
  /** The open request with the file's digest; null without one. */
  readonly request: OpenRequest | null;
  /** In force before the commit that brought the file: what came with it decides nothing (`trust/README.md#t-08`). */
  readonly trust: Trust;
  /** When the file was first seen. */
  readonly now: Instant;
}

/**
 * Judges one approval file, once and for good (`trust/README.md#step-3` to `#step-10`, `#step-12` and `#step-13`;
 * `rollout/README.md#b-22`).
 *
 * It counts when a person whom the trust file names for the stage proves that they wrote it, over the digest of an open
 * request. Every doubt denies, and no fact is assumed.
 */
export function judgeApproval(context: ApprovalInput): Judgement {
  const { file, request, trust, now } = context;
  if (request === null || request.digest !== file.digest) return noRequest(file);
  if (now >= trust.expires)
    return denied("FLT1216", "trust/root.yaml has expired; sign a new version of it, then approve again");
  const carried = carrierObjection(context);
  if (carried !== null) return carried;
  const proofs = proofsOf(context);
  if ("kind" in proofs) return proofs;
  const judgement = { kind: "counts", principal: file.principal, proofs, at: now } as const;
  const rules = rulesFor(trust, request);
  if (rules.length === 0) return noRule(request);
  const { authors, requestedAt } = request;
  const objections = rules.map((it) => objectionOf(it, { decision: file.decision, judgement, authors, requestedAt }));
  // One rule that accepts it is enough here; the count decides whether all are met.
  return objections.includes(null) ? judgement : (telling(objections) ?? noRule(request));
}

/** Among several objections, one that is not merely about who may approve. */
const telling = (objections: readonly (Denial | null)[]): Denial | null =>
  objections.find((it) => it?.code !== "FLT1214") ?? objections[0] ?? null;

const noRequest = ({ path }: ApprovalFile): Denial =>
  denied("FLT1201", `${path} answers no request that is open; ${answerOpen}`);

const answerOpen = "answer the one that flotilla describe run shows, in a new file";

const noRule = ({ placement, stage }: OpenRequest): Denial =>
  denied("FLT1214", `no rule of trust/root.yaml says who may approve ${subject(placement, stage)}; add one`);

const subject = (placement: string, stage: string | null): string =>
  stage === null ? `a change of ${placement}` : `stage ${stage} of ${placement}`;

/** What is wrong with the commits that brought the file: exactly one adds it (`trust/README.md#t-05`, `#t-11`). */
function carrierObjection({ file, introducers }: ApprovalInput): Denial | null {
  const fix = "write a new file";
  const [introducer, again] = introducers;
  if (introducer === undefined) return denied("FLT1211", `no commit is known that added ${file.path}; ${fix}`);
  const short = introducer.commit.slice(0, 12);
  const merge = introducers.find((it) => it.parents.length > 1);
  if (merge !== undefined)
    return denied("FLT1208", `merge ${merge.commit.slice(0, 12)} itself adds ${file.path}; commit it on its own`);
  if (again !== undefined) return denied("FLT1211", `${file.path} was put there more than once; ${fix}`);
  const own = introducer.changes.filter((it) => it.path === file.path);
  if (own.length !== 1 || own.some((it) => it.after !== file.blob))
    return denied("FLT1211", `commit ${short} does not add ${file.path} as it is now; ${fix}`);
  if (own.some((it) => it.before !== null))
    return denied("FLT1211", `commit ${short} changes ${file.path}; an approval is written once: ${fix}`);
  return null;
}

/**
 * All proofs of who wrote the file, or why there is none. A signature in the file must be valid; the commit's need not
 * if there is another proof: squash and rebase lose it (`trust/README.md#merged-pull-requests`).
 */
function proofsOf(context: ApprovalInput): readonly Proof[] | Denial {
  const { detached, file } = context;
  const isSigned = detached !== null && detached.kind !== "unsigned";
  const inFile = isSigned ? proofOf(signerOf(detached, signing(context, file.path)), file) : null;
  if (inFile !== null && "kind" in inFile) return inFile;
  const byCommit = commitProof(context);
  const byForge = forgeProof(context);
  const proofs: Proof[] = [];
  if (!("kind" in byCommit)) proofs.push({ evidence: "commit", ...byCommit });
  if (inFile !== null) proofs.push({ evidence: "detached", ...inFile });
  if (byForge !== null && !("kind" in byForge)) proofs.push({ evidence: "forge", ...byForge });
  if (proofs.length > 0) return proofs;
  return byForge !== null && "kind" in byForge ? byForge : unproven(byCommit, context);
}

type Key = Pick<Proof, "key" | "source">;

/** Why there is no proof: what is wrong with the commit and, where a review would do, why there is none. */
function unproven(byCommit: Key | Denial, context: ApprovalInput): Denial {
  const { trust, request, file } = context;
  const denial = "kind" in byCommit ? byCommit : denied("FLT1209", `nothing proves who wrote ${file.path}`);
  const rules = request === null ? [] : rulesFor(trust, request);
  const isEnough = rules.some((it) => it.accept.includes("forge") && it.principals.includes(file.principal));
  return isEnough ? { ...denial, because: `${denial.because}; and no review counts: ${noReview(context)}` } : denial;
}

function noReview({ review, trust, file: { principal } }: ApprovalInput): string {
  if (review !== null && review.kind !== "reviewed") return review.because;
  const accounts = trust.principals.get(principal)?.forgeIds.size ?? 0;
  return accounts === 0 ? `trust/root.yaml lists no account of ${principal}` : "the forge was not asked";
}

const signing = ({ trust, now }: ApprovalInput, what: string) => ({ trust, namespace: approvalNamespace, what, now });

/** The commit that added the file and nothing else, signed by them (`trust/README.md#b-58`; `#t-13`, `#t-19`). */
function commitProof(context: ApprovalInput): Key | Denial {
  const [introducer] = context.introducers;
  if (introducer === undefined) return denied("FLT1211", `no commit is known that added ${context.file.path}`);
  const what = `commit ${introducer.commit.slice(0, 12)}`;
  const proof = proofOf(
    signerOf(introducer.signature, { ...signing(context, what), namespace: commitNamespace }),
    context.file,
  );
  return "kind" in proof ? proof : (companyObjection(introducer, context) ?? proof);
}

/** The key that signed, if it is of the person named in the file. */
function proofOf(signer: Signer | Denial, file: ApprovalFile): Key | Denial {
  if (signer.kind === "denied") return signer;
  const { principal, key } = signer;
  if (!principal.isHuman) return principal.name === file.principal ? machine(file) : forgeKey(principal.name);
  if (principal.name !== file.principal) {
    const fix = "everybody answers in their own name";
    return denied("FLT1204", `${file.path} speaks for ${file.principal} and is signed by ${principal.name}; ${fix}`);
  }
  return { key };
}

const machine = ({ principal }: ApprovalFile): Denial =>
  denied("FLT1218", `${principal} is a machine; people alone approve`);

const forgeKey = (name: string): Denial =>
  denied("FLT1209", `signed by ${name}, which is no person: whoever may write can make it sign; ${signYourself}`);

const signYourself = "use flotilla approve, which signs as you";

/** Each is compared with all others: nobody keeps a pass busy with a thousand answers. */
const mostTogether = 256;

const byPath = remembered((files: readonly ApprovalFile[]) => new Map(files.map((it) => [it.path, it])));

/** What else the commit does: it may only add approvals of the same person. */
function companyObjection({ commit, parents, changes }: CommitFact, { file, files }: ApprovalInput): Denial | null {
  const no = (what: string): Denial =>
    denied("FLT1207", `commit ${commit.slice(0, 12)} ${what}; commit approvals alone, each person their own`);
  if (parents.length !== 1) return no("has no parent, so nobody knows what it adds");
  if (changes.length > mostTogether) return no(`adds more than ${mostTogether} files at once`);
  for (const { path, before, after } of changes) {
    if (path === file.path) continue;
    if (!path.startsWith("approvals/")) return no(`touches ${path} as well`);
    if (before !== null || after === null) return no(`changes or removes ${path} as well`);
    const other = byPath(files).get(path);
    if (other?.blob !== after) return no(`adds ${path}, which is no approval now`);
    if (other.principal !== file.principal) return no(`adds ${path} of ${other.principal} as well`);
  }
  return null;
}

/** A review by the forge account of the person named in the file; null without one. */
function forgeProof(context: ApprovalInput): Key | Denial | null {
  if (context.review?.kind !== "reviewed") return null;
  const found = context.review.reviews.map((it) => reviewProof(it, context));
  return found.find((it) => !("kind" in it)) ?? found[0] ?? null;
}

function reviewProof({ forge, account, blob, source }: ForgeReview, { file, trust }: ApprovalInput): Key | Denial {
  const key = `${forge}:${account}`;
  const principal = [...trust.principals.values()].find((it) => it.forgeIds.get(forge) === account);
  if (blob !== file.blob) return denied("FLT1211", `${file.path} is not what ${key} reviewed; write a new file`);
  if (principal === undefined) return denied("FLT1202", `trust/root.yaml lists ${key} for nobody`);
  if (principal.name !== file.principal && principal.isHuman)
    return denied("FLT1204", `${file.path} speaks for ${file.principal} and is reviewed by ${principal.name}`);
  const proof = proofOf({ kind: "signer", principal, key }, file);
  return "kind" in proof ? proof : { ...proof, source };
}
