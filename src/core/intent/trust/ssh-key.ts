import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { ProblemCode } from "../../yaml/problems.ts";

/** What a public key in a trust file turned out to be: its fingerprint, or why it cannot be used. */
export type KeyResult =
  | { readonly kind: "key"; readonly fingerprint: string }
  | { readonly kind: "unusable"; readonly code: ProblemCode; readonly message: string; readonly fix: string };

export const unusableKey = (code: ProblemCode, message: string, fix: string): KeyResult => ({
  kind: "unusable",
  code,
  message,
  fix,
});

/**
 * Reads an OpenSSH public key line, as in a `.pub` file, to the fingerprint that ssh-keygen prints (RFC 4253
 * §6.6, RFC 5656 §3.1, RFC 8709 §4, OpenSSH's PROTOCOL.u2f).
 *
 * Every field is measured and nothing may follow: one key has one text. DSA and RSA below 3072 bits are refused
 * (`trust/README.md#the-trust-file`), and so are options and certificates, which are more than a key
 * (`yaml/README.md#b-67`).
 */
export function parseSshKey(line: string): KeyResult {
  if (/[\r\n]/.test(line.trim())) return unusableKey("FLT1227", "is more than one line", "list one key an entry");
  const [type = "", base64 = ""] = line.trim().split(/[ \t]+/);
  if (/^(?:cert-authority|namespaces=|valid-)|^\*|^!/.test(type) || /@/.test(type.split("@openssh.com").join("")))
    return unusableKey("FLT1233", "begins with a wildcard, a name or an option", "write the line of the .pub file");
  if (/-cert-v0\d@openssh\.com$/.test(type))
    return unusableKey("FLT1227", "is a certificate", "list its key here, or its authority under authorities");
  if (type === "ssh-dss") return unusableKey("FLT1226", "is a DSA key, which is too weak", "use an ed25519 key");
  const shape = shapes.get(type);
  const blob = blobOf(base64);
  const fields = blob === null ? null : fieldsOf(blob);
  if (shape === undefined || blob === null || fields === null || fields[0]?.toString("latin1") !== type)
    return unusableKey("FLT1227", "is not an OpenSSH public key of a known type", "write the line of the .pub file");
  const defect = shape(fields.slice(1));
  if (defect === "malformed") return unusableKey("FLT1227", "is damaged", "copy the line of the .pub file again");
  if (defect === "weak") return unusableKey("FLT1226", "is an RSA key of less than 3072 bits", "use an ed25519 key");
  return { kind: "key", fingerprint: `SHA256:${hash("sha256", blob, "base64").replace(/=+$/, "")}` };
}

type Shape = (fields: readonly Buffer[]) => "malformed" | "weak" | null;

/** Which fields follow the type, by type. */
const shapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ["ssh-ed25519", (it) => lengths(it, 32)],
  ["sk-ssh-ed25519@openssh.com", (it) => lengths(it, 32, null)],
  ["ecdsa-sha2-nistp256", (it) => curve(it, "nistp256", 32)],
  ["ecdsa-sha2-nistp384", (it) => curve(it, "nistp384", 48)],
  ["ecdsa-sha2-nistp521", (it) => curve(it, "nistp521", 66)],
  [
    "sk-ecdsa-sha2-nistp256@openssh.com",
    (it) => (it.length === 3 ? curve(it.slice(0, 2), "nistp256", 32) : "malformed"),
  ],
  ["ssh-rsa", rsa],
]);

const lengths = (fields: readonly Buffer[], ...want: readonly (number | null)[]): "malformed" | null =>
  fields.length === want.length && want.every((it, at) => it === null || it === fields[at]?.length)
    ? null
    : "malformed";

function curve(fields: readonly Buffer[], name: string, size: number): "malformed" | null {
  const [id, point] = fields;
  const isPoint = point?.length === 1 + 2 * size && point[0] === 4;
  return fields.length === 2 && id?.toString("latin1") === name && isPoint ? null : "malformed";
}

/** Exponent and modulus, positive and in their shortest form. */
function rsa(fields: readonly Buffer[]): "malformed" | "weak" | null {
  const [exponent, modulus] = fields.map(bitsOf);
  if (fields.length !== 2 || exponent === undefined || modulus === undefined) return "malformed";
  if (exponent < 2 || modulus === 0) return "malformed";
  return modulus < 3072 ? "weak" : null;
}

/** How many bits a number of SSH's has; 0 when it is none that is positive and in its shortest form. */
function bitsOf(bytes: Buffer): number {
  const [first = 0, second = 0] = bytes;
  if (bytes.length === 0 || first > 0x7f || (first === 0 && second < 0x80)) return 0;
  return bytes.length * 8 - (first === 0 ? 8 : Math.clz32(first) - 24);
}

/** The bytes of a base64 text in its one right form; null for any other. */
function blobOf(base64: string): Buffer | null {
  if (base64.length === 0 || base64.length > 8192) return null;
  const blob = Buffer.from(base64, "base64");
  return blob.toString("base64") === base64 ? blob : null;
}

/** A blob of strings, each behind its length; null when one does not fit. */
function fieldsOf(blob: Buffer): readonly Buffer[] | null {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length || fields.length === 8) return null;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}
