import type { Plan, World } from "../../../core/model/plan.ts";
import { type Digest, oneLine } from "../../../core/model/value.ts";
import { describeChanges } from "../../../core/report/commit-message.ts";
import { planRefusalText, reasonLines, reasonValues, type WeighReason } from "../../../core/report/reason-lines.ts";
import { weightOf } from "../../../core/report/reason-text.ts";
import { type WhatIfResult, whatIf } from "../../../shell/reconcile/what-if.ts";
import { type HubOptions, readableHub, withPorts } from "../../hub/wire.ts";
import { type ExitCode, exitCodes, worst } from "../../terminal/exit-code.ts";
import { codeOfProblems, codeOfReasons, printProblems } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";

export interface PlanOptions extends HubOptions {
  readonly kubeconfig: string | null;
  readonly propertyCommand?: string;
  readonly trustAnchor: Digest | null;
  readonly expectNoChange?: boolean;
  readonly output: Format;
}

/** Shows what the next pass would decide, and decides nothing. */
export async function planCommand(options: PlanOptions, terminal: Terminal): Promise<ExitCode> {
  const { kubeconfig, propertyCommand } = options;
  const asks = kubeconfig !== null;
  if (!asks && propertyCommand !== undefined) {
    terminal.err("error: --property-command needs --kubeconfig: without it no cluster is contacted\n");
    return exitCodes.usage;
  }
  const command = propertyCommand === undefined ? {} : { propertyCommand };
  const fleet = asks ? { kubeconfig, deadline: null, ...command } : null;
  return withPorts(await readableHub(options, terminal), fleet, terminal.environment, async (ports) => {
    const { trustAnchor } = options;
    const members = asks ? "ask" : "record";
    const settings = { members, patience: "none", acceptRewrite: null, trustAnchor } as const;
    return show(await whatIf(ports, settings), { ...options, weigh: asks ? weightOf : recordedWeight }, terminal);
  });
}

/** Recorded unreachable members are no finding of a plan that contacts none. */
const recordedWeight: WeighReason = (reason) => (reason.kind === "unreachable" ? "notice" : weightOf(reason));

interface Showing extends Pick<PlanOptions, "output" | "expectNoChange"> {
  readonly weigh: WeighReason;
}

function show(
  { plan: decided, world, problems, ...checked }: WhatIfResult,
  { output, weigh, expectNoChange }: Showing,
  terminal: Terminal,
): ExitCode {
  const faults = checked.faults.map((it) => it.message);
  const changes = describeChanges(world.ledger, decided.ledger).map(oneLine);
  const isChange = changesAnything(decided, world);
  if (output === "text") {
    printProblems(problems, terminal);
    for (const fault of faults) terminal.err(`defect: the plan ${fault}\n`);
    if (decided.refusal !== null) terminal.err(planRefusalText(decided.refusal));
    else terminal.out(changes.length === 0 ? "nothing to decide\n" : changes.map((it) => `${it}\n`).join(""));
    for (const line of reasonLines(decided.reasons, "foretold", weigh)) terminal.out(`${line}\n`);
  } else {
    const reasons = reasonValues(decided.reasons, weigh);
    const value = { decides: decided.decides, changed: isChange, changes, reasons, problems, faults };
    terminal.out(encoded(value as never, output));
  }
  if (faults.length > 0) return exitCodes.defect;
  if (decided.refusal !== null) return exitCodes.repository;
  const unexpected = expectNoChange === true && isChange ? exitCodes.changed : exitCodes.done;
  return worst(unexpected, codeOfProblems(problems), codeOfReasons(decided.reasons, weigh));
}

/** Whether anything is decided besides that a commit was read, or anything is written on a member. */
const changesAnything = ({ ledger, decides, actions }: Plan, { ledger: before }: World): boolean =>
  actions.length > 0 ||
  (decides && describeChanges(before, { ...ledger, sourceCommit: before.sourceCommit }).length > 0);
