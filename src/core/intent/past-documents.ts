import { fleetDocument, type PastDocument, type Said } from "../model/history.ts";
import { type ObjectId, objectKey } from "../model/manifest.ts";
import type { DecodedFile } from "./documents.ts";
import type { Content } from "./kinds/content.ts";

/**
 * The documents of a file that decisions read, in its order: what people answer with, and what is no object, is left out.
 * Null where something in it may be any object.
 */
export function pastDocuments({ documents }: DecodedFile): readonly PastDocument[] | null {
  if (documents.some((it) => it.kind === "unidentified")) return null;
  return documents.flatMap((it) => {
    if (it.kind !== "object") return [];
    const said: Said | null = it.content === null ? { kind: "unusable" } : saidBy(it.content, it.id);
    return said === null ? [] : [{ key: said.kind === "fleet" ? fleetDocument : objectKey(it.id), said }];
  });
}

function saidBy(content: Content, id: ObjectId & { readonly version: string }): Said | null {
  switch (content.kind) {
    case "manifest":
      return { kind: "manifest", id, manifest: content.manifest, digest: content.digest };
    case "cluster":
    case "placement":
    case "override":
    case "run":
    case "strategy":
    case "eviction":
    case "budget":
    case "fleet":
      return content;
    // What people answer with is judged on its own.
    case "confirmation":
    case "approval":
    case "later":
      return null;
  }
}
