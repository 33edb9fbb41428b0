// A platform team places a namespace, and the team that lives there places what it has in it: at once, then in stages.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Json, type JsonObject, memberAt } from "../../src/core/model/json.ts";
import { gitIn } from "../shell/git/hub.ts";
import { objectAt } from "./member.ts";
import { flotilla } from "./program.ts";
import { conditionsAt, type SmallStage, setSmallStage } from "./rollouts.ts";
import { configMap, deployment, file, memberCluster, namespace, openFleet, placement } from "./small-fleet.ts";

const placementApi = "placement.kubernetes-fleet.io/v1beta1";
const inPayments = (kind: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: placementApi,
  kind,
  metadata: { name, namespace: "payments" },
  spec,
});

/** What the team places: one ConfigMap by name, and Deployments by a label. */
const ofTeam = (strategy: JsonObject = { rollingUpdate: { maxUnavailable: "100%" } }): string =>
  file(
    inPayments("ResourcePlacement", "web", {
      resourceSelectors: [
        { group: "", version: "v1", kind: "ConfigMap", name: "settings" },
        { group: "apps", version: "v1", kind: "Deployment", labelSelector: { matchLabels: { made: "by-hand" } } },
      ],
      policy: { placementType: "PickAll" },
      strategy,
    }),
  );

const folder = "namespaces/payments/placements/web";
const rings = file(
  inPayments("StagedUpdateStrategy", "rings", {
    stages: [
      { name: "staging", labelSelector: { matchLabels: { env: "staging" } } },
      { name: "prod", labelSelector: { matchLabels: { env: "prod" } }, beforeStageTasks: [{ type: "Approval" }] },
    ],
  }),
);
const runOf = (name: string): string =>
  file(
    inPayments("StagedUpdateRun", name, {
      placementName: "web",
      stagedRolloutStrategyName: "rings",
      state: "Run",
    }),
  );

const notes = "/api/v1/namespaces/payments/configmaps/notes";
const settings = "/api/v1/namespaces/payments/configmaps/settings";
const teamFile = "teams/payments/placement.yaml";
const settingsFile = "teams/payments/settings.yaml";
const ofPlatform = (selectionScope: string): string =>
  file(
    placement("payments-ns", {
      selectors: [{ group: "", version: "v1", kind: "Namespace", name: "payments", selectionScope }],
      maxUnavailable: "100%",
    }),
  );

const files = {
  "fleet.yaml": file({ ...openFleet, spec: { approvals: { unsigned: "allow" } } }),
  "clusters/one.yaml": file(memberCluster("one", { env: "staging" })),
  "clusters/two.yaml": file(memberCluster("two", { env: "prod" })),
  "placements/payments.yaml": ofPlatform("NamespaceOnly"),
  "resources/payments.yaml": file(namespace("payments")),
  [settingsFile]: file(configMap("payments/settings", { mode: "one" })),
  "teams/payments/web.yaml": file(deployment("payments/web", "registry.example/web:1")),
  "teams/payments/not-placed.yaml": file(configMap("payments/notes", { mode: "none" })),
  [teamFile]: ofTeam(),
};

