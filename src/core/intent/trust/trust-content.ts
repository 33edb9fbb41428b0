import type { ApprovalRule, Principal, ProtectedTarget, Trust } from "../../model/trust.ts";
import { compareText, type Digest, type DurationMs, type Instant, instantOf } from "../../model/value.ts";
import { durationOf } from "../kinds/duration.ts";
import type {
  WrittenApprovalRule,
  WrittenPrincipal,
  WrittenTarget,
  WrittenTrust,
  WrittenVoters,
} from "../kinds/written.ts";
import { openPgpKeyOf } from "./openpgp-key.ts";
import { type KeyReading, sshKeyOf } from "./ssh-key.ts";

/** How long a request may stand unanswered where the rule does not say (`yaml/README.md#limits`). */
const defaultMaxAge = (24 * 3_600_000) as DurationMs;

/** What a trust file says after defaults. Its schema and its rules have passed it. */
export function trustOf({ spec }: WrittenTrust, digest: Digest): Trust {
  const people = Object.entries(spec.principals).sort(([a], [b]) => compareText(a, b));
  return {
    version: spec.version,
    digest,
    previous: (spec.previous ?? null) as Digest | null,
    // The rules made sure that it is one; a moment long ago is the one that opens nothing.
    expires: instantOf(spec.expires) ?? (0 as Instant),
    principals: new Map(people.map(([name, it]) => [name, principalOf(name, it)])),
    roots: { principals: spec.roots, threshold: spec.threshold },
    approvals: (spec.approvals ?? []).map(approvalRuleOf),
    protectedTargets: (spec.protectedTargets ?? []).map(targetOf),
    revocations: (spec.revocations ?? []).map(({ key, kind }) => ({ key: revokedKeyOf(key), kind })),
  };
}

/** A key as revocations name it: the digits of an OpenPGP fingerprint are upper-case. */
export const revokedKeyOf = (key: string): string => (key.startsWith("SHA256:") ? key : key.toUpperCase());

function principalOf(name: string, written: WrittenPrincipal): Principal {
  const { human, keys = [], authorities = [], openpgp = [], forge = {} } = written;
  return {
    name,
    isHuman: human,
    sshKeys: keys.flatMap((it) => fingerprintOf(sshKeyOf(it))),
    sshAuthorities: authorities.flatMap((it) => fingerprintOf(sshKeyOf(it))),
    openPgp: new Map(openpgp.flatMap((it) => fingerprintOf(openPgpKeyOf(it)).map((key) => [key, it] as const))),
    forgeIds: new Map(Object.entries(forge).sort(([a], [b]) => compareText(a, b))),
  };
}

const fingerprintOf = (key: KeyReading): readonly string[] => (key.kind === "key" ? [key.fingerprint] : []);

function approvalRuleOf(written: WrittenApprovalRule): ApprovalRule {
  const { placements, stages, fourEyes = true, unsignedChanges = "oneMore", maxAge = "" } = written;
  const age = durationOf(maxAge) ?? defaultMaxAge;
  return { placements, stages, ...votersOf(written), fourEyes, unsignedChanges, maxAge: age };
}

const targetOf = (written: WrittenTarget): ProtectedTarget => ({
  clusters: written.clusters,
  namespaces: written.namespaces,
  ...votersOf(written),
  ...(written.released === undefined ? {} : { released: written.released }),
});

/** A forge is trusted only where somebody wrote that it is (`trust/README.md#d-04`). */
const votersOf = ({ principals, minimum = 1, accept = ["commit", "detached"] }: WrittenVoters) => ({
  principals,
  minimum,
  accept,
});
