import { approvalRequestName } from "../../core/codec/layout.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import { instantText } from "../../core/model/value.ts";
import { type OpenRequest, requestsOf } from "./approval-text.ts";
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

/** The requests of all runs as a table, open ones and answered ones; `isWide` adds what an approval has to name. */
export function approvalRows({ runs }: Ledger, name: string | null, isWide: boolean): Rows {
  const rows = [...runs.values()]
    .flatMap((run) =>
      requestsOf(run).map((request) => ({ request, key: requestKey(request), isOver: run.end !== null })),
    )
    .filter((it) => name === null || it.key === name)
    .map(({ request, key, isOver }) => {
      const { run, stage, when, gate } = request;
      const state = gate.approval !== null ? "Approved" : isOver ? "Moot" : "Waiting";
      const since = instantText(gate.approval?.at ?? gate.requestedAt);
      const short = [key, run.name, stage, when, state, since];
      return isWide ? [...short, gate.approval?.principal ?? "-", gate.digest] : short;
    });
  const header = ["NAME", "RUN", "STAGE", "WHEN", "STATE", "SINCE"];
  return [isWide ? [...header, "BY", "DIGEST"] : header, rows];
}

/** `<run>-<before|after>-<stage>`, with the namespace of the run before it where it has one. */
export function requestKey({ run, stage, when }: Omit<OpenRequest, "gate">): string {
  const name = approvalRequestName(run.name, when, stage);
  return run.namespace === null ? name : `${run.namespace}/${name}`;
}
