// `flotilla verify`, and the key that `flotilla reconcile` signs with, from the command line.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";
import { type AuditedHub, auditedHub } from "../shell/reconcile/audited-hub.ts";
import { hasSshKeygen } from "../shell/signature/workshop.ts";

describe.skipIf(!hasSshKeygen)("the command line", () => {
  let hub: AuditedHub;
  beforeEach(async () => {
    hub = await auditedHub();
  });
  afterEach(() => hub.close());

  async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const said = { out: "", err: "" };
    const terminal = {
      out: (it: string) => {
        said.out += it;
      },
      err: (it: string) => {
        said.err += it;
      },
      environment,
    };
    const [command = "", ...more] = args;
    const code = await main([command, "--repo", hub.workshop.repository, ...more], terminal);
    return { code, ...said };
  }

  test("verify tells what it looked at, a line each, and ends with 0 where nothing is wrong", async () => {
    await hub.settle();
    const { code, out, err } = await run(["verify", "--full", "--trust-anchor", hub.anchor]);
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n").map((it) => it.replace(/ {2,}/, " "))).toEqual([
      "chain 2 commits",
      "signatures 2 commits",
      "trust 1 version of the trust file",
      "approvals 0 approvals and opened gates",
      "plans 1 plan",
      "accepted 2 commits",
      "scheduling 1 schedule",
      "rendered 0 targets",
      "proved: every commit follows the one before, and the sequence has no gap",
      "proved: every commit is signed by a machine that the trust file lists",
      "proved: every trust file in force was allowed by the one before",
      "proved: every run kept to its frozen plan",
      "proved: what was read is what the source commits contain",
      "proved: every verdict, score and binding follows from its policy and the recorded members",
      "not proved: what members reported and when passes ran: both are taken as recorded; no member was asked",
      "not proved: the pace of rollouts and the bounds of deletions: they depend on what members reported in each pass",
      "",
    ]);
  });

  test("verify names a fault with its commit, path, what and what to do, and ends with 1", async () => {
    await hub.settle();
    const commit = hub.forge({});
    const text = await run(["verify", "--trust-anchor", hub.anchor]);
    expect(text.code).toBe(1);
    expect(text.out).toContain("signatures 3 commits, 1 fault\n");
    expect(text.err).toContain(`fault: ${commit.slice(0, 12)} ledger.yaml: is not signed\n  find out who wrote it`);
    const json = await run(["verify", "-o", "json"], { FLOTILLA_TRUST_ANCHOR: hub.anchor });
    expect([json.code, JSON.parse(json.out).faults]).toMatchObject([1, [{ check: "signatures", commit }]]);
  });

  test("verify without a state branch says where to get it", async () => {
    const { code, err } = await run(["verify"]);
    expect([code, err]).toEqual([69, expect.stringContaining("git fetch origin fleet/state:fleet/state")]);
  });

  const reconcile = ["reconcile", "--kubeconfig", "/nowhere", "--signing-key"];

  test.each([
    ["is not there", null, "cannot be read"],
    ["is none", "secret words\n", "is not a private key"],
  ])("a signing key that %s stops everything, and nothing of it is shown", async (_, text, words) => {
    const path = join(hub.workshop.root, "none.key");
    if (text !== null) writeFileSync(path, text, { mode: 0o600 });
    const { code, err, out } = await run([...reconcile, path]);
    expect([code, err]).toEqual([64, expect.stringContaining(`the signing key ${path} ${words}`)]);
    expect(err + out).not.toContain("secret words");
  });

  test("a signing key that others may read is a warning; its path may stand in the environment", async () => {
    chmodSync(hub.robot.key, 0o644);
    const { err } = await run(reconcile.slice(0, 3), { FLOTILLA_SIGNING_KEY: hub.robot.key });
    expect(err).toContain(`warning: other users may read the signing key ${hub.robot.key}; run chmod 600`);
  });
});
