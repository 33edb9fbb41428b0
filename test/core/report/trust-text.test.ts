import { expect, test } from "vitest";
import type { Principal, Trust, TrustRecord } from "../../../src/core/model/trust.ts";
import { type Commit, type Digest, type DurationMs, instantOf, type Sequence } from "../../../src/core/model/value.ts";
import { trustLines, trustValue } from "../../../src/core/report/trust-text.ts";
import { denied } from "../../../src/core/trust/denial.ts";

const at = (text: string) => {
  const read = instantOf(text);
  if (read === null) throw new Error(text);
  return read;
};
const principal = (name: string, more: Partial<Principal>): Principal => ({
  name,
  isHuman: true,
  sshKeys: [],
  sshAuthorities: [],
  openPgp: new Map(),
  forgeIds: new Map(),
  ...more,
});
const ada = principal("ada", { sshKeys: ["SHA256:a", "SHA256:b"], openPgp: new Map([["AB", "armored"]]) });
const forge = principal("forge", {
  isHuman: false,
  sshAuthorities: ["SHA256:c"],
  forgeIds: new Map([["github", "9"]]),
});
const trust: Trust = {
  version: 3,
  digest: "dd" as Digest,
  previous: "cc" as Digest,
  expires: at("2027-10-01T00:00:00Z"),
  principals: new Map([ada, forge].map((it) => [it.name, it])),
  roots: { principals: ["ada"], threshold: 1 },
  approvals: [
    {
      placements: ["web", "shop/*"],
      stages: ["prod"],
      principals: ["ada"],
      minimum: 1,
      fourEyes: false,
      unsignedChanges: "deny",
      accept: ["commit"],
      maxAge: (90 * 60_000) as DurationMs,
    },
  ],
  protectedTargets: [
    { clusters: ["prod-*"], namespaces: ["payments"], principals: ["ada"], minimum: 1, accept: ["commit", "forge"] },
    { clusters: ["eu-*"], namespaces: ["*"], principals: ["ada"], minimum: 1, accept: ["commit"], released: ["u7"] },
  ],
  revocations: [{ key: "SHA256:a", kind: "compromised" }],
};
const record: TrustRecord = {
  trust: { ...trust, version: 2, digest: "cc" as Digest },
  text: "",
  since: 12 as Sequence,
  from: "f" as Commit,
  first: "f" as Commit,
  by: "anchor",
};
const signed = [
  { path: "trust/sigs/3.a.sig", signer: { kind: "signer", principal: ada, key: "SHA256:b" } as const },
  { path: "trust/sigs/3.b.sig", signer: denied("FLT1202", "nobody's key") },
];
const now = at("2026-11-21T00:00:00Z");

test("a trust file is told whole, for people", () => {
  expect(trustLines({ trust, signed, record, now })).toEqual([
    "version 3, SHA-256 dd",
    "expires 2027-10-01T00:00:00Z",
    "in force: version 2, SHA-256 cc, not this one, since ledger 12, by the operator's anchor",
    "signatures",
    "  trust/sigs/3.a.sig: ada with SHA256:b",
    "  trust/sigs/3.b.sig: does not count: nobody's key",
    "roots: 1 of ada",
    "principals",
    "  ada",
    "    ssh SHA256:a (compromised)",
    "    ssh SHA256:b",
    "    openpgp AB",
    "  forge (machine)",
    "    ssh authority SHA256:c",
    "    github 9",
    "approvals",
    "  placements web shop/*, stages prod: 1 of ada; by commit; own changes as well; within 1h30m",
    "protected targets",
    "  clusters prod-*, namespaces payments: 1 of ada; by commit or forge",
    "  clusters eu-*, namespaces *: 1 of ada; by commit; released from former names: u7",
    "in effect",
    "  placements web shop/*, stages prod: ada has to approve; nobody else may",
    "  protected clusters prod-*, namespaces payments: if ada makes the change, or if nobody signed a part of it, nobody may approve it",
    "  protected clusters eu-*, namespaces *: if ada makes the change, or if nobody signed a part of it, nobody may approve it",
    "revocations",
    "  SHA256:a compromised",
  ]);
});

test("one that has expired says what to do", () => {
  const [, expiry] = trustLines({ trust, signed: [], record: null, now: trust.expires });
  expect(expiry).toBe("expired 2027-10-01T00:00:00Z: no gate opens; flotilla trust add NAME --expires 400d");
});

test("a trust file is told whole, for programs", () => {
  expect(trustValue({ trust, signed, record, now })).toEqual({
    version: 3,
    digest: "dd",
    previous: "cc",
    expires: "2027-10-01T00:00:00Z",
    threshold: 1,
    roots: ["ada"],
    principals: {
      ada: { human: true, keys: ["SHA256:a", "SHA256:b"], authorities: [], openpgp: ["AB"], forge: {} },
      forge: { human: false, keys: [], authorities: ["SHA256:c"], openpgp: [], forge: { github: "9" } },
    },
    approvals: [{ ...trust.approvals[0], maxAge: "1h30m" }],
    protectedTargets: trust.protectedTargets,
    revocations: trust.revocations,
    signatures: [
      { path: "trust/sigs/3.a.sig", principal: "ada", key: "SHA256:b", code: null, because: null },
      { path: "trust/sigs/3.b.sig", principal: null, key: null, code: "FLT1202", because: "nobody's key" },
    ],
    findings: [
      {
        field: "approvals",
        index: 0,
        isHopeless: false,
        message: "placements web shop/*, stages prod: ada has to approve; nobody else may",
      },
      {
        field: "protectedTargets",
        index: 0,
        isHopeless: true,
        message:
          "protected clusters prod-*, namespaces payments: if ada makes the change, or if nobody signed a part of it, nobody may approve it",
      },
      {
        field: "protectedTargets",
        index: 1,
        isHopeless: true,
        message:
          "protected clusters eu-*, namespaces *: if ada makes the change, or if nobody signed a part of it, nobody may approve it",
      },
    ],
    inForce: { version: 2, digest: "cc", since: 12, by: "anchor" },
  });
});
