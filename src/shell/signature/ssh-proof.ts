import { Buffer } from "node:buffer";
import { createHash, verify } from "node:crypto";
import { Flawed } from "./flawed.ts";
import type { SshKey } from "./ssh-key.ts";
import { type Wire, wireOf } from "./ssh-wire.ts";

/** What a signature that verifies says beyond that. */
export interface SshProof {
  /** Somebody touched the key; null for keys that are not in hardware of their own. */
  readonly touched: boolean | null;
}

/**
 * Checks one signature of SSH (RFC 8709, RFC 5656, RFC 8332, OpenSSH's PROTOCOL.u2f) over `data`, or says what is wrong
 * with it.
 */
export function checkSshProof(key: SshKey, signature: Buffer, data: Buffer): SshProof {
  const wire = wireOf(signature, "the signature");
  const algorithm = wire.text();
  const hash = hashOf(key, algorithm);
  const value = wire.string();
  const presence = key.application === null ? null : { flags: wire.bytes(1), counter: wire.bytes(4) };
  wire.end();
  const signed = presence === null ? data : inHardware(key, presence, data);
  if (!holds(key, { hash, value }, signed)) {
    throw new Flawed("Mismatch", "the signature is not one of these bytes by this key");
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
    if (algorithm === "ssh-rsa") throw new Flawed("Weak", "the signature is made with SHA-1");
  }
  if (algorithm !== key.keyType) {
    throw new Flawed("Unsupported", "the signature is made in a way that does not fit its key");
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
      const wire = wireOf(value, "the signature");
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

function padded(wire: Wire, size: number): Buffer {
  const digits = wire.positive();
  if (digits.length > size) throw new Flawed("Malformed", "the signature has a number that is too large for its curve");
  return Buffer.concat([Buffer.alloc(size - digits.length), digits]);
}
