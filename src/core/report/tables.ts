import { runPath } from "../ledger/layout.ts";
import type { Binding } from "../model/binding.ts";
import { conditionOf } from "../model/condition.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { kubernetesVersionProperty } from "../model/names.ts";
import type { EvictionRecord } from "../model/placement.ts";
import { approvalRequestName } from "../model/stage-task.ts";
import type { ClusterProgress, RunRecord } from "../model/update-run.ts";
import { compareText, instantText } from "../model/value.ts";
import { requestState, requestsIn } from "../plan/approval/approval-request.ts";
import { summaryOf } from "../status/summary.ts";
import { approveCommand, type GateRequest, requestKey } from "./approval-files.ts";
import { knownPlacements } from "./quarantine-text.ts";
import { clusterCounts, runSummary } from "./run-state.ts";

export type TableRows = readonly [header: readonly string[], rows: readonly (readonly string[])[]];

/** The runs as a table; `isWide` adds what is long. */
export function runRows({ runs }: Ledger, name: string | null, isWide: boolean): TableRows {
  const rows = [...runs.values()]
    .filter((it) => name === null || it.key === name)
    .map((run) => {
      const { ended, all } = clusterCounts(run);
      const done = run.stages.filter((it) => it.endedAt !== null).length;
      const { word, message } = runSummary(run);
      const index = `${run.plan?.resourceIndex ?? run.spec.resourceIndex ?? "-"}`;
      const short = [run.key, run.spec.placement, index, `${done}/${run.stages.length}`, `${ended}/${all}`, word];
      return isWide ? [...short, run.spec.strategy, `${run.plan?.policySnapshot ?? "-"}`, message] : short;
    });
  const header = ["NAME", "PLACEMENT", "INDEX", "STAGES", "CLUSTERS", "STATE"];
  return [isWide ? [...header, "STRATEGY", "POLICY", "MESSAGE"] : header, rows];
}

export function evictionRows({ evictions }: Ledger, name: string | null): TableRows {
  const rows = [...evictions.values()]
    .filter((it) => name === null || it.name === name)
    .map((record) => {
      const { outcome, message } = evictionVerdict(record);
      return [record.name, record.placement, record.cluster, outcome, message];
    });
  return [["NAME", "PLACEMENT", "CLUSTER", "STATE", "MESSAGE"], rows];
}

/** The outcome of an eviction, and why. */
export function evictionVerdict({ conditions }: EvictionRecord): {
  readonly outcome: "Executed" | "Refused" | "Invalid";
  readonly message: string;
} {
  const [valid, executed] = [conditionOf(conditions, "Valid"), conditionOf(conditions, "Executed")];
  if (valid?.status !== "True") return { outcome: "Invalid", message: valid?.message ?? "" };
  return { outcome: executed?.status === "True" ? "Executed" : "Refused", message: executed?.message ?? "" };
}

/** Every request as a table, open ones and answered ones; `isWide` adds the digest and the command to type. */
export function approvalRows(ledger: Ledger, name: string | null, isWide: boolean): TableRows {
  const rows = requestsIn(ledger)
    .filter((it) => name === null || requestKey(it) === name)
    .map((ask) => {
      const { approval, requestedAt, digest } = ask.request;
      const state = requestState(ask);
      const [of, stage, when] = ask.kind === "gate" ? [ask.run.name, ask.stage.name, ask.when] : ["-", "-", "change"];
      const short = [requestKey(ask), of, stage, when, words[state], instantText(approval?.at ?? requestedAt)];
      const by = approval?.by.map((it) => it.principal).join(",") ?? "-";
      return isWide ? [...short, by, digest, state === "open" ? approveCommand(ask) : "-"] : short;
    });
  const header = ["NAME", "RUN", "STAGE", "WHEN", "STATE", "SINCE"];
  return [isWide ? [...header, "BY", "DIGEST", "NEXT"] : header, rows];
}

const words = { open: "Waiting", answered: "Approved", moot: "Obsolete" } as const;

/** `<run>-<before|after>-<stage>`, with the namespace of the run before it where it has one. */
export function gateRequestKey({ run, stage, when }: Omit<GateRequest, "gate">): string {
  const name = approvalRequestName(run.name, when, stage);
  return run.namespace === null ? name : `${run.namespace}/${name}`;
}

