// Every effect of every story, dying before it and after it: what a fresh process makes of what is left has to be what
// would have come anyway (I-15, F-01). One run in 240, and all of them with CRASH_POINTS=all. CRASH_POINT="..." runs
// the one that a failure names, and prints everything that happens in it.
import { afterAll, describe, expect, test } from "vitest";
import { random } from "./core/schedule/random.ts";
import { differencesOf, endOf } from "./crash-points/end.ts";
import { nameOf, type Point, pointNamed } from "./crash-points/point.ts";
import { type Story, stories } from "./crash-points/stories.ts";
import { Course, reportOf } from "./crash-points/trial.ts";
import { undisturbed, walk } from "./crash-points/walk.ts";
import { walkLength } from "./long-walks.ts";
import { stepsOf } from "./simulation/step.ts";
import { type CallKind, effects } from "./simulation/world/call.ts";

const stride = process.env["CRASH_POINTS"] === "all" ? 1 : walkLength("CRASH_STRIDE", { short: 240, full: 1 });
const alone = process.env["CRASH_POINT"];
const timeout = 600_000;
/** Pairs of crashes in each story, with members served in another order. */
const pairs = stride === 1 ? 12 : 1;
/** Failures of one story that are shown. */
const mostShown = 4;

/** Courses that were walked, by the names of their stories. */
const courses = new Map<string, Course>();

async function courseOf(story: Story): Promise<Course> {
  const course = courses.get(story.name) ?? (await Course.of(story, 0));
  courses.set(story.name, course);
  return course;
}

const count = { points: 0, tried: 0, converged: 0, pairs: 0, pairsConverged: 0 };

describe.skipIf(alone !== undefined)("a crash at any effect comes to the same end", () => {
  test.for(stories.map((it, index) => [it.name, it, index] as const))("%s", { timeout }, async ([, story, index]) => {
    const course = await courseOf(story);
    expect(course.faults.slice(0, mostShown)).toEqual([]);
    const singles = course.points.filter((_, at) => at % stride === 0);
    const failures = await failuresOf(course, singles);
    const shuffled = await Course.of(story, index + 1);
    // The order in which members come first is nobody's business.
    expect([...shuffled.faults, ...differencesOf(shuffled.end, course.end)].slice(0, mostShown)).toEqual([]);
    const twice = await pairsOf(shuffled, index);
    const more = await failuresOf(shuffled, twice);
    count.points += course.points.length;
    count.tried += singles.length;
    count.converged += singles.length - failures.length;
    count.pairs += twice.length;
    count.pairsConverged += twice.length - more.length;
    expect([...failures, ...more].slice(0, mostShown).join("\n\n")).toBe("");
  });

  afterAll(() => {
    const { tried, points, converged, pairs, pairsConverged } = count;
    const which = stride === 1 ? "all" : `one in ${stride} of ${points}; CRASH_POINTS=all runs them all`;
    process.stdout.write(`crash points: ${converged} of ${tried} converge (${which}), `);
    process.stdout.write(`and ${pairsConverged} of ${pairs} pairs\n`);
  });
});

test("the stories have every kind of effect", async () => {
  const kinds: ReadonlySet<CallKind>[] = [];
  for (const story of stories) kinds.push((await courseOf(story)).kinds);
  expect([...effects].filter((it) => !kinds.some((of) => of.has(it)))).toEqual([]);
});

const meddle = (how: string): string => `meddle name=m2 how=${how} object="ConfigMap web/config" value=9`;

test.for([
  ["an edit", meddle("edit"), 'members.m2.objects./ConfigMap/web/config.data.value: "9", not "1"'],
  ["a deletion", meddle("delete"), 'members.m2.inventory.web /ConfigMap/web/config.1: "gone", not "live"'],
  ["an orphan", meddle("copy"), 'members.m2.orphans.0: "/ConfigMap/web/config-copy", not nothing'],
  ["a push", "erase path=overrides/more.yaml\npush\npass by=a", 'ledger.sourceCommit: "edit 3", not "edit 2"'],
] as const)("an end tells of %s more", async ([, script, difference]) => {
  const { simulation } = await walk(stories[1] as Story, undisturbed);
  const end = endOf(simulation, true);
  for (const step of stepsOf(script)) await simulation.step(step);
  expect(differencesOf(endOf(simulation, true), end)).toContain(difference);
});

test("a point has a name that leads back to it", () => {
  const [story] = stories as readonly [Story];
  const first = { when: "before", effect: 12 } as const;
  const second = { when: "after", effect: 3 } as const;
  const points: readonly Point[] = [
    { story, shuffle: 0, first, isReverted: false, second: null },
    { story, shuffle: 7, first, isReverted: true, second },
  ];
  expect(points.map(nameOf)).toEqual([
    "members join: before 12",
    "members join: before 12 revert, after 3, shuffled 7",
  ]);
  expect(points.map((it) => pointNamed(nameOf(it), stories))).toEqual(points);
});

test.runIf(alone !== undefined)("the crash point of that name comes to the same end", { timeout }, async () => {
  const point = pointNamed(alone ?? "", stories);
  if (point === null)
    throw new Error(`no such point: ${alone}; for example: ${(stories[1] as Story).name}: after 3 revert`);
  const course = await Course.of(point.story, point.shuffle);
  const tried = await course.attempt(point);
  process.stdout.write(`${tried.transcript()}\n\n`);
  expect(tried.faults, course.wordsOf(point)).toEqual([]);
});

async function failuresOf(course: Course, points: readonly Point[]): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const point of points) {
    const tried = await course.attempt(point).catch((error: Error) => ({ faults: [error.message] }));
    if (tried.faults.length > 0) failures.push(reportOf(course, point, tried.faults));
  }
  return failures;
}

/** Pairs of crashes by chance: the second one strikes the process that goes on after the first. */
async function pairsOf(course: Course, seed: number): Promise<readonly Point[]> {
  const dice = random(seed);
  const found: Point[] = [];
  for (const point of dice.shuffled(course.points).slice(0, pairs)) {
    const { length } = await course.followersOf(point);
    if (length === 0) continue;
    found.push({ ...point, second: { when: dice.pick(["before", "after"]), effect: 1 + dice.below(length) } });
  }
  return found;
}
