import { Buffer } from "node:buffer";
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { SignatureError } from "./signature-error.ts";
import { newWireReader, type WireReader, wireString } from "./ssh-wire.ts";

/** A public key that signatures can be checked with. */
export interface SshKey {
  /** As `ssh-keygen -l` says it: `SHA256:` and base64 without padding. */
  readonly fingerprint: string;
  readonly keyType: string;
  readonly object: KeyObject;
  /** Of a key that lives in hardware: what its signatures are bound to (`ssh:`). */
  readonly application: Buffer | null;
}

/** The key of a blob, which is all of it. */
export function publicKeyOf(blob: Buffer): SshKey {
  const wire = newWireReader(blob, "the public key");
  const key = readSshKey(wire.text(), wire);
  wire.end();
  return key;
}

/** Reads the fields of a key of that type, where keys and certificates have them. */
export function readSshKey(type: string, wire: WireReader): SshKey {
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read === undefined) throw new SignatureError("Unsupported", "the key is of a kind that is not supported");
  const { fields, jwk, ...more } = read(wire);
  const blob = Buffer.concat([type, ...fields].map(wireString));
  const fingerprint = `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
  return { fingerprint, keyType: type, application: null, ...more, object: objectOf(jwk) };
}

interface Fields {
  readonly fields: readonly (Buffer | string)[];
  readonly jwk: JsonWebKey;
  readonly application?: Buffer;
}

const readers: Readonly<Record<string, (wire: WireReader) => Fields>> = {
  "ssh-ed25519": ed25519,
  "sk-ssh-ed25519@openssh.com": (wire) => bound(ed25519(wire), wire),
  "ecdsa-sha2-nistp256": (wire) => ecdsa(wire, "nistp256"),
  "ecdsa-sha2-nistp384": (wire) => ecdsa(wire, "nistp384"),
  "ecdsa-sha2-nistp521": (wire) => ecdsa(wire, "nistp521"),
  "sk-ecdsa-sha2-nistp256@openssh.com": (wire) => bound(ecdsa(wire, "nistp256"), wire),
  "ssh-rsa": rsa,
  "ssh-dss": () => {
    throw new SignatureError("Weak", "DSA keys are too weak; use ssh-ed25519");
  },
};

function ed25519(wire: WireReader): Fields {
  const point = wire.string();
  if (point.length !== 32) throw new SignatureError("Malformed", "an Ed25519 key has 32 bytes");
  return { fields: [point], jwk: { kty: "OKP", crv: "Ed25519", x: point.toString("base64url") } };
}

const curves = {
  nistp256: { crv: "P-256", size: 32 },
  nistp384: { crv: "P-384", size: 48 },
  nistp521: { crv: "P-521", size: 66 },
} as const;

function ecdsa(wire: WireReader, name: keyof typeof curves): Fields {
  const { crv, size } = curves[name];
  const curve = wire.text();
  const point = wire.string();
  if (curve !== name || point.length !== 1 + 2 * size || point[0] !== 4) {
    throw new SignatureError("Malformed", `this is not a point of ${name}`);
  }
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)].map((it) => it.toString("base64url"));
  return { fields: [curve, point], jwk: { kty: "EC", crv, x: x ?? "", y: y ?? "" } };
}

/** As OpenSSH: longer ones cost more time than they are worth. */
const mostBits = 16_384;
const leastBits = 2048;

/** RSA. Stricter than OpenSSH 9.2, which takes 1024 bits, and any exponent. */
function rsa(wire: WireReader): Fields {
  const [exponent, modulus] = [wire.positive(), wire.positive()];
  const bits = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  if (bits < leastBits)
    throw new SignatureError("Weak", `RSA keys need at least ${leastBits} bits, and this one has ${bits}`);
  if (bits > mostBits)
    throw new SignatureError("Unsupported", `RSA keys of more than ${mostBits} bits are not supported`);
  const isOdd = ((exponent.at(-1) ?? 0) & 1) === 1 && ((modulus.at(-1) ?? 0) & 1) === 1;
  const isOne = exponent.length === 1 && exponent[0] === 1;
  if (!isOdd || isOne || exponent.length > 4)
    throw new SignatureError("Weak", "the RSA key has an unusual exponent or modulus");
  // Lengths as they were on the wire: a zero comes first where the top bit is set.
  const fields = [exponent, modulus].map((it) => ((it[0] ?? 0) < 0x80 ? it : Buffer.concat([Buffer.alloc(1), it])));
  return {
    fields,
    jwk: { kty: "RSA", e: exponent.toString("base64url"), n: modulus.toString("base64url") },
  };
}

const bound = (key: Fields, wire: WireReader): Fields => {
  const application = wire.string();
  return { ...key, fields: [...key.fields, application], application };
};

function objectOf(jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    throw new SignatureError("Malformed", "the public key is none: its numbers do not fit together");
  }
}

/** What a signature that verifies says beyond that. */
interface SshSignatureFlags {
  /** Somebody touched the key; null for keys that are not in hardware of their own. */
  readonly touched: boolean | null;
}

/** Checks an SSH signature over `data` (RFC 8709, 5656, 8332, PROTOCOL.u2f), or says what is wrong with it. */
export function checkSshSignature(key: SshKey, signature: Buffer, data: Buffer): SshSignatureFlags {
  const wire = newWireReader(signature, "the signature");
  const algorithm = wire.text();
  const hash = hashOf(key, algorithm);
  const value = wire.string();
  const presence = key.application === null ? null : { flags: wire.bytes(1), counter: wire.bytes(4) };
  wire.end();
  const signed = presence === null ? data : inHardware(key, presence, data);
  if (!holds(key, { hash, value }, signed)) {
    throw new SignatureError("Mismatch", "the signature is not one of these bytes by this key");
  }
  return { touched: presence === null ? null : ((presence.flags[0] ?? 0) & userPresent) !== 0 };
}

const userPresent = 1;

/** What the hardware signs: it sees the digest of the data only, and says who asked it and how often it was used. */
function inHardware(key: SshKey, { flags, counter }: { flags: Buffer; counter: Buffer }, data: Buffer): Buffer {
  const digest = (of: Buffer): Buffer => createHash("sha256").update(of).digest();
  return Buffer.concat([digest(key.application ?? Buffer.alloc(0)), flags, counter, digest(data)]);
}

const hashes: Readonly<Record<string, string>> = {
  "ecdsa-sha2-nistp256": "sha256",
  "ecdsa-sha2-nistp384": "sha384",
  "ecdsa-sha2-nistp521": "sha512",
  "sk-ecdsa-sha2-nistp256@openssh.com": "sha256",
};
const hashesOfRsa: Readonly<Record<string, string>> = { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" };

/** The hash of a signature; null for Ed25519, which brings its own. Only RSA leaves a choice. */
function hashOf(key: SshKey, algorithm: string): string | null {
  if (key.keyType === "ssh-rsa") {
    const hash = Object.hasOwn(hashesOfRsa, algorithm) ? hashesOfRsa[algorithm] : undefined;
    if (hash !== undefined) return hash;
    if (algorithm === "ssh-rsa") throw new SignatureError("Weak", "the signature is made with SHA-1");
  }
  if (algorithm !== key.keyType) {
    throw new SignatureError("Unsupported", "the signature is made in a way that does not fit its key");
  }
  return hashes[algorithm] ?? null;
}

interface Value {
  readonly hash: string | null;
  readonly value: Buffer;
}

function holds({ object }: SshKey, { hash, value }: Value, signed: Buffer): boolean {
  switch (object.asymmetricKeyType) {
    case "ed25519":
      return value.length === 64 && verify(null, signed, object, value);
    case "ec": {
      const wire = newWireReader(value, "the signature");
      const size = sizes[object.asymmetricKeyDetails?.namedCurve ?? ""] ?? 0;
      const both = Buffer.concat([padded(wire, size), padded(wire, size)]);
      wire.end();
      return verify(hash, signed, { key: object, dsaEncoding: "ieee-p1363" }, both);
    }
    default:
      return verify(hash, signed, object, value);
  }
}

const sizes: Readonly<Record<string, number>> = { prime256v1: 32, secp384r1: 48, secp521r1: 66 };

function padded(wire: WireReader, size: number): Buffer {
  const digits = wire.positive();
  if (digits.length > size)
    throw new SignatureError("Malformed", "the signature has a number that is too large for its curve");
  return Buffer.concat([Buffer.alloc(size - digits.length), digits]);
}
