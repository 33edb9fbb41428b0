import type { Binding, PendingRemoval } from "../../../src/core/model/binding.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Judge } from "../judge.ts";
import type { MemberWrite, MemberWriteRule } from "../member-write.ts";
import type { TrustContent } from "../people/trust-content.ts";
import { bindingsOf, type StateCommit, type StateCommitRule } from "../state-commit.ts";
import { keyOf, objectsAt } from "../world/observed-objects.ts";
import { inForce } from "./counted-answers.ts";
import { entryOf, setsOf, took, whatOf } from "./deletions.ts";
import { requestsAt, runsAt, type SeenLeaves } from "./recorded-runs.ts";
import { isProtected, standsThere } from "./trust.ts";

/** Promises about what the record says becomes of objects that leave (D 11). */
export const fateCommitRules: readonly (readonly [string, StateCommitRule])[] = [
  ["I-59", leavesAsPeopleAllowed],
  ["I-59", takesOthersAlongAsApproved],
  ["I-34", staysWithWhatWasSaid],
];

/** Promises about what becomes of them. */
export const fateWriteRules: readonly (readonly [string, MemberWriteRule])[] = [["I-34", deletesNothingLetGo]];

type Fate = "delete" | "release" | "handOver";

/** What the record says becomes of an object that leaves. */
export function fateOf({ released, handOver }: PendingRemoval, { removal }: Binding): Fate {
  if (handOver !== undefined) return "handOver";
  return removal?.propagation === "Abandon" || released ? "release" : "delete";
}

const oldOf = ({ before }: StateCommit, { key }: PlacementRecord, { cluster, uid }: Binding): Binding | null => {
  const old = before?.placements.get(key)?.bindings.get(cluster);
  return old?.uid === uid ? old : null;
};

/**
 * I-59: what leaves a protected place does so as enough people approved it: by a request that said just that of the object, or
 * by the gate of a run. A gate says nothing of single objects: it lets go what was there before us, unless its plan says not.
 */
function* leavesAsPeopleAllowed(page: StateCommit, judge: Judge): Generator<string> {
  const version = inForce(page.after, judge);
  if (judge.simulation.approvers.anchor === null || version === null || page.before === null) return;
  for (const [record, binding] of bindingsOf(page.after)) {
    const old = oldOf(page, record, binding)?.leaving ?? [];
    // What nobody takes any more is deleted: that is another fate than the one that was approved.
    const known = new Set(old.flatMap((it) => (it.handOver === undefined ? keyOf(it.id) : [])));
    const handed = new Set(old.flatMap((it) => (it.handOver === undefined ? [] : keyOf(it.id))));
    for (const it of binding.leaving) {
      const key = keyOf(it.id);
      if (handed.has(key) && it.handOver !== undefined) continue;
      if (known.has(key) || !isProtected(key, binding, version)) continue;
      const fate = fateOf(it, binding);
      judge.simulation.hit(`protected ${fate}`);
      const leave = { record, binding, key, it };
      if (!isAsked(leave, fate, version.words, page, judge) && !isStaged(leave, page, judge))
        yield `${record.key} is to ${fate} ${key} on ${binding.cluster}, which nobody approved so`;
    }
  }
}

interface Leave {
  readonly record: PlacementRecord;
  readonly binding: Binding;
  readonly key: string;
  readonly it: PendingRemoval;
}

/** Whether a request says of an object what becomes of it, and who takes it. */
function isSaid(said: SeenLeaves, fate: Fate, key: string, { handOver }: PendingRemoval): boolean {
  if (fate !== "handOver") return said[fate].includes(key);
  return said.handOver.some(({ to, objects }) => to === handOver?.to && objects.includes(key));
}

function isAsked(
  { record, binding, key, it }: Leave,
  fate: Fate,
  words: TrustContent,
  page: StateCommit,
  judge: Judge,
): boolean {
  const { hub } = judge.simulation;
  const requests = standsThere(page.after, judge) ? requestsAt(hub, hub.commitAt(page.commit).parent) : [];
  return requests.some(
    ({ name, isApproved, digest, leaves }) =>
      name === `${record.key}-change` &&
      isApproved &&
      leaves.some((said) => said.clusters.includes(binding.cluster) && isSaid(said, fate, key, it)) &&
      judge.countedAnswers.isFull(digest, words),
  );
}

/**
 * I-59: what others have in a protected place goes along only where enough people approved that of every single object.
 */
