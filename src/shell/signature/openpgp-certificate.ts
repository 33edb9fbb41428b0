import type { PublicKey, Subkey } from "openpgp";
import { Flawed, type Rejected, rejectionOf } from "./flawed.ts";

/** The certificates that signatures are checked with, and how many of those given are none. */
export interface OpenPgpCertificates {
  readonly keys: readonly PublicKey[];
  readonly unreadable: number;
}

/** A key that can sign, and the certificate that it is in. */
export interface OpenPgpSigner {
  readonly certificate: PublicKey;
  readonly key: PublicKey | Subkey;
}

/** The library: loaded when the first OpenPGP signature, or certificate, comes along. */
export const openPgp = () => import("openpgp");

const longest = 256 * 1024;

/**
 * The full fingerprint of one armored certificate, 40 or 64 upper-case hexadecimal digits: what a trust file may list.
 * An armor with several certificates in it, or with a private key, is refused.
 */
export async function openPgpFingerprint(
  armored: string,
): Promise<{ readonly kind: "certificate"; readonly fingerprint: string } | Rejected> {
  try {
    return { kind: "certificate", fingerprint: fingerprintOf(await certificateOf(armored)) };
  } catch (error) {
    return rejectionOf(error);
  }
}

/**
 * Reads certificates; the same list (`===`) is read once. One that cannot be read costs itself only: the trust file was
 * checked for it when it was read.
 */
export function openPgpCertificates(armored: readonly string[]): Promise<OpenPgpCertificates> {
  const before = readings.get(armored);
  if (before !== undefined) return before;
  const reading = readAll(armored);
  readings.set(armored, reading);
  return reading;
}

const readings = new WeakMap<readonly string[], Promise<OpenPgpCertificates>>();

async function readAll(armored: readonly string[]): Promise<OpenPgpCertificates> {
  const read = await Promise.allSettled(armored.map(certificateOf));
  const keys = read.flatMap((it) => (it.status === "fulfilled" ? [it.value] : []));
  return { keys, unreadable: read.length - keys.length };
}

async function certificateOf(armored: string): Promise<PublicKey> {
  const { readKeys } = await openPgp();
  if (armored.length > longest) throw new Flawed("Malformed", `the certificate is longer than ${longest} bytes`);
  const keys = await readKeys({ armoredKeys: armored }).catch(() => []);
  const [key] = keys;
  if (key === undefined) throw new Flawed("Malformed", "this is not an armored OpenPGP certificate");
  if (keys.length > 1)
    throw new Flawed("Ambiguous", "more than one certificate is in this armor; list them one by one");
  if (key.isPrivate()) {
    throw new Flawed("Malformed", "this is a private key, not a certificate; revoke it if anybody has seen it");
  }
  return key;
}

export const fingerprintOf = (key: PublicKey | Subkey): string => key.getFingerprint().toUpperCase();

/**
 * Who made a signature, by every certificate that has such a key; more than one only where the same certificate was
 * given more than once. Ids of 64 bits can be made to collide: two keys that fit are no answer.
 */
export function signersNamed(
  { keys, unreadable }: OpenPgpCertificates,
  { issuer, issuerId }: { readonly issuer: string | null; readonly issuerId: string },
): readonly OpenPgpSigner[] {
  const signers = keys
    .flatMap((certificate) => certificate.getKeys().map((key) => ({ certificate, key })))
    .filter(({ key }) => key.getKeyID().toHex().toUpperCase() === issuerId)
    .filter(({ key }) => issuer === null || fingerprintOf(key) === issuer);
  if (signers.length === 0) {
    const rest = unreadable > 0 ? `; ${unreadable} of them cannot be read` : "";
    throw new Flawed("UnknownKey", `none of the certificates given has the key ${issuer ?? issuerId}${rest}`);
  }
  const distinct = new Set(signers.map((it) => `${fingerprintOf(it.certificate)} ${fingerprintOf(it.key)}`));
  if (distinct.size > 1) throw new Flawed("Ambiguous", `more than one certificate has the key ${issuer ?? issuerId}`);
  return signers;
}
