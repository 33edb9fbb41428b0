// The commands that write files for people, on real Git: a hub with a recorded state, and a clone in which somebody works.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";
import { settleConditions } from "../../src/core/model/condition.ts";
import { emptyLedger, type Ledger } from "../../src/core/model/ledger.ts";
import type { ClusterName, Commit, Digest, PlacementKey, StrategyKey } from "../../src/core/model/value.ts";
import { evictionVerdicts } from "../../src/core/status/eviction-conditions.ts";
import { placementVerdicts } from "../../src/core/status/placement-conditions.ts";
import type { Clock } from "../../src/shell/reconcile/ports.ts";
import { approvalOf, gateOf, requested } from "../gate.ts";
import { type Clone, clonesWith } from "../shell/git/clone.ts";
import { recordStateIn } from "./record-state.ts";
import {
  approval,
  at,
  ledgerOf,
  memberRecord,
  on,
  planOf,
  progress,
  run,
  stage,
  succeeded,
  web,
} from "./rollout-ledger.ts";

const read = (path: string): string => readFileSync(join(place.path, path), "utf8");

const member = `# kept by the platform team
apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata:
  name: east
spec:
  identity: {kind: User, name: east} # never changes
`;

const placed = (kind: string, metadata: string, spec: string): string =>
  `apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ${kind}\nmetadata: {${metadata}}\nspec: {${spec}}\n`;
const external = "strategy: {type: External}";
const stages = "stages: [{name: all}]";

const clones = clonesWith({
  "members.yaml": `${member.replaceAll("east", "west")}---\n${member}`,
  "placements.yaml": [
    placed("ClusterResourcePlacement", "name: web", external),
    placed("ClusterResourcePlacement", "name: docs", "strategy: {type: RollingUpdate}"),
    placed("ClusterResourcePlacement", "name: plain", "policy: {placementType: PickAll}"),
    placed("ResourcePlacement", "name: web, namespace: shop", external),
  ].join("---\n"),
  "strategies.yaml": [
    placed("ClusterStagedUpdateStrategy", "name: canary-first", stages),
    placed("ClusterStagedUpdateStrategy", "name: canary.first", stages),
    placed("StagedUpdateStrategy", "name: canary-first, namespace: shop", stages),
  ].join("---\n"),
});
let place: Clone;
beforeEach(() => {
  place = clones();
});
afterEach(() => place.remove());

const git = (...args: readonly string[]): string => place.git(...args);
const inHub = (...args: readonly string[]): string => place.inHub(...args);
const write = (path: string, text: string): void => place.write(path, text);

const recordState = (ledger: Ledger, accepted: Readonly<Record<string, string>> = {}): void =>
  recordStateIn(place, ledger, accepted);

const hubPath = (): string => join(place.hub.folder, place.hub.name);

const flotilla = (...argv: readonly string[]) => runAt(argv, place.path);

async function runAt(argv: readonly string[], repo: string, more: readonly string[] = ["--repo", repo], clock?: Clock) {
  const said = { out: "", err: "" };
  const code = await main([...argv, ...more], {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    environment: { XDG_CACHE_HOME: join(place.hub.folder, "cache") },
    ...(clock === undefined ? {} : { clock }),
  });
  return { code, ...said };
}

const id = (): string => git("rev-parse", "HEAD").slice(0, 10);

