import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { SignatureFact, SshCertificate } from "../../core/model/commit.ts";
import type { Instant } from "../../core/model/value.ts";
import { armoredLines, base64Lines } from "./armor.ts";
import { orRejected, SignatureError } from "./signature-error.ts";
import { checkSshSignature, publicKeyOf, readSshKey, type SshKey } from "./ssh-key.ts";
import { newWireReader, type WireReader, wireString } from "./ssh-wire.ts";

const preamble = "SSHSIG";
const magic = Buffer.from(preamble);
const namespaceForm = /^[!-~]{1,255}$/;

/**
 * What a signature made by `ssh-keygen -Y sign` says about these bytes (OpenSSH's PROTOCOL.sshsig).
 *
 * Whose key it is, and whether the namespace is the right one, is not asked here. Stricter than ssh-keygen: nothing may
 * stand around the armor, the reserved field is empty, RSA has at least 2048 bits, certificates have no critical options.
 */
export const verifySsh = (payload: Uint8Array, armored: string): SignatureFact =>
  orRejected(() => read(payload, base64Lines(armoredLines(armored, "SSH SIGNATURE"))));

function read(payload: Uint8Array, blob: Buffer): SignatureFact {
  const wire = newWireReader(blob, "the signature");
  if (!wire.bytes(magic.length).equals(magic))
    throw new SignatureError("Malformed", "the signature is not an SSH signature");
  if (wire.uint32() !== 1) throw new SignatureError("Unsupported", "the SSH signature is of another version than 1");
  const presented = wire.string();
  const namespace = wire.text();
  if (!namespaceForm.test(namespace))
    throw new SignatureError("Malformed", "the SSH signature does not say what it is for");
  if (wire.string().length > 0)
    throw new SignatureError("Unsupported", "the SSH signature uses a field that is reserved");
  const hash = wire.text();
  if (hash !== "sha256" && hash !== "sha512") {
    throw new SignatureError("Unsupported", "the SSH signature is made with a hash that is not supported");
  }
  const signature = wire.string();
  wire.end();
  const { key, certificate } = isCertificateType(newWireReader(presented, "the public key").text())
    ? readSshCertificate(presented)
    : { key: publicKeyOf(presented), certificate: null };
  const digest = createHash(hash).update(payload).digest();
  const signed = Buffer.concat([magic, ...[namespace, "", hash, digest].map(wireString)]);
  const { touched } = checkSshSignature(key, signature, signed);
  return { kind: "ssh", fingerprint: key.fingerprint, keyType: key.keyType, namespace, touched, certificate };
}

/** Whether a blob that begins with this type is a certificate, not a key. */
const isCertificateType = (type: string): boolean => type.endsWith(suffix);

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
function readSshCertificate(blob: Buffer): { readonly key: SshKey; readonly certificate: SshCertificate } {
  const wire = newWireReader(blob, "the certificate");
  const type = wire.text();
  wire.string(); // The nonce, which makes what is signed unpredictable.
  const key = readSshKey(keyTypeOf(type), wire);
  wire.uint64(); // The serial number, which is for lists of revoked ones.
  if (wire.uint32() !== user) throw new SignatureError("Unsupported", "the certificate is not one for users");
  const keyId = wire.text();
  const principals = principalsOf(wire.string());
  const [from, to] = [wire.uint64(), wire.uint64()];
  if (wire.string().length > 0) {
    throw new SignatureError("Unsupported", "the certificate has critical options, and none of them is known here");
  }
  checkExtensions(newWireReader(wire.string(), "the certificate"));
  if (wire.string().length > 0)
    throw new SignatureError("Unsupported", "the certificate uses a field that is reserved");
  const authority = authorityOf(wire);
  const signed = blob.subarray(0, wire.at());
  checkSshSignature(authority, wire.string(), signed);
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

function authorityOf(wire: WireReader): SshKey {
  const blob = wire.string();
  if (isCertificateType(newWireReader(blob, "the authority's key").text())) {
    throw new SignatureError("Malformed", "the authority of the certificate is a certificate itself");
  }
  return publicKeyOf(blob);
}

function principalsOf(list: Buffer): readonly string[] {
  const wire = newWireReader(list, "the certificate");
  const principals: string[] = [];
  while (!wire.isAtEnd()) {
    if (principals.length === mostPrincipals) {
      throw new SignatureError("Malformed", `the certificate has more than ${mostPrincipals} principals`);
    }
    principals.push(wire.text());
  }
  return principals;
}

/** Extensions grant what has to do with logging in; they are read through and left aside. */
function checkExtensions(wire: WireReader): void {
  while (!wire.isAtEnd()) {
    wire.text();
    wire.string();
  }
}

/** Seconds beyond the year 285,000 are as good as that year. */
const instantAt = (at: bigint): Instant => (Number(at > lastSecond ? lastSecond : at) * 1000) as Instant;
const lastSecond = BigInt(Math.floor(Number.MAX_SAFE_INTEGER / 1000));
