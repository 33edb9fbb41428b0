import { parseAllDocuments } from "yaml";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { Binding, Ledger, PlacementRecord } from "../../src/core/model/ledger.ts";
import type { Commit } from "../../src/core/model/value.ts";
import { imageOf, type Judge, type PassFacts } from "./judge.ts";
import { removesForAReason } from "./rules-removals.ts";
import { contentOf, keyOf } from "./sight.ts";

/** One commit of the state branch, beside the one before it. */
export interface Page {
  readonly facts: PassFacts;
  readonly commit: Commit;
  readonly before: Ledger | null;
  readonly after: Ledger;
}

/** Promises about the history of the state branch. */
export const historyRules: readonly (readonly [string, (page: Page, judge: Judge) => Iterable<string>])[] = [
  ["I-21", losesNothing],
  ["I-22", tellsTheTruth],
  ["I-25", writesOnlyItsBranch],
  ["I-32", removesForAReason],
];

/** Every binding of a ledger, with the record of its placement. */
export const bindingsOf = (ledger: Ledger | null): readonly (readonly [PlacementRecord, Binding])[] =>
  [...(ledger?.placements.values() ?? [])].flatMap((record) =>
    [...record.bindings.values()].map((it) => [record, it] as const),
  );

/** I-21: sequences are contiguous, and what was written down once is there later or followed by something later. */
function* losesNothing({ commit, before, after }: Page, { simulation }: Judge): Generator<string> {
  const expected = (before?.sequence ?? 0) + 1;
  if (after.sequence !== expected) yield `sequence ${after.sequence} follows ${expected - 1}`;
  if (before === null) return;
  if (after.fleet !== before.fleet) yield `the fleet is called ${after.fleet} after ${before.fleet}`;
  if (after.epoch < before.epoch) yield `epoch ${after.epoch} follows ${before.epoch}`;
  for (const [record, binding] of bindingsOf(after)) {
    const old = before.placements.get(record.key)?.bindings.get(binding.cluster);
    if (old === undefined || old.uid !== binding.uid) continue;
    const [was, is] = [old.target?.sequence ?? 0, binding.target?.sequence ?? binding.removal?.sequence ?? Infinity];
    if (is < was) yield `the target of ${record.key} on ${binding.cluster} goes back from sequence ${was} to ${is}`;
  }
  for (const [key, record] of after.placements) {
    const was = before.placements.get(key);
    for (const old of was?.uid === record.uid ? was.resourceSnapshots : []) {
      const now = record.resourceSnapshots.find((it) => it.index === old.index);
      if (now !== undefined && now.hash !== old.hash) yield `resource snapshot ${old.index} of ${key} changed`;
    }
  }
  for (const held of before.deletions.held) {
    const now = after.deletions.held.find((it) => it.digest === held.digest);
    if (held.confirmed && now?.confirmed === false) yield `the confirmation ${held.digest.slice(0, 8)} was forgotten`;
  }
  const { history } = simulation.hub;
  const [parent, tip] = [simulation.hub.commitAt(commit).parent, history[history.indexOf(commit) - 1] ?? null];
  if (parent !== tip) yield `the state branch moved to a commit on ${parent}, and stood at ${tip}`;
}

/** I-22: applied is what was acknowledged, available what was seen to be, and nobody is well who did not answer. */
function* tellsTheTruth({ facts, commit, before, after }: Page, judge: Judge): Generator<string> {
  for (const [name, { trouble, kubeSystemUid }] of after.clusters) {
    const isUsable = judge.inForce.at(after.sourceCommit as Commit).has(`clusters/${name}.yaml`);
    if (trouble === null && kubeSystemUid !== null && isUsable && !facts.answered.has(name))
      yield `${name} is well, and did not answer in this pass`;
  }
  for (const [record, binding] of bindingsOf(after)) {
    const { cluster, facts: told, target } = binding;
    const old = before?.placements.get(record.key)?.bindings.get(cluster)?.facts;
    if (told === null || told === old || told.applied !== "applied" || told.sequence !== target?.sequence) continue;
    const uid = after.clusters.get(cluster)?.kubeSystemUid;
    // Of a member that left, what it said last stands.
    if (uid == null) continue;
    for (const manifest of renderedAt(judge, commit, `rendered/${cluster}/${record.key}.yaml`)) {
      const { key, content, image } = manifest;
      if (judge.acknowledged.get(`${uid} ${key}`)?.has(content) !== true)
        yield `${record.key} is applied on ${cluster}, and ${key} was never written like that`;
      if (told.phase === "available" && image !== "" && !judge.healthy.has(`${uid} ${key} ${image}`))
        yield `${record.key} is available on ${cluster}, and ${key} was never seen available with ${image}`;
    }
  }
}

interface RenderedObject {
  readonly key: string;
  readonly content: string;
  readonly image: string;
}

const rendered = new Map<string, readonly RenderedObject[]>();

/** The manifests of a file of the state branch. Equal blobs are equal manifests. */
function renderedAt({ simulation: { hub } }: Judge, commit: Commit, path: string): readonly RenderedObject[] {
  const blob = hub.treeAt(commit).get(path) ?? "";
  const known = rendered.get(blob) ?? parsed(hub.textAt(commit, path) ?? "");
  if (rendered.size > 2_000) rendered.clear();
  rendered.set(blob, known);
  return known;
}

const parsed = (text: string): readonly RenderedObject[] =>
  parseAllDocuments(text).map((it): RenderedObject => {
    const manifest = it.toJS() as JsonObject;
    const [group] = String(manifest["apiVersion"]).includes("/") ? String(manifest["apiVersion"]).split("/") : [""];
    const { name, namespace = null } = manifest["metadata"] as { name: string; namespace?: string };
    const key = keyOf({ group: group ?? "", kind: String(manifest["kind"]), namespace, name });
    return { key, content: contentOf(manifest), image: manifest["kind"] === "Deployment" ? imageOf(manifest) : "" };
  });

/** I-25: the source branch stands where people put it, and the record says from which commit it was made. */
function* writesOnlyItsBranch({ commit, after }: Page, { simulation: { hub, people } }: Judge): Generator<string> {
  if (!hub.commitAt(commit).message.includes(`Source-Commit: ${after.sourceCommit}`))
    yield `${commit} names no source commit`;
  if (after.sourceCommit !== null && !people.pushed.includes(after.sourceCommit))
    yield `${after.sourceCommit} was accepted, and people never pushed it`;
}
