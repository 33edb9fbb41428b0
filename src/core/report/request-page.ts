import { askedRequestFolder, changeRequestName, renderedPath } from "../ledger/layout.ts";
import type { CascadedDeletion, Fate } from "../model/deletion.ts";
import type { ChangeRequest } from "../model/ledger.ts";
import { objectText } from "../model/manifest.ts";
import { approvalRequestName } from "../model/stage-task.ts";
import { type ClusterName, type Commit, type Digest, firstOf, type PlacementKey } from "../model/value.ts";
import type { ApprovalRequest } from "../plan/approval/approval-request.ts";

interface RequestPage {
  readonly name: string;
  readonly placement: PlacementKey;
  readonly digest: Digest;
  /** How many folders the page is below `rendered/`. */
  readonly depth: number;
  /** Clusters that would run the same; `file` is null if it is left out, and `because` says why. */
  readonly shares: readonly {
    readonly clusters: readonly ClusterName[];
    /** The first of them runs nothing of the placement yet. */
    readonly isNew: boolean;
    readonly file: string | null;
    readonly because: string;
  }[];
  /** How many more shares there are. */
  readonly unnamed: number;
  readonly leaves: ChangeRequest["leaves"];
  readonly others: ChangeRequest["others"];
  readonly commits: readonly Commit[];
  readonly moreCommits: number;
}

const mostNames = 20;

/** The index page of a folder in `rendered/.asked/`, for people who look with git or on a forge. */
export function requestPage(words: RequestPage): string {
  const { name, placement, digest, shares, unnamed, commits, moreCommits } = words;
  return [
    `# ${name}`,
    "",
    `What approvers are asked about placement ${placement}. Nothing is deployed from here.`,
    "",
    `Request digest: \`${digest}\``,
    ...(shares.length === 0 ? [] : ["", "| Clusters | Would run | Run now |", "|---|---|---|"]),
    ...shares.map((it) => shareRow(it, words)),
    ...(unnamed === 0 ? [] : ["", `And ${unnamed} more, which are not shown here.`]),
    ...leavesLines(words.leaves),
    ...(words.others.length === 0 ? [] : ["", "What others have and is deleted too:", ""]),
    ...words.others.flatMap(othersLines).map((it) => (it.startsWith(" ") ? `${it.replace("  ", "  * ")}` : `* ${it}`)),
    ...(commits.length === 0 ? [] : ["", "From these commits (`git show`):", ""]),
    ...commits.map((it) => `* ${it}`),
    ...(moreCommits === 0 ? [] : [`* and ${moreCommits} more`]),
    "",
  ].join("\n");
}

function shareRow(
  { clusters, isNew, file, because }: RequestPage["shares"][number],
  { placement, depth }: RequestPage,
): string {
  const [first] = clusters;
  const carried = first === undefined ? "" : renderedPath(first, placement).replace("rendered/", "../".repeat(depth));
  const [will, does] = [
    file === null ? because : `[${file}](${file})`,
    isNew ? "nothing yet" : `[${first}](${carried})`,
  ];
  return `| ${listed(clusters)} | ${will} | ${does} |`;
}

const listed = (names: readonly string[]): string => firstOf(names, mostNames);

function leavesLines(leaves: ChangeRequest["leaves"]): readonly string[] {
  const lines = new Map<string, ClusterName[]>();
  for (const [cluster, all] of leaves) {
    const said = new Map<string, string[]>();
    for (const it of all) {
      const objects = said.get(becomes(it)) ?? [];
      said.set(becomes(it), objects);
      objects.push(objectText(it.object));
    }
    const text = [...said].map(([fate, objects]) => `${fate}: ${listed(objects)}`).join("; ");
    lines.set(text, [...(lines.get(text) ?? []), cluster]);
  }
  const all = [...lines].map(([text, clusters]) => `* ${listed(clusters)}: ${text}`);
  return all.length === 0 ? [] : ["", "What is removed:", "", ...all];
}

/** What of others would be deleted, with what. */
export const othersLines = ({ cluster, id, objects }: CascadedDeletion): readonly string[] => [
  `deleted on ${cluster}, of others with ${objectText(id)}:`,
  ...objects.map((it) => `  ${objectText(it)} (uid ${it.uid})`),
];

/** What becomes of an object that leaves; with who takes it. */
export type LeaveFate = { readonly fate: Fate } | { readonly fate: "handOver"; readonly to: PlacementKey };

/** What happens to an object, in words. */
export const fateTexts = { delete: "deleted", release: "left in place", handOver: "handed over" } as const;

/** The same, and to whom: `handed over to placement shop`. */
export const becomes = (it: LeaveFate): string =>
  it.fate === "handOver" ? `${fateTexts.handOver} to placement ${it.to}` : fateTexts[it.fate];

/** The folder below `rendered/` with the content of a request. */
export const requestFolder = (ask: ApprovalRequest): string =>
  ask.kind === "gate"
    ? askedRequestFolder(ask.run.namespace, approvalRequestName(ask.run.name, ask.when, ask.stage.name))
    : askedRequestFolder(ask.record.namespace, changeRequestName(ask.record.name));
