import { Buffer } from "node:buffer";
import type { Instant } from "../../../core/model/value.ts";

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

/**
 * Whether a text names an object by its full SHA-1, and can be nothing else: no option, no revision, no second line.
 *
 * Ids reach git from the record too, which whoever may write the state branch could have written.
 */
export const isObjectId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

/**
 * Author and committer of everything we write, as Git stores them: whole seconds, UTC.
 *
 * Constant, so that a proposal determines its commit id: both engines write the same commit.
 */
export const identityLine = (at: Instant): string =>
  `flotilla <flotilla@localhost> ${Math.max(0, Math.floor(at / 1000))} +0000`;
