// Nodes come and go on real API servers: a daemon places what waits for them, once, and touches nothing else.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type JsonObject, memberAt } from "../../src/core/model/json.ts";
import { type ClusterName, compareText, type PlacementKey } from "../../src/core/model/value.ts";
import { startApiServer } from "../kubernetes/api-server.ts";
import { describeKubernetes } from "../kubernetes/describe-kubernetes.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { create, objectAt } from "./member.ts";
import type { Running } from "./program.ts";
import { condition, type SmallStage, setSmallStage } from "./rollouts.ts";
import { configMap, file, memberCluster, namespace, openFleet, placement } from "./small-fleet.ts";
import { historyOf } from "./state-branch.ts";

const names = ["east", "west"] as const;
const nodeCount = "kubernetes-fleet.io/node-count";

/** What waits is named with what there is. */
const waiting = /roomy: 0 of 1 clusters found: east: .*\(it has 2\); west: .*\(it has 1\)\n/;

/** On one member that has three nodes. */
const roomy: JsonObject = {
  ...placement("roomy"),
  spec: {
    resourceSelectors: [{ group: "", version: "v1", kind: "Namespace", name: "roomy" }],
    policy: {
      placementType: "PickN",
      numberOfClusters: 1,
      affinity: { clusterAffinity: { requiredDuringSchedulingIgnoredDuringExecution: threeNodes() } },
    },
    strategy: { type: "RollingUpdate" },
  },
};

function threeNodes(): JsonObject {
  const matchExpressions = [{ name: nodeCount, operator: "Ge", values: ["3"] }];
  return { clusterSelectorTerms: [{ propertySelector: { matchExpressions } }] };
}

const files = {
  "fleet.yaml": file(openFleet),
  ...Object.fromEntries(names.map((name) => [`clusters/${name}.yaml`, file(memberCluster(name, {}))])),
  "placements/roomy.yaml": file(roomy),
  "placements/plain.yaml": file(placement("plain")),
  "resources/roomy.yaml": file(namespace("roomy"), configMap("roomy/settings", { size: "large" })),
  "resources/plain.yaml": file(namespace("plain"), configMap("plain/settings", { size: "small" })),
};

