import { describe, expect, it } from "vitest";
import type { CommitFact } from "../../../src/core/model/commit.ts";
import type { ForgeFinding, ForgeReview } from "../../../src/core/model/history.ts";
import type { ApprovalFile, ApprovalRule, ProtectedTarget } from "../../../src/core/model/trust.ts";
import type { denialCodes } from "../../../src/core/trust/denial.ts";
import { type ApprovalInput, judgeApproval, type OpenRequest } from "../../../src/core/trust/judge-approval.ts";
import {
  approval,
  at,
  blob,
  certified,
  commit,
  context,
  day,
  digest,
  hour,
  introducer,
  openpgp,
  path,
  rejected,
  rule,
  somebody,
  ssh,
  trust,
} from "./scene.ts";

const by = (more: Partial<CommitFact>): Partial<ApprovalInput> => ({ introducers: [introducer(more)] });
const asked = (more: Partial<OpenRequest>): Partial<ApprovalInput> => {
  const request = context().request;
  return { request: request === null ? null : { ...request, ...more } };
};
const ruled = (...rules: readonly Partial<ApprovalRule>[]): Partial<ApprovalInput> => ({
  trust: trust({ approvals: rules.map(rule) }),
});
const said = (more: Partial<ApprovalFile>): Partial<ApprovalInput> => ({
  file: approval(more),
  files: [approval(more)],
});
const beside = (name: string, more: Partial<ApprovalFile>, after = blob("e")): Partial<ApprovalInput> => ({
  files: [approval(), approval({ path: path(name), blob: blob("e"), ...more })],
  ...by({
    changes: [
      { path: path("ann"), before: null, after: blob("a") },
      { path: path(name), before: null, after },
    ],
  }),
});
const also = (file: string, before: string | null, after: string | null): Partial<ApprovalInput> =>
  by({
    changes: [
      { path: path("ann"), before: null, after: blob("a") },
      { path: file, before: before === null ? null : blob(before), after: after === null ? null : blob(after) },
    ],
  });
const target = (...principals: readonly string[]): ProtectedTarget => ({
  clusters: ["*"],
  namespaces: ["*"],
  principals,
  minimum: 1,
  accept: ["commit"],
});
const web = openpgp("5DE3");
const by1 = { forge: "github", account: "1", blob: blob("a"), source: "review 9" };
const reviewed = (...reviews: readonly Partial<ForgeReview>[]): ForgeFinding => ({
  kind: "reviewed",
  reviews: reviews.map((it) => ({ ...by1, ...it })),
});
const review = reviewed({});
const detached = ssh("ann", "flotilla-approval-v1");

type Row = readonly [name: string, change: Partial<ApprovalInput>];