function* takesOthersAlongAsApproved(page: StateCommit, judge: Judge): Generator<string> {
  const { after, before, commit } = page;
  const version = inForce(after, judge);
  const { approvers, hub } = judge.simulation;
  if (approvers.anchor === null) return;
  const known = new Set(before?.deletions.held.flatMap((it) => (it.confirmed ? it.digest : [])));
  for (const set of after.deletions.held) {
    if (!set.confirmed || known.has(set.digest)) continue;
    for (const { placement, cluster, id, objects } of set.others) {
      const binding = after.placements.get(placement)?.bindings.get(cluster);
      const keys = [keyOf(id), ...objects.map(keyOf)];
      if (version === null || binding === undefined || !keys.some((it) => isProtected(it, binding, version))) continue;
      judge.simulation.hit("others along where protected");
      const requests = standsThere(after, judge) ? requestsAt(hub, hub.commitAt(commit).parent) : [];
      const isApproved = requests.some(
        (it) =>
          it.name === `${placement}-change` &&
          it.isApproved &&
          objects.every((other) => it.others.includes(`${cluster} ${keyOf(other)} ${other.uid}`)) &&
          judge.countedAnswers.isFull(it.digest, version.words),
      );
      if (!isApproved) yield `what others have in ${keyOf(id)} on ${cluster} goes along, which nobody approved`;
    }
  }
}

/** Whether a run brought what the cluster carries now, and did with the object as its plan said. */
function isStaged({ record, binding, key, it }: Leave, { commit, before }: StateCommit, judge: Judge): boolean {
  const { cluster, target, removal } = binding;
  const bringing = runsAt(judge.simulation.hub, commit).find(
    (run) =>
      run.placement === record.key &&
      run.stages.some((stage) =>
        stage.clusters.some(
          (own) => own.name === cluster && own.sequence === target?.sequence && stage.before !== null,
        ),
      ),
  );
  if (bringing === undefined || removal !== null) return false;
  const isDeletingAll = /^ {2}deleteAdopted: true$/m.test(bringing.plan ?? "");
  const facts = before?.placements.get(record.key)?.bindings.get(cluster)?.facts ?? null;
  const wasThere = facts?.adopted.some((id) => keyOf(id) === key) === true;
  return (
    it.evenAdopted === isDeletingAll && (isDeletingAll || !wasThere || it.released || isMadeAnew(key, cluster, judge))
  );
}

/** Whether what was there before us is gone: what stands there now is not what somebody else had. */
const isMadeAnew = (key: string, cluster: string, { simulation }: Judge): boolean => {
  const site = simulation.siteAt(cluster);
  const live = objectsAt(site).find((it) => it.key === key);
  return live === undefined || !site.strangers.has(live.uid);
};

/**
 * I-34: what is on its way out leaves as was said when that began, whatever is edited meanwhile. Where the placement came
 * back to the cluster, what its version of now leaves out may begin to go anew.
 */
function* staysWithWhatWasSaid(page: StateCommit): Generator<string> {
  for (const [record, binding] of bindingsOf(page.after)) {
    const old = oldOf(page, record, binding);
    if (old === null) continue;
    const isSame = old.removal !== null && old.removal.sequence === binding.removal?.sequence;
    if (isSame && old.removal.propagation !== binding.removal?.propagation)
      yield `${record.key} leaves ${binding.cluster} otherwise than it began to`;
    const isBack = old.removal !== null && !isSame;
    for (const it of binding.leaving) {
      const was = old.leaving.find((other) => keyOf(other.id) === keyOf(it.id));
      const isSaidAnew = was?.evenAdopted !== it.evenAdopted && it.evenAdopted === record.spec.strategy.deleteAdopted;
      if (isBack && isSaidAnew) continue;
      if (was?.released === true && !it.released)
        yield `${record.key} is going to delete ${keyOf(it.id)} on ${binding.cluster}, which was to be let go`;
      if (was !== undefined && was.evenAdopted !== it.evenAdopted)
        yield `what becomes of ${keyOf(it.id)} of ${record.key} on ${binding.cluster} is another thing now`;
    }
  }
}

/** I-34: what the record lets go is not deleted, unless somebody confirmed that it goes with what it holds. */
function* deletesNothingLetGo(write: MemberWrite): Generator<string> {
  if (!took(write) || write.ledger === null) return;
  const entry = entryOf(write);
  const binding = bindingsOf(write.ledger).find(
    ([record, it]) => record.key === entry?.placement && it.cluster === write.request.member,
  )?.[1];
  const leave = binding?.leaving.find((it) => keyOf(it.id) === entry?.key);
  if (entry === null || binding === undefined || leave === undefined) return;
  if (setsOf(write.ledger, write, entry).some((it) => it.confirmed && it.others.length > 0)) return;
  if (fateOf(leave, binding) === "release") yield `${whatOf(write)}, which was to be let go`;
}
