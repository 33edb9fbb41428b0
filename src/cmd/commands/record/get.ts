import type { Intent } from "../../../core/model/intent.ts";
import { type Json, memberAt, textOf } from "../../../core/model/json.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import { type Commit, oneLine, scopedKey } from "../../../core/model/value.ts";
import { requestsIn } from "../../../core/plan/approval/approval-request.ts";
import { requestKey } from "../../../core/report/approval-files.ts";
import { actionLines, type Viewer } from "../../../core/report/approval-options.ts";
import { approvalContext } from "../../../core/report/approval-status.ts";
import { approvalValues, uncountedLines } from "../../../core/report/approval-values.ts";
import { wideClusterRows } from "../../../core/report/cluster-text.ts";
import { deletionItems, deletionRows, deletionSetLines } from "../../../core/report/deletion-text.ts";
import { quantity } from "../../../core/report/phrases.ts";
import { knownPlacements, quarantineLines, unplannedItems } from "../../../core/report/quarantine-text.ts";
import { requestLines, ruleLines, standingLines } from "../../../core/report/request-text.ts";
import {
  approvalRows,
  bindingRows,
  clusterRows,
  evictionRows,
  placementRows,
  runRows,
  type TableRows,
} from "../../../core/report/tables.ts";
import { newMemory } from "../../../shell/reconcile/memory.ts";
import type { Repository } from "../../../shell/reconcile/ports.ts";
import { acceptedIntent } from "../../../shell/reconcile/source.ts";
import { cordonedIn } from "../../edits/drain.ts";
import { viewerOf } from "../../hub/approver.ts";
import { acceptedFiles, recordedObjects, standingAnswers, withRecord } from "../../hub/record.ts";
import { type HubOptions, now } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { isListed, keyNamed, listedRows, type NamespaceOptions } from "../../terminal/namespaces.ts";
import { unknownText } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal, table } from "../../terminal/terminal.ts";

export interface GetOptions extends HubOptions, NamespaceOptions {
  readonly kind: string;
  readonly name: string | null;
  /** `wide`: a table with more columns; `name`: one `kind.group/name` a line, as kubectl takes them. */
  readonly output: Format | "wide" | "name";
}

/** By kind, the names that can be given (bindings are named by their placement), and the table. */
const views = {
  placements: { keys: knownPlacements, rows: (it, { name }) => placementRows(it, name) },
  clusters: {
    keys: (it) => it.clusters.keys(),
    rows: (it, { name, cordoned, intent }) =>
      intent === null
        ? clusterRows(it, name, cordoned)
        : wideClusterRows({ ledger: it, intent, cordoned, now: now() }, name),
  },
  bindings: { keys: (it) => it.placements.keys(), rows: (it, { name }) => bindingRows(it, name) },
  runs: { keys: (it) => it.runs.keys(), rows: (it, { name, isWide }) => runRows(it, name, isWide) },
  evictions: { keys: (it) => it.evictions.keys(), rows: (it, { name }) => evictionRows(it, name) },
  approvals: {
    keys: (it) => requestsIn(it).map(requestKey),
    rows: (it, { name, isWide }) => approvalRows(it, name, isWide),
  },
  deletions: {
    keys: (it) => it.deletions.held.map(({ digest }) => digest),
    rows: (it, { name }) => deletionRows(it.deletions, name),
  },
} satisfies Record<string, View>;

type Kind = keyof typeof views;
const kinds = Object.keys(views) as readonly Kind[];

/** Kinds of which some may be of a namespace. */
const namespaced: ReadonlySet<Kind> = new Set(["placements", "bindings", "runs", "approvals"]);

interface View {
  readonly keys: (ledger: Ledger) => Iterable<string>;
  readonly rows: (ledger: Ledger, shown: Shown) => TableRows;
}

