import type { CommitFact } from "../../model/commit.ts";
import { defaultFleet } from "../../model/fleet.ts";
import { fleetDocumentKey, type History, type PastDocument } from "../../model/history.ts";
import { rememberedPair } from "../../model/identity.ts";
import { canonicalJson, type Json } from "../../model/json.ts";
import type { ObjectKey } from "../../model/manifest.ts";
import { compareText } from "../../model/value.ts";

type Read = (document: PastDocument) => Json | null;

/** Whether what is read of documents of one identity is another after a commit. */
export const isChanged = (places: readonly FileChange[], read: Read): boolean =>
  contentRead(
    places.flatMap((it) => it.before),
    read,
  ) !==
  contentRead(
    places.flatMap((it) => it.after),
    read,
  );

/** Of documents of which nothing is read. */
export const noContent = "[]";

/** What is read of all documents of one identity. */
export function contentRead(documents: readonly PastDocument[], read: Read): string {
  const all = documents.flatMap((it) => {
    const found = read(it);
    return found === null ? [] : [canonicalJson(found)];
  });
  return JSON.stringify(all.sort(compareText));
}

/** What a commit made of the documents of one identity in one file. */
interface FileChange {
  readonly path: string;
  readonly before: readonly PastDocument[];
  readonly after: readonly PastDocument[];
}

/** What a commit changed, by document. */
export const changedDocuments = (
  fact: CommitFact,
  { documents }: History,
): ReadonlyMap<ObjectKey, readonly FileChange[]> => fileChanges(fact, documents);

const fileChanges = rememberedPair(
  ({ changes }: CommitFact, documents: History["documents"]): ReadonlyMap<ObjectKey, readonly FileChange[]> => {
    const found = new Map<ObjectKey, FileChange[]>();
    for (const { path, before, after } of changes) {
      const [was, is] = [before, after].map((it) => (it === null ? [] : (documents.get(it) ?? [])));
      for (const key of new Set([...(was ?? []), ...(is ?? [])].map((it) => it.key))) {
        if (key === fleetDocumentKey && !isFleet(path)) continue;
        const [old = [], now = []] = [was, is].map((all) => all?.filter((it) => it.key === key));
        const isFile = key === fleetDocumentKey;
        const place = { path, before: isFile ? orNone(old) : old, after: isFile ? orNone(now) : now };
        found.set(key, [...(found.get(key) ?? []), place]);
      }
    }
    return found;
  },
);

/** A repository without `fleet.yaml` is read as if it said this. */
const orNone = (documents: readonly PastDocument[]): readonly PastDocument[] =>
  documents.length > 0 ? documents : [{ key: fleetDocumentKey, said: { kind: "fleet", fleet: defaultFleet } }];

/** Whether a file holds the settings of the fleet. */
export const isFleet = (path: string): boolean => path === "fleet.yaml" || path === "fleet.yml";
