import type { SignatureFact } from "../model/commit.ts";
import type { Trust } from "../model/trust.ts";
import type { Commit, Instant } from "../model/value.ts";
import { signerOf } from "../trust/signer.ts";

/** Whether a trust file names keys of machines: then commits of the state branch are signed by one of them. */
export const namesMachines = ({ principals }: Pick<Trust, "principals">): boolean =>
  [...principals.values()].some(
    (it) => !it.isHuman && it.sshKeys.length + it.sshAuthorities.length + it.openPgp.size > 0,
  );

/**
 * Says why a commit of the state branch proves nothing of who wrote it; null when a machine did that the trust file
 * lists (`trust/README.md#our-own-commits`). People approve, and machines write: neither does the other's work.
 */
export function stateSignerObjection(
  signature: SignatureFact,
  trust: Pick<Trust, "principals" | "revocations"> | null,
  { commit, now }: { readonly commit: Commit; readonly now: Instant },
): string | null {
  if (signature.kind === "unsigned") return "is not signed";
  if (signature.kind === "rejected") return `carries a signature that proves nothing: ${signature.message}`;
  const key = signature.fingerprint;
  if (trust === null) return `is signed with ${key}, and no trust file says whose that is`;
  const signer = signerOf(signature, { trust, namespace: "git", what: `commit ${commit.slice(0, 12)}`, now });
  if (signer.kind === "denied") return `is signed with ${key}, which does not count: ${signer.because}`;
  if (signer.principal.isHuman) return `is signed by ${signer.principal.name}, who is a person`;
  return null;
}
