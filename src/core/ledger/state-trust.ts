import { readTrust } from "../intent/trust/trust-file.ts";
import { isObject, type JsonObject, member } from "../model/json.ts";
import type { Trust, TrustRecord } from "../model/trust.ts";
import type { Commit, Digest, Sequence } from "../model/value.ts";
import { trustTextPath } from "./layout.ts";
import { countAt, type Findings, find, partAt, textAt, textsAt } from "./state-fields.ts";
import { keptMembers } from "./state-kept.ts";

/** What `ledger.yaml` says of the trust file in force: which text it is, and how it came to be. */
export interface TrustHead extends Omit<TrustRecord, "trust" | "text">, Pick<Trust, "version" | "digest"> {}

export const trustHeadJson = ({ trust: { version, digest }, since, from, first, by }: TrustRecord): JsonObject => ({
  version,
  digest,
  since,
  from,
  first,
  by,
});

/** The inverse of {@link trustHeadJson}: the member `trust` of `ledger.yaml`, null where there is none. */
export function trustHeadOf(findings: Findings, ledger: JsonObject): TrustHead | null {
  const value = member(ledger, "trust");
  if (value === null) return null;
  if (!isObject(value)) find(findings, "trust", "is no object");
  const object = partAt(ledger, "trust");
  return {
    version: countAt(findings, object, "version"),
    digest: textAt(findings, object, "digest") as Digest,
    since: countAt(findings, object, "since") as Sequence,
    from: textAt(findings, object, "from") as Commit,
    first: textAt(findings, object, "first") as Commit,
    by: byOf(findings, object),
  };
}

function byOf(findings: Findings, object: JsonObject): TrustRecord["by"] {
  if (member(object, "by") === "anchor") return "anchor";
  const by = textsAt(findings, object, "by");
  if (by.length === 0) find(findings, "by", "names nobody");
  return by;
}

/** The trust record put together, null when there is none, or what is wrong. */
export type TrustRead =
  | { readonly kind: "read"; readonly trust: TrustRecord | null }
  | { readonly kind: "wrong"; readonly message: string };

/**
 * Puts the record together from what `ledger.yaml` says and the text beside it; what reads as it was keeps its identity.
 *
 * Undefined is what was not read: it stands from before. A text that is not the one that was accepted is wrong, however
 * good it looks: everything that was approved was judged by that one.
 */
export function trustReadOf(
  head: TrustHead | null | undefined,
  text: string | null | undefined,
  before: TrustRecord | null,
): TrustRead {
  const nextHead = head === undefined ? headOf(before) : head;
  const nextText = text === undefined ? (before?.text ?? null) : text;
  if (nextHead === null && nextText === null) return { kind: "read", trust: null };
  if (nextHead === null || nextText === null)
    return wrong(nextText === null ? "is missing" : "is there, and ledger.yaml knows of none");
  const { version, digest, ...rest } = nextHead;
  const trust = before !== null && before.text === nextText ? before.trust : readTrust(nextText).trust;
  if (trust === null) return wrong("is no usable trust file");
  if (trust.digest !== digest || trust.version !== version)
    return wrong("is not the version that ledger.yaml was written for");
  const next: TrustRecord = { trust, text: nextText, ...rest };
  return { kind: "read", trust: before === null ? next : keptMembers(before, next, ["trust", "text"]) };
}

const wrong = (message: string): TrustRead => ({ kind: "wrong", message: `${trustTextPath} ${message}` });

const headOf = (record: TrustRecord | null): TrustHead | null => {
  if (record === null) return null;
  const { trust, text: _, ...rest } = record;
  return { ...rest, version: trust.version, digest: trust.digest };
};
