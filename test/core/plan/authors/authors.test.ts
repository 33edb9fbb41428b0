// Who has a part in a change, held against a slow oracle that plans it with one edit after the other left out.
import { expect, test } from "vitest";
import type { SignatureFact } from "../../../../src/core/model/commit.ts";
import { defaultFleet } from "../../../../src/core/model/fleet.ts";
import { objectKey } from "../../../../src/core/model/manifest.ts";
import type { BlobId, ClusterName, Commit } from "../../../../src/core/model/value.ts";
import { plan } from "../../../../src/core/plan/plan.ts";
import { clusterOf, envelopeOf, keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../../intent.ts";
import { walkLength } from "../../../long-walks.ts";
import { World, write } from "../../../world.ts";
import { random } from "../../schedule/random.ts";
import { somebody } from "../../trust/scene.ts";
import { by, settle, trust, trustedBy, web } from "../approval/trusted-world.ts";
import { grant, target } from "../guard/guarded-world.ts";

/** Everything that people edit, one word each; null: it is not there. */
const slots = [
  ...(["a", "b", "x", "o", "p", "tier", "team", "tier3", "selects", "file", "place"] as const),
  // A file that may lie outside of the roots, and the member that stands behind a name.
  ...(["far", "roots", "context"] as const),
  // Another placement in the same file, with an object beside those of the first.
  ...(["beside", "y"] as const),
  // An object in an envelope, and whether another one is in there with it.
  ...(["e", "inside"] as const),
  // An object, and whether its file lies in a folder that is not read.
  ...(["m", "away"] as const),
] as const;
type Slot = (typeof slots)[number];
type State = Readonly<Record<Slot, string | null>>;

/** One edit of one thing, in commit `at`. */
interface Edit {
  readonly at: number;
  readonly slot: Slot;
  readonly from: string | null;
  readonly to: string | null;
}

const begin: State = {
  a: "0",
  b: null,
  x: null,
  o: null,
  p: null,
  tier: null,
  team: null,
  tier3: null,
  selects: "web",
  file: null,
  place: null,
  far: null,
  roots: null,
  context: null,
  beside: "all",
  y: "0",
  e: "0",
  inside: null,
  m: "0",
  away: null,
};
const narrow = ["resources", "placements", "clusters", "overrides"];

function apply(world: World, state: State): void {
  const { tier, team, tier3, place } = state;
  const words = (all: Readonly<Record<string, string | null>>): readonly string[] =>
    Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [`${key}=${value}`]));
  world.join(clusterOf("m1", ["env=canary"]));
  world.join(clusterOf("m2", ["env=prod", ...words({ tier, team })]));
  world.join(clusterOf("m3", ["env=prod", ...words({ tier: tier3 })]));
  for (const name of ["web", "shop", "beside"]) write(world, objectOf("Namespace", name, "0"));
  write(world, objectOf("ConfigMap", "shop/keep", "0"));
  const kept = objectOf("ConfigMap", "web/kept", "0");
  const [read, unread] = state.roots === null ? [world.objects, world.unread] : [world.unread, world.objects];
  unread.delete(keyOf("ConfigMap", "web/kept"));
  read.set(keyOf("ConfigMap", "web/kept"), { ...kept, source: { ...kept.source, path: "more/kept.yaml" } });
  for (const [slot, path] of [
    ["a", "web/a"],
    ["b", "web/b"],
    ["x", "shop/x"],
    ["y", "beside/y"],
    ["far", "web/far"],
  ] as const) {
    const value = state[slot];
    const made = objectOf("ConfigMap", path, value ?? "");
    const file =
      slot === "far" ? "more/far.yaml" : place !== null && slot !== "a" ? "resources/both.yaml" : made.source.path;
    const isRead = state.roots === null || slot !== "far";
    for (const all of [world.objects, world.unread]) all.delete(keyOf("ConfigMap", path));
    const stored = { ...made, source: { ...made.source, path: file } };
    if (value !== null) (isRead ? world.objects : world.unread).set(keyOf("ConfigMap", path), stored);
  }
  const isInside = state.inside !== null && state.b !== null;
  if (isInside) world.objects.delete(keyOf("ConfigMap", "web/b"));
  const wrapped = [
    ...(state.e === null ? [] : [objectOf("ConfigMap", "web/e", state.e)]),
    ...(isInside ? [objectOf("ConfigMap", "web/b", state.b ?? "")] : []),
  ];
  const envelope = envelopeOf("web/around", wrapped);
  if (wrapped.length === 0) world.objects.delete(objectKey(envelope.id));
  else write(world, envelope);
  for (const all of [world.objects, world.unread]) all.delete(keyOf("ConfigMap", "web/m"));
  const moved = objectOf("ConfigMap", "web/m", state.m ?? "");
  const isAway = state.away !== null;
  const source = { ...moved.source, path: isAway ? "drafts/m.yaml" : "resources/m.yaml" };
  (isAway && state.roots !== null ? world.unread : world.objects).set(keyOf("ConfigMap", "web/m"), {
    ...moved,
    source,
  });
  for (const [slot, path, label] of [
    ["o", "web/a", "tier=gold"],
    ["p", "shop/x", "env=prod"],
  ] as const) {
    const value = state[slot];
    if (value === null) world.overrides.delete(slot);
    else world.overrides.set(slot, overrideOf(slot, keyOf("ConfigMap", path), label, value));
  }
  const options = [`ns=${state.selects}`, "unavailable=3"];
  const placement = placementOf({ name: "web", policy: policyOf("PickAll", undefined), options });
  world.placements.set(web, placement);
  const policy = policyOf("PickAll", state.beside === "all" ? undefined : "env=canary");
  const other = placementOf({ name: "beside", policy, options: ["unavailable=3"] });
  world.placements.set(other.key, { ...other, source: placement.source });
  const contexts = new Map(state.context === null ? [] : [["m2" as ClusterName, state.context]]);
  const isPlain = state.roots === null && state.context === null;
  world.fleet = isPlain ? defaultFleet : { ...defaultFleet, contexts, roots: state.roots === null ? [] : narrow };
  if (state.file === null) world.others.delete("docs/old.md");
  else world.others.set("docs/old.md", state.file as BlobId);
}

