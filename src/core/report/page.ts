import { clusterPath, placementPath } from "../ledger/layout.ts";
import type { CascadedDeletion, HeldDeletion } from "../model/deletion.ts";
import { remembered } from "../model/identity.ts";
import type { ClusterRecord, Ledger, PlacementRecord } from "../model/ledger.ts";
import { objectText } from "../model/manifest.ts";
import { kubernetesVersionProperty } from "../model/names.ts";
import type { Reason } from "../model/reason.ts";
import { type Digest, firstOf, instantText, type PlacementKey } from "../model/value.ts";
import { wantedClusters } from "../status/selected-clusters.ts";
import { runPageRows } from "./tables.ts";
import { isServing, missingRuns, type PlacementContext, unreachableMembers, whoCanAct } from "./who-can-act.ts";

/** The texts that the page takes from elsewhere. */
export interface PageWords {
  readonly explain: (reason: Reason) => string;
  /** The file that confirms a set of deletions. */
  readonly confirmation: (digest: Digest) => { readonly path: string; readonly text: string };
  readonly whyHeld: (because: HeldDeletion["because"]) => string;
}

/**
 * The page that people see when they open the state branch, most likely because of a problem: what needs a person and
 * what exactly to do, what fails, and the state of every placement and member.
 *
 * The same ledger and reasons give the same bytes: it shows recorded instants, never the time of day. What members and
 * files say is shown as text, whatever it holds; no list is longer than 200 entries, troubled ones first.
 */
export function statePage(ledger: Ledger, reasons: readonly Reason[], words: PageWords): string {
  const sections = [
    title(ledger),
    overview(ledger, reasons),
    deletions(ledger.deletions.held, words),
    reasonList("What fails", reasons.filter(isFailure), words),
    placements(ledger, reasons, words),
    updateRuns(ledger),
    members(ledger),
    reasonList("Good to know", reasons.filter(isNotice), words),
  ];
  return sections
    .filter((it) => it.length > 0)
    .map((it) => `${it.join("\n")}\n`)
    .join("\n");
}

const limit = 200;

type Section = readonly string[];

function title({ fleet, epoch, sequence, sourceCommit }: Ledger): Section {
  const source = sourceCommit === null ? "before any source commit" : `from source commit \`${short(sourceCommit)}\``;
  const decision = `Decision ${sequence}${epoch === 0 ? "" : ` of epoch ${epoch}`}, ${source}`;
  return [`# Fleet ${shown(fleet)}`, "", `${decision}. Flotilla writes this branch; people never do.`];
}

function overview({ clusters, placements: all, deletions: { held } }: Ledger, reasons: readonly Reason[]): Section {
  const lost = [...clusters.values()].filter((it) => it.contactFailure !== null).length;
  const settled = [...all.values()].filter((it) => isSettled(it)).length;
  const waiting = held.filter((it) => !it.confirmed).length;
  const failing = reasons.filter(isFailure).length;
  return [
    `- **${count(clusters.size, "member")}**${lost === 0 ? "" : `, ${lost} of them in trouble`}`,
    `- **${count(all.size, "placement")}**, ${settled === all.size ? "all" : settled} in place`,
    ...(failing === 0 ? [] : [`- **${count(failing, "failure")}**`]),
    ...(waiting === 0 ? [] : [`- **${count(waiting, "set")} of deletions** to be confirmed or reverted`]),
  ];
}

function deletions(held: readonly HeldDeletion[], { confirmation, whyHeld }: PageWords): Section {
  const waiting = held.filter((it) => !it.confirmed);
  if (waiting.length === 0) return [];
  const entries = waiting.slice(0, limit).flatMap((it) => {
    const { path, text } = confirmation(it.digest);
    const lines = [...it.groups.slice(0, limit).map(groupLine), ...it.others.slice(0, limit).flatMap(alongLines)];
    const why = ["", `Why: ${whyHeld(it.because)}`, "", ...lines];
    if (it.because === "protected") return [...why, "", "To let them go, approve the change of their placement."];
    return [...why, "", `\`${path}\`:`, "", "```yaml", text.trimEnd(), "```"];
  });
  return [
    "## Deletions that wait for a confirmation",
    "",
    "To confirm one, run `flotilla confirm` with its digest, or commit its file to the source branch; to keep its objects,",
    "revert the commit that removes them. A confirmation counts once, and only for its set.",
    ...entries,
    ...rest(waiting.length, "set"),
  ];
}

