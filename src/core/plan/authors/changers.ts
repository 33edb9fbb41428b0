import type { CommitFact, PathChange } from "../../model/commit.ts";
import { defaultFleet } from "../../model/fleet.ts";
import { fleetDocumentKey, type History, type PastDocument } from "../../model/history.ts";
import { canonicalJson, type Json } from "../../model/json.ts";
import type { ObjectKey } from "../../model/manifest.ts";
import { rememberedPair } from "../../model/memo.ts";
import { type Commit, compareText } from "../../model/value.ts";
import { reachable } from "./ancestry.ts";
import { dropsASide } from "./dropped-side.ts";
import { type Inputs, isUnder } from "./inputs.ts";
import type { Sleeper } from "./sleepers.ts";

/** Which commits are looked at. */
export interface Span {
  /** What these have was approved, or was there when trust began. */
  readonly settled: readonly Commit[];
  /** What came after this does not matter; null: all that the head has does. */
  readonly until: Commit | null;
}

/** A commit, or one that nobody could look at. */
export type Changer = CommitFact | "unknown";

/** Every document that was changed in a span, as it was before and after each time. */
export function changedIn({ settled, until }: Span, history: History): readonly PastDocument[] {
  const old = union(settled, history);
  const facts = [...reachable([until ?? history.head], history.commits, old)].flatMap(
    (it) => history.commits.get(it) ?? [],
  );
  const found = facts.flatMap((it) => [...documentsOf(it, history).values()].flat());
  return [...new Set(found.flatMap(({ before, after }) => [...before, ...after]))];
}

/**
 * The commits of a span that changed what a decision read (`trust/README.md#t-06`, `#t-12`: every one counts, not what
 * is left of them all).
 */
export function changersOf({ settled, until }: Span, inputs: Inputs, history: History): readonly Changer[] {
  const { head, commits } = history;
  const old = union(settled, history);
  const tip = until ?? head;
  // Rewritten away, or never looked at: nobody knows what it changed.
  if (!old.has(tip) && !commits.has(tip)) return ["unknown"];
  const facts = [...reachable([tip], commits, old)].flatMap((id) => commits.get(id) ?? []);
  const scene = sceneOf(facts, inputs, history);
  const merging = {
    facts,
    commits,
    standing: inputs.files,
    matters: (fact: CommitFact, path: string) => matters(fact, path, scene),
  };
  const found = facts.filter((it) => hasChanged(it, scene) || (it.merge === "unclean" && dropsASide(it, merging)));
  return settled.every((it) => history.beyond.has(it) || old.has(head)) ? found : [...found, "unknown"];
}

/**
 * The commits to which sleepers are owed: since each of them came to be, however long ago. What came to objects after
 * `version` is not brought; null: all that the head has is.
 */
export function wakersOf(
  sleepers: readonly Sleeper[],
  { first, version }: { readonly first: Commit; readonly version: Commit | null },
  history: History,
): readonly Changer[] {
  if (sleepers.length === 0) return [];
  const known = touching(all(history.head, first, history), history);
  const brought = version === null ? known : touching(all(version, first, history), history);
  const isKnown = history.beyond.has(first) || union([first], history).has(history.head);
  return sleepers.flatMap((it): readonly Changer[] => {
    const { found, isWhole } = sinceCreation(it, it.isObject ? brought : known, history);
    return isWhole || isKnown ? found : [...found, "unknown"];
  });
}

/** Whether there is a sleeper of which nobody knows yet how it came to be: one has to look back to the beginning. */
export function isHalfKnown(sleepers: readonly Sleeper[], first: Commit, history: History): boolean {
  if (sleepers.length === 0) return false;
  const known = touching(all(history.head, first, history), history);
  return sleepers.some((it) => !sinceCreation(it, known, history).isWhole);
}

const all = (tip: Commit, first: Commit, history: History): readonly CommitFact[] =>
  [...reachable([tip], history.commits, union([first], history))].flatMap((it) => history.commits.get(it) ?? []);

/** The commits that touched each document: of a thousand clusters, each may be a sleeper, and of ten thousand commits few are its own. */
type Touching = ReadonlyMap<ObjectKey, readonly CommitFact[]>;