const writer = (at: number): string => `writer-${at}-`;

/** The clusters that are protected. */
const guardedClusters: readonly string[] = ["m2", "m3"];

const planned = new Map<string, readonly string[]>();

/** What a cluster is to carry in a state, by the real planner, where nobody has to be asked. */
function contentOf(state: State, cluster: ClusterName): string {
  const key = JSON.stringify(state);
  const found = planned.get(key) ?? contents(state);
  planned.set(key, found);
  return found[guardedClusters.indexOf(cluster)] ?? "none";
}

function contents(state: State): readonly string[] {
  const world = new World();
  world.commit(() => apply(world, state));
  const bindings = plan(world.look()).ledger.placements.get(web)?.bindings;
  return guardedClusters.map((it) => {
    const content = bindings?.get(it as ClusterName)?.target?.digest ?? "none";
    return it === "m2" ? `${content} on ${state.context}` : content;
  });
}

function stateAfter(edits: readonly Edit[], initial: State): State {
  const state: Record<Slot, string | null> = { ...initial };
  // An edit of what is not there, because what made it so was left out, is left out as well.
  for (const { slot, from, to } of edits) if (state[slot] === from) state[slot] = to;
  return state;
}

/** Every state in which each thing, but one, is as it was at some time since; at most so many of them. */
function* between(edits: readonly Edit[], base: number, but: Slot, initial: State): Generator<State> {
  const start = stateAfter(
    edits.filter((it) => it.at < base),
    initial,
  );
  const values = (slot: Slot): readonly (string | null)[] => [
    ...new Set([start[slot], ...edits.filter((it) => it.at >= base && it.slot === slot).map((it) => it.to)]),
  ];
  const vary = function* (state: State, [slot, ...rest]: readonly Slot[]): Generator<State> {
    if (slot === undefined) yield state;
    else for (const value of values(slot)) yield* vary({ ...state, [slot]: value }, rest);
  };
  yield* vary(
    start,
    slots.filter((it) => it !== but && values(it).length > 1),
  );
}

