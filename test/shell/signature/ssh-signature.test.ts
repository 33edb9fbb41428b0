import { Buffer } from "node:buffer";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseSshKey } from "../../../src/core/intent/trust/ssh-key.ts";
import { verifySsh } from "../../../src/shell/signature/ssh-signature.ts";
import { wireString } from "../../../src/shell/signature/ssh-wire.ts";
import { hasSshKeygen, openWorkshop } from "./workshop.ts";

const strings = (...all: (Buffer | string)[]): Buffer => Buffer.concat(all.map(wireString));
const uint32 = (value: number): Buffer =>
  Buffer.from([value >>> 24, value >>> 16, value >>> 8, value].map((it) => it & 255));
const uint64 = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(16, "0"), "hex");
const sha256 = (bytes: Uint8Array | string): Buffer => createHash("sha256").update(bytes).digest();
/** As SSH writes a positive number. */
function number(digits: Buffer): Buffer {
  const short = digits.subarray(digits.findIndex((it) => it !== 0));
  return (short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), short]) : short;
}

/** A key of which everything is known; what `fields` are is between type and the end of a public key. */
interface Key {
  readonly type: string;
  readonly fields: Buffer;
  readonly sign: (data: Buffer) => Buffer;
}
const blobOf = ({ type, fields }: Key): Buffer => Buffer.concat([strings(type), fields]);
const fingerprintOf = (key: Key): string => `SHA256:${sha256(blobOf(key)).toString("base64").replace(/=+$/, "")}`;
const part = (key: KeyObject, name: "x" | "y" | "n" | "e"): Buffer =>
  Buffer.from(key.export({ format: "jwk" })[name] ?? "", "base64url");

function ed25519(): Key {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const type = "ssh-ed25519";
  return { type, fields: strings(part(publicKey, "x")), sign: (data) => strings(type, sign(null, data, privateKey)) };
}

function rsa(bits: number, how: { readonly algorithm: string; readonly hash: string }): Key {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  const fields = strings(number(part(publicKey, "e")), number(part(publicKey, "n")));
  return { type: "ssh-rsa", fields, sign: (data) => strings(how.algorithm, sign(how.hash, data, privateKey)) };
}

function p256(): Key {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const type = "ecdsa-sha2-nistp256";
  const point = Buffer.concat([Buffer.of(4), part(publicKey, "x"), part(publicKey, "y")]);
  const proof = (data: Buffer): Buffer => {
    const both = sign("sha256", data, { key: privateKey, dsaEncoding: "ieee-p1363" });
    return strings(number(both.subarray(0, 32)), number(both.subarray(32)));
  };
  return { type, fields: strings("nistp256", point), sign: (data) => strings(type, proof(data)) };
}

/** The same key as hardware would hold it: it signs digests, and says whether it was touched. */
function inHardware(key: Key, flags: number): Key {
  const application = "ssh:";
  const type = `sk-${key.type}@openssh.com`;
  const presence = Buffer.concat([Buffer.of(flags), uint32(7)]);
  const signed = (data: Buffer): Buffer => {
    const proof = key.sign(Buffer.concat([sha256(application), presence, sha256(data)]));
    return Buffer.concat([strings(type), proof.subarray(4 + key.type.length), presence]);
  };
  return { type, fields: Buffer.concat([key.fields, strings(application)]), sign: signed };
}

interface Sealed {
  readonly key: Key;
  readonly presented?: Buffer;
  readonly magic?: string;
  readonly version?: number;
  readonly namespace?: string;
  readonly reserved?: string;
  readonly hash?: string;
  readonly rest?: string;
}

const file = Buffer.from("what will happen\n");

/** The signature of `file`, as PROTOCOL.sshsig writes it, or otherwise. */
function sealed({ key, presented = blobOf(key), namespace = "git", hash = "sha256", ...odd }: Sealed): Buffer {
  const reserved = odd.reserved ?? "";
  const digest = createHash(hash).update(file).digest();
  const proof = key.sign(Buffer.concat([Buffer.from("SSHSIG"), strings(namespace, reserved, hash, digest)]));
  const head = Buffer.concat([Buffer.from(odd.magic ?? "SSHSIG"), uint32(odd.version ?? 1)]);
  return Buffer.concat([head, strings(presented, namespace, reserved, hash, proof), Buffer.from(odd.rest ?? "")]);
}

