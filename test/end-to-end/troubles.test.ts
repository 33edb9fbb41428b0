import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/model/json.ts";
import { memberNames, restoreStage, type Stage, setPlacedStage } from "./fleet.ts";
import { type Difference, noDifference } from "./member.ts";

const troubled = "prod-us-1";
const changed: Difference = { ...noDifference, changed: ["configmaps platform/certificates"] };

const changedOn = (names: readonly string[]) => Object.fromEntries(names.map((it) => [it, changed]));
const elsewhere = memberNames.filter((it) => it !== troubled);

describe("a member that", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setPlacedStage();
  });
  afterAll(() => stage?.stop());

  /** Somebody changes a ConfigMap that stands on every member. */
  const change = async (issuer: string): Promise<void> => {
    await stage.hub.edit("resources/platform/config.yaml", "https://acme.example/ca", issuer);
    stage.hub.push(`Issue by ${issuer}`);
  };

  const troubles: readonly { readonly name: string; readonly faults: JsonObject; readonly says: RegExp }[] = [
    { name: "is down", faults: { down: true }, says: /^stuck: prod-us-1: unreachable since .+Z: .+$/ },
    {
      name: "refuses the token",
      faults: { unauthorized: true },
      says: /^stuck: prod-us-1: credentials rejected since .+Z: .+$/,
    },
    {
      name: "answers 500",
      faults: { failWith: 500 },
      says: /^stuck: prod-us-1: (unreachable|invalid response) since .+Z: .+$/,
    },
    { name: "never answers", faults: { hang: true }, says: /^stuck: prod-us-1: unreachable since .+Z: .+$/ },
  ];
  test.each(troubles)("$name is named once, holds up nobody else, and gets what it missed", async (row) => {
    const before = await stage.contents();
    const member = stage.member(troubled);
    await member.control({ faults: { ...row.faults } });
    await restoreStage(stage);
    await change(row.name);
    const run = await stage.reconcile("--deadline", "2s");
    expect(run).toMatchObject({ code: 3, err: "" });
    const stuck = run.out.split("\n").filter((it) => it.startsWith("stuck: "));
    expect(stuck).toEqual([expect.stringMatching(row.says)]);
    expect((await stage.run("get", "clusters", "prod-us-1")).out).not.toContain("Healthy");
    const planned = await stage.run("plan", "--expect-no-change");
    expect([planned.code, planned.out]).toEqual([0, expect.stringMatching(/^notice: prod-us-1: .+ since .+Z: .+$/m)]);
    expect(planned.out).not.toContain("stuck: ");
    await member.control({ faults: { down: false, unauthorized: false, failWith: null, hang: false } });
    expect(await stage.differences(before)).toEqual(changedOn(elsewhere));
    const back = await stage.reconcile();
    expect(back).toMatchObject({ code: 0, err: "" });
    expect(back.out).toContain("prod-us-1 answers again\n");
    expect(await stage.differences(before)).toEqual(changedOn(memberNames));
  });

  test("has no context in the kubeconfig is named, and nobody else waits for it", async () => {
    const before = await stage.contents();
    await restoreStage(stage);
    await stage.hub.edit("fleet.yaml", "  # contexts:\n  #   prod-eu-1: acme-", "  contexts:\n    prod-us-1: acme-");
    await change("without-context");
    const run = await stage.reconcile();
    expect(run).toMatchObject({ code: 3, err: "" });
    const stuck = run.out.split("\n").filter((it) => it.startsWith("stuck: "));
    expect(stuck).toEqual([
      expect.stringMatching(/^stuck: prod-us-1: no connection configured since .*acme-production-frankfurt$/),
    ]);
    expect(await stage.differences(before)).toEqual(changedOn(elsewhere));
    await stage.hub.edit("fleet.yaml", "  contexts:\n    prod-us-1: acme-", "  # contexts:\n  #   prod-eu-1: acme-");
    stage.hub.push("The context of its own name");
    expect(await stage.reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await stage.differences(before)).toEqual(changedOn(memberNames));
  });

  test("refuses a write says which object and why, and nothing is deleted", async () => {
    const before = await stage.contents();
    const member = stage.member(troubled);
    await member.control({ faults: { readOnly: ["/ConfigMap"] } });
    await restoreStage(stage);
    await change("refused");
    const run = await stage.reconcile();
    expect(run.code).toBe(3);
    expect(run.out).toMatch(/^stuck: prod-us-1: its inventory cannot be written: .*is forbidden.*$/m);
    expect(run.out.match(/is forbidden/g)).toHaveLength(1);
    expect(await stage.differences(before)).toEqual(changedOn(elsewhere));
    await member.control({ faults: { readOnly: [] } });
    expect(await stage.reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await stage.differences(before)).toEqual(changedOn(memberNames));
  });

  test("T-26: became another cluster gets nothing written until somebody looks", async () => {
    const before = await stage.contents();
    await stage.member(troubled).control({ reset: true });
    await stage.mutations();
    await restoreStage(stage);
    await change("elsewhere");
    const run = await stage.reconcile();
    expect(run.code).toBe(3);
    expect(run.out).toMatch(/^stuck: prod-us-1: a different cluster since .*$/m);
    expect(await stage.member(troubled).mutations()).toBe(0);
    const { "prod-us-1": _, ...rest } = await stage.differences(before);
    expect(rest).toEqual(changedOn(elsewhere));
  });

  test("is one of nine that are all down ends a run that says so nine times", async () => {
    for (const name of memberNames) await stage.member(name).control({ faults: { down: true } });
    const run = await stage.reconcile();
    expect(run.code).toBe(3);
    expect(run.out.split("\n").filter((it) => it.startsWith("stuck: "))).toHaveLength(9);
  });
});
