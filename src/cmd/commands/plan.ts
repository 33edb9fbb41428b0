import type { Digest } from "../../core/model/value.ts";
import { check } from "../../core/plan/check.ts";
import { narrate } from "../../core/plan/narrate.ts";
import { oneLine } from "../../shell/reconcile/one-line.ts";
import { type Foresight, whatIf } from "../../shell/reconcile/what-if.ts";
import { type ExitCode, exitCodes, worst } from "../exit-code.ts";
import { codeOfProblems, codeOfReasons } from "../outcome.ts";
import { encoded, type Format } from "../output.ts";
import { printProblems, reasonLines, reasonValues, refusalText } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { forReading, type HubOptions, openPorts } from "../wire.ts";

/** What `flotilla plan` is given. */
export interface PlanOptions extends HubOptions {
  readonly kubeconfig: string | null;
  readonly trustAnchor: Digest | null;
  readonly output: Format;
}

/** Shows what the next pass would decide, and decides nothing. */
export async function planCommand(options: PlanOptions, terminal: Terminal): Promise<ExitCode> {
  const asks = options.kubeconfig !== null;
  const fleet = asks ? { kubeconfig: options.kubeconfig, deadline: null } : null;
  const ports = await openPorts(await forReading(options, terminal), fleet, terminal.environment);
  try {
    const { trustAnchor } = options;
    const members = asks ? "ask" : "record";
    const settings = { members, patience: "none", acceptRewrite: null, trustAnchor } as const;
    return show(await whatIf(ports, settings), options.output, terminal);
  } finally {
    await ports.fleet.close();
    await ports.repository.close();
  }
}

function show({ plan: decided, world }: Foresight, output: Format, terminal: Terminal): ExitCode {
  const faults = check(decided, world);
  const changes = narrate(world.ledger, decided.ledger).map(oneLine);
  const { problems } = world.intent;
  if (output === "text") {
    printProblems(problems, terminal);
    for (const fault of faults) terminal.err(`defect: the plan ${fault}\n`);
    if (decided.refusal !== null) terminal.err(refusalText(decided.refusal));
    else terminal.out(changes.length === 0 ? "nothing to decide\n" : changes.map((it) => `${it}\n`).join(""));
    for (const line of reasonLines(decided.reasons, "foretold")) terminal.out(`${line}\n`);
  } else {
    const value = { decides: decided.decides, changes, reasons: reasonValues(decided.reasons), problems, faults };
    terminal.out(encoded(value as never, output));
  }
  if (faults.length > 0) return exitCodes.defect;
  if (decided.refusal !== null) return exitCodes.repository;
  return worst(codeOfProblems(problems), codeOfReasons(decided.reasons));
}
