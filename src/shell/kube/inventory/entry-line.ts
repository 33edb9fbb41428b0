import { type ForeignObject, type ForeignObjects, maxForeignObjects } from "../../../core/model/deletion.ts";
import type { FailureCode, InventoryEntry, Outcome } from "../../../core/model/inventory.ts";
import { canonicalJson, type Json } from "../../../core/model/json.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../../../core/model/manifest.ts";
import type { Digest, Instant, Sequence } from "../../../core/model/value.ts";

/** One object, one line: key, version, digest, uid, adopted, sequence, fingerprint; outcome and repairs, if any. */
export function lineOf(key: ObjectKey, entry: InventoryEntry): string {
  const { version, digest, uid, adopted, sequence, fingerprint, outcome, repairs } = entry;
  const item = outcome.kind === "applied" ? null : outcomeJson(outcome);
  const rest = repairs === undefined ? [] : [[repairs.count, repairs.since, repairs.last]];
  const words = item === null && rest.length === 0 ? [] : [item, ...rest];
  return canonicalJson([key, version, digest, uid, adopted ? 1 : 0, sequence, fingerprint, ...words]);
}

function outcomeJson(outcome: Exclude<Outcome, { kind: "applied" }>): Json {
  switch (outcome.kind) {
    case "claimed":
      return ["claimed"];
    case "failed":
      return ["failed", outcome.code, outcome.message, outcome.attempts, outcome.retryAt];
    case "lingering":
      return ["lingering", outcome.code, outcome.message, ...othersJson(outcome.others)];
  }
}

/** How many there are, then key and uid of each. */
const othersJson = (others: ForeignObjects | undefined): readonly Json[] =>
  others === undefined ? [] : [others.count, others.objects.map((it) => [objectKey(it), it.uid])];

function othersOf(count: Json | undefined, list: Json | undefined): ForeignObjects | null {
  if (!isCount(count) || !Array.isArray(list) || list.length > maxForeignObjects) return null;
  const objects = list.flatMap((it): readonly ForeignObject[] => {
    const [key, uid] = Array.isArray(it) ? (it as readonly (Json | undefined)[]) : [];
    if (typeof key !== "string" || key.split("/").length !== 4 || typeof uid !== "string") return [];
    return [{ ...objectIdOf(key as ObjectKey), uid }];
  });
  return objects.length === list.length ? { count, objects } : null;
}

/** Reads a line that `lineOf` wrote; null where it is not one. */
export function entryOf(line: Json | undefined): [ObjectKey, InventoryEntry] | null {
  if (!Array.isArray(line)) return null;
  const [key, version, digest, uid, adopted, sequence, fingerprint, item, repairs] = line as readonly (
    | Json
    | undefined
  )[];
  const outcome = outcomeOf(item ?? undefined);
  if (repairs !== undefined && !isRepairs(repairs)) return null;
  if (typeof key !== "string" || key.split("/").length !== 4) return null;
  if (typeof version !== "string" || typeof digest !== "string" || !isCount(sequence) || outcome === null) return null;
  if (!isTextOrNull(uid) || !isTextOrNull(fingerprint) || (adopted !== 0 && adopted !== 1)) return null;
  const entry: InventoryEntry = {
    version,
    digest: digest as Digest,
    uid,
    adopted: adopted === 1,
    sequence: sequence as Sequence,
    fingerprint: fingerprint as Digest | null,
    outcome,
    ...(repairs === undefined ? {} : { repairs: repairsOf(repairs) }),
  };
  return [key as ObjectKey, entry];
}

const isRepairs = (item: Json): item is readonly number[] =>
  Array.isArray(item) && item.length === 3 && item.every(isCount);

const repairsOf = ([count, since, last]: readonly number[]): NonNullable<InventoryEntry["repairs"]> => ({
  count: count as number,
  since: since as Instant,
  last: last as Instant,
});

function outcomeOf(item: Json | undefined): Outcome | null {
  if (item === undefined) return { kind: "applied" };
  if (!Array.isArray(item)) return null;
  const [kind, code, message, ...more] = item as readonly (Json | undefined)[];
  if (kind === "claimed") return { kind };
  if (typeof code !== "string" || !failureCodes.has(code) || typeof message !== "string") return null;
  if (kind === "lingering") return lingeringOf(code as FailureCode, message, more);
  const [attempts, retryAt] = more;
  if (kind !== "failed" || !isCount(attempts) || !isCount(retryAt)) return null;
  return { kind, code: code as FailureCode, message, attempts, retryAt: retryAt as Instant };
}

function lingeringOf(code: FailureCode, message: string, more: readonly (Json | undefined)[]): Outcome | null {
  if (more.length === 0) return { kind: "lingering", code, message };
  const others = othersOf(more[0], more[1]);
  return others === null ? null : { kind: "lingering", code, message, others };
}

const failureCodes: ReadonlySet<string> = new Set(
  Object.keys({
    FailedToFindObjInMemberCluster: 0,
    FailedToTakeOver: 0,
    NotTakenOver: 0,
    ManifestApplyFailed: 0,
    NamespaceMissing: 0,
    KindUnknown: 0,
    ScopeDiffers: 0,
    NamespaceNotEmpty: 0,
    Terminating: 0,
    DeletionRefused: 0,
    IdentityChanged: 0,
  } satisfies Record<FailureCode, 0>),
);

/** Whether a value is a number that counts something. */
export const isCount = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isTextOrNull = (value: Json | undefined): value is string | null => value === null || typeof value === "string";