describe("an approval counts", () => {
  const proof = (evidence: string, key: string) => ({ evidence, key });
  const rows: readonly (readonly [...Row, proofs: readonly object[]])[] = [
    ["by a commit that its giver signed", {}, [proof("commit", "SHA256:ann")]],
    ["by any of his keys", by({ signature: ssh("ann2") }), [proof("commit", "SHA256:ann2")]],
    [
      "by OpenPGP",
      {
        ...said({ principal: "bob" }),
        ...by({ signature: openpgp("B0B") }),
        ...asked({ authors: { principals: [], unknown: 0 } }),
      },
      [proof("commit", "B0B")],
    ],
    [
      "by a certificate that names him",
      by({ signature: certified("new", ["ann"]) }),
      [proof("commit", "SHA256:new by SHA256:ca")],
    ],
    [
      "by a key that is listed, in a certificate that nobody needs",
      by({ signature: certified("ann", ["ann"]) }),
      [proof("commit", "SHA256:ann")],
    ],
    [
      "by a certificate without an end",
      by({ signature: certified("new", ["ann"], -day, null) }),
      [proof("commit", "SHA256:new by SHA256:ca")],
    ],
    [
      "by a signature in the file, from an unsigned squash (2.4.1)",
      { detached, ...by({ signature: { kind: "unsigned" } }) },
      [proof("detached", "SHA256:ann")],
    ],
    [
      "by a signature in the file, from a commit of the forge (T-13)",
      { detached, ...by({ signature: web }) },
      [proof("detached", "SHA256:ann")],
    ],
    [
      "by a signature in the file, beside anything",
      { detached, ...also("resources/web.yaml", "1", "2") },
      [proof("detached", "SHA256:ann")],
    ],
    ["by both", { detached }, [proof("commit", "SHA256:ann"), proof("detached", "SHA256:ann")]],
    [
      "by a review where the rule accepts that",
      { review, ...by({ signature: web }), ...ruled({ accept: ["forge"] }) },
      [{ ...proof("forge", "github:1"), source: "review 9" }],
    ],
    [
      "by one of several reviews",
      {
        review: reviewed({ account: "7" }, { source: "review 10" }),
        ...by({ signature: web }),
        ...ruled({ accept: ["forge"] }),
      },
      [{ ...proof("forge", "github:1"), source: "review 10" }],
    ],
    [
      "by a signature, whatever the forge says",
      { review: { kind: "none", because: "nobody approved it" } },
      [proof("commit", "SHA256:ann")],
    ],
    ["beside another answer of the same person", beside("ann-2", {}), [proof("commit", "SHA256:ann")]],
    ["when one of two rules takes it", ruled({ principals: ["bob"] }, {}), [proof("commit", "SHA256:ann")]],
    [
      "D-17: of a change without a stage, by whom protection names",
      {
        ...said({ principal: "dave" }),
        ...by({ signature: ssh("dave") }),
        ...asked({ stage: null, targets: [target("dave")] }),
      },
      [proof("commit", "SHA256:dave")],
    ],
    [
      "D-17: by whom protection names, though the stage does not",
      { ...said({ principal: "dave" }), ...by({ signature: ssh("dave") }), ...asked({ targets: [target("dave")] }) },
      [proof("commit", "SHA256:dave")],
    ],
    ["at the last moment", { now: at(day) }, [proof("commit", "SHA256:ann")]],
    [
      "where four eyes are not asked for",
      { ...ruled({ fourEyes: false }), ...asked({ authors: { principals: ["ann"], unknown: 3 } }) },
      [proof("commit", "SHA256:ann")],
    ],
    [
      "when it rejects a change of one's own",
      { ...said({ decision: "Reject" }), ...asked({ authors: { principals: ["ann"], unknown: 0 } }) },
      [proof("commit", "SHA256:ann")],
    ],
    [
      "when it rejects, however late",
      { ...said({ decision: "Reject" }), now: at(9 * day) },
      [proof("commit", "SHA256:ann")],
    ],
    [
      "when it revokes, however late",
      { ...said({ decision: "Revoke" }), now: at(9 * day) },
      [proof("commit", "SHA256:ann")],
    ],
  ];
  for (const [name, change, proofs] of rows)
    it(name, () => {
      const it = context(change);
      expect(judgeApproval(it)).toEqual({ kind: "counts", principal: it.file.principal, proofs, at: it.now });
    });
});

