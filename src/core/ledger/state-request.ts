import { type Json, type JsonObject, member } from "../model/json.ts";
import type { Approval, Approver, Authors, Proof, Request } from "../model/trust.ts";
import type { BlobId, Commit, Digest, Instant } from "../model/value.ts";
import {
  choiceAt,
  countAt,
  type Findings,
  filled,
  find,
  given,
  objectsAt,
  partAt,
  textAt,
  textOrNull,
  textsAt,
} from "./state-fields.ts";

/** What a request holds, but for its two instants: those stand where KubeFleet has them. */
export const requestNotesJson = ({ nonce, digest, rules, authors, approval }: Request): JsonObject =>
  given({
    digest,
    nonce,
    rules,
    authors: authorsJson(authors),
    by: approval === null ? null : approval.by.map(approverJson),
  });

/** The inverse of {@link requestNotesJson}; `approvedAt` is null while it is open. */
export const requestOf = (
  findings: Findings,
  notes: JsonObject,
  { requestedAt, approvedAt }: { readonly requestedAt: Instant; readonly approvedAt: Instant | null },
): Request => ({
  requestedAt,
  nonce: textAt(findings, notes, "nonce"),
  digest: textAt(findings, notes, "digest") as Digest,
  rules: textOrNull(findings, notes, "rules") as Digest | null,
  authors: authorsOf(findings, partAt(notes, "authors")),
  approval: approvedAt === null ? null : approvalOf(findings, notes, approvedAt),
});

function authorsJson({ principals, unknown }: Authors): JsonObject | null {
  const object = given({ principals: filled(principals), unknown: unknown === 0 ? null : unknown });
  return Object.keys(object).length === 0 ? null : object;
}

const authorsOf = (findings: Findings, object: JsonObject): Authors => ({
  principals: textsAt(findings, object, "principals"),
  unknown: member(object, "unknown") === null ? 0 : countAt(findings, object, "unknown"),
});

function approvalOf(findings: Findings, notes: JsonObject, at: Instant): Approval {
  const by = objectsAt(findings, notes, "by").map((it) => approverOf(findings, it));
  if (by.length === 0) find(findings, "by", "is missing");
  return { at, by };
}

const approverJson = ({ principal, path, blob, commit, proofs }: Approver): JsonObject =>
  given({ principal, path, blob, commit, proofs: filled(proofsJson(proofs)) });

const approverOf = (findings: Findings, object: JsonObject): Approver => ({
  principal: textAt(findings, object, "principal"),
  path: textAt(findings, object, "path"),
  blob: textAt(findings, object, "blob") as BlobId,
  commit: textOrNull(findings, object, "commit") as Commit | null,
  proofs: proofsOf(findings, object),
});

/** The list `proofs` of an approver, or of an answer that counts. */
export const proofsJson = (proofs: readonly Proof[]): readonly Json[] =>
  proofs.map(({ evidence, key, source }) => ({ evidence, key, ...(source === undefined ? {} : { source }) }));

/** The inverse of {@link proofsJson}: none where the list is left out. */
export const proofsOf = (findings: Findings, object: JsonObject): readonly Proof[] =>
  objectsAt(findings, object, "proofs").map((it) => {
    const source = textOrNull(findings, it, "source");
    return {
      evidence: choiceAt(findings, it, "evidence", ["commit", "detached", "forge"]),
      key: textAt(findings, it, "key"),
      ...(source === null ? {} : { source }),
    };
  });
