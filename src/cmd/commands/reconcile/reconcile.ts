import type { Problem } from "../../../core/model/intent.ts";
import type { Json } from "../../../core/model/json.ts";
import {
  type Commit,
  type Digest,
  type DurationMs,
  exactInstantText,
  instantText,
  oneLine,
  seconds,
} from "../../../core/model/value.ts";
import { currentProblems } from "../../../core/report/current-problems.ts";
import { quantity } from "../../../core/report/phrases.ts";
import {
  newlyDenied,
  planRefusalText,
  reasonLines,
  reasonsOfAll,
  reasonValues,
} from "../../../core/report/reason-lines.ts";
import type { Fault } from "../../../shell/reconcile/fault.ts";
import { loop } from "../../../shell/reconcile/loop.ts";
import { newMemory } from "../../../shell/reconcile/memory.ts";
import type { PassResult } from "../../../shell/reconcile/pass.ts";
import type { Ports, Receipt, Settings } from "../../../shell/reconcile/ports.ts";
import { newWakeSignal, runUntilSettled, type Settled, type WakeSignal } from "../../../shell/reconcile/settle.ts";
import { forgeProblem, type HubOptions, openPorts, watchHub } from "../../hub/wire.ts";
import { type ExitCode, exitCodes, worst } from "../../terminal/exit-code.ts";
import { codeOfFiles, codeOfReasons, interruptionLines, printProblems, receiptText } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";
import { openSigningKey, unsignedWarner } from "./state-signing.ts";

export interface ReconcileOptions extends HubOptions {
  readonly kubeconfig: string | null;
  readonly watch: boolean;
  readonly wait?: DurationMs;
  readonly poll: DurationMs;
  readonly resync: DurationMs;
  readonly deadline: DurationMs;
  readonly propertyCommand?: string;
  readonly acceptRewrite?: string;
  readonly trustAnchor: Digest | null;
  readonly forge: string | null;
  readonly signingKey: string | null;
  readonly acceptState?: Commit;
  readonly output: Format;
}

/** Brings the fleet to what the repository asks for: once, or continuously. */
export async function reconcile(options: ReconcileOptions, terminal: Terminal): Promise<ExitCode> {
  const rewrite = rewriteOf(options.acceptRewrite);
  if (rewrite === "malformed") {
    terminal.err("error: --accept-rewrite takes two full commit ids: <old>..<new>\n");
    return exitCodes.usage;
  }
  if (options.watch && options.output !== "text") {
    terminal.err(
      "error: -o json and -o yaml report how a run ended, and --watch does not end; leave one of them out\n",
    );
    return exitCodes.usage;
  }
  const wrong = forgeProblem(options.forge);
  if (wrong !== null) {
    terminal.err(`error: --forge is invalid: ${wrong}\n`);
    return exitCodes.usage;
  }
  const key = await openSigningKey(options.signingKey, terminal);
  if (key === "declined") return exitCodes.usage;
  const wakeSignal = newWakeSignal();
  const watch = { ring: wakeSignal.wake, heartbeat: options.resync };
  const isWatching = options.watch || options.wait !== undefined;
  const { kubeconfig, deadline, propertyCommand } = options;
  const asked = { kubeconfig, deadline, ...(propertyCommand === undefined ? {} : { propertyCommand }) };
  const fleet = isWatching ? { ...asked, watch } : asked;
  const hub = key === null ? options : { ...options, sign: key.sign };
  const ports = await openPorts(hub, fleet, terminal.environment);
  const stop = new AbortController();
  // Only once: a second signal ends the process at once.
  const onSignal = (): void => {
    stop.abort();
    // Hanging work is abandoned: the process may die anywhere.
    setTimeout(() => process.exit(options.watch ? exitCodes.done : exitCodes.stuck), exitTimeout).unref();
  };
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    const { trustAnchor, watch: isDaemon } = options;
    const patience = isDaemon ? "retryAt" : "none";
    const accepted = options.acceptState ?? null;
    const signing: Pick<Settings, "stateSigning"> =
      key === null ? {} : { stateSigning: { fingerprint: key.fingerprint, accepted } };
    const settings: Settings = { members: "ask", patience, acceptRewrite: rewrite, trustAnchor, ...signing };
    const warn = key === null ? unsignedWarner(options, ports.repository.name, terminal) : () => {};
    const run = { ports, settings, signal: stop.signal, terminal, warn };
    if (isWatching) await watchHub(options, wakeSignal.wake, stop.signal);
    return isDaemon ? await watchForever(options, run, wakeSignal) : await runOnce(options, run, wakeSignal);
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await ports.fleet.close();
    await ports.repository.close();
  }
}

