import type { ChangeRequest, Ledger } from "../model/ledger.ts";
import type { AnswerRecord, Approval, TrustRecord } from "../model/trust.ts";
import { names } from "./explain.ts";

/** What became of trust, of answers and of what protection asks for, from one ledger to the next, in words. */
export function* trustLines(before: Ledger, after: Ledger): Generator<string> {
  if (after.trust !== null && after.trust !== before.trust) yield acceptedText(after.trust);
  if (after.answers !== before.answers)
    for (const [path, it] of after.answers)
      if (before.answers.get(path)?.judgement !== it.judgement) yield judgedText(path, it);
  if (after.formerNames !== before.formerNames) yield* formerNameLines(before.formerNames, after.formerNames);
  if (after.placements === before.placements) return;
  for (const [key, { change }] of after.placements) {
    const was = before.placements.get(key)?.change ?? null;
    if (change !== was) yield* changeLines(key, was, change);
  }
}

function* formerNameLines(before: Ledger["formerNames"], after: Ledger["formerNames"]): Generator<string> {
  for (const [uid, { names: known }] of after) {
    const fresh = known.filter((it) => before.get(uid)?.names.includes(it) !== true);
    if (fresh.length > 0)
      yield `the cluster that was ${names(fresh)} (kube-system uid ${uid}) stays protected as such under any name`;
  }
  for (const [uid, { names: known }] of before) {
    const left = after.get(uid)?.names ?? [];
    const gone = known.filter((it) => !left.includes(it));
    if (gone.length > 0)
      yield `the cluster that was ${names(gone)} (kube-system uid ${uid}) is protected as such no longer`;
  }
}

const acceptedText = ({ trust: { version, digest }, by }: TrustRecord): string => {
  const who = by === "anchor" ? "the operator's anchor vouches for it" : `signed by ${by.join(" and ")}`;
  return `version ${version} of trust/root.yaml is in force (SHA-256 ${digest}): ${who}`;
};

const judgedText = (path: string, { file, judgement }: AnswerRecord): string =>
  judgement.kind === "counts"
    ? `${path} counts: ${file.decision} of ${file.principal} (${judgement.proofs.map((it) => it.key).join(", ")})`
    : `${path} of ${file.principal} does not count: ${judgement.code}: ${judgement.because}`;

function* changeLines(key: string, was: ChangeRequest | null, change: ChangeRequest | null): Generator<string> {
  const request = change?.request ?? null;
  if (change === null || request === null) return;
  if (request.digest !== was?.request?.digest)
    yield `${key} asks for an approval to change ${names([...change.clusters.keys()])}: ${request.digest}`;
  if (request.approval !== null && was?.request?.approval == null)
    yield `the change of ${key} was approved by ${approversText(request.approval)}`;
}

/** Who approved, by which key, and in which file: `ann (SHA256:…, approvals/web/ann.yaml) and bob (…)`. */
export const approversText = ({ by }: Approval): string =>
  by.map(({ principal, path, proofs }) => `${nameOf(principal)} (${keysText(proofs)}${path})`).join(" and ");

const nameOf = (principal: string): string => (principal === "" ? "somebody" : principal);

const keysText = (proofs: Approval["by"][number]["proofs"]): string =>
  [...new Set(proofs.map((it) => it.key))].map((it) => `${it}, `).join("");
