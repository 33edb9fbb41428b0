import type { AuditCheck } from "../../core/plan/audit-finding.ts";
import { count } from "../../core/plan/explain.ts";
import { oneLine } from "../../shell/reconcile/one-line.ts";
import type { Audit } from "../../shell/reconcile/verify-findings.ts";

/** What each kind of check counts. */
const nouns: Readonly<Record<AuditCheck, (looked: number) => string>> = {
  chain: (looked) => count(looked, "commit"),
  signatures: (looked) => count(looked, "commit"),
  trust: (looked) => `${count(looked, "version")} of the trust file`,
  approvals: (looked) => (looked === 1 ? "1 answer or opening" : `${looked} answers and openings`),
  plans: (looked) => count(looked, "plan"),
  accepted: (looked) => count(looked, "commit"),
  rendered: (looked) => count(looked, "target"),
};

/** For people: a line for each kind of check, what was left out, and two lines for each fault. */
export function auditLines(audit: Audit): { readonly checks: readonly string[]; readonly faults: readonly string[] } {
  const checks = (Object.keys(nouns) as AuditCheck[]).map((check) => {
    const looked = audit.looked[check];
    const wrong = audit.faults.filter((it) => it.check === check).length;
    const verdict = looked === null ? "not looked at: --full" : nouns[check](looked);
    return `${check.padEnd(11)}${verdict}${wrong === 0 ? "" : `, ${count(wrong, "fault")}`}`;
  });
  const faults = audit.faults.flatMap(({ commit, path, what, fix }) => [
    `fault: ${commit.slice(0, 12)} ${path}: ${oneLine(what)}`,
    `  ${fix}`,
  ]);
  const more = audit.more > 0 ? [`and ${count(audit.more, "more fault")}`] : [];
  return { checks: [...checks, ...audit.notes.map((it) => `note: ${it}`)], faults: [...faults, ...more] };
}
