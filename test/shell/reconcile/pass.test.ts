// One pass at a time, over real Git and real HTTP: what is written, what is touched, and above all what is not.
import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Commit } from "../../../src/core/model/value.ts";
import { reasonText } from "../../../src/core/report/reason-text.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { pass } from "../../../src/shell/reconcile/pass.ts";
import type { Ports, Proposal } from "../../../src/shell/reconcile/ports.ts";
import { gitIn } from "../git/hub.ts";
import { freshPass, mutations, once, rest, type Stage, setStage, withRepository } from "./stage.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(() => stage.close());

test("two reconcilers decide at once: one writes, the other touches nothing", async () => {
  const [a, b] = [await stage.reconciler(), await stage.reconciler()];
  const arrived = meeting(2);
  const proposals: Proposal[] = [];
  const results = await Promise.all([a, b].map((it) => freshPass(heldBackBeforeCommit(it, proposals, arrived))));
  expect(results.map((it) => it.kind).sort()).toEqual(["passed", "superseded"]);
  expect(stage.hub.stateCommits()).toBe(1);
  // The same decision, and yet two commits: whoever finds one on the branch knows whose it is (F-12).
  const [one, other] = proposals.map(({ message, ...it }) => ({ ...it, message: message.replace(/\nWriter: .*/, "") }));
  expect(one).toEqual(other);
  expect(proposals[0]?.message).not.toBe(proposals[1]?.message);
  const winner = results.find((it) => it.kind === "passed");
  expect(winner?.kind === "passed" && winner.receipts.length).toBe(9);
});

test("at rest, a reconciler that remembers nothing writes nothing and touches nothing", async () => {
  await rest(await stage.reconciler());
  const [commits, requests] = [stage.hub.stateCommits(), mutations(stage)];
  const again = await freshPass(await stage.reconciler());
  expect(again).toMatchObject({ kind: "passed", committed: null, receipts: [], deferred: null });
  expect([stage.hub.stateCommits(), mutations(stage)]).toEqual([commits, requests]);
});

test("a commit that changes no file that is read decides nothing", async () => {
  await rest(await stage.reconciler());
  const commits = stage.hub.stateCommits();
  await stage.hub.write("NOTES.txt", "not ours to read\n");
  stage.hub.push("Take a note");
  await rest(await stage.reconciler());
  expect(stage.hub.stateCommits()).toBe(commits);
});

test("news that decides nothing waits for the next decision, or for the end of a run", async () => {
  const ports = await stage.reconciler();
  const memory = newMemory();
  await pass(ports, once, memory, false);
  const commits = stage.hub.stateCommits();
  const heard = await pass(ports, once, memory, false);
  expect(heard).toMatchObject({ kind: "passed", committed: null, deferred: "final" });
  expect(stage.hub.stateCommits()).toBe(commits);
  expect(await pass(ports, once, memory, true)).toMatchObject({ kind: "passed", deferred: null });
  expect(stage.hub.stateCommits()).toBe(commits + 1);
});

test("a rewritten history is not believed until somebody accepts exactly that rewrite (F-15)", async () => {
  await rest(await stage.reconciler());
  const { clone } = stage.hub;
  const old = gitIn(clone, ["rev-parse", "HEAD"]) as Commit;
  gitIn(clone, ["rm", "--quiet", "placements/payments.yaml"]);
  gitIn(clone, ["commit", "--quiet", "--amend", "-m", "As if it had always been so"]);
  gitIn(clone, ["push", "--quiet", "--force", "origin", "main"]);
  const head = gitIn(clone, ["rev-parse", "HEAD"]) as Commit;

  const doubted = await rest(await stage.reconciler());
  expect(doubted.plan.reasons).toContainEqual(
    expect.objectContaining({ kind: "sourceHeld", code: "HistoryRewritten" }),
  );
  expect(stage.hub.stateFile("placements/payments/bindings.yaml")).not.toContain("removal");

  const other = { ...once, acceptRewrite: { from: head, to: old } };
  expect((await rest(await stage.reconciler(), other)).plan.reasons).toContainEqual(
    expect.objectContaining({ code: "HistoryRewritten" }),
  );
  await rest(await stage.reconciler(), { ...once, acceptRewrite: { from: old, to: head } });
  expect(stage.hub.stateFile("placements/payments/placement.yaml")).toBeNull();
});

