import { auditCounts, auditStep } from "../../../core/audit/audit.ts";
import { type Anchored, auditChain, signatureWatch, vouchedBy } from "../../../core/audit/audit-chain.ts";
import { withRecordedReviews } from "../../../core/audit/audit-consent.ts";
import type { AuditFinding } from "../../../core/audit/audit-finding.ts";
import { auditedScheduleCount, auditSchedule } from "../../../core/audit/audit-schedule.ts";
import { emptyLedger } from "../../../core/model/ledger.ts";
import type { World } from "../../../core/model/plan.ts";
import type { Digest } from "../../../core/model/value.ts";
import { decisionVersion } from "../../../core/plan/decision.ts";
import { Fault } from "../fault.ts";
import { type Memory, newMemory, type State } from "../memory.ts";
import type { Ports, RawCommit } from "../ports.ts";
import { firstParent, firstParentHistory } from "../repository-queries.ts";
import { sourceBranchMissing } from "../source.ts";
import { readStateBranch } from "../state.ts";
import { type Audit, type AuditFindings, newAuditFindings } from "./findings.ts";
import { auditRendered } from "./rendered.ts";
import { followsSource, stateCommitOf, worldAt } from "./world.ts";

/** How far an audit goes. */
export interface AuditQuestion {
  /** All of the state branch, and what it shows; otherwise the last commits alone. */
  readonly full: boolean;
  /** How many of the last; a hundred when absent. */
  readonly last?: number;
  /** The SHA-256 of the trust file that the operator vouches for; null without one. */
  readonly anchor: Digest | null;
}

type Sources = Pick<Ports, "repository" | "verifier">;

/** So many of the last commits are judged where not all of them are. */
const commitsJudged = 100;

/** Longer than any state branch before its first checkpoint. */
const longestBranch = 1_000_000;

/**
 * Audits the state branch from the repository alone, without contacting members
 * (`trust/README.md#our-own-commits`, `#t-23`).
 *
 * Commit by commit, along first parents: each is held against the ledger before it and against what its writer could
 * see of the source branch. Where not all of it is looked at, what stood before the first commit is taken as it is.
 */
export async function auditState(
  ports: Sources,
  { full, last = commitsJudged, anchor }: AuditQuestion,
): Promise<Audit> {
  const { repository } = ports;
  const heads = await repository.heads();
  if (heads.state === null) throw stateMissing(repository.name);
  if (heads.source === null) throw await sourceBranchMissing(repository, "fetch it, or name it with --branch");
  const limit = full ? longestBranch : last + 1;
  const lineage = [...(await firstParentHistory(repository, heads.state, limit))].reverse();
  const [first] = lineage;
  const isWhole = first === undefined || firstParent(first) === null;
  const findings = newAuditFindings();
  const base = isWhole || first === undefined ? emptyState : await readStateBranch(repository, first.commit);
  const walk: Walk = { ports, findings, memory: newMemory(), anchored: [], watch: signatureWatch() };
  const steps = isWhole ? lineage : lineage.slice(1);
  const tip = await walked(walk, base, steps);
  if (tip.ledger.sourceCommit !== null && !(await followsSource(repository, heads.source, tip.ledger.sourceCommit)))
    findings.add("chain", heads.state, {
      what: "refers to a source commit that the source branch here does not have; fetch it",
    });
  if (full) await auditRendered(ports, tip, walk.memory, findings);
  conclude(walk, { anchor, base, isWhole, commits: steps.length });
  return findings.result({
    state: heads.state,
    source: heads.source,
    commits: steps.length,
    signers: signersOf(walk.watch),
    isWhole,
  });
}

function signersOf(watch: Walk["watch"]): Audit["signers"] {
  if (watch.signed() === 0) return "nobody";
  return watch.unvouched().length > 0 ? "unvouched" : "trusted";
}

const emptyState: State = { commit: null, ledger: emptyLedger, accepted: new Map(), held: new Map() };

const stateMissing = (name: string): Fault =>
  new Fault(
    "StateUnreadable",
    `reading ${name}`,
    "the state branch does not exist here",
    "fetch it (git fetch origin fleet/state:fleet/state), or name it with --state-branch",
  );

interface Walk {
  readonly ports: Sources;
  readonly findings: AuditFindings;
  readonly memory: Memory;
  readonly anchored: Anchored[];
  readonly watch: ReturnType<typeof signatureWatch>;
}

async function walked(walk: Walk, base: State, steps: readonly RawCommit[]): Promise<State> {
  let state = base;
  // What could not be read leaves a hole: the next one that can be is not held against what stood before it.
  let isBroken = false;
  for (const it of steps) {
    const next = await readStateBranch(walk.ports.repository, it.commit, state).catch((error: unknown) => {
      if (error instanceof Fault && error.code === "StateUnreadable") return error;
      throw error;
    });
    if (next instanceof Fault) {
      walk.findings.add("chain", it.commit, { what: `cannot be read: ${next.message}` });
      isBroken = true;
    } else {
      await judge(walk, it, { before: state, after: next, isBroken });
      state = next;
      isBroken = false;
    }
  }
  return state;
}

