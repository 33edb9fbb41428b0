// The state branch judged again: what a reconciler wrote holds, and whatever somebody else put there is named.
import { afterEach, describe, expect, test } from "vitest";
import { digestOfText } from "../../../src/core/model/json.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import { decisionVersion } from "../../../src/core/plan/decision.ts";
import type { Audit } from "../../../src/shell/reconcile/verify/findings.ts";
import { hasSshKeygen } from "../signature/workshop.ts";
import { type AuditedHub, auditedHub } from "./audited-hub.ts";

describe.skipIf(!hasSshKeygen)("an audit", () => {
  let hub: AuditedHub;
  afterEach(() => hub.close());

  const begin = async (how: { readonly signed?: boolean } = {}): Promise<void> => {
    hub = await auditedHub(how);
    await hub.settle();
  };
  const approve = async (): Promise<void> => {
    hub.push(hub.bob, await hub.answer("bob"));
    await hub.settle();
  };
  const assumed = [
    "what members reported and when passes ran: both are taken as recorded; no member was asked",
    "the pace of rollouts and the bounds of deletions: they depend on what members reported in each pass",
  ];
  const told = ({ faults }: Audit): readonly string[] => faults.map((it) => `${it.check}: ${it.what}`);

  test("of what a reconciler wrote finds no fault, and looks at all of it", async () => {
    await begin();
    await approve();
    const audit = await hub.verify();
    expect(told(audit)).toEqual([]);
    expect(audit.looked).toMatchObject({ trust: 1, approvals: 2, plans: 1, rendered: 1 });
    expect(audit.signers).toBe("trusted");
    expect(audit.unproved).toEqual(assumed);
  });

  test("of an unsigned record says so, and finds no fault in it", async () => {
    await begin({ signed: false });
    await approve();
    const audit = await hub.verify();
    expect(told(audit)).toEqual([]);
    expect([audit.signers, audit.unproved]).toEqual(["nobody", assumed]);
  });

  test("without an anchor takes the first trust file on trust, and with another one does not", async () => {
    await begin();
    const { unproved } = await hub.verify({ anchor: null });
    expect(unproved[0]).toContain(`with the SHA-256 ${hub.anchor}, is taken on trust`);
    const other = await hub.verify({ anchor: "ab".repeat(32) as never });
    expect(told(other)).toEqual([
      `trust: puts version 1 of the trust file in force by an anchor that is not yours: ${hub.anchor}`,
    ]);
  });

  test("of the last commits takes what stood before as it is, and says so", async () => {
    await begin();
    await approve();
    const all = await hub.verify({ full: false });
    expect([told(all), all.isWhole, all.looked.rendered]).toEqual([[], true, null]);
    const audit = await hub.verify({ full: false, last: 2 });
    expect([told(audit), audit.isWhole, audit.commits]).toEqual([[], false, 2]);
    expect(audit.unproved).toContain(
      "everything before the last 2 commits: it is taken as it is; --full checks all of it",
    );
    hub.forge({ step: 2, signer: hub.key });
    expect(told(await hub.verify({ full: false, last: 1 }))).toHaveLength(1);
  });

  test("names a gate that was opened by nobody (T-23), whoever signed that", async () => {
    await begin();
    const open = hub.head();
    await approve();
    const run = hub.stateFile("runs/first/run.yaml", gateCommit());
    hub.workshop.git("update-ref", "refs/heads/fleet/state", open);
    const commit = hub.forge({ files: { "runs/first/run.yaml": run }, signer: hub.key });
    const audit = await hub.verify();
    expect(told(audit)).toEqual([
      "approvals: opens the gate before stage canary of run first by bob, whose answer does not count",
    ]);
    expect(audit.faults[0]).toMatchObject({ commit, path: "runs/first/run.yaml" });
  });

  test("names a stage that began although its gate is closed", async () => {
    await begin();
    const open = hub.head();
    await approve();
    const run = hub.stateFile("runs/first/run.yaml", gateCommit());
    const unasked = run.replace(/ +- type: ApprovalRequestApproved\n(?: +.*\n){5}/, "");
    expect(unasked).not.toBe(run);
    hub.forge({ on: open, files: { "runs/first/run.yaml": unasked }, signer: hub.key });
    expect(told(await hub.verify())).toEqual(["plans: begins stage canary of run first unasked"]);
  });

  /** The first commit in which the gate is open. */
  const gateCommit = (): string => {
    const commits = hub.workshop.git("rev-list", "--reverse", "refs/heads/fleet/state").split("\n");
    const isOpen = (it: string): boolean => {
      const { code, out } = hub.workshop.attempt("git", ["show", `${it}:runs/first/run.yaml`]);
      return code === 0 && out.includes("ApprovalRequestApproved");
    };
    return commits.find(isOpen) ?? expect.fail("it never opened");
  };

  test("names an answer that counts by a key that did not sign it", async () => {
    await begin();
    hub.push(hub.ann, await hub.answer("ann"));
    await hub.settle();
    const path = "approvals/first-ann-approve.yaml";
    const made = hub.stateFile("answers.yaml", answerCommit()).replace(/SHA256:.*/, hub.keyOf(hub.bob).fingerprint);
    hub.workshop.git("update-ref", "refs/heads/fleet/state", `${answerCommit()}~1`);
    const source = hub.head("main");
    hub.forge({
      files: {
        "answers.yaml": made,
        "ledger.yaml": (it) => it.replace(/sourceCommit: .*/, `sourceCommit: ${source}`),
        [`accepted/${path}`]: hub.stateFile(path, "main"),
      },
      signer: hub.key,
    });
    expect(told(await hub.verify())).toEqual([
      `approvals: counts ${path}, which its proofs do not prove`,
      `approvals: counts ${path} as somebody else's, or by other keys than it was signed with`,
    ]);
  });

  const answerCommit = (): string =>
    hub.workshop.git("log", "--format=%H", "--diff-filter=A", "refs/heads/fleet/state", "--", "answers.yaml");

  test("names a no that was left out", async () => {
    await begin();
    hub.push(hub.bob, await hub.answer("bob", "Reject"));
    const open = hub.head();
    const source = hub.head("main");
    const path = "approvals/first-bob-reject.yaml";
    hub.forge({
      on: open,
      files: {
        "ledger.yaml": (it) => it.replace(/sourceCommit: .*/, `sourceCommit: ${source}`),
        [`accepted/${path}`]: hub.stateFile(path, "main"),
      },
      signer: hub.key,
    });
    expect(told(await hub.verify())).toEqual([`approvals: leaves out what ${path} says`]);
  });

  test("names an approval that was rewritten once it was accepted", async () => {
    await begin();
    await approve();
    hub.forge({
      files: { "runs/first/run.yaml": (it) => it.replace('\\"principal\\":\\"bob\\"', '\\"principal\\":\\"ann\\"') },
      signer: hub.key,
    });
    expect(told(await hub.verify())).toContain("plans: forgets an approval of run first");
  });

  test("names a request that leaves out who changed what it is about", async () => {
    await begin();
    await approve();
    const changed = (it: string): string => it.replaceAll("one", "two").replaceAll("first", "second");
    hub.push(hub.ann, {
      "web/config.yaml": changed(hub.stateFile("web/config.yaml", "main")),
      "runs/second.yaml": changed(hub.stateFile("runs/first.yaml", "main")),
    });
    await hub.settle();
    expect(told(await hub.verify())).toEqual([]);
    const path = "runs/second/run.yaml";
    const asked = hub.workshop.git("log", "--format=%H", "--diff-filter=A", "refs/heads/fleet/state", "--", path);
    const alone = hub.stateFile(path, asked).replace(/,\\"authors\\":\{.*?\}/, "");
    expect(alone).not.toBe(hub.stateFile(path, asked));
    hub.forge({ like: asked as Commit, files: { [path]: alone }, signer: hub.key });
    expect(told(await hub.verify())).toEqual([
      "approvals: asks for the gate before stage canary of run second under a digest that is not of what is asked",
      "approvals: leaves out who changed what the gate before stage canary of run second is about: ann",
    ]);
  });

  test.each([
    ["that nobody signed", null, "is not signed"],
    ["that a person signed", "bob", "is signed by bob, who is a person"],
  ])("names a commit %s", async (_, who, words) => {
    await begin();
    hub.forge({ signer: who === null ? null : hub.keyOf(hub.bob) });
    expect(told(await hub.verify())).toEqual([`signatures: ${words}`]);
  });

  test("names a commit that was dropped", async () => {
    await begin();
    const before = hub.head("refs/heads/fleet/state~1");
    hub.forge({ on: before, step: 2, signer: hub.key });
    const faults = told(await hub.verify());
    expect(faults[0]).toMatch(/^chain: has sequence \d+ after \d+: something was taken out, or put in$/);
  });

  test("names a trust file that was swapped: alone, it cannot be read; with its digest, nobody vouches for it", async () => {
    await begin();
    const mine = hub.stateFile("trust/root.yaml").replace("principals: [ann, bob]", "principals: [ann]");
    const tip = hub.head();
    hub.forge({ files: { "trust/root.yaml": mine }, signer: hub.key });
    expect(told(await hub.verify())[0]).toContain("chain: cannot be read: trust/root.yaml is not the version");
    const digest = digestOfText(mine);
    hub.workshop.git("update-ref", "refs/heads/fleet/state", tip);
    const withDigest = (it: string): string => it.replace(hub.anchor, digest);
    hub.forge({ files: { "trust/root.yaml": mine, "ledger.yaml": withDigest }, signer: hub.key });
    const faults = told(await hub.verify());
    expect(faults[0]).toMatch(/^trust: puts version 1 in force: FLT12|^trust: puts version 1 in force, which does not/);
  });

  test("takes a version of the trust file that follows the one before, and names one that nobody signed", async () => {
    await begin();
    hub.push(hub.ann, hub.nextTrust(hub.ann));
    await hub.settle();
    const audit = await hub.verify();
    expect([told(audit), audit.looked.trust]).toEqual([[], 2]);
    const asked = hub.workshop.git("log", "--format=%H", "-1", "refs/heads/fleet/state", "--", "trust/root.yaml");
    hub.workshop.git("reset", "-q", "--hard", "main~1");
    const source = hub.push(hub.ann, hub.nextTrust(null));
    hub.forge({
      like: asked as Commit,
      files: { "ledger.yaml": hub.stateFile("ledger.yaml", asked).replace(/\b[0-9a-f]{40}\b/g, source) },
      signer: hub.key,
    });
    expect(told(await hub.verify())[0]).toContain("trust: puts version 2 in force: FLT1222");
  });

  /** A placement that rolls out by itself into what is protected, and was allowed to. */
  const guardedChange = async (): Promise<void> => {
    hub = await auditedHub({ guarded: true });
    const rolling = hub.stateFile("placements/web.yaml", "main").replace("External", "RollingUpdate");
    hub.push(hub.ann, { "runs/first.yaml": null, "placements/web.yaml": rolling });
    await hub.settle();
  };

  test("takes a change of what is protected that was approved, and names one that was not", async () => {
    await guardedChange();
    const waiting = hub.head();
    hub.push(hub.bob, await hub.answerChange("bob"));
    await hub.settle();
    expect(told(await hub.verify())).toEqual([]);
    const moved = hub.stateFile("placements/web/bindings.yaml");
    expect(moved).not.toBe(hub.stateFile("placements/web/bindings.yaml", waiting));
    hub.forge({ on: waiting, files: { "placements/web/bindings.yaml": moved }, signer: hub.key });
    expect(told(await hub.verify())).toContain(
      "approvals: changes web on m1, which is protected, and nobody approved that",
    );
  });

  const placedOtherwise = {
    "placements/web/policy-snapshots.yaml": (it: string): string => it.replace("selected: true", "selected: false"),
  };

  test("names a verdict that somebody changed, also on a branch that nobody signs", async () => {
    await begin({ signed: false });
    expect(
      placedOtherwise["placements/web/policy-snapshots.yaml"](hub.stateFile("placements/web/policy-snapshots.yaml")),
    ).not.toBe(hub.stateFile("placements/web/policy-snapshots.yaml"));
    const commit = hub.forge({ files: placedOtherwise });
    const audit = await hub.verify();
    expect(told(audit)).toEqual([
      "scheduling: records a verdict that does not follow from its inputs: m1 is recorded as not selected with affinity 0 and topology 0, and is selected with affinity 0 and topology 0 of web",
    ]);
    expect(audit.faults[0]).toMatchObject({ commit, path: "placements/web/placement.yaml" });
  });

  test("does not judge what was scheduled by other rules, and says so", async () => {
    await begin();
    hub.forge({ files: placedOtherwise, signer: hub.key, version: 99 });
    const audit = await hub.verify();
    expect(told(audit)).toEqual([]);
    expect(audit.unproved).toContain(
      `1 commits whose schedules rest on decision version 99; this is ${decisionVersion}`,
    );
  });

  test("names a plan that was changed", async () => {
    await begin();
    const change = (it: string): string => it.replace("maxConcurrency: 1", "maxConcurrency: 9");
    expect(change(hub.stateFile("runs/first/plan.yaml"))).not.toBe(hub.stateFile("runs/first/plan.yaml"));
    hub.forge({ files: { "runs/first/plan.yaml": change }, signer: hub.key });
    expect(told(await hub.verify())).toEqual([
      "plans: has a plan of run first that is not of its root",
      "plans: puts another plan in the place of that of run first",
      "plans: changes the plan of run first",
    ]);
  });

  test("names what was put under accepted/ and rendered/", async () => {
    await begin();
    await approve();
    hub.forge({
      files: {
        "accepted/web/config.yaml": "other\n",
        "rendered/m1/web.yaml": "other\n",
        "rendered/m2/web.yaml": "x\n",
      },
      signer: hub.key,
    });
    const audit = await hub.verify();
    expect(audit.faults.map((it) => `${it.path}: ${it.what}`)).toEqual([
      "accepted/web/config.yaml: has another web/config.yaml under accepted/ than its source commit",
      "rendered/m1/web.yaml: differs from what the cluster has to run",
      "rendered/m2/web.yaml: shows what no cluster has to run",
    ]);
  });

  test("names a source branch that was rewritten under the record", async () => {
    await begin();
    hub.workshop.git("reset", "-q", "--hard", "main~1");
    hub.push(hub.ann, {
      "web/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: web}\n",
    });
    expect(told(await hub.verify())).toContain(
      "chain: refers to a source commit that the source branch here does not have; fetch it",
    );
  });
});