const armor = (blob: Buffer): string =>
  `-----BEGIN SSH SIGNATURE-----\n${blob.toString("base64").replace(/.{70}(?=.)/g, "$&\n")}\n-----END SSH SIGNATURE-----\n`;
const verdictOn = (armored: string): string => {
  const fact = verifySsh(file, armored);
  return fact.kind === "rejected" ? fact.code : fact.kind;
};

interface Certified {
  readonly kind?: number;
  readonly principals?: readonly string[];
  readonly options?: Buffer;
  readonly extensions?: Buffer;
  readonly reserved?: string;
  readonly until?: bigint;
  readonly rest?: string;
  readonly authorityBlob?: Buffer;
}

/** A certificate of `key` by `authority`. */
function certificate(key: Key, authority: Key, odd: Certified = {}): Buffer {
  const type = `${key.type.replace("@openssh.com", "")}-cert-v01@openssh.com`;
  const told = Buffer.concat([
    ...[strings(type, "a nonce"), key.fields, uint64(9n), uint32(odd.kind ?? 1), strings("badge 7")],
    ...[strings(strings(...(odd.principals ?? ["anna"]))), uint64(1_700_000_000n), uint64(odd.until ?? 2_000_000_000n)],
    strings(odd.options ?? "", odd.extensions ?? strings("permit-pty", ""), odd.reserved ?? ""),
    strings(odd.authorityBlob ?? blobOf(authority)),
  ]);
  return Buffer.concat([told, strings(authority.sign(told)), Buffer.from(odd.rest ?? "")]);
}

const anna = ed25519();
const boss = p256();
const [touched, untouched] = [1, 0];

