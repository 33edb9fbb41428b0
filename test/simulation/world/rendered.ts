import { createHash } from "node:crypto";
import { parseAllDocuments } from "yaml";
import { canonicalJson, type Json, type JsonObject } from "../../../src/core/model/json.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import { wordIn } from "../people/document.ts";
import type { Hub } from "./hub.ts";
import { contentOf, keyOf } from "./observed-objects.ts";

/** A manifest as the state branch has it for one cluster. */
export interface RenderedObject {
  readonly key: string;
  readonly content: string;
  /** Group, version, kind, namespace, name, and the digest of the manifest. */
  readonly identity: Json;
  /** Null for everything but Deployments. */
  readonly image: string | null;
  /** What it says; empty for nothing. */
  readonly word: string;
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
    const [version = "", group = ""] = String(manifest["apiVersion"]).split("/").reverse();
    const { name, namespace = null } = manifest["metadata"] as { name: string; namespace?: string };
    const kind = String(manifest["kind"]);
    const key = keyOf({ group, kind, namespace, name });
    const digest = createHash("sha256").update(canonicalJson(manifest)).digest("hex");
    const identity = [group, version, kind, namespace, name, digest];
    return {
      key,
      content: contentOf(manifest),
      identity,
      image: manifest["kind"] === "Deployment" ? wordIn(manifest) : null,
      word: wordIn(manifest) ?? "",
    };
  });
