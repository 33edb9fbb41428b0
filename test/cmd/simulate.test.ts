// Forecasts from a real repository: its files, and what real passes recorded on its state branch.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openHub } from "../../src/cmd/hub/wire.ts";
import { main } from "../../src/cmd/main.ts";
import { afterActions, memberAtTime, type VirtualMember } from "../../src/core/forecast/member.ts";
import { type ClusterName, type Instant, later, seconds } from "../../src/core/model/value.ts";
import { newMemory } from "../../src/shell/reconcile/memory.ts";
import { hasMoved, pass } from "../../src/shell/reconcile/pass.ts";
import type { Ports } from "../../src/shell/reconcile/ports.ts";
import { type Clone, clonesWith } from "../shell/git/clone.ts";
import { unsigned } from "../unsigned.ts";

const memberFile = (name: string, stage: string): string => `apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata:
  name: ${name}
  labels: {stage: ${stage}}
spec:
  identity: {kind: User, name: ${name}}
---
`;

const settings = (value: string): string => `apiVersion: v1
kind: Namespace
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: web}
data: {value: ${value}}
`;

const placement = (name: string, strategy: string): string => `apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: ${name}}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  policy: {placementType: PickAll}
  strategy: {${strategy}}
`;

const strategies = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: careful}
spec:
  stages:
    - name: canary
      labelSelector: {matchLabels: {stage: canary}}
      afterStageTasks: [{type: TimedWait, waitTime: 1h}, {type: Approval}]
    - name: rest
      labelSelector: {matchLabels: {stage: rest}}
      maxConcurrency: 2