describe("run", () => {
  const create = ["run", "create", "web-3", "--placement", "web", "--strategy", "canary-first"] as const;

  test("create, start, stop: each is a commit of the one file, and a comment in it stays", async () => {
    recordState(ledgerOf([web([])], []));
    expect(await flotilla(...create, "--index", "3")).toEqual({
      code: 0,
      out: `committed ${id()} to main: Create run web-3: resource snapshot 3 of web by canary-first\n  runs/web-3.yaml\n`,
      err: "",
    });
    const text = read("runs/web-3.yaml");
    expect(text).toContain('  resourceSnapshotIndex: "3"\n');
    write("runs/web-3.yaml", text.replace("state: Initialize", "state: Initialize # not yet"));
    git("mv", "runs/web-3.yaml", "moved.yaml");
    git("commit", "--quiet", "-am", "Say why");
    expect(await flotilla("run", "start", "web-3")).toEqual({
      code: 0,
      out: `committed ${id()} to main: Start run web-3\n  moved.yaml\n`,
      err: "",
    });
    expect(await flotilla("run", "start", "web-3")).toEqual({ code: 0, out: "moved.yaml already says Run\n", err: "" });
    expect((await flotilla("run", "stop", "web-3")).code).toBe(0);
    expect(read("moved.yaml")).toBe(text.replace("state: Initialize", "state: Stop # not yet"));
    expect(git("log", "--format=%s", "-3")).toBe("Stop run web-3\nStart run web-3\nSay why");
  });

  test("in a namespace", async () => {
    expect((await flotilla(...create, "-n", "shop")).code).toBe(0);
    expect(read("runs/shop/web-3.yaml")).toContain("kind: StagedUpdateRun\nmetadata:\n  namespace: shop\n");
    expect((await flotilla("run", "start", "web-3")).code).toBe(64);
    expect((await flotilla("run", "start", "shop/web-3")).code).toBe(0);
    expect((await flotilla("run", "stop", "web-3", "-n", "shop")).code).toBe(0);
  });

  const made = ["run", "create", "r", "--placement"] as const;
  test.each<readonly [string, readonly string[], string, string]>([
    [
      "a placement that no file defines",
      ["we", "--strategy", "canary-first"],
      "no file defines the placement we",
      'did you mean "web"?',
    ],
    [
      "one that is like no other",
      ["billing", "--strategy", "canary-first"],
      "no file defines the placement billing",
      "there are: docs, plain, web; check that the right branch is checked out (flotilla validate shows files that cannot be read)",
    ],
    [
      "a placement that rolls out by itself",
      ["docs", "--strategy", "canary-first"],
      "placement docs does not wait for runs: its strategy is RollingUpdate",
      "set spec.strategy.type in placements.yaml to External; until then, what is pushed rolls out by itself",
    ],
    [
      "one that says nothing of how",
      ["plain", "--strategy", "canary-first"],
      "placement plain does not wait for runs: its strategy is RollingUpdate",
      "set spec.strategy.type in placements.yaml to External; until then, what is pushed rolls out by itself",
    ],
    [
      "a strategy that no file defines",
      ["web", "--strategy", "canary-frist"],
      "no file defines the strategy canary-frist",
      'did you mean "canary-first"?',
    ],
    [
      "a placement in a namespace where there is none",
      ["docs", "--strategy", "canary-first", "-n", "shop"],
      "no file defines the placement docs in namespace shop",
      "there are: web; check that the right branch is checked out (flotilla validate shows files that cannot be read)",
    ],
    [
      "a version that is not kept",
      ["web", "--strategy", "canary-first", "--index", "9"],
      "no resource snapshot 9 of web is kept",
      "give one of 1, 2, 3",
    ],
  ])("%s is refused before anything is committed", async (_, argv, message, fix) => {
    recordState(ledgerOf([web([])], []));
    expect(await flotilla(...made, ...argv)).toEqual({ code: 64, out: "", err: `error: ${message}\n  ${fix}\n` });
    expect(git("log", "--format=%s")).toBe("first");
  });

  test("names may have dots where Kubernetes lets them, and a placement's may not", async () => {
    const of = (name: string, placement: string, strategy: string) =>
      flotilla("run", "create", name, "--placement", placement, "--strategy", strategy, "--dry-run");
    expect((await of("web.3", "web", "canary.first")).out).toContain("stagedRolloutStrategyName: canary.first\n");
    expect((await of("web", "web.shop", "s")).err).toMatch(/"web\.shop" is not a valid name/);
    expect((await of("web", "web", "../s")).err).toMatch(/"\.\.\/s" is not a valid name/);
    expect((await of("a".repeat(64), "web", "s")).err).toMatch(/is not a valid name/);
    expect((await flotilla("run", "start", "shop/web/3")).err).toMatch(/no file defines the run web\/3/);
  });

  test("--dry-run prints the file and writes nothing", async () => {
    const { code, out } = await flotilla(...create, "--dry-run");
    expect([code, out.split("\n")[0]]).toEqual([0, "# runs/web-3.yaml"]);
    expect([existsSync(join(place.path, "runs")), git("log", "--format=%s")]).toEqual([false, "first"]);
  });

  test("--push brings it to the hub, --pr a branch of its own, with what is left to do", async () => {
    expect((await flotilla(...create, "--push")).out).toContain("pushed main to origin\n");
    expect(inHub("log", "--format=%s", "-1", "main")).toBe(
      "Create run web-3: what it selects now of web by canary-first",
    );
    const { code, out } = await flotilla("run", "start", "web-3", "--pr");
    expect([code, out.split("\n").slice(1)]).toEqual([
      0,
      [
        "  runs/web-3.yaml",
        "pushed flotilla/run-web-3-run to origin",
        "open a pull request into main: from flotilla/run-web-3-run",
        "",
      ],
    ]);
    expect(read("runs/web-3.yaml")).toContain("state: Initialize\n");
    expect(inHub("show", "flotilla/run-web-3-run:runs/web-3.yaml")).toContain("state: Run");
  });

  test("runs of one name in two namespaces have two branches for --pr", async () => {
    expect((await flotilla(...create, "--pr")).out).toContain("pushed flotilla/run-web-3 to origin\n");
    expect((await flotilla(...create, "-n", "shop", "--pr")).out).toContain(
      "pushed flotilla/run-shop_web-3 to origin\n",
    );
  });

  test("on another branch it is said that it has no effect yet", async () => {
    git("checkout", "--quiet", "-b", "mine");
    expect((await flotilla(...create)).out).toContain(
      "flotilla reads main: it takes effect once mine is merged there\n",
    );
  });

  test.each([
    [["run", "create", "Web", "--placement", "web", "--strategy", "s"], /"Web" is not a valid name/],
    [["run", "create", "w", "--placement", "web", "--strategy", "s", "--index", "01"], /"01" is not the index/],
    [["run", "create", "w", "--strategy", "s"], /required option '--placement <name>' not specified/],
    [["run", "create", "w", "--placement", "web", "--strategy", "s", "--push", "--pr"], /cannot be used with/],
    [["run", "start", "none"], /no file defines the run none/],
    [["uncordon", "north"], /no file defines the MemberCluster north/],
    [["drain", "easts"], /no file defines the MemberCluster easts\n {2}did you mean "east"\?/],
    [["rollback", "webs"], /there is no record of placement webs/],
    [["evict", "web", "east"], /there is no record of placement web; recorded are: none/],
    [["describe", "node", "x"], /unknown kind node; choose run or cluster/],
  ])("%j is refused", async (argv, says) => {
    const { code, out, err } = await flotilla(...argv);
    expect({ code, out }).toEqual({ code: 64, out: "" });
    expect(err).toMatch(says);
    expect(git("status", "--porcelain")).toBe("");
  });

  test("one that is there is not made again, and one that has not begun is not stopped (V-UR-06)", async () => {
    await flotilla(...create);
    expect((await flotilla(...create)).err).toMatch(/run web-3 already exists in runs\/web-3.yaml/);
    expect((await flotilla("run", "stop", "web-3")).err).toMatch(/has not been started/);
  });

  test("a file with uncommitted changes is left alone", async () => {
    await flotilla(...create);
    write("runs/web-3.yaml", `# mine\n${read("runs/web-3.yaml")}`);
    const { code, err } = await flotilla("run", "start", "web-3");
    expect([code, err]).toEqual([69, expect.stringContaining("runs/web-3.yaml has uncommitted changes")]);
    expect(read("runs/web-3.yaml")).toContain("state: Initialize\n");
  });
});

