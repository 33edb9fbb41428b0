import type { PartialConfig, PublicKey, Subkey } from "openpgp";
import type { SignatureFact } from "../../core/model/commit.ts";
import type { Instant } from "../../core/model/value.ts";
import { openPgpPacket } from "./openpgp-packet.ts";
import { rejectionOf, SignatureError } from "./signature-error.ts";

/**
 * What an OpenPGP signature says about these bytes, by one of the certificates given (armored, one each).
 *
 * The key has to be good at `now`, whenever the signature says it was made: that time is its maker's to choose, and who
 * found an expired or a revoked key could go back to before. Stricter than gpg: any revocation counts, whatever its
 * reason; SHA-1 (in the certificate as well), DSA and RSA below 2048 bits never do; nothing may stand around the armor.
 */
export async function verifyOpenPgp(
  payload: Uint8Array,
  armored: string,
  certificates: readonly string[],
  now: Instant,
): Promise<SignatureFact> {
  try {
    const packet = openPgpPacket(armored);
    const signers = signersNamed(await openPgpCertificates(certificates), packet);
    return await read(payload, { packet: packet.bytes, signers, now });
  } catch (error) {
    return rejectionOf(error);
  }
}

interface Claim {
  readonly packet: Uint8Array;
  readonly signers: readonly OpenPgpSigner[];
  readonly now: Instant;
}

async function read(payload: Uint8Array, { packet, signers, now }: Claim): Promise<SignatureFact> {
  const { createMessage, readSignature, verify } = await openPgp();
  const signature = await readSignature({ binarySignature: packet });
  const [content] = signature.packets;
  const created = content?.created ?? null;
  if (content === undefined || signature.packets.length > 1 || created === null) {
    throw new SignatureError("Malformed", "the OpenPGP signature does not say when it was made");
  }
  // A clock that is ahead is no reason to refuse: the key has to be good at both times.
  const at = new Date(Math.max(now, created.getTime()));
  if (content.getExpirationTime() <= at)
    throw new SignatureError("Expired", "the OpenPGP signature says that it has expired");
  for (const signer of signers) await checkSigner(signer, at);
  const message = await createMessage({ binary: payload });
  for (const { certificate } of signers) {
    const { signatures } = await verify({ message, signature, verificationKeys: certificate, date: at, config });
    const isGood = await signatures[0]?.verified.catch(() => false);
    if (isGood !== true || signatures.length !== 1) {
      throw new SignatureError("Mismatch", "the signature is not one of these bytes by this key");
    }
  }
  const [first] = signers;
  if (first === undefined) throw new SignatureError("UnknownKey", "no certificate was given");
  return {
    kind: "openpgp",
    fingerprint: openPgpFingerprint(first.certificate),
    claimedAt: created.getTime() as Instant,
  };
}

/** MD5, SHA-1 and RIPEMD (RFC 9580 §9.5), in what a certificate says about its own keys; in signatures they are anyway. */
const weakHashes = new Set([1, 2, 3]);

const config: PartialConfig = {
  minRSABits: 2048,
  rejectHashAlgorithms: weakHashes,
  // Whoever extends a key's life replaces what the key says about itself, and it is younger than the signatures then.
  allowInsecureVerificationWithReformattedKeys: true,
};