function groupLine({ placement, clusters, objects }: HeldDeletion["groups"][number]): string {
  const first = objects
    .slice(0, 5)
    .map((it) => `${it.kind} ${it.namespace === null ? "" : `${it.namespace}/`}${it.name}`);
  const more = objects.length > first.length ? ` and ${objects.length - first.length} more` : "";
  return `- ${shown(placement)} on ${named(clusters)}: ${shown(first.join(", "))}${more}`;
}

const alongLines = ({ placement, cluster, id, objects }: CascadedDeletion): Section => [
  `- ${shown(placement)} on ${shown(cluster)}, of others with ${shown(objectText(id))}:`,
  ...objects.map((it) => `  - ${shown(objectText(it))}, uid ${shown(it.uid)}`),
];

function placements(ledger: Ledger, reasons: readonly Reason[], words: PageWords): Section {
  const { placements: all } = ledger;
  if (all.size === 0) return [];
  const waits = reasonsByPlacement(reasons);
  const rows = settledLast([...all.values()], isSettled).slice(0, limit);
  return [
    "## Placements",
    "",
    "| Placement | Clusters | Version | State | Waits for | Who can unblock it |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows.map((it) => placementRow({ record: it, ledger }, waits.get(it.key) ?? [], words)),
    ...rest(all.size, "placement"),
  ];
}

function updateRuns({ runs }: Ledger): Section {
  const rows = runPageRows(runs.values(), shown);
  if (rows.length === 0) return [];
  return [
    "## Update runs",
    "",
    "| Run | Placement | Version | Clusters | State |",
    "| --- | --- | --- | --- | --- |",
    ...rows.slice(0, limit),
    ...rest(rows.length, "run"),
  ];
}

