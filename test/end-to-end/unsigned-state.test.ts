// A state branch that nobody signs, and how that is mended: the commands are those that the reconciler names.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gitIn } from "../shell/git/hub.ts";
import { type SmallStage, setSmallStage } from "./rollouts.ts";
import { newSigner, type Signer } from "./signers.ts";
import { configMap, file, memberCluster, namespace, openFleet } from "./small-fleet.ts";

let stage: SmallStage;
let ann: Signer;
let anchor = "";
beforeAll(async () => {
  const files = {
    "fleet.yaml": file(openFleet),
    "clusters/east.yaml": file(memberCluster("east", { env: "east" })),
    "resources/namespace.yaml": file(namespace("shop")),
    "resources/settings.yaml": file(configMap("shop/settings", { version: "0" })),
  };
  stage = await setSmallStage(files, { servers: [], embedded: ["east"] });
  ann = newSigner("ann", stage.hub, stage.folder);
});
afterAll(() => stage?.stop());

const reconcile = (...more: readonly string[]) => stage.reconcile("--trust-anchor", anchor, ...more);
const warning = /^warning: fleet\/state is not signed: .*$/m;
const inShell = (command: string): string =>
  execFileSync("sh", ["-c", command], { cwd: stage.folder, encoding: "utf8" }).trim();

test("is warned of at each start in one line, and what the line names mends it", async () => {
  // Where nobody is said to approve anything, nothing is warned of.
  expect(await stage.reconcile()).toMatchObject({ code: 0, err: "" });
  anchor =
    /--trust-anchor ([0-9a-f]{64})/.exec((await ann.run("trust", "init", "--name", "ann", "--push")).out)?.[1] ?? "";
  const warned = await reconcile();
  expect(warned).toMatchObject({ code: 0, err: expect.stringMatching(warning) });
  expect(warned.err.trim().split("\n")).toHaveLength(1);
  const json = await reconcile("-o", "json");
  expect([json.err, JSON.parse(json.out).kind]).toEqual([warned.err, "settled"]);

  const key = join(stage.folder, "reconciler-key");
  const [, make = "", add = "", head = ""] =
    /create a key \((ssh-keygen .*?)\), run flotilla (trust add .*?) in a clone, then this command with --signing-key KEY, the first time with --accept-state "\$\((.*?)\)"/.exec(
      warned.err,
    ) ?? [];
  inShell(`${make.replace("KEY", key)} -q`);
  const added = await ann.run(...add.replace("KEY", key).split(" "));
  expect([added.code, added.err]).toEqual([0, ""]);
  // The branch is not ours to go on from before somebody looked at it.
  expect(await reconcile("--signing-key", key)).toMatchObject({
    code: 69,
    err: expect.stringContaining("--accept-state"),
  });
  const signed = await reconcile("--signing-key", key, "--accept-state", inShell(head));
  expect(signed).toMatchObject({ code: 0, err: "" });
  expect(stage.hub.stateFile("ledger.yaml")).toMatch(/version: 2\b/);
  expect(gitIn(stage.hub.repo, ["cat-file", "commit", "fleet/state"])).toContain("BEGIN SSH SIGNATURE");
  expect(await reconcile("--signing-key", key)).toMatchObject({ code: 0, err: "" });
  // Without it, the line has nothing to add to the trust file any more.
  const again = await reconcile();
  expect(again.err).toMatch(/^warning: fleet\/state is not signed: [^;]*; run this command with --signing-key KEY/);

  // An edit by whoever may write the branch is no record of ours from now on.
  const clone = join(stage.folder, "eve");
  gitIn(stage.folder, ["clone", "--quiet", "--branch", "fleet/state", stage.hub.repo, clone]);
  const ledger = readFileSync(join(clone, "ledger.yaml"), "utf8");
  writeFileSync(join(clone, "ledger.yaml"), ledger.replace(/^sequence: \d+$/m, "sequence: 900"));
  gitIn(clone, ["commit", "--quiet", "--allow-empty", "-am", "Nothing to see here"]);
  gitIn(clone, ["push", "--quiet", "origin", "fleet/state"]);
  expect(await reconcile("--signing-key", key)).toMatchObject({
    code: 69,
    err: expect.stringContaining("is not signed"),
  });
});