/** After a signal, the process ends within this time. */
const exitTimeout = seconds(4.5);

interface Run {
  readonly ports: Ports;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
  /** Told what came of each pass, before it is shown. */
  readonly warn: (result: PassResult) => void;
}

function rewriteOf(text: string | undefined): Settings["acceptRewrite"] | "malformed" {
  if (text === undefined) return null;
  const match = /^([0-9a-f]{40})\.\.([0-9a-f]{40})$/.exec(text);
  return match === null ? "malformed" : { from: match[1] as Commit, to: match[2] as Commit };
}

async function runOnce(
  options: ReconcileOptions,
  { ports, settings, signal, terminal, warn }: Run,
  wakeSignal: WakeSignal,
): Promise<ExitCode> {
  const isText = options.output === "text";
  const denied = new Set<string>();
  const report = (result: PassResult): void => {
    warn(result);
    if (isText) printPass(result, terminal);
    if (result.kind === "passed") for (const path of newlyDenied(result.plan.reasons)) denied.add(path);
  };
  const settled = await runUntilSettled(ports, newMemory(), {
    settings,
    wait: options.wait ?? null,
    signal,
    wakeSignal,
    report,
  });
  if (isText) printEnd(settled, denied, terminal);
  else terminal.out(encoded(asValue(settled), options.output));
  return codeOf(settled);
}

function codeOf(settled: Settled): ExitCode {
  if (settled.kind === "unsound") return exitCodes.defect;
  const { last } = settled;
  if (last?.plan.refusal != null) return exitCodes.repository;
  const found = last === null ? exitCodes.done : worst(codeOfFiles(problemsOf(last)), codeOfReasons(last.plan.reasons));
  const isBrokenOff = last?.receipts.some((it) => it.interrupted !== null) === true;
  const isAtRest = settled.kind === "settled" && !settled.ranOut;
  return worst(found, isBrokenOff || !isAtRest ? exitCodes.stuck : exitCodes.done);
}

/** What is wrong in the files that were read, history apart. */
const problemsOf = ({
  intent,
  plan,
}: Pick<Extract<PassResult, { kind: "passed" }>, "intent" | "plan">): readonly Problem[] =>
  currentProblems(intent, plan.ledger);

function printPass(result: PassResult, { out, err }: Terminal): void {
  if (result.kind === "superseded") out("another reconciler committed first; trying again\n");
  if (result.kind === "unsound") for (const { message } of result.faults) err(`defect: the plan ${message}\n`);
  if (result.kind !== "passed") return;
  if (result.committed !== null) out(`committed ${result.committed.slice(0, 10)}\n`);
  for (const line of result.lines) out(`  ${line}\n`);
  for (const line of result.receipts.flatMap(receiptLines)) out(`${line}\n`);
}

const receiptLines = (receipt: Receipt): readonly string[] => {
  const text = receiptText(receipt);
  return text === null ? [] : [`  ${text}`];
};

/** `denied`: the paths of answers that one of the passes found not to count. */
function printEnd(settled: Settled, denied: ReadonlySet<string>, terminal: Terminal): void {
  if (settled.kind === "unsound") return;
  const { last } = settled;
  if (last !== null) {
    const { refusal, reasons } = last.plan;
    printProblems(problemsOf(last), terminal);
    if (refusal !== null) terminal.err(planRefusalText(refusal));
    const all = reasonsOfAll(reasons, denied);
    for (const line of [...interruptionLines(last.receipts), ...reasonLines(all, "recorded")])
      terminal.out(`${line}\n`);
  }
  printRest(settled, terminal);
  const wakeAt = last?.plan.wakeAt ?? null;
  if (wakeAt !== null) terminal.out(`look again at ${instantText(wakeAt)}\n`);
}