describe("a signature", () => {
  test.each([
    ["Ed25519", anna, null],
    ["ECDSA", boss, null],
    ["RSA with SHA-256", rsa(2048, { algorithm: "rsa-sha2-256", hash: "sha256" }), null],
    ["RSA with SHA-512", rsa(2048, { algorithm: "rsa-sha2-512", hash: "sha512" }), null],
    ["Ed25519 in hardware, touched", inHardware(anna, touched), true],
    ["Ed25519 in hardware, touched and with a PIN", inHardware(anna, 5), true],
    ["Ed25519 in hardware, untouched", inHardware(anna, untouched), false],
    ["ECDSA in hardware, touched", inHardware(boss, touched), true],
    ["ECDSA in hardware, untouched", inHardware(boss, untouched), false],
  ])("by %s verifies, and says who touched what", (_, key, want) => {
    for (const hash of ["sha256", "sha512"]) {
      expect(verifySsh(file, armor(sealed({ key, hash, namespace: "flotilla" })))).toEqual({
        kind: "ssh",
        fingerprint: fingerprintOf(key),
        keyType: key.type,
        namespace: "flotilla",
        touched: want,
        certificate: null,
      });
    }
    expect(verifySsh(Buffer.from("else"), armor(sealed({ key })))).toMatchObject({ code: "Mismatch" });
  });

  test.each([
    ["that is not there", "", "Malformed"],
    ["of another kind", armor(sealed({ key: anna })).replaceAll("SSH", "PGP"), "Malformed"],
    ["that begins as another kind", armor(sealed({ key: anna })).replace("BEGIN SSH", "BEGIN SSX"), "Malformed"],
    ["that ends as another kind", armor(sealed({ key: anna })).replace("END SSH", "END SSX"), "Malformed"],
    ["with base64 that nobody writes", armor(sealed({ key: anna })).replace(/(.)=\n/, oneMore), "Malformed"],
    ["after something else", ` ${armor(sealed({ key: anna }))}`, "Malformed"],
    ["before something else", `${armor(sealed({ key: anna }))}more`, "Malformed"],
    ["with carriage returns", armor(sealed({ key: anna })).replaceAll("\n", "\r\n"), "Malformed"],
    ["with an empty line", armor(sealed({ key: anna })).replace("-----\n", "-----\n\n"), "Malformed"],
    ["with blanks", armor(sealed({ key: anna })).replace("-----\n", "-----\n "), "Malformed"],
    ["with base64 that ends early", armor(sealed({ key: anna })).replace(/.{2}\n-----END/, "\n-----END"), "Malformed"],
    ["that does not say SSHSIG", armor(sealed({ key: anna, magic: "SSHSIX" })), "Malformed"],
    ["of version 2", armor(sealed({ key: anna, version: 2 })), "Unsupported"],
    ["for nothing", armor(sealed({ key: anna, namespace: "" })), "Malformed"],
    ["for something with a zero byte", armor(sealed({ key: anna, namespace: "git\0x" })), "Malformed"],
    ["with something in reserve", armor(sealed({ key: anna, reserved: "x" })), "Unsupported"],
    ["with SHA-1", armor(sealed({ key: anna, hash: "sha1" })), "Unsupported"],
    ["with SHA-384", armor(sealed({ key: anna, hash: "sha384" })), "Unsupported"],
    ["followed by a byte", armor(sealed({ key: anna, rest: "x" })), "Malformed"],
    ["by another key than it shows", armor(sealed({ key: anna, presented: blobOf(ed25519()) })), "Mismatch"],
    ["by another kind of key", armor(sealed({ key: anna, presented: blobOf(boss) })), "Unsupported"],
    [
      "by a key with a byte behind",
      armor(sealed({ key: anna, presented: Buffer.concat([blobOf(anna), uint32(0)]) })),
      "Malformed",
    ],
    ["by a key that is too short", armor(sealed({ key: anna, presented: strings("ssh-ed25519", "x") })), "Malformed"],
    ["by a point that is not on the curve", armor(sealed({ key: boss, presented: offCurve() })), "Malformed"],
    ["by a key that nobody knows", armor(sealed({ key: anna, presented: strings("toString", "x") })), "Unsupported"],
    ["by DSA", armor(sealed({ key: anna, presented: strings("ssh-dss", "x") })), "Weak"],
    ["by RSA of 1024 bits", armor(sealed({ key: rsa(1024, { algorithm: "rsa-sha2-512", hash: "sha512" }) })), "Weak"],
    ["by RSA with SHA-1", armor(sealed({ key: rsa(2048, { algorithm: "ssh-rsa", hash: "sha1" }) })), "Weak"],
    ["by RSA with exponent 1", armor(sealed({ key: anna, presented: exponentOne() })), "Weak"],
    [
      "of 63 bytes",
      armor(sealed({ key: { ...anna, sign: () => strings("ssh-ed25519", Buffer.alloc(63)) } })),
      "Mismatch",
    ],
    ["of zeros", armor(sealed({ key: { ...boss, sign: () => strings(boss.type, strings("\0", "\0")) } })), "Malformed"],
  ])("%s is refused", (_, armored, want) => {
    expect(verdictOn(armored)).toBe(want);
  });

  test("says nothing of a key in hardware that the hardware did not sign", () => {
    const hardware = inHardware(anna, untouched);
    const blob = sealed({ key: hardware });
    blob[blob.length - 5] = touched;
    expect(verdictOn(armor(blob))).toBe("Mismatch");
    const plain = { ...hardware, sign: anna.sign };
    expect(verdictOn(armor(sealed({ key: plain })))).toBe("Unsupported");
  });
});

/** The next digit: its last bits are not part of any byte. */
function oneMore(_: string, digit: string): string {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return `${digits[digits.indexOf(digit) + 1]}=\n`;
}

test("a signature of endless length is not even read", () => {
  const message = "the signature is longer than 32768 bytes";
  expect(verifySsh(file, armor(Buffer.alloc(40_000)))).toEqual({ kind: "rejected", code: "Malformed", message });
});

function offCurve(): Buffer {
  const blob = blobOf(boss);
  blob[blob.length - 1] = (blob[blob.length - 1] ?? 0) ^ 1;
  return blob;
}

const exponentOne = (): Buffer =>
  strings("ssh-rsa", Buffer.of(1), Buffer.concat([Buffer.alloc(1), Buffer.alloc(256, 255)]));