describe("a team's placement in the namespace that its platform places", () => {
  let stage: SmallStage;
  beforeAll(async () => {
    stage = await setSmallStage(files, { servers: [], embedded: ["one", "two"] });
    gitIn(stage.hub.clone, ["config", "user.name", "Ann"]);
    gitIn(stage.hub.clone, ["config", "user.email", "ann@acme.example"]);
  });
  afterAll(() => stage?.stop());

  const settle = async (): Promise<void> => {
    expect(await stage.reconcile("--wait", "60s")).toMatchObject({ code: 0, err: "" });
  };
  const push = async (message: string): Promise<void> => {
    stage.hub.push(message);
    await settle();
  };
  /** A command that commits in the clone in which the team works. */
  const atHome = (...args: readonly string[]) => flotilla([...args, "--repo", stage.hub.clone], { cwd: stage.folder });
  const there = (cluster: string, path: string) => objectAt(stage.member(cluster), path);
  const modes = async (): Promise<readonly Json[]> =>
    Promise.all(["one", "two"].map(async (it) => memberAt((await there(it, settings)) ?? {}, "data", "mode")));

  test("brings what it selects there, and nothing else", async () => {
    await settle();
    expect(await modes()).toEqual(["one", "one"]);
    expect(await there("one", "/apis/apps/v1/namespaces/payments/deployments/web")).not.toBeNull();
    expect(await there("one", notes)).toBeNull();
    const conditions = conditionsAt(stage.hub, `${folder}/placement.yaml`);
    expect(conditions.map((it) => [it.type, it.status])).toContainEqual(["ResourcePlacementAvailable", "True"]);
    expect(stage.hub.stateFile(`${folder}/bindings.yaml`)).toContain("kind: ResourceBinding\n");
    expect(stage.hub.stateFile(`${folder}/policy-snapshots.yaml`)).toContain("kind: SchedulingPolicySnapshot\n");
    expect(stage.hub.stateFile(`${folder}/resource-snapshots/0/snapshot.yaml`)).toContain("kind: ResourceSnapshot\n");
  });

  test("keeps what it has when the platform wants all of the namespace, and gives nothing of it away after that", async () => {
    const before = await there("one", settings);
    await stage.hub.write("placements/payments.yaml", ofPlatform("NamespaceWithResources"));
    stage.hub.push("Place all of it");
    const run = await stage.reconcile();
    expect(run.out).toContain("payments-ns: ConfigMap payments/settings failed on one: FailedToTakeOver");
    expect(run.out).toContain("payments/web places the same and keeps it");
    expect(await there("one", notes)).not.toBeNull();
    expect(await there("one", settings)).toEqual(before);
    await stage.hub.write("placements/payments.yaml", ofPlatform("NamespaceOnly"));
    await push("Place the Namespace alone");
    expect(await there("one", notes)).toBeNull();
    expect(await there("one", settings)).toEqual(before);
  });

  test("keeps the Namespace there when the platform's placement goes, which may come back", async () => {
    await stage.hub.remove("placements/payments.yaml");
    stage.hub.push("Place no namespace any more");
    expect((await stage.reconcile()).out).toContain("Namespace payments stays while something in it is wanted");
    expect(await there("one", "/api/v1/namespaces/payments")).not.toBeNull();
    expect(await modes()).toEqual(["one", "one"]);
    await stage.hub.write("placements/payments.yaml", ofPlatform("NamespaceOnly"));
    await push("Place it again");
  });

  test("moves by the runs of its namespace alone once it is External, stage by stage and with an approval", async () => {
    await stage.hub.write(teamFile, ofTeam({ type: "External" }));
    await push("Move by runs");
    await stage.hub.write(settingsFile, file(configMap("payments/settings", { mode: "two" })));
    await stage.hub.write("teams/payments/rings.yaml", rings);
    await stage.hub.write("teams/payments/second.yaml", runOf("second"));
    stage.hub.push("Version two, by a run");
    expect((await stage.reconcile("--wait", "60s")).out).toContain("payments/second");
    expect(await modes()).toEqual(["two", "one"]);
    expect(stage.hub.stateFile("namespaces/payments/approvals/second-before-prod.yaml")).toContain(
      "kind: ApprovalRequest\n",
    );
    expect(await atHome("approve", "second", "-n", "payments", "--as", "ann", "--push")).toMatchObject({ code: 0 });
    await settle();
    expect(await modes()).toEqual(["two", "two"]);
    expect(conditionsAt(stage.hub, "namespaces/payments/runs/second/run.yaml")).toContainEqual(
      expect.objectContaining({ type: "Succeeded", status: "True" }),
    );
  });

  test("goes back by a run that a rollback writes, and the platform's placement is as it was", async () => {
    const before = stage.hub.stateFile("placements/payments-ns/bindings.yaml");
    expect(await atHome("rollback", "web", "-n", "payments", "--push")).toMatchObject({ code: 0 });
    await stage.reconcile("--wait", "60s");
    expect(await modes()).toEqual(["one", "two"]);
    expect(await atHome("approve", "payments/web-to-0", "--as", "ann", "--push")).toMatchObject({ code: 0 });
    await settle();
    expect(await modes()).toEqual(["one", "one"]);
    expect(stage.hub.stateFile("placements/payments-ns/bindings.yaml")).toBe(before);
    expect((await stage.run("get", "placements", "-A")).out).toMatch(
      /^NAMESPACE +NAME .*\n.*\npayments +web +PickAll /,
    );
  });

  test("goes, with what it brought and nothing else", async () => {
    await stage.hub.remove(teamFile);
    await push("Place nothing any more");
    expect(await there("one", settings)).toBeNull();
    expect(await there("one", "/api/v1/namespaces/payments")).not.toBeNull();
  });
});
