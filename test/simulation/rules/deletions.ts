import type { Binding } from "../../../src/core/model/binding.ts";
import type { HeldDeletion } from "../../../src/core/model/deletion.ts";
import { type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { ObjectId } from "../../../src/core/model/manifest.ts";
import type { ClusterName, Commit, PlacementKey } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import type { MemberWrite, MemberWriteRule } from "../member-write.ts";
import { optionsOf } from "../people/document.ts";
import { type Entry, keyOf, markOf, uidOf } from "../world/observed-objects.ts";
import { renderedAt } from "../world/rendered.ts";

/** Promises about deletions. */
export const deletionRules: readonly (readonly [string, MemberWriteRule])[] = [
  ["I-27", deletesOnlyWhatIsOurs],
  ["I-28", deletesOnlyWhatItKnows],
  ["I-29", deletesWithinBounds],
  ["I-34", sparesWhatItFound],
];

const isDeletion = ({ request }: MemberWrite): boolean => request.kind === "delete";

/** Whether a deletion took effect now: it was accepted, and it was not under way before. */
export const took = (write: MemberWrite): boolean =>
  isDeletion(write) &&
  write.incoming.status < 300 &&
  write.before !== null &&
  memberAt(write.before, "metadata", "deletionTimestamp") === null;

export const whatOf = ({ request }: MemberWrite): string => `${request.text} on ${request.member}`;

/** I-27: a deletion names the uid that the inventory lists, and meets an object with that uid and our mark. */
function* deletesOnlyWhatIsOurs(write: MemberWrite): Generator<string> {
  if (!isDeletion(write)) return;
  const { request, before, ledger } = write;
  if (memberAt(request.body, "preconditions", "uid") === null) yield `${whatOf(write)} names no uid`;
  if (!took(write) || before === null) return;
  const mark = markOf(before);
  if (mark === null || mark.fleet !== ledger?.fleet) yield `${whatOf(write)}, which does not carry our mark`;
  const entry = entryOf(write);
  if (entry === null && wasListed(write, before)) write.simulation.hit("inventory deleted amid a deletion");
  else if (entry === null) yield `${whatOf(write)}, which stands in no inventory under its uid`;
  else if (entry !== null && mark !== null && mark.placement !== entry.placement)
    yield `${whatOf(write)}, which placement ${mark.placement} has, for placement ${entry.placement}`;
}

/**
 * Whether the inventory listed it when its deletion was claimed, and somebody deleted that while its sender was held up: no
 * server lets a deletion depend on what another object says.
 */
const wasListed = ({ isStale, site }: MemberWrite, before: JsonObject): boolean =>
  isStale && (site.lost.has(uidOf(before)) || site.forgotten.has(uidOf(before)));

/** The line of the inventory that a deletion goes by. */
export function entryOf({ entries, request, before }: MemberWrite): Entry | null {
  const { place } = request;
  if (place === null || before === null) return null;
  const mark = markOf(before);
  const own = entries.filter((it) => it.key === keyOf(place) && it.uid === uidOf(before));
  return own.find((it) => it.placement === mark?.placement) ?? own[0] ?? null;
}

/** I-28: whoever deletes has read the branches and the whole inventory in this pass, and does not want the object. */
function* deletesOnlyWhatItKnows(write: MemberWrite): Generator<string> {
  if (!took(write)) return;
  const { facts, site, simulation, stateCommit, request } = write;
  if (!facts.looks.has(`${site.name} /api/v1/namespaces/flotilla-system/configmaps`))
    yield `${whatOf(write)} without having read the inventory`;
  if (stateCommit === null) yield `${whatOf(write)} without a record`;
  const entry = entryOf(write);
  const binding = entry === null ? null : bindingOf(write, entry.placement);
  if (entry === null || binding === null || binding.removal !== null) return;
  const wanted = stateCommit === null ? [] : renderedAt(simulation.hub, stateCommit, request.member, entry.placement);
  if (wanted.some((it) => it.key === entry.key)) yield `${whatOf(write)}, which ${request.member} is to carry`;
}

const bindingOf = ({ ledger, request }: MemberWrite, placement: string): Binding | null =>
  ledger?.placements.get(placement as PlacementKey)?.bindings.get(request.member as ClusterName) ?? null;

/** I-29: what one commit deletes unasked stays within the bounds, and what waits for a confirmation is not touched. */
function* deletesWithinBounds(write: MemberWrite, judge: Judge): Generator<string> {
  if (!took(write)) return;
  const { ledger, request, site } = write;
  const entry = entryOf(write);
  if (ledger === null || entry === null) return;
  const held = setsOf(ledger, write, entry);
  if (held.some((it) => !it.confirmed)) yield `${whatOf(write)}, which waits for a confirmation`;
  // What was approved instead is held against that when it is decided.
  for (const it of held.filter((set) => set.confirmed && set.because !== "protected"))
    if (!wasConfirmed(write, it.digest)) yield `${whatOf(write)} by ${it.digest.slice(0, 8)}, which nobody confirmed`;
  const cause = causeOf(write, entry);
  if (cause === null) yield `${whatOf(write)}, which nobody decided`;
  // What two placements lose at once is one object, and stands in the set of one of them.
  const shared = setsNaming(ledger, write, (it) => keyOf(it) === entry.key);
  if (cause === null || held.length > 0 || shared.some((it) => it.confirmed)) return;
  const clusters = judge.deletions.get(cause) ?? new Map<string, Set<string>>();
  const keys = clusters.get(request.member) ?? new Set();
  judge.deletions.set(cause, clusters.set(request.member, keys.add(`${entry.placement} ${entry.key}`)));
  const bounds = boundsFor(judge, cause);
  const share = Math.floor(((judge.largest.get(site.name) ?? 0) * 20) / 100);
  if (keys.size > Math.max(bounds.objects, share))
    yield `${keys.size} deletions on ${request.member} for ${cause.slice(0, 7)}, at most ${bounds.objects} may pass unasked`;
  const members = [...judge.inForce.at(cause).values()].filter((it) => it.kind === "cluster").length;
  if (clusters.size > Math.max(bounds.clusters, Math.floor((members * 30) / 100)))
    yield `deletions on ${clusters.size} clusters for ${cause.slice(0, 7)}, at most ${bounds.clusters} may pass unasked`;
}

/** The sets of the guard that name the object as its placement's. */
export const setsOf = (ledger: Ledger, write: MemberWrite, entry: Entry): readonly HeldDeletion[] =>
  setsNaming(ledger, write, (id, placement) => placement === entry.placement && keyOf(id) === entry.key);

/** The sets of the guard that name such an object on the member. */
const setsNaming = (
  { deletions }: Ledger,
  { request }: MemberWrite,
  isMeant: (id: ObjectId, placement: PlacementKey) => boolean,
): readonly HeldDeletion[] =>
  deletions.held.filter((set) =>
    set.groups.some(
      (it) => it.clusters.includes(request.member as ClusterName) && it.objects.some((id) => isMeant(id, it.placement)),
    ),
  );

/** A confirmation stands in some commit that people pushed, under the digest of what goes. */
const wasConfirmed = ({ simulation: { people } }: MemberWrite, digest: string): boolean =>
  people.pushed.some((it) => people.at(it).has(`approvals/deletions/${digest}.yaml`));

/** The commit that took the object away. */
function causeOf(write: MemberWrite, entry: Entry): Commit | null {
  const binding = bindingOf(write, entry.placement);
  const left = binding?.leaving.find(({ id }) => keyOf(id) === entry.key);
  return left?.cause ?? binding?.removal?.cause ?? null;
}

/** What a commit may delete unasked: the stricter of what it says and what was said before. */
function boundsFor({ inForce }: Judge, commit: Commit): { readonly objects: number; readonly clusters: number } {
  const said = (at: Commit | null) => {
    const document = at === null ? undefined : inForce.at(at).get("fleet.yaml");
    return document?.kind === "guards" ? document : { objects: 10, clusters: 3 };
  };
  const before = inForce.before(commit);
  if (before === null) return said(commit);
  const [a, b] = [said(commit), said(before)];
  return { objects: Math.min(a.objects, b.objects), clusters: Math.min(a.clusters, b.clusters) };
}

/** I-34: what was there before us is released and not deleted, unless the placement or somebody says otherwise. */
function* sparesWhatItFound(write: MemberWrite, { inForce }: Judge): Generator<string> {
  if (!took(write) || write.ledger === null || !write.site.strangers.has(uidOf(write.before as JsonObject))) return;
  const entry = entryOf(write);
  if (entry === null || setsOf(write.ledger, write, entry).some((it) => it.confirmed)) return;
  const commits = [write.ledger.sourceCommit, causeOf(write, entry)].filter((it) => it !== null);
  const says = commits.some((it) =>
    [it, inForce.before(it)].some((at) => at !== null && deletesAdopted(inForce, at, entry)),
  );
  if (!says) yield `${whatOf(write)}, which existed before us`;
}

function deletesAdopted(inForce: Judge["inForce"], at: Commit, { placement }: Entry): boolean {
  const document = inForce.at(at).get(`placements/${placement}.yaml`);
  return document?.kind === "placement" && optionsOf(document.options).has("delete-adopted");
}
