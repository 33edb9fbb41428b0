import { type Failure, scopeMismatch } from "../../../core/apply/failure.ts";
import {
  adopts,
  claimedEntry,
  failedEntry,
  type TaskResult,
  type WriteTask,
  writtenEntry,
} from "../../../core/apply/inventory-entry.ts";
import { marked } from "../../../core/apply/mark.ts";
import { migration } from "../../../core/apply/migrate.ts";
import { decideTakeover, type TakeoverDecision } from "../../../core/apply/takeover.ts";
import { applyOrder } from "../../../core/apply/waves.ts";
import { isObject, type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import { apiVersionOf, kindKey, type Manifest, objectText } from "../../../core/model/manifest.ts";
import { fieldManager } from "../../../core/model/names.ts";
import { type ApiFailure, type ApiResponse, applyPatch, jsonPatch } from "../client/client.ts";
import { forEachConcurrently } from "../client/concurrency.ts";
import { type ApiResource, objectPath, resourceOf, type ServedResources } from "../client/discovery.ts";
import { type ApplyContext, writeFailure } from "./apply-context.ts";
import { compareWithLive } from "./compare-with-live.ts";
import { lookUpObject } from "./lookup.ts";
import { manifestText } from "./manifest-text.ts";

/**
 * Writes objects wave by wave, all of a wave at once as far as the client's lanes reach (`apply/README.md#c-33`).
 *
 * A namespace or a definition that failed stops what depends on it and nothing else. Writes that ended in nothing,
 * because the member was lost, have no result: their claim stands, and the next pass finds out.
 */
export async function applyAll(
  scene: ApplyContext,
  writes: readonly WriteTask[],
): Promise<ReadonlyMap<WriteTask, TaskResult>> {
  const results = new Map<WriteTask, TaskResult>();
  const blocked = new Map<string, string>();
  const sent = new Map<WriteTask, Writing>();
  for (const wave of applyOrder(writes)) {
    await awaitKinds(scene, wave, results);
    await forEachConcurrently(wave, async (write) => {
      const result = await scene.contact.attempt(
        () => applyUnlessBlocked({ scene, write, sent }, blocked),
        (message) => unanswered({ scene, write, sent }, { code: "ManifestApplyFailed", message }),
      );
      if (result !== null) results.set(write, result);
    });
    for (const write of wave) {
      // What is left to others exists: only a write that failed leaves a gap.
      const isGap = write.takeover.kind === "write" && results.get(write)?.effect === "failed";
      if (isGap) block(blocked, write);
    }
  }
  return results;
}

/** Names what cannot be written any more: everything in a namespace, every object of a kind. */
function block(blocked: Map<string, string>, { id, item }: WriteTask): void {
  if (id.group === "" && id.kind === "Namespace") blocked.set(`namespace ${id.name}`, objectText(id));
  const defined = definedKind(item.manifest);
  if (defined !== null) blocked.set(`kind ${defined}`, objectText(id));
}

/** `group/Kind` that a CustomResourceDefinition defines; null for everything else. */
function definedKind(manifest: Manifest): string | null {
  if (manifest["kind"] !== "CustomResourceDefinition") return null;
  const group = textOf(memberAt(manifest, "spec", "group"));
  const kind = textOf(memberAt(manifest, "spec", "names", "kind"));
  return group === null || kind === null ? null : kindKey({ group, kind });
}

const maxKindWaitMs = 15_000;
const kindPollMs = 200;

/** Kinds of definitions that were just applied are served a moment later; others are looked for once. */
async function awaitKinds(
  scene: ApplyContext,
  wave: readonly WriteTask[],
  results: ReadonlyMap<WriteTask, TaskResult>,
): Promise<void> {
  const { client, discovery } = scene;
  const defined = new Set(
    [...results].flatMap(([{ item }, { effect }]) => (effect === "failed" ? [] : [definedKind(item.manifest)])),
  );
  const attempts = Math.ceil(maxKindWaitMs / kindPollMs);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const served = await scene.contact.attempt<ServedResources | null>(
      async () => {
        if (attempt > 1) await client.pause(kindPollMs);
        return attempt === 0 ? discovery.served(client) : discovery.refresh(client);
      },
      () => null,
    );
    if (served === null) return;
    const unknown = wave.filter(({ id }) => resourceOf(served, id) === null);
    const isComing = unknown.some(({ id }) => defined.has(kindKey(id)));
    if (unknown.length === 0 || (attempt > 0 && !isComing)) return;
  }
}

