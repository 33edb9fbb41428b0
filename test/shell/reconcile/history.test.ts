import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { signedApproval } from "../../../src/core/intent/kinds/approval.ts";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import { type History, noHistory } from "../../../src/core/model/history.ts";
import type { AnswerRecord, ApprovalFile } from "../../../src/core/model/trust.ts";
import { type BlobId, type Commit, type Digest, later, minutes } from "../../../src/core/model/value.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { certificateOf, gpgSigner, hasGpg, hasSshKeygen } from "../signature/workshop.ts";
import { fingerprintOf, inForce, noon, type SignedHub, signedHub, trustText } from "./signed-hub.ts";

const runText = `apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterStagedUpdateRun
metadata: {name: first}
spec: {placementName: web, stagedRolloutStrategyName: rings, state: Run}
`;
const digest = "ab".repeat(32) as Digest;

/** `ssh:git`, `unsigned`, `rejected:UnknownKey`. */
function inShort(fact: SignatureFact): string {
  if (fact.kind === "ssh") return `ssh:${fact.namespace}`;
  return fact.kind === "rejected" ? `rejected:${fact.code}` : fact.kind;
}

const commitsIn = ({ commits }: History): readonly (readonly [string, string])[] =>
  [...commits].map(([id, { signature }]) => [id, inShort(signature)]);

