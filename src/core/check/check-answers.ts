import type { CommitFact } from "../model/commit.ts";
import { remembered } from "../model/identity.ts";
import { type Ledger, maxTakenAway } from "../model/ledger.ts";
import type { Plan, World } from "../model/plan.ts";
import type { ApprovalDefectCode, PlanDefect } from "../model/plan-defect.ts";
import {
  type AnswerRecord,
  type ApprovalFile,
  isApprovalPath,
  type Judgement,
  type Proof,
  type Request,
} from "../model/trust.ts";
import type { BlobId, Commit, Digest } from "../model/value.ts";
import { verifiedSignerOf } from "./check-approvers.ts";
import { defect } from "./check-defect.ts";

/**
 * Lists answers that a plan counts without proof, judges twice, or forgets (`trust/README.md#step-3` to `#step-6` and
 * `#step-12`).
 */
export function* checkAnswers({ ledger }: Plan, world: World): Generator<PlanDefect<ApprovalDefectCode>> {
  const { answers: before } = world.ledger;
  yield* checkWithdrawnAnswers({ ledger }, world, openIn(world.ledger));
  if (ledger.answers === before) return;
  const [asked, asks] = [openIn(world.ledger), openIn(ledger)];
  const said = saidSoFar(before, ledger.answers);
  for (const [path, was] of before)
    if (was.judgement.kind === "counts" && !ledger.answers.has(path) && asks.has(was.file.digest))
      yield defect("AnswerForgotten", { kind: "approvalFile", path }, `forgets what ${path} says`);
  for (const [path, it] of ledger.answers) {
    const was = before.get(path);
    if (it === was || it.judgement.kind !== "counts") continue;
    if (was !== undefined) {
      if (it.judgement !== was.judgement || it.file !== was.file)
        yield defect("AnswerJudgedAgain", { kind: "approvalFile", path }, `judges ${path} again`);
      continue;
    }
    const flaw = flawOf(path, it, it.judgement, { world, asked }) ?? orderFlaw(it, it.judgement, said);
    if (flaw !== null) yield defect("AnswerInvalid", { kind: "approvalFile", path }, `counts ${path}, ${flaw}`);
  }
}

/**
 * The newest answer of a person counts. So no answer may be ordered too early, and a copy of an approval is no newer
 * than the revocation of it.
 */
function orderFlaw({ file, order }: AnswerRecord, { proofs }: Counting, said: SaidSoFar): string | null {
  if (order <= said.last) return "out of turn";
  if (file.decision !== "Approve" || proofs.some((it) => it.evidence === "commit")) return null;
  const isTaken = (said.taken.get(speakerIn(file)) ?? Number.POSITIVE_INFINITY) < order;
  return isTaken && (said.first.get(`${speakerIn(file)} ${file.comment}`) ?? order) < order ? "which is a copy" : null;
}

/** The answers before this pass, and what everybody approved and took back. */
interface SaidSoFar {
  readonly last: number;
  readonly taken: ReadonlyMap<string, number>;
  readonly first: ReadonlyMap<string, number>;
}

function saidSoFar(before: Ledger["answers"], after: Ledger["answers"]): SaidSoFar {
  const [taken, first] = [new Map<string, number>(), new Map<string, number>()];
  const least = (of: Map<string, number>, key: string, order: number): void =>
    void of.set(key, Math.min(order, of.get(key) ?? order));
  for (const { file, judgement, order } of after.values()) {
    if (file.decision === "Approve") least(first, `${speakerIn(file)} ${file.comment}`, order);
    if (file.decision === "Revoke" && judgement.kind === "counts") least(taken, speakerIn(file), order);
  }
  let last = -1;
  for (const { order } of before.values()) last = Math.max(last, order);
  return { last, taken, first };
}

const speakerIn = ({ digest, principal }: AnswerRecord["file"]): string => `${digest} ${principal}`;