test("a rewritten history that holds the same files is accepted for good", async () => {
  await rest(await stage.reconciler());
  const { clone } = stage.hub;
  const old = gitIn(clone, ["rev-parse", "HEAD"]) as Commit;
  gitIn(clone, ["commit", "--quiet", "--amend", "-m", "In other words"]);
  gitIn(clone, ["push", "--quiet", "--force", "origin", "main"]);
  const head = gitIn(clone, ["rev-parse", "HEAD"]) as Commit;
  await rest(await stage.reconciler(), { ...once, acceptRewrite: { from: old, to: head } });

  await stage.hub.edit("resources/platform/config.yaml", "720h", "360h");
  stage.hub.push("Renew earlier");
  expect((await rest(await stage.reconciler())).plan.reasons).not.toContainEqual(
    expect.objectContaining({ kind: "sourceHeld" }),
  );
});

test("a file that is far too large costs only itself, and is not read to its end", async () => {
  await rest(await stage.reconciler());
  await stage.hub.write("resources/huge.yaml", `kind: ConfigMap\n# ${"x".repeat(3 << 20)}\n`);
  await stage.hub.edit("resources/platform/config.yaml", "720h", "360h");
  stage.hub.push("Renew earlier, and a mistake");
  const ports = await stage.reconciler();
  let largest = 0;
  const weighing = withRepository(ports, {
    blobs: async (...asked) => {
      const found = await ports.repository.blobs(...asked);
      largest = Math.max(largest, ...[...found.values()].map((it) => it.length));
      return found;
    },
  });
  const { intent } = await rest(weighing);
  expect(intent.problems.map((it) => [it.path, it.severity])).toEqual([["resources/huge.yaml", "error"]]);
  expect(largest).toBe(1 + (1 << 20));
  expect(stage.hub.stateFile("rendered/dev-eu-1/platform.yaml")).toMatch(/RENEW_BEFORE: "?360h/);
});

/** A commit that no git makes: its root names `fleet.yaml` twice. */
function pushOddCommit(clone: string): { readonly tree: string; readonly head: string } {
  const blob = gitIn(clone, ["rev-parse", "HEAD:fleet.yaml"]);
  const entry = Buffer.concat([Buffer.from("100644 fleet.yaml\0"), Buffer.from(blob, "hex")]);
  const options = { cwd: clone, input: Buffer.concat([entry, entry]) };
  const tree = execFileSync("git", ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], options);
  const odd = tree.toString().trim();
  const head = gitIn(clone, ["commit-tree", odd, "-p", "HEAD", "-m", "Twice"]);
  gitIn(clone, ["push", "--quiet", "origin", `${head}:refs/heads/main`]);
  return { tree: odd, head };
}

describe("a commit whose folders programs read differently", () => {
  test("costs itself alone, and the way back that is told works (T-44)", async () => {
    await rest(await stage.reconciler());
    const { clone } = stage.hub;
    const accepted = gitIn(clone, ["rev-parse", "HEAD"]);
    const { tree, head } = pushOddCommit(clone);
    // Somebody changes a member meanwhile: what was accepted stays in force, and is put right.
    const member = stage.members.cluster("dev-eu-1");
    const place = { group: "", kind: "ConfigMap", namespace: "platform", name: "certificates" };
    const before = member.get(place)?.["data"];
    const other = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: place.namespace, name: place.name } };
    member.apply("somebody", { ...other, data: { RENEW_BEFORE: "1h" } });
    expect(member.get(place)?.["data"]).not.toEqual(before);
    const told = (await rest(await stage.reconciler())).plan.reasons.map(reasonText).join("\n");
    expect(told).toContain(
      `SourceUnsound at ${head.slice(0, 7)}: tree ${tree}: two entries have the name "fleet.yaml"`,
    );
    expect(told).toContain(`what was accepted with ${accepted} stays in force`);
    expect(member.get(place)?.["data"]).toEqual(before);

    // Whoever mends it need not have the odd commit checked out.
    gitIn(clone, ["reset", "--quiet", "--hard", accepted]);
    const [, command = ""] = /git fetch, then git push origin \$\(git (.*?)\):BRANCH/.exec(told) ?? [];
    const words = command.replace("SOUND", accepted).replace("BRANCH", "main").replace('"Go back"', "Back").split(" ");
    gitIn(clone, ["fetch", "--quiet"]);
    gitIn(clone, ["push", "--quiet", "origin", `${gitIn(clone, words)}:main`]);
    const { plan } = await rest(await stage.reconciler());
    expect(plan.reasons).not.toContainEqual(expect.objectContaining({ kind: "sourceHeld" }));
  });

  test("is no beginning of a fleet", async () => {
    pushOddCommit(stage.hub.clone);
    await expect(freshPass(await stage.reconciler())).rejects.toMatchObject({ code: "ObjectUnsound" });
    expect(mutations(stage)).toBe(0);
  });
});

