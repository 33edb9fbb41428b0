import type { SignatureFact } from "../model/commit.ts";
import type { Principal, Proof, Revocation } from "../model/trust.ts";
import type { Instant } from "../model/value.ts";

// Whose signature it is, for the second opinion. `core/trust` has its own way to say so.

/** By whose keys a signature is judged. */
export interface Keyring {
  readonly principals: ReadonlyMap<string, Principal>;
  readonly revocations: readonly Revocation[];
  /** Null: whatever the time of a certificate. */
  readonly now: Instant | null;
}

/** A person who signed, and the key as a proof names it. */
export interface Speaker {
  readonly name: string;
  readonly key: Proof["key"];
}

/**
 * Says which person signed for this purpose; null where nobody did that counts (`trust/README.md#step-5` and
 * `#step-6`).
 */
export function speakerOf(fact: SignatureFact, purpose: string, keyring: Keyring): Speaker | null {
  if (fact.kind === "unsigned" || fact.kind === "rejected") return null;
  const certificate = fact.kind === "ssh" ? fact.certificate : null;
  if (fact.kind === "ssh" && fact.namespace !== purpose) return null;
  const named = new Set([fact.fingerprint, certificate?.authority]);
  if (keyring.revocations.some((it) => named.has(it.key))) return null;
  const everybody = [...keyring.principals.values()];
  const owner = everybody.find((it) => owns(it, fact.fingerprint, fact.kind));
  if (owner !== undefined) return owner.isHuman ? { name: owner.name, key: fact.fingerprint } : null;
  if (certificate === null) return null;
  const { authority, principals, validAfter, validBefore } = certificate;
  const { now } = keyring;
  if (now !== null && (now < validAfter || (validBefore ?? Number.POSITIVE_INFINITY) <= now)) return null;
  const [one, other] = everybody.filter((it) => principals.includes(it.name) && it.sshAuthorities.includes(authority));
  if (one === undefined || other !== undefined || !one.isHuman) return null;
  return { name: one.name, key: `${fact.fingerprint} by ${authority}` };
}

const owns = ({ sshKeys, openPgp }: Principal, key: string, kind: "ssh" | "openpgp"): boolean =>
  kind === "ssh" ? sshKeys.includes(key) : openPgp.has(key);

/** Whether the key of a proof, or its authority's, is in wrong hands. */
export const isInWrongHands = ({ key }: Proof, revocations: readonly Revocation[]): boolean =>
  revocations.some(
    (it) =>
      it.kind === "compromised" && (key === it.key || key.startsWith(`${it.key} by `) || key.endsWith(` by ${it.key}`)),
  );
