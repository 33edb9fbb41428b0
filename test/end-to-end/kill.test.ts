import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { random } from "../core/schedule/random.ts";
import { describeKubernetes } from "../kubernetes/describe-kubernetes.ts";
import { walkLength, walksAreFull } from "../long-walks.ts";
import { type GitServer, serveGit } from "../shell/git/http-server.ts";
import { type Hub, makeHub } from "./hub.ts";
import { changesBetween, type Door, type Kill, tableOf } from "./kills.ts";
import { type ObservedGit, observeGit } from "./observed-git.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { flotilla, type Running, startFlotilla } from "./program.ts";
import { type RealFleet, startRealFleet } from "./real-fleet.ts";
import {
  clusterRole,
  configMap,
  file,
  memberCluster,
  namespace,
  openFleet,
  placement,
  serviceAccount,
  tierOverride,
} from "./small-fleet.ts";

/** `KILLS=50 SEED=7 npx vitest run test/end-to-end/kill.test.ts` does it at length, and says where the kills fell. */
const kills = walkLength("KILLS", { short: 2, full: 6 });
const seed = Number(process.env["SEED"] ?? 1);
/** The short way goes by a URL alone: a mirror is what a killed process may leave half done. */
const doors: readonly Door[] = walksAreFull ? ["path", "url"] : ["url"];

const shared = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" };
const readers = [1, 2, 3].map((it) => `reader-${it}`);
const numbered = (at: string, count: number, text: string) =>
  Array.from({ length: count }, (_, it) => configMap(`${at}-${it}`, { text }));

/** What stands everywhere before the work that is interrupted. */
const before: Readonly<Record<string, string>> = {
  "fleet.yaml": file(openFleet),
  "clusters/east.yaml": file(memberCluster("east", { region: "east" })),
  "clusters/north.yaml": file(memberCluster("north", { region: "north" })),
  "clusters/west.yaml": file(memberCluster("west", { region: "west" })),
  "placements/shop.yaml": file(placement("shop")),
  "placements/old.yaml": file(placement("old")),
  "placements/roles.yaml": file(
    placement("roles", { selectors: readers.map((name) => ({ ...shared, name })), maxUnavailable: 2 }),
  ),
  "overrides/roles.yaml": file(tierOverride("roles", { ...shared, name: "reader-1" }, "bronze")),
  "resources/shop.yaml": file(namespace("shop"), ...numbered("shop/web", 6, "hello"), serviceAccount("shop/web")),
  "resources/old.yaml": file(namespace("old"), ...numbered("old/web", 6, "bye"), serviceAccount("old/web")),
  "resources/roles.yaml": file(...readers.map(clusterRole)),
};

/** A placement comes, another goes, and a cluster leaves. */
async function moveThings({ write, remove }: Hub): Promise<void> {
  await write("placements/fresh.yaml", file(placement("fresh")));
  await write("resources/fresh.yaml", file(namespace("fresh"), ...numbered("fresh/web", 6, "new")));
  await remove("placements/old.yaml");
  await remove("clusters/north.yaml");
}

/** An edit that goes from cluster to cluster and takes an object away, and another override. */
async function editThings({ write }: Hub): Promise<void> {
  await write("resources/shop.yaml", file(namespace("shop"), ...numbered("shop/web", 6, "hello again")));
  await write("overrides/roles.yaml", file(tierOverride("roles", { ...shared, name: "reader-1" }, "gold")));
}

/** A hub, and how it is reconciled. */
interface Desk {
  readonly hub: Hub;
  readonly git: ObservedGit;
  readonly args: readonly string[];
}

/** Starts a run, and waits until it is about to read the hub: a kill before that would be none. */
async function startUp({ args, git }: Desk): Promise<Running> {
  git.wasCalled();
  const run = await startFlotilla(args, { environment: { PATH: git.path } });
  while (!git.wasCalled()) await sleep(5);
  return run;
}

async function settle({ args }: Desk): Promise<void> {
  expect(await flotilla(args)).toMatchObject({ code: 0, err: "" });
}

/** The moments at which a run moved the state branch, as they come, until there are `most` of them or it ends. */
async function commitsOf(run: Running, { hub }: Desk, most = Number.POSITIVE_INFINITY): Promise<readonly number[]> {
  const tip = () => readFileSync(join(hub.repo, "refs", "heads", "fleet", "state"), "utf8");
  const moments: number[] = [];
  let [last, hasEnded] = [tip(), false];
  void run.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && moments.length < most) {
    if (tip() !== last) moments.push(performance.now());
    last = tip();
    await sleep(5);
  }
  return moments;
}

/** What a member remembers of an object that is as it should be. */
const atRest = '{"isLive":true,"adopted":false,"outcome":{"kind":"applied"}}';

/** With two pushes, deletions are counted under the one that a run saw first. */
const withoutCauses = ({ state, ...outcome }: Outcome): Outcome => {
  const ledger = (state["ledger.yaml"] ?? "").replace(/^ {2}permitted:(\n {4}.*)+$/m, "  permitted: _");
  return { ...outcome, state: { ...state, "ledger.yaml": ledger } };
};

