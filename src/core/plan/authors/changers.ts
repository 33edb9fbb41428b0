import type { CommitFact, PathChange } from "../../model/commit.ts";
import type { History } from "../../model/history.ts";
import type { ObjectKey } from "../../model/manifest.ts";
import type { Commit } from "../../model/value.ts";
import { reachable } from "./ancestry.ts";
import type { DormantInput } from "./dormant-inputs.ts";
import { dropsParentChanges } from "./dropped-by-merge.ts";
import { changedDocuments, contentRead, isChanged, isFleet, noContent } from "./file-changes.ts";
import type { ChangedDocuments, Inputs } from "./inputs.ts";
import { isUnder, type Roots } from "./read-roots.ts";

/** Which commits are looked at. */
interface CommitRange {
  /** What these have was approved, or was there when trust began. */
  readonly settled: readonly Commit[];
  /** What came after this does not matter; null: all that the head has does. */
  readonly until: Commit | null;
}

/** A commit, or one that nobody could look at. */
export type Changer = CommitFact | "unknown";

/** Every document that was changed in a span. */
export function documentsChangedIn({ settled, until }: CommitRange, history: History): ChangedDocuments {
  const old = union(settled, history);
  const facts = [...reachable([until ?? history.head], history.commits, old)].flatMap(
    (it) => history.commits.get(it) ?? [],
  );
  const found = facts.flatMap((it) => [...changedDocuments(it, history).values()].flat());
  return {
    before: [...new Set(found.flatMap((it) => it.before))],
    after: [...new Set(found.flatMap((it) => it.after))],
  };
}

/**
 * The commits of a span that changed what a decision read (`trust/README.md#t-06`, `#t-12`: every one counts, not what
 * is left of them all).
 */
export function changersOf({ settled, until }: CommitRange, inputs: Inputs, history: History): readonly Changer[] {
  const { head, commits } = history;
  const old = union(settled, history);
  const tip = until ?? head;
  // Rewritten away, or never looked at: nobody knows what it changed.
  if (!old.has(tip) && !commits.has(tip)) return ["unknown"];
  const facts = [...reachable([tip], commits, old)].flatMap((id) => commits.get(id) ?? []);
  const context = changeContext(facts, inputs, history);
  const merging = {
    facts,
    commits,
    standing: inputs.files,
    matters: (fact: CommitFact, path: string) => matters(fact, path, context),
  };
  const found = facts.filter(
    (it) => hasChanged(it, context) || (it.merge === "unclean" && dropsParentChanges(it, merging)),
  );
  return settled.every((it) => history.beyond.has(it) || old.has(head)) ? found : [...found, "unknown"];
}

/**
 * The commits to which sleepers are owed: since each of them came to be, however long ago. What came to objects after
 * `version` is not brought; null: all that the head has is.
 */
export function dormantChangers(
  sleepers: readonly DormantInput[],
  { first, version }: { readonly first: Commit; readonly version: Commit | null },
  history: History,
): readonly Changer[] {
  if (sleepers.length === 0) return [];
  const known = touching(commitsSince(history.head, first, history), history);
  const brought = version === null ? known : touching(commitsSince(version, first, history), history);
  const isKnown = history.beyond.has(first) || union([first], history).has(history.head);
  return sleepers.flatMap((it): readonly Changer[] => {
    const { found, isWhole } = sinceCreation(it, it.isObject ? brought : known, history);
    return isWhole || isKnown ? found : [...found, "unknown"];
  });
}

/** Whether there is a sleeper of which nobody knows yet how it came to be: one has to look back to the beginning. */
export function isOriginUnknown(sleepers: readonly DormantInput[], first: Commit, history: History): boolean {
  if (sleepers.length === 0) return false;
  const known = touching(commitsSince(history.head, first, history), history);
  return sleepers.some((it) => !sinceCreation(it, known, history).isWhole);
}

const commitsSince = (tip: Commit, first: Commit, history: History): readonly CommitFact[] =>
  [...reachable([tip], history.commits, union([first], history))].flatMap((it) => history.commits.get(it) ?? []);

/** The commits that touched each document: of a thousand clusters, each may be a sleeper, and of ten thousand commits few are its own. */
type Touching = ReadonlyMap<ObjectKey, readonly CommitFact[]>;

function touching(facts: readonly CommitFact[], history: History): Touching {
  const found = new Map<ObjectKey, CommitFact[]>();
  for (const fact of facts)
    for (const key of changedDocuments(fact, history).keys()) {
      const others = found.get(key);
      if (others === undefined) found.set(key, [fact]);
      else others.push(fact);
    }
  return found;
}

