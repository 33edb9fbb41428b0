// Runs that end, and the daemon: when they look again, when they stop, and what they do about faults.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DurationMs, type Instant, minutes, seconds } from "../../../src/core/model/value.ts";
import { Fault } from "../../../src/shell/reconcile/fault.ts";
import { type LoopOptions, loop } from "../../../src/shell/reconcile/loop.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import type { PassResult } from "../../../src/shell/reconcile/pass.ts";
import type { Ports } from "../../../src/shell/reconcile/ports.ts";
import { isInFlight, newWakeSignal, runUntilSettled } from "../../../src/shell/reconcile/settle.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { handClock } from "./hand-clock.ts";
import { mutations, once, type Stage, setStage, withRepository } from "./stage.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(() => stage.close());

const run = (ports: Ports, wait: DurationMs | null = null) =>
  runUntilSettled(ports, newMemory(), { settings: once, wait, signal: new AbortController().signal, report: () => {} });

test("a run ends when there is nothing left to do, and a second one has nothing to do", async () => {
  expect(await run(await stage.reconciler())).toMatchObject({ kind: "settled", ranOut: false });
  expect(await run(await stage.reconciler())).toMatchObject({ kind: "settled", passes: 1, commits: 0 });
});

test("an object that a member refuses is tried once in a run, and again by the next run", async () => {
  stage.members.cluster("prod-eu-1").control({ faults: { readOnly: ["apps/Deployment"] } });
  const first = await run(await stage.reconciler());
  expect(first).toMatchObject({ kind: "settled" });
  const refused = first.kind === "settled" ? first.last.plan.reasons.filter((it) => it.kind === "applyFailed") : [];
  expect(refused.map((it) => it.cluster)).toContain("prod-eu-1");
  expect(new Set(refused.map((it) => it.cluster)).size).toBe(1);
  const before = mutations(stage);
  expect(await run(await stage.reconciler())).toMatchObject({ kind: "settled" });
  expect(mutations(stage)).toBeGreaterThan(before);

  stage.members.cluster("prod-eu-1").control({ faults: { readOnly: [] } });
  const last = await run(await stage.reconciler());
  expect(last.kind === "settled" && last.last.plan.reasons.filter((it) => it.kind === "applyFailed")).toEqual([]);
});

test("a run that waits sleeps until what is in flight has landed", async () => {
  for (const it of ["dev-eu-1", "prod-eu-1"]) stage.members.cluster(it).control({ faults: { frozen: true } });
  const thawing = withClock(await stage.reconciler(), () => {
    for (const it of ["dev-eu-1", "prod-eu-1"]) stage.members.cluster(it).control({ faults: { frozen: false } });
  });
  const settled = await run(thawing, minutes(5));
  expect(settled).toMatchObject({ kind: "settled", ranOut: false });
  expect(settled.kind === "settled" && settled.last.plan.reasons.map((it) => it.kind)).not.toContain("awaitingHealth");
});

test("a run that is told to stop makes no further pass, and says that it is not done", async () => {
  const stop = new AbortController();
  let passes = 0;
  const report = (): void => {
    passes++;
    stop.abort();
  };
  const options = { settings: once, wait: minutes(5), signal: stop.signal, report };
  expect(await runUntilSettled(await stage.reconciler(), newMemory(), options)).toMatchObject({
    kind: "stopped",
    passes: 1,
  });
  expect([passes, stage.hub.stateCommits()]).toEqual([1, 1]);
});

test("a run that loses its first race still tries at once what failed before", async () => {
  stage.members.cluster("prod-eu-1").control({ faults: { readOnly: ["apps/Deployment"] } });
  await run(await stage.reconciler());
  stage.members.cluster("prod-eu-1").control({ faults: { readOnly: [] } });
  const ports = await stage.reconciler();
  let races = 0;
  const racing = withRepository(ports, {
    commit: async (it) => (races++ === 0 ? { kind: "superseded" } : ports.repository.commit(it)),
  });
  await stage.hub.edit("resources/platform/config.yaml", "720h", "360h");
  stage.hub.push("Renew earlier");
  const settled = await run(racing);
  expect(races).toBeGreaterThan(1);
  expect(settled.kind === "settled" && settled.last.plan.reasons.filter((it) => it.kind === "applyFailed")).toEqual([]);
});

