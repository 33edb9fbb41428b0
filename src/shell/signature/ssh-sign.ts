import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { orRejected } from "./signature-error.ts";
import { newWireReader, wireString } from "./ssh-wire.ts";

/** A private key. Its secret never leaves the closure. */
export interface SigningKey {
  readonly kind: "key";
  /** `SHA256:…`, as `ssh-keygen -l` and the trust file have it. */
  readonly fingerprint: string;
  /** The public half, as it stands in `.pub` files and in the trust file. */
  readonly publicKey: string;
  /** An armored SSH signature over the bytes, made for the namespace of git's commits. */
  readonly sign: (payload: Uint8Array) => string;
}

/** Why a file is no signing key, without quoting it. */
interface NoSigningKey {
  readonly kind: "unusable";
  readonly message: string;
  readonly fix: string;
}

/** The only kind of key: small, and its signatures are the same for the same bytes (RFC 8032). */
const type = "ssh-ed25519";

/** What git has commits signed for. */
const commitNamespace = "git";

/** Reads a private key that is not encrypted, OpenSSH's or PKCS#8's (PROTOCOL.key, RFC 5958), and never quotes it. */
export function signingKeyOf(text: string): SigningKey | NoSigningKey {
  if (/^-----BEGIN OPENSSH PRIVATE KEY-----/m.test(text)) return fromOpenSsh(text);
  if (/^-----BEGIN ENCRYPTED PRIVATE KEY-----/m.test(text)) return encrypted;
  if (/^-----BEGIN PRIVATE KEY-----/m.test(text)) return fromPkcs8(text);
  return unusable("is not a private key in OpenSSH or PKCS#8 format", makeOne);
}

const unusable = (message: string, fix: string): NoSigningKey => ({ kind: "unusable", message, fix });

const makeOne = "make one: ssh-keygen -t ed25519 -N '' -f FILE";
const encrypted = unusable(
  "is encrypted, and there is nobody to enter the passphrase",
  "remove the passphrase with ssh-keygen -p -N '' -f FILE, and keep the file in a secret store",
);
const anotherKind = unusable("is not an Ed25519 key", makeOne);
const broken = unusable("cannot be read: it is cut off or damaged", "restore the file, or make another key");

const magic = Buffer.from("openssh-key-v1\0");

function fromOpenSsh(text: string): SigningKey | NoSigningKey {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END OPENSSH PRIVATE KEY-----/.exec(
    text,
  )?.[1];
  if (body === undefined) return broken;
  const read = orRejected(() => readContainer(Buffer.from(body, "base64")));
  if (read.kind === "rejected") return broken;
  return read.kind === "seed" ? fromSeed(read) : read;
}

/** The two halves of a key as OpenSSH stores them. */
interface Seed {
  readonly kind: "seed";
  readonly seed: Buffer;
  readonly point: Buffer;
}

function readContainer(bytes: Buffer): Seed | NoSigningKey {
  const wire = newWireReader(bytes, "the private key");
  if (!wire.bytes(magic.length).equals(magic)) return broken;
  const [cipher, kdf] = [wire.text(), wire.text()];
  wire.string();
  if (cipher !== "none" || kdf !== "none") return encrypted;
  if (wire.uint32() !== 1) return broken;
  wire.string();
  const inner = newWireReader(wire.string(), "the private key");
  const [check, again] = [inner.uint32(), inner.uint32()];
  if (check !== again) return broken;
  if (inner.text() !== type) return anotherKind;
  const point = inner.string();
  const secret = inner.string();
  if (point.length !== 32 || secret.length !== 64) return broken;
  return { kind: "seed", seed: secret.subarray(0, 32), point };
}

function fromSeed({ seed, point }: Seed): SigningKey | NoSigningKey {
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", d: seed.toString("base64url"), x: point.toString("base64url") };
    const key = keyWith(createPrivateKey({ key: jwk, format: "jwk" }));
    // A public half that is another key's would make signatures that nobody can verify.
    return key.publicKey === lineOf(blobOf(point)) ? key : broken;
  } catch {
    return broken;
  }
}

function fromPkcs8(text: string): SigningKey | NoSigningKey {
  try {
    const key = createPrivateKey({ key: text, format: "pem" });
    return key.asymmetricKeyType === "ed25519" ? keyWith(key) : anotherKind;
  } catch {
    return broken;
  }
}

function keyWith(key: KeyObject): SigningKey {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const blob = blobOf(Buffer.from(x, "base64url"));
  const digest = createHash("sha256").update(blob).digest("base64").replace(/=+$/, "");
  return {
    kind: "key",
    fingerprint: `SHA256:${digest}`,
    publicKey: lineOf(blob),
    sign: (payload) => armored(signatureOver(payload, key, blob)),
  };
}

const blobOf = (point: Buffer): Buffer => Buffer.concat([wireString(type), wireString(point)]);
const lineOf = (blob: Buffer): string => `${type} ${blob.toString("base64")}`;

const preamble = "SSHSIG";
const magicOfSignature = Buffer.from(preamble);
const hash = "sha512";

/** OpenSSH's PROTOCOL.sshsig, version 1, with the hash that `ssh-keygen -Y sign` takes. */
function signatureOver(payload: Uint8Array, key: KeyObject, blob: Buffer): Buffer {
  const digest = createHash(hash).update(payload).digest();
  const signed = Buffer.concat([magicOfSignature, ...[commitNamespace, "", hash, digest].map(wireString)]);
  const proof = Buffer.concat([type, sign(null, signed, key)].map(wireString));
  const version = Buffer.from([0, 0, 0, 1]);
  return Buffer.concat([magicOfSignature, version, ...[blob, commitNamespace, "", hash, proof].map(wireString)]);
}

/** As ssh-keygen wraps it. */
const columns = 70;

function armored(signature: Buffer): string {
  const lines = signature.toString("base64").match(new RegExp(`.{1,${columns}}`, "g")) ?? [];
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----", ""].join("\n");
}
