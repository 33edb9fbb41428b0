// The commands with which people answer requests, on real Git with real keys and a recorded state.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { detachedSignatureFact } from "../../src/cmd/hub/wire.ts";
import { main } from "../../src/cmd/main.ts";
import { decodeBlob } from "../../src/core/intent/documents.ts";
import { signedApproval } from "../../src/core/intent/kinds/approval.ts";
import { approvalsIn } from "../../src/core/intent/special-files.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import type { Gate } from "../../src/core/model/stage-task.ts";
import type { AnswerRecord, Request } from "../../src/core/model/trust.ts";
import { isApprovalPath } from "../../src/core/model/trust.ts";
import type { RunRecord } from "../../src/core/model/update-run.ts";
import type { BlobId, ClusterName, Digest, Instant } from "../../src/core/model/value.ts";
import { changeDigest } from "../../src/core/plan/approval/request-digest.ts";
import { unsignedAnswer } from "../../src/core/trust/count.ts";
import { gateOf, requested } from "../gate.ts";
import { type Clone, clonesWith } from "../shell/git/clone.ts";
import { temporaryFolder } from "../shell/git/hub.ts";
import { answered, askingRun, trusting } from "./asked-ledger.ts";
import { recordStateIn } from "./record-state.ts";
import { approval, ledgerOf, on, stage, web } from "./rollout-ledger.ts";

const clones = clonesWith({ "members.yaml": "# none yet\n" });
let place: Clone;
const keys = temporaryFolder();
const keyFile = (name: string): string => join(keys.path, name);
const people = ["ada", "bob", "carol", "eve", "ci"] as const;
const hour = 3_600_000;
const recently = (Date.now() - hour) as Instant;

beforeAll(() => {
  for (const name of people)
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", keyFile(name)]);
});
afterAll(() => keys.remove());
beforeEach(() => {
  place = clones();
  signsWith("ada");
});
afterEach(() => {
  vi.unstubAllEnvs();
  place.remove();
});

const git = (...args: readonly string[]): string => place.git(...args);

function signsWith(name: (typeof people)[number]): void {
  git("config", "gpg.format", "ssh");
  git("config", "user.signingKey", keyFile(`${name}.pub`));
}

const line = (name: string): string => readFileSync(keyFile(`${name}.pub`), "utf8").trim();
const fingerprint = (name: string): string =>
  execFileSync("ssh-keygen", ["-l", "-f", keyFile(`${name}.pub`)], { encoding: "utf8" }).split(" ")[1] ?? "";

/** Ada, Bob and Carol approve; canary takes one of them, rest two and a signature in the file, the end is Bob's. */
const trustText = (more = "", until = Date.now() + 100 * 24 * hour): string => `apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: 1
  expires: "${new Date(until).toISOString().replace(/\.\d+/, "")}"
  threshold: 1
  roots: [ada]
  principals:
${people
  .filter((it) => it !== "eve")
  .map((it) => `    ${it}: {human: ${it !== "ci"}, keys: ["${line(it)}"]}\n`)
  .join("")}  approvals:
    - {placements: ["*"], stages: [canary], principals: [ada, bob, carol]}
    - {placements: ["*"], stages: [rest], principals: [ada, bob, carol], minimum: 2, accept: [detached]}
    - {placements: ["*"], stages: [end], principals: [bob], accept: [commit]}
${more}`;

const asked = (more: Partial<Request> = {}): Partial<Request> => ({ requestedAt: recently, ...more });
const stages = ["canary", "rest", "end"] as const;

/** A run that waits before these stages. */
const waiting = (at: Partial<Record<(typeof stages)[number], Partial<Request>>>, more: Partial<RunRecord> = {}) =>
  askingRun(
    "r",
    stages.map((name) => [
      stage(name, [`${name}-1`], { before: [approval] }),
      at[name] === undefined ? {} : { before: at[name] },
    ]),
    more,
  );

const digestOf = (its: RunRecord, at = 0): Digest => its.stages[at]?.before.Approval?.digest ?? ("" as Digest);
const carrying = web([on("canary-1", 2), on("rest-1", 1)]);

/** Records a run, with the trust file in force unless there is to be none. */
function record(
  its: RunRecord,
  answers: readonly AnswerRecord[] = [],
  more: { text?: string; ledger?: Partial<Ledger> } = {},
): void {
  const { text = trustText(), ledger = {} } = more;
  const files = Object.fromEntries(answers.map((it) => [it.file.path, "answer\n"]));
  recordStateIn(
    place,
    { ...trusting(ledgerOf([carrying], [its]), text, answers), ...ledger },
    { "trust/root.yaml": text, ...files },
  );
}

/** Of the text that {@link record} gives accepted answers. */
const blob = createHash("sha1").update("blob 7\0answer\n").digest("hex");

function recordUnsigned(its: RunRecord, unsigned: "allow" | "deny"): void {
  const fleet = `apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {approvals: {unsigned: ${unsigned}}}\n`;
  recordStateIn(place, ledgerOf([carrying], [its]), { "fleet.yaml": fleet });
}

const flotilla = (...argv: readonly string[]) => runAt(place.path, argv);
const atHub = (...argv: readonly string[]) => runAt(join(place.hub.folder, place.hub.name), argv);

async function runAt(repo: string, argv: readonly string[]) {
  const said = { out: "", err: "" };
  const code = await main([...argv, "--repo", repo], {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    environment: { XDG_CACHE_HOME: join(place.hub.folder, "cache") },
  });
  return { code, ...said };
}

