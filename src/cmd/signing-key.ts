import { readFile, stat } from "node:fs/promises";
import type { Terminal } from "./terminal.ts";
import { signingKey } from "./wire.ts";

/** A key to sign with; null where none was given; or why it cannot be used, which has been said. */
export type OpenedKey = Extract<ReturnType<typeof signingKey>, { readonly kind: "key" }> | null | "declined";

/** The largest file of a key. */
const largest = 64 << 10;

/**
 * Reads the private key at a path, for commits of the state branch. What stands in the file is shown to nobody; that
 * others on this machine may read it, too, is a warning.
 */
export async function openSigningKey(path: string | null, { err }: Pick<Terminal, "err">): Promise<OpenedKey> {
  if (path === null) return null;
  const file = await stat(path).catch(() => null);
  const text = file?.isFile() === true && file.size <= largest ? await readFile(path, "utf8").catch(() => null) : null;
  if (file === null || text === null) {
    err(`error: the signing key ${path} cannot be read\n  name a file with an Ed25519 private key, or leave it out\n`);
    return "declined";
  }
  const key = signingKey(text);
  if (key.kind !== "key") {
    err(`error: the signing key ${path} ${key.message}\n  ${key.fix}\n`);
    return "declined";
  }
  const isOpen = process.platform !== "win32" && (file.mode & 0o077) !== 0;
  if (isOpen) err(`warning: others may read the signing key ${path}; run chmod 600 ${path}\n`);
  return key;
}