function touching(facts: readonly CommitFact[], history: History): Touching {
  const found = new Map<ObjectKey, CommitFact[]>();
  for (const fact of facts)
    for (const key of documentsOf(fact, history).keys()) {
      const others = found.get(key);
      if (others === undefined) found.set(key, [fact]);
      else others.push(fact);
    }
  return found;
}

function sinceCreation(
  { key, read }: Sleeper,
  known: Touching,
  history: History,
): { readonly found: readonly CommitFact[]; readonly isWhole: boolean } {
  const touched = (known.get(key) ?? []).flatMap((fact) => {
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

/** Whether a commit changed what is read; of a merge, what is in none of its parents. */
function hasChanged(fact: CommitFact, { inputs, history, moved, over }: Scene): boolean {
  for (const [key, places] of documentsOf(fact, history)) {
    if (over.get(key)?.has(fact.commit) === true) continue;
    const [here, elsewhere] = parted(places, (it) => isAt(it.path, inputs));
    if (isOther(here, inputs.read)) return true;
    if (elsewhere.some((it) => moved.has(`${key} ${it.path}`) && isOther([it], inputs.read))) return true;
  }
  // A file that cannot be taken apart may have held anything.
  return fact.changes.some(
    (it) => isOpaque(it, history) && (inputs.paths.has(it.path) || moved.has(`${it.after} ${it.path}`)),
  );
}

/** Whether anything that is read in the file at a path is another after a commit. */
const matters = (fact: CommitFact, path: string, { inputs, history }: Scene): boolean =>
  isAt(path, inputs) &&
  [...documentsOf(fact, history).values()].flat().some((it) => it.path === path && isOther([it], inputs.read));

interface Scene {
  readonly inputs: Inputs;
  readonly history: History;
  /** Where documents and files stood before they were moved to where they are read: who wrote them there wrote them. */
  readonly moved: ReadonlySet<string>;
  /** By document: the commits that led to what is carried of it. */
  readonly over: ReadonlyMap<ObjectKey, ReadonlySet<Commit>>;
}

function sceneOf(facts: readonly CommitFact[], inputs: Inputs, history: History): Scene {
  return { inputs, history, moved: movedIn(facts, inputs, history), over: decidedIn(facts, inputs, history) };
}

function parted<T>(all: readonly T[], isFirst: (it: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isFirst), all.filter((it) => !isFirst(it))];
}

function movedIn(facts: readonly CommitFact[], inputs: Inputs, history: History): Scene["moved"] {
  const moved = new Set<string>();
  for (const fact of facts) {
    for (const [key, places] of documentsOf(fact, history)) {
      const [here, elsewhere] = parted(places, (it) => isAt(it.path, inputs));
      if (!here.some((it) => it.after.length > 0)) continue;
      for (const it of elsewhere) if (it.after.length === 0) moved.add(`${key} ${it.path}`);
    }
    for (const { path, before, after } of fact.changes)
      if (after === null && fact.changes.some((it) => it.after === before && inputs.paths.has(it.path)))
        moved.add(`${before} ${path}`);
  }
  return moved;
}

/**
 * What of a span led to what is carried: a target is younger than the commit that its objects came with. Not where the
 * document said the same before all of it: then it went and came back.
 */
function decidedIn(facts: readonly CommitFact[], { isCarried }: Inputs, history: History): Scene["over"] {
  const began = new Map<ObjectKey, Commit[]>();
  const reached = new Map<ObjectKey, Commit[]>();
  const note = (all: Map<ObjectKey, Commit[]>, key: ObjectKey, commit: Commit): void =>
    void all.set(key, [...(all.get(key) ?? []), commit]);
  for (const fact of facts)
    for (const [key, places] of documentsOf(fact, history)) {
      if (places.some((it) => it.before.some(isCarried))) note(began, key, fact.commit);
      if (places.some((it) => it.after.some(isCarried))) note(reached, key, fact.commit);
    }
  const over = new Map<ObjectKey, ReadonlySet<Commit>>();
  for (const [key, commits] of reached)
    for (const commit of commits) {
      const led = reachable([commit], history.commits, new Set());
      if (!began.get(key)?.some((it) => led.has(it))) over.set(key, new Set([...(over.get(key) ?? []), ...led]));
    }
  return over;
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

const isFleet = (path: string): boolean => path === "fleet.yaml" || path === "fleet.yml";
const isAnswer = (path: string): boolean => /^(?:approvals|trust)\//.test(path);
