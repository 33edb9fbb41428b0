import { approvalRequestName } from "../../core/ledger/layout.ts";
import { conditionOf } from "../../core/model/condition.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { EvictionRecord } from "../../core/model/placement.ts";
import { instantText } from "../../core/model/value.ts";
import { askState, asksIn } from "../../core/plan/approval/ask.ts";
import { answerCommand, askKey, type OpenRequest } from "./approval-text.ts";
import { clusterCounts, runState } from "./run-state.ts";

/** A table: its columns, and a row for each thing. */
export type Rows = readonly [header: readonly string[], rows: readonly (readonly string[])[]];

/** The runs as a table; `isWide` adds what is long. */
export function runRows({ runs }: Ledger, name: string | null, isWide: boolean): Rows {
  const rows = [...runs.values()]
    .filter((it) => name === null || it.key === name)
    .map((run) => {
      const { ended, all } = clusterCounts(run);
      const done = run.stages.filter((it) => it.endedAt !== null).length;
      const { word, message } = runState(run);
      const index = `${run.plan?.resourceIndex ?? run.spec.resourceIndex ?? "-"}`;
      const short = [run.key, run.spec.placement, index, `${done}/${run.stages.length}`, `${ended}/${all}`, word];
      return isWide ? [...short, run.spec.strategy, `${run.plan?.policySnapshot ?? "-"}`, message] : short;
    });
  const header = ["NAME", "PLACEMENT", "INDEX", "STAGES", "CLUSTERS", "STATE"];
  return [isWide ? [...header, "STRATEGY", "POLICY", "MESSAGE"] : header, rows];
}

/** The evictions that were judged, as a table. */
export function evictionRows({ evictions }: Ledger, name: string | null): Rows {
  const rows = [...evictions.values()]
    .filter((it) => name === null || it.name === name)
    .map((record) => {
      const { outcome, message } = evictionVerdict(record);
      return [record.name, record.placement, record.cluster, outcome, message];
    });
  return [["NAME", "PLACEMENT", "CLUSTER", "STATE", "MESSAGE"], rows];
}

/** What became of an eviction, in a word, and why. */
export function evictionVerdict({ conditions }: EvictionRecord): {
  readonly outcome: "Executed" | "Refused" | "Invalid";
  readonly message: string;
} {
  const [valid, executed] = [conditionOf(conditions, "Valid"), conditionOf(conditions, "Executed")];
  if (valid?.status !== "True") return { outcome: "Invalid", message: valid?.message ?? "" };
  return { outcome: executed?.status === "True" ? "Executed" : "Refused", message: executed?.message ?? "" };
}

/** Every request as a table, open ones and answered ones; `isWide` adds what an answer has to name, and what to type. */
export function approvalRows(ledger: Ledger, name: string | null, isWide: boolean): Rows {
  const rows = asksIn(ledger)
    .filter((it) => name === null || askKey(it) === name)
    .map((ask) => {
      const { approval, requestedAt, digest } = ask.request;
      const state = askState(ask);
      const [of, stage, when] = ask.kind === "gate" ? [ask.run.name, ask.stage.name, ask.when] : ["-", "-", "change"];
      const short = [askKey(ask), of, stage, when, words[state], instantText(approval?.at ?? requestedAt)];
      const by = approval?.by.map((it) => it.principal).join(",") ?? "-";
      return isWide ? [...short, by, digest, state === "open" ? answerCommand(ask) : "-"] : short;
    });
  const header = ["NAME", "RUN", "STAGE", "WHEN", "STATE", "SINCE"];
  return [isWide ? [...header, "BY", "DIGEST", "NEXT"] : header, rows];
}

const words = { open: "Waiting", answered: "Approved", moot: "Moot" } as const;

/** `<run>-<before|after>-<stage>`, with the namespace of the run before it where it has one. */
export function requestKey({ run, stage, when }: Omit<OpenRequest, "gate">): string {
  const name = approvalRequestName(run.name, when, stage);
  return run.namespace === null ? name : `${run.namespace}/${name}`;
}
