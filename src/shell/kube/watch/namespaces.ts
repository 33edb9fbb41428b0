import { sameMap } from "../../../core/model/identity.ts";
import { type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import { placementLabel } from "../../../core/model/names.ts";
import type { NamespacesSeen } from "../../../core/model/observation.ts";
import { compareText } from "../../../core/model/value.ts";
import { type Client, metadataListOnly } from "../client/client.ts";
import { attempted } from "./missing-facts.ts";
import { restlessness } from "./restless.ts";

/** Namespaces of one member; Kubernetes is made for 10,000. */
export const mostNamespaces = 20_000;

/** Where an API server has them. */
export const namespacesPath = "/api/v1/namespaces";

/** Those that placements live in: only where there are any, somebody asks for the others as well. */
export type PlacedNamespaces = ReadonlySet<string>;

/** The namespaces of one member (`members/README.md#namespaces`). */
export interface NamespaceReader {
  /** Lists them. Never rejects, and takes no longer than its deadline. */
  list(): Promise<ListedNamespaces>;
  /**
   * What is found, or what was told before: where both are the same (`===` stays), or where too many came and went of late
   * that placements live in.
   */
  steady(found: NamespacesSeen, placed: PlacedNamespaces): NamespacesSeen;
}

/** What is there, and from where on a watch continues it; null where it could not be listed. */
interface ListedNamespaces {
  readonly found: NamespacesSeen;
  readonly resourceVersion: string | null;
}

/** Opens the reader of one member, by clients whose requests end at the deadline of a collection. */
export function newNamespaceReader(now: () => number, client: () => Client): NamespaceReader {
  const changes = restlessness(now);
  let told: NamespacesSeen | null = null;
  return {
    async list() {
      const asked = { source: "namespaces", called: "namespaces", grant: "list and watch on namespaces" } as const;
      const found = await attempted(asked, () =>
        client().list({
          path: namespacesPath,
          accept: metadataListOnly,
          most: mostNamespaces,
          keep: (page) => page.filter(isStanding),
        }),
      );
      if (found.kind === "missing") return { found, resourceVersion: null };
      const { items, resourceVersion } = found.done;
      const names = namesInOrder(items.map((it) => [namespaceName(it), markIn(it)]));
      return { found: { kind: "listed", names }, resourceVersion };
    },
    steady(found, placed) {
      const before = told;
      // What nobody asks about is recorded now and then, however often it changes.
      const isAlike = (a: NamespacesSeen, b: NamespacesSeen): boolean =>
        a.kind === "listed" && b.kind === "listed"
          ? [...placed].every((it) => a.names.has(it) === b.names.has(it))
          : isSame(a, b);
      const isTold =
        before === null ||
        (isAlike(before, found) ? !isSame(before, found) : changes.believed(before, found, isAlike) === found);
      if (isTold) told = found;
      return isTold ? found : before;
    },
  };
}

const isSame = (a: NamespacesSeen, b: NamespacesSeen): boolean =>
  a.kind === "listed"
    ? b.kind === "listed" && sameMap(a.names, b.names)
    : b.kind === "missing" && a.missing.code === b.missing.code && a.missing.message === b.missing.message;

/** Names with their marks, sorted: a list is the same in whatever order a member tells it. */
export const namesInOrder = (names: readonly (readonly [string, string])[]): ReadonlyMap<string, string> =>
  new Map([...names].sort(([a], [b]) => compareText(a, b)));

/** A name that Kubernetes accepts, of one that does not go away: nothing else gets into the record. */
export const isStanding = (it: JsonObject): boolean =>
  /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(namespaceName(it)) &&
  memberAt(it, "metadata", "deletionTimestamp") === null;

/** The name of an object; empty where it says none. */
export const namespaceName = (it: JsonObject): string => textOf(memberAt(it, "metadata", "name")) ?? "";

/** Our label, as far as it is a label. */
export function markIn(it: JsonObject): string {
  const label = textOf(memberAt(it, "metadata", "labels", placementLabel)) ?? "";
  return /^[A-Za-z0-9](?:[-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/.test(label) ? label : "";
}
