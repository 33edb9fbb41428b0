import type { PartialConfig } from "openpgp";
import type { SignatureFact } from "../../core/model/commit.ts";
import type { Instant } from "../../core/model/value.ts";
import { Flawed, rejectionOf } from "./flawed.ts";
import {
  fingerprintOf,
  type OpenPgpSigner,
  openPgp,
  openPgpCertificates,
  signersNamed,
} from "./openpgp-certificate.ts";
import { openPgpPacket } from "./openpgp-packet.ts";

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
    throw new Flawed("Malformed", "the OpenPGP signature does not say when it was made");
  }
  // A clock that is ahead is no reason to refuse: the key has to be good at both times.
  const at = new Date(Math.max(now, created.getTime()));
  if (content.getExpirationTime() <= at) throw new Flawed("Expired", "the OpenPGP signature says that it has expired");
  for (const signer of signers) await checkSigner(signer, at);
  const message = await createMessage({ binary: payload });
  for (const { certificate } of signers) {
    const { signatures } = await verify({ message, signature, verificationKeys: certificate, date: at, config });
    const isGood = await signatures[0]?.verified.catch(() => false);
    if (isGood !== true || signatures.length !== 1) {
      throw new Flawed("Mismatch", "the signature is not one of these bytes by this key");
    }
  }
  const [first] = signers;
  if (first === undefined) throw new Flawed("UnknownKey", "no certificate was given");
  return { kind: "openpgp", fingerprint: fingerprintOf(first.certificate), claimedAt: created.getTime() as Instant };
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
  const name = fingerprintOf(key);
  if (certificate.revocationSignatures.length > 0 || key.revocationSignatures.length > 0) {
    throw new Flawed("Revoked", `the key ${name} is revoked`);
  }
  for (const { algorithm, bits = 0 } of [certificate.getAlgorithmInfo(), key.getAlgorithmInfo()]) {
    if (/^(dsa|elgamal)$/.test(algorithm) || (algorithm.startsWith("rsa") && bits < 2048)) {
      throw new Flawed("Weak", `the key ${name} is too weak: ${algorithm} ${bits > 0 ? bits : ""}`.trimEnd());
    }
  }
  const ends = [await certificate.getExpirationTime(), await expirationOf({ certificate, key }, at)];
  if (ends.some((it) => it !== null && it <= at)) throw new Flawed("Expired", `the key ${name} has expired`);
  const { config: defaults } = await openPgp();
  const signing = await certificate
    .getSigningKey(key.getKeyID(), at, undefined, { ...defaults, ...config })
    .catch(() => null);
  if (signing === null || fingerprintOf(signing) !== name) {
    throw new Flawed(
      "Unsupported",
      `the key ${name} is not one that may sign, by what its certificate says without SHA-1`,
    );
  }
}

const expirationOf = ({ certificate, key }: OpenPgpSigner, at: Date): Promise<Date | number | null> =>
  "mainKey" in key ? key.getExpirationTime(at) : certificate.getExpirationTime();
