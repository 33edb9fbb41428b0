import { defaultFleet } from "../model/fleet.ts";
import type { History } from "../model/history.ts";
import { canonicalJson, type Json } from "../model/json.ts";
import type { ObjectKey } from "../model/manifest.ts";
import { rememberedPair } from "../model/memo.ts";
import { fleetDocument, type PastDocument } from "../model/past-document.ts";
import type { CommitFact, PathChange } from "../model/signature.ts";
import { type Commit, compareText } from "../model/value.ts";
import { reachable } from "./ancestry.ts";
import { type Inputs, isUnder } from "./inputs.ts";
import type { Sleepers } from "./sleepers.ts";

/** Which commits are looked at. */
export interface Span {
  /** What these have was approved, or was there when trust began. */
  readonly settled: readonly Commit[];
  /** What came after this does not matter; null: all that the head has does. */
  readonly until: Commit | null;
}

/** A commit, or one that nobody could look at. */
export type Changer = CommitFact | "unknown";

/** The commits of a span that changed what a decision read (`security.md` T-06, T-12: every one counts, not what is left of them all). */
export function changersOf({ settled, until }: Span, inputs: Inputs, history: History): readonly Changer[] {
  const { head, commits } = history;
  const old = union(settled, history);
  const tip = until ?? head;
  // Rewritten away, or never looked at: nobody knows what it changed.
  if (!old.has(tip) && !commits.has(tip)) return ["unknown"];
  const facts = [...reachable([tip], commits, old)].flatMap((id) => commits.get(id) ?? []);
  const scene = { inputs, history, moved: movedIn(facts, inputs, history) };
  const found = facts.filter((it) => hasChanged(it, scene));
  return settled.every((it) => history.beyond.has(it) || old.has(head)) ? found : [...found, "unknown"];
}

/** The commits to which sleepers are owed: since each of them came to be, however long ago. */
export function wakersOf(sleepers: Sleepers, first: Commit, history: History): readonly Changer[] {
  const facts = all(first, history);
  const isKnown = history.beyond.has(first) || union([first], history).has(history.head);
  return [...sleepers.keys].flatMap((key): readonly Changer[] => {
    const { found, isWhole } = sinceCreation(key, sleepers, facts, history);
    return isWhole || isKnown ? found : [...found, "unknown"];
  });
}

/** Whether there is a sleeper of which nobody knows yet how it came to be: one has to look back to the beginning. */
export const isHalfKnown = (sleepers: Sleepers, first: Commit, history: History): boolean => {
  const facts = all(first, history);
  return [...sleepers.keys].some((key) => !sinceCreation(key, sleepers, facts, history).isWhole);
};

const all = (first: Commit, history: History): readonly CommitFact[] =>
  [...reachable([history.head], history.commits, union([first], history))].flatMap(
    (it) => history.commits.get(it) ?? [],
  );

function sinceCreation(
  key: ObjectKey,
  { read }: Sleepers,
  facts: readonly CommitFact[],
  history: History,
): { readonly found: readonly CommitFact[]; readonly isWhole: boolean } {
  const touched = facts.flatMap((fact) => {
    const places = documentsOf(fact, history).get(key) ?? [];
    const before = shown(
      places.flatMap((it) => it.before),
      read,
    );
    const after = shown(
      places.flatMap((it) => it.after),
      read,
    );
    return before === after ? [] : [{ fact, isBorn: before === nothing, isGone: after === nothing }];
  });
  const gone = touched.filter((it) => it.isGone).map(({ fact }) => fact.commit);
  const over = reachable(gone, history.commits, new Set());
  const found = touched.filter(({ fact }) => !over.has(fact.commit));
  return { found: found.map(({ fact }) => fact), isWhole: found.some((it) => it.isBorn) };
}

const union = (commits: readonly Commit[], { commits: known }: History): ReadonlySet<Commit> =>
  reachable(commits, known, new Set());

