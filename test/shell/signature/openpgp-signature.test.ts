import { Buffer } from "node:buffer";
import * as openpgp from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { parseOpenPgpKey } from "../../../src/core/intent/trust/openpgp-key.ts";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { verifyOpenPgp } from "../../../src/shell/signature/openpgp-signature.ts";

const at = (text: string): Date => new Date(text);
const born = at("2026-01-01T00:00:00Z");
const signedAt = at("2026-06-01T00:00:00Z");
const now = at("2026-07-01T00:00:00Z");
const file = Buffer.from("what will happen\n");

interface Pair {
  readonly key: openpgp.PrivateKey;
  readonly certificate: string;
  readonly fingerprint: string;
}

type KeyOptions = Omit<Parameters<typeof openpgp.generateKey>[0], "userIDs" | "format">;

async function pair(options: KeyOptions = {}): Promise<Pair> {
  const { privateKey } = await openpgp.generateKey({
    userIDs: [{ name: "Anna", email: "anna@example.com" }],
    date: born,
    ...options,
    format: "object",
  });
  return { key: privateKey, certificate: privateKey.toPublic().armor(), fingerprint: fingerprintOf(privateKey) };
}

const fingerprintOf = (key: openpgp.Key): string => key.getFingerprint().toUpperCase();

/** The signature of `file`, armored. */
async function signed({ key }: Pair, options: Partial<openpgp.SignOptions> = {}): Promise<string> {
  const message = await openpgp.createMessage({ binary: Uint8Array.from(file) });
  const armored = await openpgp.sign({
    message,
    signingKeys: key,
    date: signedAt,
    ...options,
    detached: true,
    format: "armored",
  });
  return String(armored).replaceAll("\r\n", "\n");
}

/** The same bytes in an armor of our own. */
const armor = (bytes: Uint8Array): string =>
  `-----BEGIN PGP SIGNATURE-----\n\n${Buffer.from(bytes)
    .toString("base64")
    .replace(/.{64}(?=.)/g, "$&\n")}\n-----END PGP SIGNATURE-----\n`;
const bytesOf = (armored: string): Buffer =>
  Buffer.from(armored.replace(/^-.*\n(.+\n)*\n/, "").replace(/\n(=.{4}\n)?-[\s\S]*/, ""), "base64");

const verdictOn = async (armored: string, certificates: readonly string[], when = now): Promise<string> =>
  verdict(await verifyOpenPgp(file, armored, certificates, when.getTime() as Instant));
const verdict = (fact: SignatureFact): string => (fact.kind === "rejected" ? fact.code : fact.kind);

let anna: Pair;
let bo: Pair;
let good: string;
beforeAll(async () => {
  [anna, bo] = [await pair(), await pair()];
  good = await signed(anna);
});

