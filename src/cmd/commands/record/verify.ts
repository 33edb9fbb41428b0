import type { AuditCheck } from "../../../core/audit/audit-finding.ts";
import type { Json } from "../../../core/model/json.ts";
import { type Digest, oneLine } from "../../../core/model/value.ts";
import { quantity } from "../../../core/report/phrases.ts";
import type { Audit } from "../../../shell/reconcile/verify/findings.ts";
import { auditState } from "../../../shell/reconcile/verify/verify.ts";
import { type HubOptions, readableHub, withPorts } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";

export interface VerifyOptions extends HubOptions {
  readonly full: boolean;
  readonly trustAnchor: Digest | null;
  readonly output: Format;
}

/** Checks the state branch from the repository alone; exit code 1 if something is wrong. */
export async function verify(options: VerifyOptions, terminal: Terminal): Promise<ExitCode> {
  const { out, err, environment } = terminal;
  const hub = await readableHub({ ...options, repo: options.repo ?? "." }, terminal);
  return withPorts(hub, null, environment, async (ports) => {
    const audit = await auditState(ports, { full: options.full, anchor: options.trustAnchor });
    if (options.output === "text") {
      const { checks, faults } = auditLines(audit);
      out(checks.map((it) => `${it}\n`).join(""));
      err(faults.map((it) => `${it}\n`).join(""));
      if (audit.faults.length > 0) err(`error: ${quantity(audit.faults.length + audit.more, "fault")}\n`);
    } else out(encoded(audit as unknown as Json, options.output));
    return audit.faults.length > 0 ? exitCodes.problems : exitCodes.done;
  });
}

/** What each kind of check counts. */
const nouns: Readonly<Record<AuditCheck, (looked: number) => string>> = {
  chain: (looked) => quantity(looked, "commit"),
  signatures: (looked) => quantity(looked, "commit"),
  trust: (looked) => `${quantity(looked, "version")} of the trust file`,
  approvals: (looked) => (looked === 1 ? "1 approval or opened gate" : `${looked} approvals and opened gates`),
  plans: (looked) => quantity(looked, "plan"),
  accepted: (looked) => quantity(looked, "commit"),
  scheduling: (looked) => quantity(looked, "schedule"),
  rendered: (looked) => quantity(looked, "target"),
};

/** What is proved by a kind of check without findings. */
const proofs: Readonly<Record<AuditCheck, string>> = {
  chain: "every commit follows the one before, and the sequence has no gap",
  signatures: "every commit is signed by a machine that the trust file lists",
  trust: "every trust file in force was allowed by the one before",
  approvals: "every gate and protected change was opened by the rules in force at the time",
  plans: "every run kept to its frozen plan",
  accepted: "what was read is what the source commits contain",
  scheduling: "every verdict, score and binding follows from its policy and the recorded members",
  rendered: "rendered/ shows what clusters are to run",
};

/** For people: a line per kind of check; what they prove, and what they do not; and two lines per fault. */
export function auditLines(audit: Audit): { readonly checks: readonly string[]; readonly faults: readonly string[] } {
  const checks = (Object.keys(nouns) as AuditCheck[]).map((check) => {
    const looked = audit.looked[check];
    const wrong = audit.faults.filter((it) => it.check === check).length;
    const verdict = verdictOf(audit, check, looked);
    return `${check.padEnd(11)}${verdict}${wrong === 0 ? "" : `, ${quantity(wrong, "fault")}`}`;
  });
  const faults = audit.faults.flatMap(({ commit, path, what, fix }) => [
    `fault: ${commit.slice(0, 12)} ${path}: ${oneLine(what)}`,
    `  ${fix}`,
  ]);
  const more = audit.more > 0 ? [`and ${quantity(audit.more, "more fault")}`] : [];
  const proved = provedBy(audit).map((it) => `proved: ${proofs[it]}`);
  const unproved = audit.unproved.map((it) => `not proved: ${it}`);
  return { checks: [...checks, ...proved, ...unproved], faults: [...faults, ...more] };
}

function verdictOf(audit: Audit, check: AuditCheck, looked: number | null): string {
  if (looked === null) return "not checked without --full";
  const isUnsigned = check === "signatures" && audit.signers === "nobody";
  return isUnsigned ? "none: the branch is not signed; reconcile --signing-key signs it" : nouns[check](looked);
}

/** Kinds of check that looked at something and found no fault. */
const provedBy = ({ looked, faults, signers, more }: Audit): readonly AuditCheck[] =>
  (Object.keys(proofs) as AuditCheck[]).filter(
    (it) =>
      more === 0 &&
      (looked[it] ?? 0) > 0 &&
      faults.every(({ check }) => check !== it) &&
      (it !== "signatures" || signers === "trusted"),
  );
