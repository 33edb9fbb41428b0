// Signatures of our own: what ssh-keygen and git make of them, and what keys are refused.
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Instant } from "../../../src/core/model/value.ts";
import { signedCommit } from "../../../src/shell/git/model/commits.ts";
import { type SigningKey, signingKeyOf } from "../../../src/shell/signature/ssh-sign.ts";
import { verifySsh } from "../../../src/shell/signature/ssh-signature.ts";
import { hasSshKeygen, openWorkshop, signatureOf, sshSigner, type Workshop } from "./workshop.ts";

const payload = Buffer.from("tree 1\n\nwhat was decided\n");

const keyOf = (text: string): SigningKey => {
  const key = signingKeyOf(text);
  if (key.kind === "unusable") throw new Error(key.message);
  return key;
};

const pkcs8 = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();

test("a key of PKCS#8 signs for git, the same bytes each time, in a way that verifies over just these bytes", () => {
  const key = keyOf(pkcs8());
  const armored = key.sign(payload);
  expect(key.sign(payload)).toBe(armored);
  const want = { kind: "ssh", fingerprint: key.fingerprint, keyType: "ssh-ed25519", namespace: "git" };
  expect(verifySsh(payload, armored)).toEqual({ ...want, touched: null, certificate: null });
  expect(verifySsh(Buffer.from("else"), armored)).toMatchObject({ kind: "rejected", code: "Mismatch" });
});

test.each([
  ["text", "hello", "is not a private key in OpenSSH"],
  ["a public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIC", "is not a private key in OpenSSH"],
  [
    "an RSA key",
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs8" }),
    "is not an Ed25519 key",
  ],
  ["an encrypted key", pkcs8().replaceAll("PRIVATE", "ENCRYPTED PRIVATE"), "is encrypted"],
  ["half a key", `${pkcs8().slice(0, 60)}\n-----END PRIVATE KEY-----\n`, "cannot be read"],
  [
    "half a key of OpenSSH",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n-----END OPENSSH PRIVATE KEY-----\n",
    "cannot be read",
  ],
])("%s is refused, with what to do, and nothing of it is shown", (_, text, message) => {
  const key = signingKeyOf(String(text));
  if (key.kind === "key") throw new Error("taken");
  expect(key.message).toContain(message);
  expect(key.fix).toMatch(/ssh-keygen|restore/);
  for (const line of String(text).split("\n")) if (line.length > 20) expect(key.message + key.fix).not.toContain(line);
});

describe.skipIf(!hasSshKeygen)("with ssh-keygen", () => {
  let workshop: Workshop;
  beforeAll(() => {
    workshop = openWorkshop();
  });
  afterAll(() => workshop.close());

  test("a key that ssh-keygen made has its fingerprint and public half, and signs what ssh-keygen would", () => {
    const { key: path } = sshSigner(workshop, "robot", "-t", "ed25519");
    const key = keyOf(readFileSync(path, "utf8"));
    expect(`${key.publicKey} robot\n`).toBe(readFileSync(`${path}.pub`, "utf8"));
    expect(workshop.run("ssh-keygen", ["-l", "-f", path]).toString().split(" ")[1]).toBe(key.fingerprint);
    const theirs = workshop.run("ssh-keygen", ["-q", "-Y", "sign", "-n", "git", "-f", path], payload).toString();
    expect(key.sign(payload)).toBe(theirs);
  });

  test("git verify-commit accepts a commit that it signed, and none that was changed after", async () => {
    const { key: path } = sshSigner(workshop, "writer", "-t", "ed25519");
    const key = keyOf(readFileSync(path, "utf8"));
    workshop.git("-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", "Grüße, Łódź");
    const signed = signedCommit(workshop.contentOf("HEAD"), key.sign);
    expect(workshop.gitAccepts(signed)).toBe(true);
    expect(await signatureOf(signed, [], 0 as Instant)).toMatchObject({ fingerprint: key.fingerprint });
    const other = Buffer.from(signed.toString("utf8").replace("Grüße", "Grusse"));
    expect(workshop.gitAccepts(other)).toBe(false);
  });

  test.each([
    ["one with a passphrase", ["-t", "ed25519", "-N", "secret"], "is encrypted"],
    ["an ECDSA key", ["-t", "ecdsa", "-N", ""], "is not an Ed25519 key"],
  ])("%s is refused", (name, kind, message) => {
    const path = join(workshop.root, name.replaceAll(" ", "-"));
    workshop.run("ssh-keygen", ["-q", "-f", path, ...kind]);
    expect(signingKeyOf(readFileSync(path, "utf8"))).toMatchObject({
      kind: "unusable",
      message: expect.stringContaining(message),
    });
  });
});
