import type { Binding, PendingRemoval } from "../../../src/core/model/binding.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Judge } from "../judge.ts";
import { covers, type Document, hasLabels, hasProperty, homeOf, isExternal, taintsOf } from "../people/document.ts";
import type { Draft } from "../people/people.ts";
import { bindingsOf, type StateCommit } from "../state-commit.ts";
import { profileIn } from "../strikes.ts";
import { keyOf } from "../world/observed-objects.ts";
import { renderedAt } from "../world/rendered.ts";
import { isUnreadable } from "./in-force.ts";
import { evictionsAt } from "./recorded-runs.ts";

type Placement = Extract<Document, { kind: "placement" }>;

/**
 * I-32: a placement leaves a cluster, and an object a placement, only because an accepted commit says so; never because
 * a file cannot be read, a member does not answer, or a branch is empty.
 */
export function* removesForAReason(
  { commit: page, before, after }: StateCommit,
  { inForce, simulation: { people, hub } }: Judge,
): Generator<string> {
  const commit = after.sourceCommit;
  if (commit === null) return;
  const said = inForce.at(commit);
  const isUncertain = isUnreadable(people.at(commit));
  for (const [record, binding] of bindingsOf(after)) {
    const { key, deleting } = record;
    const { cluster, removal } = binding;
    const document = said.get(`placements/${key}.yaml`);
    const old = before?.placements.get(key)?.bindings.get(cluster);
    const isEvicted = evictionsAt(hub, page).some(
      (it) => it.isExecuted && it.placement === key && it.cluster === cluster && said.has(`evictions/${it.name}.yaml`),
    );
    const isSilent = after.clusters.get(cluster)?.contactFailure != null;
    const isOfEarlierPolicy = old?.policySnapshot !== record.policySnapshots.at(-1)?.index;
    const isWanted =
      document?.kind === "placement" &&
      picks(document, cluster, said) &&
      !isEvicted &&
      !(isSilent && isOfEarlierPolicy && isLeftInSilence(document, said));
    if (removal !== null && old?.removal == null && isWanted && deleting === null)
      yield `${key} leaves ${cluster}, where it is wanted (${removal.cause.slice(0, 7)})`;
    if (removal !== null || document?.kind !== "placement") continue;
    // A run brings the version that it names: what that has not goes, whatever is selected by now.
    if (isExternal(document)) {
      const carried = new Set(renderedAt(hub, page, cluster, key).map((it) => it.key));
      for (const { id } of binding.leaving)
        if (binding.target !== null && carried.has(keyOf(id)))
          yield `${keyOf(id)} leaves ${cluster}, and ${key} has it`;
      continue;
    }
    for (const it of wronglyLeaving(document, said, { binding, old }))
      yield `${it} leaves ${cluster}, ${isUncertain ? "while a document cannot be read" : `where ${key} wants it`}`;
  }
  const removed = [...after.placements].filter(([key, it]) => isNewlyRemoved(it, before?.placements.get(key)));
  for (const [key] of removed) if (said.has(`placements/${key}.yaml`)) yield `${key} is deleted, and its file is there`;
}

/** While a cluster that is named is out of contact, KubeFleet takes it for none when the policy changes (A 36). */
const isLeftInSilence = ({ policy }: Placement, said: Draft): boolean =>
  profileIn(said) === "kubefleet" && policy.startsWith("PickFixed ");

const isNewlyRemoved = ({ deleting }: PlacementRecord, old: PlacementRecord | undefined): boolean =>
  deleting !== null && old?.deleting == null;

/** Objects that newly leave a cluster although the placement selects them, and nothing takes them away. */
function wronglyLeaving(
  document: Placement,
  said: Draft,
  { binding, old }: { readonly binding: Binding; readonly old: Binding | undefined },
): readonly string[] {
  // A cluster without a target is about to get one: what it has then can be told from nothing that is said now.
  if (binding.target === null) return [];
  const known = new Set((old?.leaving ?? []).map(({ id }) => keyOf(id)));
  return binding.leaving
    .filter(({ id }) => !known.has(keyOf(id)) && selects(document, said, id))
    .map(({ id }) => keyOf(id));
}

/** Whether a placement carries an object, as far as the repository tells: it goes with its namespace. */
export function selects(document: Placement, said: Draft, { kind, namespace, name }: PendingRemoval["id"]): boolean {
  const space = namespace ?? name;
  const object = `${kind} ${namespace === null ? "" : `${namespace}/`}${name}`;
  const has = (test: (it: Document) => boolean): boolean => [...said.values()].some(test);
  return (
    covers(document, { namespace, name }) &&
    has((it) => it.kind === "manifest" && it.object === object) &&
    (homeOf(document) !== null || has((it) => it.kind === "manifest" && it.object === `Namespace ${space}`)) &&
    !has((it) => it.kind === "override" && [`Namespace ${space}`, object].includes(it.object) && it.value === "delete")
  );
}

/** Whether a policy picks a cluster for certain: PickAll and PickFixed do, of PickN nobody can say. */
export function picks({ policy }: Placement, cluster: string, said: Draft): boolean {
  const [kind, ...rest] = policy.split(" ");
  const member = said.get(`clusters/${cluster}.yaml`);
  if (member?.kind !== "cluster" || taintsOf(member.words).length > 0) return false;
  if (kind === "PickFixed") return (rest[0] ?? "").split(",").includes(cluster);
  const asked = rest.join(" ");
  return kind === "PickAll" && hasLabels(member.words, asked) && hasProperty(member.words, asked);
}
