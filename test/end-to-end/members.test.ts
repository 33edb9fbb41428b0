import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiServer, startApiServer } from "../kubernetes/api-server.ts";
import { startControlPlane } from "../kubernetes/control-plane.ts";
import { describeKubernetes } from "../kubernetes/describe-kubernetes.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { type Mutations, readMutations } from "../kubernetes/mutations.ts";
import { asked } from "./examples.ts";
import {
  contentsOf,
  contentsOfAll,
  differencesOf,
  type FleetContents,
  lossOf,
  noDifference,
  objectsIn,
  resourcesWritten,
} from "./member.ts";
import { type MixedStage, setMixedStage } from "./mixed.ts";
import { realMember } from "./real.ts";

const startLimitMs = 400_000;
const testLimitMs = 300_000;

await describeKubernetes("examples-repo on two whole clusters and seven embedded ones", "control planes", () => {
  let stage: MixedStage;
  let whole: readonly ApiServer[];
  beforeAll(async () => {
    whole = await Promise.all(["prod-eu-1", "prod-us-1"].map((name) => startControlPlane({ name })));
    stage = await setMixedStage(whole);
  }, startLimitMs);
  afterAll(() => stage?.stop());

  /** Controllers write for a while after a workload is available, and embedded members have none. */
  const whenCalm = async (): Promise<FleetContents> => {
    const withControllers = whole.map(realMember);
    let last = await contentsOfAll(withControllers);
    await eventually("nothing moves any more", async () => {
      const before = last;
      last = await contentsOfAll(withControllers);
      return Object.keys(differencesOf(before, last)).length === 0 ? true : null;
    });
    return contentsOfAll(stage.members);
  };

  /** However quick the run is that is to be killed halfway, this is not gone before. */
  const finalizeSettings = async (finalizers: readonly string[]): Promise<void> => {
    const path = "/api/v1/namespaces/payments/configmaps/ledger";
    const contentType = "application/merge-patch+json";
    const answer = await whole[1]?.request({ method: "PATCH", path, body: { metadata: { finalizers } }, contentType });
    expect(answer?.status).toBe(200);
  };

  test(
    "the first run places everything that it asks for, and waits until it is available",
    async () => {
      expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
      for (const [placement, want] of Object.entries(asked)) {
        expect(objectsIn(await contentsOfAll(stage.members, placement)), placement).toEqual(want);
      }
    },
    testLimitMs,
  );

  test("kubectl sees it", async () => {
    const [eu, us] = whole;
    const available = [
      "get",
      "deployments",
      "-A",
      "-o",
      "jsonpath={range .items[*]}{.metadata.name}={.status.availableReplicas} {end}",
    ];
    expect(await eu?.kubectl(available)).toBe("collector=1 ledger=2 certificates=1 web=3 ");
    expect(await us?.kubectl(available)).toBe("collector=1 ledger=2 certificates=1 ");
    expect(await eu?.kubectl(["get", "ns", "shop", "-o", "jsonpath={.metadata.labels.acme\\.example/cluster}"])).toBe(
      "prod-eu-1",
    );
    expect(await us?.kubectl(["get", "priorityclass", "business-critical", "-o", "jsonpath={.value}"])).toBe("1000000");
  });

  test("the state branch says so", async () => {
    const { out } = await stage.run("get", "placements");
    expect(out.match(/ Available$/gm)).toHaveLength(5);
    expect(stage.hub.stateFile("README.md")).toContain("- **9 members**\n- **6 placements**, 5 in place\n");
    expect((await stage.run("get", "clusters")).out.match(/ v1\.36\.\d+ +Healthy /g)).toHaveLength(9);
  });

  test("a second run commits nothing and changes nothing", async () => {
    const [before, commits] = [await whenCalm(), stage.hub.stateCommits()];
    expect(await stage.reconcile()).toEqual({ code: 0, out: "at rest after 1 pass, 0 commits\n", err: "" });
    expect(stage.hub.stateCommits()).toBe(commits);
    expect(differencesOf(before, await contentsOfAll(stage.members))).toEqual({});
  });

  test("a ConfigMap that was edited changes exactly that object on exactly its clusters", async () => {
    const before = await whenCalm();
    await stage.hub.edit("resources/payments/config.yaml", "daily", "weekly");
    stage.hub.push("Settle weekly");
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    const changed = { ...noDifference, changed: ["configmaps payments/ledger"] };
    expect(differencesOf(before, await contentsOfAll(stage.members))).toEqual({
      "prod-eu-1": changed,
      "prod-us-1": changed,
    });
  });

  test(
    "a placement that is removed takes exactly its objects along, also when killed halfway and run again",
    async () => {
      await finalizeSettings(["example.com/held"]);
      const [before, held] = [await whenCalm(), await contentsOfAll(stage.members, "payments")];
      await stage.hub.remove("placements/payments.yaml");
      stage.hub.push("Payments go");
      const run = await stage.startReconcile(["--wait", "5m"]);
      const count = async () =>
        [...(await contentsOfAll(whole.map(realMember), "payments")).values()].reduce((sum, it) => sum + it.size, 0);
      const left = await eventually("some of it is gone", async () => {
        const size = await count();
        return size < 10 ? size : null;
      });
      run.signal("SIGKILL");
      await run.ended;
      expect(left).toBeGreaterThan(0);
      await finalizeSettings([]);
      expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
      expect(differencesOf(before, await contentsOfAll(stage.members))).toEqual(lossOf(held));
      expect((await stage.reconcile()).out).toBe("at rest after 1 pass, 0 commits\n");
    },
    testLimitMs,
  );
});