/**
 * The commits without which the change of a cluster would be another one. An edit since what is carried counts if it makes a difference
 * at any time since, in whatever order the others came; an older one if it made none then, what it
 * wrote is there, and makes one now.
 */
function oracle(edits: readonly Edit[], base: number, cluster: ClusterName, initial: State): Set<number> {
  const after = (all: readonly Edit[]): State => stateAfter(all, initial);
  const old = (all: readonly Edit[]): State => after(all.filter((it) => it.at < base));
  const found = new Set<number>();
  for (const edit of edits) {
    const { at, slot, from, to } = edit;
    const rest = edits.filter((it) => it !== edit);
    const differs = (a: State, b: State): boolean => contentOf(a, cluster) !== contentOf(b, cluster);
    const isEffective =
      at < base
        ? isThere(edit, edits) && !differs(old(rest), old(edits)) && differs(after(rest), after(edits))
        : [...between(edits, base, slot, initial)].some((it) =>
            differs({ ...it, [slot]: from }, { ...it, [slot]: to }),
          );
    if (isEffective) found.add(at);
  }
  return found;
}

/** Whether what came of an edit is still there, as it was or edited: what was taken away is read by nobody. */
const isThere = ({ at, slot }: Edit, edits: readonly Edit[]): boolean =>
  edits.every((it) => it.slot !== slot || it.at < at || it.to !== null);

/** A random repository, its edits, and the change that waits in the end. */
function history(seed: number): {
  readonly edits: readonly Edit[];
  readonly base: number;
  readonly world: World;
  readonly initial: State;
} {
  const dice = random(seed);
  const world = new World();
  const file = trust({
    protectedTargets: [target({ clusters: guardedClusters, namespaces: ["*"], principals: ["ann"] })],
  });
  const writers = Array.from({ length: 20 }, (_, at) => somebody(writer(at)));
  const principals = new Map([...file.principals, ...writers.map((it) => [it.name, it] as const)]);
  // Where every folder is read, moving a file changes nothing: in some repositories only some ever are, and files move.
  const moves = seed % 4 === 3;
  const initial: State = moves ? { ...begin, roots: "narrow" } : begin;
  const own: readonly Slot[] = moves ? ["a", "tier", "o", "m", "away", "roots", "far"] : slots.slice(0, -2);
  world.commit(() => apply(world, initial), by("dave"));
  trustedBy(world, { ...file, principals });
  grant(world);
  const edits: Edit[] = [];
  let [state, count] = [initial, 0];
  const base = 2 + dice.below(6);
  const value = (slot: Slot): string | null => {
    if (slot === "selects") return state.selects === "web" ? "web,shop" : "web";
    if (slot === "tier" || slot === "tier3") return state[slot] === null ? "gold" : null;
    if (slot === "place") return state.place === null ? "both" : null;
    if (slot === "roots") return state.roots === null ? "narrow" : null;
    if (slot === "context") return state.context === null ? "elsewhere" : null;
    if (slot === "inside") return state.inside === null ? "inside" : null;
    if (slot === "away") return state.away === null ? "away" : null;
    if (slot === "beside") return state.beside === "all" ? "canary" : "all";
    const isGone = slot !== "a" && slot !== "m" && state[slot] !== null && dice.below(3) === 0;
    count += 1;
    return isGone ? null : `${slot}${count}`;
  };
  const commit = (at: number, only?: Slot): void => {
    const some = dice.shuffled(own).slice(0, 1 + dice.below(2));
    // Mostly, what is carried is all there was when it came.
    const chosen =
      only !== undefined ? [only] : at === base - 1 && seed % 4 > 0 ? [...new Set([...some, "a" as const])] : some;
    for (const slot of chosen) {
      // Nobody can put into an envelope what is not there.
      if (slot === "inside" && state.b === null) continue;
      const edit = { at, slot, from: state[slot], to: value(slot) };
      edits.push(edit);
      state = { ...state, [slot]: edit.to };
    }
    world.commit(() => apply(world, state), by(writer(at)));
    if (dice.below(3) === 0) onASide(world, at, dice.below(3));
    // What is asked for stands as it was asked, whatever comes that makes no difference.
    if (at < base && dice.below(2) === 0) settle(world);
  };
  for (let at = 0; at < base; at++) commit(at);
  grant(world);
  let end = base;
  for (; end < base + 1 + dice.below(6); end++) commit(end);
  // What is read for a while, and neither before nor after, nobody can look at any more.
  if (seed % 8 === 7 && state.roots !== null) for (const slot of ["roots", "m", "roots"] as const) commit(end++, slot);
  // What is edited where nobody reads it counts once the file is moved back.
  if (state.away !== null) commit(end, "away");
  settle(world);
  return { edits, base, world, initial };
}

