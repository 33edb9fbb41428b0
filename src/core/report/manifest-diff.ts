import { structuredPatch } from "diff";
import { askedPath, renderedPath } from "../ledger/layout.ts";
import { isObject, type Json, type JsonObject, member, memberAt, textOf } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import { objectText } from "../model/manifest.ts";
import { firstOf } from "../model/value.ts";
import { type ApprovalRequest, requestedPlacement } from "../plan/approval/approval-request.ts";
import { requestedContents } from "../plan/approval/request-content.ts";
import { emitYaml } from "../yaml/canonical.ts";
import { type ChangeGroup, changesIn, type ObjectRow, type ShownContent } from "./request-changes.ts";
import { requestFolder } from "./request-page.ts";

/** The most lines of differences that are shown of one object, and in total. */
const mostLines = { object: 60, all: 300 };
/** The most objects that are shown; the rest is counted. */
const mostObjects = 100;
const longestLine = 160;
/** Texts that differ in more lines are not compared. */
const mostEdits = 1500;

/**
 * What clusters would get, compared with what they run: every created or changed object as a unified diff of its YAML,
 * images and replicas first. Values of Secrets are never shown, only that they change. Long diffs are cut, with a count.
 */
export function differenceLines(groups: readonly ChangeGroup[], whole: string): readonly string[] {
  const lines: string[] = [];
  let [room, left] = [mostLines.all, mostObjects];
  let isAll = true;
  for (const { clusters, rows } of groups) {
    const objects = rows.filter((it) => it.after !== null).map((it) => ({ row: it, told: [...highlightsOf(it)] }));
    if (objects.length === 0) continue;
    const [first, second] = clusters;
    lines.push("", `what changes on ${second === undefined ? first : `${firstOf(clusters, 10)}, the same on each`}:`);
    // Highlights come first; the order is stable otherwise.
    const ordered = [...objects].sort((a, b) => Number(b.told.length > 0) - Number(a.told.length > 0));
    for (const { row, told: highlighted } of ordered.slice(0, left)) {
      lines.push(`  ${[`${objectText(row.id)}, ${row.fate}`, ...highlighted].join("; ")}`);
      const { body, isWhole } = patchOf(...masked(row.before?.manifest ?? null, row.after?.manifest ?? null));
      const some = body.slice(0, Math.min(mostLines.object, room));
      lines.push(...some.map((line) => `    ${shortened(line)}`));
      const rest = body.length - some.length;
      if (rest > 0) lines.push(`    (${rest} more lines)`);
      room -= some.length;
      isAll &&= isWhole && rest === 0 && some.every((it) => it.length <= longestLine);
    }
    if (ordered.length > left) {
      lines.push(`  (${ordered.length - left} more objects)`);
      isAll = false;
    }
    left = Math.max(0, left - ordered.length);
  }
  return isAll ? lines : [...lines, "", `some of it is left out; to see all of it, after git fetch: ${whole}`];
}

const highlightsOf = ({ before, after }: ObjectRow): Iterable<string> =>
  highlights(before?.manifest ?? null, after?.manifest ?? null);