describe("an OpenPGP signature", () => {
  test("names the primary key in full, and when it says that it was made", async () => {
    expect(await verifyOpenPgp(file, good, [bo.certificate, anna.certificate], now.getTime() as Instant)).toEqual({
      kind: "openpgp",
      fingerprint: anna.fingerprint,
      claimedAt: signedAt.getTime(),
    });
    expect(anna.fingerprint).toMatch(/^[0-9A-F]{40}$/);
  });

  test("by a subkey counts for the key that it belongs to", async () => {
    const with2 = await pair({ subkeys: [{ sign: true }] });
    const [subkey] = with2.key.getSubkeys();
    const armored = await signed(with2, { signingKeyIDs: [subkey!.getKeyID()] }); // Made above.
    expect(await verifyOpenPgp(file, armored, [with2.certificate], now.getTime() as Instant)).toMatchObject({
      kind: "openpgp",
      fingerprint: with2.fingerprint,
    });
  });

  test("of version 6 has a longer fingerprint", async () => {
    const six = await pair({ config: { v6Keys: true } });
    const armored = await signed(six, { config: { v6Keys: true } });
    const fact = await verifyOpenPgp(file, armored, [six.certificate], now.getTime() as Instant);
    expect(fact).toMatchObject({ kind: "openpgp", fingerprint: six.fingerprint });
    expect(six.fingerprint).toMatch(/^[0-9A-F]{64}$/);
  });

  test("verifies without a checksum, and not with a wrong one", async () => {
    const bare = armor(bytesOf(good));
    const end = "\n-----END";
    expect(await verdictOn(bare, [anna.certificate])).toBe("openpgp");
    expect(await verdictOn(bare.replace(end, `\n=AAAA${end}`), [anna.certificate])).toBe("Malformed");
  });

  test("is not one of other bytes, or of nothing", async () => {
    const facts = [Buffer.from("else"), Buffer.alloc(0)].map((it) =>
      verifyOpenPgp(it, good, [anna.certificate], now.getTime() as Instant),
    );
    expect((await Promise.all(facts)).map(verdict)).toEqual(["Mismatch", "Mismatch"]);
  });

  test.each([
    ["two packets", (it: string) => armor(Buffer.concat([bytesOf(it), bytesOf(it)])), "Ambiguous"],
    ["a byte behind the packet", (it: string) => armor(Buffer.concat([bytesOf(it), Buffer.alloc(1)])), "Ambiguous"],
    [
      "a packet of another kind",
      (it: string) => armor(Buffer.concat([Buffer.of(0xcd), bytesOf(it).subarray(1)])),
      "Malformed",
    ],
    ["half a packet", (it: string) => armor(bytesOf(it).subarray(0, 40)), "Malformed"],
    ["words before the armor", (it: string) => `Hello\n${it}`, "Malformed"],
    ["words after the armor", (it: string) => `${it}Hello\n`, "Malformed"],
    ["two armors", (it: string) => `${it}${it}`, "Malformed"],
    ["a header that nobody needs", (it: string) => it.replace("\n\n", "\nHash: SHA1\n\n"), "Malformed"],
    ["claims that nobody signed", (it: string) => armor(withUnsignedClaim(bytesOf(it))), "Malformed"],
    ["two issuers", (it: string) => armor(withSecondIssuer(bytesOf(it))), "Ambiguous"],
    ["another hash than was used", (it: string) => armor(withByte(bytesOf(it), 3, 2)), "Weak"],
    ["a hash that nobody knows", (it: string) => armor(withByte(bytesOf(it), 3, 99)), "Unsupported"],
    ["a DSA key", (it: string) => armor(withByte(bytesOf(it), 2, 17)), "Weak"],
    ["version 3", (it: string) => armor(withByte(bytesOf(it), 0, 3)), "Unsupported"],
    ["the type of a signature over text", (it: string) => armor(withByte(bytesOf(it), 1, 1)), "Unsupported"],
    ["the type of a certification", (it: string) => armor(withByte(bytesOf(it), 1, 0x13)), "Unsupported"],
  ])("with %s is refused", async (_, broken, want) => {
    expect(await verdictOn(good, [anna.certificate])).toBe("openpgp");
    expect(await verdictOn(broken(good), [anna.certificate])).toBe(want);
  });

  test("from a clock that is ahead is accepted", async () => {
    expect(await verdictOn(good, [anna.certificate], at("2026-05-31T23:50:00Z"))).toBe("openpgp");
  });
});

const withByte = (bytes: Buffer, at: number, value: number): Buffer => {
  const changed = Buffer.from(bytes);
  // The packet's head is two bytes long.
  changed[2 + at] = value;
  return changed;
};

/** Adds a subpacket to those that no signature covers; the packet is shorter than 192 bytes. */
function withUnsigned(bytes: Buffer, subpacket: Buffer): Buffer {
  const body = bytes.subarray(2);
  const end = 6 + body.readUInt16BE(4);
  const size = body.readUInt16BE(end);
  const area = Buffer.concat([body.subarray(end + 2, end + 2 + size), subpacket]);
  const sized = Buffer.from([area.length >> 8, area.length & 255]);
  const all = Buffer.concat([body.subarray(0, end), sized, area, body.subarray(end + 2 + size)]);
  return Buffer.concat([
    Buffer.from([
      0xc2,
      ...(all.length < 192 ? [all.length] : [192 + ((all.length - 192) >> 8), (all.length - 192) & 255]),
    ]),
    all,
  ]);
}

const withUnsignedClaim = (bytes: Buffer): Buffer => withUnsigned(bytes, Buffer.of(2, 25, 1));
const withSecondIssuer = (bytes: Buffer): Buffer => withUnsigned(bytes, Buffer.of(9, 16, 1, 2, 3, 4, 5, 6, 7, 8));

