import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compareText } from "../../src/core/model/value.ts";
import { random } from "../core/schedule/random.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { makeScratch, type Scratch } from "../kubernetes/supervise.ts";
import { walkLength } from "../long-walks.ts";
import { type GitServer, serveGit } from "../shell/git/http-server.ts";
import { gitIn } from "../shell/git/hub.ts";
import { standingOf } from "./at-rest.ts";
import { type Door, openDoor } from "./door.ts";
import { type Editor, editorOf, firstAsked, wantedBy } from "./edits.ts";
import { type EmbeddedMembers, startEmbeddedMembers } from "./embedded.ts";
import { type Hub, makeHub } from "./hub.ts";
import { type Barrier, holdInHook, type Move, type ObservedGit, observeGit } from "./observed-git.ts";
import { flotilla, type Running, startFlotilla } from "./program.ts";
import { type Deeds, flawsOf, uncoveredBy } from "./race-findings.ts";
import { historyOf } from "./state-branch.ts";

/** `SECONDS=60 SEED=7 npx vitest run test/end-to-end/race.test.ts` does it at length, and says what happened. */
const seconds = walkLength("SECONDS", { short: 2, full: 8 });
const seed = Number(process.env["SEED"] ?? 1);
const names = [...firstAsked.members.keys()];

/** What a daemon says when its pass was for nothing. */
const yielding = "another reconciler committed first";

