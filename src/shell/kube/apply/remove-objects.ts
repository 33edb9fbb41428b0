import type { RemovalTask, TaskResult } from "../../../core/apply/inventory-entry.ts";
import { isWriteOf, markOf, readMark, unmarkPatch } from "../../../core/apply/mark.ts";
import { mayBeAdopted } from "../../../core/apply/takeover.ts";
import { removeOrder } from "../../../core/apply/waves.ts";
import { type ForeignObject, type ForeignObjects, maxForeignObjects } from "../../../core/model/deletion.ts";
import type { FailureCode, InventoryEntry } from "../../../core/model/inventory.ts";
import { type JsonObject, listAt, memberAt, textOf } from "../../../core/model/json.ts";
import { kindKey, objectKey, objectText } from "../../../core/model/manifest.ts";
import { fieldManager } from "../../../core/model/names.ts";
import { jsonPatch } from "../client/client.ts";
import { forEachConcurrently } from "../client/concurrency.ts";
import { type ApiResource, anyResourceOf, objectPath, resourceOf } from "../client/discovery.ts";
import { type ApplyContext, failureMessage } from "./apply-context.ts";
import { lookUpObject } from "./lookup.ts";
import { definitionInstances, namespaceContents } from "./namespace-contents.ts";

/** Deletes or releases objects, last applied first; without an outcome there is no result, and the entry stays. */
export async function removeAll(
  context: ApplyContext,
  removals: readonly RemovalTask[],
  isCarried: (removal: RemovalTask) => boolean = () => false,
): Promise<ReadonlyMap<RemovalTask, TaskResult>> {
  const results = new Map<RemovalTask, TaskResult>();
  const going = new Set<string>();
  const namespaces = new Set(
    removals.flatMap((it) => (isNamespaceToDelete(it) ? namespaceIn(it.action, it.id.name) : [])),
  );
  for (const wave of removeOrder(removals)) {
    await forEachConcurrently(wave, async (removal) => {
      const result = await context.contact.attempt(
        // One object that is served in two groups goes under one key and stays under the other (`plan/README.md#d-9`).
        async () => (isCarried(removal) ? gone : removeOne({ context, going, namespaces }, removal)),
        (message) => lingering(removal.entry, "DeletionRefused", message),
      );
      if (result === null) return;
      results.set(removal, result);
      const { uid } = removal.item;
      if (uid !== null && removal.item.how === "delete" && isGoing(result)) going.add(uid);
    });
  }
  return results;
}

interface Removing {
  readonly context: ApplyContext;
  /** Uids of objects that are being deleted. */
  readonly going: ReadonlySet<string>;
  /** Those that are to be deleted and take new objects until then, with the placement that they are of. */
  readonly namespaces: ReadonlySet<string>;
}

const isNamespaceToDelete = ({ id, item, entry }: RemovalTask): boolean =>
  id.group === "" && id.kind === "Namespace" && item.how === "delete" && !isTerminating(entry);

const namespaceIn = ({ placement }: RemovalTask["action"], namespace: string | null): string =>
  `${placement} ${namespace}`;

/** Whether the object itself is being deleted: a dropped entry alone does not say so. */
const isGoing = ({ entry, effect }: TaskResult): boolean =>
  effect === "deleted" || (entry !== null && isTerminating(entry));

const isTerminating = ({ outcome }: InventoryEntry): boolean =>
  outcome.kind === "lingering" && outcome.code === "Terminating";

const gone: TaskResult = { entry: null, effect: "none" };

async function removeOne(removing: Removing, removal: RemovalTask): Promise<TaskResult> {
  const { context, going } = removing;
  const { item, entry } = removal;
  const resource = await resourceFor(context, removal);
  if (resource === "gone") return gone;
  if (resource === null)
    return lingering(entry, "DeletionRefused", `API discovery fails on the member for ${item.id.kind}`);
  // A definition recreated in the other scope has taken all earlier objects with it.
  if (resource.namespaced && item.id.namespace === null) return gone;
  if (item.uid === null || entry.uid === null) return identify(removing, removal, resource);
  if (item.uid !== entry.uid) {
    return lingering(entry, "IdentityChanged", "its uid in the inventory differs from the one to delete");
  }
  return item.how === "release"
    ? releaseObject(context, removal, resource)
    : deleteObject({ context, removal, resource }, going);
}

/** Any served version will do to delete an object; where its kind is not served at all, the object is gone. */
async function resourceFor(
  { client, discovery }: ApplyContext,
  { id }: RemovalTask,
): Promise<ApiResource | "gone" | null> {
  const known = await discovery.served(client);
  const found = resourceOf(known, id) ?? anyResourceOf(known, id);
  if (found !== null) return found;
  const served = await discovery.refresh(client);
  return anyResourceOf(served, id) ?? (served.uncertainGroups.has(id.group) ? null : "gone");
}

