import { hash } from "node:crypto";
import { canonicalJson, type Json } from "./json.ts";
import type { Digest } from "./value.ts";

/** Content identity of a JSON value: it depends on what the value says and not on how it was built. */
export const digestOf = (value: Json): Digest => digestOfText(canonicalJson(value));

/** SHA-256 of a text, 64 hexadecimal digits. */
export const digestOfText = (text: string): Digest => hash("sha256", text, "hex") as Digest;
