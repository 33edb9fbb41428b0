import { type JsonObject, memberAt, textOf } from "../../../src/core/model/json.ts";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import {
  covers,
  type Document,
  hasLabels,
  hasProperty,
  homeOf,
  identityOf,
  labelsOf,
  pathOf,
  taintsOf,
  wordIn,
} from "../people/document.ts";
import type { Draft } from "../people/people.ts";
import type { Simulation } from "../simulation.ts";
import { profileIn } from "../strikes.ts";
import { entriesAt, keyOf, objectsAt, type Seen } from "../world/observed-objects.ts";

type Placement = Extract<Document, { kind: "placement" }>;

/** What an object says on one cluster: its value, and what an override added. */
interface Content {
  readonly value: string;
  readonly more: string | null;
}

/** What is wrong with a world at rest: every member carries what people asked for and nothing else of ours (I-16). */
export function* differences(simulation: Simulation, said: Draft, ledger: Ledger): Generator<string> {
  for (const it of placementsIn(said)) yield* pickedWrongly(it, said, ledger);
  for (const key of ledger.placements.keys())
    if (!said.has(`placements/${key}.yaml`)) yield `placement ${key} is still there, and nobody asks for it`;
  for (const document of said.values()) {
    if (document.kind !== "cluster") continue;
    const { name } = document;
    const wanted = contentsFor(document, { said, ledger, of: placementsIn(said) });
    const entries = entriesAt(simulation.siteAt(name));
    const adopted = new Set(entries.flatMap((it) => (it.adopted ? [it.key] : [])));
    const listed = new Set(entries.map((it) => `${it.key} ${it.uid}`));
    const live = new Map(objectsAt(simulation.siteAt(name)).map((it) => [it.key, it]));
    for (const [key, content] of wanted) {
      const found = live.get(key);
      if (found === undefined) yield `${key} is missing on ${name}`;
      else if (wordIn(found.object) !== content.value)
        yield `${key} on ${name} says ${wordIn(found.object)} and not ${content.value}`;
      else if (saysMore(found, content, adopted))
        yield `${key} on ${name} says more: ${moreOf(found.object)}, and not ${content.more}`;
      else if (found.mark === null) yield `${key} on ${name} does not carry our mark`;
      else if (!listed.has(`${key} ${found.uid}`)) yield `${key} on ${name} stands in no inventory under its uid`;
    }
    const { copies, forgotten, overdue } = simulation.siteAt(name);
    const isUnknown = (uid: string): boolean => copies.has(uid) || forgotten.has(uid) || overdue.has(uid);
    for (const { key, mark, uid } of live.values())
      if (mark !== null && mark.placement !== "" && !wanted.has(key) && !isUnknown(uid))
        yield `${key} on ${name} is still there with our mark (${mark.placement})`;
  }
  for (const [key, { bindings }] of ledger.placements)
    for (const [cluster, { facts }] of bindings)
      if (facts?.applied !== "applied" || (facts.phase !== "available" && facts.phase !== "untrackable"))
        yield `${key} is ${facts?.applied ?? "unknown"} and ${facts?.phase ?? "unknown"} on ${cluster} by the record`;
}

const placementsIn = (said: Draft): readonly Placement[] => [...said.values()].filter((it) => it.kind === "placement");

/** What was let go and taken again keeps what it had: nobody owns that any more. */
const saysMore = ({ key, object }: Seen, { more }: Content, adopted: ReadonlySet<string>): boolean =>
  moreOf(object) !== more && !(more === null && adopted.has(key));

const moreOf = (live: JsonObject): string | null => textOf(memberAt(live, "metadata", "labels", "more"));

/** The clusters that a placement is on, by the record, against those that it asks for. */
function* pickedWrongly(placement: Placement, said: Draft, ledger: Ledger): Generator<string> {
  const { name, policy } = placement;
  const picked = pickedBy(name, ledger);
  const [kind, ...rest] = policy.split(" ");
  const home = homeOf(placement);
  // Where an override keeps the Namespace away, nobody has to place anything in it.
  const isHomeless = (words: string): boolean =>
    [...said.values()].some(
      (it) =>
        it.kind === "override" &&
        it.object === `Namespace ${home}` &&
        it.value === "delete" &&
        hasLabels(words, it.label),
    );
  const eligible = [...said.values()].flatMap((it) =>
    it.kind === "cluster" && suits(it, kind === "PickFixed" ? "" : rest.join(" ")) && !isHomeless(it.words)
      ? [it.name]
      : [],
  );
  const limit = kind === "PickN" ? Number(rest[0]) : Infinity;
  const named = kind === "PickFixed" ? (rest[0] ?? "").split(",") : null;
  const wanted = eligible.filter((it) => named === null || named.includes(it));
  // Relabelling moves nothing that is placed: what was picked once may stay.
  const isTooFew = picked.length < Math.min(limit, wanted.length) && !isSpreadOut(picked, wanted, policy, said);
  const isTooMany = picked.length > limit || (named !== null && picked.some((it) => !named.includes(it)));
  const isMissing = limit === Infinity && wanted.some((it) => !picked.includes(it));
  if (isTooFew || isTooMany || isMissing)
    yield `${name} is on ${picked.join(", ") || "nothing"}, and asks for ${policy} of ${eligible.join(", ")}`;
}

