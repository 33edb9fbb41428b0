import { readTrust } from "../intent/trust/trust-file.ts";
import type { Trust, TrustRecord } from "../model/trust.ts";
import type { Commit, Digest, Sequence } from "../model/value.ts";
import { type Codec, listOf, object, reportProblem } from "./codec.ts";
import { kept } from "./identity.ts";
import { trustTextPath } from "./layout.ts";
import { integer, integerOf, string, stringOf } from "./scalars.ts";

/** What `ledger.yaml` says of the trust file in force: which text it is, and how it came to be. */
export interface TrustHead extends Omit<TrustRecord, "trust" | "text">, Pick<Trust, "version" | "digest"> {}

const principals = listOf(string);

const vouchers: Codec<TrustRecord["by"]> = {
  write: (by) => by,
  read(json, key, context) {
    if (json === "anchor") return json;
    const by = principals.read(json, key, context);
    return by.length > 0 ? by : reportProblem(context, key, "names nobody", by);
  },
};

export const trustHead = object<TrustHead>({
  version: integer,
  digest: stringOf<Digest>(),
  since: integerOf<Sequence>(),
  from: stringOf<Commit>(),
  first: stringOf<Commit>(),
  by: vouchers,
});

/** The trust record put together, null when there is none, or what is wrong. */
type TrustRead =
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
  const nextHead = head === undefined ? trustHeadOf(before) : head;
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
  return { kind: "read", trust: kept(before ?? undefined, next) };
}

const wrong = (message: string): TrustRead => ({ kind: "wrong", message: `${trustTextPath} ${message}` });

/** What `ledger.yaml` says of a trust record. */
export const trustHeadOf = (record: TrustRecord | null): TrustHead | null => {
  if (record === null) return null;
  const { trust, text: _, ...rest } = record;
  return { ...rest, version: trust.version, digest: trust.digest };
};
