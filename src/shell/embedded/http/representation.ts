import type { JsonObject } from "../../../core/model/json.ts";
import { apiVersionOf } from "../../../core/model/manifest.ts";
import type { Kind } from "../api/kinds.ts";
import { refusal } from "../api/status.ts";
import { tableOf } from "./table.ts";

/** How a client wants its objects. */
export type Representation = "whole" | "partial" | "table";

/** The first form in an `Accept` header that can be given; refuses a client that takes none of them. */
export function representationOf(accept: string): Representation {
  if (accept === "") return "whole";
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((it) => it.trim());
    if (!["application/json", "application/*", "*/*"].includes(type)) continue;
    const as = parameters.find((it) => it.startsWith("as="))?.slice(3);
    if (as === undefined) return "whole";
    if (as === "Table") return "table";
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return "partial";
  }
  throw refusal("NotAcceptable", "406: Not Acceptable\n\nAvailable representations: application/json", {});
}

/** An object's type and metadata, and nothing of what it says. */
export const partialOf = (object: JsonObject): JsonObject => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata: object["metadata"] ?? {},
});

/** What an answer is to look like. */
export interface View {
  readonly representation: Representation;
  readonly kind: Kind;
  /** For ages in tables. */
  readonly now: number;
}

/** Gives one object in the form that was asked for. */
export function represent(object: JsonObject, { representation, kind, now }: View): JsonObject {
  switch (representation) {
    case "whole":
      return object;
    case "partial":
      return partialOf(object);
    case "table": {
      const metadata = object["metadata"] as JsonObject;
      return tableOf([object], kind, { resourceVersion: metadata["resourceVersion"] ?? "" }, now);
    }
  }
}

/** A list as it is answered. Items of Kubernetes' own kinds carry no type of their own, those of custom kinds do. */
export function representList(objects: readonly JsonObject[], metadata: JsonObject, view: View): JsonObject {
  const { representation, kind } = view;
  switch (representation) {
    case "whole":
      return {
        kind: `${kind.kind}List`,
        apiVersion: apiVersionOf(kind),
        metadata,
        items: kind.custom === null ? objects.map(untyped) : objects,
      };
    case "partial":
      return {
        kind: "PartialObjectMetadataList",
        apiVersion: "meta.k8s.io/v1",
        metadata,
        items: objects.map(partialOf),
      };
    case "table":
      return tableOf(objects, kind, metadata, view.now);
  }
}

function untyped(object: JsonObject): JsonObject {
  const { kind: _, apiVersion: __, ...rest } = object;
  return rest;
}
