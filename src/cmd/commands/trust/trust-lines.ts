import { trustPath } from "../../../core/intent/trust/trust-file.ts";
import type { Problem } from "../../../core/model/intent.ts";
import type { Trust } from "../../../core/model/trust.ts";
import {
  type Digest,
  type DurationMs,
  durationOf,
  type Instant,
  instantOf,
  instantText,
  later,
} from "../../../core/model/value.ts";
import { nextTrustVerdict } from "../../../core/report/trust-text.ts";
import { quorumFindings } from "../../../core/trust/quorum.ts";
import type { NextTrust } from "../../../core/trust/trust-chain.ts";
import type { Declined } from "../../hub/commit-files.ts";
import { type HubOptions, now } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { printProblems } from "../../terminal/outcome.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { TrustInForce } from "./trust-files.ts";

/** Rules that leave one choice of approvers or none, unless they did in `before` as well; none if that is null. */
export function quorumLines(next: Trust, before: Trust | null): readonly string[] {
  const known = new Set(before === null ? [] : quorumFindings(before).map((it) => it.message));
  const fresh = quorumFindings(next).filter((it) => !known.has(it.message));
  const shown = fresh.slice(0, findingsLimit).map((it) => `${it.isHopeless ? "warning" : "note"}: ${it.message}`);
  const more = fresh.length - shown.length;
  return more > 0 ? [...shown, `note: and ${more} more rules; flotilla trust show lists them`] : shown;
}

const findingsLimit = 10;

/** How to restore the version in force: the state branch has a copy. */
export const restoreFix = ({ stateBranch }: Pick<HubOptions, "stateBranch">): string =>
  `restore it and commit it on its own: git checkout origin/${stateBranch} -- ${trustPath}`;

/** What is left to do for a version that the operator vouches for, out of band, by its digest. */
export const anchorLines = (version: number, digest: Digest): readonly string[] => [
  `version ${version} of ${trustPath} has the SHA-256 ${digest}`,
  "check the file, then give this digest to every reconciler, from outside the repository:",
  `  flotilla reconcile --trust-anchor ${digest}`,
  `  flotilla reconcile --watch --trust-anchor ${digest}`,
  `  GitHub Action: with: { trust-anchor: ${digest} }`,
  "until then the version is not in force, and no gate opens",
];

/** Why a version comes into force by the operator's word alone; null where it follows the one before. */
export function whyAnchored(
  before: Trust,
  {
    record,
    isWanted,
    verdict,
  }: { readonly record: TrustInForce; readonly isWanted: boolean; readonly verdict: NextTrust },
): string | null {
  if (record === null)
    return `no version is in force yet, so the anchor has to be this version's, instead of version ${before.version}'s`;
  const isAlone = isWanted && verdict.kind === "refused";
  return isAlone ? "too few roots are left to sign it, so the operator vouches for it" : null;
}

/** Whether the anchor should change with a version: only if a root's key was compromised. */
function anchorAdvice(next: Trust, before: Trust | null): string {
  const stolen = before === null ? [] : stolenRoots(before, next);
  if (stolen.length === 0) return "the trust anchor stays the same";
  return (
    `a key of ${stolen.join(" and ")}, who may sign versions, was compromised: once this version is in force, give its SHA-256 as the trust ` +
    "anchor; with an earlier one, a lost state branch could start over with what that key signs"
  );
}

/** By name, roots of the version before whose keys the next one revokes as compromised. */
function stolenRoots({ principals, roots, revocations }: Trust, next: Trust): readonly string[] {
  const known = new Set(revocations.filter((it) => it.kind === "compromised").map((it) => it.key));
  const stolen = next.revocations.filter((it) => it.kind === "compromised" && !known.has(it.key)).map((it) => it.key);
  return roots.principals.filter((name) => {
    const { sshKeys = [], sshAuthorities = [], openPgp = new Map<string, string>() } = principals.get(name) ?? {};
    return [...sshKeys, ...sshAuthorities, ...openPgp.keys()].some((it) => stolen.includes(it));
  });
}

/** What is left to do for a version that follows the one in force; `before` null where that is not at hand. */
export function chainLines(
  next: Trust,
  { verdict, before }: { readonly verdict: NextTrust; readonly before: Trust | null },
  { branch }: Pick<HubOptions, "branch">,
): readonly string[] {
  const lines = [`version ${next.version} of ${trustPath} has the SHA-256 ${next.digest}`];
  if (verdict.kind !== "refused") {
    const by = verdict.kind === "accepted" && verdict.by !== "anchor" ? `signed by ${verdict.by.join(", ")}: ` : "";
    return [
      ...lines,
      `${by}it is in force once flotilla has read it on ${branch}; change nothing else under trust/ until then`,
      anchorAdvice(next, before),
    ];
  }
  return [
    ...lines,
    verdict.denial.because,
    "those who are missing check out the branch, review the file, and run: flotilla trust sign",
    `do not merge it into ${branch} before that: a version that too few roots signed closes every gate`,
    anchorAdvice(next, before),
  ];
}

/** Until when: a length of time from now (`400d`, `8760h`), a day or a moment; null for anything else. */
export function parseExpiry(text: string): Instant | null {
  const days = /^\d{1,4}d$/.test(text) ? ((Number.parseInt(text, 10) * 86_400_000) as DurationMs) : null;
  const span = days ?? durationOf(text);
  return span === null ? instantOf(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text) : later(now(), span);
}

export const invalidExpiry = (text: string): Declined => ({
  kind: "declined",
  message: `${JSON.stringify(text)} is not a valid expiry`,
  fix: "write it as 400d, 8760h, 2027-10-01 or 2027-10-01T00:00:00Z",
});

/** Why a version's expiry keeps it from coming into force; null if it does not. */
export function expiryObjection(before: Trust | null, next: Trust): [string, string] | null {
  const verdict = nextTrustVerdict({ before, next, signatures: [], now: now() });
  return verdict.kind === "refused" && verdict.denial.code === "FLT1225"
    ? [`version ${next.version} would expire at ${instantText(next.expires)}`, "give --expires 400d; two years at most"]
    : null;
}

export function printUnusableTrust(problems: readonly Problem[], terminal: Terminal): ExitCode {
  printProblems(problems, terminal);
  terminal.err("error: the trust file would be invalid: nothing was written\n");
  return exitCodes.problems;
}