test("a run that waits is woken by its members, and has its news on the branch before it ends", async () => {
  for (const it of ["dev-eu-1", "prod-eu-1"]) stage.members.cluster(it).control({ faults: { frozen: true } });
  const ports = await stage.reconciler();
  const wakeSignal = newWakeSignal();
  const clock = handClock(stage.now);
  const results: PassResult[] = [];
  const ended = runUntilSettled({ ...ports, clock }, newMemory(), {
    settings: once,
    wait: minutes(5),
    signal: new AbortController().signal,
    wakeSignal,
    report: (it) => void results.push(it),
  });
  await eventually("it sleeps", async () => {
    await clock.advance(20);
    return results.some((it) => it.kind === "passed" && it.committed === null) && clock.sleepers() > 0 ? true : null;
  });
  const began = clock.now();
  for (const it of ["dev-eu-1", "prod-eu-1"]) stage.members.cluster(it).control({ faults: { frozen: false } });
  await eventually("it is at rest", async () => {
    wakeSignal.wake();
    await clock.advance(20);
    const last = results.at(-1);
    return last?.kind === "passed" && !isInFlight(last.plan.reasons) && last.deferred === null ? last : null;
  });
  expect(clock.now() - began).toBeLessThan(minutes(5));
  expect(await ended).toMatchObject({ kind: "settled", ranOut: false });
  expect(results.some((it) => it.kind === "passed" && it.committed !== null && !it.plan.decides)).toBe(true);
}, 60_000);

test("the limit of waiting runs out", async () => {
  stage.members.cluster("prod-eu-1").control({ faults: { frozen: true } });
  const settled = await run(
    withClock(await stage.reconciler(), () => {}),
    seconds(30),
  );
  expect(settled).toMatchObject({ kind: "settled", ranOut: true });
});

test("a daemon reports a fault and tries again, ever more slowly", async () => {
  const ports = await stage.reconciler();
  let failures = 0;
  const broken = withRepository(ports, {
    heads: async () => {
      if (failures++ < 4) throw new Fault("RepositoryUnreachable", "fetching", "no answer", "look at the network");
      return ports.repository.heads();
    },
  });
  const { waits, results } = await daemon(broken, 1);
  expect(waits).toEqual([1000, 2000, 4000, 8000]);
  expect(results[0]).toMatchObject({ kind: "passed" });
});

test("a daemon looks again when it is told to, and when the resync period is over", async () => {
  const ports = await stage.reconciler();
  const { results } = await daemon(ports, 6);
  expect(results.at(-1)).toMatchObject({ kind: "passed", committed: null, receipts: [] });
  expect(results.filter((it) => it.kind === "passed" && it.committed !== null).length).toBeGreaterThan(0);
});

/** The same reconciler with a clock that jumps to whatever it is asked to sleep for. */
function withClock(ports: Ports, onSleep: () => void): Ports {
  const clock = {
    now: () => stage.now,
    async sleepUntil(moment: Instant) {
      stage.now = Math.max(stage.now, moment) as Instant;
      onSleep();
    },
  };
  return { ...ports, clock };
}

/** Runs a daemon until it has passed so often. */
async function daemon(ports: Ports, passes: number): Promise<{ waits: number[]; results: PassResult[] }> {
  const stop = new AbortController();
  const waits: number[] = [];
  const results: PassResult[] = [];
  const options: LoopOptions = {
    settings: { ...once, patience: "retryAt" },
    poll: seconds(5),
    resync: seconds(60),
    signal: stop.signal,
    wakeSignal: newWakeSignal(),
    report: (result) => {
      results.push(result);
      if (results.length === passes) stop.abort();
    },
    reportFault: (_, retryIn) => void waits.push(retryIn),
  };
  expect(
    await loop(
      withClock(ports, () => {}),
      options,
    ),
  ).toBe("stopped");
  return { waits, results };
}
