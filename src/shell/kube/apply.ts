import { setTimeout as sleep } from "node:timers/promises";
import { fingerprintOf } from "../../core/apply/fingerprint.ts";
import { marked } from "../../core/apply/mark.ts";
import { migration } from "../../core/apply/migrate.ts";
import { applyOrder } from "../../core/apply/waves.ts";
import type { InventoryEntry } from "../../core/model/inventory.ts";
import { isObject, type JsonObject, memberAt, textOf } from "../../core/model/json.ts";
import { apiVersionOf, type Manifest, objectText } from "../../core/model/manifest.ts";
import { fieldManager } from "../../core/model/names.ts";
import { kindKey } from "../../core/model/scope.ts";
import { type Answer, applyPatch, jsonPatch, type Refused } from "./client.ts";
import { objectPath, type Resource, resourceOf, type Served } from "./discovery.ts";
import { type Failure, failedOutcome, refusedWrite } from "./failure.ts";
import type { Result, Scene, Write } from "./scene.ts";
import { lookUp } from "./survey.ts";
import { type Approach, approach, differenceOf } from "./takeover.ts";

/**
 * Writes objects wave by wave, all of a wave at once as far as the client's lanes reach (`RULINGS.md` C 33).
 *
 * A namespace or a definition that failed stops what depends on it and nothing else. Writes that ended in nothing, because
 * the member was lost, have no result: their claim stands, and the next pass finds out.
 */
export async function applyAll(scene: Scene, writes: readonly Write[]): Promise<ReadonlyMap<Write, Result>> {
  const results = new Map<Write, Result>();
  const blocked = new Map<string, string>();
  for (const wave of applyOrder(writes)) {
    await awaitKinds(scene, wave, results);
    await Promise.all(
      wave.map(async (write) => {
        const result = await scene.contact.attempt(
          () => applyUnlessBlocked(scene, write, blocked),
          (message) => unanswered(scene, write, { code: "ManifestApplyFailed", message }),
        );
        if (result !== null) results.set(write, result);
      }),
    );
    for (const write of wave) {
      // What is left to others exists: only a write that failed leaves a gap.
      const isGap = write.approach.kind === "write" && results.get(write)?.effect === "failed";
      if (isGap) block(blocked, write);
    }
  }
  return results;
}

/** Names what cannot be written any more: everything in a namespace, every object of a kind. */
function block(blocked: Map<string, string>, { id, item }: Write): void {
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

const patienceMs = 15_000;
const pauseMs = 200;

/** Kinds of definitions that were just applied are served a moment later; others are looked for once. */
async function awaitKinds(scene: Scene, wave: readonly Write[], results: ReadonlyMap<Write, Result>): Promise<void> {
  const { client, discovery } = scene;
  const defined = new Set(
    [...results].flatMap(([{ item }, { effect }]) => (effect === "failed" ? [] : [definedKind(item.manifest)])),
  );
  const attempts = Math.ceil(patienceMs / pauseMs);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const served = await scene.contact.attempt<Served | null>(
      () => (attempt === 0 ? discovery.served(client) : discovery.refresh(client)),
      () => null,
    );
    if (served === null) return;
    const unknown = wave.filter(({ id }) => resourceOf(served, id) === null);
    const isComing = unknown.some(({ id }) => defined.has(kindKey(id)));
    if (unknown.length === 0 || (attempt > 0 && !isComing)) return;
    if (attempt > 0) await sleep(pauseMs);
  }
}

async function applyUnlessBlocked(scene: Scene, write: Write, blocked: ReadonlyMap<string, string>): Promise<Result> {
  const { id } = write;
  const namespace = blocked.get(`namespace ${id.namespace}`);
  if (namespace !== undefined)
    return failed(scene, write, { code: "NamespaceMissing", message: `${namespace} failed` });
  const definition = blocked.get(`kind ${kindKey(id)}`);
  if (definition !== undefined) return failed(scene, write, { code: "KindUnknown", message: `${definition} failed` });
  const resource = resourceOf(await scene.discovery.served(scene.client), id);
  if (resource !== null) return carryOut(scene, resource, write);
  const message = `the member does not serve ${id.kind} in version ${apiVersionOf(id)}`;
  return failed(scene, write, { code: "KindUnknown", message });
}

async function carryOut(scene: Scene, resource: Resource, write: Write): Promise<Result> {
  const { approach: way, item, action } = write;
  switch (way.kind) {
    case "leave":
      return failed(scene, write, way.failure);
    case "compare": {
      const isFull = action.applyStrategy.comparisonOption === "FullComparison";
      const difference = await differenceOf({ client: scene.client, resource, item, isFull });
      if (difference !== null) return failed(scene, write, difference);
      return send(scene, resource, write, { ...way, kind: "write", adopted: true });
    }
    case "write":
      return send(scene, resource, write, way);
  }
}

type Writing = Extract<Approach, { kind: "write" }>;

async function send(scene: Scene, resource: Resource, write: Write, way: Writing): Promise<Result> {
  const { kind } = write.id;
  const before = way.live === null ? null : await handOver(scene, resource, write, way.live);
  if (before?.kind === "refused") return failed(scene, write, refusedWrite(before, kind));
  const answer = await patch(scene, resource, write, way.uid);
  if (answer.kind === "refused") {
    const again = way.uid === null ? null : await approachAgain(scene, resource, write, answer);
    if (again !== null) return carryOut(scene, resource, again);
    // A server that is out of order, or out of time, may have written all the same.
    const outcome = answer.status >= 500 ? unanswered : failed;
    return outcome(scene, write, refusedWrite(answer, kind));
  }
  // The server itself notes fields of unknown origin when an object without any managed fields is first applied to.
  if (way.live !== null) await handOver(scene, resource, write, answer.body);
  const isNew = answer.status === 201;
  const adopted = way.adopted || (!isNew && way.uid === null && hasOtherAuthors(answer.body));
  return { entry: writtenEntry(write, answer.body, adopted), effect: isNew ? "created" : effectOf(scene, answer.body) };
}