describe("an approval is denied", () => {
  const rows: readonly (readonly [...Row, code: keyof typeof denialCodes, because: RegExp])[] = [
    ["B-50, T-02, T-04: no request is open", { request: null }, "FLT1201", /no request that is open/],
    [
      "B-51, T-01, T-03: it names another request",
      asked({ digest: digest("e") }),
      "FLT1201",
      /no request that is open/,
    ],
    ["B-52: the key is in no trust file", by({ signature: ssh("eve") }), "FLT1202", /SHA256:eve.*lists for nobody/],
    ["B-52: OpenPGP, of nobody", by({ signature: openpgp("E7E") }), "FLT1202", /E7E/],
    ["B-52: no certificate given made it", by({ signature: rejected("UnknownKey") }), "FLT1202", /so it is/],
    [
      "T-08: the key came with the approval",
      { ...said({ principal: "zoe" }), ...by({ signature: ssh("zoe") }) },
      "FLT1202",
      /SHA256:zoe/,
    ],
    [
      "B-53: retired",
      { trust: trust({ revocations: [{ key: "SHA256:ann", kind: "retired" }] }) },
      "FLT1203",
      /retired/,
    ],
    [
      "B-53: compromised",
      { trust: trust({ revocations: [{ key: "SHA256:ann", kind: "compromised" }] }) },
      "FLT1203",
      /compromised/,
    ],
    [
      "B-53: an authority that is revoked",
      {
        ...by({ signature: certified("new", ["ann"]) }),
        trust: trust({ revocations: [{ key: "SHA256:ca", kind: "retired" }] }),
      },
      "FLT1203",
      /SHA256:ca/,
    ],
    [
      "B-53, B-54, T-14: a certificate that is over",
      by({ signature: certified("new", ["ann"], -day, 0) }),
      "FLT1203",
      /was valid until/,
    ],
    [
      "B-53: a certificate that is over right now",
      by({ signature: certified("new", ["ann"], -day, hour) }),
      "FLT1203",
      /was valid until/,
    ],
    [
      "B-53: a certificate that is not valid yet",
      by({ signature: certified("new", ["ann"], day, 2 * day) }),
      "FLT1203",
      /only from/,
    ],
    ["B-53: OpenPGP that has expired", by({ signature: rejected("Expired") }), "FLT1203", /so it is/],
    ["B-53: OpenPGP that is revoked", by({ signature: rejected("Revoked") }), "FLT1203", /so it is/],
    ["a certificate for nobody by name", by({ signature: certified("new", []) }), "FLT1202", /names/],
    ["a certificate for several", by({ signature: certified("new", ["ann", "bob"]) }), "FLT1202", /several/],
    [
      "a certificate of an authority that is not listed for him",
      {
        ...by({ signature: certified("new", ["ann"]) }),
        trust: trust({ principals: new Map([["ann", somebody("ann", { sshAuthorities: [] })]]) }),
      },
      "FLT1202",
      /certificate/,
    ],
    [
      "B-55: signed by somebody else",
      by({ signature: ssh("carol") }),
      "FLT1204",
      /speaks for ann and is signed by carol/,
    ],
    ["B-55: a name that nobody has", said({ principal: "anne" }), "FLT1204", /speaks for anne/],
    [
      "B-56, T-06: four eyes",
      asked({ authors: { principals: ["ann"], unknown: 0 } }),
      "FLT1205",
      /ann signed a change/,
    ],
    [
      "T-06: four eyes, by his other key",
      { ...by({ signature: ssh("ann2") }), ...asked({ authors: { principals: ["ann"], unknown: 0 } }) },
      "FLT1205",
      /ann signed a change/,
    ],
    [
      "T-07: four eyes, where unsigned changes deny",
      { ...ruled({ unsignedChanges: "deny" }), ...asked({ authors: { principals: [], unknown: 2 } }) },
      "FLT1205",
      /2 of the changes/,
    ],
    ["B-58: the commit changes a manifest", also("resources/web.yaml", "1", "2"), "FLT1207", /resources\/web.yaml/],
    ["B-58, T-08: the commit changes trust", also("trust/root.yaml", "1", "2"), "FLT1207", /trust\/root.yaml/],
    ["the commit removes an approval", also(path("old"), "1", null), "FLT1207", /changes or removes/],
    ["the commit changes an approval", also(path("old"), "1", "2"), "FLT1207", /changes or removes/],
    ["B-58, T-19: the commit adds one of somebody else", beside("bob", { principal: "bob" }), "FLT1207", /of bob/],
    [
      "the commit adds something unknown under approvals/",
      also("approvals/notes.txt", null, "1"),
      "FLT1207",
      /no approval now/,
    ],
    [
      "the commit adds a confirmation of deletions",
      also("approvals/deletions/x.yaml", null, "1"),
      "FLT1207",
      /no approval now/,
    ],
    [
      "the commit's other file is not the one that is there now",
      beside("ann-2", {}, blob("f")),
      "FLT1207",
      /no approval now/,
    ],
    ["the first commit of all", by({ parents: [] }), "FLT1207", /no parent/],
    [
      "B-59, T-11: a merge brings it",
      by({ parents: [commit("a"), commit("b")], merge: "unclean" }),
      "FLT1208",
      /merge cccc/,
    ],
    [
      "B-59: a merge brings it, whatever it says in itself",
      { detached, ...by({ parents: [commit("a"), commit("b")], merge: "unclean" }) },
      "FLT1208",
      /merge cccc/,
    ],
    [
      "B-59: a merge brings it as well",
      { introducers: [introducer(), introducer({ parents: [commit("a"), commit("b")] })] },
      "FLT1208",
      /merge cccc/,
    ],
    ["B-60, T-13: the forge signed", by({ signature: web }), "FLT1209", /no person/],
    ["B-61: squashed without a signature", by({ signature: { kind: "unsigned" } }), "FLT1209", /no signature/],
    [
      "B-61: and the file's signature is none",
      { detached: { kind: "unsigned" }, ...by({ signature: { kind: "unsigned" } }) },
      "FLT1209",
      /no signature/,
    ],
    [
      "B-62, T-18: the file's signature is one of a commit",
      { detached: ssh("ann", "git") },
      "FLT1210",
      /made for "git"/,
    ],
    [
      "B-62, T-18: the file's signature is one of a file",
      { detached: ssh("ann", "file") },
      "FLT1210",
      /made for "file"/,
    ],
    [
      "T-18: the commit's signature is one of a file",
      by({ signature: ssh("ann", "file") }),
      "FLT1210",
      /not for "git"/,
    ],
    ["T-18: the commit's signature is one of an approval", by({ signature: detached }), "FLT1210", /not for "git"/],
    ["T-18: a root's signature", by({ signature: ssh("ann", "flotilla-trust-v1") }), "FLT1210", /not for "git"/],
    ["T-18: the namespace in other letters", by({ signature: ssh("ann", "Git") }), "FLT1210", /not for "git"/],
    [
      "B-63, T-05: it was changed",
      by({ changes: [{ path: path("ann"), before: blob("9"), after: blob("a") }] }),
      "FLT1211",
      /written once/,
    ],
    [
      "B-63, T-05: it was put there again",
      { introducers: [introducer(), introducer({ commit: commit("e") })] },
      "FLT1211",
      /more than once/,
    ],
    [
      "B-63, T-05: the same, whatever it says in itself",
      { detached, introducers: [introducer(), introducer({ commit: commit("e") })] },
      "FLT1211",
      /more than once/,
    ],
    [
      "the commit adds another text",
      by({ changes: [{ path: path("ann"), before: null, after: blob("9") }] }),
      "FLT1211",
      /as it is now/,
    ],
    ["the commit does not add it", by({ changes: [] }), "FLT1211", /as it is now/],
    ["nobody knows the commit", { introducers: [] }, "FLT1211", /no commit is known/],
    [
      "somebody who may not",
      { ...said({ principal: "dave" }), ...by({ signature: ssh("dave") }) },
      "FLT1214",
      /dave may not approve/,
    ],
    [
      "somebody who may not, rejecting",
      { ...said({ principal: "dave", decision: "Reject" }), ...by({ signature: ssh("dave") }) },
      "FLT1214",
      /dave may not approve/,
    ],
    ["no rule where no stage is meant", asked({ stage: null }), "FLT1214", /a change of web/],
    [
      "somebody who may approve another protected target",
      {
        ...said({ principal: "dave" }),
        ...by({ signature: ssh("dave") }),
        ...asked({ stage: null, targets: [target("ann")] }),
      },
      "FLT1214",
      /dave may not approve/,
    ],
    [
      "T-32: an author, under protection, whatever the rules say",
      {
        ...ruled({ fourEyes: false, principals: ["bob"] }),
        ...asked({ authors: { principals: ["ann"], unknown: 0 }, targets: [target("ann")] }),
      },
      "FLT1205",
      /ann signed a change/,
    ],
    ["no rule for the stage", asked({ stage: "canary" }), "FLT1214", /no rule/],
    [
      "no rule for the stage, though it reaches what ann may let pass",
      asked({ stage: "canary", targets: [target("ann")] }),
      "FLT1214",
      /no rule/,
    ],
    ["no rule for the placement", asked({ placement: "webby" }), "FLT1214", /no rule/],
    ["too late", { now: at(day + 1) }, "FLT1215", /too long/],
    ["trust that has expired", { trust: trust({ expires: at(hour) }) }, "FLT1216", /expired/],
    [
      "trust that has expired, rejecting",
      { ...said({ decision: "Reject" }), trust: trust({ expires: at(0) }) },
      "FLT1216",
      /expired/,
    ],
    ["a signature that is damaged", by({ signature: rejected("Malformed") }), "FLT1217", /so it is/],
    ["a signature over something else", by({ signature: rejected("Mismatch") }), "FLT1217", /so it is/],
    ["a weak signature", by({ signature: rejected("Weak") }), "FLT1217", /so it is/],
    ["a signature of an unknown kind", by({ signature: rejected("Unsupported") }), "FLT1217", /so it is/],
    ["two signatures (rule 13)", by({ signature: rejected("Ambiguous") }), "FLT1217", /so it is/],
    [
      "the file's signature is damaged, the commit's is fine",
      { detached: rejected("Mismatch") },
      "FLT1217",
      /so it is/,
    ],
    ["the file's signature is somebody else's", { detached: ssh("bob", "flotilla-approval-v1") }, "FLT1204", /bob/],
    [
      "T-13: a machine that names itself",
      { ...said({ principal: "web-flow" }), ...by({ signature: web }) },
      "FLT1218",
      /people alone/,
    ],
    [
      "a commit where the rule wants a signature in the file",
      ruled({ accept: ["detached"] }),
      "FLT1219",
      /given as commit/,
    ],
    ["a review where the rule does not accept one", { review, ...by({ signature: web }) }, "FLT1219", /given as forge/],
    [
      "a review of another text",
      { review: reviewed({ blob: blob("9") }), ...by({ signature: web }) },
      "FLT1211",
      /reviewed/,
    ],
    [
      "a review by an unknown account",
      { review: reviewed({ account: "2" }), ...by({ signature: web }) },
      "FLT1202",
      /github:2/,
    ],
    [
      "a review on another forge",
      { review: reviewed({ forge: "gitlab" }), ...by({ signature: web }) },
      "FLT1202",
      /gitlab:1/,
    ],
    [
      "T-06: a review by the one who made the change",
      {
        review,
        ...by({ signature: web }),
        ...ruled({ accept: ["forge"] }),
        ...asked({ authors: { principals: ["ann"], unknown: 0 } }),
      },
      "FLT1205",
      /ann signed a change/,
    ],
    [
      "a review in somebody else's name",
      { review, ...said({ principal: "bob" }), ...by({ signature: web }), ...ruled({ accept: ["forge"] }) },
      "FLT1204",
      /speaks for bob and is reviewed by ann/,
    ],
    [
      "a review that is none, with why",
      {
        review: { kind: "none", because: "nobody approved it" },
        ...by({ signature: web }),
        ...ruled({ accept: ["forge"] }),
      },
      "FLT1209",
      /no person.*no review counts: nobody approved it/,
    ],
    [
      "somebody whose account nobody knows",
      { ...said({ principal: "bob" }), ...by({ signature: web }), ...ruled({ accept: ["forge"] }) },
      "FLT1209",
      /lists no account of bob/,
    ],
  ];
  for (const [name, change, code, because] of rows)
    it(name, () => {
      const judgement = judgeApproval(context(change));
      expect(judgement).toMatchObject({ kind: "denied", code });
      expect(judgement.kind === "denied" ? judgement.because : "").toMatch(because);
    });

  it("for reasons that each have a code, a line of words, and no end of it", () => {
    const denials = rows.map(([, change]) => judgeApproval(context(change)));
    const texts = denials.flatMap((it) => (it.kind === "denied" ? [it.because] : []));
    expect(texts.filter((it) => it.length > 300 || /[\n.]$|^[A-Z]/.test(it))).toEqual([]);
  });
});

it("rules of several stages and placements are found by name or by a beginning, and only so", () => {
  const patterns = [["*"], ["we*"], ["web"], ["web*"]];
  for (const placements of patterns) expect(judgeApproval(context(ruled({ placements }))).kind).toBe("counts");
  for (const placements of [["w"], ["web-*"], ["eb"], ["*eb"], ["w.b"], [""]])
    expect(judgeApproval(context(ruled({ placements })))).toMatchObject({ kind: "denied", code: "FLT1214" });
});
