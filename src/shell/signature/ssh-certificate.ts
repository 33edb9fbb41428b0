import type { Buffer } from "node:buffer";
import type { SshCertificate } from "../../core/model/commit.ts";
import type { Instant } from "../../core/model/value.ts";
import { Flawed } from "./flawed.ts";
import { readSshKey, type SshKey, sshKeyOf } from "./ssh-key.ts";
import { checkSshProof } from "./ssh-proof.ts";
import { type Wire, wireOf } from "./ssh-wire.ts";

/** Whether a blob that begins with this type is a certificate, not a key. */
export const isCertificateType = (type: string): boolean => type.endsWith(suffix);

const suffix = "-cert-v01@openssh.com";
const user = 1;
const mostPrincipals = 256;
const forEver = 0xffff_ffff_ffff_ffffn;

/**
 * Reads a user certificate (OpenSSH's PROTOCOL.certkeys) whose own signature verifies: the key in it, and what the
 * authority says about that key. Neither time nor principals are judged here.
 *
 * Stricter than `ssh-keygen -Y verify`, which takes no notice of critical options: whoever puts one in narrows down what
 * the key may do, and none of them is about signing.
 */
export function readSshCertificate(blob: Buffer): { readonly key: SshKey; readonly certificate: SshCertificate } {
  const wire = wireOf(blob, "the certificate");
  const type = wire.text();
  wire.string(); // The nonce, which makes what is signed unpredictable.
  const key = readSshKey(keyTypeOf(type), wire);
  wire.uint64(); // The serial number, which is for lists of revoked ones.
  if (wire.uint32() !== user) throw new Flawed("Unsupported", "the certificate is not one for users");
  const keyId = wire.text();
  const principals = principalsOf(wire.string());
  const [from, to] = [wire.uint64(), wire.uint64()];
  if (wire.string().length > 0) {
    throw new Flawed("Unsupported", "the certificate has critical options, and none of them is known here");
  }
  checkExtensions(wireOf(wire.string(), "the certificate"));
  if (wire.string().length > 0) throw new Flawed("Unsupported", "the certificate uses a field that is reserved");
  const authority = authorityOf(wire);
  const signed = blob.subarray(0, wire.at());
  checkSshProof(authority, wire.string(), signed);
  wire.end();
  const certificate = {
    authority: authority.fingerprint,
    keyId,
    principals,
    validAfter: instantAt(from),
    validBefore: to === forEver ? null : instantAt(to),
  };
  return { key, certificate };
}

/** `ssh-ed25519-cert-v01@openssh.com` is of a `ssh-ed25519`; keys in hardware carry the domain themselves. */
function keyTypeOf(type: string): string {
  const plain = type.slice(0, -suffix.length);
  return plain.startsWith("sk-") ? `${plain}@openssh.com` : plain;
}

function authorityOf(wire: Wire): SshKey {
  const blob = wire.string();
  if (isCertificateType(wireOf(blob, "the authority's key").text())) {
    throw new Flawed("Malformed", "the authority of the certificate is a certificate itself");
  }
  return sshKeyOf(blob);
}

function principalsOf(list: Buffer): readonly string[] {
  const wire = wireOf(list, "the certificate");
  const principals: string[] = [];
  while (!wire.isAtEnd()) {
    if (principals.length === mostPrincipals) {
      throw new Flawed("Malformed", `the certificate has more than ${mostPrincipals} principals`);
    }
    principals.push(wire.text());
  }
  return principals;
}

/** Extensions grant what has to do with logging in; they are read through and left aside. */
function checkExtensions(wire: Wire): void {
  while (!wire.isAtEnd()) {
    wire.text();
    wire.string();
  }
}

/** Seconds beyond the year 285,000 are as good as that year. */
const instantAt = (at: bigint): Instant => (Number(at > lastSecond ? lastSecond : at) * 1000) as Instant;
const lastSecond = BigInt(Math.floor(Number.MAX_SAFE_INTEGER / 1000));