describe("rollback", () => {
  test("goes back to the version before, by the strategy of the last run, and names who else is under way", async () => {
    const runs = [succeeded("a", 1, 2), succeeded("b", 2, 3), run("web-to-2", 1)];
    recordState(ledgerOf([web([on("east", 3)])], runs));
    expect(await flotilla("rollback", "web")).toEqual({
      code: 0,
      out:
        `committed ${id()} to main: Roll web back to resource snapshot 2\n  runs/web-to-2-2.yaml\n` +
        "run web-to-2 is still in progress; to stop it: flotilla run stop web-to-2\n",
      err: "",
    });
    expect(read("runs/web-to-2-2.yaml")).toBe(`apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata:
  name: web-to-2-2
spec:
  placementName: web
  resourceSnapshotIndex: "2"
  stagedRolloutStrategyName: canary-first
  state: Run
`);
    expect((await flotilla("rollback", "web", "--to", "1")).out).toContain("runs/web-to-1.yaml");
    expect((await flotilla("rollback", "web")).out).toContain("runs/web-to-2-3.yaml");
  });

  test("has nothing to say of a run that was just stopped, although the record does not know it yet", async () => {
    recordState(ledgerOf([web([on("east", 3)])], [succeeded("a", 1, 2), succeeded("b", 2, 3), run("bad", 4)]));
    const { apiVersion, kind } = {
      apiVersion: "placement.kubernetes-fleet.io/v1beta1",
      kind: "ClusterStagedUpdateRun",
    };
    const spec = "placementName: web, stagedRolloutStrategyName: canary-first, state: Stop";
    write("runs/bad.yaml", `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: bad}\nspec: {${spec}}\n`);
    git("add", "runs/bad.yaml");
    git("commit", "--quiet", "-m", "Stop it");
    expect((await flotilla("rollback", "web")).out).not.toContain("still in progress");
  });

  test("says what is missing", async () => {
    expect(await flotilla("rollback", "web")).toEqual({
      code: 64,
      out: "",
      err: "error: there is no record of placement web; recorded are: none\n",
    });
    recordState(ledgerOf([web([on("east", 3)])], []));
    const said = async (...argv: readonly string[]): Promise<string> => (await flotilla("rollback", ...argv)).err;
    expect(await said("web")).toBe("error: web has had no run yet\n  give its strategy with --strategy\n");
    expect(await said("webs")).toBe(
      'error: there is no record of placement webs; did you mean "web"? recorded are: web\n',
    );
    expect(await said("web", "--to", "7", "--strategy", "canary-first")).toBe(
      "error: no resource snapshot 7 of web is kept\n  give one of 1, 2, 3\n",
    );
    expect(await said("web", "--to", "1", "--strategy", "canary")).toMatch(
      /^error: no file defines the strategy canary\n {2}there are: canary-first, canary\.first; /,
    );
    recordState(
      ledgerOf(
        [web([on("east", 3)])],
        [{ ...succeeded("a", 1, 3), spec: { ...run("a", 1).spec, strategy: "gone" as StrategyKey } }],
      ),
    );
    expect(await said("web", "--to", "1")).toMatch(
      /^error: no file defines the strategy gone\n.*; --strategy chooses another one than the last run's\n$/,
    );
    expect(git("log", "--format=%s")).toBe("first");
  });
});

