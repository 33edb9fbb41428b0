import type { Plan, World } from "../model/plan.ts";
import type { ApprovalDefectCode, PlanDefect } from "../model/plan-defect.ts";
import type { ApprovalFile } from "../model/trust.ts";
import type { BlobId, Digest } from "../model/value.ts";
import { defect } from "./check-words.ts";

/**
 * Says which approvals a plan counts although somebody took away what they say: only a commit of the one who speaks
 * brings that back, wherever it stands now (`trust/README.md#t-43`).
 */
export function* countsNothingTakenBack(
  { ledger }: Pick<Plan, "ledger">,
  world: World,
  open: ReadonlySet<Digest>,
): Generator<PlanDefect<ApprovalDefectCode>> {
  const { answers: before } = world.ledger;
  const taken = takenFrom(world);
  const standing = new Set(world.intent.approvals.map((it) => it.blob));
  const places = new Set(world.intent.approvals.map((it) => `${it.path} ${it.blob}`));
  const gone = new Set<string>();
  for (const { file, judgement } of before.values()) {
    if (file.decision !== "Approve") continue;
    const wasTaken = judgement.kind === "denied" && judgement.code === "FLT1212";
    const isTaken = taken.has(`${file.path} ${file.blob}`) && (taken.has(file.blob) || !standing.has(file.blob));
    // A merge drops it without a change of its own.
    const isDropped = !places.has(`${file.path} ${file.blob}`) && !taken.has(`${file.path} ${file.blob}`);
    if (wasTaken || (judgement.kind === "counts" && (isTaken || isDropped))) gone.add(saying(file));
  }
  if (gone.size + taken.size === 0) return;
  for (const [path, { file, judgement }] of ledger.answers) {
    if (file.decision !== "Approve" || judgement.kind !== "counts" || !open.has(file.digest)) continue;
    const isUnseen = !before.has(path) && taken.has(file.blob);
    if ((isUnseen || gone.has(saying(file))) && !judgement.proofs.some((it) => it.evidence === "commit"))
      yield defect("AnswerWithdrawn", { kind: "approvalFile", path }, `counts ${path}, which was taken back`);
  }
}

/** What new commits take from where it stood, as path and blob; the blob alone where the same commit puts it nowhere else. */
function takenFrom({ history: { news, commits } }: World): ReadonlySet<string> {
  const taken = new Set<BlobId | string>();
  for (const id of news) {
    const changes = commits.get(id)?.changes.filter(({ path }) => path.startsWith("approvals/")) ?? [];
    const put = new Set(changes.flatMap(({ before, after }) => (after === null || after === before ? [] : after)));
    for (const { path, before, after } of changes) {
      if (before === null || before === after) continue;
      taken.add(`${path} ${before}`);
      if (!put.has(before)) taken.add(before);
    }
  }
  return taken;
}

const saying = ({ digest, principal, comment }: ApprovalFile): string => JSON.stringify([digest, principal, comment]);