describe("a key", () => {
  test("that is in none of the certificates is unknown", async () => {
    const facts = [
      await verifyOpenPgp(file, good, [], now.getTime() as Instant),
      await verifyOpenPgp(file, good, [bo.certificate, "rubbish"], now.getTime() as Instant),
    ];
    const message = `none of the certificates given has the key ${anna.fingerprint}`;
    expect(facts).toEqual([
      { kind: "rejected", code: "UnknownKey", message },
      { kind: "rejected", code: "UnknownKey", message: `${message}; 1 of them cannot be read` },
    ]);
  });

  test("may be given twice, but not once good and once revoked", async () => {
    expect(await verdictOn(good, [anna.certificate, anna.certificate])).toBe("openpgp");
    const revoked = await revokedOf(anna, openpgp.enums.reasonForRevocation.keyCompromised);
    expect(await verdictOn(good, [anna.certificate, revoked])).toBe("Revoked");
  });

  test.each(["noReason", "keySuperseded", "keyCompromised", "keyRetired"] as const)(
    "that was revoked afterwards (%s) signed nothing",
    async (reason) => {
      const revoked = await revokedOf(anna, openpgp.enums.reasonForRevocation[reason]);
      expect(await verdictOn(good, [revoked])).toBe("Revoked");
    },
  );

  test("that is a subkey signed nothing once the key it belongs to was revoked", async () => {
    const with2 = await pair({ subkeys: [{ sign: true }] });
    const [subkey] = with2.key.getSubkeys();
    const armored = await signed(with2, { signingKeyIDs: [subkey!.getKeyID()] }); // Made above.
    const revoked = await revokedOf(with2, openpgp.enums.reasonForRevocation.keyRetired);
    expect(await verdictOn(armored, [revoked])).toBe("Revoked");
  });

  test("that two certificates claim as their own is nobody's", async () => {
    const with2 = await pair({ subkeys: [{ sign: true }] });
    const [subkey] = with2.key.getSubkeys();
    const armored = await signed(with2, { signingKeyIDs: [subkey!.getKeyID()] }); // Made above.
    const thief = (await pair()).key.toPublic();
    thief.subkeys = [...with2.key.toPublic().subkeys];
    expect(await verdictOn(armored, [with2.certificate])).toBe("openpgp");
    expect(await verdictOn(armored, [with2.certificate, thief.armor()])).toBe("Ambiguous");
    expect(await verdictOn(armored, [thief.armor()])).toBe("Unsupported");
  });

  test("belongs to a certificate only if both say so, and not in SHA-1", async () => {
    const { sha1, sha512 } = openpgp.enums.hash;
    const p256 = { type: "ecc", curve: "nistP256" } as const;
    const [made, other] = [await pair({ ...p256, subkeys: [{ sign: true }] }), await pair(p256)];
    const [subkey] = made.key.getSubkeys();
    const armored = await signed(made, { signingKeyIDs: [subkey!.getKeyID()] }); // Made above.
    const theirs = subkey!.bindingSignatures[0]?.embeddedSignature ?? null;
    const consent = (hash: number) => bound(subkey!.keyPacket, { pair: other, subkey: subkey!, hash });
    const claim = async (embedded: openpgp.SignaturePacket | null, hash: number): Promise<string> => {
      const certificate = (await openpgp.readKey({ armoredKey: other.certificate })) as openpgp.PublicKey;
      certificate.subkeys = [...made.key.toPublic().subkeys];
      const binding = await bound(other.key.keyPacket, { pair: other, subkey: subkey!, hash, embedded });
      certificate.subkeys[0]!.bindingSignatures = [binding]; // The one made above.
      return verdictOn(armored, [certificate.armor()]);
    };
    expect([
      await claim(await consent(sha512), sha512),
      await claim(null, sha512),
      await claim(theirs, sha512),
      await claim(await consent(sha512), sha1),
      await claim(await consent(sha1), sha512),
    ]).toEqual(["openpgp", "Unsupported", "Unsupported", "Unsupported", "Unsupported"]);
  });

  test("that was revoked as a subkey signed nothing", async () => {
    const with2 = await pair({ subkeys: [{ sign: true }] });
    const [subkey] = with2.key.getSubkeys();
    const armored = await signed(with2, { signingKeyIDs: [subkey!.getKeyID()] }); // Made above.
    const reason = { flag: openpgp.enums.reasonForRevocation.keyRetired };
    const revoked = await subkey!.revoke(with2.key.keyPacket as openpgp.SecretKeyPacket, reason, now);
    with2.key.subkeys = [revoked];
    expect(await verdictOn(armored, [with2.certificate])).toBe("openpgp");
    expect(await verdictOn(armored, [with2.key.toPublic().armor()])).toBe("Revoked");
  });

  test("that has expired signs nothing any more, whenever it says that it did", async () => {
    const short = await pair({ keyExpirationTime: 200 * 86_400 });
    const armored = await signed(short);
    expect(await verdictOn(armored, [short.certificate])).toBe("openpgp");
    expect(await verdictOn(armored, [short.certificate], at("2026-08-01T00:00:00Z"))).toBe("Expired");
    expect(await verdictOn(armored, [short.certificate], at("2026-05-01T00:00:00Z"))).toBe("openpgp");
  });

  test("whose life was extended signs on, and has signed before", async () => {
    const { privateKey } = await openpgp.reformatKey({
      privateKey: anna.key,
      userIDs: [{ name: "Anna", email: "anna@example.com" }],
      date: at("2026-06-15T00:00:00Z"),
      format: "object",
    });
    expect(await verdictOn(good, [privateKey.toPublic().armor()])).toBe("openpgp");
  });

  test("of RSA with 1024 bits is too weak", async () => {
    const config = { minRSABits: 1024 };
    const weak = await pair({ type: "rsa", rsaBits: 1024, config });
    expect(await verdictOn(await signed(weak, { config }), [weak.certificate])).toBe("Weak");
  });

  test("that may not sign, by its own certificate, did not", async () => {
    const made = await pair({ subkeys: [{ sign: true }] });
    const [subkey] = made.key.getSubkeys();
    const armored = await signed(made, { signingKeyIDs: [subkey!.getKeyID()] }); // Made above.
    subkey!.bindingSignatures = [];
    expect(await verdictOn(armored, [made.key.toPublic().armor()])).toBe("Unsupported");
  });
});

