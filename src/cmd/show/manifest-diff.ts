import { emitYaml } from "../../core/codec/canonical.ts";
import { isObject, type Json, type JsonObject, member, memberAt, textOf } from "../../core/model/json.ts";
import { objectText } from "../../core/model/manifest.ts";
import type { MoveGroup, ObjectRow } from "./asked-rows.ts";

/** At most so many lines of differences are shown of one object, and of all. */
const mostLines = { object: 60, all: 300 };
const longestLine = 160;
/** Of texts that differ in more lines than these, only that is said. */
const mostEdits = 1500;

/**
 * What clusters would get against what they carry: every object that is created or changed as a unified difference of its
 * YAML, images and replicas first. Values of Secrets are never shown, only that they change. What is too long is cut, and how
 * much of it is said.
 */
export async function differenceLines(groups: readonly MoveGroup[], whole: string): Promise<readonly string[]> {
  const lines: string[] = [];
  let hidden = 0;
  for (const group of groups) {
    const objects = group.rows.filter((it) => it.after !== null);
    if (objects.length === 0) continue;
    const shown = await Promise.all(objects.map(describe));
    const [first, second] = group.clusters;
    const all = second === undefined ? `${first}` : `${group.clusters.join(", ")}, the same on each`;
    lines.push("", `what changes on ${all}:`);
    for (const it of shown.sort((a, b) => Number(b.isTelling) - Number(a.isTelling))) {
      lines.push(`  ${it.head}`);
      const room = Math.max(0, Math.min(mostLines.object, mostLines.all - lines.length));
      lines.push(...it.body.slice(0, room).map((line) => `    ${shortened(line)}`));
      const rest = it.body.length - room;
      if (rest > 0) lines.push(`    (${rest} more lines)`);
      hidden += Math.max(0, rest);
    }
  }
  return hidden === 0 ? lines : [...lines, "", `${hidden} lines are not shown; all of it: ${whole}`];
}

interface Described {
  readonly head: string;
  readonly body: readonly string[];
  /** An image or a number of replicas changes. */
  readonly isTelling: boolean;
}

async function describe({ fate, id, before, after }: ObjectRow): Promise<Described> {
  const [was, is] = masked(before?.manifest ?? null, after?.manifest ?? null);
  const told = [...highlights(before?.manifest ?? null, after?.manifest ?? null)];
  const head = [`${objectText(id)}, ${fate}`, ...told].join("; ");
  return { head, body: await patchLines(was, is), isTelling: told.length > 0 };
}

async function patchLines(was: Json, is: Json): Promise<readonly string[]> {
  const { structuredPatch } = await import("diff");
  const [a, b] = [was, is].map((it) => (it === null ? "" : emitYaml(it))) as [string, string];
  const patch = structuredPatch("", "", a, b, "", "", { context: 3, maxEditLength: mostEdits });
  if (patch === undefined)
    return [`(${a.split("\n").length - 1} lines become ${b.split("\n").length - 1}, and hardly any stays)`];
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${from(oldStart, oldLines)} +${from(newStart, newLines)} @@`,
    ...lines,
  ]);
}

/** Of an empty side, unified differences name the line before it. */
const from = (start: number, lines: number): string => `${lines === 0 ? start - 1 : start},${lines}`;

const shortened = (line: string): string =>
  line.length <= longestLine ? line : `${line.slice(0, longestLine)}… (${line.length - longestLine} more characters)`;

/** Both without what a Secret holds: of every value only whether it is another one. */
function masked(before: Json, after: Json): readonly [Json, Json] {
  const isSecret = [before, after].some((it) => member(it, "kind") === "Secret" && member(it, "apiVersion") === "v1");
  if (!isSecret) return [before, after];
  return [withoutValues(before, after, "(secret)"), withoutValues(after, before, "(another secret)")];
}

/** `other` is what it is compared with: a value that is the same there is shown as the same. */
function withoutValues(manifest: Json, other: Json, changed: string): Json {
  if (!isObject(manifest)) return manifest;
  const hidden = (field: string): JsonObject => {
    const [own, others] = [member(manifest, field), member(other, field)];
    if (!isObject(own)) return {};
    const values = Object.entries(own).map(([key, value]) => {
      const isOther = isObject(others) && Object.hasOwn(others, key) && others[key] !== value;
      return [key, isOther ? changed : "(secret)"] as const;
    });
    return { [field]: Object.fromEntries(values) };
  };
  const annotations = memberAt(manifest, "metadata", "annotations");
  // kubectl repeats all of an object there.
  const metadata = isObject(annotations)
    ? { metadata: { ...(member(manifest, "metadata") as JsonObject), annotations: withoutCopies(annotations) } }
    : {};
  return { ...manifest, ...metadata, ...hidden("data"), ...hidden("stringData") };
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
