import { readFile, stat } from "node:fs/promises";
import { openPgpKeyOf } from "../core/intent/trust/openpgp-key.ts";
import { sshKeyOf } from "../core/intent/trust/ssh-key.ts";

/** Files with public keys, as a command line names them. */
export interface KeyOptions {
  readonly key: readonly string[];
  readonly openpgp: readonly string[];
}

/** Public keys: OpenSSH lines, and armored OpenPGP certificates. */
export interface ReadKeys {
  readonly keys: readonly string[];
  readonly openpgp: readonly string[];
}

type Reading =
  | ({ readonly kind: "keys" } & ReadKeys)
  | { readonly kind: "declined"; readonly message: string; readonly fix: string };

/**
 * Reads files with public keys. Each must be usable and strong; what a private one says is shown to nobody.
 *
 * A file of SSH keys may hold several, a line each, as forges give them out (`https://github.com/NAME.keys`).
 */
export async function keyFiles({ key, openpgp }: KeyOptions): Promise<Reading> {
  const keys: string[] = [];
  const certificates: string[] = [];
  for (const { path, isSsh } of [
    ...key.map((it) => ({ path: it, isSsh: true })),
    ...openpgp.map((it) => ({ path: it, isSsh: false })),
  ]) {
    const text = await textOf(path);
    if (text === null)
      return { kind: "declined", message: `${path} cannot be read`, fix: "name a file with public keys" };
    if (/PRIVATE KEY/.test(text))
      return { kind: "declined", message: `${path} is a private key`, fix: "give its public half, such as FILE.pub" };
    const found = isSsh ? linesOf(text) : [text.replaceAll("\r", "").trim()];
    for (const it of found) {
      const read = isSsh ? sshKeyOf(it) : openPgpKeyOf(it);
      if (read.kind === "unusable") return { kind: "declined", message: `${path} ${read.message}`, fix: read.fix };
    }
    if (found.length === 0) return { kind: "declined", message: `${path} holds no key`, fix: "give a .pub file" };
    (isSsh ? keys : certificates).push(...found);
  }
  return { kind: "keys", keys, openpgp: certificates };
}

/** The largest file of keys. */
const largest = 64 << 10;

async function textOf(path: string): Promise<string | null> {
  const size = await stat(path).then(
    (it) => (it.isFile() ? it.size : null),
    () => null,
  );
  return size === null || size > largest ? null : readFile(path, "utf8").catch(() => null);
}

const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((it) => it.trim())
    .filter((it) => it !== "" && !it.startsWith("#"));