await describeKubernetes("examples-repo on an API server of which nobody else changes anything", "API servers", () => {
  let stage: MixedStage;
  let server: ApiServer;
  beforeAll(async () => {
    server = await startApiServer({ name: "prod-eu-1" });
    stage = await setMixedStage([server]);
    // Without controllers no workload ever becomes available there, and nobody waits for it.
    expect((await stage.reconcile()).code).toBe(0);
  }, startLimitMs);
  afterAll(() => stage?.stop());

  /** Changing requests of the resources that Flotilla writes: `APPLY configmaps` and how many. */
  const mutations = async (): Promise<ReadonlyMap<string, number>> => {
    const counts = new Map<string, number>();
    const isOurs = ({ resource, group }: Mutations) => resourcesWritten.includes(resource) && group !== "events.k8s.io";
    for (const { verb, resource, count } of (await readMutations(server)).filter(isOurs)) {
      counts.set(`${verb} ${resource}`, (counts.get(`${verb} ${resource}`) ?? 0) + count);
    }
    return counts;
  };

  const grown = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) =>
    Object.fromEntries(
      [...after].map(([key, it]) => [key, it - (before.get(key) ?? 0)] as const).filter(([, it]) => it > 0),
    );

  test("everything is there", async () => {
    const held = await contentsOf(stage.members.find((it) => it.name === "prod-eu-1") ?? expect.fail("no member"));
    const want = Object.values(asked).flatMap((it) => it["prod-eu-1"] ?? []);
    expect([...held.keys()]).toEqual(expect.arrayContaining(want));
  });

  test("a second run makes no commit and not one changing request", async () => {
    await eventually("it is at rest", async () =>
      (await stage.reconcile()).out.includes(", 0 commits\n") ? true : null,
    );
    const [before, commits] = [await mutations(), stage.hub.stateCommits()];
    expect(before.get("APPLY deployments")).toBe(4);
    expect((await stage.reconcile()).code).toBe(0);
    expect(stage.hub.stateCommits()).toBe(commits);
    expect(grown(before, await mutations())).toEqual({});
  });

  test("an object that was edited costs one apply, and two writes of the inventory", async () => {
    const before = await mutations();
    await stage.hub.edit("resources/cluster/priority-classes.yaml", "Evicted last.", "Goes last.");
    stage.hub.push("Say it otherwise");
    expect((await stage.reconcile()).code).toBe(0);
    expect(grown(before, await mutations())).toEqual({ "APPLY priorityclasses": 1, "PUT configmaps": 2 });
  });
});
