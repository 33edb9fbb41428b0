import { trustPath } from "../core/codec/trust-file.ts";
import type { Trust } from "../core/model/trust.ts";
import type { Digest } from "../core/model/value.ts";
import { quorumFindings } from "../core/trust/quorum.ts";
import type { NextTrust } from "../core/trust/trust-chain.ts";
import type { HubOptions } from "./wire.ts";

/**
 * Whom the rules of a version leave no choice, and what they leave to nobody; of what the version before left so as well,
 * nothing is said again. `before` null: everything is.
 */
export function quorumLines(next: Trust, before: Trust | null): readonly string[] {
  const known = new Set(before === null ? [] : quorumFindings(before).map((it) => it.message));
  const fresh = quorumFindings(next).filter((it) => !known.has(it.message));
  const shown = fresh.slice(0, findingsLimit).map((it) => `${it.isHopeless ? "warning" : "note"}: ${it.message}`);
  const more = fresh.length - shown.length;
  return more > 0 ? [...shown, `note: and ${more} rules more; flotilla trust show lists them`] : shown;
}

const findingsLimit = 10;

/** How the version in force comes back where it was lost: the state branch has it word for word. */
export const restoreFix = ({ stateBranch }: Pick<HubOptions, "stateBranch">): string =>
  `restore it and commit it alone: git checkout origin/${stateBranch} -- ${trustPath}`;

/** What is left to do for a version that the operator vouches for, out of band, by its digest. */
export const anchorLines = (version: number, digest: Digest): readonly string[] => [
  `version ${version} of ${trustPath} has the SHA-256 ${digest}`,
  "check the file, then give this digest to whatever reconciles, from outside of the repository:",
  `  flotilla reconcile --trust-anchor ${digest}`,
  `  flotilla reconcile --watch --trust-anchor ${digest}`,
  `  GitHub Action: with: { trust-anchor: ${digest} }`,
  "until then the version is not in force, and no gate opens",
];

/** What is left to do for a version that follows the one in force. */
export function chainLines(
  { version, digest }: { readonly version: number; readonly digest: Digest },
  verdict: NextTrust,
  { branch }: Pick<HubOptions, "branch">,
): readonly string[] {
  const lines = [`version ${version} of ${trustPath} has the SHA-256 ${digest}`];
  if (verdict.kind !== "refused") {
    const by = verdict.kind === "accepted" && verdict.by !== "anchor" ? `signed by ${verdict.by.join(", ")}: ` : "";
    return [
      ...lines,
      `${by}it is in force once flotilla has read it on ${branch}; change nothing more under trust/ before that`,
    ];
  }
  return [
    ...lines,
    verdict.denial.because,
    "whoever is missing checks the branch out, looks at the file, and runs: flotilla trust sign",
    `do not bring it to ${branch} before: a version that is not signed by enough roots closes every gate`,
  ];
}