/** A daemon with a git of its own and a way of its own to the members. It may die, and begin again. */
interface Racer {
  readonly name: string;
  readonly git: ObservedGit;
  readonly door: Door;
  readonly lives: Life[];
  /** Resolves once it watches. */
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** One process of a racer. */
interface Life {
  readonly run: Running;
  /** How many changing requests had come through the door when it began. */
  readonly from: number;
  /** When it said that another reconciler committed first, or was killed. */
  readonly yields: number[];
}

/** Everything that takes part in one race. */
interface Course {
  readonly folder: string;
  readonly hub: Hub;
  readonly repo: string;
  readonly members: EmbeddedMembers;
  readonly editor: Editor;
  readonly racers: readonly Racer[];
  readonly barriers: readonly Barrier[];
}

async function racerOf(name: string, { folder, repo, members }: Omit<Course, "racers" | "barriers">): Promise<Racer> {
  const [git, door] = [await observeGit(join(folder, name)), await openDoor(members.kubeconfig)];
  const kubeconfig = join(folder, name, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(door.kubeconfig), { mode: 0o600 });
  const often = ["--watch", "--poll", "300ms", "--resync", "2s", "--cache", join(folder, "cache")];
  const args = ["reconcile", "--repo", repo, "--kubeconfig", kubeconfig, ...often];
  const lives: Life[] = [];
  const start = async (): Promise<void> => {
    const yields: number[] = [];
    let from = 0;
    const hear = (text: string): void => {
      if (text.includes("watching ")) from = door.changes.length;
      if (text.includes(yielding)) yields.push(Date.now());
    };
    const run = await startFlotilla(args, { environment: { PATH: git.path }, limitMs: 3_600_000, hear });
    await eventually("it watches", async () => (run.out().startsWith("watching ") ? true : null));
    lives.push({ run, from, yields });
  };
  const kill = async (): Promise<void> => {
    const life = lives.at(-1);
    life?.run.signal("SIGKILL");
    await life?.run.ended;
    life?.yields.push(Date.now());
  };
  await start();
  return { name, git, door, lives, start, kill };
}

/** What each process of a racer did. What a dead one left to git is its own, whoever is its parent by then. */
async function deedsOf({ name, git, door, lives }: Racer): Promise<readonly Deeds[]> {
  const moves = await git.moves();
  return lives.map(({ run, from, yields }, at): Deeds => {
    const isOwn = ({ pid }: Move): boolean => pid === run.pid || (at === 0 && lives.every((it) => it.run.pid !== pid));
    const changes = door.changes.slice(from, lives[at + 1]?.from);
    return { name: `${name}, life ${at + 1}`, moves: moves.filter(isOwn), changes, yields };
  });
}

/** One push, or two of which the first finds somebody whose own push waits until another one has decided. */
async function pushOnce({ hub, editor }: Course, barrier: Barrier | null): Promise<boolean> {
  const tip = (): Promise<string> => readFile(join(hub.repo, "refs/heads/fleet/state"), "utf8").catch(() => "");
  await barrier?.close();
  await editor.push();
  const isHeld = barrier !== null && (await until(async () => barrier.isWaiting(), 1000));
  if (isHeld) {
    const before = await tip();
    await editor.push();
    await until(async () => (await tip()) !== before, 1500);
  }
  await barrier?.open();
  return isHeld;
}

/** Waits until something is so, and no longer than that; gives whether it is. */
async function until(is: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  const end = Date.now() + limitMs;
  while (Date.now() < end) {
    if (await is()) return true;
    await sleep(20);
  }
  return is();
}

/** People push for a while; in the middle of it one of the two is killed, and begins again. Gives how many pushes were held. */
async function raceOn(course: Course): Promise<number> {
  const { below, pick, shuffled } = random(seed);
  const { racers, barriers } = course;
  const [begin, half] = [Date.now(), 500 * seconds];
  const isRaced = () => racers.some(({ lives }) => lives.some((it) => it.run.out().includes(yielding)));
  const [victim] = shuffled(racers);
  let held = 0;
  const isOver = () => Date.now() > begin + 2 * half && (isRaced() || Date.now() > begin + 2 * half + 30_000);
  while (!isOver()) {
    if (Date.now() > begin + half && victim?.lives.length === 1) {
      await victim.kill();
      await victim.start();
    }
    const barrier = below(2) === 0 ? pick(barriers as readonly [Barrier, ...Barrier[]]) : null;
    if (await pushOnce(course, barrier)) held += 1;
    await sleep(below(400));
  }
  return held;
}

describe("two reconcilers that watch one repository while people push", () => {
  let scratch: Scratch;
  let server: GitServer;
  beforeAll(async () => {
    scratch = await makeScratch();
    server = await serveGit({ root: scratch.path });
  });
  afterAll(async () => {
    await server?.close();
    await scratch?.stop();
  });

  const courseOf = async (way: "path" | "url"): Promise<Course> => {
    const folder = join(scratch.path, way);
    await mkdir(folder);
    const members = await startEmbeddedMembers({ folder, names, availableAfter: "30ms" });
    const hub = await makeHub(folder);
    gitIn(hub.repo, ["config", "core.logAllRefUpdates", "always"]);
    const editor = await editorOf(hub, random(seed + 1000));
    const repo = way === "path" ? hub.repo : server.url(`${way}/hub.git`);
    const place = { folder, hub, repo, members, editor };
    const racers = await Promise.all(["one", "two"].map((it) => racerOf(it, place)));
    const barriers = racers.map((it) => it.git.barrier);
    if (way === "url") barriers.push(await holdInHook(hub.repo, join(folder, "hook")));
    return { ...place, racers, barriers };
  };

  test.each(["path", "url"] as const)(
    "lose nothing, and whoever lost a push writes nothing, by %s",
    async (way) => {
      const course = await courseOf(way);
      const { folder, hub, repo, members, racers } = course;
      const held = await raceOn(course);
      const lives = racers.map((it) => it.lives.at(-1));
      for (const it of lives) it?.run.signal("SIGTERM");
      const ended = await Promise.all(lives.map((it) => it?.run.ended));
      const deeds = (await Promise.all(racers.map(deedsOf))).flat();
      if ("SECONDS" in process.env) console.info(`SEED=${seed} by ${way}: ${told(course, held, deeds)}`);
      expect(ended.map((it) => [it?.code, it?.err])).toEqual(racers.map(() => [0, ""]));
      expect(uncoveredBy(historyOf(hub.repo), deeds)).toEqual([]);
      expect(deeds.flatMap(({ moves }) => moves.filter((it) => it.code !== 0)).length).toBeGreaterThan(0);

      const once = ["reconcile", "--repo", repo, "--kubeconfig", members.file, "--cache", join(folder, "cache")];
      expect(await flotilla([...once, "--wait", "5m"])).toMatchObject({ code: 0, err: "" });
      expectOneLine(course);
      await expectAtRest(course);
      await Promise.all(names.map((it) => members.member(it).mutations()));
      expect(await flotilla(once)).toEqual({ code: 0, out: "at rest after 1 pass, 0 commits\n", err: "" });
      expect(await Promise.all(names.map((it) => members.member(it).mutations()))).toEqual(names.map(() => 0));
      await Promise.all([members.stop(), ...racers.map((it) => it.door.close())]);
    },
    300_000 + seconds * 2000,
  );
});

/** The state branch only ever went from a commit to its child, and holds all that anybody said to have committed. */
function expectOneLine({ hub, racers }: Course): void {
  const history = historyOf(hub.repo);
  expect(flawsOf(history)).toEqual([]);
  const moves = gitIn(hub.repo, ["reflog", "show", "--format=%H", "fleet/state"]).split("\n");
  expect(moves.reverse()).toEqual(history.map((it) => it.commit));
  const said = racers.flatMap(({ lives }) => lives.flatMap((it) => it.run.out().match(/(?<=^committed )\w+$/gm) ?? []));
  expect(said.filter((id) => history.every(({ commit }) => !commit.startsWith(id)))).toEqual([]);
}

/** Every member holds what people asked for last, as it was decided last. */
async function expectAtRest({ hub, members, editor }: Course): Promise<void> {
  const ledger = historyOf(hub.repo).at(-1)?.ledger ?? expect.fail("nobody decided anything");
  // A push that changes nothing is not recorded.
  const treeOf = (commit: string): string => gitIn(hub.repo, ["rev-parse", `${commit}^{tree}`]);
  expect(treeOf(ledger.sourceCommit ?? "")).toBe(treeOf("main"));
  const standings = await Promise.all(names.map((it) => standingOf(members.member(it), ledger)));
  expect(standings.flatMap((it) => it.flaws)).toEqual([]);
  expect(standings.flatMap((it) => it.runs).sort(compareText)).toEqual(wantedBy(editor.asked()));
}

function told({ hub, editor }: Course, held: number, deeds: readonly Deeds[]): string {
  const rows = deeds.map(({ name, moves, yields, changes }) => {
    const lost = moves.filter((it) => it.code !== 0).length;
    const did = `pushed ${moves.length} times, ${lost} in vain, sent ${changes.length} changing requests`;
    return `${name}, ${did}, yielded ${yields.length} times`;
  });
  const pushes = [...editor.pushes].map(([what, count]) => `${count} × ${what}`).join(", ");
  const decisions = `${hub.stateCommits()} decisions; people pushed ${pushes}; ${held} pushes were held back`;
  return [decisions, ...rows].join("\n  ");
}
