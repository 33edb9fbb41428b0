// X.509 as far as TLS needs it (RFC 5280), so that no test depends on a program that makes certificates.
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A certificate with its key, both in PEM. */
export interface Identity {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
}

/** Makes a certificate for `name`, good for 127.0.0.1 and any purpose; signed by `issuer`, or by itself as an authority. */
export function identity(name: string, issuer?: Identity): Identity {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const signer = issuer === undefined ? pair.privateKey : issuer.key;
  const certificate = certificateOf({ name, issuer: issuer?.name ?? name, of: pair.publicKey, signer });
  return { name, certificate, key };
}

interface Content {
  readonly name: string;
  readonly issuer: string;
  readonly of: KeyObject;
  readonly signer: KeyObject | string;
}

let serials = 0;

function certificateOf({ name, issuer, of, signer }: Content): string {
  const isAuthority = name === issuer;
  const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const basicConstraints = extension(oid(0x55, 0x1d, 0x13), sequence(...(isAuthority ? [der(0x01, [0xff])] : [])));
  const alternativeName = extension(oid(0x55, 0x1d, 0x11), sequence(der(0x87, [127, 0, 0, 1])));
  serials += 1;
  const content = sequence(
    der(0xa0, der(0x02, [2])),
    der(0x02, [serials]),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(utcTime("200101000000Z"), utcTime("491231235959Z")),
    commonName(name),
    createPublicKey(of.export({ type: "spki", format: "pem" })).export({ type: "spki", format: "der" }),
    der(0xa3, sequence(basicConstraints, alternativeName)),
  );
  const signature = sign("sha256", content, signer);
  const whole = sequence(content, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return `-----BEGIN CERTIFICATE-----\n${whole.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, content: Uint8Array | readonly number[]): Buffer {
  const { length } = content;
  const lengths = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengths]), Uint8Array.from(content)]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, Buffer.concat(parts));
const oid = (...bytes: readonly number[]): Buffer => der(0x06, bytes);
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));
const extension = (id: Buffer, value: Buffer): Buffer => sequence(id, der(0x04, value));
const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))));
