import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { SignatureFact } from "../../core/model/commit.ts";
import { armoredLines, base64Lines } from "./armor.ts";
import { Flawed, orRejected } from "./flawed.ts";
import { isCertificateType, readSshCertificate } from "./ssh-certificate.ts";
import { sshKeyOf } from "./ssh-key.ts";
import { checkSshProof } from "./ssh-proof.ts";
import { wireOf, wireString } from "./ssh-wire.ts";

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
  const wire = wireOf(blob, "the signature");
  if (!wire.bytes(magic.length).equals(magic)) throw new Flawed("Malformed", "the signature is not an SSH signature");
  if (wire.uint32() !== 1) throw new Flawed("Unsupported", "the SSH signature is of another version than 1");
  const presented = wire.string();
  const namespace = wire.text();
  if (!namespaceForm.test(namespace)) throw new Flawed("Malformed", "the SSH signature does not say what it is for");
  if (wire.string().length > 0) throw new Flawed("Unsupported", "the SSH signature uses a field that is reserved");
  const hash = wire.text();
  if (hash !== "sha256" && hash !== "sha512") {
    throw new Flawed("Unsupported", "the SSH signature is made with a hash that is not supported");
  }
  const signature = wire.string();
  wire.end();
  const { key, certificate } = isCertificateType(wireOf(presented, "the public key").text())
    ? readSshCertificate(presented)
    : { key: sshKeyOf(presented), certificate: null };
  const digest = createHash(hash).update(payload).digest();
  const signed = Buffer.concat([magic, ...[namespace, "", hash, digest].map(wireString)]);
  const { touched } = checkSshProof(key, signature, signed);
  return { kind: "ssh", fingerprint: key.fingerprint, keyType: key.keyType, namespace, touched, certificate };
}
