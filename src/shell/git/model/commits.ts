import { Buffer } from "node:buffer";
import type { Commit, Instant } from "../../../core/model/value.ts";

/** Commits with their parents, in order. */
export type Ancestry = ReadonlyMap<Commit, readonly Commit[]>;

/** Which part of the history is asked for: all that `head` has and `base` has not, unless that is more than `limit`. */
export interface HistoryRange {
  readonly head: Commit;
  /** Null: all that `head` has. */
  readonly base: Commit | null;
  readonly limit: number;
}

/** Of a longer commit, this much and one byte more is read: longer signed commits do not count. */
export const maxCommitRead = 64 * 1024;

/** Orders the commits reachable from `head`, parents first; by parents only, so every engine gives the same. */
export function parentsFirst(head: Commit, ancestry: Ancestry): readonly Commit[] {
  const ordered = new Set<Commit>();
  const begun = new Set<Commit>();
  const open = [head];
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const parents = ancestry.get(at) ?? [];
    if (begun.has(at) || !ancestry.has(at)) {
      open.pop();
      if (ancestry.has(at)) ordered.add(at);
      continue;
    }
    begun.add(at);
    for (const it of [...parents].reverse()) if (!begun.has(it)) open.push(it);
  }
  return [...ordered];
}

/** Whether none of these is reachable from `base`: all without a parent are its children. False proves nothing. */
export function isPlainlyBeyond(base: Commit, ancestry: Ancestry): boolean {
  const isFirst = (parents: readonly Commit[]): boolean => !parents.some((it) => ancestry.has(it));
  return [...ancestry.values()].every((parents) => !isFirst(parents) || parents.includes(base));
}

/** Gives an armored signature over the content of a commit object. */
export type SignCommit = (payload: Uint8Array) => string;

/** A commit's content with a signature over just these bytes in `gpgsig`, the last header, where git puts it. */
export function signedCommit(raw: Uint8Array, sign: SignCommit): Buffer {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const end = bytes.indexOf("\n\n") + 1;
  const header = `gpgsig ${sign(bytes).trimEnd().replaceAll("\n", "\n ")}\n`;
  return Buffer.concat([bytes.subarray(0, end), Buffer.from(header), bytes.subarray(end)]);
}

/** Whether a text is a full SHA-1 and nothing else, as ids from the record, which others may write, have to be. */
export const isObjectId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

/** Author and committer of all we write, in whole seconds, UTC: constant, so that a proposal determines its id. */
export const identityLine = (at: Instant): string =>
  `flotilla <flotilla@localhost> ${Math.max(0, Math.floor(at / 1000))} +0000`;
