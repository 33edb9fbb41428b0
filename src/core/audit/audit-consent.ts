import type { ForgeFinding } from "../model/history.ts";
import { type Json, sameJson } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import type { World } from "../model/plan.ts";
import type { AnswerRecord, Authors } from "../model/trust.ts";
import type { Digest } from "../model/value.ts";
import { judgedAnswers } from "../plan/approval/answers.ts";
import {
  type ApprovalRequest,
  requestedPlacement,
  requestState,
  requestSubject,
  requestsIn,
} from "../plan/approval/approval-request.ts";
import { consentOf } from "../plan/approval/consent.ts";
import { reviewsToAsk } from "../plan/approval/reviews.ts";
import { authorsOfChange, authorsOfRun } from "../plan/authors/authors.ts";
import { contentOf } from "../plan/moves/version.ts";
import type { OpenRequest } from "../trust/judge-approval.ts";
import { type AuditFinding, whatOf } from "./audit-finding.ts";

/** Which trust file should have been in force, and who vouched for it (`trust/README.md#the-trust-file`; `#t-09`). */
export function* auditTrustFile(world: World, after: Ledger): Generator<AuditFinding> {
  const { ledger: before } = world;
  const { record, closed } = consentOf(world, before, after.sequence);
  const [want, got, was] = [record, after.trust, before.trust].map((it) => it?.trust.digest);
  const finding = (what: string): AuditFinding => ({ check: "trust", subject: { kind: "trust" }, what });
  if (want === got) {
    const isOther = got !== was && !sameJson((record?.by ?? null) as Json, (after.trust?.by ?? null) as Json);
    if (isOther) yield finding(`says that others vouched for version ${record?.trust.version} than did`);
    return;
  }
  const version = after.trust?.trust.version;
  if (got === undefined) yield finding("forgets the trust file");
  else if (got === was)
    yield finding(`keeps version ${version}, although version ${record?.trust.version} came into force`);
  else if (closed !== null) yield finding(`puts version ${version} in force: ${closed.code}: ${closed.because}`);
  else yield finding(`puts version ${version} in force, which does not stand in the source branch`);
}

/**
 * Whether the approvals of this step were judged correctly: no rejection is omitted or denied, and no approval is
 * attributed to somebody else (`trust/README.md#what-counts`; `#t-20`, `#t-23`). The second opinion judges the proofs.
 */
export function* auditAnswers(world: World, after: Ledger): Generator<AuditFinding> {
  const { ledger: before } = world;
  if (before.trust === null) return;
  const still = new Set(requestsIn(after).map((it) => it.request.digest));
  const wanted = judgedAnswers(world, () => openIn(before));
  for (const [path, want] of wanted) {
    if (before.answers.has(path)) continue;
    const flaw = flawOf(want, after.answers.get(path), still);
    if (flaw !== null) yield { check: "approvals", subject: { kind: "answers" }, what: flaw };
  }
  for (const path of after.answers.keys()) {
    if (wanted.has(path)) continue;
    const what = `tells what became of ${path}, which does not stand in the source branch`;
    yield { check: "approvals", subject: { kind: "answers" }, what };
  }
}

function flawOf(want: AnswerRecord, got: AnswerRecord | undefined, still: ReadonlySet<Digest>): string | null {
  const { file, judgement } = want;
  if (got === undefined) return `leaves out what ${file.path} says`;
  if (!sameJson(got.file as unknown as Json, file as unknown as Json))
    return `says that ${file.path} holds something else than it does`;
  if (judgement.kind === "denied" || !still.has(file.digest)) return null;
  if (got.judgement.kind === "denied")
    return file.decision === "Approve" ? null : `turns down ${file.path}, which says ${file.decision} and counts`;
  const { principal, proofs } = judgement;
  const isSame =
    got.judgement.principal === principal &&
    sameJson(got.judgement.proofs as unknown as Json, proofs as unknown as Json);
  return isSame ? null : `counts ${file.path} as somebody else's, or by other keys than it was signed with`;
}

/** The open requests, as far as the record alone tells: the protected targets that a stage reaches are left out. */
function openIn(ledger: Ledger): ReadonlyMap<Digest, OpenRequest> {
  const { trust } = ledger;
  if (trust === null) return new Map();
  const open = requestsIn(ledger).filter((it) => requestState(it) === "open");
  return new Map(
    open.map((ask) => {
      const { digest, requestedAt, authors } = ask.request;
      const subject = requestSubject(ask, ledger, ask.kind === "gate" ? { protectedTargets: [] } : trust.trust);
      return [digest, { digest, requestedAt, authors, ...subject }];
    }),
  );
}

/** Whether new requests name everybody who changed what they are about (`trust/README.md#t-06`, `#t-07`). */
export function* auditAuthors(world: World, after: Ledger): Generator<AuditFinding> {
  const { ledger: before } = world;
  const { trust } = after;
  if (trust === null) return;
  const known = new Set(requestsIn(before).map((it) => it.request.digest));
  for (const ask of requestsIn(after)) {
    const { digest, authors } = ask.request;
    if (known.has(digest)) continue;
    const found = authorsFor(ask, world, after, trust);
    if (found === null || isAtLeast(authors, found)) continue;
    const names = [...found.principals, ...(found.unknown > 0 ? [`${found.unknown} unsigned`] : [])].join(", ");
    const subject =
      ask.kind === "gate"
        ? ({ kind: "run", key: ask.run.key } as const)
        : ({ kind: "placement", key: ask.record.key } as const);
    yield { check: "approvals", subject, what: `leaves out who changed what ${whatOf(ask)} is about: ${names}` };
  }
}

function authorsFor(
  ask: ApprovalRequest,
  world: World,
  after: Ledger,
  trust: NonNullable<Ledger["trust"]>,
): Authors | null {
  const now = requestedPlacement(ask, after);
  if (now === null) return null;
  const { ledger } = world;
  // The bindings when it was requested, with the snapshots that exist since.
  const bindings = ledger.placements.get(now.key)?.bindings ?? now.bindings;
  const record = { ...now, bindings };
  const judging = { world, ledger, trust, overrides: after.overrides, content: contentOf(world) };
  return ask.kind === "gate"
    ? authorsOfRun(ask.run, record, judging)
    : authorsOfChange(record, ask.change.clusters, judging);
}

/** Nobody is missing; an additional author only makes the request stricter. */
const isAtLeast = (recorded: Authors, found: Authors): boolean =>
  found.principals.every((it) => recorded.principals.includes(it)) && recorded.unknown >= found.unknown;

/** The world with the forge reviews that its writer recorded where files needed one: they cannot be fetched again. */
export function withRecordedReviews(world: World, { answers }: Ledger): World {
  const questions = reviewsToAsk(world);
  if (questions.length === 0) return world;
  const reviews = new Map(
    questions.flatMap(({ path }): readonly (readonly [string, ForgeFinding])[] => {
      const finding = recorded(answers.get(path));
      return finding === null ? [] : [[path, finding]];
    }),
  );
  return { ...world, history: { ...world.history, reviews } };
}

function recorded(record: AnswerRecord | undefined): ForgeFinding | null {
  if (record === undefined) return { kind: "unavailable", because: "the record says nothing about it" };
  const { judgement, file } = record;
  if (judgement.kind === "denied") return null;
  const reviews = judgement.proofs.flatMap(({ evidence, key, source = "" }) => {
    const [forge = "", account = ""] = key.split(":");
    return evidence === "forge" ? [{ forge, account, blob: file.blob, source }] : [];
  });
  return reviews.length === 0 ? null : { kind: "reviewed", reviews };
}
