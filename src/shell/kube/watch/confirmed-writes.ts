import { memberAt, textOf } from "../../../core/model/json.ts";
import { idOf, type ObjectKey, objectKey } from "../../../core/model/manifest.ts";
import { placementLabel } from "../../../core/model/names.ts";
import type { ApiRequest, ApiResponse } from "../client/api-request.ts";
import type { Client } from "../client/client.ts";
import { resourceVersionNumber } from "./retry-watcher.ts";

/** One write of ours that a member confirmed: the next observation has to include it. */
export type ConfirmedWrite =
  | {
      readonly kind: "wrote";
      readonly key: ObjectKey;
      /** Whether it has our label now: a watch shows it only then, or if it had the label before. */
      readonly isMarked: boolean;
      readonly version: number;
    }
  | { readonly kind: "deleted"; readonly uid: string }
  /** The response does not show what was written. */
  | { readonly kind: "unclear" };

/** A client that reports every confirmed write. */
export function recordingClient(client: Client, note: (written: ConfirmedWrite) => void): Client {
  return {
    async request(it) {
      const answer = await client.request(it);
      const written = writtenBy(it, answer);
      if (written !== null) note(written);
      return answer;
    },
    list: (it) => client.list(it),
    watch: (it, onEvent) => client.watch(it, onEvent),
    pause: (ms) => client.pause(ms),
    until: (signal) => recordingClient(client.until(signal), note),
    close: () => client.close(),
  };
}

function writtenBy({ method, query, body: sent }: ApiRequest, answer: ApiResponse): ConfirmedWrite | null {
  if (method === "GET" || answer.kind === "refused" || query?.["dryRun"] !== undefined) return null;
  if (method === "DELETE") {
    const uid = textOf(memberAt(sent ?? null, "preconditions", "uid"));
    return uid === null ? { kind: "unclear" } : { kind: "deleted", uid };
  }
  const id = idOf(answer.body);
  if (id === null || id.kind === "PartialObjectMetadata") return { kind: "unclear" };
  const isMarked = memberAt(answer.body, "metadata", "labels", placementLabel) !== null;
  const version = resourceVersionNumber(textOf(memberAt(answer.body, "metadata", "resourceVersion")) ?? "");
  return { kind: "wrote", key: objectKey(id), isMarked, version };
}
