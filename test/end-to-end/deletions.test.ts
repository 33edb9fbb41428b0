import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitIn } from "../shell/git/hub.ts";
import { collectingNames, restoreStage, type Stage, setPlacedStage } from "./fleet.ts";
import { create, type FleetContents, lossOf } from "./member.ts";
import { flotilla } from "./program.ts";

describe("what is taken out of the repository", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setPlacedStage();
    gitIn(stage.hub.clone, ["config", "user.name", "Ann"]);
    gitIn(stage.hub.clone, ["config", "user.email", "ann@acme.example"]);
  });
  afterAll(() => stage?.stop());

  test("a placement on two members goes with exactly its objects", async () => {
    const [before, held] = [await stage.contents(), await stage.contents("payments")];
    await stage.hub.remove("placements/payments.yaml");
    const commit = stage.hub.push("Payments go");
    const run = await stage.reconcile("--wait", "5m");
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(await stage.differences(before)).toEqual(lossOf(held));
    expect(Object.keys(lossOf(held))).toEqual(["prod-eu-1", "prod-us-1"]);
    expect(run.out).toContain("payments is being removed from prod-eu-1, prod-us-1\n");
    expect(run.out).toContain("prod-us-1: 5 deleted\n");
    expect(stage.hub.stateLog(1)).toMatch(/^payments is removed from every member\n/);
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
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
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
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
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

    test("and confirm writes the same file before anything of it is recorded", async () => {
      gitIn(stage.hub.clone, ["fetch", "--quiet"]);
      const { code, out } = await flotilla(["confirm", digest(), "--dry-run", "--repo", stage.hub.clone]);
      expect(code).toBe(0);
      expect(out).toContain(`${digest()}: 32 deletions on 8 clusters of observability: `);
      expect(out).toContain(`# ${confirmation.path}\n${confirmation.text}`);
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
      // Longer than the test may take.
      expect(await stage.reconcile("--wait", "1h")).toMatchObject({ code: 0, err: "" });
    });

    test("it is said once, not once for every member", async () => {
      const { out } = await stage.reconcile();
      expect(out.split("\n").filter((it) => it.startsWith("waiting: "))).toHaveLength(1);
    });

    test("put back, it stays as it was, and nobody has to confirm anything", async () => {
      stage.hub.revert();
      const run = await stage.reconcile("--wait", "5m");
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(run.out).not.toContain("wait for a confirmation");
      expect(await stage.differences(before)).toEqual({});
      expect((await stage.run("get", "placements", "observability")).out).toMatch(/ 8\/8 +8 +8 +0 +Available\n$/);
    });

    test("placed again, it is asked about anew: the file that was shown before confirms nothing", async () => {
      await stage.hub.remove(file);
      await stage.hub.write(confirmation.path, confirmation.text);
      stage.hub.push("Observability goes, with an old confirmation");
      const run = await stage.reconcile();
      expect(run.code).toBe(0);
      const next = confirmationIn(run.out);
      expect(next.path).toMatch(/^approvals\/deletions\/[0-9a-f]{64}\.yaml$/);
      expect(next.path).not.toBe(confirmation.path);
      expect(run.out).toContain(`notice: ${confirmation.path} confirms nothing: no deletion waited under its digest`);
      expect(await stage.differences(before)).toEqual({});
      await stage.hub.remove(confirmation.path);
      stage.hub.push("It confirms nothing");
      expect((await stage.reconcile()).out).not.toContain("confirms nothing");
      confirmation = next;
    });

    test("what would go is listed by placement and cluster, for people and for programs", async () => {
      const heading = `${digest()}: 32 deletions on 8 clusters of observability: more than one commit may delete without confirmation\n`;
      const where = `observability on ${collectingNames.join(", ")}:\n`;
      const { out } = await stage.run("get", "deletions");
      expect(out).toMatch(new RegExp(`${digest()} +Waiting +TooMany +32 +8 +observability\n`));
      expect(out).toContain(
        `\n${heading}  ${where}    ConfigMap observability/collector\n    Namespace observability\n`,
      );
      for (const command of ["plan", "reconcile"] as const) {
        const run = command === "plan" ? await stage.run(command) : await stage.reconcile();
        expect(run.out).toContain(`  ${where}    ConfigMap observability/collector\n    Namespace observability\n`);
        expect(run.out).toContain(`  to confirm them: flotilla confirm ${digest()}\n`);
      }
      const groups = [{ placement: "observability", clusters: collectingNames, objects: expect.any(Array) }];
      const told = JSON.parse((await stage.run("plan", "-o", "json")).out) as { reasons: readonly { kind: string }[] };
      expect(told.reasons.find((it) => it.kind === "confirmationNeeded")).toMatchObject({ digest: digest(), groups });
      const list = JSON.parse((await stage.run("get", "deletions", digest(), "-o", "json")).out) as unknown;
      expect(list).toMatchObject({
        items: [{ metadata: { name: digest() }, spec: { groups }, status: { confirmed: false } }],
      });
    });

    test("flotilla confirm shows it, and commits the file that lets it go", async () => {
      const here = ["--repo", stage.hub.clone];
      const wrong = await flotilla(["confirm", "f".repeat(64), ...here]);
      expect(wrong).toMatchObject({
        code: 64,
        err: expect.stringContaining("no deletion waits for a confirmation under f"),
      });
      const dry = await flotilla(["confirm", digest().slice(0, 8), "--dry-run", ...here]);
      expect(dry).toMatchObject({ code: 0, err: "" });
      expect(dry.out).toContain(`# ${confirmation.path}\n${confirmation.text}`);
      const run = await flotilla(["confirm", "--push", ...here]);
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(run.out).toContain(`${digest()}: 32 deletions on 8 clusters of observability: `);
      expect(run.out).toContain("    Namespace observability\n");
      expect(run.out).toMatch(/committed [0-9a-f]{10} to main: Confirm 32 deletions on 8 clusters\n/);
      expect(await stage.hub.read(confirmation.path)).toBe(confirmation.text);
      const twice = await flotilla(["confirm", ...here]);
      expect(twice).toMatchObject({ code: 64, err: expect.stringContaining(`${confirmation.path} already exists`) });
    });

    test("then it goes, with exactly its objects", async () => {
      const held = await stage.contents("observability");
      expect(await flotilla(["validate", stage.hub.clone])).toMatchObject({ code: 0, err: "" });
      const run = await stage.reconcile("--wait", "5m");
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(run.out).toMatch(/ {2}32 deletions on .* were confirmed by [0-9a-f]{64}\n/);
      expect(await stage.differences(before)).toEqual(lossOf(held));
      expect(Object.keys(lossOf(held))).toEqual(collectingNames);
      await stage.mutations();
      expect((await stage.reconcile()).out).toBe("at rest after 1 pass, 0 commits\n");
      expect(await stage.mutations()).toBe(0);
    });

    test("placed and removed again, it waits again, with the used file still there", async () => {
      const gone = await stage.contents();
      await restoreStage(stage);
      await stage.hub.write(confirmation.path, confirmation.text);
      stage.hub.push("Observability is back");
      expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
      expect(await stage.differences(gone)).not.toEqual({});
      const there = await stage.contents();
      await stage.hub.remove(file);
      stage.hub.push("Observability goes by mistake");
      const run = await stage.reconcile("--wait", "5m");
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(run.out).toContain("observability: 32 deletions on 8 clusters wait for a confirmation of ");
      expect(run.out).not.toContain("confirms nothing");
      expect(await stage.differences(there)).toEqual({});
    });
  });

  describe("a placement whose namespace somebody else uses", () => {
    const secrets = "/api/v1/namespaces/payments/secrets";
    let before: FleetContents;
    beforeAll(async () => {
      await restoreStage(stage);
      stage.hub.push("As it was");
      if ((await stage.reconcile("--wait", "5m")).code !== 0) throw new Error("it was not placed again");
      await create(stage.member("prod-eu-1"), secrets, { metadata: { name: "theirs" } });
      before = await stage.contents();
    });

    const confirmed = async (): Promise<string> => {
      const run = await flotilla(["confirm", "--push", "--repo", stage.hub.clone]);
      expect(run).toMatchObject({ code: 0, err: "" });
      return run.out;
    };
    const left = async (): Promise<readonly string[]> =>
      [...((await stage.contents()).get("prod-eu-1") ?? new Map<string, unknown>()).keys()].filter((it) =>
        it.includes("payments"),
      );
    const all = (): readonly string[] =>
      [...(before.get("prod-eu-1")?.keys() ?? [])].filter((it) => it.includes("payments"));

    test("is emptied of ours, and what is there of others is asked about by name and uid", async () => {
      expect(all()).toContain("secrets payments/theirs");
      await stage.hub.remove("placements/payments.yaml");
      stage.hub.push("Payments go");
      const run = await stage.reconcile("--wait", "5m");
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(run.out).toMatch(
        /payments on prod-eu-1:\n {4}Namespace payments\n {6}and, of others, on prod-eu-1: Secret payments\/theirs \(uid [0-9a-f-]{36}\)\n/,
      );
      expect(await left()).toEqual(["namespaces payments", "secrets payments/theirs"]);
    });

    test("stays when another object joined after it was confirmed, and that is asked about", async () => {
      expect(await confirmed()).toContain("Secret payments/theirs (uid ");
      await create(stage.member("prod-eu-1"), secrets, { metadata: { name: "more" } });
      const run = await stage.reconcile("--wait", "5m");
      expect(run.code).toBe(0);
      expect(run.out).toContain("Secret payments/more (uid ");
      expect(await left()).toEqual(["namespaces payments", "secrets payments/more", "secrets payments/theirs"]);
    });

    test("goes with just what was confirmed", async () => {
      expect(await confirmed()).toContain("Secret payments/more (uid ");
      expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0 });
      expect(await left()).toEqual([]);
      expect((await stage.reconcile()).out).toBe("at rest after 1 pass, 0 commits\n");
    });
  });
});
