import { Buffer } from "node:buffer";
import type { CommitFact, SignatureFact } from "../../core/model/commit.ts";
import type { Commit, Instant } from "../../core/model/value.ts";
import type { HistoricCommit, Verifier } from "../reconcile/ports.ts";
import { armorFormat } from "./armor.ts";
import { type CommitBytes, commitBytes, commitId, maxCommitBytes } from "./commit-bytes.ts";
import { verifyOpenPgp } from "./openpgp-signature.ts";
import { type Rejected, rejectionOf } from "./signature-error.ts";
import { verifySsh } from "./ssh-signature.ts";

/** Enough to say who wrote a commit. */
const longestAuthor = 200;

/**
 * Verifies by nothing but the bytes it is given (`trust/README.md#what-counts`), once it is sure that they are those of
 * the id. Of a refused commit only where git walks on is taken over. Never rejects: what was not foreseen is a rejected
 * signature.
 */
export const verifier: Verifier = {
  async commit(from, certificates, now) {
    const { commit, changes, merge } = from;
    const bytes = ownBytes(from);
    if (bytes.kind === "rejected")
      return {
        commit,
        parents: waysOn(from),
        signature: bytes,
        claimedAuthor: "",
        changes,
        merge,
      } satisfies CommitFact;
    const signature = await signatureOfCommit(bytes, certificates, now).catch(rejectionOf);
    const { parents, author } = bytes;
    return { commit, parents, signature, claimedAuthor: named(author), changes, merge } satisfies CommitFact;
  },
  detached(bytes, armored, certificates, now): Promise<SignatureFact> {
    return detachedSignature(bytes, armored, certificates, now).catch(rejectionOf);
  },
};

function ownBytes({ commit, raw }: HistoricCommit): CommitBytes | Rejected {
  const bytes = commitBytes(raw);
  if (bytes.kind === "rejected" || commitId(raw) === commit) return bytes;
  return { kind: "rejected", code: "Mismatch", message: `the bytes are not those of ${commit}` };
}

/**
 * The parents of a commit that is refused, as git reads them. Without them, a commit that nobody here can read would
 * hide who made the changes that lie behind it (`trust/README.md#step-8`; `#t-07`).
 */
function waysOn({ commit, raw }: HistoricCommit): readonly Commit[] {
  // Of a longer one only the beginning is here, and that has no id.
  if (raw.length <= maxCommitBytes && commitId(raw) !== commit) return [];
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1");
  const lines = /^tree [0-9a-fA-F]{40}\n((?:parent [0-9a-fA-F]{40}\n)*)/.exec(text)?.[1] ?? "";
  return [...lines.matchAll(/ (.{40})/g)].map(([, id = ""]) => id.toLowerCase() as Commit);
}

/** Whole characters, so that nothing is cut in two. */
const named = ({ name, email }: CommitBytes["author"]): string =>
  [...`${name} <${email}>`].slice(0, longestAuthor).join("");

/**
 * What the signature of a commit turns out to be: facts only, not whose key it is. `certificates` are armored OpenPGP
 * certificates, one each; hand in the same list (`===`) again, and they are read once.
 */
async function signatureOfCommit(
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