const isSigned = (): boolean => git("cat-file", "commit", "HEAD").includes("SSH SIGNATURE");
const changed = (): readonly string[] => git("show", "--format=", "--name-only", "HEAD").split("\n");
const specOf = (path: string) => parse(readFileSync(join(place.path, path), "utf8")).spec;
const commits = (): number => Number(git("rev-list", "--count", "HEAD"));

describe("approve", () => {
  test("shows what it approves, then commits a signed file alone, and says what comes of it", async () => {
    const its = waiting({ canary: asked({ authors: { principals: ["bob"], unknown: 0 } }) });
    record(its);
    const { code, out, err } = await flotilla("approve", "r", "--comment", "looks fine");
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n").map((it) => it.replace(/^(requested at|committed) .*/, "$1"))).toEqual([
      `fleet ${"f".repeat(16)}`,
      "run r of placement web: before stage canary",
      `plan ${its.plan?.root}, resource snapshot 3`,
      "requested at",
      `digest ${digestOf(its)}`,
      `nonce ${"0f".repeat(16)}`,
      "1 cluster, in this order: canary-1",
      "resource snapshot 2 to 3: canary-1",
      "  the same objects; what an override or the strategy changes of them is not shown",
      "changed by: bob",
      "rules, all of which must be met:",
      expect.stringMatching(
        /^ {2}placements \*, stages canary: 1 of ada, bob, carol; by commit or detached; four eyes/,
      ),
      "",
      "what canary-1 would get is not shown: rendered/.asked/r-before-canary/ on fleet/state does not match the request's digest;",
      "it was too long, requested by an earlier version of flotilla, or changed since (flotilla verify); see the commits",
      "committed",
      "  approvals/r/canary-before.ada.yaml",
      "origin does not have it yet: git push",
      "that is enough: once flotilla has read it on main, stage canary may begin",
      "",
    ]);
    expect([changed(), isSigned(), git("log", "-1", "--format=%s")]).toEqual([
      ["approvals/r/canary-before.ada.yaml"],
      true,
      "Approve the start of stage canary of run r",
    ]);
    expect(isApprovalPath("approvals/r/canary-before.ada.yaml")).toBe(true);
    expect(specOf("approvals/r/canary-before.ada.yaml")).toEqual({
      requestDigest: digestOf(its),
      decision: "Approve",
      principal: "ada",
      comment: "looks fine",
    });
  });

  test("where the rules take it only in the file, the signature stands there, and says what is still missing", async () => {
    const its = waiting({ rest: asked() });
    record(its);
    const { code, out } = await flotilla("approve", "r", "rest");
    const path = "approvals/r/rest-before.ada.yaml";
    const { signature, ...spec } = specOf(path);
    const said = signedApproval({ comment: "", decision: "Approve", digest: digestOf(its, 1), principal: "ada" });
    expect([code, spec.principal, changed(), isSigned()]).toEqual([0, "ada", [path], false]);
    expect(await detachedSignatureFact(said, signature, [])).toMatchObject({
      kind: "ssh",
      namespace: "flotilla-approval-v1",
      fingerprint: fingerprint("ada"),
    });
    expect(out).toContain("still missing: 1 of 2 approvals for * / rest; bob, carol may approve\n");
  });

  test("of two, the second is enough, and a path that was answered once is not written again", async () => {
    const its = waiting({ rest: asked() });
    const path = "approvals/r/rest-before.bob.yaml";
    const denied = { kind: "denied", code: "FLT1211", because: "no" } as const;
    const proofs = [{ evidence: "detached", key: fingerprint("ada") }] as const;
    const judgement = { kind: "counts", principal: "ada", proofs, at: recently } as const;
    const ada = answered("ada", digestOf(its, 1), { path: "approvals/r/rest-before.ada.yaml", judgement, blob });
    record(its, [ada, answered("bob", digestOf(its, 1), { path, judgement: denied, blob })]);
    signsWith("bob");
    const { out } = await flotilla("approve", "r");
    expect(changed()).toEqual(["approvals/r/rest-before.bob.2.yaml"]);
    expect(out).toContain("that is enough");
  });

  test("a pull request carries both signatures: squash and rebase lose the commit's", async () => {
    record(waiting({ canary: asked() }));
    const { code, out, err } = await flotilla("approve", "r", "--pr");
    const ref = "flotilla/approve-r-canary-before-ada";
    expect([code, err, commits()]).toEqual([0, "", 1]);
    expect(out).toContain(`pushed ${ref} to origin\n`);
    expect(git("cat-file", "commit", ref)).toContain("SSH SIGNATURE");
    expect(git("show", `${ref}:approvals/r/canary-before.ada.yaml`)).toContain("BEGIN SSH SIGNATURE");
  });

  test("what only a commit's signature opens is to be merged as it is", async () => {
    record(waiting({ end: asked() }));
    signsWith("bob");
    expect(await flotilla("approve", "r", "--pr")).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^warning: the rules accept only the commit's signature: .* merge commit/),
    });
  });

  test("a signature in the file where somebody asks for it, and where the key's public half is not at hand", async () => {
    const its = waiting({ canary: asked() });
    record(its);
    expect((await flotilla("approve", "r", "--detached")).code).toBe(0);
    expect([specOf("approvals/r/canary-before.ada.yaml").signature, isSigned()]).toEqual([
      expect.stringMatching(/^-----BEGIN SSH/),
      true,
    ]);
    copyFileSync(keyFile("bob"), keyFile("bare"));
    git("config", "user.signingKey", keyFile("bare"));
    expect((await flotilla("approve", "r")).err).toMatch(/Git has no signing key configured/);
    expect((await flotilla("approve", "r", "--as", "ada")).err).toMatch(/FLT1204: .* is signed by bob/);
    expect((await flotilla("approve", "r", "--as", "bob")).code).toBe(0);
    expect(specOf("approvals/r/canary-before.bob.yaml").signature).toMatch(/^-----BEGIN SSH/);
  });

  test("a change of what is protected is approved by its placement", async () => {
    const content = new Map([["canary-1" as ClusterName, "f".repeat(64) as Digest]]);
    const bare = gateOf({ requestedAt: recently, digest: "" as Digest });
    const ledger = ledgerOf([carrying], []);
    const request = {
      ...bare,
      digest: changeDigest(ledger, { record: carrying, clusters: content, leaves: new Map(), others: [] }, bare),
    };
    const changing = { ...carrying, change: { clusters: content, leaves: new Map(), others: [], since: [], request } };
    const text = trustText(
      `  protectedTargets:\n    - {clusters: ["canary-*"], namespaces: ["*"], principals: [ada, bob], minimum: 2}\n`,
    );
    recordStateIn(place, trusting(ledgerOf([changing], []), text), { "trust/root.yaml": text });
    const { code, out } = await flotilla("approve", "--change", "web");
    expect([code, changed(), git("log", "-1", "--format=%s")]).toEqual([
      0,
      ["approvals/web/change.ada.yaml"],
      "Approve the change to web",
    ]);
    expect(out).toContain("still missing: 1 of 2 approvals for what is protected: * on canary-*; bob may approve\n");
  });

  describe("with --push, where others are faster", () => {
    const its = waiting({ canary: asked() });
    /** While we push, somebody else does, and the reconciler records what is given here. */
    function meanwhile(records: () => void): void {
      record(its);
      const before = place.inHub("rev-parse", "fleet/state");
      records();
      const after = place.inHub("rev-parse", "fleet/state");
      place.inHub("update-ref", "refs/heads/fleet/state", before);
      const theirs = place.inHub("commit-tree", "-p", "main", "-m", "Theirs", "main^{tree}");
      const hub = join(place.hub.folder, place.hub.name);
      const hook = join(place.path, ".git/hooks/pre-push");
      mkdirSync(join(place.path, ".git/hooks"), { recursive: true });
      const pushes = `printf 'update refs/heads/main ${theirs}\\nupdate refs/heads/fleet/state ${after}\\n' | git --git-dir=${hub} update-ref --stdin`;
      writeFileSync(hook, `#!/bin/sh\nrm "$0"\nunset $(git rev-parse --local-env-vars)\n${pushes}\n`);
      chmodSync(hook, 0o755);
    }
    const pushed = (): string => place.inHub("log", "--format=%s", "main");

    test("what still stands is signed anew on top of theirs", async () => {
      meanwhile(() => record(its));
      const { code, out, err } = await flotilla("approve", "r", "--push");
      expect([code, err]).toEqual([0, ""]);
      expect(out).toContain(
        "pushed main to origin; others had pushed in the meantime: the commit was recreated on top of",
      );
      expect(pushed()).toBe("Approve the start of stage canary of run r\nTheirs\nfirst");
      expect(place.inHub("cat-file", "commit", "main")).toContain("SSH SIGNATURE");
    });

    const bob = { principal: "bob", path: "approvals/b.yaml", blob: blob as BlobId, commit: null, proofs: [] };
    test.each([
      [
        "a request of another plan",
        () => record(waiting({ canary: asked({ nonce: "1".repeat(32) }) })),
        /the approval before stage canary of run r has changed since it was shown\n .*: flotilla approve r canary --dry-run shows the current request/,
      ],
      [
        "an approval of the same one",
        () => record(waiting({ canary: asked({ approval: { at: recently, by: [bob] } }) })),
        /the approval before stage canary of run r was approved meanwhile, by bob \(approvals\/b\.yaml\)\n/,
      ],
      [
        "a run that is over",
        () => record({ ...its, end: { kind: "succeeded", at: recently } }),
        /the approval before stage canary of run r is no longer needed: the run has ended\n/,
      ],
    ] as const)("where the record holds %s by then, nothing is pushed or left", async (_, records, want) => {
      meanwhile(records);
      const { code, err } = await flotilla("approve", "r", "canary", "--push");
      expect([code, err]).toEqual([69, expect.stringMatching(want)]);
      expect(err).toContain("nothing was committed or pushed: ");
      expect([pushed(), commits(), git("status", "--porcelain")]).toEqual(["Theirs\nfirst", 1, ""]);
    });

    test("a rejection is held to the same", async () => {
      meanwhile(() => record(waiting({ canary: asked({ nonce: "1".repeat(32) }) })));
      const { code, err } = await flotilla("reject", "r", "--comment", "no", "--push");
      expect([code, err]).toEqual([69, expect.stringContaining("has changed since it was shown")]);
      expect([pushed(), commits()]).toEqual(["Theirs\nfirst", 1]);
    });

    test("whoever rejects what was approved by then is told how to stop it", async () => {
      meanwhile(() => record(waiting({ canary: asked({ approval: { at: recently, by: [bob] } }) })));
      const { err } = await flotilla("reject", "r", "canary", "--comment", "no", "--push");
      expect(err).toMatch(/was approved meanwhile, by bob .*\n .*; to stop what it allowed: flotilla run stop r\n/);
    });
  });

  test("a dry run shows and prints, and writes nothing", async () => {
    record(waiting({ canary: asked() }));
    const { code, out } = await flotilla("approve", "r", "--dry-run");
    expect([code, commits(), existsSync(join(place.path, "approvals"))]).toEqual([0, 1, false]);
    expect(out).toMatch(/\n# approvals\/r\/canary-before\.ada\.yaml\napiVersion: flotilla\.dev\/v1alpha1\n/);
  });

  test("a trust file that is broken keeps every gate closed, and that is said", async () => {
    const its = waiting({ canary: asked() });
    const text = trustText();
    recordStateIn(place, trusting(ledgerOf([carrying], [its]), text), { "trust/root.yaml": "broken\n" });
    const { err, out } = await flotilla("approve", "r");
    expect(err).toMatch(/^warning: trust\/root\.yaml as last read is not in force; version 1 is, and no gate opens/);
    expect(out).toContain("no gate opens until the trust file is restored\n");
  });
});