/** Whether a commit changed what is read; of a merge, only what is in none of its parents. */
function hasChanged(fact: CommitFact, scene: Scene): boolean {
  const { inputs, history, moved } = scene;
  const isMeant = (key: ObjectKey, path: string): boolean => isAt(path, inputs) || moved.has(`${key} ${path}`);
  for (const [key, places] of documentsOf(fact, history))
    if (
      isOther(
        places.filter((it) => isAt(it.path, inputs)),
        inputs.read,
      )
    )
      return true;
    else if (places.some((it) => !isAt(it.path, inputs) && isMeant(key, it.path) && isOther([it], inputs.read)))
      return true;
  // A file that cannot be taken apart may have held anything.
  return fact.changes.some(
    (it) => isOpaque(it, history) && (inputs.paths.has(it.path) || moved.has(`${it.after} ${it.path}`)),
  );
}

interface Scene {
  readonly inputs: Inputs;
  readonly history: History;
  /** Where documents and files stood before they were moved to where they are read: who wrote them there wrote them. */
  readonly moved: ReadonlySet<string>;
}

function movedIn(facts: readonly CommitFact[], inputs: Inputs, history: History): ReadonlySet<string> {
  const moved = new Set<string>();
  for (const fact of facts) {
    for (const [key, places] of documentsOf(fact, history)) {
      if (!places.some((it) => isAt(it.path, inputs) && it.after.length > 0)) continue;
      for (const it of places) if (!isAt(it.path, inputs) && it.after.length === 0) moved.add(`${key} ${it.path}`);
    }
    for (const { path, before, after } of fact.changes)
      if (after === null && fact.changes.some((it) => it.after === before && inputs.paths.has(it.path)))
        moved.add(`${before} ${path}`);
  }
  return moved;
}

/** Whether what stands at a path may be read: it is, or it was. */
const isAt = (path: string, { paths, roots }: Inputs): boolean =>
  !isAnswer(path) && (isUnder(path, roots) || isFleet(path) || paths.has(path));

const isOpaque = ({ before, after }: PathChange, { documents }: History): boolean =>
  [before, after].some((it) => it !== null && !documents.has(it));

type Read = (document: PastDocument) => Json | null;

const isOther = (places: readonly Place[], read: Read): boolean =>
  shown(
    places.flatMap((it) => it.before),
    read,
  ) !==
  shown(
    places.flatMap((it) => it.after),
    read,
  );

const nothing = "[]";

/** What is read of all documents of one identity. */
function shown(documents: readonly PastDocument[], read: Read): string {
  const all = documents.flatMap((it) => {
    const found = read(it);
    return found === null ? [] : [canonicalJson(found)];
  });
  return JSON.stringify(all.sort(compareText));
}

/** What a commit made of the documents of one identity in one file. */
interface Place {
  readonly path: string;
  readonly before: readonly PastDocument[];
  readonly after: readonly PastDocument[];
}

/** What a commit changed, by document. */
const documentsOf = (fact: CommitFact, { documents }: History): ReadonlyMap<ObjectKey, readonly Place[]> =>
  placesIn(fact, documents);

const placesIn = rememberedPair(
  ({ changes }: CommitFact, documents: History["documents"]): ReadonlyMap<ObjectKey, readonly Place[]> => {
    const found = new Map<ObjectKey, Place[]>();
    for (const { path, before, after } of changes) {
      const [was, is] = [before, after].map((it) => (it === null ? [] : (documents.get(it) ?? [])));
      for (const key of new Set([...(was ?? []), ...(is ?? [])].map((it) => it.key))) {
        if (key === fleetDocument && !isFleet(path)) continue;
        const [old = [], now = []] = [was, is].map((all) => all?.filter((it) => it.key === key));
        const isFile = key === fleetDocument;
        const place = { path, before: isFile ? orNone(old) : old, after: isFile ? orNone(now) : now };
        found.set(key, [...(found.get(key) ?? []), place]);
      }
    }
    return found;
  },
);

/** A repository without `fleet.yaml` is read as if it said this. */
const orNone = (documents: readonly PastDocument[]): readonly PastDocument[] =>
  documents.length > 0 ? documents : [{ key: fleetDocument, said: { kind: "fleet", fleet: defaultFleet } }];

const isFleet = (path: string): boolean => path === "fleet.yaml" || path === "fleet.yml";
const isAnswer = (path: string): boolean => /^(?:approvals|trust)\//.test(path);
