import { Buffer } from "node:buffer";
import { armoredLines, base64Lines } from "./armor.ts";
import { SignatureError } from "./signature-error.ts";
import { newWireReader, type WireReader } from "./ssh-wire.ts";

/** The one packet of a signature, and what it says about who made it. */
interface OpenPgpPacket {
  readonly bytes: Buffer;
  /** The last 64 bits of a fingerprint (version 6: the first), in upper-case hexadecimal digits. Never enough to trust. */
  readonly issuerId: string;
  /** Null in signatures of old programs. */
  readonly issuer: string | null;
}

const what = "the OpenPGP signature";
const bad = (): SignatureError => new SignatureError("Malformed", `${what} is not what it should be made of`);

/** The signature in an armor: exactly one packet, of version 4 or 6, over bytes, with a sound algorithm. */
export function openPgpPacket(armored: string): OpenPgpPacket {
  const bytes = dearmored(armored);
  const wire = newWireReader(packetBody(bytes), what);
  const version = wire.byte();
  if (version !== 4 && version !== 6) {
    throw new SignatureError("Unsupported", `${what} is of version ${version}; 4 and 6 are supported`);
  }
  if (wire.byte() !== 0) throw new SignatureError("Unsupported", `${what} is not one over a file of bytes`);
  checkAlgorithms(wire.byte(), wire.byte());
  const area = (): Buffer => wire.bytes(version === 4 ? wire.bytes(2).readUInt16BE() : wire.uint32());
  const vouched = subpackets(area());
  const added = subpackets(area());
  if (added.some((it) => it.type !== type.issuerId && it.type !== type.issuer)) {
    throw new SignatureError("Malformed", `${what} carries claims that nobody signed`);
  }
  return { bytes, ...issuerOf([...vouched, ...added]) };
}

function dearmored(armored: string): Buffer {
  const lines = armoredLines(armored, "PGP SIGNATURE");
  const empty = lines.indexOf("");
  const isHeader = (line: string): boolean => /^(Version|Comment): [ -~]{0,200}$/.test(line);
  if (empty < 0 || empty > 8 || !lines.slice(0, empty).every(isHeader)) throw bad();
  const last = lines.at(-1) ?? "";
  const sum = /^=([A-Za-z0-9+/]{4})$/.exec(last)?.[1];
  const bytes = base64Lines(lines.slice(empty + 1, sum === undefined ? undefined : -1));
  if (sum !== undefined && sum !== checksum(bytes))
    throw new SignatureError("Malformed", `the checksum of ${what} is wrong`);
  return bytes;
}

/** CRC-24 of RFC 4880 §6.1, as it is written. */
function checksum(bytes: Buffer): string {
  let sum = 0xb704ce;
  for (const byte of bytes) {
    sum ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ ((sum & 0x800000) === 0 ? 0 : 0x1864cfb);
  }
  return Buffer.from([sum >> 16, sum >> 8, sum]).toString("base64");
}

const signatureTag = 2;

/** What is in the packet; it says itself how long it is, in one of two ways, and nothing follows it. */
function packetBody(bytes: Buffer): Buffer {
  const wire = newWireReader(bytes, what);
  const first = wire.byte();
  const isOld = (first & 0xc0) === 0x80;
  const isNew = (first & 0xc0) === 0xc0;
  const tag = isNew ? first & 0x3f : (first >> 2) & 0xf;
  if ((!isOld && !isNew) || tag !== signatureTag) throw bad();
  const body = wire.bytes(isNew ? newLength(wire) : oldLength(wire, first & 3));
  if (!wire.isAtEnd()) throw new SignatureError("Ambiguous", `more than one packet is in ${what}`);
  return body;
}

function oldLength(wire: WireReader, form: number): number {
  switch (form) {
    case 0:
      return wire.byte();
    case 1:
      return wire.bytes(2).readUInt16BE();
    case 2:
      return wire.uint32();
    default:
      throw bad();
  }
}

/** Also of subpackets. Lengths in parts are for data that is not known yet. */
function newLength(wire: WireReader, mostOfTwo = 223): number {
  const first = wire.byte();
  if (first < 192) return first;
  if (first <= mostOfTwo) return ((first - 192) << 8) + wire.byte() + 192;
  if (first === 255) return wire.uint32();
  throw bad();
}

const keyKinds = new Set([1, 19, 22, 27, 28]);
const weakKeyKinds = new Set([16, 17, 20]);
const hashes = new Set([8, 9, 10]);
const weakHashes = new Set([1, 2, 3]);

/** RSA, ECDSA, EdDSA (old), Ed25519, Ed448 with SHA-256, SHA-384 or SHA-512: the numbers of RFC 9580 §9. */
function checkAlgorithms(key: number, hash: number): void {
  if (weakKeyKinds.has(key)) throw new SignatureError("Weak", `${what} is made with DSA or ElGamal`);
  if (weakHashes.has(hash)) throw new SignatureError("Weak", `${what} is made with MD5, SHA-1 or RIPEMD`);
  if (!keyKinds.has(key) || !hashes.has(hash)) {
    throw new SignatureError("Unsupported", `${what} is made with an algorithm that is not supported`);
  }
}

interface Subpacket {
  /** With the bit that asks readers to refuse what they do not know. */
  readonly type: number;
  readonly body: Buffer;
}

const type = { issuerId: 16, issuer: 33 } as const;

function subpackets(area: Buffer): readonly Subpacket[] {
  const wire = newWireReader(area, what);
  const found: Subpacket[] = [];
  while (!wire.isAtEnd()) {
    const [first = 0, ...body] = wire.bytes(newLength(wire, 254));
    found.push({ type: first, body: Buffer.from(body) });
  }
  return found;
}

/** Who made it, wherever it says so; twice is fine as long as it is the same. */
function issuerOf(subpackets: readonly Subpacket[]): { readonly issuerId: string; readonly issuer: string | null } {
  const all = (kind: number): readonly Buffer[] =>
    subpackets.filter((it) => (it.type & 0x7f) === kind).map((it) => it.body);
  const issuers = new Set(all(type.issuer).map(fingerprintIn));
  const ids = new Set([...all(type.issuerId).map((it) => hex(it)), ...[...issuers].map(keyIdOf)]);
  const [issuerId] = ids;
  if (ids.size > 1 || issuers.size > 1) throw new SignatureError("Ambiguous", `${what} names more than one key`);
  if (issuerId?.length !== 16) throw new SignatureError("Malformed", `${what} does not name its key`);
  return { issuerId, issuer: [...issuers][0] ?? null };
}

const hex = (bytes: Buffer): string => bytes.toString("hex").toUpperCase();

/** The version of the key comes first. */
function fingerprintIn(body: Buffer): string {
  const size = body[0] === 4 ? 20 : body[0] === 6 ? 32 : 0;
  if (size === 0 || body.length !== 1 + size) throw bad();
  return hex(body.subarray(1));
}

const keyIdOf = (fingerprint: string): string =>
  fingerprint.length === 40 ? fingerprint.slice(-16) : fingerprint.slice(0, 16);
