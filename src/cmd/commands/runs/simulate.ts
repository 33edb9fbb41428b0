import { type ForecastSetup, forecast } from "../../../core/forecast/forecast.ts";
import { forecastLines, forecastValue } from "../../../core/forecast/forecast-text.ts";
import { type ForecastSubject, forecastSubject } from "../../../core/forecast/subject.ts";
import type { Ending, Forecast } from "../../../core/forecast/timeline.ts";
import type { Json } from "../../../core/model/json.ts";
import {
  type ClusterName,
  type Digest,
  type DurationMs,
  instantText,
  oneLine,
  shortDuration,
} from "../../../core/model/value.ts";
import { currentProblems } from "../../../core/report/current-problems.ts";
import { planRefusalText } from "../../../core/report/reason-lines.ts";
import { newMemory } from "../../../shell/reconcile/memory.ts";
import { observe } from "../../../shell/reconcile/observe.ts";
import { usageError } from "../../hub/commit-files.ts";
import { branchNames, printRecordAge } from "../../hub/record.ts";
import { type HubOptions, readableHub, withPorts } from "../../hub/wire.ts";
import { type ExitCode, exitCodes, worst } from "../../terminal/exit-code.ts";
import { codeOfProblems, codeOfReasons, printProblems } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";

export interface SimulateOptions extends HubOptions {
  readonly name: string;
  readonly kind?: "run" | "placement";
  readonly strategy?: string;
  /** With how long after the start each fails; null: with its next update. */
  readonly fail: readonly AssumedFailure[];
  readonly silent: readonly string[];
  readonly landing: DurationMs;
  readonly approveAfter: DurationMs | null;
  /** False with `--no-approvals`. */
  readonly approvals: boolean;
  readonly until: DurationMs;
  readonly trustAnchor: Digest | null;
  readonly output: Format;
}

/** A cluster that is assumed to fail. */
export interface AssumedFailure {
  readonly cluster: string;
  readonly after: DurationMs | null;
}

/** A rollout of a thousand clusters, one at a time, takes about two thousand passes. */
const maxPasses = 2000;

/** Forecasts a rollout: the real planner in virtual time, over members as recorded. Nothing is written. */
export async function simulate(options: SimulateOptions, terminal: Terminal): Promise<ExitCode> {
  return withPorts(await readableHub(options, terminal), null, terminal.environment, async (ports) => {
    const { trustAnchor } = options;
    const settings = { members: "record", patience: "retryAt", acceptRewrite: null, trustAnchor } as const;
    const memory = newMemory();
    const { world, reasons } = await observe(ports, settings, memory);
    const { sourceCommit } = world.ledger;
    const heads = memory.heads ?? { source: null, state: null };
    await printRecordAge(
      ports.repository,
      { ...heads, ...branchNames(options), sourceCommit, now: world.now },
      terminal,
    );
    const clusters = [...options.fail.map((it) => it.cluster), ...options.silent].map((it) => it as ClusterName);
    const { name, kind = null, strategy = null } = options;
    const subject = forecastSubject(world, { name, kind, strategy, clusters });
    if (subject.kind === "refused") return usageError(subject.message, subject.fix, terminal);
    const foreseen = forecast(subject.world, setupOf(options, subject));
    const result = { ...foreseen, reasons: [...reasons, ...foreseen.reasons] };
    const problems = currentProblems(world.intent, world.ledger).filter((it) => it.severity === "error");
    printProblems(problems, terminal);
    show({ result, subject, options }, terminal);
    return worst(codeOfProblems(problems), codeOfEnding(result));
  });
}

type Chosen = Extract<ForecastSubject, { kind: "chosen" }>;

const setupOf = (options: SimulateOptions, { focus }: Chosen): ForecastSetup => ({
  focus,
  landing: options.landing,
  failing: new Map(options.fail.map(({ cluster, after }) => [cluster as ClusterName, after])),
  silent: new Set(options.silent as readonly ClusterName[]),
  approveAfter: options.approvals ? (options.approveAfter ?? (0 as DurationMs)) : null,
  until: options.until,
  mostPasses: maxPasses,
});

interface Shown {
  readonly result: Forecast;
  readonly subject: Chosen;
  readonly options: SimulateOptions;
}

function show({ result, subject, options }: Shown, terminal: Terminal): void {
  const { focus, notes, world } = subject;
  const supposed = [...notes, ...assumptionLines(options, focus.run !== null)];
  if (options.output !== "text") {
    const { placement, run } = focus;
    const head: Json = { placement, run, commit: world.intent.commit, supposed };
    terminal.out(encoded({ ...head, ...(forecastValue(result) as object) } as Json, options.output));
    return;
  }
  const { ending } = result;
  for (const { message } of ending.kind === "unsound" ? ending.faults : [])
    terminal.err(`defect: the plan ${message}\n`);
  if (ending.kind === "refused") terminal.err(planRefusalText(ending.refusal));
  const of = focus.run === null ? `placement ${focus.placement}` : `run ${focus.run} of placement ${focus.placement}`;
  const lines = [
    `${of} at ${world.intent.commit.slice(0, 7)}, from ${instantText(result.start)}`,
    ...supposed.map((it) => `assumed: ${it}`),
    "",
    ...forecastLines(result),
  ];
  terminal.out(lines.map((it) => `${oneLine(it)}\n`).join(""));
}

function assumptionLines(options: SimulateOptions, hasGates: boolean): readonly string[] {
  const { landing, fail, silent, approvals, approveAfter } = options;
  const given = approveAfter === null ? "at once" : `${shortDuration(approveAfter)} after they are requested`;
  return [
    `a cluster becomes available ${shortDuration(landing)} after it is updated`,
    ...(hasGates ? [approvals ? `approvals are given ${given}` : "nobody approves"] : []),
    ...fail.map(({ cluster, after }) =>
      after === null ? `updates of ${cluster} fail` : `everything on ${cluster} fails from +${shortDuration(after)} on`,
    ),
    ...silent.map((it) => `${it} does not answer`),
  ];
}

function codeOfEnding({ ending, reasons }: Forecast): ExitCode {
  const codes: Readonly<Record<Ending["kind"], ExitCode>> = {
    done: exitCodes.done,
    failed: exitCodes.stuck,
    waits: codeOfReasons(reasons),
    time: codeOfReasons(reasons),
    passes: exitCodes.stuck,
    refused: exitCodes.repository,
    unsound: exitCodes.defect,
  };
  return codes[ending.kind];
}