/**
 * A claim whose result was lost has no uid. If the live object carries our mark with a sequence since the claim, its
 * uid is recorded, and deletion follows in a later pass (`plan/README.md#d-7`); otherwise the object is not ours and is
 * forgotten, once its namespace goes where that is to be deleted, which takes no new objects then.
 */
async function identify(
  { context, namespaces }: Removing,
  { id, entry, action }: RemovalTask,
  resource: ApiResource,
): Promise<TaskResult> {
  const found = await lookUpObject(context.client, resource, id);
  if (found.kind === "unknown") return lingering(entry, "DeletionRefused", failureMessage(found.refusal, id.kind));
  // Whoever claimed it may be about to create it.
  const mayCome = namespaces.has(namespaceIn(action, id.namespace));
  if (found.kind === "absent") return mayCome ? { entry, effect: "none" } : gone;
  const mark = readMark(found.live);
  const isOurs =
    mark?.fleet === context.actions.fleet &&
    mark.label === markOf(action.placement) &&
    isWriteOf(mark, entry, action.sequence);
  const uid = textOf(memberAt(found.live, "metadata", "uid"));
  if (!isOurs || uid === null) return gone;
  return { entry: { ...entry, uid, adopted: mayBeAdopted(entry, uid) }, effect: "none" };
}

interface DeletionContext {
  readonly context: ApplyContext;
  readonly removal: RemovalTask;
  readonly resource: ApiResource;
}

/** How often an object that changed between our read and our request is read again. */
const maxLooks = 5;

/**
 * Deletes one object, and only as it was when the member was asked: uid and resourceVersion in the request hold the
 * member to what we saw, our mark included (`plan/README.md#d-1`, `apply/README.md#i-27` and `kube/README.md#f-31`).
 */
async function deleteObject(removing: DeletionContext, going: ReadonlySet<string>): Promise<TaskResult> {
  const { context, removal, resource } = removing;
  const { id, entry } = removal;
  for (let look = 1; ; look += 1) {
    const found = await lookUpObject(context.client, resource, id);
    if (found.kind === "unknown") return lingering(entry, "DeletionRefused", failureMessage(found.refusal, id.kind));
    if (found.kind === "absent") return gone;
    const objection = await objectionTo(removing, found.live, going);
    if (objection !== null) return objection;
    if (memberAt(found.live, "metadata", "deletionTimestamp") !== null) return terminating(entry, found.live);
    const resourceVersion = memberAt(found.live, "metadata", "resourceVersion");
    const answer = await context.client.request({
      method: "DELETE",
      path: objectPath(resource, id),
      body: {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: "Background",
        preconditions: { uid: entry.uid, resourceVersion },
      },
    });
    if (answer.kind === "done") return removed(removing, answer.body);
    if (answer.status === 404 && answer.about !== "") return gone;
    if (answer.status === 409 && look < maxLooks) continue;
    return lingering(entry, "DeletionRefused", failureMessage(answer, id.kind));
  }
}

/** What a deletion that the member accepted has come to. */
async function removed(
  { context, removal: { id, entry }, resource }: DeletionContext,
  answer: JsonObject,
): Promise<TaskResult> {
  if (answer["kind"] === "Status") return { entry: null, effect: "deleted" };
  // The answer is the object as it was; some kinds are gone all the same.
  const after = await lookUpObject(context.client, resource, id);
  if (after.kind === "absent") return { entry: null, effect: "deleted" };
  const last = after.kind === "present" ? after.live : answer;
  return { ...terminating(entry, last), effect: "deleted" };
}

/** Why a live object may not be deleted, or need not; null when it may. */
async function objectionTo(
  { context, removal }: DeletionContext,
  live: JsonObject,
  going: ReadonlySet<string>,
): Promise<TaskResult | null> {
  const { id, entry, action, item } = removal;
  if (memberAt(live, "metadata", "uid") !== entry.uid) {
    return lingering(entry, "IdentityChanged", "it was made anew by somebody else and is left alone");
  }
  const mark = readMark(live);
  if (mark === null || mark.fleet !== context.actions.fleet || mark.label === "") {
    return lingering(entry, "DeletionRefused", "it does not carry our mark any more and is left alone");
  }
  // Another placement of ours has taken it meanwhile.
  if (mark.label !== markOf(action.placement)) return gone;
  if (isLater(live, context, removal)) {
    return lingering(entry, "DeletionRefused", "a later decision has written it again, and it is left alone");
  }
  const contentsIn = companies.get(kindKey(id));
  if (contentsIn === undefined) return null;
  const contents = await contentsIn(context, id.name, going);
  switch (contents.kind) {
    case "empty":
      return null;
    case "holds":
      // Whatever was confirmed: what stands there now decides, and none of it may be new (`plan/README.md#d-3`).
      return isCovered(contents.others, item.cascadesTo) ? null : occupied(entry, contents.others);
    case "unknown":
      // Not a case for a confirmation, which would let it go unseen: it is looked into again.
      return lingering(entry, "DeletionRefused", `what it holds cannot be seen: ${contents.text}`);
  }
}

