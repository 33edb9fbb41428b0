import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Json, memberAt, textOf } from "../../../core/model/json.ts";
import { readYamlStream } from "../../../core/yaml/read-stream.ts";
import { declaredNodes, type SimulatedNode } from "../../../shell/embedded/registry/declared-nodes.ts";

/** The nodes of simulated clusters by name, as the MemberClusters in a folder's files declare them. Rejects where it cannot be read. */
export async function nodesDeclaredIn(folder: string): Promise<Readonly<Record<string, readonly SimulatedNode[]>>> {
  const files = (await readdir(folder)).filter((it) => /\.ya?ml$/.test(it)).sort();
  const texts = await Promise.all(files.map((it) => readFile(join(folder, it), "utf8")));
  return Object.fromEntries(texts.flatMap(documentsIn).flatMap(nodesOf));
}

function documentsIn(text: string): readonly Json[] {
  const read = readYamlStream(text);
  return "error" in read ? [] : read.documents;
}

function nodesOf(document: Json): readonly (readonly [string, readonly SimulatedNode[]])[] {
  const name = textOf(memberAt(document, "metadata", "name"));
  const nodes = memberAt(document, "kind") === "MemberCluster" ? declaredNodes(document) : null;
  return name === null || nodes === null ? [] : [[name, nodes]];
}
