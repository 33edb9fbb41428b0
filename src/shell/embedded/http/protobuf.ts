import { type Json, type JsonObject, member, memberAt, textOf } from "../../../core/model/json.ts";
import { binaryKinds, messages } from "./protobuf-messages.ts";

/** What Kubernetes' binary form begins with. */
const magic = Buffer.from("k8s\0");

/**
 * An object in Kubernetes' protobuf envelope as JSON; null for what cannot be read whole: nothing is dropped. `kubectl
 * create KIND` sends nothing else, and asks no server whether it would rather have JSON.
 */
export function textOfBinary(bytes: Uint8Array): string | null {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!body.subarray(0, magic.length).equals(magic)) return null;
  try {
    const envelope = messageIn(body.subarray(magic.length), "Unknown");
    const apiVersion = textOf(memberAt(envelope, "typeMeta", "apiVersion")) ?? "";
    const kind = textOf(memberAt(envelope, "typeMeta", "kind")) ?? "";
    if (!binaryKinds.has(`${apiVersion}/${kind}`) || envelope["contentEncoding"] !== undefined) return null;
    const raw = Buffer.from(textOf(member(envelope, "raw")) ?? "", "base64");
    return JSON.stringify({ apiVersion, kind, ...messageIn(raw, kind) });
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

class Unreadable extends Error {}

/** A field as it stands on the wire: a number, or bytes. */
interface Field {
  readonly number: number;
  readonly value: bigint | Buffer;
}

function* fieldsOf(bytes: Buffer): Iterable<Field> {
  for (let at = 0; at < bytes.length; ) {
    const [tag, afterTag] = varint(bytes, at);
    const [first, afterFirst] = varint(bytes, afterTag);
    const number = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, value: first };
        at = afterFirst;
        break;
      case 2: {
        const end = afterFirst + Number(first);
        if (end > bytes.length) throw new Unreadable();
        yield { number, value: bytes.subarray(afterFirst, end) };
        at = end;
        break;
      }
      default:
        // Numbers of a fixed width: none of Kubernetes' kinds has any.
        throw new Unreadable();
    }
  }
}

/** A number of seven bits a byte, the lowest first, and where it ends. */
function varint(bytes: Buffer, from: number): readonly [value: bigint, end: number] {
  let value = 0n;
  for (let at = from; at < from + 10; at++) {
    const byte = bytes[at];
    if (byte === undefined) throw new Unreadable();
    value |= BigInt(byte & 127) << BigInt(7 * (at - from));
    if (byte < 128) return [BigInt.asIntN(64, value), at + 1];
  }
  throw new Unreadable();
}

function messageIn(bytes: Buffer, name: string): JsonObject {
  const message = messages[name] ?? {};
  const found: Record<string, Json> = {};
  for (const { number, value } of fieldsOf(bytes)) {
    const [key, type] = message[number] ?? ["", ""];
    if (type === "") mustBeNothing(value);
    else if (type.startsWith("[]"))
      found[key] = [...((found[key] as Json[] | undefined) ?? []), read(value, type.slice(2))];
    else if (type.startsWith("{}"))
      found[key] = { ...(found[key] as JsonObject | undefined), ...entry(value, type.slice(2)) };
    else if (type.startsWith("inline ")) Object.assign(found, read(value, type.slice("inline ".length)));
    else keep(found, key, { type, value });
  }
  return found;
}

function keep(
  found: Record<string, Json>,
  key: string,
  { type, value }: { readonly type: string; readonly value: bigint | Buffer },
): void {
  const counts = type.endsWith("!");
  const it = read(value, counts ? type.slice(0, -1) : type);
  if (counts || !isNothing(it)) found[key] = it;
}

/** Go writes every field that is no pointer, also one that is empty, and leaves that out of JSON. */
const isNothing = (it: Json): boolean =>
  it === "" || it === 0 || it === false || (typeof it === "object" && it !== null && Object.keys(it).length === 0);

/** What is empty all the way down: nobody gave it. */
function mustBeNothing(value: bigint | Buffer): void {
  if (typeof value === "bigint" ? value !== 0n : value.length > 0 && !isEmptyMessage(value)) throw new Unreadable();
}

function isEmptyMessage(bytes: Buffer): boolean {
  try {
    for (const { value } of fieldsOf(bytes)) mustBeNothing(value);
    return true;
  } catch {
    return false;
  }
}

function entry(value: bigint | Buffer, type: string): JsonObject {
  let [key, held]: readonly [string, Json] = ["", type === "string" || type === "bytes" ? "" : null];
  for (const field of fieldsOf(bytesOf(value))) {
    if (field.number === 1) key = bytesOf(field.value).toString("utf8");
    else held = read(field.value, type);
  }
  return { [key]: held };
}

function read(value: bigint | Buffer, type: string): Json {
  switch (type) {
    case "string":
      return bytesOf(value).toString("utf8");
    case "bytes":
      return bytesOf(value).toString("base64");
    case "int":
      return Number(value);
    case "bool":
      return value !== 0n;
    case "Quantity":
      return textIn(bytesOf(value));
    case "IntOrString":
      return intOrString(bytesOf(value));
    default:
      return messageIn(bytesOf(value), type);
  }
}

const bytesOf = (value: bigint | Buffer): Buffer => {
  if (typeof value === "bigint") throw new Unreadable();
  return value;
};

function textIn(bytes: Buffer): string {
  for (const { value } of fieldsOf(bytes)) return bytesOf(value).toString("utf8");
  return "";
}

/** `type` 1 says that it is the text. */
function intOrString(bytes: Buffer): Json {
  const by = new Map([...fieldsOf(bytes)].map(({ number, value }) => [number, value]));
  return by.get(1) === 1n ? bytesOf(by.get(3) ?? Buffer.of()).toString("utf8") : Number(by.get(2) ?? 0n);
}
