import type { PublicKey, Subkey } from "openpgp";
import { Flawed } from "./flawed.ts";

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