/** Shows what the state branch records: tables for people, KubeFleet's objects for programs. */
export async function get(options: GetOptions, terminal: Terminal): Promise<ExitCode> {
  const kind = kinds.find((it) => it === options.kind || it === `${options.kind}s`);
  if (kind === undefined) {
    terminal.err(`error: unknown kind ${options.kind}; choose one of ${kinds.join(", ")}\n`);
    return exitCodes.usage;
  }
  if (options.allNamespaces === true && options.name !== null) {
    terminal.err("error: -A lists what there is, and a name is that of one; leave out one of the two\n");
    return exitCodes.usage;
  }
  return withRecord(options, terminal, async ({ repository, state, ledger, printAge }) => {
    const { output } = options;
    const isListing = namespaced.has(kind) && options.name === null;
    const name = options.name === null || !namespaced.has(kind) ? options.name : keyNamed(options.name, options);
    const known = [...views[kind].keys(ledger)];
    const noun = kind === "bindings" ? "placement" : kind.slice(0, -1);
    if (name !== null && !known.includes(name)) {
      terminal.err(unknownText(`${noun} ${name}`, known));
      return exitCodes.usage;
    }
    const isShown = (key: string): boolean => !isListing || isListed(key, options);
    if (output === "text" || output === "wide") {
      await printAge();
      const cordoned = kind === "clusters" ? cordonedIn(await acceptedFiles(repository, state)) : none;
      const isWide = output === "wide";
      const intent = kind === "clusters" && isWide ? await acceptedIntent(repository, state, newMemory()) : null;
      const all = views[kind].rows(ledger, { name, isWide, cordoned, intent });
      const [header, rows] = isListing ? listedRows(all, options) : all;
      terminal.out(rows.length === 0 ? `no ${kind}\n` : table(header, rows));
      const more = known.filter((it) => !isShown(it) && it.includes("/")).length;
      if (more > 0 && options.namespace === undefined)
        terminal.err(`note: ${quantity(more, noun)} in namespaces: -A lists all\n`);
      if (kind === "approvals" && name !== null)
        for (const line of requestDetails(ledger, name, await viewerOf(options, approvalContext(ledger, now()))))
          terminal.out(`${oneLine(line)}\n`);
      if (kind === "approvals")
        for (const line of uncountedLines(ledger, await standingAnswers(repository, state), name))
          terminal.out(`\n${oneLine(line)}\n`);
      for (const key of kind === "placements" ? known.filter((it) => name === null || it === name).filter(isShown) : [])
        for (const line of quarantineLines(ledger, key)) terminal.out(`\n${oneLine(line)}\n`);
      if (kind === "deletions") for (const line of deletionDetails(ledger, name)) terminal.out(`${oneLine(line)}\n`);
    } else {
      const recorded = await itemsOf(kind, { repository, head: state.commit, ledger, name });
      const items = recorded.filter((it) => isShown(keyOf(it)));
      if (output === "name") terminal.out(items.map((it) => `${resourceName(it)}\n`).join(""));
      else {
        // Answers have no names of their own.
        const all = kind === "approvals" ? approvalValues(ledger, await standingAnswers(repository, state), name) : [];
        terminal.out(encoded({ apiVersion: "v1", kind: "List", items: [...items, ...all] } as Json, output));
      }
    }
    return exitCodes.done;
  });
}

/** Objects as the state branch has them; sets of deletions, which have no files, in the same form. */
async function itemsOf(
  kind: Kind,
  { repository, head, ledger, name }: Recorded & Pick<Shown, "name">,
): Promise<readonly Json[]> {
  if (kind === "deletions") return deletionItems(ledger.deletions, name);
  const recorded = head === null ? [] : await recordedObjects(repository, head, kind, name);
  return kind === "placements" ? [...recorded, ...unplannedItems(ledger, name)] : recorded;
}

interface Recorded {
  readonly repository: Repository;
  readonly head: Commit | null;
  readonly ledger: Ledger;
}

/** The sets of deletions in full. */
const deletionDetails = ({ deletions }: Ledger, name: string | null): readonly string[] =>
  deletions.held.filter((it) => name === null || it.digest === name).flatMap((it) => ["", ...deletionSetLines(it)]);

/** A request in full: content, rules, state, and what the viewer may do. */
function requestDetails(ledger: Ledger, name: string, reader: Viewer): readonly string[] {
  const at = now();
  const asks = requestsIn(ledger).filter((it) => requestKey(it) === name);
  return asks.flatMap((it) => [
    "",
    ...requestLines(it, ledger),
    ...ruleLines(it, reader.context),
    ...standingLines(it, ledger, at),
    ...actionLines(it, reader),
  ]);
}

/** `name`, or `namespace/name`. */
function keyOf(object: Json): string {
  const name = textOf(memberAt(object, "metadata", "name")) ?? "";
  return scopedKey(textOf(memberAt(object, "metadata", "namespace")), name);
}

/** `clusterresourceplacement.placement.kubernetes-fleet.io/web-shop`. */
function resourceName(object: Json): string {
  const group = textOf(memberAt(object, "apiVersion"))?.replace(/\/.*/, "") ?? "";
  const kind = textOf(memberAt(object, "kind"))?.toLowerCase() ?? "";
  return `${kind}.${group}/${textOf(memberAt(object, "metadata", "name")) ?? ""}`;
}

interface Shown {
  readonly name: string | null;
  readonly isWide: boolean;
  readonly cordoned: ReadonlySet<string>;
  /** The files that were accepted last, where the table needs them. */
  readonly intent: Intent | null;
}

const none: ReadonlySet<string> = new Set();