function placementRow(at: PlacementContext, reasons: readonly Reason[], { explain }: PageWords): string {
  const { record } = at;
  const { selected, serving, current } = standingOf(record);
  const latest = record.resourceSnapshots.at(-1)?.index;
  const waits = [
    ...unreachableMembers(at),
    ...reasons.map((it) => ({ what: withoutPrefix(explain(it), `${record.key}: `), who: whoCanAct(it, at) })),
    ...missingRuns(at),
  ];
  const firstWaits = waits.slice(0, 3).map((it) => it.what);
  const more = waits.length > firstWaits.length ? [`and ${waits.length - firstWaits.length} more`] : [];
  const cells = [
    `[${shown(record.key)}](${placementPath(record.key)})`,
    `${serving}/${record.spec.policy.kind === "PickAll" ? selected : wantedClusters(record)}`,
    latest === undefined ? "none" : `${latest} on ${current}`,
    shown(stateText(record)),
    [...firstWaits, ...more].map(shown).join("<br>"),
    [...new Set(waits.map((it) => it.who))].map(shown).join("<br>"),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** On how many clusters a placement is, serves, and has its latest version. Counted once for a record. */
const standingOf = remembered(({ bindings, resourceSnapshots }: PlacementRecord) => {
  const latest = resourceSnapshots.at(-1)?.index;
  const selected = [...bindings.values()].filter((it) => it.state !== "Unscheduled");
  return {
    selected: selected.length,
    serving: selected.filter(isServing).length,
    current: selected.filter((it) => it.target?.resourceIndex === latest).length,
  };
});

/** How a placement is, by the first of its conditions that does not hold. */
function stateText(record: PlacementRecord): string {
  if (record.deleting !== null) return `being removed since ${instantText(record.deleting.since)}`;
  if (record.selectionError !== null) return `selects nothing: ${record.selectionError}`;
  const open = record.conditions.find((it) => it.status !== "True");
  if (open === undefined && record.unrolled !== null) return "what is selected now is not rolled out";
  if (open !== undefined) return `${open.reason} since ${instantText(open.lastTransitionTime)}: ${open.message}`;
  return record.conditions.length === 0 ? "not evaluated yet" : "in place";
}

const isSettled = ({ deleting, selectionError, unrolled, conditions }: PlacementRecord): boolean =>
  deleting === null &&
  selectionError === null &&
  unrolled === null &&
  conditions.length > 0 &&
  conditions.every((it) => it.status === "True");

function members({ clusters }: Ledger): Section {
  if (clusters.size === 0) return [];
  const rows = settledLast([...clusters.values()], (it) => it.contactFailure === null).slice(0, limit);
  return [
    "## Members",
    "",
    "| Member | Kubernetes | Contact | Since |",
    "| --- | --- | --- | --- |",
    ...rows.map(memberRow),
    ...rest(clusters.size, "member"),
  ];
}

function memberRow({ name, properties, kubeSystemUid, contactFailure }: ClusterRecord): string {
  const contact = kubeSystemUid === null ? "never reached" : "answers";
  const cells = [
    `[${shown(name)}](${clusterPath(name)})`,
    shown(properties.get(kubernetesVersionProperty) ?? "unknown"),
    contactFailure === null ? contact : shown(`${contactFailure.code}: ${contactFailure.message}`),
    contactFailure === null ? "" : instantText(contactFailure.since),
  ];
  return `| ${cells.join(" | ")} |`;
}

function reasonList(heading: string, reasons: readonly Reason[], { explain }: PageWords): Section {
  if (reasons.length === 0) return [];
  const lines = reasons.slice(0, limit).map((it) => `- ${shown(explain(it))}`);
  return [`## ${heading}`, "", ...lines, ...rest(reasons.length, "entry")];
}

function isFailure({ kind }: Reason): boolean {
  return failures.has(kind);
}

const failures: ReadonlySet<Reason["kind"]> = new Set([
  "quarantined",
  "selectionFailed",
  "renderFailed",
  "applyFailed",
  "contested",
  "unhealthy",
  "unreachable",
  "contentLost",
  "sourceHeld",
  "trustRefused",
  "answerDenied",
]);

/** Reasons without a row of their own: nobody needs to act at once. */
const isNotice = ({ kind }: Reason): boolean => notices.has(kind);

const notices: ReadonlySet<Reason["kind"]> = new Set([
  "held",
  "left",
  "orphans",
  "adopted",
  "wantedTwice",
  "inventoryLost",
  "confirmationVoid",
]);

function reasonsByPlacement(reasons: readonly Reason[]): ReadonlyMap<PlacementKey, readonly Reason[]> {
  const found = new Map<PlacementKey, Reason[]>();
  for (const reason of reasons)
    for (const key of placementsOf(reason)) {
      const list = found.get(key);
      if (list === undefined) found.set(key, [reason]);
      else list.push(reason);
    }
  return found;
}

function placementsOf(reason: Reason): readonly PlacementKey[] {
  if (isNotice(reason)) return [];
  if ("placements" in reason) return reason.placements;
  return "placement" in reason ? [reason.placement] : [];
}

function settledLast<T>(all: readonly T[], settled: (it: T) => boolean): readonly T[] {
  const first: T[] = [];
  const last: T[] = [];
  for (const it of all) (settled(it) ? last : first).push(it);
  return [...first, ...last];
}

const rest = (total: number, noun: string): Section =>
  total > limit ? ["", `… and ${count(total - limit, noun)} more.`] : [];

const short = (commit: string): string => commit.slice(0, 7);

const withoutPrefix = (text: string, prefix: string): string =>
  text.startsWith(prefix) ? text.slice(prefix.length) : text;

const named = (names: readonly string[]): string => shown(firstOf(names, 8));

function count(number: number, noun: string): string {
  if (number === 1) return `1 ${noun}`;
  return `${number} ${noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}

/** Escapes text for Markdown: it stays on its line and in its cell, and is no markup. */
function shown(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]+/gu, " ");
  const capped = line.length <= longest ? line : `${[...line.slice(0, longest)].slice(0, -1).join("")}…`;
  return capped.replace(/[\\`*_[\]<>|~&#!]/g, "\\$&");
}

const longest = 400;
