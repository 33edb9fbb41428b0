import { type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import type { CollectionRequest } from "../client/api-request.ts";
import type { Client, OpenWatch } from "../client/client.ts";
import { contactFailureOf, MemberUnreachable } from "../client/member-unreachable.ts";

/** A watch of a collection that is reopened when it ends. */
export interface RetryWatcher {
  /** The last resourceVersion seen; NaN when the member's versions are not numbers. */
  readonly version: number;
  stop(): void;
}

interface RetryWatchOptions {
  readonly client: Client;
  readonly what: CollectionRequest;
  /** The resourceVersion of the list that it continues from. */
  readonly from: string;
  /** An object was added, changed or, when `isGone`, left the selection. May throw when the object cannot be read. */
  readonly onObject: (object: JsonObject, isGone: boolean) => void;
  /** The version advanced, by an object or a bookmark. */
  readonly onProgress: () => void;
  /** It cannot go on: too old, refused, or lost. Called once; only a new list helps then. */
  readonly onBroken: (why: WatchFailure) => void;
}

/** Why a watch cannot go on: the member was lost or has forgotten the version, or watching is not allowed. */
export type WatchFailure = { readonly kind: "lost"; readonly lost: MemberUnreachable } | { readonly kind: "refused" };

/** How long one watch is kept open before it is reopened; spread, so that watches do not end together. */
const shortestSeconds = 240;
const spreadSeconds = 120;

/** A watch that ends sooner without any event is not reopened. */
const minWatchMs = 1_000;

/** A resourceVersion as a number (KEP-5504 makes them comparable). */
export const resourceVersionNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN);

/** Watches a collection; one that ends is reopened once, then `onBroken` is called (`kube/README.md#f-32`, `#f-35`). */
export function retryWatch(followed: RetryWatchOptions): RetryWatcher {
  const { client, what, onBroken } = followed;
  let isStopped = false;
  let watching: OpenWatch | null = null;
  let [version, resume] = [resourceVersionNumber(followed.from), followed.from];

  const breakOff = (why: WatchFailure): void => {
    if (isStopped) return;
    isStopped = true;
    watching?.stop();
    onBroken(why);
  };
  const onEvent = (type: string, object: JsonObject): void => {
    if (isStopped) return;
    if (!["ADDED", "MODIFIED", "DELETED", "BOOKMARK"].includes(type))
      throw new MemberUnreachable("Unreachable", watchErrorText(object));
    if (type !== "BOOKMARK") followed.onObject(object, type === "DELETED");
    resume = textOf(memberAt(object, "metadata", "resourceVersion")) ?? resume;
    version = resourceVersionNumber(resume);
    followed.onProgress();
  };
  const open = async (): Promise<void> => {
    for (let opened = 0; !isStopped; opened += 1) {
      const [began, at] = [performance.now(), resume];
      const timeoutSeconds = shortestSeconds + ((opened * 37 + what.path.length * 53) % spreadSeconds);
      const answer = await client.watch({ ...what, resourceVersion: resume, timeoutSeconds }, ({ type, object }) => {
        try {
          onEvent(type, object);
        } catch (error) {
          breakOff({ kind: "lost", lost: asUnreachable(error) });
        }
      });
      if (answer.kind === "refused") {
        if (answer.status === 403 || answer.status === 405) return breakOff({ kind: "refused" });
        throw new MemberUnreachable("Unreachable", answer.message);
      }
      watching = answer;
      if (isStopped) return answer.stop();
      const lost = await answer.ended;
      if (lost !== null && lost.code !== "Unreachable") return breakOff({ kind: "lost", lost });
      if (resume === at && performance.now() - began < minWatchMs)
        return breakOff({
          kind: "lost",
          lost: lost ?? new MemberUnreachable("Unreachable", "its watches end immediately"),
        });
    }
  };
  open().catch((error: unknown) => breakOff({ kind: "lost", lost: asUnreachable(error) }));
  return {
    get version() {
      return version;
    },
    stop() {
      isStopped = true;
      watching?.stop();
    },
  };
}

function asUnreachable(error: unknown): MemberUnreachable {
  if (error instanceof MemberUnreachable) return error;
  const { code, message } = contactFailureOf(error);
  return new MemberUnreachable(code, message);
}

/** Too old (410) or any other error: the handling is the same. */
const watchErrorText = (status: JsonObject): string =>
  (textOf(memberAt(status, "message")) ?? "a watch failed").slice(0, 200);
