import type { Json, JsonObject } from "../../../core/model/json.ts";

/** What one member is asked (`kube/README.md#the-client`). */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Without the server's own prefix: `/api/v1/namespaces`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** The body as canonical JSON, where it is encoded already. */
  readonly text?: string;
  readonly contentType?: string;
  readonly accept?: string;
}

/** Which objects are to be listed, and in which form. */
export interface CollectionRequest {
  readonly path: string;
  readonly labelSelector?: string;
  readonly accept?: string;
}

/** Which objects are to be listed, and how much of them. */
export interface ListRequest extends CollectionRequest {
  readonly fieldSelector?: string;
  /** A longer list loses the member; 1,000,000 when it is absent. */
  readonly most?: number;
  /** What is needed of a page: the rest is forgotten with it. */
  readonly keep?: (page: readonly JsonObject[]) => readonly JsonObject[];
}

/** A member's response to one request. A refusal is a response; only losing the member is thrown, as `MemberUnreachable`. */
export type ApiResponse = { readonly kind: "done"; readonly status: number; readonly body: JsonObject } | ApiFailure;

/** A Kubernetes `Status` of failure. */
export interface ApiFailure {
  readonly kind: "refused";
  readonly status: number;
  /** `NotFound`, `Conflict`, `Forbidden` …; empty when the answer was no Status. */
  readonly reason: string;
  readonly message: string;
  /** What the refusal is about, from `details.kind`: a plural, such as `namespaces`. */
  readonly about: string;
  readonly causes: readonly { readonly reason: string; readonly field: string; readonly message: string }[];
}

/** A whole list. */
export interface Listing {
  readonly kind: "listed";
  readonly items: readonly JsonObject[];
  /** Of the member when the list began. */
  readonly resourceVersion: string;
}
