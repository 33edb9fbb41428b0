import type { ClusterDecision } from "../../src/core/model/binding.ts";
import { canonicalJson, isObject, type Json, type JsonObject } from "../../src/core/model/json.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import { type ClusterName, type Commit, compareText, type PlacementKey } from "../../src/core/model/value.ts";
import type { People } from "../simulation/people/people.ts";
import type { Simulation } from "../simulation/simulation.ts";
import type { ObjectPlace } from "../simulation/world/call.ts";
import { type Entry, entriesAt, objectsAt } from "../simulation/world/observed-objects.ts";
import type { Site } from "../simulation/world/site.ts";

/**
 * What a world came to, as one text that worlds can be compared by: what members carry, what their inventories list,
 * marked objects that no inventory lists, and what the state branch says.
 *
 * Left out is what may differ between two histories that came to the same ({@link volatile}). With `isCounting` false
 * also what counts how far something had got that was taken back since ({@link counters}).
 */
export function endOf(simulation: Simulation, isCounting: boolean): string {
  const { hub, people, sites } = simulation;
  const ledger = simulation.ledger();
  const form: Form = { ledger, isCounting, left: new Set([...volatile, ...(isCounting ? [] : counters)]) };
  const members = [...sites].flatMap(([name, site]): readonly [string, Json][] => {
    const carried = carriedAt(site, name as ClusterName, form);
    return carried === null ? [] : [[name, carried]];
  });
  const files = [...hub.treeAt(hub.state)].filter(([path]) => /^(accepted\/(?!approvals\/)|rendered\/)/.test(path));
  const end = { members: Object.fromEntries(members), ledger: steady(ledger, form), files: Object.fromEntries(files) };
  return named(canonicalJson(end), people);
}

/** Where two ends differ, a line each: `ledger.placements.web.generation: 2, not 1`. */
export function differencesOf(end: string, expected: string): readonly string[] {
  if (end === expected) return [];
  const [is, should] = [factsOf(end), factsOf(expected)];
  return [...new Set([...should.keys(), ...is.keys()])]
    .filter((path) => is.get(path) !== should.get(path))
    .map((path) => `${path}: ${is.get(path) ?? "nothing"}, not ${should.get(path) ?? "nothing"}`);
}

interface Form {
  readonly ledger: Ledger | null;
  readonly isCounting: boolean;
  /** Names of members that are left out, wherever they stand. */
  readonly left: ReadonlySet<string>;
}

/**
 * What says when, or in the how-manieth commit, but never what: instants and sequences, what is derived from them (uids,
 * and the fleet's name, which is made of its first instant), and the counter of everything that a cluster ever wrote.
 */
const volatile: readonly string[] = [
  ...[
    "since",
    "at",
    "startedAt",
    "endedAt",
    "finishedAt",
    "lastTransitionTime",
    "measuredAt",
    "recordedAt",
    "lastUpdateTime",
    "creationTimestamp",
    "time",
  ],
  ...["sequence", "uid", "fleet", "resourceVersion"],
];

/** What counts versions, of which a member saw more or fewer, and names the edit that first brought what came back. */
const counters: readonly string[] = [
  // What was confirmed on a way that another history did not take.
  "confirmations",
  "generation",
  "observedGeneration",
  "deployment.kubernetes.io/revision",
  "commit",
  // The edit that deletions are counted under: none where what is to be taken back had not arrived yet.
  "cause",
];

/** A value without what is left out. Our annotation on objects is a sequence: of it stays that it is there. */
function steady(value: unknown, form: Form): Json {
  if (value instanceof Map) return steady(Object.fromEntries(value), form);
  if (Array.isArray(value)) return value.map((it) => steady(it, form));
  if (typeof value !== "object" || value === null) return value as Json;
  const kept = Object.entries(value).filter(([key]) => !form.left.has(key));
  return Object.fromEntries(
    kept.map(([key, it]) => [key, key === "flotilla.dev/write" ? "ours" : steady(inOrder(it), form)]),
  );
}