`;

const runFile = (name: string, state: string): string => `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata: {name: ${name}}
spec: {placementName: web, stagedRolloutStrategyName: careful, state: ${state}}
`;

const fleet = [memberFile("east", "canary"), ...["north", "south", "west"].map((it) => memberFile(it, "rest"))];
const files = { "members.yaml": fleet.join(""), "resources/web.yaml": settings("one"), "strategies.yaml": strategies };

let place: Clone;
afterEach(() => place.remove());

const hub = () => join(place.hub.folder, place.hub.name);

function push(path: string, text: string): void {
  place.write(path, text);
  place.git("add", ".");
  place.git("commit", "--quiet", "-m", `Write ${path}`);
  place.git("push", "--quiet");
}

async function simulate(...argv: readonly string[]) {
  const said = { out: "", err: "" };
  const code = await main(["simulate", ...argv, "--repo", hub()], {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    environment: { XDG_CACHE_HOME: join(place.hub.folder, "cache") },
  });
  return { code, err: said.err, out: said.out.replaceAll(/\b\d{4}-\d\d-\d\dT[\d:]+Z/g, "NOW") };
}

const lines = async (...argv: readonly string[]): Promise<readonly string[]> =>
  (await simulate(...argv)).out.trimEnd().split("\n").slice(1);

/** Passes of a process that asks members until nothing moves, and records it all on the state branch. */
async function reconcile(): Promise<void> {
  const options = { repo: hub(), branch: "main", stateBranch: "fleet/state", git: "program", cache: null } as const;
  const repository = await openHub(options, { XDG_CACHE_HOME: join(place.hub.folder, "cache") });
  const began = (Math.floor(Date.now() / 1000) * 1000) as Instant;
  const members = new Map(["east", "north", "south", "west"].map((it) => [it as ClusterName, freshMember(it)]));
  const of = (name: ClusterName): VirtualMember => members.get(name) ?? freshMember(name);
  const nothing = { created: 0, configured: 1, deleted: 0, released: 0, failed: 0, interrupted: null };
  const ports: Ports = {
    repository,
    clock: { now: () => began, sleepUntil: async () => {} },
    ...unsigned,
    fleet: {
      observe: async ({ name }) => of(name).seen,
      act: async ({ name }, actions) => {
        const next = afterActions(of(name), actions, { now: began, landing: seconds(0) });
        members.set(name, memberAtTime(next, later(began, seconds(0))));
        return { ...nothing, cluster: name };
      },
      clockOffsets: () => [],
      close: async () => {},
    },
  };
  const memory = newMemory();
  const how = { members: "ask", patience: "retryAt", acceptRewrite: null, trustAnchor: null } as const;
  for (let left = 20, isMoving = true; isMoving; left--) {
    const result = await pass(ports, how, memory, false);
    if (result.kind !== "passed" || left === 0) throw new Error(`it does not settle: ${result.kind}`);
    isMoving = hasMoved(result);
  }
  await pass(ports, how, memory, true);
  await repository.close();
}

const freshMember = (name: string): VirtualMember => ({
  name: name as ClusterName,
  seen: {
    kind: "reached",
    clusterUid: `uid-of-${name}`,
    properties: new Map([["k8s.io/k8s-version", "v1.36.3"]]),
    inventory: { fleet: "", epoch: 0 as never, placements: new Map() },
    objects: new Map(),
    unlisted: new Set(),
  },
  fate: { kind: "lands" },
  coming: new Map(),
});

describe("a rolling update", () => {
  const clones = clonesWith({
    ...files,
    "placements/web.yaml": placement("web", "rollingUpdate: {maxUnavailable: 1}"),
  });
  beforeEach(async () => {
    place = clones();
    await reconcile();
  });

  test("nothing is foreseen where nothing is to be done, and a new version goes cluster by cluster", async () => {
    const recorded = place.inHub("rev-parse", "fleet/state");
    expect(await lines("web")).toEqual([
      "assumed: a cluster becomes available 30s after it is updated",
      "",
      "nothing happens: everything is up to date",
    ]);
    push("resources/web.yaml", settings("two"));
    expect(await lines("web", "--landing", "1m30s")).toEqual([
      "assumed: a cluster becomes available 1m30s after it is updated",
      "",
      "+0s       east starts",
      "+1m30s    east is available",
      "+1m30s    north starts",
      "+3m       north is available",
      "+3m       south starts",
      "+4m30s    south is available",
      "+4m30s    west starts",
      "+6m       west is available",
      "",
      expect.stringMatching(/^earliest end: \+6m, after \d+ passes$/),
      "blast radius: 1 cluster not available at once, from +0s to +1m30s: east",
    ]);
    expect(place.inHub("rev-parse", "fleet/state")).toBe(recorded);
  });

  test("a cluster that fails stops it, and the exit code says so", async () => {
    push("resources/web.yaml", settings("two"));
    const { code, out } = await simulate("web", "--fail", "north");
    expect(code).toBe(3);
    expect(out).toContain("never reached: south, west\n");
    expect(out).toContain("ConfigMap web/settings: as assumed\n");
  });
});

describe("a staged run", () => {
  const clones = clonesWith({ ...files, "placements/web.yaml": placement("web", "type: External") });
  beforeEach(async () => {
    place = clones();
    await reconcile();
  });

  test("is foreseen before there is one, from its plan to its end, and nothing is written", async () => {
    expect((await simulate("web")).err).toContain("give --strategy to forecast a new run");
    expect(await lines("web", "--strategy", "careful", "--approve-after", "2h")).toEqual([
      "assumed: a run of web by careful is created now",
      "assumed: a cluster becomes available 30s after it is updated",
      "assumed: approvals are given 2h after they are requested",
      "",
      "+0s       planned: resource snapshot 0 on 4 clusters in 2 stages",
      "+0s       stage canary begins",
      "+0s         east starts",
      "+30s        east is available",
      "+30s      stage canary waits 1h, until +1h30s",
      "+30s      stage canary needs an approval to end",
      "+2h30s    stage canary is approved to end",
      "+2h30s    stage canary ends",
      "+2h30s    stage rest begins",
      "+2h30s      north, south start",
      "+2h1m       north, south are available",
      "+2h1m       west starts",
      "+2h1m30s    west is available",
      "+2h1m30s  stage rest ends",
      "+2h1m30s  the run succeeds",
      "",
      expect.stringMatching(/^earliest end: \+2h1m30s, after \d+ passes$/),
      "blast radius: none",
    ]);
    expect(place.inHub("branch", "--list", "--format=%(refname:short)").split("\n")).toEqual(["fleet/state", "main"]);
  });

  test("one that is only initialized is supposed to run, and without approvals it waits", async () => {
    push("runs/first.yaml", runFile("first", "Initialize"));
    await reconcile();
    const { code, out } = await simulate("web", "--no-approvals", "-o", "json");
    const { run, supposed, ending, end, unreached, events } = JSON.parse(out);
    expect({ code, run, supposed, ending, end, unreached }).toEqual({
      code: 0,
      run: "first",
      supposed: [
        "run first is the newest that has not ended",
        "run first is set to Run, not to Initialize",
        "a cluster becomes available 30s after it is updated",
        "nobody approves",
      ],
      ending: "waits",
      end: 30,
      unreached: ["north", "south", "west"],
    });
    expect(events[0]).toEqual({ at: 0, kind: "stageBegins", stage: "canary" });
    expect(events.at(-1)).toEqual({ at: 30, kind: "approvalNeeded", stage: "canary", when: "after" });
    expect(await lines("first", "--silent", "east")).toContain("stuck: east: unreachable since +0s: as assumed");
  });
});

describe("what cannot be foreseen is said", () => {
  const clones = clonesWith({
    ...files,
    "placements.yaml": `${placement("web", "type: External")}---\n${placement("same", "type: RollingUpdate")}`,
    "runs.yaml": `${runFile("same", "Run")}`,
  });
  beforeEach(() => {
    place = clones();
  });

  test.each([
    [["none"], /no file defines a run or placement none\n {2}there are: same, same, web\n/],
    [["same"], /same is a run and a placement\n {2}choose with --kind/],
    [["same", "--kind", "run", "--strategy", "careful"], /run same already names its strategy/],
    [["same", "--kind", "placement", "--strategy", "careful"], /rolled out by its own strategy/],
    [["web", "--strategy", "bold"], /no file defines a strategy bold\n {2}there are: careful\n/],
    [["web", "--fail", "nowhere"], /there is no member nowhere/],
    [["web", "--fail", "east@soon"], /expected a duration/],
    [["web", "--landing", "0s"], /expected a duration/],
  ])("%j", async (argv, says) => {
    const { code, out, err } = await simulate(...argv);
    expect({ code, out }).toEqual({ code: 64, out: "" });
    expect(err).toMatch(says);
  });
});