interface Step {
  readonly before: State;
  readonly after: State;
  readonly isBroken: boolean;
}

async function judge(walk: Walk, raw: RawCommit, { before, after, isBroken }: Step): Promise<void> {
  const { ports, findings, memory, watch, anchored } = walk;
  const commit = await stateCommitOf(ports, raw, { before, after });
  const isFirst = before.commit === null || isBroken;
  const found: AuditFinding[] = [
    ...auditChain(commit, isFirst ? null : before.ledger, after.ledger),
    ...watch.next(commit, before.ledger.trust ?? after.ledger.trust),
  ];
  findings.count("chain", 1);
  findings.count("signatures", 1);
  const trust = after.ledger.trust;
  if (trust !== null && trust.by === "anchor" && trust.trust.digest !== before.ledger.trust?.trust.digest)
    anchored.push({ commit: raw.commit, version: trust.trust.version, digest: trust.trust.digest });
  if (!isBroken) {
    const seen = await worldAt(ports, memory, { before, after, at: commit.at });
    if (seen === null) findings.skip("commits whose source commit is not in this clone");
    else {
      found.push(...judged(findings, seen.world, after), ...acceptedFindings(seen.files, after));
      found.push(...scheduled(findings, seen.world, { after, version: commit.decisionVersion }));
    }
  }
  for (const it of found) findings.take(raw.commit, it);
}

function judged(findings: AuditFindings, world: World, after: State): readonly AuditFinding[] {
  const { trust, approvals, plans } = auditCounts(world.ledger, after.ledger);
  findings.count("trust", trust);
  findings.count("approvals", approvals);
  findings.count("plans", plans);
  findings.count("accepted", 1);
  const told = withRecordedReviews(world, after.ledger);
  for (const { kind } of told.history.reviews.values()) {
    if (kind === "reviewed") findings.skip("approvals that depend on the forge, which is not asked here");
    if (kind === "unavailable") findings.skip("times an approval had to wait because the forge could not be asked");
  }
  return auditStep(told, after.ledger);
}

/** Where a commit changed a schedule, it is computed again, if the rules are still the same. */
function scheduled(
  findings: AuditFindings,
  world: World,
  { after, version }: { readonly after: State; readonly version: string | null },
): readonly AuditFinding[] {
  const count = auditedScheduleCount(world, after.ledger);
  if (count === 0) return [];
  if (version !== String(decisionVersion)) {
    findings.skip(
      `commits whose schedules rest on decision version ${version ?? "unknown"}; this is ${decisionVersion}`,
    );
    return [];
  }
  findings.count("scheduling", count);
  return [...auditSchedule(world, after.ledger)];
}

/** Compares the files that were recorded as read with those of the source commit. */
function acceptedFindings(files: State["accepted"], { accepted }: State): readonly AuditFinding[] {
  const paths = new Set([...files.keys(), ...accepted.keys()]);
  const other = [...paths].filter((it) => files.get(it) !== accepted.get(it)).sort();
  const [path] = other;
  if (path === undefined) return [];
  const more = other.length > 1 ? ` and ${other.length - 1} more files` : "";
  const what = `has another ${path}${more} under accepted/ than its source commit`;
  return [{ check: "accepted", subject: { kind: "file", path: `accepted/${path}` }, what }];
}

interface Whole {
  readonly anchor: Digest | null;
  readonly base: State;
  readonly isWhole: boolean;
  readonly commits: number;
}

function conclude({ findings, anchored, watch }: Walk, { anchor, base, isWhole, commits }: Whole): void {
  const vouched = vouchedBy(anchor, anchored, base.ledger.trust);
  if (vouched.kind === "onTrust") findings.note(vouched.words);
  if (vouched.kind === "other") findings.take(vouched.at.commit, { ...trustFinding, what: vouched.what });
  const keys = watch.unvouched();
  if (keys.length > 0)
    findings.note(
      `that ${keys.join(", ")}, which signed commits while the trust file named no machine, is the reconciler's: flotilla trust add NAME --machine --key FILE.pub lists one`,
    );
  if (!isWhole)
    findings.note(`everything before the last ${commits} commits: it is taken as it is; --full checks all of it`);
  findings.note("what members reported and when passes ran: both are taken as recorded; no member was asked");
  findings.note("the pace of rollouts and the bounds of deletions: they depend on what members reported in each pass");
}

const trustFinding = { check: "trust", subject: { kind: "trust" } } as const;
