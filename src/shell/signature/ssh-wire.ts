import { Buffer } from "node:buffer";
import { SignatureError } from "./signature-error.ts";

/** Reads what SSH writes (RFC 4251 §5), front to back. Whatever is not there to be read is {@link SignatureError}. */
export interface WireReader {
  readonly byte: () => number;
  readonly uint32: () => number;
  readonly uint64: () => bigint;
  readonly bytes: (count: number) => Buffer;
  /** A `string`: bytes, of which there may be none. */
  readonly string: () => Buffer;
  /** A `string` that people read: UTF-8 without control characters. */
  readonly text: () => string;
  /** A `mpint` that is above zero and written in the only way allowed: its digits without leading zeros. */
  readonly positive: () => Buffer;
  /** How much was read. */
  readonly at: () => number;
  readonly isAtEnd: () => boolean;
  /** Nothing may follow. */
  readonly end: () => void;
}

/** Begins to read bytes; `what` they are is said when they are not. */
export function newWireReader(from: Buffer, what: string): WireReader {
  let at = 0;
  const bad = (): SignatureError => new SignatureError("Malformed", `${what} is not what it should be made of`);
  const bytes = (count: number): Buffer => {
    if (count > from.length - at) throw bad();
    at += count;
    return from.subarray(at - count, at);
  };
  const string = (): Buffer => bytes(bytes(4).readUInt32BE());
  return {
    byte: () => bytes(1).readUInt8(),
    uint32: () => bytes(4).readUInt32BE(),
    uint64: () => bytes(8).readBigUInt64BE(),
    bytes,
    string,
    text: () => {
      const content = string();
      const text = content.toString("utf8");
      if (/\p{Cc}/u.test(text) || !Buffer.from(text).equals(content)) throw bad();
      return text;
    },
    positive: () => {
      const digits = string();
      const [first = 0x80, second = 0] = digits;
      const isPadded = first === 0;
      // A zero comes first exactly where the number would read as a negative one without it.
      if (first >= 0x80 || (isPadded && second < 0x80)) throw bad();
      return isPadded ? digits.subarray(1) : digits;
    },
    at: () => at,
    isAtEnd: () => at === from.length,
    end: () => {
      if (at !== from.length) throw bad();
    },
  };
}

/** A `string` of SSH: the length, and the bytes. */
export function wireString(content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
