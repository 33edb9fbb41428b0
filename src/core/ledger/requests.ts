import { isObject } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import type { AnswerRecord, Approver, Authors, Judgement, Proof, Request } from "../model/trust.ts";
import type { Instant } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import {
  at,
  type Codec,
  converted,
  distinct,
  type Field,
  group,
  listIfAny,
  listOf,
  type Members,
  nullable,
  object,
  optional,
  or,
  reportProblem,
  unlessEmpty,
} from "./codec.ts";
import { blobHash, choice, commitHash, digest, instant, integer, string } from "./scalars.ts";

const proof = object<Proof>({
  evidence: choice("commit", "detached", "forge"),
  key: string,
  source: optional(string),
});

const approver = object<Approver>({
  principal: string,
  path: string,
  blob: blobHash,
  commit: nullable(commitHash),
  proofs: listIfAny(proof),
});

/** A request without its two instants: KubeFleet has fields for those. */
interface RequestNotes extends Omit<Request, "requestedAt" | "approval"> {
  /** Null while it is open. */
  readonly by: readonly Approver[] | null;
}

const noteMembers: Members<RequestNotes> = {
  digest,
  nonce: string,
  rules: nullable(digest),
  authors: unlessEmpty(object<Authors>({ principals: listIfAny(string), unknown: or(0, integer) })),
  by: nullable(listOf(approver)),
};

export const requestNotes = object<RequestNotes>(noteMembers);

export const notesOf = (request: Request): RequestNotes => ({ ...request, by: request.approval?.by ?? null });

/** The inverse of {@link notesOf}, with the instants beside them; `approvedAt` is null while the request is open. */
export function requestOf(
  { by, ...notes }: RequestNotes,
  { requestedAt, approvedAt }: { readonly requestedAt: Instant; readonly approvedAt: Instant | null },
  context: Parameters<typeof reportProblem>[0],
): Request {
  if (approvedAt === null) return { ...notes, requestedAt, approval: null };
  const approvers = by ?? [];
  return {
    ...notes,
    requestedAt,
    approval: {
      at: approvedAt,
      by: approvers.length > 0 ? approvers : reportProblem(context, "by", "is missing", approvers),
    },
  };
}

interface WrittenRequest extends RequestNotes {
  readonly requestedAt: Instant;
  readonly approvedAt: Instant | null;
}

/** A request as a whole, where KubeFleet has no field for any of it. */
export const wholeRequest: Codec<Request> = converted(
  object<WrittenRequest>({ requestedAt: instant, approvedAt: nullable(instant), ...noteMembers }),
  (it) => ({ ...notesOf(it), requestedAt: it.requestedAt, approvedAt: it.approval?.at ?? null }),
  ({ requestedAt, approvedAt, ...notes }, _, context) => requestOf(notes, { requestedAt, approvedAt }, context),
);

type Counted = Omit<Extract<Judgement, { kind: "counts" }>, "kind" | "at"> & { readonly at: Instant | null };
type Denied = Omit<Extract<Judgement, { kind: "denied" }>, "kind">;

const counted = object<Counted>({ principal: string, at: nullable(instant), proofs: listOf(proof) });
const denied = object<Denied>({ code: string, because: string });

/** A judgement that counts has a time of its own only where that is not when the file was first seen. */
const judgement: Field<Judgement, AnswerRecord> = {
  put(into, value, { at: seen }) {
    if (value.kind === "counts")
      at(["counts"], counted).put(into, { ...value, at: value.at === seen ? null : value.at }, null);
    else at(["denied"], denied).put(into, value, null);
  },
  take(from, context) {
    if (isObject(from["counts"]) === isObject(from["denied"]))
      reportProblem(context, "answers", "has an answer that is not either counted or denied", null);
    if (!isObject(from["counts"])) return { kind: "denied", ...at(["denied"], denied).take(from, context) };
    const { at: own, ...rest } = at(["counts"], counted).take(from, context);
    return { kind: "counts", ...rest, at: own ?? at(["at"], instant).take(from, context) };
  },
};

const answer = object<AnswerRecord>({
  file: group<AnswerRecord["file"]>({
    path: string,
    blob: blobHash,
    digest,
    decision: choice("Reject", "Approve", "Revoke"),
    principal: string,
    comment: or("", string),
    signature: nullable(string),
  }),
  commit: nullable(commitHash),
  at: instant,
  // Records of earlier versions have none: among those, a revocation takes back whatever there is.
  order: or(0, integer, true),
  judgement,
});

/** `answers.yaml`: every approval file that was judged, and what became of it. */
export const answersFile = object<{ readonly answers: readonly AnswerRecord[] }>({
  answers: distinct(listOf(answer), (it) => it.file.path, "lists one file twice"),
});

/** The text of `answers.yaml`. */
export const answersText = (answers: Ledger["answers"]): string =>
  emitYaml(answersFile.write({ answers: [...answers.values()] }) ?? null);