async function applyUnlessBlocked(task: WriteContext, blocked: ReadonlyMap<string, string>): Promise<TaskResult> {
  const { scene, write } = task;
  const { id } = write;
  const namespace = blocked.get(`namespace ${id.namespace}`);
  if (namespace !== undefined)
    return failed(scene, write, { code: "NamespaceMissing", message: `${namespace} failed` });
  const definition = blocked.get(`kind ${kindKey(id)}`);
  if (definition !== undefined) return failed(scene, write, { code: "KindUnknown", message: `${definition} failed` });
  const resource = resourceOf(await scene.discovery.served(scene.client), id);
  const objection = resource === null ? null : scopeMismatch(resource, id);
  if (objection !== null) return failed(scene, write, objection);
  if (resource !== null) return carryOut({ ...task, resource }, write.takeover);
  const message = `the member does not serve ${id.kind} in version ${apiVersionOf(id)}`;
  return failed(scene, write, { code: "KindUnknown", message });
}

/** One object to be written. */
interface WriteContext {
  readonly scene: ApplyContext;
  readonly write: WriteTask;
  /** How each object was last tried to be written: what it was found to be may differ from what was claimed. */
  readonly sent: Map<WriteTask, Writing>;
}

/** The same, in the resource through which it is written. */
interface ResourceTask extends WriteContext {
  readonly resource: ApiResource;
}

/** How often an object that turns out to be another than we thought is looked at afresh. */
const maxLooks = 3;

async function carryOut(errand: ResourceTask, way: TakeoverDecision, look = 1): Promise<TaskResult> {
  const { scene, resource, write } = errand;
  switch (way.kind) {
    case "leave":
      return failed(scene, write, way.failure);
    case "wait":
      return { entry: claimedEntry(scene, { ...write, takeover: way }), effect: "none" };
    case "compare": {
      const isFull = write.action.applyStrategy.comparisonOption === "FullComparison";
      const difference = await compareWithLive({ client: scene.client, resource, item: write.item, isFull });
      if (difference !== null) return failed(scene, write, difference);
      return send(errand, { ...way, kind: "write", adopted: true }, look);
    }
    case "write":
      return send(errand, way, look);
  }
}

type Writing = Extract<TakeoverDecision, { kind: "write" }>;

async function send(errand: ResourceTask, way: Writing, look: number): Promise<TaskResult> {
  const { scene, write } = errand;
  const { kind } = write.id;
  const before = way.live === null ? null : await takeFieldOwnership(errand, way.live);
  if (before?.kind === "refused") return failed(scene, write, writeFailure(before, kind));
  errand.sent.set(write, way);
  const answer = await patch(errand, way.uid);
  if (answer.kind === "refused") {
    const again = look < maxLooks ? await decideAgain(errand, way, answer) : null;
    if (again?.kind === "write" && again.uid === null && way.uid !== null) return madeAnewLater(errand);
    if (again !== null) return carryOut(errand, again, look + 1);
    // A server that is out of order, or out of time, may have written all the same.
    const failure = writeFailure(answer, kind);
    return answer.status >= 500 ? unanswered(errand, failure) : failed(scene, write, failure);
  }
  // The server itself notes fields of unknown origin when an object without any managed fields is first applied to.
  if (way.live !== null) await takeFieldOwnership(errand, answer.body);
  const effect = answer.status === 201 ? "created" : effectOf(scene, answer.body);
  return { entry: writtenEntry(scene, write, { live: answer.body, adopted: way.adopted, effect }), effect };
}

function patch({ scene, resource, write }: ResourceTask, uid: string | null): Promise<ApiResponse> {
  return scene.client.request({
    method: "PATCH",
    path: objectPath(resource, write.id),
    query: { fieldManager, force: String(isForced(write)) },
    contentType: applyPatch,
    text: manifestText(write.item.manifest, metadataOf(scene, write, uid)),
  });
}

/** Client-side apply overwrites what others changed; server-side apply asks to be told to (`apply/README.md#c-15`). */
const isForced = ({ action: { applyStrategy } }: WriteTask): boolean =>
  applyStrategy.type === "ClientSideApply" || applyStrategy.forceConflicts;