describe("prune", () => {
  const subject = { name: "web-east", uid: "u", placement: "web" as PlacementKey, cluster: "east" as ClusterName };
  const record = { ...subject, found: null };
  const verdict = evictionVerdicts({ kind: "executed", message: "evicted" });
  const conditions = settleConditions([], verdict, at("10:00:00"));
  const text = (kind: string, name: string, spec: string): string =>
    `apiVersion: placement.kubernetes-fleet.io/v1beta1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;
  const runText = (name: string): string =>
    text("ClusterStagedUpdateRun", name, "placementName: web, stagedRolloutStrategyName: canary-first, state: Run");
  const runs = ["a", "b", "c", "d"].map((it, i) => succeeded(it, i + 1, 3));
  const settled = (): void => {
    const ledger = ledgerOf([web([on("east", 3)])], runs);
    recordState({ ...ledger, evictions: new Map([["web-east", { ...record, conditions }]]) });
    write("runs/all.yaml", ["a", "b", "c", "d"].map(runText).join("---\n"));
    write(
      "evictions/web-east.yaml",
      text("ClusterResourcePlacementEviction", "web-east", "placementName: web, clusterName: east"),
    );
    git("add", ".");
    git("commit", "--quiet", "-m", "Much that is over");
  };

  test("takes away what is over, in one commit, and leaves the rest as it was", async () => {
    settled();
    write("mine.txt", "not committed\n");
    expect(await flotilla("prune")).toEqual({
      code: 0,
      out: `committed ${id()} to main: Prune 1 run, 1 eviction\n  runs/all.yaml\n  evictions/web-east.yaml (removed)\n`,
      err: "",
    });
    expect(read("runs/all.yaml")).toBe(["b", "c", "d"].map(runText).join("---\n"));
    expect(git("show", "--format=", "--name-status", "HEAD")).toBe("D\tevictions/web-east.yaml\nM\truns/all.yaml");
    expect(git("status", "--porcelain")).toBe("?? mine.txt");
    expect(await flotilla("prune")).toEqual({ code: 0, out: "nothing to prune\n", err: "" });
  });

  test("shows it first, and brings it by a pull request", async () => {
    settled();
    git("push", "--quiet");
    const { code, out } = await flotilla("prune", "--dry-run");
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^# runs\/all\.yaml\n[\s\S]*\n---\n# evictions\/web-east\.yaml\n# removed\n$/),
    ]);
    expect((await flotilla("prune", "--pr")).code).toBe(0);
    expect(inHub("show", "--format=", "--name-status", "flotilla/prune")).toBe(
      "D\tevictions/web-east.yaml\nM\truns/all.yaml",
    );
    expect(git("status", "--porcelain")).toBe("");
  });

  test("takes answers away that were read and answer nothing, and leaves those that nobody has read", async () => {
    const text = (digest: string): string =>
      `apiVersion: flotilla.dev/v1alpha1\nkind: Approval\nmetadata: {name: x}\nspec: {requestDigest: "${digest}", decision: Approve, principal: ann}\n`;
    const [read, fresh, edited] = ["aa", "bb", "cc"].map((it) => text(it.repeat(32))) as [string, string, string];
    recordState(ledgerOf([web([on("east", 3)])], []), {
      "approvals/read.yaml": read,
      "approvals/edited.yaml": edited,
    });
    write("approvals/read.yaml", read);
    write("approvals/fresh.yaml", fresh);
    write("approvals/edited.yaml", `${edited}# by now\n`);
    git("add", ".");
    git("commit", "--quiet", "-m", "Answers");
    expect((await flotilla("prune")).out).toBe(
      `committed ${id()} to main: Prune 1 approval\n  approvals/read.yaml (removed)\n`,
    );
  });

  test("what is over is no problem before that, where the record is at hand", async () => {
    settled();
    const gone = read("placements.yaml").replace("name: web}", "name: other}");
    write("placements.yaml", gone);
    const validated = await runAt(["validate", place.path], place.path, []);
    expect([validated.code, validated.err]).toEqual([1, expect.stringMatching(/runs\/all\.yaml:4:.* FLT1314/)]);
    git("fetch", "--quiet");
    expect((await runAt(["validate", place.path], place.path, [])).err).not.toMatch(/runs\/all|web-east/);
  });
});

