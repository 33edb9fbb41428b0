import { describe, expect, it } from "vitest";
import type { DetachedSignature, Trust } from "../../../src/core/model/trust.ts";
import { nextTrust, type TrustChainInput } from "../../../src/core/trust/trust-chain.ts";
import {
  at,
  blob,
  certified,
  commit,
  day,
  digest,
  introducer,
  openpgp,
  rejected,
  somebody,
  ssh,
  trust,
} from "./scene.ts";

const signed = (...keys: readonly string[]): readonly DetachedSignature[] =>
  keys.map((it) => ({ path: `trust/sigs/2.${it}.sig`, fact: ssh(it, "flotilla-trust-v1") }));
const second = (more: Partial<Trust> = {}): Trust =>
  trust({ version: 2, digest: digest("2"), previous: digest("1"), ...more });
const brought = (more: Parameters<typeof introducer>[0] = {}) =>
  introducer({ changes: [{ path: "trust/root.yaml", before: blob("1"), after: blob("2") }], ...more });

/** Version 2 follows version 1, signed by two of three roots: all is well. */
const context = (more: Partial<TrustChainInput> = {}): TrustChainInput => ({
  current: trust(),
  anchor: digest("1"),
  candidate: second(),
  signatures: signed("ann", "bob"),
  introducers: [brought()],
  now: at(0),
  ...more,
});
const first = (more: Partial<TrustChainInput> = {}): TrustChainInput =>
  context({ current: null, candidate: trust(), ...more });
const withRoots = (threshold: number, ...principals: readonly string[]) => ({ roots: { principals, threshold } });

describe("a trust file comes into force", () => {
  it("the first time, when the anchor is its digest, whoever signed it", () => {
    expect(nextTrust(first({ signatures: [], introducers: [] }))).toEqual({
      kind: "accepted",
      trust: trust(),
      by: "anchor",
    });
  });

  it("the first time at a later version, when the anchor is its digest", () => {
    const candidate = second();
    expect(nextTrust(first({ candidate, anchor: digest("2"), signatures: [] })).kind).toBe("accepted");
  });

  it("as the next version, signed by enough of the roots of both", () => {
    expect(nextTrust(context())).toEqual({ kind: "accepted", trust: second(), by: ["ann", "bob"] });
  });

  const fine: readonly (readonly [name: string, change: Partial<TrustChainInput>])[] = [
    [
      "with other signatures beside enough good ones",
      { signatures: [...signed("ann", "eve", "bob"), { path: "x", fact: rejected("Mismatch") }] },
    ],
    ["with OpenPGP and a certificate", { signatures: [{ path: "b", fact: openpgp("B0B") }, ...signed("carol")] }],
    ["without an anchor, once one was accepted", { anchor: null }],
    [
      "with other files under trust/",
      {
        introducers: [
          brought({
            changes: [{ path: "trust/sigs/2.ann.sig", before: null, after: blob("3") }, ...brought().changes],
          }),
        ],
      },
    ],
    [
      "of which the roots of both signed, though they are different ones",
      { current: trust(withRoots(1, "ann")), candidate: second(withRoots(1, "bob")) },
    ],
    [
      "by a new anchor, where nobody can sign any more",
      { anchor: digest("2"), signatures: [], candidate: second({ version: 9, previous: digest("8") }) },
    ],
  ];
  for (const [name, change] of fine)
    it(name, () => {
      expect(nextTrust(context(change)).kind).toBe("accepted");
    });

  it("and stays, as long as it does not change", () => {
    expect(nextTrust(context({ candidate: trust(), signatures: [], now: at(999 * day) }))).toEqual({
      kind: "kept",
      trust: trust(),
    });
  });

  it("and is none where nobody set one up", () => {
    expect(nextTrust(first({ candidate: null, anchor: null }))).toEqual({ kind: "kept", trust: null });
  });
});

