import type { Json } from "../../core/model/json.ts";
import type { Digest } from "../../core/model/value.ts";
import { count } from "../../core/report/explain.ts";
import { auditState } from "../../shell/reconcile/verify.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { encoded, type Format } from "../output.ts";
import { auditLines } from "../show/audit-text.ts";
import type { Terminal } from "../terminal.ts";
import { forReading, type HubOptions, openPorts } from "../wire.ts";

/** What `flotilla verify` is given. */
export interface VerifyOptions extends HubOptions {
  readonly full: boolean;
  readonly trustAnchor: Digest | null;
  readonly output: Format;
}

/** Judges the state branch again, from the repository alone; exit code 1 where something does not follow. */
export async function verify(options: VerifyOptions, terminal: Terminal): Promise<ExitCode> {
  const { out, err, environment } = terminal;
  const hub = await forReading({ ...options, repo: options.repo ?? "." }, terminal);
  const ports = await openPorts(hub, null, environment);
  try {
    const audit = await auditState(ports, { full: options.full, anchor: options.trustAnchor });
    if (options.output === "text") {
      const { checks, faults } = auditLines(audit);
      out(checks.map((it) => `${it}\n`).join(""));
      err(faults.map((it) => `${it}\n`).join(""));
      if (audit.faults.length > 0) err(`error: ${count(audit.faults.length + audit.more, "fault")}\n`);
    } else out(encoded(audit as unknown as Json, options.output));
    return audit.faults.length > 0 ? exitCodes.problems : exitCodes.done;
  } finally {
    await ports.fleet.close();
    await ports.repository.close();
  }
}