/** The record of the eviction of web from east. */
const judged = (kind: "executed" | "refused" | "invalid", message: string): Ledger["evictions"] => {
  const conditions = settleConditions([], evictionVerdicts({ kind, message }), at("10:00:00"));
  const its = { name: "web-east", uid: "u", placement: "web" as PlacementKey, cluster: "east" as ClusterName };
  return new Map([["web-east", { ...its, found: null, conditions }]]);
};

describe("a drain that waits", () => {
  const there = () => ledgerOf([web([on("east", 3)])], []);
  const group = (placement: string, cluster: string) => ({
    placement: placement as PlacementKey,
    clusters: [cluster as ClusterName],
    objects: [{ group: "", kind: "ConfigMap", namespace: "shop", name: "settings" }],
  });
  const heldWith = (...groups: readonly ReturnType<typeof group>[]) => ({
    ...emptyLedger.deletions,
    held: [
      {
        because: "bounds",
        cause: "c".repeat(40) as Commit,
        digest: "ab".repeat(32) as Digest,
        confirmed: false,
        groups,
        others: [],
      },
    ] as const,
  });

  /** Somebody drains east and pushes; while they wait, at each look, time goes by and the next of these is recorded. */
  const waits = (argv: readonly string[], ...then: readonly (() => void)[]) => {
    const coming = [...then];
    let time = at("12:00:00");
    const clock: Clock = {
      now: () => time,
      sleepUntil: async (moment) => {
        time = moment;
        coming.shift()?.();
      },
    };
    return runAt(["drain", "east", "--push", ...argv], place.path, ["--repo", place.path], clock);
  };
  const nothing = (): void => {};

  test("tells each verdict as it comes, and what its deletions wait for", async () => {
    recordState(there());
    const { code, out, err } = await waits([], nothing, () =>
      recordState({
        ...there(),
        evictions: judged("executed", "web has no disruption budget"),
        deletions: heldWith(group("web", "east")),
      }),
    );
    expect([code, err]).toEqual([0, ""]);
    expect(out.slice(out.indexOf("pushed"))).toBe(
      "pushed main to origin\nweb leaves east: web has no disruption budget\n" +
        `${"ab".repeat(32)}: 1 deletion on 1 cluster of web: more than one commit may delete without confirmation\n` +
        "  web on east:\n    ConfigMap shop/settings\n" +
        `to confirm them: flotilla confirm ${"ab".repeat(32)}\n`,
    );
  });

  test("with --confirm commits what confirms it, in a commit of its own", async () => {
    recordState(there());
    const { code, out } = await waits(["--confirm"], () =>
      recordState({ ...there(), evictions: judged("executed", "gone"), deletions: heldWith(group("web", "east")) }),
    );
    expect(code).toBe(0);
    expect(out).toContain(`committed ${id()} to main: Confirm 1 deletion on 1 cluster\n`);
    expect(git("log", "--format=%s", "-2")).toBe("Confirm 1 deletion on 1 cluster\nDrain east");
    expect(git("show", "--format=", "--name-only", "HEAD")).toBe(`approvals/deletions/${"ab".repeat(32)}.yaml`);
    expect(inHub("log", "--format=%s", "-1", "main")).toBe("Confirm 1 deletion on 1 cluster");
  });

  test("confirms nothing that others took away, however it is asked", async () => {
    recordState(there());
    const { code, out, err } = await waits(["--confirm"], () =>
      recordState({
        ...there(),
        evictions: judged("executed", "gone"),
        deletions: heldWith(group("web", "east"), group("web", "west")),
      }),
    );
    expect([code, err]).toEqual([0, "warning: not confirmed, as it deletes more than this drain evicted\n"]);
    expect(out).toContain("to confirm them: flotilla confirm ");
    expect(git("log", "--format=%s", "-1")).toBe("Drain east");
  });

  test("a refusal is told, and the cluster is not drained", async () => {
    recordState(there());
    const { code, out } = await waits([], () =>
      recordState({ ...there(), evictions: judged("refused", "2 of 3 are available") }),
    );
    expect([code, out]).toEqual([3, expect.stringMatching(/\nweb stays on east: refused: 2 of 3 are available\n$/)]);
  });

  test("gives up after two minutes, and says whom to look for", async () => {
    recordState(there());
    const { code, err } = await waits([]);
    expect([code, err]).toEqual([
      3,
      "error: no reconciler processed web-east within two minutes\n" +
        "  check that one is running (flotilla reconcile --watch); flotilla get evictions shows the results\n",
    ]);
  });

  test.each([["--no-wait"], ["--pr"]])("waits for nothing with %s", async (option) => {
    recordState(there());
    const { code, out } = await flotilla("drain", "east", option);
    expect([code, out]).toEqual([0, expect.stringMatching(/\nto see the results: flotilla get evictions\n$/)]);
  });

  test("says that nothing is confirmed where nobody can judge it yet", async () => {
    recordState(there());
    const { code, out, err } = await flotilla("drain", "east", "--confirm");
    expect([code, out, err]).toEqual([
      0,
      expect.stringContaining("they are processed once origin has them: git push\n"),
      "warning: nothing is confirmed yet: run flotilla confirm then\n",
    ]);
  });

  test.each([["--no-wait"], ["--pr"], ["--dry-run"]])("--confirm goes with waiting, not with %s", async (option) => {
    const { code, err } = await flotilla("drain", "east", "--confirm", option);
    expect([code, err]).toEqual([64, expect.stringMatching(/^error: --confirm confirms what the evictions delete/)]);
    expect(git("log", "--format=%s")).toBe("first");
  });
});

