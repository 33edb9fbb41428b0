import type { AuditCheck, AuditFinding, AuditSubject } from "../../../core/audit/audit-finding.ts";
import {
  answersPath,
  ledgerPath,
  placementPath,
  runPath,
  runPlanPath,
  trustTextPath,
} from "../../../core/ledger/layout.ts";
import type { Commit } from "../../../core/model/value.ts";

/** Something in the state branch that cannot be derived from its inputs. */
interface AuditFault {
  readonly check: AuditCheck;
  /** Of the state branch: the first that says so. */
  readonly commit: Commit;
  readonly path: string;
  readonly what: string;
  readonly fix: string;
}

/** The result of an audit. */
export interface Audit {
  readonly state: Commit;
  readonly source: Commit;
  /** How many commits of the state branch were judged, and whether those were all. */
  readonly commits: number;
  readonly isWhole: boolean;
  /** How much was looked at, by kind; null: this kind was not. */
  readonly looked: Readonly<Record<AuditCheck, number | null>>;
  /** In the order of the commits. */
  readonly faults: readonly AuditFault[];
  /** Beyond those that are listed. */
  readonly more: number;
  /** Who signed the commits: nobody, keys that no trust file vouched for (some of them at least), or trusted machines. */
  readonly signers: "nobody" | "unvouched" | "trusted";
  /** What was not looked at, or is taken as it is, in words. */
  readonly unproved: readonly string[];
}

/** Collects what an audit finds. */
export interface AuditFindings {
  readonly add: (check: AuditCheck, commit: Commit, fault: { readonly what: string }) => void;
  readonly take: (commit: Commit, finding: AuditFinding) => void;
  readonly count: (check: AuditCheck, looked: number) => void;
  readonly note: (words: string) => void;
  /** Something could not be looked at; said once, with how often. */
  readonly skip: (what: string) => void;
  readonly result: (about: Pick<Audit, "state" | "source" | "commits" | "signers" | "isWhole">) => Audit;
}

/** Findings that are kept. */
const most = 1000;

/** An empty collection. Findings beyond the limit are counted, not kept. */
export function newAuditFindings(): AuditFindings {
  const faults: AuditFault[] = [];
  const looked: Record<AuditCheck, number | null> = {
    chain: 0,
    signatures: 0,
    trust: 0,
    approvals: 0,
    plans: 0,
    accepted: 0,
    scheduling: 0,
    rendered: null,
  };
  const notes: string[] = [];
  const skipped = new Map<string, number>();
  let more = 0;
  const take: AuditFindings["take"] = (commit, { check, subject, what }) => {
    if (faults.length < most) faults.push({ check, commit, path: pathOf(subject), what, fix: fixes[check] });
    else more += 1;
  };
  return {
    take,
    add: (check, commit, { what }) => take(commit, { check, subject: { kind: "ledger" }, what }),
    count: (check, by) => {
      looked[check] = (looked[check] ?? 0) + by;
    },
    note: (words) => {
      notes.push(words);
    },
    skip: (what) => {
      skipped.set(what, (skipped.get(what) ?? 0) + 1);
    },
    result: (about) => {
      const left = [...skipped].map(([what, times]) => `${times} ${what}`);
      return { ...about, looked, faults, more, unproved: [...left, ...notes] };
    },
  };
}

function pathOf(subject: AuditSubject): string {
  switch (subject.kind) {
    case "ledger":
      return ledgerPath;
    case "answers":
      return answersPath;
    case "trust":
      return trustTextPath;
    case "run":
      return runPath(subject.key);
    case "plan":
      return runPlanPath(subject.key);
    case "placement":
      return placementPath(subject.key);
    case "file":
      return subject.path;
  }
}

const restore = "restore the state branch to the commit before, and change the credentials that may push there";

/** What to do, by kind. */
const fixes: Readonly<Record<AuditCheck, string>> = {
  chain: `${restore}; a rewrite of the source branch that was accepted shows here, too`,
  signatures: `find out who wrote it; if it was not flotilla, ${restore}`,
  trust: `${restore}; then check every approval since again`,
  approvals: `stop what it allowed (state: Stop), and ${restore}`,
  plans: `stop the run (state: Stop), and ${restore}`,
  accepted: restore,
  scheduling: restore,
  rendered: "run flotilla reconcile, which writes what it decides; what members carry follows the record, and not this",
};
