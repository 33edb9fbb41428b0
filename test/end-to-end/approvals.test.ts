// Approvals as people give them: real Git, real keys, the program as its user runs it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memberAt } from "../../src/core/model/json.ts";
import { gitIn } from "../shell/git/hub.ts";
import { objectAt } from "./member.ts";
import { flotilla, type Run } from "./program.ts";
import { externalPlacement, type SmallStage, setSmallStage, updateRun, updateStrategy } from "./rollouts.ts";
import { newSigner, type Signer } from "./signers.ts";
import { configMap, file, memberCluster, namespace, openFleet } from "./small-fleet.ts";

const names = ["east", "west"];
const settings = "resources/settings.yaml";
const ask = { beforeStageTasks: [{ type: "Approval" }] };

const files = {
  "fleet.yaml": file(openFleet),
  ...Object.fromEntries(names.map((it) => [`clusters/${it}.yaml`, file(memberCluster(it, { env: it }))])),
  "placements/shop.yaml": file(externalPlacement("shop")),
  "strategies/rings.yaml": file(updateStrategy("rings", { east: {}, west: ask })),
  "resources/namespace.yaml": file(namespace("shop")),
  [settings]: file(configMap("shop/settings", { version: "0" })),
};

describe("a stage that waits for a signature", () => {
  let stage: SmallStage;
  let ann: Signer;
  let bob: Signer;
  let eve: Signer;
  let anchor = "";
  beforeAll(async () => {
    stage = await setSmallStage(files, { servers: [], embedded: names });
    [ann, bob, eve] = (["ann", "bob", "eve"] as const).map((it) => newSigner(it, stage.hub, stage.folder)) as [
      Signer,
      Signer,
      Signer,
    ];
  });
  afterAll(() => stage?.stop());

  const done = (run: Run): string => {
    // What it warns of is no failure.
    expect(run.code === 0 ? "" : run.err).toBe("");
    return run.out;
  };
  /** Without a key: each start says so, in one line that is left out here. */
  const reconcile = async (...more: readonly string[]): Promise<Run> => {
    const run = await stage.reconcile("--trust-anchor", anchor, "--wait", "5m", ...more);
    expect(run.err.split("\n").filter((it) => it.startsWith("warning: fleet/state is not signed: "))).toHaveLength(1);
    return { ...run, err: run.err.replace(/^warning: fleet\/state is not signed.*\n/, "") };
  };
  /** What both members have of the settings, `1 0`; a dash for nothing. */
  const carried = async (): Promise<string> => {
    const path = "/api/v1/namespaces/shop/configmaps/settings";
    const objects = await Promise.all(names.map((it) => objectAt(stage.member(it), path)));
    return objects.map((it) => memberAt(it, "data", "version") ?? "-").join(" ");
  };
  /** Writes files as somebody, commits them signed, and pushes. */
  const push = (who: Signer, written: Readonly<Record<string, string>>, message = "Change it"): string => {
    who.pull();
    for (const [path, text] of Object.entries(written)) {
      mkdirSync(dirname(join(who.clone, path)), { recursive: true });
      writeFileSync(join(who.clone, path), text);
    }
    who.git("add", "--all");
    who.git("commit", "--quiet", "-m", message);
    who.git("push", "--quiet", "origin", "main");
    return who.git("rev-parse", "HEAD");
  };
  const version = (value: string) => ({ [settings]: file(configMap("shop/settings", { version: value })) });
  const runFile = (name: string, how: Parameters<typeof updateRun>[3] = {}) => ({
    [`runs/${name}.yaml`]: file(updateRun(name, "shop", "rings", how)),
  });
  const digestOf = (run: string): string =>
    /flotilla\.dev\/request-digest: "?([0-9a-f]{64})/.exec(
      stage.hub.stateFile(`approvals/${run}-before-west.yaml`) ?? "",
    )?.[1] ?? "nobody is asked";

  test("whoever sets up who may approve gets the anchor for the reconciler", async () => {
    const out = done(await ann.run("trust", "init", "--name", "ann", "--push"));
    anchor = /--trust-anchor ([0-9a-f]{64})/.exec(out)?.[1] ?? "";
    expect(anchor).not.toBe("");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    done(await ann.run("trust", "add", "bob", "--key", bob.publicKey, "--approver", "--push"));
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(stage.hub.stateFile("ledger.yaml")).toMatch(/version: 2\b/);
    expect(done(await ann.run("trust", "show"))).toContain("bob");
  });

  test("it is asked for, the author may not answer, another one may, and the stage opens", async () => {
    push(ann, runFile("first"), "Run first");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toBe("0 -");
    const refused = await ann.run("approve", "first", "west", "--push");
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("FLT1205");
    // By hand, past the command: the reconciler says the same, to everybody.
    expect((await ann.run("approve", "first", "west", "--force", "--push")).code).toBe(0);
    expect((await reconcile()).out).toMatch(/of ann does not count: FLT1205: four eyes/);
    expect(await carried()).toBe("0 -");
    const out = done(await bob.run("approve", "first", "west", "--comment", "fine by me", "--push"));
    expect(out).toContain(digestOf("first"));
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toBe("0 0");
    expect(done(await bob.run("describe", "run", "first"))).toMatch(/given at .* by bob \(SHA256:/);
  });

  test("new content meanwhile changes neither the frozen plan nor what was approved", async () => {
    push(ann, { ...version("1"), ...runFile("second") }, "Version 1");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toBe("1 0");
    const asked = digestOf("second");
    push(ann, version("2"), "Version 2");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(digestOf("second")).toBe(asked);
    bob.pull();
    push(ann, { "docs/why.md": "Because\n" }, "Say why");
    // Bob's clone knows nothing of that: what he signed is signed anew on top of it, and counts.
    const out = done(await bob.runBehind("approve", "second", "--push"));
    expect(out).toContain("others had pushed in the meantime: the commit was recreated on top of theirs\n");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toBe("1 1");
  });

  test("an approval does not carry over to a run that is created again", async () => {
    push(ann, runFile("third"), "Run third");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    const asked = digestOf("third");
    done(await bob.run("approve", "third"));
    const approved = bob.git("rev-parse", "HEAD");
    ann.pull();
    ann.git("rm", "--quiet", "runs/third.yaml");
    ann.git("commit", "--quiet", "-m", "Away with it");
    ann.git("push", "--quiet", "origin", "main");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    push(ann, runFile("third", { index: "0" }), "Run third, to another version");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(digestOf("third")).not.toBe(asked);
    bob.git("fetch", "--quiet", "origin");
    bob.git("checkout", "--quiet", "-B", "main", "origin/main");
    bob.git("cherry-pick", approved);
    bob.git("push", "--quiet", "origin", "main");
    expect((await reconcile()).out).toMatch(/of bob does not count: FLT1201: .* answers no request that is open/);
    expect(await carried()).toBe("0 1");
    done(await bob.run("reject", "third", "--comment", "not back to 0", "--push"));
    expect((await reconcile()).out).toContain("not back to 0");
    expect(await carried()).toBe("0 1");
  });

  test("a rule of the stage that changes makes another request", async () => {
    push(ann, runFile("fourth"), "Run fourth");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    const asked = digestOf("fourth");
    done(await ann.run("trust", "add", "eve", "--key", eve.publicKey, "--approver", "--push"));
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(digestOf("fourth")).not.toBe(asked);
    bob.pull();
    mkdirSync(join(bob.clone, "docs"), { recursive: true });
    writeFileSync(join(bob.clone, "docs/mine.md"), "Mine\n");
    bob.git("add", "--all");
    bob.git("commit", "--quiet", "-m", "A note");
    push(ann, { "docs/why.md": "Because, again\n" }, "Say why again");
    // More than the approval waits to be pushed: what Ann pushed is merged, and both signatures stay.
    const out = done(await bob.runBehind("approve", "fourth", "--push"));
    expect(out).toContain("others had pushed in the meantime: what they pushed was merged\n");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toBe("2 2");
  });

  test("a key that comes with the approval proves nothing", async () => {
    push(ann, { ...version("3"), ...runFile("fifth") }, "Version 3");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    const mallory = newSigner("mallory", stage.hub, stage.folder);
    // Ann lets her in, and both commits arrive at once.
    done(await ann.run("trust", "add", "mallory", "--key", mallory.publicKey, "--approver"));
    const entrance = ann.git("rev-parse", "HEAD");
    mallory.pull();
    mallory.git("pull", "--quiet", ann.clone, "main");
    const digest = digestOf("fifth");
    const spec = { requestDigest: digest, decision: "Approve", principal: "mallory", comment: "" };
    mkdirSync(join(mallory.clone, "approvals/fifth"), { recursive: true });
    const approval = { apiVersion: "flotilla.dev/v1alpha1", kind: "Approval", metadata: { name: "fifth" }, spec };
    writeFileSync(join(mallory.clone, "approvals/fifth/west-before.mallory.yaml"), file(approval));
    mallory.git("add", "--all");
    mallory.git("commit", "--quiet", "-m", "Fine by me");
    mallory.git("push", "--quiet", "origin", "main");
    expect(mallory.git("rev-parse", "HEAD~1")).toBe(entrance);
    expect((await reconcile()).out).toMatch(/of mallory does not count: FLT12\d\d/);
    expect(await carried()).toBe("3 2");
  });

  test("a squash merge keeps the signature that stands in the file", async () => {
    const out = done(await bob.run("approve", "fifth", "--pr"));
    const branch = /flotilla\/[\w-]+/.exec(out)?.[0] ?? "";
    // What a forge does: one commit of its own, which nobody signed.
    const forge = join(stage.folder, "clone");
    const { hub } = stage;
    const at = (...args: readonly string[]): string => gitIn(forge, args);
    at("fetch", "--quiet", "origin");
    at("checkout", "--quiet", "-B", "main", "origin/main");
    at("merge", "--quiet", "--squash", `origin/${branch}`);
    hub.push("Approve fifth (#1)");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toBe("3 3");
  });

  test("a trust file that is gone closes every gate, touches nothing, and says what to restore", async () => {
    push(ann, { ...version("4"), ...runFile("sixth") }, "Version 4");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    done(await bob.run("approve", "sixth"));
    bob.git("rm", "--quiet", "trust/root.yaml");
    bob.git("commit", "--quiet", "-m", "Away with it");
    bob.git("push", "--quiet", "origin", "main");
    const closed = await reconcile();
    expect(closed.out).toMatch(/every gate is closed: FLT1221: .* restore version \d+, whose SHA-256 is [0-9a-f]{64}/);
    expect(await carried()).toBe("4 3");
    bob.git("revert", "--no-edit", "HEAD");
    bob.git("push", "--quiet", "origin", "main");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toBe("4 4");
  });

  test("T-15: what this machine believes of keys and time has no say", async () => {
    push(ann, { ...version("5"), ...runFile("seventh") }, "Version 5");
    expect(await reconcile()).toMatchObject({ code: 0, err: "" });
    const mallory = newSigner("mallory-2", stage.hub, stage.folder);
    // Here everything verifies: Bob's key is said to be hers, and the verifier always agrees.
    const config = join(stage.folder, "poisoned.gitconfig");
    const allowed = join(stage.folder, "allowed-signers");
    writeFileSync(allowed, `bob ${readFileSync(mallory.publicKey, "utf8")}`);
    writeFileSync(
      config,
      `[gpg]\n\tprogram = true\n[gpg "ssh"]\n\tprogram = true\n\tallowedSignersFile = ${allowed}\n`,
    );
    const environment = {
      GIT_CONFIG_GLOBAL: config,
      GNUPGHOME: stage.folder,
      HOME: stage.folder,
      TZ: "Pacific/Kiritimati",
    };
    const poisoned = (): Promise<Run> => {
      const hub = ["--repo", stage.hub.repo, "--kubeconfig", stage.kubeconfig, "--trust-anchor", anchor];
      return flotilla(["reconcile", ...hub, "--wait", "5m"], { cwd: stage.folder, environment });
    };
    const digest = digestOf("seventh");
    const spec = { requestDigest: digest, decision: "Approve", principal: "bob", comment: "" };
    const answer = { apiVersion: "flotilla.dev/v1alpha1", kind: "Approval", metadata: { name: "seventh" }, spec };
    push(mallory, { "approvals/seventh/west-before.bob.yaml": file(answer) }, "Fine by me");
    expect((await poisoned()).out).toMatch(/west-before\.bob\.yaml of bob does not count: FLT1202: /);
    expect(await carried()).toBe("5 4");
    done(await bob.run("approve", "seventh", "--push"));
    expect(await poisoned()).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^warning: fleet\/state is not signed: [^\n]*\n$/),
    });
    expect(await carried()).toBe("5 5");
  });

  test("all of it can be verified afterwards, from Git alone", async () => {
    ann.git("fetch", "--quiet", "origin", "fleet/state:fleet/state");
    const out = done(await ann.run("verify", "--full", "--trust-anchor", anchor));
    expect(out).not.toMatch(/fault/i);
  });
});