/**
 * No object can have this version: the first of a store is spent before anything is written. An apply that names it creates,
 * or is refused with a conflict where an object stands already; managed fields come out as from any other apply.
 */
const noVersion = "1";

/** With its uid, the object that we mean is written and no other of that name; without one, it is created or nothing is. */
function metadataOf(
  { actions: { fleet, epoch } }: ApplyContext,
  { item, action }: WriteTask,
  uid: string | null,
): JsonObject {
  const { placement, sequence } = action;
  const { metadata } = marked(item.manifest, { placement, fleet, epoch, sequence });
  return { ...(isObject(metadata) ? metadata : {}), ...(uid === null ? { resourceVersion: noVersion } : { uid }) };
}

/**
 * When an object that we knew turns out to be gone, or to be another of the same name, it is looked at afresh: made anew
 * under another claim, or taken over as its strategy says. Null when the refusal had another reason.
 */
async function decideAgain(
  { scene, resource, write }: ResourceTask,
  way: Writing,
  refusal: ApiFailure,
): Promise<TakeoverDecision | null> {
  const { action, before, id } = write;
  const isCreation = way.uid === null;
  if (refusal.status !== 409 && (isCreation || refusal.status !== 422)) return null;
  if (!isCreation && refusal.causes.some((it) => it.reason === "FieldManagerConflict")) return null;
  const found = await lookUpObject(scene.client, resource, id);
  const uid = found.kind === "present" ? textOf(memberAt(found.live, "metadata", "uid")) : null;
  if (found.kind !== "unknown" && uid === way.uid) return null;
  const entry = before ?? claimedEntry(scene, write);
  const again = decideTakeover(found, { ...scene.actions, action, entry, rival: null });
  // The claim does not say that it existed before us, and were we cut short now, it would count as ours to delete.
  return isCreation && adopts(again) ? { kind: "leave", failure: createdMeanwhile } : again;
}

const createdMeanwhile: Failure = {
  code: "FailedToTakeOver",
  message: "somebody else created it in the meantime; the next pass takes it over or leaves it alone",
};

/** Hands fields of client-side apply over to us; null when there are none. */
async function takeFieldOwnership(
  { scene, resource, write }: ResourceTask,
  live: Manifest,
): Promise<ApiResponse | null> {
  const operations = migration(live, fieldManager);
  if (operations === null) return null;
  return scene.client.request({
    method: "PATCH",
    path: objectPath(resource, write.id),
    query: { fieldManager },
    contentType: jsonPatch,
    body: operations,
  });
}

/**
 * An apply that changed nothing leaves the resourceVersion as it was. These are the store's revisions, which grow with
 * every write to the member; where they are something else, or somebody else wrote the object meanwhile, it counts as
 * configured. For reports only.
 */
const effectOf = ({ asOf }: ApplyContext, live: Manifest): TaskResult["effect"] =>
  Number(textOf(memberAt(live, "metadata", "resourceVersion"))) <= Number(asOf) ? "none" : "configured";

/**
 * An object that we knew is gone, and the claim names it by its uid: were we cut short once it is made anew, it would count
 * as made by others. The next claim says that nothing is there.
 */
function madeAnewLater({ scene, write }: ResourceTask): TaskResult {
  const entry = claimedEntry(scene, write);
  return { entry: { ...entry, uid: null, adopted: false, fingerprint: null }, effect: "failed" };
}

/** A failed write leaves what the inventory knew about the object, and says why. */
function failed(scene: Pick<ApplyContext, "now">, write: WriteTask, failure: Failure): TaskResult {
  return { entry: failedEntry(scene, write, failure), effect: "failed" };
}

/**
 * Nobody knows whether the write was carried out: that it may have adopted the object is not forgotten with its answer, nor
 * that only we can have made what comes to stand where nothing stood.
 */
function unanswered({ scene, write, sent }: WriteContext, failure: Failure): TaskResult {
  const entry = failedEntry(scene, write, failure);
  const way = sent.get(write) ?? write.takeover;
  const isCreation = way.kind === "write" && way.uid === null;
  const made = { uid: null, adopted: false, fingerprint: null };
  return { entry: { ...entry, ...(isCreation ? made : { adopted: entry.adopted || adopts(way) }) }, effect: "failed" };
}