describe("evict, drain and uncordon", () => {
  const fixed = { kind: "PickFixed" as const, clusterNames: ["east" as ClusterName] };
  const named = (name: string) => ({ key: name as PlacementKey, name });
  const ledger = (): Ledger =>
    ledgerOf([web([on("east", 3)]), web([on("east", 3)], { ...named("fixed"), policy: fixed })], []);

  test("an eviction is written once, and again under another name when that one was judged", async () => {
    recordState(ledger());
    expect((await flotilla("evict", "web", "east")).out).toContain("  evictions/web-east.yaml\n");
    expect((await flotilla("evict", "web", "east")).out).toBe(
      "web is already to be evicted from east: it waits to be processed\n",
    );
    const record = { name: "web-east", uid: "u", placement: "web" as PlacementKey, cluster: "east" as ClusterName };
    recordState({ ...ledger(), evictions: new Map([["web-east", { ...record, found: null, conditions: [] }]]) });
    expect((await flotilla("evict", "web", "east")).out).toContain("  evictions/web-east-2.yaml\n");
    expect((await flotilla("evict", "web", "west")).err).toBe(
      "error: there is no record of web on west; recorded are: east\n",
    );
    expect((await flotilla("evict", "fixed", "east")).err).toContain("edit its clusterNames instead");
  });

  test("an eviction whose name another one has is written under a name of its own", async () => {
    const [short, long] = [web([on("east-1", 3)]), web([on("1", 3)], named("web-east"))];
    recordState(ledgerOf([short, long], []));
    expect((await flotilla("evict", "web-east", "1")).out).toContain("  evictions/web-east-1.yaml\n");
    expect((await flotilla("evict", "web", "east-1")).out).toContain("  evictions/web-east-1-2.yaml\n");
    expect((await flotilla("evict", "web", "east-1")).out).toMatch(/web-east-1|is already to be evicted from east-1/);
  });

  test("a drain is one commit, and uncordon takes the taint away to the byte", async () => {
    recordState(ledger());
    const before = read("members.yaml");
    expect(await flotilla("drain", "east")).toEqual({
      code: 0,
      out:
        `committed ${id()} to main: Drain east\n  members.yaml\n  evictions/web-east.yaml\n` +
        "they are processed once origin has them: git push\nto see the results: flotilla get evictions\n",
      err: "warning: fixed stays: it names its clusters (PickFixed); edit its clusterNames instead\n",
    });
    const taint = "  taints:\n    - key: cordon-key\n      value: cordon-value\n      effect: NoSchedule\n";
    expect(read("members.yaml")).toBe(before + taint);
    expect((await flotilla("drain", "east")).out).toMatch(
      /^east is already being drained: its evictions wait to be processed\n/,
    );
    expect((await flotilla("uncordon", "east")).out).toContain("  members.yaml\n  evictions/web-east.yaml (removed)\n");
    expect(read("members.yaml")).toBe(before);
    expect((await flotilla("uncordon", "east")).out).toBe("east has no drain taint, and no eviction waits there\n");
  });

  test("what is in the plan of an unfinished run is not evicted, as that would be invalid for good", async () => {
    const under = run("r", 1, { plan: planOf(3, [stage("all", ["east"])]) });
    recordState(ledgerOf([web([on("east", 3)])], [under]));
    const because = "east is in the plan of the update run r; evict it when that has ended";
    expect((await flotilla("evict", "web", "east")).err).toBe(`error: web cannot be evicted\n  ${because}\n`);
    const { code, out, err } = await flotilla("drain", "east");
    expect([code, err]).toEqual([0, `warning: web stays: ${because}\n`]);
    expect(out).not.toContain("evictions/");
  });

  test("uncordon leaves evictions alone that were executed, or are of other clusters", async () => {
    recordState(ledgerOf([web([on("east", 3), on("west", 3)])], []));
    await flotilla("drain", "east");
    await flotilla("evict", "web", "west");
    recordState({ ...ledgerOf([web([on("west", 3)])], []), evictions: judged("executed", "web is evicted") });
    expect((await flotilla("uncordon", "east")).out.split("\n").slice(1)).toEqual(["  members.yaml", ""]);
    recordState({ ...ledgerOf([web([on("west", 3)])], []), evictions: judged("refused", "too few are available") });
    expect((await flotilla("uncordon", "east")).out.split("\n").slice(1)).toEqual([
      "  evictions/web-east.yaml (removed)",
      "",
    ]);
    expect(existsSync(join(place.path, "evictions/web-west.yaml"))).toBe(true);
  });

  test("where nothing is recorded a drain only taints, and says so", async () => {
    expect(await flotilla("drain", "east")).toEqual({
      code: 0,
      out: `committed ${id()} to main: Drain east\n  members.yaml\n`,
      err: "warning: nothing is recorded of this fleet yet: nothing is evicted\n",
    });
  });
});