describe("an answer that would not count is refused with the reason", () => {
  const open = { canary: asked() } as const;
  const late = { canary: asked({ requestedAt: (Date.now() - 30 * 24 * hour) as Instant }) };
  const own = { canary: asked({ authors: { principals: ["ada"], unknown: 0 } }) };
  const revoked = (): string => `  revocations: [{key: "${fingerprint("ada")}", kind: retired}]\n`;
  test.each([
    ["four eyes (T-06)", own, "ada", trustText, [], /it would not count: FLT1205: four eyes: ada signed a change/],
    ["who may not", { end: asked() }, "ada", trustText, [], /FLT1214: ada may not approve this stage; bob may/],
    [
      "a key of nobody's",
      open,
      "eve",
      trustText,
      [],
      /belongs to nobody who may approve: FLT1202: .*flotilla trust add NAME --key FILE/s,
    ],
    [
      "somebody else's name",
      open,
      "bob",
      trustText,
      ["--as", "ada"],
      /FLT1204: .* speaks for ada and is signed by bob/,
    ],
    [
      "nobody's name",
      open,
      "ada",
      trustText,
      ["--as", "zoe"],
      /trust\/root\.yaml does not list zoe\n {2}it lists ada, bob/,
    ],
    ["a revoked key", open, "ada", () => trustText(revoked()), [], /FLT1203: .* which is retired/],
    ["a machine", open, "ci", trustText, [], /FLT1218: ci is a machine/],
    ["too late", late, "ada", trustText, [], /FLT1215: /],
    ["an expired trust file", open, "ada", () => trustText("", Date.now() - hour), [], /FLT1216: /],
  ] as const)("%s", async (_, at, who, text, argv, want) => {
    record(waiting(at), [], { text: text() });
    signsWith(who);
    const { code, err } = await flotilla("approve", "r", ...argv);
    expect([code, commits()]).toEqual([64, 1]);
    expect(err).toMatch(want);
  });

  test("and written all the same where somebody insists", async () => {
    record(waiting(own));
    expect(await flotilla("approve", "r", "--force")).toMatchObject({
      code: 0,
      out: expect.stringContaining("\nit does not count: FLT1205: four eyes: ada signed a change"),
    });
    expect(changed()).toEqual(["approvals/r/canary-before.ada.yaml"]);
  });

  test("a request that the record does not bear out is refused before anything is shown (T-21)", async () => {
    const its = waiting(open);
    const [first, ...rest] = its.stages;
    const forged = {
      ...its,
      stages: [{ ...first, before: requested({ ...first?.before.Approval, nonce: "1".repeat(32) } as Gate) }, ...rest],
    };
    record(forged as RunRecord);
    expect(await flotilla("approve", "r")).toEqual({
      code: 64,
      out: "",
      err: expect.stringMatching(/^error: the request's digest does not match what the record shows/),
    });
  });

  test("nobody is known to sign where git has no key", async () => {
    record(waiting(open));
    git("config", "--unset", "user.signingKey");
    expect((await flotilla("approve", "r")).err).toMatch(/^error: Git has no signing key configured\n {2}git config/);
  });
});

describe("one's own answers", () => {
  const its = waiting({ canary: asked() });
  const mine = (decision: "Approve" | "Revoke", order = 1) =>
    answered("ada", digestOf(its), { decision, at: recently, blob, path: `approvals/r/${decision}.yaml`, order });

  test("an approval is taken back with a file of its own, and given anew with another: the newest counts", async () => {
    record(its, [mine("Approve")]);
    expect((await flotilla("approve", "r")).err).toMatch(
      /^error: ada has already approved it \(approvals\/r\/Approve\.yaml\)/,
    );
    const { code, out } = await flotilla("approve", "r", "--revoke");
    expect([code, specOf("approvals/r/canary-before.ada.yaml").decision]).toEqual([0, "Revoke"]);
    expect(out).toContain(
      "your approval no longer counts\nstill missing: 0 of 1 approvals for * / canary; ada, bob, carol may approve\n",
    );
    record(its, [mine("Approve"), mine("Revoke", 2)]);
    expect((await flotilla("approve", "r", "--revoke")).err).toMatch(/^error: ada has already withdrawn it/);
    const again = await flotilla("approve", "r");
    expect(again.code).toBe(0);
    expect(again.out).toContain("that is enough");
  });

  test("what nobody approved cannot be taken back", async () => {
    record(its);
    expect((await flotilla("approve", "r", "--revoke")).err).toMatch(/no approval of this request by ada is recorded/);
  });

  test("a file that is gone approves nothing any more: one may approve again", async () => {
    const text = trustText();
    recordStateIn(place, trusting(ledgerOf([carrying], [its]), text, [mine("Approve")]), { "trust/root.yaml": text });
    expect((await flotilla("approve", "r")).code).toBe(0);
  });
});

describe("reject", () => {
  test("says why, is signed, and ends the run", async () => {
    record(waiting({ canary: asked({ authors: { principals: ["ada"], unknown: 0 } }) }));
    const { code, out } = await flotilla("reject", "r", "--comment", "not on a Saturday");
    expect([code, isSigned()]).toEqual([0, true]);
    expect(specOf("approvals/r/canary-before.ada.yaml")).toMatchObject({
      decision: "Reject",
      comment: "not on a Saturday",
    });
    expect(out).toContain("\nrun r ends once flotilla has read it on main; clusters keep what they have\n");
  });

  test.each([
    [[], /required option '--comment <text>' not specified/],
    [["--comment", " "], /a rejection needs a reason/],
    [["--comment", "x".repeat(1001)], /the comment is too long/],
  ] as const)("not without a reason: %#", async (argv, want) => {
    record(waiting({ canary: asked() }));
    const { code, err } = await flotilla("reject", "r", ...argv);
    expect([code, commits()]).toEqual([64, 1]);
    expect(err).toMatch(want);
  });
});

describe("without a trust file", () => {
  test("git's own name answers, and nothing has to be signed, where the fleet allows it", async () => {
    git("config", "--unset", "user.signingKey");
    recordUnsigned(waiting({ canary: asked() }), "allow");
    const { code, out } = await flotilla("approve", "r");
    expect([code, changed(), isSigned()]).toEqual([0, ["approvals/r/canary-before.ada@example.com.yaml"], false]);
    expect(out).toContain("rules: none; there is no trust file, and nobody has to sign\n");
  });

  test("the newest word counts: what took an approval back goes in the commit that gives it again", async () => {
    recordUnsigned(waiting({ canary: asked() }), "allow");
    const path = (n: string): string => `approvals/r/canary-before.ada@example.com${n}.yaml`;
    /** What lies there for the reconciler to read, as its own rule has it. */
    const verdict = (): string => {
      const paths = git("ls-files", "approvals")
        .split("\n")
        .filter((it) => it !== "");
      const files = approvalsIn(
        paths.map((it) => ({
          path: it,
          blob: it as BlobId,
          kind: "file" as const,
          decoded: decodeBlob(readFileSync(join(place.path, it))),
        })),
      ).approvals;
      const rules = { unsigned: "allow", hasTrust: false, now: recently } as const;
      const its = unsignedAnswer(files[0]?.digest ?? ("" as Digest), files, rules);
      return its.kind === "void" ? its.because : its.kind;
    };
    expect((await flotilla("approve", "r")).code).toBe(0);
    expect(verdict()).toBe("approved");
    expect((await flotilla("approve", "r", "--revoke")).code).toBe(0);
    expect(verdict()).toBe(
      `an answer does not count: ada@example.com took the approval back in ${path(".2")}; to give it again, flotilla approve removes that file`,
    );
    const again = await flotilla("approve", "r");
    expect([again.code, again.err]).toEqual([0, ""]);
    expect(git("show", "--format=", "--name-status", "--no-renames", "HEAD").split("\n").sort()).toEqual([
      `A\t${path(".3")}`,
      `D\t${path(".2")}`,
    ]);
    expect(verdict()).toBe("approved");
    // And taken back once more.
    expect((await flotilla("approve", "r", "--revoke")).code).toBe(0);
    expect(verdict()).toMatch(/took the approval back/);
    // Another one's word is theirs.
    expect((await flotilla("approve", "r", "--as", "bob")).code).toBe(0);
    expect(git("show", "--format=", "--name-status", "HEAD")).toBe("A\tapprovals/r/canary-before.bob.yaml");
  });

  test("it says what will really happen, and nothing is written that would not matter", async () => {
    recordUnsigned(waiting({ canary: asked() }), "allow");
    const head = (): string => git("rev-parse", "HEAD");
    const before = head();
    const path = "approvals/r/canary-before.ada@example.com.yaml";
    expect((await flotilla("approve", "r", "--revoke")).err).toBe(
      "error: no approval of this request by ada@example.com is recorded: there is nothing to withdraw\n  --force writes it anyway\n",
    );
    expect(head()).toBe(before);
    expect((await flotilla("approve", "r")).out).toMatch(/that is enough: .*, stage canary may begin\n/);
    expect((await flotilla("approve", "r")).err).toContain(`ada@example.com has already approved it (${path})`);
    expect((await flotilla("approve", "r", "--as", "bob")).code).toBe(0);
    const { out } = await flotilla("approve", "r", "--revoke");
    expect(out).toMatch(
      /your approval no longer counts\nthat of bob \(approvals\/r\/canary-before\.bob\.yaml\) is enough\n/,
    );
    expect((await flotilla("approve", "r", "--revoke")).err).toContain("ada@example.com has already withdrawn it");
    expect((await flotilla("reject", "r", "--as", "eve", "--comment", "no")).out).toContain(
      "run r ends once flotilla has",
    );
    expect((await flotilla("approve", "r")).err).toMatch(/it was rejected by eve \(.*\); no approval overrides that/);
  });

  test("what is written by force where it does not count is not said to be enough", async () => {
    recordUnsigned(waiting({ canary: asked() }), "deny");
    const { code, out } = await flotilla("approve", "r", "--force");
    expect(code).toBe(0);
    expect(out).toContain(
      "an answer does not count: approvals/r/canary-before.ada@example.com.yaml carries no signature",
    );
    expect(out).not.toContain("that is enough");
  });

  test("one that took it back elsewhere has to be here first, as it could not be removed", async () => {
    const its = waiting({ canary: asked() });
    const spec = `requestDigest: "${digestOf(its)}", decision: Revoke, principal: ada@example.com`;
    const text = `apiVersion: flotilla.dev/v1alpha1\nkind: Approval\nmetadata: {name: x}\nspec: {${spec}}\n`;
    const fleet = `apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {approvals: {unsigned: allow}}\n`;
    recordStateIn(place, ledgerOf([carrying], [its]), { "fleet.yaml": fleet, "approvals/away.yaml": text });
    const { code, err } = await flotilla("approve", "r");
    expect([code, err]).toEqual([
      64,
      expect.stringMatching(
        /withdrew an approval of this request \(approvals\/away\.yaml\).*\n {2}git pull, then approve; --force/,
      ),
    ]);
    expect((await flotilla("approve", "r", "--force")).code).toBe(0);
  });

  test("whoever git would commit as is who answers, also where only the environment says so", async () => {
    recordUnsigned(waiting({ canary: asked() }), "allow");
    git("config", "--unset", "user.email");
    vi.stubEnv("GIT_CONFIG_GLOBAL", "/dev/null");
    vi.stubEnv("GIT_CONFIG_NOSYSTEM", "1");
    git("config", "user.useConfigOnly", "true");
    const nobody = await flotilla("approve", "r");
    expect([nobody.code, nobody.err]).toEqual([
      64,
      "error: git does not know who you are\n  set user.name and user.email (git config), or give --as\n",
    ]);
    vi.stubEnv("GIT_AUTHOR_EMAIL", "grace@example.com");
    vi.stubEnv("GIT_COMMITTER_EMAIL", "hopper@example.com");
    expect((await flotilla("approve", "r")).code).toBe(0);
    expect(changed()).toEqual(["approvals/r/canary-before.grace@example.com.yaml"]);
    expect(git("log", "-1", "--format=%ae %ce")).toBe("grace@example.com hopper@example.com");
  });

  test("it is refused where the fleet does not, or where there was one once", async () => {
    const its = waiting({ canary: asked() });
    recordUnsigned(its, "deny");
    expect((await flotilla("approve", "r")).err).toMatch(
      /^error: it would not count: .*\n {2}flotilla trust init says who may/,
    );
    recordStateIn(place, { ...ledgerOf([carrying], [its]), hasTrust: true });
    expect((await flotilla("approve", "r")).err).toMatch(
      /error: there was a trust\/ folder, but no trust file is in force\n/,
    );
  });
});

test("describe and get tell who approved with which key, what does not count and why, and what to type", async () => {
  const its = waiting({ rest: asked() });
  const at = recently;
  const proofs = [{ evidence: "detached", key: "SHA256:adas" }] as const;
  const judgement = { kind: "counts", principal: "ada", proofs, at } as const;
  const denied = { kind: "denied", code: "FLT1202", because: "nobody's key\u202e" } as const;
  record(its, [
    answered("ada", digestOf(its, 1), { path: "approvals/r/rest-before.ada.yaml", judgement, blob }),
    answered("eve", "0".repeat(64) as Digest, { path: "approvals/r/rest-before.eve.yaml", judgement: denied, blob }),
  ]);
  const when = new Date(at).toISOString().replace(/\.\d+/, "");
  const told = [
    `approved by ada at ${when} (SHA256:adas; approvals/r/rest-before.ada.yaml)`,
    "approvals/r/rest-before.eve.yaml of eve does not count: FLT1202: nobody's key\ufffd",
    "1 of 2 approvals for * / rest; bob, carol may approve",
  ];
  const { out } = await atHub("describe", "run", "r");
  for (const it of told) expect(out).toContain(it);
  // From a hub, nobody knows who looks.
  const open = "bob, carol may let stage rest of run r begin: flotilla approve r rest";
  expect(out.endsWith(`\n\n${open}\n`)).toBe(true);
  expect((await atHub("get", "approvals", "r-before-rest")).out.split("\n").slice(-5, -1)).toEqual([...told, open]);
});

describe("programs get the answers, too, each with what became of it", () => {
  const its = waiting({ rest: asked() });
  const yes = "approvals/r/rest-before.ada.yaml";
  const no = "approvals/r/rest-before.eve.yaml";
  const elsewhere = "approvals/else.yaml";
  const fileText = (digest: string, principal: string): string =>
    `apiVersion: flotilla.dev/v1alpha1\nkind: Approval\nmetadata: {name: x}\nspec: {requestDigest: "${digest}", decision: Approve, principal: ${principal}}\n`;
  const none = "0".repeat(64);
  const blobOf = (text: string): string => createHash("sha1").update(`blob ${text.length}\0${text}`).digest("hex");
  type Shown = { readonly kind: string; readonly metadata: { annotations?: Record<string, string> }; status: object };
  const pathOf = (it: Shown): string => it.metadata.annotations?.["flotilla.dev/path"] ?? "";
  async function answers(): Promise<readonly (readonly Shown[])[]> {
    const items = async (...argv: readonly string[]): Promise<readonly Shown[]> =>
      JSON.parse((await atHub("get", "approvals", ...argv, "-o", "json")).out).items;
    const described = JSON.parse((await atHub("describe", "run", "r", "-o", "json")).out);
    const all = [await items(), await items("r-before-rest"), described.answers];
    return all.map((list) => list.filter((it: Shown) => it.kind === "Approval"));
  }

  test("where people sign", async () => {
    const proofs = [{ evidence: "detached", key: "SHA256:adas" }] as const;
    const judgement = { kind: "counts", principal: "ada", proofs, at: recently } as const;
    const denied = { kind: "denied", code: "FLT1202", because: "nobody's key" } as const;
    const texts = {
      [yes]: fileText(digestOf(its, 1), "ada"),
      [no]: fileText(none, "eve"),
      [elsewhere]: fileText(none, "eve"),
    };
    const judged = [
      answered("ada", digestOf(its, 1), { path: yes, judgement, blob: blobOf(texts[yes] ?? ""), order: 1 }),
      answered("eve", none as Digest, { path: no, judgement: denied, blob: blobOf(texts[no] ?? ""), order: 2 }),
      answered("eve", none as Digest, { path: elsewhere, judgement: denied, blob, order: 3 }),
    ];
    const text = trustText();
    recordStateIn(place, trusting(ledgerOf([carrying], [its]), text, judged), { "trust/root.yaml": text, ...texts });
    const [all = [], named, described] = await answers();
    expect(all.map((it) => [pathOf(it), it.status])).toEqual([
      [elsewhere, expect.objectContaining({ isThere: true, counts: false, code: "FLT1211", order: 3 })],
      [yes, expect.objectContaining({ isThere: true, counts: true, proofs, order: 1, commit: "c".repeat(40) })],
      [
        no,
        expect.objectContaining({ isThere: true, counts: false, code: "FLT1202", because: "nobody's key", order: 2 }),
      ],
    ]);
    expect([named, described]).toEqual([all.slice(1), all.slice(1)]);
    expect(all[1]).toMatchObject({
      apiVersion: "flotilla.dev/v1alpha1",
      metadata: { name: "rest-before.ada" },
      spec: { requestDigest: digestOf(its, 1), decision: "Approve", principal: "ada" },
    });
    expect((await atHub("get", "approvals", "-o", "name")).out).not.toContain("rest-before.ada");
  });

  test("where nobody signs", async () => {
    const used = fileText(digestOf(waiting({ canary: asked(), rest: asked() })), "ann");
    const by = {
      principal: "ann",
      path: "approvals/used.yaml",
      blob: blobOf(used) as BlobId,
      commit: null,
      proofs: [],
    };
    const run = waiting({ canary: asked({ approval: { at: recently, by: [by] } }), rest: asked() });
    const [unsigned, back] = [digestOf(run, 1), "approvals/r/rest-before.ada.2.yaml"];
    const files = { [yes]: fileText(unsigned, "ada"), [elsewhere]: fileText(none, "eve"), "approvals/used.yaml": used };
    recordStateIn(place, ledgerOf([carrying], [run]), files);
    const because = `${yes} carries no signature; spec.approvals.unsigned of fleet.yaml could allow that`;
    const line = (text: string): string => `\n${yes} of ada does not count: ${text}\n`;
    for (const argv of [
      ["describe", "run", "r"],
      ["get", "approvals"],
      ["get", "approvals", "r-before-rest"],
    ])
      expect((await atHub(...argv)).out).toContain(line(`FLT1209: ${because}`));
    expect((await answers())[0]?.map((it) => it.status)[1]).toEqual({
      ...{ isThere: true, counts: false, code: "FLT1209", because },
    });
    const fleet = `apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {approvals: {unsigned: allow}}\n`;
    const revoked = fileText(unsigned, "ada").replace("Approve", "Revoke");
    recordStateIn(place, ledgerOf([carrying], [run]), { ...files, "fleet.yaml": fleet, [back]: revoked });
    for (const argv of [
      ["describe", "run", "r"],
      ["get", "approvals"],
      ["get", "approvals", "r-before-rest"],
    ])
      expect((await atHub(...argv)).out).toContain(
        line(
          `FLT1212: ${yes} counts no more: ada took the approval back in ${back}; to give it again, flotilla approve removes that file`,
        ),
      );
    recordStateIn(place, ledgerOf([carrying], [run]), { ...files, "fleet.yaml": fleet });
    const [all = [], named = [], described = []] = await answers();
    const stray = {
      isThere: true,
      counts: false,
      code: "FLT1201",
      because: expect.stringMatching(/no request that is open/),
    };
    expect(all.map((it) => [pathOf(it), it.status])).toEqual([
      [elsewhere, stray],
      [yes, { isThere: true, counts: null }],
      ["approvals/used.yaml", { isThere: true, counts: true }],
    ]);
    expect(named.map(pathOf)).toEqual([yes]);
    expect(described.map(pathOf)).toEqual([elsewhere, yes, "approvals/used.yaml"]);
  });
});

describe("each person is offered what they may answer, and nothing else", () => {
  const its = waiting({
    canary: asked({ authors: { principals: ["ada"], unknown: 0 } }),
    rest: asked({ authors: { principals: ["carol"], unknown: 0 } }),
    end: asked(),
  });
  /** What `describe run` and `get approvals` offer somebody, who signs with the key in git's settings. */
  async function offered(name: (typeof people)[number]) {
    signsWith(name);
    git("fetch", "--quiet", "origin");
    const { out } = await flotilla("describe", "run", "r");
    const texts = out
      .slice(out.indexOf("\n\n"))
      .trim()
      .split(/\n{2,}/);
    const keys = ["r-before-canary", "r-before-rest", "r-before-end"];
    const shown = await Promise.all(keys.map((key) => flotilla("get", "approvals", key)));
    return { texts, shown: shown.map((it) => it.out) };
  }
  const proofs = [{ evidence: "detached", key: "SHA256:adas" }] as const;
  const given = { kind: "counts", principal: "ada", proofs, at: recently } as const;
  const path = "approvals/r/rest-before.ada.yaml";

  test.each<readonly [(typeof people)[number], readonly (string | RegExp)[]]>([
    [
      "ada",
      [
        "ada may not let stage canary of run r begin (four eyes: ada signed a change that this would roll out; ask somebody else); bob, carol may\n" +
          "to reject it: flotilla reject r canary --comment TEXT",
        "ada has approved it; to withdraw that: flotilla approve r rest --revoke",
        "ada has nothing to decide (ada may not approve this stage; bob may); bob may let stage end of run r begin",
      ],
    ],
    [
      "bob",
      [
        /^to let stage canary of run r begin: flotilla approve r canary; or commit this file to main, on its own in a commit that you sign: approvals\/r\/canary-before\.bob\.yaml$/,
        /^apiVersion: .*\n {2}principal: bob\n/s,
        /^to let stage rest of run r begin: flotilla approve r rest; or/,
        /^apiVersion: .*\n {2}principal: bob\n/s,
        /^to let stage end of run r begin: flotilla approve r end; or/,
        /^apiVersion: .*\n {2}principal: bob\n/s,
      ],
    ],
    [
      "carol",
      [
        /^to let stage canary of run r begin: flotilla approve r canary; or/,
        /^apiVersion: /,
        "carol may not let stage rest of run r begin (four eyes: carol signed a change that this would roll out; ask somebody else); bob may\n" +
          "to reject it: flotilla reject r rest --comment TEXT",
        "carol has nothing to decide (carol may not approve this stage; bob may); bob may let stage end of run r begin",
      ],
    ],
    [
      "ci",
      [
        "ci has nothing to decide (ci is a machine); bob, carol may let stage canary of run r begin",
        "ci has nothing to decide (ci is a machine); bob may let stage rest of run r begin",
        "ci has nothing to decide (ci is a machine); bob may let stage end of run r begin",
      ],
    ],
    [
      "eve",
      [
        "bob, carol may let stage canary of run r begin: flotilla approve r canary",
        "bob may let stage rest of run r begin: flotilla approve r rest",
        "bob may let stage end of run r begin: flotilla approve r end",
      ],
    ],
  ])("%s", async (name, want) => {
    record(its, [answered("ada", digestOf(its, 1), { path, judgement: given, blob })]);
    const { texts, shown } = await offered(name);
    expect(texts).toEqual(want.map((it) => (typeof it === "string" ? it : expect.stringMatching(it))));
    // The same in get, without a file.
    const lines = want.filter((it) => !`${it}`.includes("apiVersion"));
    lines.forEach((it, at) => {
      if (typeof it === "string") expect(shown[at]?.endsWith(`\n${it}\n`)).toBe(true);
      else expect(shown[at]).toMatch(/\nto let stage [^;]*: flotilla approve r [a-z]+\n$/);
    });
  });

  test("nobody, where nothing that anybody says could open it", async () => {
    record(its, [], { text: trustText("", Date.now() - hour) });
    const { texts } = await offered("bob");
    expect(texts[0]).toMatch(
      /^bob has nothing to decide \(trust\/root\.yaml expired at [^)]*\); nobody may let stage canary/,
    );
    git("config", "--unset", "user.signingKey");
    expect((await flotilla("describe", "run", "r")).out).toContain(
      "\nnobody may let stage canary of run r begin at present\n",
    );
  });

  test("a change of what is protected is offered alike", async () => {
    const content = new Map([["canary-1" as ClusterName, "f".repeat(64) as Digest]]);
    const bare = gateOf({
      requestedAt: recently,
      digest: "" as Digest,
      authors: { principals: ["ada"], unknown: 0 },
    });
    const ledger = ledgerOf([carrying], []);
    const change = { clusters: content, leaves: new Map(), others: [] };
    const request = { ...bare, digest: changeDigest(ledger, { record: carrying, ...change }, bare) };
    const text = trustText(
      `  protectedTargets:\n    - {clusters: ["canary-*"], namespaces: ["*"], principals: [ada, bob]}\n`,
    );
    const changing = { ...carrying, change: { ...change, since: [], request } };
    recordStateIn(place, trusting(ledgerOf([changing], []), text), { "trust/root.yaml": text });
    const shown = async (name: (typeof people)[number]): Promise<string> => {
      signsWith(name);
      git("fetch", "--quiet", "origin");
      return (await flotilla("get", "approvals", "web-change")).out.split("\n").slice(-3).join("\n");
    };
    expect(await shown("ada")).toContain("bob may\nto reject it: flotilla reject --change web --comment TEXT\n");
    expect(await shown("bob")).toContain("\nto let web change what is protected: flotilla approve --change web\n");
    expect(await shown("carol")).toMatch(/carol has nothing to decide .* bob may let web change what is/);
  });
});