describe.skipIf(!hasSshKeygen)("the history of a source branch", () => {
  let hub: SignedHub;
  let base: Commit;
  beforeAll(async () => {
    hub = await signedHub();
    base = hub.push(null, { "fleet.yaml": "apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {}\n" });
  });
  beforeEach(() => {
    hub.workshop.git("reset", "-q", "--hard", base);
    hub.asked.length = 0;
  });
  afterAll(() => hub.close());
  const trusted = (sourceCommit = base) => ({ sourceCommit, trust: inForce(trustText(hub), base) });
  const paths = ({ commits }: History): readonly string[] =>
    [...commits.values()].flatMap((it) => it.changes.map(({ path }) => path));

  it("is not looked at where nobody set up who may approve", async () => {
    const head = hub.push(hub.ann, { "web/space.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n" });
    expect(await hub.look({ ledger: { sourceCommit: base } })).toEqual(noHistory(head));
    expect(hub.asked).toEqual([]);
  });

  it.each(["a trust file", "another file under trust/", "a trust file in force", "an anchor"])(
    "is looked at where there is %s",
    async (why) => {
      if (why === "a trust file") hub.push(null, { "trust/root.yaml": trustText(hub) });
      else hub.push(null, { [why === "another file under trust/" ? "trust/x" : "x"]: "x" });
      const ledger = why === "a trust file in force" ? trusted() : { sourceCommit: base };
      expect((await hub.look({ ledger, anchor: why === "an anchor" ? digest : null })).news).toHaveLength(1);
    },
  );

  it("says of all that is beyond the accepted commit who signed it and what it changed", async () => {
    const first = hub.push(hub.ann, { "trust/root.yaml": trustText(hub) });
    const second = hub.push(hub.bob, { "approvals/a.yaml": "a: 1\n", "web/b.yaml": "b: 1\n" });
    const third = hub.push(null, {});
    const seen = await hub.look({ ledger: { sourceCommit: base } });
    expect({ head: seen.head, news: seen.news, gap: seen.gap }).toEqual({
      head: third,
      news: [first, second, third],
      gap: null,
    });
    expect(commitsIn(seen)).toEqual([
      [first, "ssh:git"],
      [second, "ssh:git"],
      [third, "unsigned"],
    ]);
    expect(paths(seen)).toEqual(["trust/root.yaml", "approvals/a.yaml", "web/b.yaml"]);
    expect(seen.commits.get(second)).toMatchObject({
      parents: [first],
      claimedAuthor: "Anna Łęcka <anna@example.com>",
      signature: { fingerprint: fingerprintOf(hub, hub.bob) },
    });
  });

  it("is whole where nothing was accepted yet, and empty where everything was", async () => {
    const head = hub.push(hub.ann, { "trust/root.yaml": trustText(hub) });
    expect((await hub.look()).news).toEqual([base, head]);
    expect(await hub.look({ ledger: trusted(head) })).toEqual({ ...noHistory(head), beyond: new Set([head]) });
  });

  it("is told from the head of the branch, although the intent is named by an older commit", async () => {
    hub.push(hub.ann, { "trust/root.yaml": trustText(hub) });
    const head = hub.push(hub.ann, { "notes.md": "nobody reads it" });
    expect((await hub.look({ ledger: trusted() })).head).toBe(head);
  });

  it("goes back to where a decision looks, and only the accepted commit bounds what is new", async () => {
    const trust = hub.push(hub.ann, { "trust/root.yaml": trustText(hub) });
    const accepted = hub.push(hub.bob, { "web/b.yaml": "b: 1\n" });
    const head = hub.push(hub.ann, { "runs/first.yaml": runText });
    const seen = await hub.look({ ledger: { sourceCommit: accepted, trust: inForce(trustText(hub), trust) } });
    expect(seen.news).toEqual([head]);
    expect([...seen.commits.keys()].sort()).toEqual([accepted, head].sort());
  });

  it("is the same (===) while nothing changed, and nobody is asked", async () => {
    hub.push(hub.ann, { "trust/root.yaml": trustText(hub) });
    const about = { ledger: trusted(), memory: newMemory() };
    const seen = await hub.look(about);
    hub.asked.length = 0;
    expect(await hub.look(about)).toBe(seen);
    expect(hub.asked).toEqual([]);
  });

  it("costs what is new, and is what a process finds that has just begun", async () => {
    const memory = newMemory();
    const before = hub.push(hub.ann, { "trust/root.yaml": trustText(hub), "runs/first.yaml": runText });
    await hub.look({ ledger: trusted(), memory });
    const head = hub.push(hub.bob, { "web/b.yaml": "b: 1\n" });
    for (const sourceCommit of [base, before]) {
      hub.asked.length = 0;
      const remembered = await hub.look({ ledger: trusted(sourceCommit), memory });
      expect(hub.asked.filter((it) => it.startsWith("commit"))).toEqual(
        sourceCommit === base ? [`commit ${head}`] : [],
      );
      if (sourceCommit === base) expect(hub.asked[0]).toBe(`history ${head} ${before}`);
      expect(remembered).toEqual(await hub.look({ ledger: trusted(sourceCommit) }));
    }
  });

  it("is all that there is, after a rewrite that an operator accepted", async () => {
    const old = hub.push(hub.ann, { "trust/root.yaml": trustText(hub) });
    const memory = newMemory();
    await hub.look({ ledger: trusted(old), memory });
    hub.workshop.git("reset", "-q", "--hard", base);
    const head = hub.push(hub.bob, { "web/b.yaml": "b: 1\n" });
    const settings = { acceptRewrite: { from: old, to: head } };
    for (const it of [memory, newMemory()])
      expect((await hub.look({ ledger: trusted(old), settings, memory: it })).news).toEqual([base, head]);
  });

  it("is not looked at while the head is held back, even where what was accepted is nowhere any more", async () => {
    hub.push(hub.bob, { "web/b.yaml": "b: 1\n" });
    const gone = "0123456789".repeat(4) as Commit;
    expect(await hub.look({ ledger: trusted(gone) })).toEqual({
      ...noHistory(gone),
      gap:
        "the source branch is held back: its commits are not read, so approvals in them do not count " +
        "and the authors of changes are unknown",
    });
  });

  it("has a gap where there are too many commits, and what is near is known nevertheless", async () => {
    const line = (it: number): string =>
      `commit refs/heads/main\ncommitter a <a@b> ${1_700_000_000 + it} +0000\ndata 0\n${it === 0 ? `from ${base}\n` : ""}`;
    const many = Array.from({ length: 10_001 }, (_, it) => line(it));
    hub.workshop.run("git", ["fast-import", "--quiet", "--force"], many.join(""));
    hub.workshop.git("reset", "-q", "--hard");
    const accepted = hub.workshop.git("rev-parse", "HEAD") as Commit;
    const head = hub.push(hub.ann, { "runs/first.yaml": runText });
    const seen = await hub.look({ ledger: trusted(accepted) });
    expect([seen.news, [...seen.commits.keys()]]).toEqual([[head], [head]]);
    expect(seen.gap).toBe(
      `there are more than 10000 commits between ${base.slice(0, 7)} and ${head.slice(0, 7)}: they are not read, ` +
        "so approvals in them do not count and the authors of changes are unknown",
    );
  });

  it("tells who signed the trust file, over its exact bytes, under the version that it has", async () => {
    const text = `# ŁĘ\n${trustText(hub)}`;
    const by = (namespace: string, what = text): string => hub.sign(hub.ann, namespace, what);
    hub.push(null, {
      "trust/root.yaml": text,
      "trust/sigs/1.b.sig": by("flotilla-trust-v1"),
      "trust/sigs/1.a.sig": by("flotilla-trust-v1", `${text}\n`),
      "trust/sigs/1.junk": "junk",
      "trust/sigs/1.long": "x".repeat(16 * 1024 + 1),
      "trust/sigs/2.a.sig": by("flotilla-trust-v1"),
      "trust/sigs/10.a.sig": by("flotilla-trust-v1"),
    });
    const seen = await hub.look();
    expect(seen.trustSignatures.map(({ path, fact }) => [path, inShort(fact)])).toEqual([
      ["trust/sigs/1.a.sig", "rejected:Mismatch"],
      ["trust/sigs/1.b.sig", "ssh:flotilla-trust-v1"],
      ["trust/sigs/1.junk", "rejected:Malformed"],
      ["trust/sigs/1.long", "rejected:Malformed"],
    ]);
  });

  it("tells who signed inside of an approval, as long as that was not judged", async () => {
    const said = { digest, decision: "Approve", principal: "ann", comment: "" } as const;
    const signature = hub.sign(hub.ann, "flotilla-approval-v1", signedApproval(said));
    const approval = (more: string): string =>
      `apiVersion: flotilla.dev/v1alpha1\nkind: Approval\nspec: {requestDigest: ${digest}, decision: Approve, principal: ${more}}\n`;
    hub.push(null, {
      "trust/root.yaml": trustText(hub),
      "approvals/ann.yaml": approval(`ann, signature: ${JSON.stringify(signature)}`),
      "approvals/bob.yaml": approval(`bob, signature: ${JSON.stringify(signature)}`),
      "approvals/carol.yaml": approval("carol"),
    });
    const blobOf = (name: string) => hub.workshop.git("rev-parse", `HEAD:approvals/${name}.yaml`) as BlobId;
    const detached = async (ledger = {}): Promise<readonly (readonly [string, string])[]> =>
      [...(await hub.look({ ledger, memory })).detached].map(([blob, fact]) => [blob, inShort(fact)]);
    const memory = newMemory();
    const both = [
      [blobOf("ann"), "ssh:flotilla-approval-v1"],
      [blobOf("bob"), "rejected:Mismatch"],
    ];
    expect(await detached()).toEqual(both);
    const judged = (name: string, blob: BlobId) => {
      const file: ApprovalFile = { ...said, path: `approvals/${name}.yaml`, blob, signature };
      const judgement = { kind: "denied", code: "X", because: "" } as const;
      const record: AnswerRecord = { file, judgement, commit: null, at: noon, order: 1 };
      return { answers: new Map([[file.path, record]]) };
    };
    expect(await detached(judged("ann", blobOf("ann")))).toEqual(both.slice(1));
    expect(await detached(judged("ann", "another" as BlobId)), "it was another file then").toEqual(both);
    expect(await detached(judged("elsewhere", blobOf("ann"))), "it stood elsewhere").toEqual(both);
  });

  it.skipIf(!hasGpg)("looks at OpenPGP again with other certificates, and after a while", async () => {
    const carol = gpgSigner(hub.workshop, "ed25519");
    const memory = newMemory();
    const commit = hub.push(carol, { "trust/root.yaml": trustText(hub) });
    const kinds = async (now = noon): Promise<readonly string[]> =>
      commitsIn(await hub.look({ ledger: trusted(), memory, now })).map((it) => it[1]);
    expect(await kinds()).toEqual(["rejected:UnknownKey"]);
    hub.push(hub.ann, { "trust/root.yaml": trustText(hub, 2, certificateOf(hub.workshop, carol)) });
    expect(await kinds(), "the candidate has the certificate").toEqual(["openpgp", "ssh:git"]);
    const { certificates } = memory.history;
    hub.asked.length = 0;
    expect(await kinds(later(noon, minutes(9)))).toHaveLength(2);
    expect(hub.asked).toEqual([]);
    expect(await kinds(later(noon, minutes(10)))).toHaveLength(2);
    expect(hub.asked.filter((it) => it.startsWith("commit"))).toEqual([`commit ${commit}`]);
    expect(memory.history.certificates).toBe(certificates);
  });
});
