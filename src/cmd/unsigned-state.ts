import { namesMachines } from "../core/audit/audit-chain.ts";
import type { Ledger } from "../core/model/ledger.ts";
import type { Digest } from "../core/model/value.ts";
import { oneLine } from "../shell/reconcile/one-line.ts";
import type { PassResult } from "../shell/reconcile/pass.ts";
import type { Terminal } from "./terminal.ts";

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

/** What a reconciler without a key would be told about. */
export interface UnsignedState {
  readonly ledger: Pick<Ledger, "trust" | "hasTrust">;
  /** The operator gave an anchor. */
  readonly isAnchored: boolean;
  /** The hub's path or URL, without credentials. */
  readonly hub: string;
  readonly stateBranch: string;
}

/**
 * Warns a reconciler that has no key while there is a trust file: whoever may write the state branch may put an approval
 * there that nobody gave, and nothing tells it from one that was recorded. In one line, with the commands that mend it;
 * null where nobody is said to approve anything.
 */
export function unsignedStateLine({ ledger, isAnchored, hub, stateBranch }: UnsignedState): string | null {
  const { trust, hasTrust } = ledger;
  if (trust === null && !hasTrust && !isAnchored) return null;
  const head = `$(git ls-remote ${quoted(hub)} ${quoted(`refs/heads/${stateBranch}`)} | cut -f1)`;
  const again = `this command with --signing-key KEY, and the first time --accept-state "${head}", after a look at it`;
  const danger = `nobody signs ${stateBranch}: whoever may write it can put an approval there that nobody gave`;
  if (trust !== null && namesMachines(trust.trust)) return `warning: ${danger}; run ${again}`;
  const name = trust?.trust.principals.has("reconciler") === true ? "reconciler-2" : "reconciler";
  const add = `flotilla trust add ${name} --machine --key KEY.pub --push`;
  return `warning: ${danger}; make a key (ssh-keygen -t ed25519 -N "" -f KEY), in a clone ${add}, then ${again}`;
}

/** As a word of a shell's command line. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