/**
 * Whether others wrote more of an object than its status. Of one that we meant to create, it says that somebody else was
 * faster: it existed before, and is not ours to delete.
 */
function hasOtherAuthors(live: Manifest): boolean {
  const listed = memberAt(live, "metadata", "managedFields");
  const entries = Array.isArray(listed) ? listed.filter(isObject) : [];
  return entries.some((it) => it["manager"] !== fieldManager && (it["subresource"] ?? "") === "");
}

const patch = (scene: Scene, resource: Resource, write: Write, uid: string | null): Promise<Answer> =>
  scene.client.request({
    method: "PATCH",
    path: objectPath(resource, write.id),
    query: { fieldManager, force: String(isForced(write)) },
    contentType: applyPatch,
    body: bodyOf(scene, write, uid),
  });

/** Client-side apply overwrites what others changed; server-side apply asks to be told to (`RULINGS.md` C 15). */
const isForced = ({ action: { applyStrategy } }: Write): boolean =>
  applyStrategy.type === "ClientSideApply" || applyStrategy.forceConflicts;

/** With its uid, the object that we mean is written and no other of that name. */
function bodyOf({ actions: { fleet, epoch } }: Scene, { item, action }: Write, uid: string | null): JsonObject {
  const { placement, sequence } = action;
  const manifest = marked(item.manifest, { placement, fleet, epoch, sequence });
  if (uid === null) return manifest;
  const metadata = isObject(manifest["metadata"]) ? manifest["metadata"] : {};
  return { ...manifest, metadata: { ...metadata, uid } };
}

/**
 * When an object that we knew turns out to be gone, or to be another of the same name, it is looked at afresh: created
 * again, or taken over as its strategy says. Null when the refusal had another reason. The second look names no uid any
 * more, so there is no third.
 */
async function approachAgain(
  { client, actions }: Scene,
  resource: Resource,
  write: Write,
  refusal: Refused,
): Promise<Write | null> {
  const { action, before, id } = write;
  if (refusal.status !== 409 && refusal.status !== 422) return null;
  if (refusal.causes.some((it) => it.reason === "FieldManagerConflict")) return null;
  const found = await lookUp(client, resource, id);
  const uid = found.kind === "present" ? memberAt(found.live, "metadata", "uid") : null;
  if (uid !== null && uid === (write.approach.kind === "write" ? write.approach.uid : null)) return null;
  const way = approach(found, { fleet: actions.fleet, action, entry: before, rival: null });
  return { ...write, approach: way.kind === "write" ? { ...way, uid: null } : way };
}

/** Hands fields of client-side apply over to us; null when there are none. */
async function handOver(scene: Scene, resource: Resource, { id }: Write, live: Manifest): Promise<Answer | null> {
  const operations = migration(live, fieldManager);
  if (operations === null) return null;
  return scene.client.request({
    method: "PATCH",
    path: objectPath(resource, id),
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
const effectOf = ({ asOf }: Scene, live: Manifest): Result["effect"] =>
  Number(textOf(memberAt(live, "metadata", "resourceVersion"))) <= Number(asOf) ? "none" : "configured";

function writtenEntry({ item, action, before }: Write, live: Manifest, adopted: boolean): InventoryEntry {
  const uid = textOf(memberAt(live, "metadata", "uid"));
  return {
    ...plainEntry(item, action),
    uid,
    adopted: adopted || (before?.adopted === true && before.uid === uid),
    fingerprint: fingerprintOf(live, fieldManager),
    outcome: { kind: "applied" },
  };
}

/** A failed write leaves what the inventory knew about the object, and says why. */
function failed(scene: Pick<Scene, "now">, write: Write, failure: Failure): Result {
  return { entry: failedEntry(scene, write, failure), effect: "failed" };
}

/** Nobody knows whether the write was carried out: that it may have adopted the object is not forgotten with its answer. */
function unanswered(scene: Pick<Scene, "now">, write: Write, failure: Failure): Result {
  const entry = failedEntry(scene, write, failure);
  return { entry: { ...entry, adopted: entry.adopted || adopts(write.approach) }, effect: "failed" };
}

function failedEntry({ now }: Pick<Scene, "now">, write: Write, failure: Failure): InventoryEntry {
  const { item, action, before, approach: way } = write;
  const known = way.kind === "write" ? before : null;
  return {
    ...plainEntry(item, action),
    uid: known?.uid ?? null,
    adopted: known?.adopted ?? false,
    fingerprint: known?.fingerprint ?? null,
    outcome: failedOutcome(failure, before?.outcome ?? null, now),
  };
}

/** Whether the write would take over what others made. */
const adopts = (way: Approach): boolean => way.kind === "compare" || (way.kind === "write" && way.adopted);

/** What the inventory says of an object from the claim on, until its result is known. */
export function claimedEntry(scene: Pick<Scene, "now">, write: Write): InventoryEntry {
  const { approach: way, before, item, action } = write;
  if (way.kind === "leave") return failedEntry(scene, write, way.failure);
  return {
    ...plainEntry(item, action),
    uid: way.kind === "write" && way.live === null ? way.uid : null,
    adopted: adopts(way),
    fingerprint: before?.fingerprint ?? null,
    outcome: { kind: "claimed" },
  };
}

const plainEntry = ({ id, digest }: Write["item"], { sequence }: Write["action"]) =>
  ({ version: id.version, digest, sequence }) as const;
