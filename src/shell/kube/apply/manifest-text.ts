import { canonicalJson, type Json, type JsonObject } from "../../../core/model/json.ts";
import type { Manifest } from "../../../core/model/manifest.ts";

/** The canonical text of a manifest on both sides of its metadata. */
interface Around {
  readonly before: string;
  readonly after: string;
}

/** By manifest; null for one that was written once: the text is cached from the second write on. */
const known = new WeakMap<Manifest, Around | null>();

/** A manifest with other metadata, as canonical JSON: members share manifests, so the rest is encoded once. */
export function manifestText(manifest: Manifest, metadata: JsonObject): string {
  const { before, after } = aroundOf(manifest);
  return `{${before}"metadata":${canonicalJson(metadata)}${after}}`;
}

function aroundOf(manifest: Manifest): Around {
  const there = known.get(manifest);
  if (there !== undefined && there !== null) return there;
  const keys = Object.keys(manifest).sort();
  const texts = (of: readonly string[]): readonly string[] =>
    of.map((key) => `${JSON.stringify(key)}:${canonicalJson(manifest[key] as Json)}`);
  const around = {
    before: texts(keys.filter((it) => it < "metadata"))
      .map((it) => `${it},`)
      .join(""),
    after: texts(keys.filter((it) => it > "metadata"))
      .map((it) => `,${it}`)
      .join(""),
  };
  known.set(manifest, there === undefined ? null : around);
  return around;
}
