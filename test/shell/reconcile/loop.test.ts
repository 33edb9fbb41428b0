// The daemon among members that hang and members that do not stop talking.

import { afterEach, beforeEach, expect, test } from "vitest";
import { minutes, seconds } from "../../../src/core/model/value.ts";
import { loop } from "../../../src/shell/reconcile/loop.ts";
import type { Passed } from "../../../src/shell/reconcile/pass.ts";
import { newWakeSignal } from "../../../src/shell/reconcile/settle.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { type HandClock, handClock } from "./hand-clock.ts";
import { mutations, once, rest, type Stage, setStage } from "./stage.ts";

let stage: Stage;
let clock: HandClock;
beforeEach(async () => {
  stage = await setStage();
  clock = handClock(stage.now);
  await rest(await stage.reconciler());
});
afterEach(() => stage.close());

/** A daemon whose time only passes when a test says so. */
async function startDaemon(onPass: () => void = () => {}) {
  const stop = new AbortController();
  const wakeSignal = newWakeSignal();
  const passed: Passed[] = [];
  const ended = loop(
    { ...(await stage.reconciler()), clock },
    {
      settings: { ...once, patience: "retryAt" },
      poll: minutes(10),
      resync: minutes(10),
      memberDeadline: seconds(1),
      signal: stop.signal,
      wakeSignal,
      report: (result) => {
        if (result.kind === "passed") passed.push(result);
        onPass();
      },
      reportFault: (fault) => {
        throw fault;
      },
    },
  );
  return { passed, wakeSignal, stop: () => stop.abort(), ended };
}

/** Lets time pass, a little at a time, until something is so. */
const whileTimePasses = (what: string, ms: number, isSo: () => boolean): Promise<true> =>
  eventually(what, async () => {
    await clock.advance(ms);
    return isSo() ? true : null;
  });

test("a push reaches everybody else while a member hangs, and nothing is decided about that one", async () => {
  stage.members.cluster("prod-us-1").control({ faults: { hang: true } });
  await stage.hub.edit("resources/platform/config.yaml", "720h", "360h");
  stage.hub.push("Renew earlier");
  const daemon = await startDaemon();
  const told = (): readonly string[] => daemon.passed.flatMap((it) => it.receipts.map(({ cluster }) => cluster));
  await whileTimePasses("others are told", 250, () => new Set(told()).size >= 4);
  expect(told()).not.toContain("prod-us-1");
  const reasons = daemon.passed.flatMap((it) => it.plan.reasons);
  expect(reasons.filter((it) => it.kind === "unreachable")).toEqual([]);
  daemon.stop();
  await clock.advance(seconds(10));
  expect(await daemon.ended).toBe("stopped");
}, 60_000);

test("members that never stop changing cause passes one after the other, with pauses, and no commit and no write", async () => {
  const daemon = await startDaemon(() => daemon.wakeSignal.wake());
  const before = [stage.hub.stateCommits(), mutations(stage)];
  await whileTimePasses("it passes", 5, () => daemon.passed.length === 5);
  const began = clock.now();
  await whileTimePasses("it passes on", 5, () => daemon.passed.length === 10);
  expect(clock.now() - began).toBeGreaterThanOrEqual(5 * 20);
  expect([stage.hub.stateCommits(), mutations(stage)]).toEqual(before);
  daemon.stop();
  await clock.advance(seconds(10));
  expect(await daemon.ended).toBe("stopped");
}, 60_000);

test("a clock that was set back by hours holds back no pass and no news", async () => {
  const daemon = await startDaemon();
  let [seen, idle] = [0, 0];
  await whileTimePasses("it rests", 1000, () => {
    [idle, seen] = [daemon.passed.length === seen ? idle + 1 : 0, daemon.passed.length];
    return seen > 0 && idle > 20;
  });
  const passes = daemon.passed.length;
  stage.members.cluster("prod-us-1").control({ faults: { down: true } });
  clock.setBack(minutes(120));
  const began = clock.now();
  const isLate = (): boolean => clock.now() - began > minutes(20);
  await whileTimePasses("it passes again", minutes(1), () => daemon.passed.length > passes || isLate());
  expect(clock.now() - began).toBeLessThanOrEqual(minutes(11));
  const hasTold = (): boolean => daemon.passed.some((it) => it.lines.some((line) => line.includes("prod-us-1")));
  await whileTimePasses("it tells", seconds(5), () => hasTold() || isLate());
  expect(hasTold()).toBe(true);
  daemon.stop();
  await clock.advance(seconds(10));
  expect(await daemon.ended).toBe("stopped");
}, 60_000);
