import { Buffer } from "node:buffer";

/** Gives an armored signature over the content of a commit object. */
export type SignCommit = (payload: Uint8Array) => string;

/**
 * The content of a commit with a signature over just these bytes, in the header `gpgsig`: the last one, where git puts
 * it, the lines after the first indented by a space.
 */
export function signedCommit(raw: Uint8Array, sign: SignCommit): Buffer {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const end = bytes.indexOf("\n\n") + 1;
  const header = `gpgsig ${sign(bytes).trimEnd().replaceAll("\n", "\n ")}\n`;
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(header), bytes.subarray(end)]);
}
