// I-37: whatever single thing is another, an approval that counted does not count any more, a gate that was open is
// closed, a trust file that was accepted is refused. What is listed as harmless is all that may change.
import { expect, it } from "vitest";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { Trust } from "../../../src/core/model/trust.ts";
import type { DurationMs } from "../../../src/core/model/value.ts";
import { type GateInput, gateVerdict } from "../../../src/core/trust/count.ts";
import { type ApprovalInput, judgeApproval } from "../../../src/core/trust/judge-approval.ts";
import { nextTrust, type TrustChainInput } from "../../../src/core/trust/trust-chain.ts";
import { changesOf, type Instead } from "./one-change.ts";
import {
  approval,
  at,
  blob,
  commit,
  context,
  day,
  digest,
  introducer,
  path,
  rejected,
  rule,
  somebody,
  ssh,
  trust,
} from "./scene.ts";

const otherFacts: readonly SignatureFact[] = [
  { kind: "unsigned" },
  rejected("Mismatch"),
  rejected("Ambiguous"),
  ssh("eve"),
  ssh("bob"),
  ssh("ann", "flotilla-trust-v1"),
  { kind: "openpgp", fingerprint: "E7E", claimedAt: null },
];

const instead: Instead = {
  decision: ["Approve", "Reject", "Revoke"],
  request: [null],
  signature: otherFacts,
  fact: otherFacts,
  kind: [],
  before: [null, blob("9")],
  after: [null, blob("9")],
  parents: [[], [commit("b"), commit("e")]],
  unsignedChanges: ["deny", "oneMore", "allow"],
  accept: [["commit"], ["detached"], ["forge"], []],
  candidate: ["unusable", null],
  current: [null],
  previous: [null, digest("9")],
  revocations: [[{ key: "SHA256:ann", kind: "compromised" }]],
  merge: ["clean", "unclean"],
};

const listed = (...lines: readonly string[]): readonly string[] => lines.flatMap((it) => it.split(" ")).sort();

/** Where something may be another without anything coming of it, in order. */
const harmlessIn = <T>(value: T, holds: (it: T) => boolean): readonly string[] => {
  expect(holds(value)).toBe(true);
  const found = [...changesOf(value, instead)];
  expect(found.length).toBeGreaterThan(50);
  return [...new Set(found.filter((it) => holds(it.value as T)).map((it) => it.at))].sort();
};

/** The smallest context in which an approval counts: everything in it is there for a reason. */
const least = (): ApprovalInput => {
  const ann = somebody("ann", { sshKeys: ["SHA256:ann"], sshAuthorities: [] });
  const bob = somebody("bob", { sshKeys: ["SHA256:bob"], sshAuthorities: [] });
  const principals = new Map([ann, bob].map((it) => [it.name, it]));
  return context({
    trust: trust({ principals, approvals: [rule({ principals: ["ann"], maxAge: day as DurationMs })] }),
  });
};

it("no change of what an approval rests on leaves it counting, but for these", () => {
  expect(harmlessIn(least(), (it) => it.file.decision === "Approve" && judgeApproval(it).kind === "counts")).toEqual(
    listed(
      // Words, and what says nothing about who wrote the file.
      "file.comment introducers[].claimedAuthor introducers[].commit introducers[].parents[] introducers[].merge",
      "introducers[].signature.keyType",
      // The armor of the signature in the file: what it proves is said beside it.
      "file.signature files[].signature",
      // Other files matter only where the commit brings them.
      "files[+] files[-] files[].blob files[].comment files[].decision files[].digest files[].path files[].principal",
      // A little sooner or later, and whatever is in time.
      "now+1 now-1 now-- request.requestedAt+1 request.requestedAt-1 request.requestedAt++",
      "trust.approvals[].maxAge+1 trust.approvals[].maxAge-1 trust.approvals[].maxAge++",
      "trust.expires+1 trust.expires-1 trust.expires++",
      // Others among the authors. How many approvals it takes is for the count.
      "request.authors.principals[+] request.authors.principals[-] request.authors.principals[]",
      "request.authors.unknown+1 request.authors.unknown-1 request.authors.unknown++ request.authors.unknown--",
      "trust.approvals[].minimum+1 trust.approvals[].minimum-1 trust.approvals[].minimum++ trust.approvals[].minimum--",
      // The rule still takes a commit of hers for this stage: asks for less, or for something that is so.
      "trust.approvals[+] trust.approvals[].fourEyes trust.approvals[].unsignedChanges",
      "trust.approvals[].accept trust.approvals[].accept[+] trust.approvals[].accept[-] trust.approvals[].accept[]",
      "trust.approvals[].placements[+] trust.approvals[].stages[+] trust.approvals[].principals[+]",
      // Somebody else, or one more key. That the rule changed makes another request (B 22).
      "trust.principals{-} trust.principals{ann}.sshKeys[+] trust.principals{bob}.isHuman trust.principals{bob}.name",
      "trust.principals{bob}.sshKeys[+] trust.principals{bob}.sshKeys[-] trust.principals{bob}.sshKeys[]",
      // Who may change the trust file, and which one it is: judged when it came into force.
      "trust.digest trust.previous trust.version+1 trust.version-1 trust.version++ trust.version--",
      "trust.roots.principals[+] trust.roots.principals[-] trust.roots.principals[] trust.roots.threshold+1",
      "trust.roots.threshold-1 trust.roots.threshold++ trust.roots.threshold--",
    ),
  );
});

