import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { type KeyResult, unusableKey } from "./ssh-key.ts";

/**
 * Reads an armored OpenPGP public key to the whole fingerprint of its primary key, in upper-case hexadecimal digits
 * (RFC 9580 §5.5.4, §6.2).
 *
 * Only what identifies the key: self-signatures are checked where it is used to verify. One key an entry,
 * of version 4 or 6; DSA and RSA below 3072 bits are refused, and so is a private key
 * (`intent/README.md#trust-and-approval-files`; `trust/README.md#b-66`).
 */
export function parseOpenPgpKey(armor: string): KeyResult {
  const bytes = dearmored(armor);
  const packets = bytes === null ? null : packetsOf(bytes);
  const [primary] = packets ?? [];
  if (primary === undefined || packets === null) return malformed("is not an armored OpenPGP public key");
  if (packets.some((it) => it.tag === 5 || it.tag === 7)) return privateKey;
  if (primary.tag !== 6) return malformed("does not begin with a public key");
  if (packets.filter((it) => it.tag === 6).length > 1) return malformed("contains more than one key");
  const { body } = primary;
  const version = body[0];
  if (version !== 4 && version !== 6) return weak("has a version that is too old");
  const strength = strengthOf(body, version === 4 ? 6 : 10);
  if (strength !== null) return strength;
  return { kind: "key", fingerprint: fingerprintOf(body) };
}

/** The fingerprints of a key's subkeys. What they sign counts for their primary key, and is revoked with that. */
export const openPgpSubkeys = (armor: string): readonly string[] =>
  packetsOf(dearmored(armor) ?? Buffer.alloc(0))
    ?.filter((it) => it.tag === 14)
    .map((it) => fingerprintOf(it.body)) ?? [];

const fingerprintOf = (body: Buffer): string =>
  (body[0] === 6 ? newFingerprint(body) : oldFingerprint(body)).toUpperCase();

/** Version 4 uses SHA-1: a second key with the same fingerprint would still not verify signatures of the first. */
const oldFingerprint = (body: Buffer): string =>
  hash("sha1", Buffer.concat([Buffer.from([0x99, body.length >> 8, body.length & 0xff]), body]), "hex");

function newFingerprint(body: Buffer): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return hash("sha256", Buffer.concat([Buffer.from([0x9b]), length, body]), "hex");
}

/** By algorithm: RSA has a length, DSA is refused, what cannot sign is refused (RFC 9580 §9.1). */
function strengthOf(body: Buffer, at: number): KeyResult | null {
  const algorithm = body[5] ?? 0;
  if (body.length < at + 2 || body.length > 0xffff) return malformed("is damaged");
  if (algorithm === 17) return weak("is a DSA key");
  if (algorithm === 1 || algorithm === 3)
    return body.readUInt16BE(at) < 3072 ? weak("is an RSA key of less than 3072 bits") : null;
  return [19, 22, 27, 28].includes(algorithm) ? null : malformed("cannot sign");
}

/** The bytes inside the armor; null when the text is not a single block. Its checksum is ignored. */
function dearmored(armor: string): Buffer | null {
  const match =
    /^-----BEGIN PGP (?:PUBLIC|PRIVATE) KEY BLOCK-----\r?\n((?:[A-Za-z]+: .*\r?\n)*)[ \t]*\r?\n([A-Za-z0-9+/=\r\n]+?)(?:\r?\n=[A-Za-z0-9+/]{4})?\r?\n-----END PGP (?:PUBLIC|PRIVATE) KEY BLOCK-----$/.exec(
      armor.trim(),
    );
  const base64 = match?.[2]?.replace(/[\r\n]/g, "") ?? "";
  const bytes = Buffer.from(base64, "base64");
  return base64 !== "" && bytes.toString("base64") === base64 ? bytes : null;
}

interface Packet {
  readonly tag: number;
  readonly body: Buffer;
}

/** Cuts bytes into packets (RFC 9580 §4.2); null when one does not fit, or has no length of its own. */
function packetsOf(bytes: Buffer): readonly Packet[] | null {
  const packets: Packet[] = [];
  let at = 0;
  while (at < bytes.length) {
    const header = headerOf(bytes, at);
    if (header === null || header.end > bytes.length || packets.length === 1000) return null;
    packets.push({ tag: header.tag, body: bytes.subarray(header.start, header.end) });
    at = header.end;
  }
  return packets;
}

function headerOf(bytes: Buffer, at: number): { tag: number; start: number; end: number } | null {
  const [first = 0, a = 0, b = 0] = bytes.subarray(at, at + 3);
  if (first < 0x80) return null;
  const isNew = (first & 0x40) !== 0;
  const tag = isNew ? first & 0x3f : (first >> 2) & 0x0f;
  const sized = (start: number, length: number) => ({ tag, start, end: start + length });
  const wide = (from: number) => (from + 4 <= bytes.length ? sized(from + 4, bytes.readUInt32BE(from)) : null);
  if (isNew) {
    if (a < 192) return sized(at + 2, a);
    if (a < 224) return sized(at + 3, ((a - 192) << 8) + b + 192);
    return a === 255 ? wide(at + 2) : null;
  }
  switch (first & 3) {
    case 0:
      return sized(at + 2, a);
    case 1:
      return sized(at + 3, (a << 8) | b);
    case 2:
      return wide(at + 1);
    case 3:
      return null;
  }
  return null;
}

const malformed = (message: string): KeyResult =>
  unusableKey("FLT1227", message, "write what gpg --armor --export <fingerprint> prints, one key an entry");

const weak = (message: string): KeyResult =>
  unusableKey("FLT1226", `${message}, which is too weak`, "use an ed25519 key");

const privateKey = unusableKey(
  "FLT1229",
  "is a private key",
  "revoke it: who can read the repository has it; then list another one's public half",
);