/** Who was picked, by name: a team's placement picks members as its Namespace comes to be there, in any order. */
function inOrder(value: unknown): unknown {
  const isPick = (it: unknown): it is ClusterDecision =>
    isObject(it as Json) && (it as JsonObject)["selected"] === true;
  if (!Array.isArray(value) || !value.every(isPick)) return value;
  return value.toSorted((a, b) => compareText(a.cluster, b.cluster));
}

/** Null for a member that nobody ever placed anything on. */
function carriedAt(site: Site, cluster: ClusterName, form: Form): JsonObject | null {
  const live = objectsAt(site).filter(({ place }) => !isOfTheCluster(place));
  const uids = new Map(live.map((it) => [it.key, it.uid]));
  const entries = entriesAt(site);
  if (live.length + entries.length === 0) return null;
  const listed = new Set(entries.map((it) => it.uid));
  return {
    objects: Object.fromEntries(live.map(({ key, object }): [string, Json] => [key, steady(object, form)])),
    inventory: Object.fromEntries(
      entries.map((it): [string, Json] => [
        `${it.placement} ${it.key}`,
        [it.adopted ? "adopted" : "made", presenceOf(it, uids), form.isCounting ? ageOf(it, cluster, form) : ""],
      ]),
    ),
    orphans: live.filter((it) => it.mark !== null && !listed.has(it.uid)).map((it) => it.key),
  };
}

/** What Kubernetes itself puts into clusters and namespaces, and where we keep our books. */
const isOfTheCluster = ({ kind, namespace, name }: ObjectPlace): boolean =>
  name === "kube-root-ca.crt" ||
  /^(kube-.*|default|flotilla-system)$/.test(namespace ?? (kind === "Namespace" ? name : ""));

function presenceOf({ key, uid }: Entry, uids: ReadonlyMap<string, string>): string {
  if (uid === null) return "without uid";
  return uid === uids.get(key) ? "live" : "gone";
}

/** How the sequence of an entry stands to the decision that it is to be of: what can be compared of sequences. */
function ageOf({ placement, sequence }: Entry, cluster: ClusterName, { ledger }: Form): string {
  const target = ledger?.placements.get(placement as PlacementKey)?.bindings.get(cluster)?.target ?? null;
  if (target === null) return "decided nowhere";
  if (sequence === target.sequence) return "as decided";
  return sequence < target.sequence ? "older" : "newer";
}

/**
 * Ids of source commits as the edits that they are: a push that only confirms what an edit deletes belongs to it, and so does
 * one that only has a placement planned again.
 */
function named(end: string, people: People): string {
  let edits = 0;
  return people.pushed.reduce((said, commit, index) => {
    if (!isAnswer(people, commit, people.pushed[index - 1])) edits++;
    return said.replaceAll(commit, `edit ${edits}`);
  }, end);
}

function isAnswer(people: People, commit: Commit, before: Commit | undefined): boolean {
  if (before === undefined) return false;
  const earlier = people.at(before);
  const fresh = [...people.at(commit)].filter(([path, it]) => earlier.get(path) !== it);
  return fresh.length > 0 && fresh.every(([path, it]) => it.kind === "confirmation" || path === sparePath);
}

/** What people write so that there is another commit: see `walk.ts`. */
const sparePath = "resources/namespace-spare.yaml";

/** Every leaf of an end by its path. */
function factsOf(end: string): ReadonlyMap<string, string> {
  const facts = new Map<string, string>();
  const visit = (path: string, value: Json): void => {
    const members = Array.isArray(value) || isObject(value) ? Object.entries(value) : [];
    if (members.length === 0) facts.set(path, JSON.stringify(value));
    for (const [key, it] of members) visit(path === "" ? key : `${path}.${key}`, it);
  };
  visit("", JSON.parse(end) as Json);
  return facts;
}
