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
import { apiVersionOf, kindKey, type Manifest, objectKey, objectText } from "../../../core/model/manifest.ts";
import { fieldManager } from "../../../core/model/names.ts";
import type { ApiFailure, ApiResponse } from "../client/api-request.ts";
import { applyPatch, jsonPatch } from "../client/client.ts";
import { forEachConcurrently } from "../client/concurrency.ts";
import { type ApiResource, objectPath, resourceOf, type ServedResources } from "../client/discovery.ts";
import { type ApplyContext, writeFailure } from "./apply-context.ts";
import { compareWithLive } from "./compare-with-live.ts";
import { lookUpObject } from "./lookup.ts";
import { manifestText } from "./manifest-text.ts";

/**
 * Writes objects wave by wave (`apply/README.md#c-33`); a failed namespace or definition stops what depends on it.
 * Writes to a member that was lost have no result: their claim remains, and the next pass finds out.
 */
export async function applyAll(
  context: ApplyContext,
  writes: readonly WriteTask[],
): Promise<ReadonlyMap<WriteTask, TaskResult>> {
  const results = new Map<WriteTask, TaskResult>();
  const blocked = new Map<string, string>();
  const sent = new Map<WriteTask, Writing>();
  for (const wave of applyOrder(writes)) {
    await awaitKinds(context, wave, results);
    await forEachConcurrently(wave, async (write) => {
      const result = await context.contact.attempt(
        () => applyUnlessBlocked({ context, write, sent }, blocked),
        (message) => unanswered({ context, write, sent }, { code: "ManifestApplyFailed", message }),
      );
      if (result !== null) results.set(write, result);
    });
    for (const write of wave) {
      // An object that is left to others exists: only a failed write leaves a gap.
      const isGap = write.takeover.kind === "write" && results.get(write)?.effect === "failed";
      if (isGap) block(blocked, write);
    }
  }
  return results;
}

/** Notes what can no longer be written: everything in a namespace, every object of a kind. */
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

