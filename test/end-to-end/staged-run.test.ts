// A version that does not work stops in its stage, is taken back, and the next one goes through: on whole clusters.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type Json, memberAt } from "../../src/core/model/json.ts";
import { startControlPlane } from "../kubernetes/control-plane.ts";
import { describeKubernetes } from "../kubernetes/describe-kubernetes.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { walksAreFull } from "../long-walks.ts";
import { objectAt } from "./member.ts";
import type { Running } from "./program.ts";
import { condition, externalPlacement, type SmallStage, setSmallStage, updateRun, updateStrategy } from "./rollouts.ts";
import { deployment, file, memberCluster, namespace, openFleet } from "./small-fleet.ts";

const waitSeconds = 3;
const manifest = "resources/shop/web.yaml";
const placementFile = "placements/shop.yaml";
const shopWithin = (deadline: string): string =>
  file(externalPlacement("shop", { "flotilla.dev/progress-deadline": deadline }));
const web = "/apis/apps/v1/namespaces/shop/deployments/web";

/** Whole clusters, but for the last one of the second stage; on the short way nothing happens in the third that needs one. */
const envs = { "staging-1": "staging", "canary-1": "canary", "canary-2": "canary", "prod-1": "prod" } as const;
const names = Object.keys(envs);
const embedded = walksAreFull ? ["canary-2"] : ["canary-2", "prod-1"];
const wholeNames = names.filter((it) => !embedded.includes(it));

const files = {
  "fleet.yaml": file({ ...openFleet, spec: { approvals: { unsigned: "allow" } } }),
  ...Object.fromEntries(
    Object.entries(envs).map(([name, env]) => [`clusters/${name}.yaml`, file(memberCluster(name, { env }))]),
  ),
  [placementFile]: shopWithin("10m"),
  "strategies/rings.yaml": file(
    updateStrategy("rings", {
      staging: { afterStageTasks: [{ type: "TimedWait", waitTime: `${waitSeconds}s` }] },
      canary: { beforeStageTasks: [{ type: "Approval" }] },
      prod: {},
    }),
  ),
  "resources/shop/namespace.yaml": file(namespace("shop")),
  [manifest]: file(deployment("shop/web", "registry.example/web:1")),
};

