import type { SignatureFact, SignatureFailure, SshCertificate } from "../model/commit.ts";
import type { Denial, Principal, Revocation, Trust } from "../model/trust.ts";
import { type Instant, instantText } from "../model/value.ts";
import { type DenialCode, denied } from "./denial.ts";

/** Whose signature it is. */
export interface Signer {
  readonly kind: "signer";
  readonly principal: Principal;
  /** The fingerprint of the key that signed; where a certificate says whose it is, `… by …` and its authority's. */
  readonly key: string;
}

/** What a signature is held against. */
interface SignerContext {
  readonly trust: Pick<Trust, "principals" | "revocations">;
  /** What an SSH signature has to be made for: `git` on commits. OpenPGP has nothing of the kind. */
  readonly namespace: string;
  /** What is signed, for the words. */
  readonly what: string;
  /**
   * When we saw it first: what the signature says about time proves nothing (`trust/README.md#t-14`). Null where a
   * certificate names whoever signed, whether or not its time is over.
   */
  readonly now: Instant | null;
}

/**
 * Says which principal made a signature, or why nobody did that counts (`trust/README.md#step-5` and `#step-6`).
 *
 * A key that is listed speaks for its owner; one that is not, for whom the certificate names, if its authority is
 * listed for them. A revoked key or authority speaks for nobody, whatever else holds.
 */
export function signerOf(fact: SignatureFact, scene: SignerContext): Signer | Denial {
  switch (fact.kind) {
    case "unsigned":
      return denied("FLT1209", `${scene.what} carries no signature; answer with flotilla approve, which signs`);
    case "rejected":
      return denied(flawCodes[fact.code], `the signature of ${scene.what} proves nothing: ${fact.message}`);
    case "ssh":
      return sshSigner(fact, scene);
    case "openpgp": {
      const { fingerprint } = fact;
      const revoked = revocationOf(scene, fingerprint, null);
      if (revoked !== null) return revoked;
      for (const principal of scene.trust.principals.values())
        if (principal.openPgp.has(fingerprint)) return { kind: "signer", principal, key: fingerprint };
      return unknownKey(scene, fingerprint);
    }
  }
}

const flawCodes: Readonly<Record<SignatureFailure, DenialCode>> = {
  Malformed: "FLT1217",
  Mismatch: "FLT1217",
  Weak: "FLT1217",
  Unsupported: "FLT1217",
  UnknownKey: "FLT1202",
  Revoked: "FLT1203",
  Expired: "FLT1203",
  Ambiguous: "FLT1217",
};

function sshSigner(fact: SignatureFact & { readonly kind: "ssh" }, scene: SignerContext): Signer | Denial {
  const { fingerprint, namespace, certificate } = fact;
  if (namespace !== scene.namespace) {
    const made = `was made for ${JSON.stringify(namespace)}, not for ${JSON.stringify(scene.namespace)}`;
    return denied("FLT1210", `the signature of ${scene.what} ${made}; sign it anew`);
  }
  const revoked = revocationOf(scene, fingerprint, certificate);
  if (revoked !== null) return revoked;
  for (const principal of scene.trust.principals.values())
    if (principal.sshKeys.includes(fingerprint)) return { kind: "signer", principal, key: fingerprint };
  return certificate === null ? unknownKey(scene, fingerprint) : certified(fingerprint, certificate, scene);
}

/** Whom a certificate names, among those for whom its authority is listed: one person, now, and by name. */
function certified(key: string, certificate: SshCertificate, scene: SignerContext): Signer | Denial {
  const { authority, principals, validAfter, validBefore } = certificate;
  const named = [...scene.trust.principals.values()].filter(
    (it) => it.sshAuthorities.includes(authority) && principals.includes(it.name),
  );
  const [principal] = named;
  if (principal === undefined)
    return denied("FLT1202", `trust/root.yaml lists neither ${key} nor anybody whom its certificate names`);
  if (named.length > 1)
    return denied("FLT1202", `the certificate of ${key} names several people; sign with one that names you alone`);
  const { now } = scene;
  if (now !== null && now < validAfter)
    return denied("FLT1203", `the certificate of ${key} is valid only from ${instantText(validAfter)} on`);
  if (now !== null && validBefore !== null && now >= validBefore)
    return denied("FLT1203", `the certificate of ${key} was valid until ${instantText(validBefore)}; renew it`);
  return { kind: "signer", principal, key: `${key}${vouched}${authority}` };
}

function revocationOf({ trust, what }: SignerContext, key: string, certificate: SshCertificate | null): Denial | null {
  const { revocations } = trust;
  const found = revokedBy(revocations, key) ?? revokedBy(revocations, certificate?.authority ?? null);
  if (found === null) return null;
  return denied("FLT1203", `${what} is signed with ${found.key}, which is ${found.kind}; sign with another key`);
}

/** Between a key and the authority that says whose it is. */
const vouched = " by ";

/**
 * The revocation of a key as a {@link Signer} or a proof names it, if there is one: its own, or its authority's. That one
 * of them is compromised outweighs that the other is retired.
 */
export function revokedBy(revocations: readonly Revocation[], key: string | null): Revocation | null {
  const names = key?.split(vouched) ?? [];
  const found = revocations.filter((it) => names.includes(it.key));
  return found.find((it) => it.kind === "compromised") ?? found[0] ?? null;
}

const unknownKey = ({ what }: SignerContext, key: string): Denial =>
  denied("FLT1202", `${what} is signed with ${key}, which trust/root.yaml lists for nobody`);