/** The digests of the open requests of a ledger. */
function openIn({ runs, placements }: Ledger): ReadonlySet<Digest> {
  const open = new Set<Digest>();
  const add = (it: Request | null | undefined): void => {
    if (it?.approval === null) open.add(it.digest);
  };
  for (const { end, stages } of runs.values())
    if (end === null) for (const { before, after } of stages) [before.Approval, after.Approval].forEach(add);
  for (const { change } of placements.values()) add(change?.request);
  return open;
}

interface Bench {
  readonly world: World;
  readonly asked: ReadonlySet<Digest>;
}

type Counting = Extract<Judgement, { readonly kind: "counts" }>;

/**
 * Judged by the trust file in force before the answer came: what comes with it decides nothing
 * (`trust/README.md#t-08`).
 */
function flawOf(path: string, { file }: AnswerRecord, said: Counting, { world, asked }: Bench): string | null {
  const { ledger, intent, history, now } = world;
  const trust = ledger.trust?.trust;
  if (trust === undefined) return "which nobody could judge";
  if (!intent.approvals.includes(file) || file.path !== path) return "which does not stand there";
  if (!asked.has(file.digest)) return "which answers nothing that was asked";
  if (said.principal !== file.principal) return "which speaks for somebody else";
  if (trust.principals.get(said.principal)?.isHuman !== true) return "which no person gave";
  if (now >= trust.expires) return "although the trust file has expired";
  const [carrier, again] = [...recent(world)].flatMap((id) => {
    const it = history.commits.get(id);
    return it !== undefined && brings(it, file) ? [it] : [];
  });
  const isOnce = carrier !== undefined && again === undefined && carrier.parents.length < 2;
  if (!isOnce || carrier.changes.some((it) => it.path === path && it.before !== null))
    return "which no single commit adds";
  if (said.proofs.length === 0) return "which nothing proves";
  return said.proofs.every((it) => isProven(it, file, carrier, world)) ? null : "which its proofs do not prove";
}

/**
 * The commits that came in this pass. Where a forge's word counts, those since the trust file in force: a file may have
 * waited for the forge.
 */
function recent({ ledger, history }: World): ReadonlySet<Commit> {
  const { trust, from } = ledger.trust ?? { trust: null, from: null };
  const takers = trust === null ? [] : [...trust.approvals, ...trust.protectedTargets];
  if (from === null || !takers.some((it) => it.accept.includes("forge"))) return new Set(history.news);
  const recent = new Set(history.commits.keys());
  const old = [from];
  for (let next = old.pop(); next !== undefined; next = old.pop())
    if (recent.delete(next)) old.push(...(history.commits.get(next)?.parents ?? []));
  return recent;
}

const brings = ({ changes }: CommitFact, { path, blob }: AnswerRecord["file"]): boolean =>
  changes.some((it) => it.path === path && it.after === blob && it.before !== blob);

function isProven(
  { evidence, key }: Proof,
  file: AnswerRecord["file"],
  carrier: CommitFact,
  { ledger, history, intent, now }: World,
): boolean {
  const { principals, revocations } = ledger.trust?.trust ?? { principals: new Map(), revocations: [] };
  const isBy = (fact: CommitFact["signature"] | undefined, purpose: string): boolean => {
    const speaker = fact === undefined ? null : verifiedSignerOf(fact, purpose, { principals, revocations, now });
    return speaker?.name === file.principal && speaker.key === key;
  };
  const accounts = principals.get(file.principal)?.forgeIds ?? new Map();
  const found = history.reviews.get(file.path);
  const reviews = found?.kind === "reviewed" ? found.reviews : [];
  switch (evidence) {
    case "commit":
      return isBy(carrier.signature, "git") && addsOnlyHis(carrier, file, intent.approvals);
    case "detached":
      return isBy(history.detached.get(file.blob), "flotilla-approval-v1");
    case "forge":
      return reviews.some(
        ({ forge, account, blob }) =>
          blob === file.blob && accounts.get(forge) === account && key === `${forge}:${account}`,
      );
  }
}

