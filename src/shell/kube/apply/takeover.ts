import jsonPatch from "fast-json-patch";
import { isWriteOf, markOf, readMark } from "../../../core/apply/mark.ts";
import type { Inventory, InventoryEntry } from "../../../core/model/inventory.ts";
import { isObject, type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import { type Manifest, type ObjectKey, objectText } from "../../../core/model/manifest.ts";
import { fieldManager, flotillaGroup } from "../../../core/model/names.ts";
import type { ClusterActions, PlacementActions, RenderedManifest } from "../../../core/model/plan.ts";
import type { PlacementKey } from "../../../core/model/value.ts";
import { applyPatch, type Client } from "../client/client.ts";
import { type ApiResource, collectionPath, objectPath } from "../client/discovery.ts";
import { type Failure, failureMessage } from "./failure.ts";
import type { LookupResult } from "./lookup.ts";

/** How an object that is to be written is to be gone about. */
export type TakeoverDecision =
  /** Free to be written, under this uid if it has one; null creates it. */
  | { readonly kind: "write"; readonly uid: string | null; readonly adopted: boolean; readonly live: Manifest | null }
  /** Ours, and being deleted: no write keeps it, so it is listed, and made anew once it is gone. */
  | { readonly kind: "wait"; readonly uid: string; readonly adopted: boolean }
  /** Existed before we came, and may be taken only if it differs in nothing. */
  | { readonly kind: "compare"; readonly uid: string; readonly live: Manifest }
  | { readonly kind: "leave"; readonly failure: Failure };

/** Everything that decides whether an object may be taken, besides the object itself. */
interface Claimant extends Pick<ClusterActions, "fleet" | "epoch"> {
  readonly action: PlacementActions;
  readonly entry: InventoryEntry | null;
  /** Another placement of this fleet that has the object here, or is about to. */
  readonly rival: PlacementKey | null;
}

/** Decides about one object by what stands at its place (`apply/README.md#takeover`, `#takeover`). */
export function decideTakeover(found: LookupResult, claimant: Claimant): TakeoverDecision {
  const { fleet, action, entry, rival } = claimant;
  const leave = (code: Failure["code"], message: string): TakeoverDecision => ({
    kind: "leave",
    failure: { code, message },
  });
  if (found.kind === "unknown") return leave("FailedToFindObjInMemberCluster", found.refusal.message);
  if (found.kind === "absent") {
    if (rival !== null) return leave("FailedToTakeOver", `placement ${rival} places it here`);
    return { kind: "write", uid: null, adopted: false, live: null };
  }
  const { live } = found;
  const uid = textOf(memberAt(live, "metadata", "uid")) ?? "";
  if (isLater(live, claimant)) return leave("FailedToTakeOver", "a later decision has written it");
  if (isClaimed(live, claimant)) {
    const adopted = mayBeAdopted(entry, uid);
    if (isBeingDeleted(live)) return { kind: "wait", uid, adopted };
    return { kind: "write", uid, adopted, live: null };
  }
  const { whenToTakeOver, allowCoOwnership } = action.applyStrategy;
  if (whenToTakeOver === "Never") return leave("NotTakenOver", "it existed before, and whenToTakeOver is Never");
  const mark = readMark(live);
  if (mark !== null && mark.fleet !== fleet) return leave("FailedToTakeOver", "another Flotilla fleet manages it");
  const owner = rival ?? (mark !== null && mark.label !== markOf(action.placement) ? mark.label : null);
  if (owner !== null) return leave("FailedToTakeOver", `placement ${owner} owns it`);
  const owners = memberAt(live, "metadata", "ownerReferences");
  if (Array.isArray(owners) && owners.length > 0 && !allowCoOwnership) {
    const [first] = owners;
    const name = `${textOf(memberAt(first, "kind")) ?? ""} ${textOf(memberAt(first, "name")) ?? ""}`;
    return leave("FailedToTakeOver", `${name} owns it, and allowCoOwnership is false`);
  }
  // No write keeps it, and what replaces it is made by us.
  if (isBeingDeleted(live)) return leave("FailedToTakeOver", "it is being deleted; ours is created once it is gone");
  return whenToTakeOver === "IfNoDiff" ? { kind: "compare", uid, live } : { kind: "write", uid, adopted: true, live };
}

const isBeingDeleted = (live: Manifest): boolean => memberAt(live, "metadata", "deletionTimestamp") !== null;

/** The fence once more, at the object: where the inventory was deleted, nothing else stops who has been overtaken. */
function isLater(live: Manifest, { fleet, epoch, action }: Claimant): boolean {
  const mark = readMark(live);
  if (mark === null || mark.fleet !== fleet || mark.label !== markOf(action.placement)) return false;
  return mark.epoch > epoch || (mark.epoch === epoch && mark.sequence > action.sequence);
}

/** Our own, although the inventory has no uid for it: a claim that was carried out, and whose result was lost. */
function isClaimed(live: Manifest, { fleet, action, entry }: Claimant): boolean {
  const mark = readMark(live);
  if (mark === null || mark.fleet !== fleet || mark.label !== markOf(action.placement)) return false;
  return mark.sequence === action.sequence || (entry !== null && isWriteOf(mark, entry, action.sequence));
}

/**
 * Whether an object that carries our mark may have existed before us, and so is to be released one day and not deleted.
 * It may, as far as anybody can tell, when the inventory has lost its entry (`apply/README.md#f-43`), or when somebody
 * made it anew since the inventory knew it.
 */
export const mayBeAdopted = (entry: InventoryEntry | null, uid: string): boolean =>
  entry === null || entry.adopted || (entry.uid !== null && entry.uid !== uid);

/** Tells who else of this fleet has an object in the member; null when nobody does. */
type OtherOwners = (key: ObjectKey, action: PlacementActions) => PlacementKey | null;

/**
 * An object belongs to the placement that the inventory says, then to the first of this action that applies it. An entry
 * whose object is gone, and which nobody is about to write again, is in nobody's way: no decision may be left that would
 * ever clear it, where a placement is gone from a member that left the fleet and came back.
 */
export function otherOwners(
  inventory: Inventory,
  actions: readonly PlacementActions[],
  isGone: (key: ObjectKey) => boolean,
): OtherOwners {
  const forgotten = new Map(actions.map((it) => [it.placement, new Set(it.forget)]));
  const applied = new Map(actions.map((it) => [it.placement, new Set(it.apply.map(({ key }) => key))]));
  const holders = new Map<ObjectKey, PlacementKey>();
  const hold = (key: ObjectKey, placement: PlacementKey): void => {
    if (!holders.has(key)) holders.set(key, placement);
  };
  for (const [placement, { entries }] of inventory.placements) {
    for (const [key, { uid, outcome }] of entries) {
      // What was never ours to write is listed too, for its outcome's sake.
      const isOurs = uid !== null || outcome.kind === "claimed";
      const isHeld = isOurs && (!isGone(key) || applied.get(placement)?.has(key) === true);
      if (isHeld && forgotten.get(placement)?.has(key) !== true) hold(key, placement);
    }
  }
  for (const { placement, apply } of actions) for (const { key } of apply) hold(key, placement);
  return (key, { placement }) => {
    const holder = holders.get(key) ?? placement;
    return holder === placement ? null : holder;
  };
}

/** What is to be compared, and how closely. */
interface Comparison {
  readonly client: Client;
  readonly resource: ApiResource;
  readonly item: RenderedManifest;
  readonly isFull: boolean;
}

/**
 * Whether the live object says what the manifest says; a failure names where it does not, never what it says there.
 *
 * Asked of the member itself, as a dry run of the apply, so that defaults and normalised values are no difference
 * (`apply/README.md#c-20`). The full comparison also finds what the live object has and the manifest would not give it.
 */
export async function compareWithLive(comparison: Comparison): Promise<Failure | null> {
  const { client, resource, item, isFull } = comparison;
  const path = objectPath(resource, item.id);
  const [live, applied] = await Promise.all([
    client.request({ method: "GET", path }),
    client.request({
      method: "PATCH",
      path,
      query: { fieldManager, force: "true", dryRun: "All" },
      contentType: applyPatch,
      body: item.manifest,
    }),
  ]);
  const refusal = live.kind === "refused" ? live : applied.kind === "refused" ? applied : null;
  if (refusal !== null) {
    const said = failureMessage(refusal, item.id.kind);
    return { code: "FailedToTakeOver", message: `it cannot be compared with what is there: ${said}` };
  }
  if (live.kind === "refused" || applied.kind === "refused") return null;
  const here = comparable(live.body);
  const changes = jsonPatch.compare(here, comparable(applied.body)).map((it) => it.path);
  const extras = isFull ? await extrasOf(comparison, here) : [];
  const paths = [...new Set([...changes, ...extras])].sort();
  if (paths.length === 0) return null;
  const shown = paths.slice(0, 3).join(", ");
  const rest = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  const message = `${objectText(item.id)} existed before and differs at ${shown}${rest}; whenToTakeOver is IfNoDiff`;
  return { code: "FailedToTakeOver", message };
}

/** What the live object has beyond a fresh one made from the manifest: the member is asked how that would look. */
async function extrasOf({ client, resource, item }: Comparison, here: JsonObject): Promise<readonly string[]> {
  const metadata = isObject(item.manifest["metadata"]) ? item.manifest["metadata"] : {};
  const name = `${item.id.name.slice(0, 40)}-compare`;
  const fresh = await client.request({
    method: "POST",
    path: collectionPath(resource, item.id.namespace),
    query: { fieldManager, dryRun: "All" },
    body: { ...item.manifest, metadata: { ...metadata, name } },
  });
  const wanted = comparable(fresh.kind === "done" ? fresh.body : item.manifest);
  return jsonPatch
    .compare(wanted, here)
    .filter((it) => it.op === "add" && !assigned.test(it.path))
    .map((it) => it.path);
}

/** Fields that the member hands out to one object, so that no other one has them. */
const assigned =
  /^\/spec\/(clusterIPs?|healthCheckNodePort|volumeName|ports\/\d+\/nodePort)$|^\/metadata\/(name|namespace)$/;

/**
 * An object without what says nothing about its content: the keys of `apply/README.md#c-8`, and what the server keeps.
 */
function comparable(object: JsonObject): JsonObject {
  const { status: _, metadata, ...rest } = object;
  const { labels, annotations } = isObject(metadata) ? metadata : { labels: null, annotations: null };
  return { ...rest, metadata: { labels: comparableKeys(labels), annotations: comparableKeys(annotations) } };
}

const ignoredKeys: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deployment.kubernetes.io/revision",
  "kubernetes.io/metadata.name",
]);

function comparableKeys(map: JsonObject[string] | undefined): JsonObject {
  if (!isObject(map)) return {};
  return Object.fromEntries(
    Object.entries(map).filter(([key]) => !ignoredKeys.has(key) && !key.startsWith(`${flotillaGroup}/`)),
  );
}