/** The same; says which one cannot be planned. */
function historyOf(seed: number): ReturnType<typeof history> {
  try {
    return history(seed);
  } catch (error) {
    throw new Error(`seed ${seed}`, { cause: error });
  }
}

/**
 * Makes of the newest commit one on a side, and a merge of it, which nobody's edit is in: of the commit before, or of an
 * earlier one, where what came in between left its files alone. A merge that is made by hand holds the edit itself.
 */
function onASide(world: World, at: number, how: number): void {
  const { commit } = world.intent();
  const made = world.facts.get(commit);
  const [before] = made?.parents ?? [];
  if (made === undefined || before === undefined) return;
  const side = `side-${at}` as Commit;
  const parents = [before, side];
  world.facts.delete(commit);
  if (how === 0) {
    world.facts.set(side, { ...made, commit: side, changes: [], ...by("dave") });
    world.facts.set(commit, { ...made, parents, merge: "unclean" });
    return;
  }
  const paths = new Set(made.changes.map((it) => it.path));
  const earlier = world.facts.get(before);
  const isApart = how === 1 && earlier?.merge === null && earlier.changes.every((it) => !paths.has(it.path));
  world.facts.set(side, { ...made, commit: side, parents: isApart && earlier ? earlier.parents : made.parents });
  world.facts.set(commit, { ...made, parents, changes: [], merge: "clean", ...by("dave") });
}

/** How many writers' commits there are up to one. */
function commitOf(world: World, since: Commit | null): number {
  const all = [...world.facts.values()];
  const until = all.findIndex((it) => it.commit === since);
  return all.slice(0, until + 1).filter(({ signature }) => isWriter(signature)).length - 1;
}

const isWriter = (it: SignatureFact): boolean => it.kind === "ssh" && it.fingerprint.startsWith("SHA256:writer-");

const seeds = walkLength("REPOSITORIES", { short: 12, full: 200 });
const first = Number(process.env["SEED"] ?? 1);

test(`in ${seeds} random repositories, the authors are those without whom the change would be another one`, {
  timeout: 0,
}, () => {
  let [requests, sleepers, unsure] = [0, 0, 0];
  for (let seed = first; seed < first + seeds; seed++) {
    const { edits, base, world, initial } = historyOf(seed);
    const request = world.head.placements.get(web)?.change?.request ?? null;
    if (request === null || request.approval !== null) continue;
    requests += 1;
    // A cluster that is to carry again what it carries is not asked about.
    const changed = [...(world.head.placements.get(web)?.change?.clusters.keys() ?? [])];
    const found = new Set(changed.flatMap((it) => [...oracle(edits, base, it, initial)]));
    sleepers += [...found].filter((it) => it < base).length;
    // A target tells with which commit its objects came, or may have come at the earliest, and not when it was decided: who
    // would count had it been decided then may count, to be safe.
    const since = world.head.placements.get(web)?.change?.since ?? [null];
    const came = Math.min(...since.map((it) => commitOf(world, it)));
    if (came + 1 < base)
      for (const cluster of changed)
        for (const at of oracle(edits, came + 1, cluster, initial))
          if (request.authors.principals.includes(writer(at))) found.add(at);
    unsure += base - 1 - came;
    const names = [...found].map(writer).sort();
    expect(request.authors, `seed ${seed}: ${JSON.stringify({ base, edits })}`).toEqual({
      principals: names,
      unknown: 0,
    });
  }
  // A storm in which nobody is asked, and nothing ever slept, would show nothing.
  expect(requests).toBeGreaterThan(seeds / 3);
  expect(sleepers).toBeGreaterThan(seeds / 20);
  expect(unsure).toBeLessThan(requests);
});
