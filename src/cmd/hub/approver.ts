import { parseOpenPgpKey } from "../../core/intent/trust/openpgp-key.ts";
import { parseSshKey } from "../../core/intent/trust/ssh-key.ts";
import type { SignatureFact } from "../../core/model/commit.ts";
import type { Viewer } from "../../core/report/approval-options.ts";
import { type ApprovalContext, keyOwner } from "../../core/report/approval-status.ts";
import { gitIdentity, gitSigningKey, type HubOptions } from "./wire.ts";

/** Who approves here, and with which key. */
export interface CurrentApprover {
  readonly kind: "somebody";
  readonly principal: string;
  /** The signature that their commits will have; null if their public key cannot be found. */
  readonly key: SignatureFact | null;
}

/** It is unknown who approves. */
interface UnknownApprover {
  readonly kind: "nobody";
  readonly message: string;
  readonly fix: string;
}

/** Who approves: the given principal, or the owner of Git's signing key; without a trust file, Git's user name. */
export async function findApprover(
  options: Pick<HubOptions, "repo"> & { readonly as?: string },
  context: ApprovalContext | null,
): Promise<CurrentApprover | UnknownApprover> {
  const { as } = options;
  if (as !== undefined && (!/^\P{C}{1,253}$/u.test(as) || as.trim() !== as))
    return nobody(`${JSON.stringify(as)} is not a valid name`, "--as takes a principal of trust/root.yaml");
  if (context === null) {
    const principal = as ?? (await gitIdentity(options));
    return principal === null
      ? nobody("git does not know who you are", "set user.name and user.email (git config), or give --as")
      : { kind: "somebody", principal, key: null };
  }
  const key = await signingFact(options);
  if (as !== undefined) {
    const listed = [...context.trust.principals.keys()];
    if (!listed.includes(as)) return nobody(`trust/root.yaml does not list ${as}`, `it lists ${listed.join(", ")}`);
    return { kind: "somebody", principal: as, key };
  }
  if (key === null) return nobody("Git has no signing key configured", setUp);
  const owner = keyOwner(key, context);
  if (owner.kind === "signer") return { kind: "somebody", principal: owner.principal.name, key };
  const { fingerprint } = key;
  return nobody(
    `the key that Git signs with here belongs to nobody who may approve: ${owner.code}: ${owner.because}`,
    `${fixFor(fingerprint)}`,
  );
}

/** Who looks at requests, by the Git configuration of the hub, else of the current folder. */
export async function viewerOf(options: Pick<HubOptions, "repo">, context: ApprovalContext | null): Promise<Viewer> {
  for (const place of [options, { repo: null }]) {
    const it = await findApprover(place, context).catch(() => null);
    if (it?.kind === "somebody") return { context, principal: it.principal };
  }
  return { context, principal: null };
}

const nobody = (message: string, fix: string): UnknownApprover => ({ kind: "nobody", message, fix });

const setUp = "git config gpg.format ssh; git config user.signingKey ~/.ssh/id_ed25519.pub; or give --as NAME";

const fixFor = (fingerprint: string): string =>
  `sign with a key that flotilla trust show lists for you (git config user.signingKey), or have ${fingerprint} added: flotilla trust add NAME --key FILE`;

type KeyFact = Extract<SignatureFact, { readonly fingerprint: string }>;

/** The signature that Git's signing key here makes; null if its public key cannot be found. */
async function signingFact(options: Pick<HubOptions, "repo">): Promise<KeyFact | null> {
  const key = await gitSigningKey(options);
  if (key === null) return null;
  const read = key.kind === "ssh" ? parseSshKey(key.line) : parseOpenPgpKey(key.armored);
  if (read.kind === "unusable") return null;
  const { fingerprint } = read;
  if (key.kind === "openpgp") return { kind: "openpgp", fingerprint, claimedAt: null };
  const keyType = key.line.split(" ")[0] ?? "";
  return { kind: "ssh", fingerprint, keyType, namespace: "git", touched: null, certificate: null };
}
