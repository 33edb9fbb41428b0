import { isObject } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import type { AnswerRecord, Judgement } from "../model/trust.ts";
import type { BlobId, Instant } from "../model/value.ts";
import { emitYaml } from "../yaml/canonical.ts";
import {
  at,
  distinct,
  type Field,
  group,
  listIfAny,
  listOf,
  nullable,
  object,
  or,
  reportProblem,
} from "./codec/codec.ts";
import { proof } from "./codec/requests.ts";
import { blobHash, choice, commitHash, digest, instant, integer, string } from "./codec/scalars.ts";

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

/** `answers.yaml`: every approval file that was judged, and what became of it; and what was taken away. */
export const answersFile = object<{
  readonly answers: readonly AnswerRecord[];
  readonly takenAway: readonly BlobId[];
}>({
  answers: distinct(listOf(answer), (it) => it.file.path, "lists one file twice"),
  takenAway: listIfAny(blobHash),
});

/** The text of `answers.yaml`. */
export const answersText = ({ answers, takenAway }: Pick<Ledger, "answers" | "takenAway">): string =>
  emitYaml(answersFile.write({ answers: [...answers.values()], takenAway: [...takenAway] }) ?? null);
