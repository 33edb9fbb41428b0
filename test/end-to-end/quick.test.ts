import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { memberAt } from "../../src/core/model/json.ts";
import { asked } from "./examples.ts";
import { memberNames, type Stage, setStage } from "./fleet.ts";
import { objectAt, objectsIn } from "./member.ts";
import { flotilla, type Run } from "./program.ts";

describe("examples-repo on embedded members", () => {
  let stage: Stage;
  let first: Run;
  beforeAll(async () => {
    stage = await setStage();
    first = await stage.reconcile("--wait", "5m");
    await stage.mutations();
  });
  afterAll(() => stage?.stop());

  test("the first run places everything that it asks for, and nothing else", async () => {
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out).toMatch(/\nat rest after \d+ passes, \d commits\n$/);
    for (const [placement, want] of Object.entries(asked)) {
      expect(objectsIn(await stage.contents(placement)), placement).toEqual(want);
    }
  });

  test("an override says on each cluster what it says about that cluster", async () => {
    for (const name of Object.keys(asked["web-shop"] ?? {})) {
      const namespace = await objectAt(stage.member(name), "/api/v1/namespaces/shop");
      expect(memberAt(namespace, "metadata", "labels", "acme.example/cluster")).toBe(name);
    }
  });

  test("the state branch tells it to people and to programs", async () => {
    const page = stage.hub.stateFile("README.md");
    expect(page).toContain("- **9 members**\n- **6 placements**, 5 in place\n");
    const rendered = stage.hub.statePaths().filter((it) => it.startsWith("rendered/"));
    const want = Object.entries(asked).flatMap(([placement, it]) =>
      Object.keys(it).map((name) => `rendered/${name}/${placement}.yaml`),
    );
    expect(rendered).toEqual(want.sort());
    expect(stage.hub.stateLog(9)).toMatch(/^Source-Commit: [0-9a-f]{40}\nLedger-Sequence: 1$/m);
  });

  test("a second run commits nothing and changes nothing", async () => {
    const [commits, before] = [stage.hub.stateCommits(), await stage.contents()];
    expect(await stage.reconcile()).toEqual({ code: 0, out: "at rest after 1 pass, 0 commits\n", err: "" });
    expect(stage.hub.stateCommits()).toBe(commits);
    expect(await stage.mutations()).toBe(0);
    expect(await stage.differences(before)).toEqual({});
  });

  test("get shows the placements as a table", async () => {
    const { code, out } = await stage.run("get", "placements");
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "NAME             TYPE        CLUSTERS   UPDATED   AVAILABLE   INDEX   STATE",
        "cluster-policy   PickAll     8/8        8         8           0       Available",
        "observability    PickAll     8/8        8         8           0       Available",
        "payments         PickFixed   2/2        2         2           0       Available",
        "platform         PickAll     9/9        9         9           0       Available",
        "search           PickAll     8/8        0         0           -       HeldBack",
        "web-shop         PickN       3/3        3         3           0       Available",
        "",
      ].join("\n"),
    );
    expect((await stage.run("get", "placement", "payments")).out.split("\n")).toHaveLength(3);
  });

  test("get shows members and bindings", async () => {
    const clusters = (await stage.run("get", "clusters")).out.trimEnd().split("\n");
    expect(clusters.slice(1).map((it) => it.split(/\s+/).slice(0, 3))).toEqual(
      memberNames.map((it) => [it, "v1.36.3", "Healthy"]),
    );
    const bindings = (await stage.run("get", "bindings", "payments")).out.trimEnd().split("\n");
    expect(bindings.map((it) => it.split(/\s+/))).toEqual([
      ["PLACEMENT", "CLUSTER", "STATE", "INDEX", "APPLIED", "AVAILABLE", "MESSAGE"],
      ["payments", "prod-eu-1", "Bound", "0", "True", "True"],
      ["payments", "prod-us-1", "Bound", "0", "True", "True"],
    ]);
  });

  test("get gives programs KubeFleet's objects, the same in JSON and YAML", async () => {
    const [json, yaml] = await Promise.all([
      stage.run("get", "bindings", "web-shop", "-o", "json"),
      stage.run("get", "bindings", "web-shop", "-o", "yaml"),
    ]);
    const list = JSON.parse(json.out);
    expect(parse(yaml.out)).toEqual(list);
    expect(
      list.items.map((it: { kind: string; spec: { targetCluster: string } }) => [it.kind, it.spec.targetCluster]),
    ).toEqual(["prod-eu-1", "prod-eu-2", "prod-us-2"].map((it) => ["ClusterResourceBinding", it]));
    const placement = JSON.parse((await stage.run("get", "placements", "web-shop", "-o", "json")).out).items[0];
    expect(
      placement.status.conditions.map((it: { type: string; status: string }) => `${it.type}=${it.status}`),
    ).toEqual(
      ["Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available"].map(
        (it) => `ClusterResourcePlacement${it}=True`,
      ),
    );
    expect(placement.status.placementStatuses.map((it: { clusterName: string }) => it.clusterName).sort()).toEqual([
      "prod-eu-1",
      "prod-eu-2",
      "prod-us-2",
    ]);
  });

  test("explain says why a placement is where it is, and why not elsewhere", async () => {
    const { code, out } = await stage.run("explain", "web-shop");
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toBe("web-shop: Available; PickN: 3 of 3 clusters selected, 3 available");
    expect(out).toContain("\non prod-eu-1: picked prod-eu-1: affinity score 20, topology score 0\n");
    expect(out).toContain("\nnot on prod-ap-1: ");
    expect(out).toMatch(/\nnot on edge-ap-1: .*workload=edge:NoSchedule/);
    expect(out).toMatch(/\nnot on dev-eu-1: .*environment=prod/);
    const one = await stage.run("explain", "web-shop", "--cluster", "edge-ap-1", "-o", "json");
    expect(JSON.parse(one.out).decisions).toEqual([
      { cluster: "edge-ap-1", selected: false, score: null, reason: expect.stringContaining("not tolerated") },
    ]);
  });

  test("plan says what would change, and changes nothing", async () => {
    await stage.hub.edit("resources/payments/config.yaml", "daily", "weekly");
    stage.hub.push("Settle weekly");
    const [commits, before] = [stage.hub.stateCommits(), await stage.contents()];
    const { code, out, err } = await stage.run("plan");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("payments has resource snapshot 1: 5 objects\n");
    expect(out).toContain("payments moves to resource snapshot 1 on prod-eu-1\n");
    expect(out).toMatch(/waiting: payments: prod-us-1 held back: .*\n/);
    expect(await stage.run("plan", "--expect-no-change")).toEqual({ code: 2, out, err });
    const asking = await stage.run("plan", "--kubeconfig", stage.kubeconfig, "-o", "json");
    expect(JSON.parse(asking.out)).toMatchObject({ decides: true, changed: true, problems: [], faults: [] });
    expect(stage.hub.stateCommits()).toBe(commits);
    expect(await stage.mutations()).toBe(0);
    expect(await stage.differences(before)).toEqual({});
  });

  test("plan asks the program that says properties of members, where it asks members at all", async () => {
    const folder = await mkdtemp(join(tmpdir(), "flotilla-command-"));
    const program = join(folder, "program");
    await writeFile(program, `#!/bin/sh\ncat >> ${folder}/asked\necho '{"properties": {"tier": "gold"}}'\n`, {
      mode: 0o755,
    });
    const command = ["plan", "--property-command", program] as const;
    const alone = "error: --property-command needs --kubeconfig: without it no cluster is contacted\n";
    expect(await stage.run(...command)).toEqual({ code: 64, out: "", err: alone });
    expect((await stage.run(...command, "--kubeconfig", stage.kubeconfig)).code).toBe(0);
    const told = await readFile(join(folder, "asked"), "utf8");
    for (const name of memberNames) expect(told).toContain(`"context":"${name}"`);
    await rm(folder, { recursive: true });
  });

  test("a ConfigMap that was edited changes exactly that object on exactly its clusters", async () => {
    const before = await stage.contents();
    const { code, out } = await stage.reconcile();
    expect(code).toBe(0);
    const changed = { added: [], changed: ["configmaps payments/ledger"], removed: [] };
    expect(await stage.differences(before)).toEqual({ "prod-eu-1": changed, "prod-us-1": changed });
    expect(out).toContain("  prod-eu-1: 1 configured\n");
    expect(stage.hub.stateLog(4)).toContain("payments moves to resource snapshot 1 on prod-us-1\n");
  });

  test("a commit that moves nothing is no change, and what somebody did to a member is one for whoever asks it", async () => {
    await stage.hub.write("NOTES.md", "Settles weekly now.\n");
    stage.hub.push("Say so");
    const unchanged = await stage.run("plan", "--expect-no-change");
    expect([unchanged.code, unchanged.out]).toEqual([0, "nothing to decide\n"]);
    const path = "/api/v1/namespaces/platform/configmaps/certificates";
    const edit = { data: { RENEW_BEFORE: "1h" } };
    await stage.member("prod-eu-1").request("PATCH", path, edit, "application/merge-patch+json");
    const asking = ["plan", "--expect-no-change", "--kubeconfig", stage.kubeconfig] as const;
    expect([(await stage.run("plan", "--expect-no-change")).code, (await stage.run(...asking)).code]).toEqual([0, 2]);
    expect(await stage.reconcile()).toMatchObject({ code: 0, err: "" });
    expect((await stage.run(...asking)).code).toBe(0);
  });

  test("validate finds nothing wrong, in words and for programs", async () => {
    const { code, out, err } = await flotilla(["validate", stage.hub.clone]);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: "9 clusters, 6 placements, 25 objects: 0 errors, 0 warnings, 0 notes\n",
      err: "",
    });
  });
});
