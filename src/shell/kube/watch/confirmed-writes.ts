import { memberAt, textOf } from "../../../core/model/json.ts";
import { idOf, type ObjectKey, objectKey } from "../../../core/model/manifest.ts";
import { placementLabel } from "../../../core/model/names.ts";
import type { ApiRequest, ApiResponse, Client } from "../client/client.ts";
import { resourceVersionNumber } from "./retry-watcher.ts";

/** One write of ours that a member confirmed: whoever watches has to see it before the next decision. */
export type ConfirmedWrite =
  | {
      readonly kind: "wrote";
      readonly key: ObjectKey;
      /** Whether it carries our label since: only then, or if it did before, a watch tells of it. */
      readonly isMarked: boolean;
      readonly version: number;
    }
  | { readonly kind: "deleted"; readonly uid: string }
  /** The answer does not tell what was written. */
  | { readonly kind: "unclear" };

/** The same client, telling of every write that was confirmed. */
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
