import { parseAllDocuments } from "yaml";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { Commit } from "../../src/core/model/value.ts";
import { wordIn } from "./document.ts";
import type { Hub } from "./hub.ts";
import { contentOf, keyOf } from "./sight.ts";

/** A manifest as the state branch has it for one cluster. */
export interface RenderedObject {
  readonly key: string;
  readonly content: string;
  /** Null for everything but Deployments. */
  readonly image: string | null;
}

const most = 2_000;
const known = new Map<string, readonly RenderedObject[]>();

/** What one cluster is to carry of one placement by a commit of the state branch. Equal blobs are equal manifests. */
export function renderedAt(hub: Hub, commit: Commit, cluster: string, placement: string): readonly RenderedObject[] {
  const path = `rendered/${cluster}/${placement}.yaml`;
  const blob = hub.treeAt(commit).get(path) ?? "";
  const found = known.get(blob) ?? parsed(hub.textAt(commit, path) ?? "");
  if (known.size > most) known.clear();
  known.set(blob, found);
  return found;
}

const parsed = (text: string): readonly RenderedObject[] =>
  parseAllDocuments(text).map((it): RenderedObject => {
    const manifest = it.toJS() as JsonObject;
    const [, group = ""] = String(manifest["apiVersion"]).split("/").reverse();
    const { name, namespace = null } = manifest["metadata"] as { name: string; namespace?: string };
    const key = keyOf({ group, kind: String(manifest["kind"]), namespace, name });
    return { key, content: contentOf(manifest), image: manifest["kind"] === "Deployment" ? wordIn(manifest) : null };
  });