await describeKubernetes("a property that crosses a boundary on real API servers", "API servers", () => {
  let stage: SmallStage;
  let daemon: Running;
  beforeAll(async () => {
    const servers = await Promise.all(names.map((name) => startApiServer({ name })));
    stage = await setSmallStage(files, { servers, embedded: [] });
    await addNodes("east", ["a", "b"]);
    await addNodes("west", ["a"]);
    daemon = await stage.startReconcile(["--watch", "--poll", "1h", "--resync", "1s"], { limitMs: 600_000 });
  }, 400_000);
  afterAll(async () => {
    daemon?.signal("SIGTERM");
    await daemon?.ended;
    await stage?.stop();
  });

  const addNodes = async (member: string, nodes: readonly string[]): Promise<void> => {
    const room = { cpu: "4", memory: "16Gi", pods: "100" };
    for (const name of nodes) {
      const node = { metadata: { name }, status: { capacity: room, allocatable: room } };
      await create(stage.member(member), "/api/v1/nodes", node);
    }
  };
  const isRecorded = (member: string, nodes: number): Promise<true> =>
    eventually(`${nodes} nodes are recorded of ${member}`, async () => {
      const recorded = parse(stage.hub.stateFile(`clusters/${member}.yaml`) ?? "");
      return recorded?.status?.properties?.[nodeCount]?.value === String(nodes) ? true : null;
    });
  /** What a member has of a placement, as of its last change; null while it has nothing. */
  const versionOf = async (member: string, name: string): Promise<string | null> => {
    const paths = [`/api/v1/namespaces/${name}`, `/api/v1/namespaces/${name}/configmaps/settings`];
    const found = await Promise.all(paths.map((it) => objectAt(stage.member(member), it)));
    if (found.some((it) => it === null)) return null;
    return found
      .map((it) => `${memberAt(it, "metadata", "uid")} ${memberAt(it, "metadata", "resourceVersion")}`)
      .join(", ");
  };
  const versions = (): Promise<readonly (string | null)[]> =>
    Promise.all(names.flatMap((member) => ["roomy", "plain"].map((name) => versionOf(member, name))));
  /** What was ever decided of a placement, in order: each member with the decision that it is to have. */
  const decided = (name: string): readonly string[] => {
    const all = historyOf(stage.hub.repo).map(({ ledger }) => {
      const bindings = [...(ledger.placements.get(name as PlacementKey)?.bindings.values() ?? [])];
      const rows = bindings.map((it) => `${it.cluster as ClusterName} has decision ${it.target?.sequence}`);
      return rows.sort(compareText).join(", ");
    });
    return all.filter((it, at) => it !== all[at - 1]);
  };

  let before: readonly (string | null)[];
  let plainDecided: readonly string[];

  test("what asks for three nodes waits where there are two, and everything else is placed", async () => {
    await isRecorded("east", 2);
    await isRecorded("west", 1);
    await eventually("the plain one is everywhere", async () => {
      const found = await Promise.all(names.map((it) => versionOf(it, "plain")));
      return found.includes(null) ? null : true;
    });
    await condition(stage.hub, "placements/plain/placement.yaml", "ClusterResourcePlacementAvailable");
    await eventually("it says who has how many", async () => (waiting.test(daemon.out()) ? true : null));
    before = await versions();
    plainDecided = decided("plain");
    expect(before.map((it) => it !== null)).toEqual([false, true, false, true]);
    expect(decided("roomy")).toEqual([""]);
  });

  test("the third node brings it there, once, and nothing else is written", async () => {
    await addNodes("east", ["c"]);
    await isRecorded("east", 3);
    await eventually("it is on east", () => versionOf("east", "roomy"));
    // It waited until now, so that this is said for the first time.
    await eventually("it is at rest", async () => (daemon.out().includes("at rest\n") ? true : null));
    const after = await versions();
    expect(after.slice(1)).toEqual(before.slice(1));
    expect(decided("roomy")).toEqual(["", expect.stringMatching(/^east has decision \d+$/)]);
    expect(decided("plain")).toEqual(plainDecided);
    before = after;
  });

  const changes: readonly { name: string; member: string; change: () => Promise<unknown>; nodes: number }[] = [
    { name: "another node that does not cross", member: "west", change: () => addNodes("west", ["b"]), nodes: 2 },
    {
      name: "one that crosses where nobody is wanted",
      member: "west",
      change: () => addNodes("west", ["c"]),
      nodes: 3,
    },
    {
      name: "a node that leaves from under what stands",
      member: "east",
      change: () => stage.member("east").request("DELETE", "/api/v1/nodes/c"),
      nodes: 2,
    },
  ];

  test.each(changes)("$name is recorded and moves nothing", async ({ member, change, nodes }) => {
    const roomyDecided = decided("roomy");
    await change();
    await isRecorded(member, nodes);
    expect(await versions()).toEqual(before);
    expect([decided("roomy"), decided("plain")]).toEqual([roomyDecided, plainDecided]);
  });

  test("nothing of it was left over: another run finds nothing to do", async () => {
    daemon.signal("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: 0, err: "" });
    const everDecided = [decided("roomy"), decided("plain")];
    expect(everDecided).toEqual([["", expect.stringMatching(/^east has decision \d+$/)], plainDecided]);
    const commits = stage.hub.stateCommits();
    expect(await stage.reconcile()).toMatchObject({ code: 0, err: "" });
    expect(stage.hub.stateCommits()).toBe(commits);
    expect([decided("roomy"), decided("plain")]).toEqual(everDecided);
    expect(await versions()).toEqual(before);
  });
});