/** Rows of a Markdown table: update runs that are not over, or that failed, the newest first. */
export function runPageRows(runs: Iterable<RunRecord>, shown: (text: string) => string): readonly string[] {
  return [...runs]
    .filter(({ end }) => end === null || end.kind === "failed")
    .sort((a, b) => b.since - a.since || compareText(a.key, b.key))
    .map((run) => {
      const cells = [
        `[${shown(run.key)}](${runPath(run.key)})`,
        shown(run.spec.placement),
        run.plan === null ? "" : String(run.plan.resourceIndex),
        reachText(run),
        shown(standingText(run)),
      ];
      return `| ${cells.join(" | ")} |`;
    });
}

/** How many of its clusters have ended, without those that a newer run took over. */
function reachText({ plan, stages }: RunRecord): string {
  if (plan === null) return "";
  const all = plan.stages.reduce((sum, it) => sum + it.clusters.length, 0);
  const ended = stages.reduce((sum, it) => sum + [...it.clusters.values()].filter(isDone).length, 0);
  return `${ended}/${all}`;
}

const isDone = ({ end }: ClusterProgress): boolean => end !== null && end.kind !== "superseded";

/** What its conditions say. */
function standingText({ conditions, spec }: RunRecord): string {
  const said = conditionOf(conditions, "Succeeded") ?? conditionOf(conditions, "Progressing");
  if (said !== null) return said.message;
  const initialized = conditionOf(conditions, "Initialized");
  if (initialized !== null && initialized.status !== "True") return initialized.message;
  if (initialized === null) return "it has no plan yet";
  return `planned; its state is ${spec.state}`;
}

/** Placements as a table, those included of which nothing but a quarantine is on record. */
export function placementRows(ledger: Ledger, name: string | null): TableRows {
  const rows = knownPlacements(ledger)
    .filter((it) => name === null || it === name)
    .sort(compareText)
    .map((key) => {
      const record = ledger.placements.get(key);
      if (record === undefined) return [key, "-", "-", "-", "-", "-", "Quarantined"];
      const { wanted, selected, updated, available, state } = summaryOf(record);
      const clusters = `${selected}/${wanted}`;
      return [key, record.spec.policy.kind, clusters, `${updated}`, `${available}`, indexText(record), state];
    });
  return [["NAME", "TYPE", "CLUSTERS", "UPDATED", "AVAILABLE", "INDEX", "STATE"], rows];
}

/** The latest version; for External those that clusters have as targets, since runs may choose older ones. */
function indexText({ spec, resourceSnapshots, bindings }: PlacementRecord): string {
  if (spec.strategy.type !== "External") return `${resourceSnapshots.at(-1)?.index ?? "-"}`;
  const carried = new Set([...bindings.values()].flatMap((it) => it.target?.resourceIndex ?? []));
  return carried.size === 0 ? "-" : [...carried].sort((a, b) => a - b).join(",");
}

/** The fleet as a table: what `get clusters` and the demo show. A cordon is said as kubectl says it of nodes. */
export function clusterRows(
  { clusters, placements }: Ledger,
  name: string | null,
  cordoned: ReadonlySet<string> = new Set(),
): TableRows {
  const rows = [...clusters.values()]
    .filter((it) => name === null || it.name === name)
    .map((record) => {
      const here = [...placements.values()].flatMap((it) => it.bindings.get(record.name) ?? []);
      const available = here.filter((it) => conditionOf(it.conditions, "Available")?.status === "True").length;
      const { contactFailure, properties, kubeSystemUid } = record;
      const status = contactFailure === null ? (kubeSystemUid === null ? "Unknown" : "Healthy") : contactFailure.code;
      const since = contactFailure === null ? "" : instantText(contactFailure.since);
      const shown = cordoned.has(record.name) ? `${status},SchedulingDisabled` : status;
      return [
        record.name,
        properties.get(kubernetesVersionProperty) ?? "-",
        shown,
        `${available}/${here.length}`,
        since,
      ];
    });
  return [["NAME", "VERSION", "STATUS", "AVAILABLE", "SINCE"], rows];
}

export function bindingRows({ placements }: Ledger, name: string | null): TableRows {
  const rows = [...placements.values()]
    .filter((it) => name === null || it.key === name)
    .flatMap(({ key, bindings }) =>
      [...bindings.values()].map((it) => [
        key,
        it.cluster,
        it.removal === null ? it.state : "Removing",
        `${it.target?.resourceIndex ?? "-"}`,
        statusOf(it, "Applied"),
        statusOf(it, "Available"),
        it.facts?.objectFailures[0]?.message ?? "",
      ]),
    );
  return [["PLACEMENT", "CLUSTER", "STATE", "INDEX", "APPLIED", "AVAILABLE", "MESSAGE"], rows];
}

const statusOf = ({ conditions }: Binding, type: string): string => conditionOf(conditions, type)?.status ?? "-";