interface Bond {
  readonly pair: Pair;
  readonly subkey: openpgp.Subkey;
  readonly hash: number;
  /** Undefined where the subkey itself speaks. */
  readonly embedded?: openpgp.SignaturePacket | null;
}

/** What the pair says about a subkey, or the subkey about the pair: that they belong together, for signing. */
async function bound(
  by: openpgp.Key["keyPacket"] | openpgp.Subkey["keyPacket"],
  { pair, subkey, hash, embedded }: Bond,
): Promise<openpgp.SignaturePacket> {
  const { subkeyBinding, keyBinding } = openpgp.enums.signature;
  const signature = new openpgp.SignaturePacket();
  Object.assign(signature, {
    signatureType: embedded === undefined ? keyBinding : subkeyBinding,
    publicKeyAlgorithm: by.algorithm,
    hashAlgorithm: hash,
    keyFlags: Uint8Array.of(openpgp.enums.keyFlags.signData),
    embeddedSignature: embedded ?? null,
  });
  // Their types leave the last argument out; without it, there is no signing here.
  const config = { ...openpgp.config, nonDeterministicSignaturesViaNotation: false };
  const data = { key: pair.key.keyPacket, bind: subkey.keyPacket };
  await Reflect.apply(signature.sign, signature, [by, data, born, false, config]);
  return signature;
}

async function revokedOf({ key }: Pair, flag: openpgp.enums.reasonForRevocation): Promise<string> {
  const options = { key, reasonForRevocation: { flag }, date: now, format: "object" } as const;
  return (await openpgp.revokeKey(options)).publicKey.armor();
}

test("a certificate in a trust file has the fingerprint that signatures carry", async () => {
  const six = await pair({ config: { v6Keys: true } });
  for (const { certificate, fingerprint } of [anna, six])
    expect(parseOpenPgpKey(certificate)).toMatchObject({ kind: "key", fingerprint });
});

test.each([
  ["nothing", () => ""],
  ["words", () => "trust me"],
  ["a signature", () => good],
  ["a private key", () => anna.key.armor()],
  ["two certificates", () => armorOf([anna, bo])],
  ["a megabyte", () => anna.certificate.padEnd(1 << 20, "\n")],
])("%s is no certificate, here or in a trust file", async (_, text) => {
  const fact = await verifyOpenPgp(file, good, [text()], now.getTime() as Instant);
  const message = `none of the certificates given has the key ${anna.fingerprint}; 1 of them cannot be read`;
  expect(fact).toEqual({ kind: "rejected", code: "UnknownKey", message });
  expect(await verdictOn(good, [text(), anna.certificate])).toBe("openpgp");
  if (text().length < 65_536) expect(parseOpenPgpKey(text()).kind).toBe("unusable");
});

const armorOf = (pairs: readonly Pair[]): string =>
  openpgp.armor(openpgp.enums.armor.publicKey, Buffer.concat(pairs.map((it) => it.key.toPublic().write())));