describe("a trust file is refused (T-09; B-66)", () => {
  const rows: readonly (readonly [name: string, context: TrustChainInput, code: string, because: RegExp])[] = [
    [
      "unreadable: restore what was accepted",
      context({ candidate: "unusable" }),
      "FLT1221",
      /restore version 1, whose SHA-256 is 1{64}/,
    ],
    ["deleted: restore what was accepted", context({ candidate: null }), "FLT1221", /not there; restore version 1/],
    ["unreadable from the first on", first({ candidate: "unusable" }), "FLT1221", /trust anchor/],
    ["missing although there is an anchor", first({ candidate: null }), "FLT1221", /trust anchor/],
    ["no anchor: says which to give", first({ anchor: null }), "FLT1235", /--trust-anchor 1{64}/],
    ["another anchor", first({ anchor: digest("7") }), "FLT1235", /trust anchor is 7{64}/],
    [
      "enough roots signed, but no anchor",
      first({ anchor: null, signatures: signed("ann", "bob", "carol") }),
      "FLT1235",
      /nobody vouches/,
    ],
    [
      "the same version with another text",
      context({ candidate: second({ version: 1 }) }),
      "FLT1220",
      /another text of version 1/,
    ],
    [
      "back to an earlier version (CVE-2026-44544)",
      context({ current: second(), candidate: trust() }),
      "FLT1220",
      /goes back to version 1/,
    ],
    [
      "back to an earlier version that is the anchor",
      context({
        current: second(),
        candidate: trust(),
        anchor: digest("1"),
        signatures: signed("ann", "bob", "carol"),
      }),
      "FLT1220",
      /goes back/,
    ],
    ["a version is left out", context({ candidate: second({ version: 3 }) }), "FLT1220", /the next one is 2/],
    [
      "it follows another text",
      context({ candidate: second({ previous: digest("9") }) }),
      "FLT1220",
      /names another version/,
    ],
    ["it follows nothing", context({ candidate: second({ previous: null }) }), "FLT1220", /names another version/],
    [
      "nobody signed",
      context({ signatures: [] }),
      "FLT1222",
      /0 of the 2 roots .*\(nobody\); it needs the signature of ann, bob, carol/,
    ],
    [
      "one signed too few",
      context({ signatures: signed("ann") }),
      "FLT1222",
      /1 of the 2 roots .*\(ann\); .* bob, carol/,
    ],
    ["one signed twice", context({ signatures: signed("ann", "ann") }), "FLT1222", /1 of the 2/],
    ["one signed with both keys", context({ signatures: signed("ann", "ann2") }), "FLT1222", /1 of the 2/],
    ["one is no root", context({ signatures: signed("ann", "dave") }), "FLT1222", /1 of the 2/],
    ["one key is nobody's", context({ signatures: signed("ann", "eve") }), "FLT1222", /1 of the 2/],
    [
      "one signature does not verify",
      context({ signatures: [...signed("ann"), { path: "b", fact: rejected("Mismatch") }] }),
      "FLT1222",
      /1 of the 2/,
    ],
    [
      "T-18: one was made for commits",
      context({ signatures: [...signed("ann"), { path: "b", fact: ssh("bob", "git") }] }),
      "FLT1222",
      /1 of the 2/,
    ],
    [
      "T-18: one was made for approvals",
      context({ signatures: [...signed("ann"), { path: "b", fact: ssh("bob", "flotilla-approval-v1") }] }),
      "FLT1222",
      /1 of the 2/,
    ],
    [
      "a certificate that is over",
      context({ signatures: [...signed("ann"), { path: "b", fact: certified("x", ["bob"], -day, 0) }] }),
      "FLT1222",
      /1 of the 2/,
    ],
    [
      "a key that was revoked before",
      context({ current: trust({ revocations: [{ key: "SHA256:bob", kind: "retired" }] }) }),
      "FLT1222",
      /1 of the 2/,
    ],
    [
      "a key that this version revokes",
      context({ candidate: second({ revocations: [{ key: "SHA256:bob", kind: "compromised" }] }) }),
      "FLT1222",
      /1 of the 2/,
    ],
    [
      "T-08: roots that it adds itself",
      context({ candidate: second(withRoots(2, "ann", "dave")), signatures: signed("ann", "dave") }),
      "FLT1222",
      /version 1 asks for/,
    ],
    [
      "T-08: a key that it adds itself",
      context({
        candidate: second({
          principals: new Map([...second().principals, ["bob", somebody("bob", { sshKeys: ["SHA256:eve"] })]]),
        }),
        signatures: signed("ann", "eve"),
      }),
      "FLT1222",
      /version 1 asks for/,
    ],
    [
      "too few of its own roots",
      context({ candidate: second(withRoots(3, "ann", "bob", "carol")) }),
      "FLT1222",
      /2 of the 3 roots that version 2/,
    ],
    [
      "its own roots are others",
      context({ candidate: second(withRoots(2, "carol", "dave")) }),
      "FLT1222",
      /0 of the 2 roots that version 2/,
    ],
    [
      "a lower threshold by too few",
      context({ candidate: second(withRoots(1, "ann")), signatures: signed("ann") }),
      "FLT1222",
      /version 1 asks for/,
    ],
    ["it has expired", context({ candidate: second({ expires: at(0) }) }), "FLT1225", /which is over/],
    [
      "it expires in three years",
      context({ candidate: second({ expires: at(3 * 365 * day) }) }),
      "FLT1225",
      /two years/,
    ],
    ["the first one has expired, anchor or not", first({ now: at(301 * day) }), "FLT1225", /which is over/],
    [
      "T-08: the commit changes something else",
      context({
        introducers: [
          brought({ changes: [...brought().changes, { path: "approvals/a.yaml", before: null, after: blob("a") }] }),
        ],
      }),
      "FLT1236",
      /changes trust\/ and approvals\/a.yaml/,
    ],
    [
      "one of two commits changes something else",
      context({
        introducers: [
          brought(),
          brought({
            commit: commit("e"),
            changes: [...brought().changes, { path: "web.yaml", before: null, after: null }],
          }),
        ],
      }),
      "FLT1236",
      /commit eeee/,
    ],
    [
      "T-11: a merge brings it",
      context({ introducers: [brought({ parents: [commit("a"), commit("b")], merge: "unclean" })] }),
      "FLT1236",
      /merge cccc/,
    ],
    ["nobody knows the commit", context({ introducers: [] }), "FLT1236", /nobody knows/],
  ];
  for (const [name, at, code, because] of rows)
    it(name, () => {
      const next = nextTrust(at);
      expect(next).toMatchObject({ kind: "refused", denial: { kind: "denied", code } });
      expect(next.kind === "refused" ? next.denial.because : "").toMatch(because);
    });
});
