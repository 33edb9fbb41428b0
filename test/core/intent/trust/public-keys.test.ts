import { generateKey, readKey } from "openpgp";
import { describe, expect, it } from "vitest";
import { parseOpenPgpKey } from "../../../../src/core/intent/trust/openpgp-key.ts";
import { parseSshKey } from "../../../../src/core/intent/trust/ssh-key.ts";
import { armor, armored, ed25519, mpint, sshKeys, sshLine } from "./public-keys.ts";

const point = (size: number): Uint8Array => new Uint8Array(1 + 2 * size).fill(4);

describe("an SSH key line", () => {
  for (const [name, { line, fingerprint }] of Object.entries(sshKeys).filter(([it]) => it !== "rsa2048"))
    it(`${name}: gets the fingerprint that ssh-keygen prints`, () => {
      expect(parseSshKey(line)).toEqual({ kind: "key", fingerprint });
      expect(parseSshKey(`  ${line} somebody@laptop with words\t`)).toEqual({ kind: "key", fingerprint });
    });

  it("of a hardware token is read", () => {
    const tokens = [
      sshLine("sk-ssh-ed25519@openssh.com", new Uint8Array(32), "ssh:"),
      sshLine("sk-ecdsa-sha2-nistp256@openssh.com", "nistp256", point(32), "ssh:"),
    ];
    expect(tokens.map((it) => parseSshKey(it).kind)).toEqual(["key", "key"]);
  });

  const refused: readonly (readonly [name: string, line: string, code: string])[] = [
    ["RSA of 2048 bits", sshKeys.rsa2048.line, "FLT1226"],
    ["RSA of 1024 bits (B-66)", sshLine("ssh-rsa", mpint(17), mpint(1024)), "FLT1226"],
    ["RSA of one bit too few", sshLine("ssh-rsa", mpint(17), mpint(3071)), "FLT1226"],
    ["RSA whose modulus is padded to look longer", sshLine("ssh-rsa", mpint(17), new Uint8Array(385)), "FLT1227"],
    ["RSA with a negative modulus", sshLine("ssh-rsa", mpint(17), new Uint8Array(384).fill(255)), "FLT1227"],
    ["RSA with exponent 1", sshLine("ssh-rsa", mpint(1), mpint(3072)), "FLT1227"],
    ["DSA", sshLine("ssh-dss", mpint(1024), mpint(160), mpint(1024), mpint(1024)), "FLT1226"],
    ["a certificate", sshLine("ssh-ed25519-cert-v01@openssh.com", "nonce"), "FLT1227"],
    ["a principal before the key (B-67)", `* ${ed25519(1)}`, "FLT1233"],
    ["a name before the key", `ann@example.com ${ed25519(1)}`, "FLT1233"],
    ["cert-authority (B-67)", `cert-authority ${ed25519(1)}`, "FLT1233"],
    ["an option", `namespaces="git" ${ed25519(1)}`, "FLT1233"],
    ["an unknown type", sshLine("ssh-ed448", new Uint8Array(57)), "FLT1227"],
    ["a type that the blob does not repeat", sshLine("ssh-rsa").replace("ssh-rsa", "ssh-ed25519"), "FLT1227"],
    ["too short", sshLine("ssh-ed25519", new Uint8Array(31)), "FLT1227"],
    ["something behind it", sshLine("ssh-ed25519", new Uint8Array(32), ""), "FLT1227"],
    ["another curve", sshLine("ecdsa-sha2-nistp256", "nistp384", point(48)), "FLT1227"],
    ["a compressed point", sshLine("ecdsa-sha2-nistp256", "nistp256", new Uint8Array(33).fill(2)), "FLT1227"],
    ["base64 that could be written otherwise", sshKeys.nistp256.line.replace(/U=$/, "V="), "FLT1227"],
    ["base64 that goes on", ed25519(1).replace(" key-1", "="), "FLT1227"],
    ["a second key behind the comment", `${ed25519(1)}\n${ed25519(2)}`, "FLT1227"],
    ["a type alone", "ssh-ed25519", "FLT1227"],
    ["nothing", "", "FLT1227"],
  ];
  for (const [name, line, code] of refused)
    it(`is refused: ${name}`, () => {
      expect(parseSshKey(line)).toMatchObject({ kind: "unusable", code });
    });

  it("is not itself any more when one character of it changes", () => {
    const { line, fingerprint } = sshKeys.ed25519;
    const others = [...line].map((it, at) => `${line.slice(0, at)}${it === "B" ? "C" : "B"}${line.slice(at + 1)}`);
    expect(others.filter((it) => JSON.stringify(parseSshKey(it)).includes(fingerprint))).toEqual([]);
  });
});

describe("an OpenPGP key", () => {
  const kinds = [
    ["version 4, ed25519", { type: "ecc", curve: "ed25519Legacy" }],
    ["version 4, nistP256", { type: "ecc", curve: "nistP256" }],
    ["version 6, curve25519", { type: "curve25519", config: { v6Keys: true } }],
  ] as const;
  for (const [name, kind] of kinds)
    it(`${name}: gets the fingerprint that the library says`, async () => {
      const { publicKey, privateKey } = await generateKey({ ...kind, userIDs: [{ name: "Ann" }] });
      const fingerprint = (await readKey({ armoredKey: publicKey })).getFingerprint().toUpperCase();
      expect(parseOpenPgpKey(publicKey)).toEqual({ kind: "key", fingerprint });
      expect(parseOpenPgpKey(publicKey.replaceAll("\r\n", "\n"))).toEqual({ kind: "key", fingerprint });
      expect(parseOpenPgpKey(privateKey)).toMatchObject({ kind: "unusable", code: "FLT1229" });
    });

  it("of strong RSA is read", () => {
    expect(parseOpenPgpKey(armored(4, 1, 4096)).kind).toBe("key");
    expect(parseOpenPgpKey(armored(6, 1, 3072)).kind).toBe("key");
  });

  const one = Buffer.from(armored(4, 22).split("\n").slice(2, -1).join(""), "base64");
  const refused: readonly (readonly [name: string, armor: string, code: string])[] = [
    ["RSA of 2048 bits", armored(4, 1, 2048), "FLT1226"],
    ["DSA", armored(4, 17), "FLT1226"],
    ["Elgamal", armored(4, 16), "FLT1227"],
    ["RSA for encryption only", armored(4, 2), "FLT1227"],
    ["version 3", armored(3, 1), "FLT1226"],
    ["a private key in a public armor (B-66)", armored(4, 1, 3072, 5), "FLT1229"],
    ["a signature", armored(4, 1, 3072, 2), "FLT1227"],
    ["a subkey alone", armored(4, 1, 3072, 14), "FLT1227"],
    ["two keys", armor(Buffer.concat([one, one])), "FLT1227"],
    ["cut off", armor(one.subarray(0, -1)), "FLT1227"],
    ["two blocks", `${armored(4, 1)}\n${armored(4, 1)}`, "FLT1227"],
    ["a 64-bit id (B-66)", "0xDEADBEEFDEADBEEF", "FLT1227"],
    ["a partial length", armor(Buffer.from([0xc6, 0xe5, ...new Uint8Array(40)])), "FLT1227"],
    ["nothing", "", "FLT1227"],
  ];
  for (const [name, text, code] of refused)
    it(`is refused: ${name}`, () => {
      expect(parseOpenPgpKey(text)).toMatchObject({ kind: "unusable", code });
    });
});