/** `isWhole`: the lines show every difference. */
function patchOf(was: Json, is: Json): { readonly body: readonly string[]; readonly isWhole: boolean } {
  const [a, b] = [was, is].map((it) => (it === null ? "" : emitYaml(it))) as [string, string];
  const patch = structuredPatch("", "", a, b, "", "", { context: 3, maxEditLength: mostEdits });
  if (patch === undefined) {
    const [before, after] = [a, b].map((it) => it.split("\n").length - 1);
    return { body: [`(${before} lines become ${after}; almost all differ)`], isWhole: false };
  }
  const body = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${from(oldStart, oldLines)} +${from(newStart, newLines)} @@`,
    ...lines,
  ]);
  return { body, isWhole: true };
}

/** For an empty side, unified diffs name the line before it. */
const from = (start: number, lines: number): string => `${lines === 0 ? start - 1 : start},${lines}`;

const shortened = (line: string): string =>
  line.length <= longestLine ? line : `${line.slice(0, longestLine)}… (${line.length - longestLine} more characters)`;

/** Both without a Secret's values: only whether each one changes. */
function masked(before: Json, after: Json): readonly [Json, Json] {
  const isSecret = [before, after].some((it) => member(it, "kind") === "Secret" && member(it, "apiVersion") === "v1");
  if (!isSecret) return [before, after];
  return [withoutValues(before, after, "(secret)"), withoutValues(after, before, "(another secret)")];
}

/** A Secret's fields without values; any other may hold values under a misspelt name. */
const plainFields = new Set(["apiVersion", "kind", "metadata", "type", "immutable"]);

/** `other` is the other side of the comparison: equal values are masked alike. */
function withoutValues(manifest: Json, other: Json, changed: string): Json {
  if (!isObject(manifest)) return manifest;
  const hidden = (own: Json, others: Json | null): Json => (others === null || others === own ? "(secret)" : changed);
  const fields = Object.entries(manifest).map(([field, own]): readonly [string, Json] => {
    if (plainFields.has(field)) return [field, own];
    const others = member(other, field);
    if (!isObject(own)) return [field, hidden(own, others)];
    return [field, Object.fromEntries(Object.entries(own).map(([key, it]) => [key, hidden(it, member(others, key))]))];
  });
  const annotations = memberAt(manifest, "metadata", "annotations");
  // kubectl puts a copy of the whole object there.
  const metadata = isObject(annotations)
    ? { metadata: { ...(member(manifest, "metadata") as JsonObject), annotations: withoutCopies(annotations) } }
    : {};
  return { ...Object.fromEntries(fields), ...metadata };
}

const withoutCopies = (annotations: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [
      key,
      key.endsWith("/last-applied-configuration") ? "(secret)" : value,
    ]),
  );

/** Images and replicas that change, in words. */
function* highlights(before: Json, after: Json): Generator<string> {
  const [was, is] = [imagesOf(before), imagesOf(after)];
  for (const [name, image] of is) {
    const old = was.get(name);
    if (before !== null && old !== image) yield `image of ${name} ${old === undefined ? "" : `${old} to `}${image}`;
  }
  const [from, to] = [before, after].map((it) => memberAt(it, "spec", "replicas"));
  if (before !== null && typeof to === "number" && to !== from) yield `replicas ${from ?? 1} to ${to}`;
}

/** By the name of the container. */
function imagesOf(manifest: Json): ReadonlyMap<string, string> {
  const specs = [
    member(manifest, "spec"),
    memberAt(manifest, "spec", "template", "spec"),
    memberAt(manifest, "spec", "jobTemplate", "spec", "template", "spec"),
  ];
  const containers = specs.flatMap((it) => ["initContainers", "containers"].flatMap((key) => member(it, key) ?? []));
  return new Map(
    containers.flatMap((it) => {
      const [name, image] = [textOf(member(it as Json, "name")), textOf(member(it as Json, "image"))];
      return name === null || image === null ? [] : [[name, image] as const];
    }),
  );
}

/** The commits that a request comes from. */
export const broughtLines = (look: ShownContent | null): readonly string[] =>
  look === null || look.commitLines.length === 0 ? [] : ["from commits:", ...look.commitLines.map((it) => `  ${it}`)];

/** The diff of what clusters would get, as far as content matches the request's digest; else where to look. */
export function contentLines(
  ask: ApprovalRequest,
  ledger: Ledger,
  look: ShownContent | null,
  { stateBranch }: { readonly stateBranch: string },
): readonly string[] {
  if (ask.kind === "gate" && ask.when === "after") return [];
  const folder = requestFolder(ask);
  const { groups, unknown } = changesIn(ask, look, ledger);
  const shown = differenceLines(groups, look === null ? "" : wholeText(ask, ledger, look));
  if (unknown.length === 0) return shown;
  return [
    ...shown,
    "",
    `what ${firstOf(unknown, 10)} would get is not shown: ${folder} on ${stateBranch} does not match the request's digest;`,
    "it was too long, requested by an earlier version of flotilla, or changed since (flotilla verify); see the commits",
  ];
}

/** The git command that shows all of it, in a clone that has fetched the state branch. */
function wholeText(ask: ApprovalRequest, ledger: Ledger, { state }: ShownContent): string {
  const [share, ...others] = requestedContents(ask);
  const record = requestedPlacement(ask, ledger);
  if (share === undefined || record === null) return "";
  const [cluster] = share.clusters;
  const at = state.slice(0, 12);
  const after = `${at}:${askedPath(requestFolder(ask), cluster, record.key)}`;
  const isNew = (record.bindings.get(cluster)?.target ?? null) === null;
  const command = isNew ? `git show ${after}` : `git diff ${at}:${renderedPath(cluster, record.key)} ${after}`;
  return others.length === 0
    ? command
    : `${command}, which is for ${cluster}; git ls-tree -r ${at} ${requestFolder(ask)} lists the others`;
}
