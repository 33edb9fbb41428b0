import { Buffer } from "node:buffer";
import type { SignatureFact } from "../../core/model/commit.ts";
import type { Instant } from "../../core/model/value.ts";
import { armorFormat } from "./armor.ts";
import type { CommitBytes } from "./commit-bytes.ts";
import { verifyOpenPgp } from "./openpgp-signature.ts";
import { verifySsh } from "./ssh-signature.ts";

/**
 * What the signature of a commit turns out to be.
 *
 * `certificates` are armored OpenPGP certificates, one each; hand in the same list (`===`) again, and they are read once.
 * Facts only: which namespace an SSH signature has to carry (`git`), and whose key it is, is for others to judge.
 */
export async function signatureOfCommit(
  commit: CommitBytes,
  certificates: readonly string[],
  now: Instant,
): Promise<SignatureFact> {
  if (commit.hasForeignSignature) {
    // In a repository of SHA-1 git drops this header from what it verifies: anybody could have put it there.
    const message = "the commit carries gpgsig-sha256, which no signature covers";
    return { kind: "rejected", code: "Unsupported", message };
  }
  if (commit.signature === null) return { kind: "unsigned" };
  const armored = Buffer.from(commit.signature).toString("latin1");
  return detachedSignature(commit.payload, armored, certificates, now);
}

/** What an armored signature says about a file of bytes. */
export async function detachedSignature(
  bytes: Uint8Array,
  armored: string,
  certificates: readonly string[],
  now: Instant,
): Promise<SignatureFact> {
  switch (armorFormat(armored)) {
    case "ssh":
      return verifySsh(bytes, armored);
    case "openpgp":
      return verifyOpenPgp(bytes, armored, certificates, now);
    case "x509":
      return rejected("Unsupported", "X.509 signatures are not supported; sign with an SSH or an OpenPGP key");
    case "message":
      return rejected("Unsupported", "this is an OpenPGP message with a signature in it, not a signature on its own");
    case null:
      return rejected("Malformed", "this is not an armored SSH or OpenPGP signature");
  }
}

const rejected = (code: "Malformed" | "Unsupported", message: string): SignatureFact => ({
  kind: "rejected",
  code,
  message,
});