/** `trust/README.md#b-58`, `#t-13`: the commit adds approvals of one person and does nothing else. */
const addsOnlyHis = (
  { parents, changes }: CommitFact,
  { principal }: AnswerRecord["file"],
  files: World["intent"]["approvals"],
): boolean =>
  parents.length === 1 &&
  changes.every(
    ({ path, before, after }) =>
      path.startsWith("approvals/") && before === null && whoSays(files).get(`${path} ${after}`) === principal,
  );

/** The principal whose approval stands at a path. */
const whoSays = remembered(
  (files: World["intent"]["approvals"]) => new Map(files.map((it) => [`${it.path} ${it.blob}`, it.principal])),
);

/**
 * Lists approvals that a plan counts although they were taken away: only a commit signed by their author brings them
 * back, wherever the file stands now (`trust/README.md#t-43`).
 */
function* checkWithdrawnAnswers(
  { ledger }: Pick<Plan, "ledger">,
  world: World,
  open: ReadonlySet<Digest>,
): Generator<PlanDefect<ApprovalDefectCode>> {
  const { answers: before, takenAway } = world.ledger;
  const taken = takenFrom(world);
  if (open.size > 0) yield* remembersTakenAway(ledger, world, taken);
  const standing = new Set(world.intent.approvals.map((it) => it.blob));
  const places = new Set(world.intent.approvals.map((it) => `${it.path} ${it.blob}`));
  const gone = new Set<string>();
  for (const { file, judgement } of before.values()) {
    if (file.decision !== "Approve") continue;
    const wasTaken = judgement.kind === "denied" && judgement.code === "FLT1212";
    const isTaken = taken.has(`${file.path} ${file.blob}`) && (taken.has(file.blob) || !standing.has(file.blob));
    // A merge can drop a file without listing it among its changes.
    const isDropped = !places.has(`${file.path} ${file.blob}`) && !taken.has(`${file.path} ${file.blob}`);
    if (wasTaken || (judgement.kind === "counts" && (isTaken || isDropped))) gone.add(saying(file));
  }
  if (gone.size + taken.size + takenAway.size === 0) return;
  for (const [path, { file, judgement }] of ledger.answers) {
    if (file.decision !== "Approve" || judgement.kind !== "counts" || !open.has(file.digest)) continue;
    const isUnseen = !before.has(path) && (taken.has(file.blob) || takenAway.has(file.blob));
    if ((isUnseen || gone.has(saying(file))) && !judgement.proofs.some((it) => it.evidence === "commit"))
      yield defect("AnswerWithdrawn", { kind: "approvalFile", path }, `counts ${path}, which was taken back`);
  }
}

/**
 * What was taken away unread is remembered while anything is asked for, up to a number; what was judged, its record tells
 * of.
 */
function* remembersTakenAway(
  ledger: Ledger,
  { ledger: was, history }: World,
  taken: ReadonlySet<string>,
): Generator<PlanDefect<ApprovalDefectCode>> {
  if (was.trust === null || ledger.takenAway.size >= maxTakenAway) return;
  const judged = new Set([...was.answers.values()].map((it) => it.file.blob));
  const all = history.news.flatMap((it) => history.commits.get(it)?.changes ?? []);
  for (const { path, before } of all) {
    const isUnread = before !== null && isApprovalPath(path) && taken.has(before) && !judged.has(before);
    if (isUnread && !ledger.takenAway.has(before))
      yield defect("AnswerForgotten", { kind: "approvalFile", path }, `forgets that ${path} was taken away`);
  }
  for (const it of was.takenAway)
    if (!ledger.takenAway.has(it))
      yield defect("AnswerForgotten", { kind: "ledger" }, `forgets that approval ${it} was taken away`);
}

/** What new commits remove, as path and blob; the blob alone unless the same commit puts it elsewhere. */
function takenFrom({ history: { news, commits } }: World): ReadonlySet<string> {
  const taken = new Set<BlobId | string>();
  for (const id of news) {
    const changes = commits.get(id)?.changes.filter(({ path }) => isApprovalPath(path)) ?? [];
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
