import { createHash } from "node:crypto";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import type { Verifier } from "../../../src/shell/reconcile/ports.ts";

// Signatures of a simulated world: whoever has a name has a key, and what it signs says so. Nobody can write another's.

/** A public key as a trust file lists it, and its fingerprint: a real key's form, for which there is no private half. */
export function publicKeyOf(name: string): { readonly line: string; readonly fingerprint: string } {
  const part = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  const secret = createHash("sha256").update(`the key of ${name}`).digest();
  const blob = Buffer.concat([part(Buffer.from("ssh-ed25519")), part(secret)]);
  const digest = createHash("sha256").update(blob).digest("base64").replace(/=+$/, "");
  return { line: `ssh-ed25519 ${blob.toString("base64")}`, fingerprint: `SHA256:${digest}` };
}

/** The header of a commit that somebody signed. */
export const signedBy = (name: string): string => `signed-by ${name}`;

/** A signature over a text, armored, made for a namespace. */
export const signatureBy = (name: string, namespace: string, text: string): string =>
  `-----BEGIN SSH SIGNATURE-----\n${name} ${namespace} ${sha256(text)}\n-----END SSH SIGNATURE-----\n`;

/** Believes what {@link signedBy} and {@link signatureBy} say, and nothing else. */
export const simulatedVerifier: Verifier = {
  async commit({ commit, raw, changes, merge }) {
    const [header = ""] = new TextDecoder().decode(raw).split("\n\n");
    const name = /^signed-by (.*)$/m.exec(header)?.[1];
    const parents = [...header.matchAll(/^parent (.*)$/gm)].map(([, id]) => id as Commit);
    const signature: SignatureFact = name === undefined ? { kind: "unsigned" } : factOf(name, "git");
    return { commit, parents, signature, claimedAuthor: "people", changes, merge };
  },
  async detached(bytes, armored) {
    const [, name = "", namespace = "", digest] = /^(\S+) (\S+) ([0-9a-f]{64})$/m.exec(armored) ?? [];
    if (digest === sha256(new TextDecoder().decode(bytes))) return factOf(name, namespace);
    return { kind: "rejected", code: "Mismatch", message: "it is over something else" };
  },
};

function factOf(name: string, namespace: string): SignatureFact {
  const { fingerprint } = publicKeyOf(name);
  return { kind: "ssh", fingerprint, keyType: "ssh-ed25519", namespace, touched: null, certificate: null };
}

/** SHA-256 of a text, as hexadecimal digits. */
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