/** Whether a key may sign at that moment, by what its certificate says. */
async function checkSigner({ certificate, key }: OpenPgpSigner, at: Date): Promise<void> {
  const name = openPgpFingerprint(key);
  if (certificate.revocationSignatures.length > 0 || key.revocationSignatures.length > 0) {
    throw new SignatureError("Revoked", `the key ${name} is revoked`);
  }
  for (const { algorithm, bits = 0 } of [certificate.getAlgorithmInfo(), key.getAlgorithmInfo()]) {
    if (/^(dsa|elgamal)$/.test(algorithm) || (algorithm.startsWith("rsa") && bits < 2048)) {
      throw new SignatureError("Weak", `the key ${name} is too weak: ${algorithm} ${bits > 0 ? bits : ""}`.trimEnd());
    }
  }
  const ends = [await certificate.getExpirationTime(), await expirationOf({ certificate, key }, at)];
  if (ends.some((it) => it !== null && it <= at)) throw new SignatureError("Expired", `the key ${name} has expired`);
  const { config: defaults } = await openPgp();
  const signing = await certificate
    .getSigningKey(key.getKeyID(), at, undefined, { ...defaults, ...config })
    .catch(() => null);
  if (signing === null || openPgpFingerprint(signing) !== name) {
    throw new SignatureError(
      "Unsupported",
      `the key ${name} is not one that may sign, by what its certificate says without SHA-1`,
    );
  }
}

const expirationOf = ({ certificate, key }: OpenPgpSigner, at: Date): Promise<Date | number | null> =>
  "mainKey" in key ? key.getExpirationTime(at) : certificate.getExpirationTime();

/** The certificates that signatures are checked with, and how many of those given are none. */
interface OpenPgpCertificates {
  readonly keys: readonly PublicKey[];
  readonly unreadable: number;
}

/** A key that can sign, and the certificate that it is in. */
interface OpenPgpSigner {
  readonly certificate: PublicKey;
  readonly key: PublicKey | Subkey;
}

/** The library: loaded when the first OpenPGP signature, or certificate, comes along. */
export const openPgp = () => import("openpgp");

const longest = 256 * 1024;

/** Reads certificates; the same list (`===`) is read once. An unreadable one costs itself only. */
function openPgpCertificates(armored: readonly string[]): Promise<OpenPgpCertificates> {
  const before = readings.get(armored);
  if (before !== undefined) return before;
  const reading = readAll(armored);
  readings.set(armored, reading);
  return reading;
}

const readings = new WeakMap<readonly string[], Promise<OpenPgpCertificates>>();

async function readAll(armored: readonly string[]): Promise<OpenPgpCertificates> {
  const read = await Promise.all(armored.map(certificateOf));
  const keys = read.filter((it) => it !== null);
  return { keys, unreadable: read.length - keys.length };
}

/** The certificate in an armor; null where that holds none, several, or a private key. */
async function certificateOf(armored: string): Promise<PublicKey | null> {
  if (armored.length > longest) return null;
  const { readKeys } = await openPgp();
  const keys = await readKeys({ armoredKeys: armored }).catch(() => []);
  const [key] = keys;
  return key === undefined || keys.length > 1 || key.isPrivate() ? null : key;
}

const openPgpFingerprint = (key: PublicKey | Subkey): string => key.getFingerprint().toUpperCase();

/**
 * Who made a signature, by every certificate that has such a key; more than one only where the same certificate was
 * given more than once. Ids of 64 bits can be made to collide: two keys that fit are no answer.
 */
function signersNamed(
  { keys, unreadable }: OpenPgpCertificates,
  { issuer, issuerId }: { readonly issuer: string | null; readonly issuerId: string },
): readonly OpenPgpSigner[] {
  const signers = keys
    .flatMap((certificate) => certificate.getKeys().map((key) => ({ certificate, key })))
    .filter(({ key }) => key.getKeyID().toHex().toUpperCase() === issuerId)
    .filter(({ key }) => issuer === null || openPgpFingerprint(key) === issuer);
  if (signers.length === 0) {
    const rest = unreadable > 0 ? `; ${unreadable} of them cannot be read` : "";
    throw new SignatureError("UnknownKey", `none of the certificates given has the key ${issuer ?? issuerId}${rest}`);
  }
  const distinct = new Set(signers.map((it) => `${openPgpFingerprint(it.certificate)} ${openPgpFingerprint(it.key)}`));
  if (distinct.size > 1)
    throw new SignatureError("Ambiguous", `more than one certificate has the key ${issuer ?? issuerId}`);
  return signers;
}