await describeKubernetes("a staged run over whole clusters", "control planes", () => {
  let stage: SmallStage;
  let daemon: Running;
  beforeAll(async () => {
    const servers = await Promise.all(wholeNames.map((name) => startControlPlane({ name })));
    // Nothing but staging has what the second version asks for.
    await servers[0]?.kubectl(["label", "node", "node-1", "disk=fast"]);
    stage = await setSmallStage(files, { servers, embedded });
    daemon = await watch();
  }, 400_000);
  afterAll(async () => {
    daemon?.signal("SIGTERM");
    await daemon?.ended;
    await stage?.stop();
  });

  const watch = (): Promise<Running> => stage.startReconcile(["--watch"], { limitMs: 600_000 });
  const begin = async (name: string, how?: Parameters<typeof updateRun>[3]): Promise<void> => {
    await stage.hub.write(`runs/${name}.yaml`, file(updateRun(name, "shop", "rings", how)));
    stage.hub.push(`Run ${name}`);
  };
  const describeRun = async (name: string): Promise<string> => (await stage.run("describe", "run", name)).out;
  const described = (name: string, what: RegExp): Promise<string> =>
    eventually(
      `the description of run ${name} says ${what}`,
      async () => {
        const text = await describeRun(name);
        return what.test(text) ? text : null;
      },
      180_000,
      500,
    );
  /** Commits the file that `describe run` asks for, as it stands there. */
  const approve = async (name: string): Promise<void> => {
    const text = await described(name, /commit this file/);
    const [, path = "", approval = ""] = /commit this file to main: (\S+)\n\n([\s\S]*)$/.exec(text) ?? [];
    await stage.hub.write(path, approval);
    stage.hub.push("Go ahead");
  };
  const succeeded = (name: string) => condition(stage.hub, `runs/${name}/run.yaml`, "Succeeded");
  /** What each member carries of the Deployment, as its owner sees it: uid, generation and image. */
  const carried = async (name: string): Promise<string> => {
    const it = await objectAt(stage.member(name), web);
    const [container] = (memberAt(it, "spec", "template", "spec", "containers") ?? []) as readonly Json[];
    const parts = [memberAt(it, "metadata", "uid"), memberAt(it, "metadata", "generation")];
    return [...parts, memberAt(container ?? null, "image")].join(" ");
  };
  const imagesOf = async (): Promise<readonly string[]> =>
    (await Promise.all(names.map(carried))).map((it) => it.slice(it.lastIndexOf(":") + 1));
  const isAvailable = async (name: string): Promise<boolean> => {
    const it = await objectAt(stage.member(name), web);
    const [updated, available] = ["updatedReplicas", "availableReplicas"].map((key) => memberAt(it, "status", key));
    return updated === 1 && available === 1 && memberAt(it, "status", "replicas") === 1;
  };

  test("the first one waits its time after staging, for an approval before the canaries, and succeeds", async () => {
    await begin("first");
    await approve("first");
    expect(await succeeded("first")).toMatchObject({ status: "True" });
    expect(await imagesOf()).toEqual(["1", "1", "1", "1"]);
    await eventually("nothing of another version is left anywhere", async () =>
      (await Promise.all(names.map(isAvailable))).every(Boolean) ? true : null,
    );
    const { status } = parse(stage.hub.stateFile("runs/first/run.yaml") ?? "");
    const [staging, canary] = status.stagesStatus;
    const landed = Date.parse(staging.clusters[0].conditions.find(isSucceeded).lastTransitionTime);
    expect(Date.parse(staging.endTime) - landed).toBeGreaterThanOrEqual(waitSeconds * 1000);
    expect(Date.parse(canary.startTime)).toBeGreaterThanOrEqual(Date.parse(staging.endTime));
  });

  test("a version that nothing can run in the second stage stops there, and the description says which object and why", async () => {
    const before = await Promise.all(["canary-2", "prod-1"].map(carried));
    await stage.hub.write(manifest, deploymentOnFastDisks("registry.example/web:2"));
    stage.hub.push("Version 2");
    await begin("second");
    await approve("second");
    // Where it can run it has the time to come up, however busy the machine is; where it cannot, nobody waits for long.
    await stage.hub.write(placementFile, shopWithin("5s"));
    stage.hub.push("Wait for five seconds");
    const text = await described("second", /^second: Stuck/);
    expect(text).toMatch(/^second: Stuck: stage canary /);
    expect(text).toMatch(/canary-1: failed; started/);
    expect(text).toMatch(/Deployment shop\/web: .*: 1 of 1 replicas are available, 1 updated, 1 unavailable/);
    expect(text).toMatch(/canary-2: waits for its turn/);
    expect(text).toMatch(/prod-1: waits for its turn/);
    expect(await imagesOf()).toEqual(["2", "2", "1", "1"]);
    await eventually(
      "staging-1 has nothing but the second version",
      async () => (await isAvailable("staging-1")) || null,
    );
    expect(await Promise.all(["canary-2", "prod-1"].map(carried))).toEqual(before);
  });

  test("a run that names the older version brings it back everywhere", async () => {
    await stage.hub.write(placementFile, shopWithin("10m"));
    await stage.hub.write("runs/second.yaml", file(updateRun("second", "shop", "rings", { state: "Stop" })));
    await begin("back", { index: "0" });
    await approve("back");
    expect(await succeeded("back")).toMatchObject({ status: "True" });
    expect(await imagesOf()).toEqual(["1", "1", "1", "1"]);
    await eventually("nothing of another version is left anywhere", async () =>
      (await Promise.all(names.map(isAvailable))).every(Boolean) ? true : null,
    );
  });

  test("a version that works goes through, also when the daemon is killed in between", async () => {
    await stage.hub.write(manifest, file(deployment("shop/web", "registry.example/web:3")));
    stage.hub.push("Version 3");
    await begin("third");
    await described("third", new RegExp(`wait of ${waitSeconds}s: (until|over since) `));
    daemon.signal("SIGKILL");
    await daemon.ended;
    daemon = await watch();
    await approve("third");
    expect(await succeeded("third")).toMatchObject({ status: "True" });
    expect(await imagesOf()).toEqual(["3", "3", "3", "3"]);
    await eventually("nothing of another version is left anywhere", async () =>
      (await Promise.all(names.map(isAvailable))).every(Boolean) ? true : null,
    );
  });
});

const isSucceeded = ({ type }: { readonly type: string }): boolean => type === "Succeeded";

/** Pods that run where a node says `disk=fast`. */
function deploymentOnFastDisks(image: string): string {
  const object = deployment("shop/web", image) as { readonly spec: { readonly template: { readonly spec: object } } };
  const { spec } = object;
  const pods = { ...spec.template.spec, nodeSelector: { disk: "fast" } };
  return file({ ...object, spec: { ...spec, template: { ...spec.template, spec: pods } } } as never);
}