it("no change of what a gate rests on leaves it open, but for these", () => {
  const { file, trust: rules, request } = least();
  const gate: GateInput = {
    digest: digest("d"),
    requestedAt: at(0),
    authors: request?.authors ?? { principals: [], unknown: 0 },
    rules: rules.approvals,
    answers: [{ file, judgement: judgeApproval(least()), order: 1 }],
    trust: { expires: rules.expires, revocations: [] },
    now: at(1),
  };
  expect(harmlessIn(gate, (it) => gateVerdict(it).kind === "approved")).toEqual(
    listed(
      // One more answer that approves, or does not count; words, and where the file is.
      "answers[+] answers[].file.blob answers[].file.comment answers[].file.path answers[].file.signature",
      // A key that is not compromised; one more proof.
      "answers[].judgement.proofs[].key answers[].judgement.proofs[+]",
      // Nobody took anything back: when it was said does not matter.
      "answers[].order++ answers[].order+1 answers[].order-- answers[].order-1",
      // A little sooner or later, and whatever is in time.
      "answers[].judgement.at+1 answers[].judgement.at-1 answers[].judgement.at-- now+1 now-1 now--",
      "requestedAt+1 requestedAt-1 requestedAt++ rules[].maxAge+1 rules[].maxAge-1 rules[].maxAge++",
      "trust.expires+1 trust.expires-1 trust.expires++",
      // Others among the authors. A count below nothing is nothing, and nobody is never enough.
      "authors.principals[+] authors.principals[-] authors.principals[] authors.unknown-1 authors.unknown--",
      "rules[].minimum-1 rules[].minimum--",
      // Which rules match was said before; these ask for less, or for something that is so.
      "rules[+] rules[].fourEyes rules[].unsignedChanges rules[].principals[+]",
      "rules[].accept rules[].accept[+] rules[].accept[-] rules[].accept[]",
      "rules[].placements[+] rules[].placements[-] rules[].placements[]",
      "rules[].stages[+] rules[].stages[-] rules[].stages[]",
    ),
  );
});

it("no change of what a trust file rests on leaves it accepted, but for these", () => {
  const { principals } = least().trust;
  const roots = { principals: ["ann", "bob"], threshold: 2 };
  const current: Trust = trust({ principals, roots, approvals: [] });
  const candidate: Trust = { ...current, version: 2, digest: digest("2"), previous: digest("1") };
  const signed = (name: string) => ({ path: name, fact: ssh(name, "flotilla-trust-v1") });
  const brought = introducer({ changes: [{ path: "trust/root.yaml", before: blob("1"), after: blob("2") }] });
  const chain: TrustChainInput = {
    current,
    candidate,
    anchor: null,
    signatures: [signed("ann"), signed("bob")],
    introducers: [brought],
    now: at(0),
  };
  expect(harmlessIn(chain, (it) => nextTrust(it).kind === "accepted")).toEqual(
    listed(
      // What the next version will have to name; what this one named is over.
      "candidate.digest current.previous",
      // A day sooner or later; a version that has expired may be renewed by its roots.
      "candidate.expires+1 candidate.expires-1 now+1 now-1",
      "current.expires+1 current.expires-1 current.expires++ current.expires--",
      // One more root or key, or fewer that have to sign.
      "candidate.principals{ann}.sshKeys[+] candidate.principals{bob}.sshKeys[+] candidate.roots.principals[+]",
      "current.principals{ann}.sshKeys[+] current.principals{bob}.sshKeys[+] current.roots.principals[+]",
      "candidate.roots.threshold-1 candidate.roots.threshold-- current.roots.threshold-1 current.roots.threshold--",
      // The commit: roots sign the text, whoever carries it.
      "introducers[].signature introducers[].signature.fingerprint introducers[].signature.keyType",
      "introducers[].signature.namespace introducers[].claimedAuthor introducers[].commit introducers[].merge",
      "introducers[].parents introducers[].parents[] introducers[].parents[-] introducers[+]",
      "introducers[].changes[+] introducers[].changes[].before introducers[].changes[].after",
      // One more signature, and where it stands.
      "signatures[+] signatures[].path signatures[].fact.keyType",
    ),
  );
});

it("this test sees a fact that is not looked at", () => {
  const careless = (it: ApprovalInput): boolean => judgeApproval({ ...it, request: least().request }).kind === "counts";
  expect(harmlessIn(least(), careless)).toContain("request.digest");
  expect(path("ann")).toBe(approval().path);
});