function printRest(settled: Exclude<Settled, { kind: "unsound" }>, { out, err }: Terminal): void {
  const passes = `${settled.passes} pass${settled.passes === 1 ? "" : "es"}`;
  switch (settled.kind) {
    case "settled":
      if (settled.last.plan.refusal !== null) return;
      if (settled.ranOut) err("error: the limit of --wait ran out\n");
      out(`at rest after ${passes}, ${quantity(settled.commits, "commit")}\n`);
      return;
    case "restless":
      err(`error: still not at rest after ${passes}; run it again, and report it if that never ends\n`);
      return;
    case "stopped":
      err(`error: stopped after ${passes}, before everything was done; run it again to continue\n`);
  }
}

function asValue(settled: Settled): Json {
  if (settled.kind === "unsound") return { kind: settled.kind, faults: settled.faults.map((it) => it.message) };
  const { last, kind, passes } = settled;
  return {
    kind,
    passes,
    commits: settled.kind === "settled" ? settled.commits : null,
    ranOut: settled.kind === "settled" && settled.ranOut,
    problems: (last === null ? [] : problemsOf(last)) as unknown as Json,
    refusal: (last?.plan.refusal ?? null) as unknown as Json,
    interrupted: (last?.receipts ?? [])
      .filter((it) => it.interrupted !== null)
      .map(({ cluster, interrupted }) => ({ cluster, message: interrupted })),
    reasons: reasonValues(last?.plan.reasons ?? []),
    wakeAt: last?.plan.wakeAt == null ? null : exactInstantText(last.plan.wakeAt),
  };
}

/** How long a pass waits for slow members; they are left to a later pass. */
const memberDeadline = seconds(1);

/** How often members that cannot be watched are polled while something is in progress. */
const memberPoll = seconds(5);

/** Prints each pass; problems and reasons only when they change, line by line. */
function newsReporter(terminal: Terminal): (result: PassResult) => void {
  let said: ReadonlySet<string> = new Set();
  let problems = "[]";
  let isAtRest = false;
  return (result) => {
    printPass(result, terminal);
    if (result.kind !== "passed") return;
    const { plan, intent, receipts } = result;
    const open = problemsOf({ plan, intent });
    const isProblemNews = problems !== JSON.stringify(open);
    if (isProblemNews) printProblems(open, terminal);
    problems = JSON.stringify(open);
    const refusal = plan.refusal === null ? [] : [planRefusalText(plan.refusal)];
    const lines = [...interruptionLines(receipts), ...reasonLines(plan.reasons, "recorded")].map((it) => `${it}\n`);
    for (const it of refusal) if (!said.has(it)) terminal.err(it);
    for (const it of lines) if (!said.has(it)) terminal.out(it);
    const now = new Set([...refusal, ...lines]);
    if (now.size === 0 && !isAtRest) terminal.out("at rest\n");
    isAtRest = now.size === 0;
    said = now;
  };
}

async function watchForever(
  options: ReconcileOptions,
  { ports, settings, signal, terminal, warn }: Run,
  wakeSignal: WakeSignal,
): Promise<ExitCode> {
  const tell = newsReporter(terminal);
  const report = (result: PassResult): void => {
    warn(result);
    tell(result);
  };
  terminal.out(`watching ${ports.repository.name}\n`);
  const ended = await loop(ports, {
    settings,
    poll: options.poll,
    resync: options.resync,
    memberPoll: memberPoll,
    memberDeadline,
    signal,
    wakeSignal,
    reportLate: (receipt) => {
      for (const line of [...receiptLines(receipt), ...interruptionLines([receipt])]) terminal.out(`${line}\n`);
    },
    report,
    reportFault: ({ during, message, fix }: Fault, retryIn) =>
      terminal.err(`error: ${during}: ${oneLine(message)}; ${fix}; trying again in ${retryIn / 1000} s\n`),
  });
  return ended === "unsound" ? exitCodes.defect : exitCodes.done;
}