/** Kinds of definitions that were just applied are served a moment later; other unknown kinds are discovered once more. */
async function awaitKinds(
  context: ApplyContext,
  wave: readonly WriteTask[],
  results: ReadonlyMap<WriteTask, TaskResult>,
): Promise<void> {
  const { client, discovery } = context;
  const defined = new Set(
    [...results].flatMap(([{ item }, { effect }]) => (effect === "failed" ? [] : [definedKind(item.manifest)])),
  );
  const attempts = Math.ceil(maxKindWaitMs / kindPollMs);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const served = await context.contact.attempt<ServedResources | null>(
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
  const { context, write } = task;
  const { id } = write;
  const namespace = blocked.get(`namespace ${id.namespace}`);
  if (namespace !== undefined)
    return failed(context, write, { code: "NamespaceMissing", message: `${namespace} failed` });
  const definition = blocked.get(`kind ${kindKey(id)}`);
  if (definition !== undefined) return failed(context, write, { code: "KindUnknown", message: `${definition} failed` });
  const resource = resourceOf(await context.discovery.served(context.client), id);
  const objection = resource === null ? null : scopeMismatch(resource, id);
  if (objection !== null) return failed(context, write, objection);
  if (resource !== null) return carryOut({ ...task, resource }, write.takeover);
  const message = `the member does not serve ${id.kind} in version ${apiVersionOf(id)}`;
  return failed(context, write, { code: "KindUnknown", message });
}

interface WriteContext {
  readonly context: ApplyContext;
  readonly write: WriteTask;
  /** How each object was last written: the decision may differ from the claim. */
  readonly sent: Map<WriteTask, Writing>;
}

/** The same, with the resource through which it is written. */
interface ResourceTask extends WriteContext {
  readonly resource: ApiResource;
}

/** How often an object that turns out to be another one is looked up again. */
const maxLooks = 3;

async function carryOut(task: ResourceTask, decision: TakeoverDecision, look = 1): Promise<TaskResult> {
  const { context, resource, write } = task;
  switch (decision.kind) {
    case "leave":
      return failed(context, write, decision.failure);
    case "wait":
      return { entry: claimedEntry(context, { ...write, takeover: decision }), effect: "none" };
    case "compare": {
      const isFull = write.action.applyStrategy.comparisonOption === "FullComparison";
      const difference = await compareWithLive({ client: context.client, resource, item: write.item, isFull });
      if (difference !== null) return failed(context, write, difference);
      return send(task, { ...decision, kind: "write", adopted: true }, look);
    }
    case "write":
      return send(task, decision, look);
  }
}

type Writing = Extract<TakeoverDecision, { kind: "write" }>;

async function send(task: ResourceTask, decision: Writing, look: number): Promise<TaskResult> {
  const { context, write } = task;
  const { kind } = write.id;
  const before = decision.live === null ? null : await takeFieldOwnership(task, decision.live);
  if (before?.kind === "refused") return failed(context, write, writeFailure(before, kind));
  task.sent.set(write, decision);
  const answer = await patch(task, decision.uid);
  if (answer.kind === "refused") {
    const again = look < maxLooks ? await decideAgain(task, decision, answer) : null;
    if (again?.kind === "write" && again.uid === null && decision.uid !== null) return madeAnewLater(task);
    if (again !== null) return carryOut(task, again, look + 1);
    // After a server error the write may have happened all the same.
    const failure = writeFailure(answer, kind);
    return answer.status >= 500 ? unanswered(task, failure) : failed(context, write, failure);
  }
  // The server adds managed fields of unknown origin when it first applies to an object without any.
  if (decision.live !== null) await takeFieldOwnership(task, answer.body);
  const effect = answer.status === 201 ? "created" : effectOf(context, answer.body);
  return { entry: writtenEntry(context, write, { live: answer.body, adopted: decision.adopted, effect }), effect };
}

function patch({ context, resource, write }: ResourceTask, uid: string | null): Promise<ApiResponse> {
  return context.client.request({
    method: "PATCH",
    path: objectPath(resource, write.id),
    query: { fieldManager, force: String(isForced(write)) },
    contentType: applyPatch,
    text: manifestText(write.item.manifest, metadataOf(context, write, uid)),
  });
}

/** Client-side apply overwrites what others changed; server-side apply does so only on request (`apply/README.md#c-15`). */
const isForced = ({ action: { applyStrategy } }: WriteTask): boolean =>
  applyStrategy.type === "ClientSideApply" || applyStrategy.forceConflicts;

/** The resourceVersion that no object has, as etcd uses it before any write: an apply with it creates or conflicts. */
const noVersion = "1";

/** With a uid, only that very object is written and no other of its name; without one, it is created or nothing happens. */
function metadataOf(
  { actions: { fleet, epoch } }: ApplyContext,
  { item, action }: WriteTask,
  uid: string | null,
): JsonObject {
  const { placement, sequence } = action;
  const { metadata } = marked(item.manifest, { placement, fleet, epoch, sequence });
  return { ...(isObject(metadata) ? metadata : {}), ...(uid === null ? { resourceVersion: noVersion } : { uid }) };
}

/** Looks a vanished or replaced object up again: made under another claim, or taken over; null for other refusals. */
async function decideAgain(
  { context, resource, write }: ResourceTask,
  decision: Writing,
  refusal: ApiFailure,
): Promise<TakeoverDecision | null> {
  const { action, before, id } = write;
  const isCreation = decision.uid === null;
  if (refusal.status !== 409 && (isCreation || refusal.status !== 422)) return null;
  if (!isCreation && refusal.causes.some((it) => it.reason === "FieldManagerConflict")) return null;
  const found = await lookUpObject(context.client, resource, id);
  const uid = found.kind === "present" ? textOf(memberAt(found.live, "metadata", "uid")) : null;
  if (found.kind !== "unknown" && uid === decision.uid) return null;
  const entry = before ?? claimedEntry(context, write);
  const again = decideTakeover(found, { ...context.actions, key: objectKey(id), action, entry, rival: null });
  // The claim does not say that it existed before; if interrupted now, it would count as ours to delete.
  return isCreation && adopts(again) ? { kind: "leave", failure: createdMeanwhile } : again;
}

const createdMeanwhile: Failure = {
  code: "FailedToTakeOver",
  message: "somebody else created it in the meantime; the next pass takes it over or leaves it alone",
};

/** Moves the fields of client-side apply to our field manager; null when there are none. */
async function takeFieldOwnership(
  { context, resource, write }: ResourceTask,
  live: Manifest,
): Promise<ApiResponse | null> {
  const operations = migration(live, fieldManager);
  if (operations === null) return null;
  return context.client.request({
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

/** A known object is gone: recreated under this claim, it might count as made by others; the next claim has no uid. */
function madeAnewLater({ context, write }: ResourceTask): TaskResult {
  const entry = claimedEntry(context, write);
  return { entry: { ...entry, uid: null, adopted: false, fingerprint: null }, effect: "failed" };
}

/** A failed write leaves what the inventory knew about the object, and says why. */
function failed(context: Pick<ApplyContext, "now">, write: WriteTask, failure: Failure): TaskResult {
  return { entry: failedEntry(context, write, failure), effect: "failed" };
}

/** It may have happened: the entry keeps that it may have adopted the object, or that only we can have made it. */
function unanswered({ context, write, sent }: WriteContext, failure: Failure): TaskResult {
  const entry = failedEntry(context, write, failure);
  const decision = sent.get(write) ?? write.takeover;
  const isCreation = decision.kind === "write" && decision.uid === null;
  const made = { uid: null, adopted: false, fingerprint: null };
  return {
    entry: { ...entry, ...(isCreation ? made : { adopted: entry.adopted || adopts(decision) }) },
    effect: "failed",
  };
}
