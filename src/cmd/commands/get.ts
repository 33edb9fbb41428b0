import { conditionOf } from "../../core/model/condition.ts";
import type { Json } from "../../core/model/json.ts";
import type { Binding, Ledger } from "../../core/model/ledger.ts";
import { instantText } from "../../core/model/value.ts";
import { summaryOf } from "../../core/status/summary.ts";
import { readState } from "../../shell/reconcile/state.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { encoded, type Format, table } from "../output.ts";
import { recorded } from "../recorded.ts";
import { nothingOf } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { type HubOptions, openHub } from "../wire.ts";

/** What `flotilla get` is given. */
export interface GetOptions extends HubOptions {
  readonly kind: string;
  readonly name: string | null;
  readonly output: Format;
}

const kinds = ["placements", "clusters", "bindings"] as const;
type Kind = (typeof kinds)[number];

/** Shows what the state branch records: tables for people, KubeFleet's objects for programs. */
export async function get(options: GetOptions, terminal: Terminal): Promise<ExitCode> {
  const kind = kinds.find((it) => it === options.kind || it === `${options.kind}s`);
  if (kind === undefined) {
    terminal.err(`error: unknown kind ${options.kind}; known are ${kinds.join(", ")}\n`);
    return exitCodes.usage;
  }
  const repository = await openHub(options, terminal.environment);
  try {
    const { state: head } = await repository.heads();
    const { ledger } = await readState(repository, head);
    const known = [...(kind === "clusters" ? ledger.clusters : ledger.placements).keys()] as readonly string[];
    if (options.name !== null && !known.includes(options.name)) {
      const what = kind === "clusters" ? "cluster" : "placement";
      terminal.err(nothingOf(`${what} ${options.name}`, known));
      return exitCodes.usage;
    }
    if (options.output === "text") {
      const [header, rows] = rowsOf(kind, ledger, options.name);
      terminal.out(rows.length === 0 ? `no ${kind}\n` : table(header, rows));
    } else {
      const items = head === null ? [] : await recorded(repository, head, kind, options.name);
      terminal.out(encoded({ apiVersion: "v1", kind: "List", items } as Json, options.output));
    }
    return exitCodes.done;
  } finally {
    await repository.close();
  }
}

type Rows = readonly [header: readonly string[], rows: readonly (readonly string[])[]];

function rowsOf(kind: Kind, ledger: Ledger, name: string | null): Rows {
  switch (kind) {
    case "placements":
      return placementRows(ledger, name);
    case "clusters":
      return clusterRows(ledger, name);
    case "bindings":
      return bindingRows(ledger, name);
  }
}

/** The placements as a table. */
export function placementRows({ placements }: Ledger, name: string | null): Rows {
  const rows = [...placements.values()]
    .filter((it) => name === null || it.key === name)
    .map((record) => {
      const { wanted, selected, updated, available, state } = summaryOf(record);
      const index = record.resourceSnapshots.at(-1)?.index;
      const clusters = `${selected}/${wanted}`;
      return [record.key, record.spec.policy.kind, clusters, `${updated}`, `${available}`, `${index ?? "-"}`, state];
    });
  return [["NAME", "TYPE", "CLUSTERS", "UPDATED", "AVAILABLE", "INDEX", "STATE"], rows];
}

/** The fleet as a table: what `get clusters` and the demo show. */
export function clusterRows({ clusters, placements }: Ledger, name: string | null): Rows {
  const rows = [...clusters.values()]
    .filter((it) => name === null || it.name === name)
    .map((record) => {
      const here = [...placements.values()].flatMap((it) => it.bindings.get(record.name) ?? []);
      const available = here.filter((it) => conditionOf(it.conditions, "Available")?.status === "True").length;
      const { trouble, kubernetesVersion, kubeSystemUid } = record;
      const status = trouble === null ? (kubeSystemUid === null ? "Unknown" : "Healthy") : trouble.code;
      const since = trouble === null ? "" : instantText(trouble.since);
      return [record.name, kubernetesVersion ?? "-", status, `${available}/${here.length}`, since];
    });
  return [["NAME", "VERSION", "STATUS", "AVAILABLE", "SINCE"], rows];
}

function bindingRows({ placements }: Ledger, name: string | null): Rows {
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
        it.facts?.troubles[0]?.message ?? "",
      ]),
    );
  return [["PLACEMENT", "CLUSTER", "STATE", "INDEX", "APPLIED", "AVAILABLE", "MESSAGE"], rows];
}

const statusOf = ({ conditions }: Binding, type: string): string => conditionOf(conditions, type)?.status ?? "-";
