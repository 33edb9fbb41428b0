import type { SignatureFact, SignatureFailure, SshCertificate } from "../model/commit.ts";
import type { Denial, Principal, Revocation, Trust } from "../model/trust.ts";
import { type Instant, instantText } from "../model/value.ts";
import { type DenialCode, denied } from "./denial.ts";

/** The person or machine that made a signature. */
export interface Signer {
  readonly kind: "signer";
  readonly principal: Principal;
  /** The fingerprint of the signing key; with a certificate, `… by …` and the fingerprint of its authority. */
  readonly key: string;
}

interface SignerContext {
  readonly trust: Pick<Trust, "principals" | "revocations">;
  /** The namespace that an SSH signature must have: `git` on commits. OpenPGP has none. */
  readonly namespace: string;
  /** What is signed, for messages. */
  readonly what: string;
  /** When it was first seen (`trust/README.md#t-14`); null to ignore the validity period of certificates. */
  readonly now: Instant | null;
}

/**
 * Which principal made a signature, or why it does not count (`trust/README.md#step-5`, `#step-6`): a listed key's
 * owner, or whom a certificate of an authority names that is listed for them. Nothing revoked ever counts.
 */
export function signerOf(fact: SignatureFact, context: SignerContext): Signer | Denial {
  switch (fact.kind) {
    case "unsigned":
      return denied("FLT1209", `${context.what} carries no signature; answer with flotilla approve, which signs`);
    case "rejected":
      return denied(flawCodes[fact.code], `the signature of ${context.what} proves nothing: ${fact.message}`);
    case "ssh":
      return sshSigner(fact, context);
    case "openpgp": {
      const { fingerprint } = fact;
      const revoked = revocationOf(context, fingerprint, null);
      if (revoked !== null) return revoked;
      for (const principal of context.trust.principals.values())
        if (principal.openPgp.has(fingerprint)) return { kind: "signer", principal, key: fingerprint };
      return unknownKey(context, fingerprint);
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

function sshSigner(fact: SignatureFact & { readonly kind: "ssh" }, context: SignerContext): Signer | Denial {
  const { fingerprint, namespace, certificate } = fact;
  if (namespace !== context.namespace) {
    const made = `was made for ${JSON.stringify(namespace)}, not for ${JSON.stringify(context.namespace)}`;
    return denied("FLT1210", `the signature of ${context.what} ${made}; sign it anew`);
  }
  const revoked = revocationOf(context, fingerprint, certificate);
  if (revoked !== null) return revoked;
  for (const principal of context.trust.principals.values())
    if (principal.sshKeys.includes(fingerprint)) return { kind: "signer", principal, key: fingerprint };
  return certificate === null ? unknownKey(context, fingerprint) : certified(fingerprint, certificate, context);
}

/** The one principal whom a valid certificate names, among those for whom its authority is listed. */
function certified(key: string, certificate: SshCertificate, context: SignerContext): Signer | Denial {
  const { authority, principals, validAfter, validBefore } = certificate;
  const named = [...context.trust.principals.values()].filter(
    (it) => it.sshAuthorities.includes(authority) && principals.includes(it.name),
  );
  const [principal] = named;
  if (principal === undefined)
    return denied("FLT1202", `trust/root.yaml lists neither ${key} nor anybody whom its certificate names`);
  if (named.length > 1)
    return denied("FLT1202", `the certificate of ${key} names several people; sign with one that names you alone`);
  const { now } = context;
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

/** Between a key and the authority that certifies it. */
const vouched = " by ";

/** The revocation of a key, or of its authority, as {@link Signer} names it; compromised outweighs retired. */
export function revokedBy(revocations: readonly Revocation[], key: string | null): Revocation | null {
  const names = key?.split(vouched) ?? [];
  const found = revocations.filter((it) => names.includes(it.key));
  return found.find((it) => it.kind === "compromised") ?? found[0] ?? null;
}

const unknownKey = ({ what }: SignerContext, key: string): Denial =>
  denied("FLT1202", `${what} is signed with ${key}, which trust/root.yaml lists for nobody`);
