import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectingNames, type Stage, setPlacedStage } from "./fleet.ts";
import { type FleetContents, lossOf } from "./member.ts";
import { flotilla } from "./program.ts";

describe("what is taken out of the repository", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setPlacedStage();
  });
  afterAll(() => stage?.stop());

  test("a placement on two members goes with exactly its objects", async () => {
    const [before, held] = [await stage.contents(), await stage.contents("payments")];
    await stage.hub.remove("placements/payments.yaml");
    const commit = stage.hub.push("Payments go");
    const run = await stage.reconcile("--wait", "20s");
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(await stage.differences(before)).toEqual(lossOf(held));
    expect(Object.keys(lossOf(held))).toEqual(["prod-eu-1", "prod-us-1"]);
    expect(run.out).toContain("payments is withdrawn from prod-eu-1, prod-us-1\n");
    expect(run.out).toContain("prod-us-1: 5 deleted\n");
    expect(stage.hub.stateLog(1)).toMatch(/^payments is gone from every member\n/);
    expect(stage.hub.stateLog(1)).toContain(`Source-Commit: ${commit}\n`);
    expect(stage.hub.statePaths().filter((it) => it.includes("payments/"))).not.toContain("placements/payments/");
    expect((await stage.run("get", "placements")).out).not.toContain("payments");
    await stage.mutations();
    expect((await stage.reconcile()).out).toBe("at rest after 1 pass, 0 commits\n");
    expect(await stage.mutations()).toBe(0);
  });

  test("an object that a placement no longer selects goes, and nothing else", async () => {
    const before = await stage.contents();
    const text = await stage.hub.read("resources/shop/web.yaml");
    await stage.hub.write("resources/shop/web.yaml", text.slice(0, text.lastIndexOf("---")));
    stage.hub.push("The shop needs no Service");
    expect(await stage.reconcile("--wait", "20s")).toMatchObject({ code: 0, err: "" });
    const gone = { added: [], changed: [], removed: ["services shop/web"] };
    expect(await stage.differences(before)).toEqual({ "prod-eu-1": gone, "prod-eu-2": gone, "prod-us-2": gone });
  });

  test("a member whose file is removed leaves the fleet, and nothing on it is touched", async () => {
    const before = await stage.contents();
    await stage.mutations();
    await stage.hub.remove("clusters/staging-us-1.yaml");
    stage.hub.push("staging-us-1 leaves");
    const run = await stage.reconcile();
    expect(run.code).toBe(0);
    expect(run.out).toContain("staging-us-1 left the fleet; nothing is written to it or deleted from it any more\n");
    expect(await stage.differences(before)).toEqual({});
    expect(await stage.member("staging-us-1").mutations()).toBe(0);
    stage.hub.revert();
    expect(await stage.reconcile("--wait", "20s")).toMatchObject({ code: 0, err: "" });
    const { "staging-us-1": back, ...others } = await stage.differences(before);
    expect(others).toEqual({});
    expect({ added: back?.added ?? [], removed: back?.removed ?? [] }).toEqual({ added: [], removed: [] });
  });

  describe("a placement on eight members", () => {
    const file = "placements/observability.yaml";
    let before: FleetContents;
    let confirmation: { readonly path: string; readonly text: string };
    beforeAll(async () => {
      before = await stage.contents();
      await stage.mutations();
    });

    const digest = () => confirmation.path.slice("approvals/deletions/".length, -".yaml".length);
    const confirmationIn = (out: string): typeof confirmation => {
      const [, path = "", text = ""] =
        /commit this file to the source branch: (approvals\/deletions\/[0-9a-f]{64}\.yaml)\n((?: {4}.*\n)+)/.exec(
          out,
        ) ?? [];
      return { path, text: text.replace(/^ {4}/gm, "") };
    };

    test("plan says what its removal would need, without asking any member", async () => {
      await stage.hub.remove(file);
      stage.hub.push("Observability goes");
      const { code, out } = await stage.run("plan");
      expect(code).toBe(0);
      confirmation = confirmationIn(out);
      expect(confirmation.text).toContain(`digest: "${digest()}"\n`);
      expect(out).toContain("observability: 32 deletions on 8 clusters wait for a confirmation of ");
    });

    test("its removal waits for a confirmation, and says which file gives it", async () => {
      const run = await stage.reconcile();
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(confirmationIn(run.out)).toEqual(confirmation);
      expect(stage.hub.stateFile("README.md")).toContain(confirmation.path);
      expect(await stage.differences(before)).toEqual({});
      expect(await stage.mutations()).toBe(0);
      const json = await stage.reconcile("-o", "json");
      const needed = JSON.parse(json.out).reasons.find((it: { kind: string }) => it.kind === "confirmationNeeded");
      expect(needed).toMatchObject({ objects: 32, clusters: collectingNames, digest: digest() });
    });

    test("waiting for a person is not waited for", async () => {
      const began = Date.now();
      const run = await stage.reconcile("--wait", "20s");
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(Date.now() - began).toBeLessThan(10_000);
    });

    test("it is said once, not once for every member", async () => {
      const { out } = await stage.reconcile();
      expect(out.split("\n").filter((it) => it.startsWith("waiting: "))).toHaveLength(1);
    });

    test("put back, it stays as it was, and nobody has to confirm anything", async () => {
      stage.hub.revert();
      const run = await stage.reconcile("--wait", "20s");
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(run.out).not.toContain("wait for a confirmation");
      expect(await stage.differences(before)).toEqual({});
      expect((await stage.run("get", "placements", "observability")).out).toMatch(/ 8\/8 +8 +8 +0 +Available\n$/);
    });

    test("a confirmation of something else lets nothing go", async () => {
      await stage.hub.remove(file);
      const other = "f".repeat(64);
      const text = confirmation.text.replaceAll(digest(), other);
      await stage.hub.write(`approvals/deletions/${other}.yaml`, text);
      stage.hub.push("Observability goes, confirmed wrongly");
      const run = await stage.reconcile();
      expect(run.out).toContain("wait for a confirmation of ");
      expect(await stage.differences(before)).toEqual({});
    });

    test("it goes, with exactly its objects, once the file that was shown is committed", async () => {
      const held = await stage.contents("observability");
      await stage.hub.write(confirmation.path, confirmation.text);
      stage.hub.push("Confirm it");
      expect(await flotilla(["validate", stage.hub.clone])).toMatchObject({ code: 0, err: "" });
      const run = await stage.reconcile("--wait", "20s");
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(run.out).toMatch(/ {2}32 deletions on .* were confirmed by [0-9a-f]{64}\n/);
      expect(await stage.differences(before)).toEqual(lossOf(held));
      expect(Object.keys(lossOf(held))).toEqual(collectingNames);
      await stage.mutations();
      expect((await stage.reconcile()).out).toBe("at rest after 1 pass, 0 commits\n");
      expect(await stage.mutations()).toBe(0);
    });
  });
});