/** Whether somebody confirmed of everything there that it goes along, and it is still the same. */
function isCovered({ count, objects }: ForeignObjects, confirmed: readonly ForeignObject[]): boolean {
  const known = new Set(confirmed.map((it) => `${objectKey(it)} ${it.uid}`));
  return count === objects.length && objects.every((it) => known.has(`${objectKey(it)} ${it.uid}`));
}

/** It holds objects of others: which, so that a person can be asked about just these. */
function occupied(entry: InventoryEntry, others: ForeignObjects): TaskResult {
  const { count, objects } = others;
  const shown = objects.slice(0, 3).map(objectText).join(", ") + (count > 3 ? ` and ${count - 3} more` : "");
  const message =
    count > maxForeignObjects
      ? `it holds ${count} objects of others, and no more than ${maxForeignObjects} can be confirmed: empty it first, of ${shown}`
      : `it holds what is not ours to delete: ${shown}`;
  const code = "NamespaceNotEmpty";
  const outcome = { kind: "lingering", code, message: message.slice(0, 512), others } as const;
  return { entry: { ...entry, outcome }, effect: "failed" };
}

/** Kinds whose objects take others along when they go, and what those are (`plan/README.md#d-4`). */
const companies: ReadonlyMap<string, typeof namespaceContents> = new Map([
  ["/Namespace", namespaceContents],
  ["apiextensions.k8s.io/CustomResourceDefinition", definitionInstances],
]);

const mostReleases = 3;

/** Takes our mark and our ownership of fields off an object, and forgets it; nothing else about it changes. */
async function releaseObject(context: ApplyContext, removal: RemovalTask, resource: ApiResource): Promise<TaskResult> {
  const { id, entry } = removal;
  const path = objectPath(resource, id);
  for (let attempt = 1; ; attempt += 1) {
    const live = await context.client.request({ method: "GET", path });
    // A 404 that names nothing is about the path: the member may serve the kind again.
    if (live.kind === "refused" && live.status === 404 && live.about !== "") return gone;
    if (live.kind === "refused") return lingering(entry, "DeletionRefused", failureMessage(live, id.kind));
    if (memberAt(live.body, "metadata", "uid") !== entry.uid || isTakenOver(context, removal, live.body)) return gone;
    const operations = unmarkPatch(live.body, fieldManager);
    if (operations.length <= 1) return gone;
    const query = { fieldManager };
    const request = { method: "PATCH", path, query, contentType: jsonPatch, body: operations } as const;
    const answer = await context.client.request(request);
    if (answer.kind === "done") return { entry: null, effect: "released" };
    if (answer.status === 409 && attempt < mostReleases) continue;
    return lingering(entry, "DeletionRefused", `it cannot be released: ${failureMessage(answer, id.kind)}`);
  }
}

/** Another placement, fleet or later decision has put its mark on it: nothing is left for us to take off. */
function isTakenOver(context: ApplyContext, removal: RemovalTask, live: JsonObject): boolean {
  const mark = readMark(live);
  if (mark === null) return false;
  const isOthers = mark.fleet !== context.actions.fleet || mark.label !== markOf(removal.action.placement);
  return isOthers || isLater(live, context, removal);
}

/** The fence once more, at the object: whoever froze after its claim does not undo what was decided since. */
function isLater(live: JsonObject, { actions }: ApplyContext, { action }: RemovalTask): boolean {
  const mark = readMark(live);
  if (mark === null) return false;
  return mark.epoch > actions.epoch || (mark.epoch === actions.epoch && mark.sequence > action.sequence);
}

function terminating(entry: InventoryEntry, live: JsonObject): TaskResult {
  const finalizers = listAt(live, "metadata", "finalizers").filter((it) => typeof it === "string");
  const waits = finalizers.length === 0 ? "" : `, waits for ${finalizers.slice(0, 3).join(", ")}`;
  return { ...lingering(entry, "Terminating", `is being deleted${waits}`), effect: "none" };
}

const lingering = (entry: InventoryEntry, code: FailureCode, message: string): TaskResult => ({
  entry: { ...entry, outcome: { kind: "lingering", code, message: message.slice(0, 512) } },
  effect: "failed",
});
