// An hour between two stages of a run, whatever becomes of the process meanwhile. The clock is an assignment.
import { expect, test } from "vitest";
import { type Instant, later, minutes, seconds } from "../../../src/core/model/value.ts";
import { loop } from "../../../src/shell/reconcile/loop.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { pass } from "../../../src/shell/reconcile/pass.ts";
import { newWakeSignal } from "../../../src/shell/reconcile/settle.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { once } from "./stage.ts";
import { type StagedFleet, stagedFleet } from "./staged-fleet.ts";

/** A run whose first stage has landed: the hour has begun. */
interface Waiting extends StagedFleet {
  /** When the hour is over. */
  readonly opens: Instant;
}

async function waiting(waitTime = "1h", wait = minutes(60)): Promise<Waiting> {
  const stages = { canary: `afterStageTasks: [{type: TimedWait, waitTime: ${waitTime}}]`, prod: "" };
  const fleet = stagedFleet(
    new Map([
      ["m1", "canary"],
      ["m2", "prod"],
    ]),
    stages,
  );
  for (let count = 0; count < 5; count++) {
    await freshPass(fleet);
    // By the clock, and not by the record.
    const landed = fleet.clock.now();
    const { finishedAt = null } = (await fleet.recorded()).stages[0] ?? {};
    if (finishedAt !== null) return { ...fleet, opens: later(landed, wait) };
    await fleet.clock.advance(seconds(7));
  }
  return expect.fail("the first stage has not landed");
}

/** A pass of a process that has just begun, and remembers nothing. */
async function freshPass({ ports }: StagedFleet): Promise<void> {
  expect((await pass(ports, once, newMemory(), true)).kind).toBe("passed");
}

const goTo = ({ clock }: StagedFleet, at: number): Promise<void> => clock.advance(at - clock.now());

test("the next stage begins at its instant and not a millisecond earlier, with a new process every ten minutes", async () => {
  const run = await waiting();
  const early = [...[50, 40, 30, 20, 10].map(minutes), 1000, 999, 1];
  for (const before of early) {
    await goTo(run, run.opens - before);
    await freshPass(run);
  }
  expect((await run.recorded()).stages.map((it) => it.endedAt)).toEqual([null, null]);
  expect(run.begun.has("m2")).toBe(false);
  await goTo(run, run.opens);
  await freshPass(run);
  expect(run.begun.get("m2")).toBe(run.opens);
  const [canary, prod] = (await run.recorded()).stages;
  expect([canary?.endedAt, prod?.startedAt]).toEqual([run.opens, run.opens]);
});

test("a wait of a second that begins within one is a second long", async () => {
  const run = await waiting("1s", seconds(1));
  expect(run.opens % 1000).not.toBe(0);
  await goTo(run, run.opens - 1);
  await freshPass(run);
  expect(run.begun.has("m2")).toBe(false);
  await goTo(run, run.opens);
  await freshPass(run);
  expect(run.begun.get("m2")).toBe(run.opens);
});

test("a process that was down at that instant begins with its first pass", async () => {
  const run = await waiting();
  const back = later(run.opens, minutes(437));
  await goTo(run, back);
  await freshPass(run);
  expect(run.begun.get("m2")).toBe(back);
  await freshPass(run);
  expect((await run.recorded()).end?.kind).toBe("succeeded");
});

test("a daemon that began in between wakes up by itself, at that instant", async () => {
  const run = await waiting();
  await goTo(run, run.opens - minutes(25));
  const stop = new AbortController();
  let passes = 0;
  const ended = loop(run.ports, {
    settings: { ...once, patience: "retryAt" },
    poll: minutes(600),
    resync: minutes(600),
    signal: stop.signal,
    wakeSignal: newWakeSignal(),
    report: () => {
      passes += 1;
    },
    reportFault: (fault) => {
      throw fault;
    },
  });
  await eventually("the daemon sleeps", async () => {
    await run.clock.advance(20);
    return passes > 0 && run.clock.sleepers() > 0 ? true : null;
  });
  await goTo(run, run.opens - 1);
  expect(run.begun.has("m2")).toBe(false);
  await goTo(run, run.opens);
  expect(await eventually("it goes on", async () => run.begun.get("m2") ?? null)).toBe(run.opens);
  stop.abort();
  await run.clock.advance(seconds(10));
  expect(await ended).toBe("stopped");
});
