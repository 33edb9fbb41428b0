import { readTrust } from "../../src/core/intent/trust/trust-file.ts";
import { known } from "../../src/core/model/assert.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import type { AnswerRecord, Judgement, Request, TrustRecord } from "../../src/core/model/trust.ts";
import type { PlannedStage, RunRecord } from "../../src/core/model/update-run.ts";
import type { BlobId, Commit, Digest, Instant, Sequence } from "../../src/core/model/value.ts";
import { gateDigest } from "../../src/core/plan/approval/request-digest.ts";
import { planRoot } from "../../src/core/rollout/run-plan.ts";
import { requested } from "../gate.ts";
import { ledgerOf, planOf, progress, run } from "./rollout-ledger.ts";

/** Stages with the request that each has; null for none. */
export type Asked = readonly (readonly [PlannedStage, ...Partial<Record<"before" | "after", Partial<Request>>>[]])[];

/** A run of version 3 of `web` that asks for what is given, with the digests that the planner would make. */
export function askingRun(name: string, asked: Asked, more: Partial<RunRecord> = {}): RunRecord {
  const bare = planOf(
    3,
    asked.map(([it]) => it),
  );
  const plan = { ...bare, root: planRoot(bare) };
  const its = run(name, 1, { plan, ...more });
  const request = (stage: string, when: "before" | "after", given: Partial<Request> | undefined): Request | null => {
    if (given === undefined) return null;
    const terms = { nonce: "0f".repeat(16), rules: null, authors: { principals: [], unknown: 0 }, ...given };
    const digest = gateDigest(fleet, { run: its, plan, stage, when }, terms);
    return { requestedAt: 0 as Instant, approval: null, ...terms, digest };
  };
  const stages = asked.map(([{ name: stage }, gates = {}]) =>
    progress({
      before: requested(request(stage, "before", gates.before)),
      after: requested(request(stage, "after", gates.after)),
    }),
  );
  return { ...its, stages };
}

const fleet = ledgerOf([], []).fleet;

/** A trust file in force, as the record has it. */
export function inForce(text: string): TrustRecord {
  const { trust, problems } = readTrust(text);
  const first = "1".repeat(40) as Commit;
  return {
    trust: known(trust, JSON.stringify(problems)),
    text,
    since: 1 as Sequence,
    from: first,
    first,
    by: "anchor",
  };
}

/** The ledger with a trust file in force and these answers. */
export const trusting = (ledger: Ledger, text: string, answers: readonly AnswerRecord[] = []): Ledger => ({
  ...ledger,
  hasTrust: true,
  trust: inForce(text),
  answers: new Map(answers.map((it) => [it.file.path, it])),
});

/** Somebody's answer, and what became of it. */
export function answered(
  principal: string,
  digest: Digest,
  more: {
    readonly path?: string;
    readonly decision?: "Approve" | "Reject" | "Revoke";
    readonly judgement?: Judgement;
    readonly at?: Instant;
    readonly blob?: string;
    readonly order?: number;
  } = {},
): AnswerRecord {
  const {
    path = `approvals/r/canary-before.${principal}.yaml`,
    decision = "Approve",
    at = 0 as Instant,
    order = 1,
    blob = "b".repeat(40),
  } = more;
  const proofs = [{ evidence: "commit", key: `SHA256:${principal}` }] as const;
  const { judgement = { kind: "counts", principal, proofs, at } as const } = more;
  const file = { path, blob: blob as BlobId, digest, decision, principal, comment: "", signature: null };
  return { file, judgement, commit: "c".repeat(40) as Commit, at, order };
}