function sinceCreation(
  { key, read }: DormantInput,
  known: Touching,
  history: History,
): { readonly found: readonly CommitFact[]; readonly isWhole: boolean } {
  const touched = (known.get(key) ?? []).flatMap((fact) => {
    const places = changedDocuments(fact, history).get(key) ?? [];
    const before = contentRead(
      places.flatMap((it) => it.before),
      read,
    );
    const after = contentRead(
      places.flatMap((it) => it.after),
      read,
    );
    return before === after ? [] : [{ fact, isBorn: before === noContent, isGone: after === noContent }];
  });
  const gone = touched.filter((it) => it.isGone).map(({ fact }) => fact.commit);
  const over = reachable(gone, history.commits, new Set());
  const found = touched.filter(({ fact }) => !over.has(fact.commit));
  return { found: found.map(({ fact }) => fact), isWhole: found.some((it) => it.isBorn) };
}

const union = (commits: readonly Commit[], { commits: known }: History): ReadonlySet<Commit> =>
  reachable(commits, known, new Set());

/** Whether a commit changed what is read; of a merge, what is in none of its parents. */
function hasChanged(fact: CommitFact, { inputs, history, views, over }: ChangeContext): boolean {
  for (const [key, places] of changedDocuments(fact, history)) {
    if (over.get(key)?.has(fact.commit) === true) continue;
    for (const { isRead, moved } of views) {
      const [here, elsewhere] = partition(places, (it) => isRead(it.path));
      if (isChanged(here, inputs.read)) return true;
      if (elsewhere.some((it) => moved.has(`${key} ${it.path}`) && isChanged([it], inputs.read))) return true;
    }
  }
  // A file that cannot be taken apart may have held anything.
  return fact.changes.some(
    (it) =>
      isOpaque(it, history) &&
      (inputs.paths.has(it.path) || views.some(({ moved }) => moved.has(`${it.after} ${it.path}`))),
  );
}

/** Whether anything that is read in the file at a path is another after a commit. */
const matters = (fact: CommitFact, path: string, { inputs, history, views }: ChangeContext): boolean =>
  views.some(({ isRead }) => isRead(path)) &&
  [...changedDocuments(fact, history).values()].flat().some((it) => it.path === path && isChanged([it], inputs.read));

interface ChangeContext {
  readonly inputs: Inputs;
  readonly history: History;
  /** What was read since, by the roots of each time: whoever moved a file changed what one of them reads. */
  readonly views: readonly RootsView[];
  /** By document: the commits that led to what is carried of it. */
  readonly over: ReadonlyMap<ObjectKey, ReadonlySet<Commit>>;
}

interface RootsView {
  readonly isRead: (path: string) => boolean;
  /** Where documents and files stood before they were moved to where they are read: who wrote them there wrote them. */
  readonly moved: ReadonlySet<string>;
}

function changeContext(facts: readonly CommitFact[], inputs: Inputs, history: History): ChangeContext {
  return {
    inputs,
    history,
    views: viewsOf(inputs).map((isRead) => ({ isRead, moved: movedIn(facts, { inputs, isRead }, history) })),
    over: commitsBehindCarried(facts, inputs, history),
  };
}

/** What is read, or was, at any time; and, where roots were changed, what each of them reads. */
function viewsOf({ roots, paths }: Inputs): readonly RootsView["isRead"][] {
  const union: Roots = roots.some((it) => it.length === 0) ? [] : roots.flat();
  const all = (path: string): boolean => mayBeRead(path, union) || (paths.has(path) && !isTrustFile(path));
  const each = roots.map(
    (own) =>
      (path: string): boolean =>
        mayBeRead(path, own),
  );
  return roots.length === 1 ? [all] : [all, ...each];
}

function partition<T>(all: readonly T[], isFirst: (it: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isFirst), all.filter((it) => !isFirst(it))];
}

/**
 * Where documents and files stood, outside of what is read, before a commit of these moved them in. The content may have been
 * edited there, by others than whoever moved it.
 */
function movedIn(
  facts: readonly CommitFact[],
  { inputs, isRead }: { readonly inputs: Inputs; readonly isRead: RootsView["isRead"] },
  history: History,
): RootsView["moved"] {
  const moved = new Set<string>();
  for (const fact of facts) {
    for (const [key, places] of changedDocuments(fact, history)) {
      const [here, elsewhere] = partition(places, (it) => isRead(it.path));
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
function commitsBehindCarried(
  facts: readonly CommitFact[],
  { isCarried }: Inputs,
  history: History,
): ChangeContext["over"] {
  const began = new Map<ObjectKey, Commit[]>();
  const reached = new Map<ObjectKey, Commit[]>();
  const note = (all: Map<ObjectKey, Commit[]>, key: ObjectKey, commit: Commit): void =>
    void all.set(key, [...(all.get(key) ?? []), commit]);
  for (const fact of facts)
    for (const [key, places] of changedDocuments(fact, history)) {
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

/** Whether what stands at a path is read with these roots. */
const mayBeRead = (path: string, roots: Roots): boolean =>
  !isTrustFile(path) && (isUnder(path, roots) || isFleet(path));

const isOpaque = ({ before, after }: PathChange, { documents }: History): boolean =>
  [before, after].some((it) => it !== null && !documents.has(it));

const isTrustFile = (path: string): boolean => /^(?:approvals|trust)\//.test(path);
