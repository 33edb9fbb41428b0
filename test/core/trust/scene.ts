import type { CommitFact, SignatureFact } from "../../../src/core/model/commit.ts";
import type { ApprovalFile, ApprovalRule, Principal, Trust } from "../../../src/core/model/trust.ts";
import type { BlobId, Commit, Digest, DurationMs, Instant } from "../../../src/core/model/value.ts";
import type { ApprovalInput } from "../../../src/core/trust/judge-approval.ts";

export const hour = 3_600_000;
export const day = 24 * hour;
export const at = (ms: number): Instant => (1_800_000_000_000 + ms) as Instant;
export const digest = (letter: string): Digest => letter.repeat(64) as Digest;
export const blob = (letter: string): BlobId => letter.repeat(40) as BlobId;
export const commit = (letter: string): Commit => letter.repeat(40) as Commit;

export const ssh = (key: string, namespace = "git"): SignatureFact => ({
  kind: "ssh",
  fingerprint: `SHA256:${key}`,
  keyType: "ssh-ed25519",
  namespace,
  touched: null,
  certificate: null,
});

export const openpgp = (fingerprint: string): SignatureFact => ({ kind: "openpgp", fingerprint, claimedAt: null });

export const certified = (
  key: string,
  names: readonly string[],
  from = -day,
  to: number | null = day,
): SignatureFact => ({
  ...(ssh(key) as SignatureFact & { kind: "ssh" }),
  certificate: {
    authority: "SHA256:ca",
    keyId: "laptop",
    principals: names,
    validAfter: at(from),
    validBefore: to === null ? null : at(to),
  },
});

export const rejected = (code: (SignatureFact & { kind: "rejected" })["code"]): SignatureFact => ({
  kind: "rejected",
  code,
  message: "so it is",
});

/** Somebody with one or two SSH keys, `name` and `name2`; machines have an OpenPGP key instead. */
export const somebody = (name: string, more: Partial<Principal> = {}): Principal => ({
  name,
  isHuman: true,
  sshKeys: [`SHA256:${name}`, `SHA256:${name}2`],
  sshAuthorities: ["SHA256:ca"],
  openPgp: new Map(),
  forgeIds: new Map(),
  ...more,
});

export const rule = (more: Partial<ApprovalRule> = {}): ApprovalRule => ({
  placements: ["web"],
  stages: ["prod"],
  principals: ["ann", "bob", "carol"],
  minimum: 1,
  fourEyes: true,
  unsignedChanges: "oneMore",
  accept: ["commit", "detached"],
  maxAge: day as DurationMs,
  ...more,
});

const webFlow: Partial<Principal> = {
  isHuman: false,
  sshKeys: [],
  openPgp: new Map([["5DE3", "…"]]),
  sshAuthorities: [],
};

const people = [
  somebody("ann", { forgeIds: new Map([["github", "1"]]) }),
  somebody("bob", { openPgp: new Map([["B0B", "…"]]) }),
  somebody("carol"),
  somebody("dave"),
  somebody("web-flow", webFlow),
];

export const trust = (more: Partial<Trust> = {}): Trust => ({
  version: 1,
  digest: digest("1"),
  previous: null,
  expires: at(300 * day),
  principals: new Map(people.map((it) => [it.name, it])),
  roots: { principals: ["ann", "bob", "carol"], threshold: 2 },
  approvals: [rule()],
  protectedTargets: [],
  revocations: [],
  ...more,
});

export const path = (name: string): string => `approvals/web/${name}.yaml`;

export const approval = (more: Partial<ApprovalFile> = {}): ApprovalFile => ({
  path: path("ann"),
  blob: blob("a"),
  digest: digest("d"),
  decision: "Approve",
  principal: "ann",
  comment: "",
  signature: null,
  ...more,
});

export const introducer = (more: Partial<CommitFact> = {}): CommitFact => ({
  commit: commit("c"),
  parents: [commit("b")],
  signature: ssh("ann"),
  claimedAuthor: "Ann <ann@example.com>",
  changes: [{ path: path("ann"), before: null, after: blob("a") }],
  merge: null,
  ...more,
});

/** Ann approves what Bob asked for, by a signed commit: all is well. */
export const context = (more: Partial<ApprovalInput> = {}): ApprovalInput => ({
  file: approval(),
  files: [approval()],
  introducers: [introducer()],
  detached: null,
  review: null,
  request: {
    digest: digest("d"),
    placement: "web",
    stage: "prod",
    targets: [],
    requestedAt: at(0),
    authors: { principals: ["bob"], unknown: 0 },
  },
  trust: trust(),
  now: at(hour),
  ...more,
});