/**
 * Whether a spread keeps every other cluster away: one more in its domain would be two more than somewhere else. KubeFleet
 * counts every domain of the fleet, and refuses the one that would repair a spread which is worse already.
 */
function isSpreadOut(picked: readonly string[], wanted: readonly string[], policy: string, said: Draft): boolean {
  if (!/ spread:r(?: |$)/.test(policy)) return false;
  const domainOf = (name: string): string | undefined => {
    const document = said.get(pathOf({ kind: "cluster", name, words: "" }));
    return document?.kind === "cluster" ? labelsOf(document.words)["r"] : undefined;
  };
  const isKubeFleet = profileIn(said) === "kubefleet";
  const members = [...said.values()].flatMap((it) => (it.kind === "cluster" ? [it.name] : []));
  const counts = new Map(
    [...(isKubeFleet ? members : wanted), ...picked].flatMap((it) =>
      domainOf(it) === undefined ? [] : [[domainOf(it), 0]],
    ),
  );
  for (const it of picked)
    if (domainOf(it) !== undefined) counts.set(domainOf(it), (counts.get(domainOf(it)) ?? 0) + 1);
  const left = wanted.filter((it) => !picked.includes(it));
  if (isKubeFleet) return left.every((it) => isRefusedByKubeFleet(counts, domainOf(it)));
  const fewest = Math.min(...counts.values());
  return left.every((it) => domainOf(it) !== undefined && (counts.get(domainOf(it)) ?? 0) > fewest);
}

/** By how one more in a domain changes the difference between the largest and the smallest. */
function isRefusedByKubeFleet(counts: ReadonlyMap<string | undefined, number>, domain: string | undefined): boolean {
  const count = counts.get(domain);
  if (domain === undefined || count === undefined) return false;
  const [smallest = 0, second = smallest, ...more] = [...counts.values()].sort((a, b) => a - b);
  const largest = more.at(-1) ?? second;
  const isRepair = count === smallest && smallest !== second;
  const change = largest === smallest ? 1 : isRepair ? -1 : count === largest ? 1 : 0;
  return largest - smallest + change > 1;
}

/** Whether a cluster has the labels that words ask for; of a taint nobody speaks here. */
const suits = ({ words }: Extract<Document, { kind: "cluster" }>, asked: string): boolean =>
  taintsOf(words).length === 0 && hasLabels(words, asked) && hasProperty(words, asked);

const pickedBy = (placement: string, ledger: Ledger): readonly string[] =>
  [...(ledger.placements.get(placement as PlacementKey)?.bindings.values() ?? [])]
    .filter((it) => it.state !== "Unscheduled" && it.removal === null)
    .map((it) => it.cluster);

/** What one cluster is to carry of some placements, by key. */
export function contentsFor(
  cluster: Extract<Document, { kind: "cluster" }>,
  { said, ledger, of }: { readonly said: Draft; readonly ledger: Ledger; readonly of: readonly Placement[] },
): ReadonlyMap<string, Content> {
  const here = of.filter((it) => pickedBy(it.name, ledger).includes(cluster.name));
  const overrides = [...said.values()]
    .filter((it) => it.kind === "override")
    .filter((it) => hasLabels(cluster.words, it.label));
  const contents = new Map<string, Content>();
  for (const it of said.values()) {
    if (it.kind !== "manifest") continue;
    const identity = identityOf(it.object);
    const space = identity.namespace ?? identity.name;
    // What is in a namespace goes with it, and a namespace that nobody wrote cannot be selected.
    const isThere = said.has(pathOf({ kind: "manifest", object: `Namespace ${space}`, value: "" }));
    if (!here.some((placement) => covers(placement, identity) && (isThere || homeOf(placement) !== null))) continue;
    // Those of the object itself come after those of its namespace, and win.
    const own = [`Namespace ${space}`, ...(identity.namespace === null ? [] : [it.object])].flatMap((object) =>
      overrides.filter((other) => other.object === object),
    );
    if (own.some((other) => other.value === "delete")) continue;
    contents.set(keyOf(identity), { value: it.value, more: own.at(-1)?.value ?? null });
  }
  return contents;
}