describe("get and describe", () => {
  const asked = gateOf({ requestedAt: at("09:00:00"), digest: "ab".repeat(32) as Digest });
  const its = run("r", 1, {
    plan: planOf(3, [stage("canary", ["east"], { before: [approval] })]),
    stages: [progress({ before: requested(asked) })],
  });

  test("show the runs and what they ask for", async () => {
    recordState(ledgerOf([web([on("east", 2)])], [its]));
    const show = (...argv: readonly string[]) => runAt(argv, hubPath());
    expect((await show("get", "runs")).out).toBe(
      "NAME   PLACEMENT   INDEX   STAGES   CLUSTERS   STATE\nr      web         3       0/1      0/1        Waiting\n",
    );
    expect((await show("get", "runs", "r", "-o", "wide")).out).toMatch(/canary-first +0 +canary: approval before it/);
    expect((await show("get", "run", "-o", "name")).out).toBe(
      "clusterstagedupdaterun.placement.kubernetes-fleet.io/r\n",
    );
    expect((await show("get", "approvals", "-o", "name")).out).toBe(
      "clusterapprovalrequest.placement.kubernetes-fleet.io/r-before-canary\n",
    );
    expect((await show("get", "approvals", "r-before-none")).err).toBe(
      "error: there is no record of approval r-before-none; recorded are: r-before-canary\n",
    );
    const { out } = await show("describe", "run", "r");
    expect(out).toMatch(/^r: Waiting: canary: approval before it/);
    expect(out).toContain("└─ stage canary: waits\n");
    expect(out).toContain(
      `commit this file to main: approvals/r/canary-before.yaml\n\napiVersion: flotilla.dev/v1alpha1\n`,
    );
    const value = JSON.parse((await show("describe", "run", "r", "-o", "json")).out);
    expect([value.run.kind, value.run.metadata.name, value.approvals.length]).toEqual([
      "ClusterStagedUpdateRun",
      "r",
      1,
    ]);
    expect((await show("describe", "run", "other")).err).toBe(
      "error: there is no record of run other; recorded are: r\n",
    );
  });

  test("show what became of evictions, and which members are cordoned", async () => {
    const known = { properties: new Map([["k8s.io/k8s-version", "v1.36.3"]]) };
    const recorded = ledgerOf([web([on("east", 3)])], [], [memberRecord("east", known), memberRecord("west", known)]);
    await flotilla("drain", "east", "--no-wait");
    recordState(
      { ...recorded, evictions: judged("refused", "2 of 3 are available") },
      { "members.yaml": read("members.yaml") },
    );
    const show = (...argv: readonly string[]) => runAt(["get", ...argv], hubPath());
    expect((await show("evictions")).out).toBe(
      "NAME       PLACEMENT   CLUSTER   STATE     MESSAGE\n" +
        "web-east   web         east      Refused   2 of 3 are available\n",
    );
    expect((await show("eviction", "web-east", "-o", "name")).out).toBe(
      "clusterresourceplacementeviction.placement.kubernetes-fleet.io/web-east\n",
    );
    const rows = (await show("clusters")).out.split("\n").map((it) => it.split(/ +/).slice(0, 3));
    expect(rows.slice(1, 3)).toEqual([
      ["east", "v1.36.3", "Healthy,SchedulingDisabled"],
      ["west", "v1.36.3", "Healthy"],
    ]);
  });

  test("explain shows whom a rollout holds back and the numbers, as the placement's conditions have them", async () => {
    const numbers = "east held back: ready 1, needed 1 (2 targeted - maxUnavailable 1), budget 0, starting now 0";
    const placement = web([on("east", 2)]);
    const conditions = settleConditions([], placementVerdicts(placement, numbers), at("09:00:00"));
    recordState(ledgerOf([{ ...placement, conditions }], []));
    expect((await runAt(["explain", "web"], hubPath())).out).toContain(`; ${numbers}\n`);
  });

  const answered = (digest: string): string =>
    [
      "apiVersion: flotilla.dev/v1alpha1",
      "kind: Approval",
      "metadata:",
      "  name: any",
      "spec:",
      `  requestDigest: "${digest}"`,
      "  decision: Approve",
      "  principal: ann",
      "",
    ].join("\n");
  const stray = (path: string): string =>
    `\n${path} of ann does not count: FLT1201: ${path} answers no request that is open; ` +
    "answer the one that flotilla describe run shows, in a new file\n";

  test.each<readonly [string, string, readonly string[]]>([
    ["with another digest, where the answer belongs", "approvals/r/canary-before.yaml", ["named", "all", "run"]],
    ["to a stage that was not asked, or of the run as it was before", "approvals/r/rest-before.yaml", ["all", "run"]],
    ["to nobody knows what, in no folder of a run", "approvals/any.yaml", ["all", "run"]],
    ["to a run that is gone", "approvals/gone/canary-before.yaml", ["all", "run"]],
    ["to another run", "approvals/other/canary-before.yaml", ["all"]],
  ])("where nobody signs, an approval %s, is answered", async (_, path, where) => {
    const other = run("other", 2, { plan: planOf(3, [stage("canary", ["east"])]) });
    const ledger = ledgerOf([web([on("east", 2)])], [its, other]);
    const shown = async (digest: string): Promise<readonly string[]> => {
      recordState(ledger, { [path]: answered(digest) });
      const outs = {
        named: await runAt(["get", "approvals", "r-before-canary"], hubPath()),
        all: await runAt(["get", "approvals"], hubPath()),
        run: await runAt(["describe", "run", "r"], hubPath()),
      };
      return Object.entries(outs).flatMap(([name, { out }]) => (out.split(stray(path)).length === 2 ? [name] : []));
    };
    expect(await shown("cd".repeat(32))).toEqual(where);
    expect(await shown(asked.digest)).toEqual([]);
  });

  test("what was done as it was approved, and what belongs to nobody, is not held against a run that asks for nothing", async () => {
    const given = { ...asked, approval: approvalOf("ann", at("09:10:00"), "approvals/r/canary-before.yaml") };
    const over = { ...its, stages: [progress({ before: requested(given), startedAt: at("09:10:00") })] };
    recordState(ledgerOf([web([on("east", 2)])], [over]), {
      "approvals/r/canary-before.yaml": answered(asked.digest),
      "approvals/any.yaml": answered("cd".repeat(32)),
    });
    expect((await runAt(["describe", "run", "r"], hubPath())).out).not.toContain("FLT1201");
    expect((await runAt(["get", "approvals"], hubPath())).out).toContain(stray("approvals/any.yaml"));
  });

  test("an answer that stands in its place with another digest is said to answer nothing", async () => {
    const ledger = ledgerOf([web([on("east", 2)])], [its]);
    const described = async (digest: string): Promise<string> => {
      recordState(ledger, { "approvals/r/canary-before.yaml": `spec:\n  requestDigest: ${digest}\n` });
      return (await runAt(["describe", "run", "r"], hubPath())).out;
    };
    const said = "\napprovals/r/canary-before.yaml answers no request: its requestDigest does not match\n";
    expect(await described("cd".repeat(32))).toContain(said);
    expect(await described(asked.digest)).not.toContain("answers nothing");
  });
});

test("the state is read where it stands: here, when this is the hub", async () => {
  recordState(ledgerOf([web([on("east", 3)])], [succeeded("a", 1, 2)]));
  git("fetch", "--quiet", "origin", "fleet/state:fleet/state");
  git("remote", "remove", "origin");
  rmSync(hubPath(), { recursive: true });
  expect((await flotilla("rollback", "web", "--to", "1", "--dry-run")).out).toContain('resourceSnapshotIndex: "1"');
});