describe("a certificate", () => {
  const presentedBy = (odd: Certified, key = anna): string =>
    armor(sealed({ key, presented: certificate(key, boss, odd) }));

  test.each([
    ["Ed25519", anna, "ssh-ed25519", null],
    ["a key in hardware", inHardware(boss, touched), "sk-ecdsa-sha2-nistp256@openssh.com", true],
  ])("of %s is reported, with the key that it is of", (_, key, keyType, wasTouched) => {
    expect(verifySsh(file, presentedBy({ principals: ["anna", "ops"] }, key))).toEqual({
      kind: "ssh",
      fingerprint: fingerprintOf(key),
      keyType,
      namespace: "git",
      touched: wasTouched,
      certificate: {
        authority: fingerprintOf(boss),
        keyId: "badge 7",
        principals: ["anna", "ops"],
        validAfter: 1_700_000_000_000,
        validBefore: 2_000_000_000_000,
      },
    });
  });

  test.each([
    ["for ever", 0xffff_ffff_ffff_ffffn, null],
    ["for almost ever", 0xffff_ffff_ffff_fffen, Math.floor(Number.MAX_SAFE_INTEGER / 1000) * 1000],
    ["that has run out, which others judge", 1_700_000_001n, 1_700_000_001_000],
  ])("%s says so", (_, until, want) => {
    const fact = verifySsh(file, presentedBy({ until }));
    expect(fact.kind === "ssh" && fact.certificate?.validBefore).toBe(want);
  });

  const damaged = certificate(anna, boss);
  damaged[damaged.indexOf("anna")] = 65;
  test.each([
    ["for hosts", presentedBy({ kind: 2 }), "Unsupported"],
    ["with a critical option", presentedBy({ options: strings("verify-required", "") }), "Unsupported"],
    ["with something in reserve", presentedBy({ reserved: "x" }), "Unsupported"],
    ["with a byte behind", presentedBy({ rest: "x" }), "Malformed"],
    ["with extensions that break off", presentedBy({ extensions: strings("permit-pty") }), "Malformed"],
    ["with 257 principals", presentedBy({ principals: Array.from({ length: 257 }, () => "x") }), "Malformed"],
    ["with a line break in a principal", presentedBy({ principals: ["anna\n"] }), "Malformed"],
    ["by a certificate", presentedBy({ authorityBlob: certificate(boss, boss) }), "Malformed"],
    ["by another authority than it says", presentedBy({ authorityBlob: blobOf(ed25519()) }), "Unsupported"],
    ["by another authority of the same kind", presentedBy({ authorityBlob: blobOf(p256()) }), "Mismatch"],
    ["with other principals than signed", armor(sealed({ key: anna, presented: damaged })), "Mismatch"],
    ["of another key", armor(sealed({ key: ed25519(), presented: certificate(anna, boss) })), "Mismatch"],
  ])("%s is refused", (_, armored, want) => {
    expect(verdictOn(armored)).toBe(want);
  });
});

test.skipIf(!hasSshKeygen)("ssh-keygen takes keys in hardware as we do", () => {
  const workshop = openWorkshop();
  try {
    for (const key of [inHardware(anna, touched), inHardware(boss, touched), inHardware(anna, untouched)]) {
      const line = `${key.type} ${blobOf(key).toString("base64")}`;
      writeFileSync(join(workshop.root, "allowed"), `anna ${line}\n`);
      for (const [name, armored] of Object.entries({
        good: sealed({ key }),
        bad: sealed({ key: { ...key, sign: anna.sign } }),
      })) {
        writeFileSync(join(workshop.root, name), armor(armored));
        const who = ["-f", join(workshop.root, "allowed"), "-I", "anna", "-n", "git", "-s", join(workshop.root, name)];
        const isTaken = workshop.attempt("ssh-keygen", ["-Y", "verify", ...who], file).code === 0;
        expect([name, isTaken]).toEqual([name, verdictOn(armor(armored)) === "ssh"]);
      }
    }
  } finally {
    workshop.close();
  }
});

test("a line in a trust file has the fingerprint that signatures carry", () => {
  const long = rsa(3072, { algorithm: "rsa-sha2-256", hash: "sha256" });
  for (const key of [anna, boss, inHardware(anna, touched), inHardware(boss, touched), long]) {
    const line = `${key.type} ${blobOf(key).toString("base64")} anna@work\n`;
    expect(verifySsh(file, armor(sealed({ key })))).toMatchObject({ fingerprint: fingerprintOf(key) });
    expect(parseSshKey(line)).toEqual({ kind: "key", fingerprint: fingerprintOf(key) });
  }
});