test("a source branch without any document is not an order to delete everything", async () => {
  await rest(await stage.reconciler());
  const requests = mutations(stage);
  const { clone } = stage.hub;
  gitIn(clone, ["rm", "--quiet", "-r", "."]);
  await stage.hub.write("README.md", "moved\n");
  stage.hub.push("Move away");
  const result = await rest(await stage.reconciler());
  expect(result.plan.reasons).toContainEqual(expect.objectContaining({ kind: "sourceHeld", code: "SourceEmpty" }));
  expect(mutations(stage)).toBe(requests);
});

test("a state branch that is gone while members remember it refuses everything", async () => {
  await rest(await stage.reconciler());
  const requests = mutations(stage);
  gitIn(stage.hub.repo, ["update-ref", "-d", "refs/heads/fleet/state"]);
  const result = await freshPass(await stage.reconciler());
  expect(result).toMatchObject({ kind: "passed", committed: null, plan: { refusal: { code: "StateLost" } } });
  expect([stage.hub.stateCommits(), mutations(stage)]).toEqual([0, requests]);
});

test("a state branch that was set back refuses everything (F-16)", async () => {
  await rest(await stage.reconciler());
  await stage.hub.edit("resources/platform/config.yaml", "720h", "360h");
  stage.hub.push("Renew earlier");
  const earlier = gitIn(stage.hub.repo, ["rev-parse", "refs/heads/fleet/state"]);
  await rest(await stage.reconciler());
  const requests = mutations(stage);
  gitIn(stage.hub.repo, ["update-ref", "refs/heads/fleet/state", earlier]);
  const result = await freshPass(await stage.reconciler());
  expect(result).toMatchObject({ kind: "passed", committed: null, plan: { refusal: { code: "StateRewound" } } });
  expect(mutations(stage)).toBe(requests);
});

test("a missing source branch is a fault, not an empty fleet", async () => {
  gitIn(stage.hub.repo, ["branch", "--move", "main", "master"]);
  await expect(freshPass(await stage.reconciler())).rejects.toMatchObject({
    code: "SourceBranchMissing",
    message: "the source branch main does not exist",
    fix: "the repository has master: give --branch master",
  });
  gitIn(stage.hub.repo, ["update-ref", "-d", "refs/heads/master"]);
  await expect(freshPass(await stage.reconciler())).rejects.toMatchObject({
    fix: "push it, or name another one with --branch",
  });
});

test("a state branch that somebody broke is a fault that names the file", async () => {
  await rest(await stage.reconciler());
  const { repo } = stage.hub;
  const blob = gitIn(repo, ["hash-object", "-w", "--stdin"], "formatVersion: 99\n");
  const listing = gitIn(repo, ["ls-tree", "fleet/state"]).replace(/[0-9a-f]{40}\tledger\.yaml/, `${blob}\tledger.yaml`);
  const tree = gitIn(repo, ["mktree"], `${listing}\n`);
  const commit = gitIn(repo, ["commit-tree", tree, "-p", "fleet/state", "-m", "meddle"]);
  gitIn(repo, ["update-ref", "refs/heads/fleet/state", commit]);
  await expect(freshPass(await stage.reconciler())).rejects.toMatchObject({
    code: "StateUnreadable",
    message: expect.stringContaining("ledger.yaml"),
  });
});

/** Resolves for everybody once so many have come. */
function meeting(count: number): () => Promise<void> {
  let come = 0;
  let open = (): void => {};
  const door = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    come++;
    if (come === count) open();
    return door;
  };
}

/** A reconciler that waits at the door of its first commit. */
const heldBackBeforeCommit = (ports: Ports, proposals: Proposal[], arrived: () => Promise<void>): Ports =>
  withRepository(ports, {
    commit: async (it) => {
      proposals.push(it);
      await arrived();
      return ports.repository.commit(it);
    },
  });
