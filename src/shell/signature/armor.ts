import { Buffer } from "node:buffer";
import { SignatureError } from "./signature-error.ts";

/** A certificate of RSA keys of 16,384 bits, the longest that OpenSSH reads, takes a third of it. */
const longest = 32 * 1024;

/** The formats that git knows signatures by: from their first line, which has to be the first bytes. */
const labels = {
  "SSH SIGNATURE": "ssh",
  "PGP SIGNATURE": "openpgp",
  "PGP MESSAGE": "message",
  "SIGNED MESSAGE": "x509",
} as const;

/** How a signature is made, by its first line; null where git would not know it either. */
export function armorFormat(armored: string): (typeof labels)[keyof typeof labels] | null {
  const label = /^-----BEGIN ([A-Z ]+)-----\n/.exec(armored)?.[1];
  return label !== undefined && Object.hasOwn(labels, label) ? labels[label as keyof typeof labels] : null;
}

/** The lines between first and last of an armor; before it stands nothing, after it only line breaks (GitHub's). */
export function armoredLines(armored: string, label: keyof typeof labels): readonly string[] {
  if (armored.length > longest) throw new SignatureError("Malformed", `the signature is longer than ${longest} bytes`);
  const first = `-----BEGIN ${label}-----\n`;
  const last = `\n-----END ${label}-----`;
  const text = armored.replace(/\n{1,4}$/, "");
  if (!text.startsWith(first))
    throw new SignatureError("Malformed", `the signature does not begin with ${first.trim()}`);
  if (!text.endsWith(last)) throw new SignatureError("Malformed", `the signature does not end with ${last.trim()}`);
  return text.slice(first.length, -last.length).split("\n");
}

/** The bytes that lines of base64 stand for; no line is empty, and there is one way only to write the same bytes. */
export function base64Lines(lines: readonly string[]): Buffer {
  const text = lines.join("");
  if (lines.includes("") || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) {
    throw new SignatureError("Malformed", "the signature is not base64");
  }
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text) throw new SignatureError("Malformed", "the signature is not proper base64");
  return bytes;
}
