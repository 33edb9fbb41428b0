import { readFile, stat } from "node:fs/promises";
import { namesMachines } from "../../../core/audit/audit-chain.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import { type Digest, oneLine } from "../../../core/model/value.ts";
import type { PassResult } from "../../../shell/reconcile/pass.ts";
import { signingKey } from "../../hub/wire.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** A signing key; null if none was given; `declined` if it cannot be used, with an error printed. */
type StateSigningKey = Extract<ReturnType<typeof signingKey>, { readonly kind: "key" }> | null | "declined";

/** The largest file of a key. */
const largest = 64 << 10;

/** Reads the private key for commits of the state branch, which is never shown; warns if others may read its file. */
export async function openSigningKey(path: string | null, { err }: Pick<Terminal, "err">): Promise<StateSigningKey> {
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
  if (isOpen) err(`warning: other users may read the signing key ${path}; run chmod 600 ${path}\n`);
  return key;
}

/** Warns once, in the first pass that knows of a trust file; is told what came of each pass. `hub`: as below. */
export function unsignedWarner(
  { trustAnchor, stateBranch }: { readonly trustAnchor: Digest | null; readonly stateBranch: string },
  hub: string,
  { err }: Terminal,
): (result: PassResult) => void {
  let isSaid = false;
  return (result) => {
    if (isSaid || result.kind !== "passed") return;
    const line = unsignedStateLine({ ledger: result.plan.ledger, isAnchored: trustAnchor !== null, hub, stateBranch });
    if (line === null) return;
    isSaid = true;
    err(`${oneLine(line)}\n`);
  };
}

interface UnsignedState {
  readonly ledger: Pick<Ledger, "trust" | "hasTrust">;
  /** The operator gave an anchor. */
  readonly isAnchored: boolean;
  /** The hub's path or URL, without credentials. */
  readonly hub: string;
  readonly stateBranch: string;
}

/**
 * The warning for a reconciler without a signing key while there is a trust file: anybody who may write the state branch
 * could add an approval that nobody gave. In one line, with the commands that fix it; null if approvals are not set up.
 */
export function unsignedStateLine({ ledger, isAnchored, hub, stateBranch }: UnsignedState): string | null {
  const { trust, hasTrust } = ledger;
  if (trust === null && !hasTrust && !isAnchored) return null;
  const head = `$(git ls-remote ${quoted(hub)} ${quoted(`refs/heads/${stateBranch}`)} | cut -f1)`;
  const again = `this command with --signing-key KEY, the first time with --accept-state "${head}", after you have reviewed it`;
  const danger = `${stateBranch} is not signed: anybody who may write it can add an approval that nobody gave`;
  if (trust !== null && namesMachines(trust.trust)) return `warning: ${danger}; run ${again}`;
  const name = trust?.trust.principals.has("reconciler") === true ? "reconciler-2" : "reconciler";
  const add = `flotilla trust add ${name} --machine --key KEY.pub --push`;
  return `warning: ${danger}; create a key (ssh-keygen -t ed25519 -N "" -f KEY), run ${add} in a clone, then ${again}`;
}

/** Quoted for a shell. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
