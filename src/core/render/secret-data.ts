import { Buffer } from "node:buffer";
import { isObject, type Json, member } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";

/**
 * A Secret with `stringData` moved into `data`, as the API server would store it; any other manifest unchanged (`===`).
 *
 * A server never shows `stringData` again, so a Secret sent with it could never be compared with what is live
 * (`apply/README.md#c-16`). Where values are no texts nothing is moved: the server refuses such a Secret, and says why.
 */
export function foldStringData(manifest: Manifest): Manifest {
  if (manifest["kind"] !== "Secret" || manifest["apiVersion"] !== "v1") return manifest;
  const texts = member(manifest, "stringData");
  const data = member(manifest, "data");
  if (!isObject(texts) || (data !== null && !isObject(data))) return manifest;
  if (!Object.values(texts).every((it) => typeof it === "string")) return manifest;
  const { stringData: _, ...rest } = manifest;
  const folded = Object.entries(texts).map(([key, text]): [string, Json] => [key, base64(text as string)]);
  return { ...rest, data: { ...data, ...Object.fromEntries(folded) } };
}

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