await describeKubernetes("a reconcile of real API servers that is killed and run again", "API servers", () => {
  let fleet: RealFleet;
  let server: GitServer;
  beforeAll(async () => {
    fleet = await startRealFleet(["east", "north", "west"]);
    server = await serveGit({ root: fleet.folder });
  }, 400_000);
  afterAll(async () => {
    await server?.close();
    await fleet?.stop();
  }, 400_000);

  let worlds = 0;
  /** Empty members, and a hub of which nobody has decided anything; then what stands there before the work. */
  const begin = async (door: Door): Promise<Desk> => {
    const name = `world-${worlds++}`;
    const folder = join(fleet.folder, name);
    const [hub] = await Promise.all([makeHub(folder), fleet.clear()]);
    await hub.clear();
    for (const [path, text] of Object.entries(before)) await hub.write(path, text);
    hub.push("A small fleet");
    const repo = door === "path" ? hub.repo : server.url(`${name}/hub.git`);
    const members = ["--kubeconfig", fleet.kubeconfig, "--wait", "5m"];
    const args = ["reconcile", "--repo", repo, ...members, "--cache", join(folder, "cache")];
    const desk = { hub, args, git: await observeGit(join(folder, "git")) };
    await settle(desk);
    return desk;
  };

  let want: Outcome;
  let all = 0;
  /** How long an undisturbed run went on: after its start-up, after its first commit, after its second … */
  const stretches = new Map<Door, readonly number[]>();
  test.each(doors)("not killed at all, by %s", async (door) => {
    const desk = await begin(door);
    const { hub } = desk;
    await moveThings(hub);
    await editThings(hub);
    hub.push("Everything at once");
    const objects = await fleet.objects();
    const run = await startUp(desk);
    const marks = [performance.now(), ...(await commitsOf(run, desk)), performance.now()];
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
    stretches.set(
      door,
      marks.slice(1).map((it, at) => it - (marks[at] ?? 0)),
    );
    all = changesBetween(objects, await fleet.objects(), "others");
    const outcome = outcomeOf(await fleet.objects(), hub.repo);
    want ??= outcome;
    expect(outcome).toEqual(want);
    const web = (name: string) => [0, 1, 2, 3, 4, 5].map((it) => `configmaps ${name}/web-${it}`);
    expect(Object.keys(want.objects["west"] ?? {})).toEqual([
      ...["fresh", "shop"].map((it) => `namespaces ${it}`),
      ...["fresh", "shop"].flatMap(web),
      ...readers.map((it) => `clusterroles ${it}`),
    ]);
    const remembered = want.inventories["west"]?.filter((it) => it.includes("{")) ?? [];
    expect(remembered.length).toBe(2 + 12 + 3);
    expect(remembered.filter((it) => !it.endsWith(atRest))).toEqual([]);
  });

  /**
   * Kills one run, and lets another do the rest. `part` from 0 to 1 says when: every stretch of a run has an equal share, since
   * what takes long on one machine is short on another. Null when it had ended before.
   */
  const killOnce = async (door: Door, part: number, isSplit: boolean): Promise<Kill | null> => {
    const desk = await begin(door);
    const { hub } = desk;
    await moveThings(hub);
    if (!isSplit) await editThings(hub);
    hub.push(isSplit ? "Move things" : "Everything at once");
    const [objects, commits] = [await fleet.objects(), hub.stateCommits()];
    const lengths = stretches.get(door) ?? expect.fail("nobody measured it");
    const stretch = Math.floor(part * lengths.length);
    const delayMs = Math.round((part * lengths.length - stretch) * (lengths[stretch] ?? 0));
    const run = await startUp(desk);
    await commitsOf(run, desk, stretch);
    await sleep(delayMs);
    run.signal("SIGKILL");
    const { code } = await run.ended;
    const found = await fleet.objects();
    const kill: Kill = {
      door,
      isSplit,
      stretch,
      delayMs,
      commits: hub.stateCommits() - commits,
      writes: changesBetween(objects, found, "others"),
      claims: changesBetween(objects, found, "inventories"),
    };
    if (isSplit) {
      await editThings(hub);
      hub.push("Edit things");
    }
    await settle(desk);
    const outcome = outcomeOf(await fleet.objects(), hub.repo);
    if (isSplit) expect(withoutCauses(outcome), JSON.stringify(kill)).toEqual(withoutCauses(want));
    else expect(outcome, JSON.stringify(kill)).toEqual(want);
    return code === null ? kill : null;
  };

  test(
    `killed at ${kills} instants of it, with and without another push before it runs again`,
    async () => {
      const { below } = random(seed);
      const done: Kill[] = [];
      for (let at = 0, tries = 0; at < kills && tries < 4 * kills; tries += 1) {
        const part = (at + below(1000) / 1000) / kills;
        const door = doors[at % doors.length] ?? "url";
        const kill = await killOnce(door, part, below(2) === 0);
        if (kill === null) {
          // The machine is quicker by now than it was when nobody was killed.
          const lengths = stretches.get(door) ?? [];
          stretches.set(
            door,
            lengths.map((it) => it / 2),
          );
          continue;
        }
        done.push(kill);
        at += 1;
      }
      if ("KILLS" in process.env) console.info(`SEED=${seed}\n${tableOf(done, all)}`);
      expect(done.length).toBe(kills);
      // All but those of the first stretch, and there are two at least.
      expect(done.filter((it) => it.commits > 0).length).toBeGreaterThanOrEqual(kills / 2);
    },
    240_000 + kills * 60_000,
  );
});
