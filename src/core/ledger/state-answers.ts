import { isObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import type { AnswerRecord, Judgement } from "../model/trust.ts";
import { type BlobId, type Commit, type Digest, exactInstantText, type Instant } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import {
  choiceAt,
  countAt,
  type Findings,
  find,
  given,
  instantAt,
  instantOrNull,
  objectsAt,
  partAt,
  textAt,
  textOrNull,
} from "./state-fields.ts";
import { proofsJson, proofsOf } from "./state-request.ts";

/** The text of `answers.yaml`: every approval file that was judged, by path, with what became of it. */
export const answersText = (answers: Ledger["answers"]): string =>
  emitYaml({ answers: [...answers.values()].map(answerJson) });

/** The inverse of {@link answersText}. */
export function answersOf(findings: Findings, document: Json): readonly AnswerRecord[] {
  const object = isObject(document) ? document : {};
  const answers = objectsAt(findings, object, "answers").map((it) => answerOf(findings, it));
  if (new Set(answers.map((it) => it.file.path)).size < answers.length)
    find(findings, "answers", "tells of one file twice");
  return answers;
}

const answerJson = ({ file, judgement, commit, at, order }: AnswerRecord): JsonObject =>
  given({
    path: file.path,
    blob: file.blob,
    digest: file.digest,
    decision: file.decision,
    principal: file.principal,
    comment: file.comment === "" ? null : file.comment,
    signature: file.signature,
    commit,
    at: exactInstantText(at),
    order,
    ...judgementJson(judgement, at),
  });

const answerOf = (findings: Findings, object: JsonObject): AnswerRecord => {
  const at = instantAt(findings, object, "at");
  return {
    file: {
      path: textAt(findings, object, "path"),
      blob: textAt(findings, object, "blob") as BlobId,
      digest: textAt(findings, object, "digest") as Digest,
      decision: choiceAt(findings, object, "decision", ["Reject", "Approve", "Revoke"]),
      principal: textAt(findings, object, "principal"),
      comment: textOrNull(findings, object, "comment") ?? "",
      signature: textOrNull(findings, object, "signature"),
    },
    judgement: judgementOf(findings, object, at),
    commit: textOrNull(findings, object, "commit") as Commit | null,
    at,
    // Records of earlier versions have none: among those, a revocation takes back whatever there is.
    order: member(object, "order") === null ? 0 : countAt(findings, object, "order"),
  };
};

/** A judgement that counts has a moment of its own only where that is not when the file was first seen. */
function judgementJson(judgement: Judgement, at: Instant): { readonly [key: string]: Json } {
  switch (judgement.kind) {
    case "counts": {
      const { principal, proofs } = judgement;
      const since = judgement.at === at ? null : exactInstantText(judgement.at);
      return { counts: given({ principal, at: since, proofs: proofsJson(proofs) }) };
    }
    case "denied":
      return { denied: { code: judgement.code, because: judgement.because } };
  }
}

function judgementOf(findings: Findings, object: JsonObject, at: Instant): Judgement {
  const counts = partAt(object, "counts");
  const denied = partAt(object, "denied");
  if ((member(object, "counts") === null) === (member(object, "denied") === null))
    find(findings, "answers", "holds an answer that does not either count or not");
  if (member(object, "counts") === null)
    return {
      kind: "denied",
      code: textAt(findings, denied, "code"),
      because: textAt(findings, denied, "because"),
    };
  return {
    kind: "counts",
    principal: textAt(findings, counts, "principal"),
    proofs: proofsOf(findings, counts),
    at: instantOrNull(findings, counts, "at") ?? at,
  };
}
