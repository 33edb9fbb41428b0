import type { Approver, Authors, Proof, Request } from "../../model/trust.ts";
import type { Instant } from "../../model/value.ts";
import {
  type Codec,
  converted,
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

export const proof = object<Proof>({
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
