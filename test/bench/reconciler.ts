import { once } from "node:events";
import type { Reason } from "../../src/core/model/reason.ts";
import { type DurationMs, type Instant, seconds } from "../../src/core/model/value.ts";
import { localGitDir, openRepository } from "../../src/shell/git/open.ts";
import { watchRepository } from "../../src/shell/git/watch.ts";
import { systemClock, systemEntropy } from "../../src/shell/host/system.ts";
import { kubeFleet } from "../../src/shell/kube/fleet.ts";
import { loop } from "../../src/shell/reconcile/loop.ts";
import { newMemory } from "../../src/shell/reconcile/memory.ts";
import type { PassResult } from "../../src/shell/reconcile/pass.ts";
import type { Clock, Fleet, Ports } from "../../src/shell/reconcile/ports.ts";
import { isInFlight, newWakeSignal, runUntilSettled } from "../../src/shell/reconcile/settle.ts";
import { verifier } from "../../src/shell/signature/verifier.ts";
import { perfectFleet } from "./perfect-fleet.ts";
import { endProfile, startProfile } from "./profile.ts";
import { instant, type Order, type Orders, type Report, type Usage } from "./protocol.ts";
import { countedNetwork, countedStreams, requests } from "./requests.ts";
import { cpuOfEndedChildren, forgetPeak, peakMemory } from "./usage.ts";

// The process that is measured: `flotilla reconcile` as `cmd/hub/wire.ts` and `cmd/commands/reconcile/reconcile.ts` put it together,
// with counters where requests leave it and nothing printed. It reconciles and does nothing else.

/** On the clock that the bench has too, in whole milliseconds: that is how moments are recorded. */
const clock: Clock = { ...systemClock, now: () => Math.floor(instant()) as Instant };

const orders = (await once(process, "message"))[0] as Orders;
const wakeSignal = newWakeSignal();
const resync = seconds(60);
const restart = new AbortController();
const stop = new AbortController();

async function main(): Promise<void> {
  process.on("message", (order: Order) => void obey(order)).on("disconnect", () => process.exit());
  if (orders.profile) await startProfile();
  const repository = await openRepository({
    repo: orders.repo,
    branch: "main",
    stateBranch: "fleet/state",
    engine: "program",
    cacheFolder: "",
    token: null,
  });
  const ports = { repository, fleet: listening(await openFleet()), clock, verifier, entropy: systemEntropy };
  try {
    if (orders.run !== "daemon") {
      await runOnce(ports);
      // The bench has still something to ask.
      await new Promise((resolve) => restart.signal.addEventListener("abort", resolve));
    }
    if (orders.run !== "once") await runForEver(ports);
  } finally {
    await ports.fleet.close();
    await repository.close();
    process.disconnect();
  }
}

/** As `reconcile --watch` has them: for how long a pass waits for one member, and how often it looks at a moving one. */
const timing = { memberDeadline: seconds(1), memberPoll: seconds(5) } as const;

/** Questions and actions that go on, although a pass may be over. */
let pending = 0;

/** The members, with those that a pass does not wait for counted. */
function listening(fleet: Fleet): Fleet {
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    pending += 1;
    try {
      return await work;
    } finally {
      pending -= 1;
    }
  };
  return {
    observe: (member) => counted(fleet.observe(member)),
    act: (member, actions) => counted(fleet.act(member, actions)),
    clockOffsets: () => fleet.clockOffsets(),
    close: () => fleet.close(),
  };
}

/** A daemon watches its members, as `reconcile --watch` does; a run that ends lists them. */
async function openFleet(): Promise<Fleet> {
  const { kubeconfig, members, run } = orders;
  if (kubeconfig === null) return perfectFleet(members);
  const watch = run === "daemon" ? { watch: { onChange: wakeSignal.wake, heartbeatMs: resync } } : {};
  return kubeFleet({ kubeconfig, clock: systemClock, network: countedNetwork, streams: countedStreams, ...watch });
}

async function runOnce(ports: Ports): Promise<void> {
  const settings = { members: "ask", patience: "none", acceptRewrite: null, trustAnchor: null } as const;
  const options = { settings, wait: seconds(3600), signal: stop.signal, report: tellPass };
  const settled = await runUntilSettled(ports, newMemory(), options);
  tell({ kind: "settled", how: settled.kind });
}

async function runForEver(ports: Ports): Promise<void> {
  const folder = await localGitDir(orders.repo);
  if (folder !== null) await watchRepository(folder, wakeSignal.wake, stop.signal);
  await loop(ports, {
    settings: { members: "ask", patience: "retryAt", acceptRewrite: null, trustAnchor: null },
    poll: seconds(5),
    resync,
    ...timing,
    signal: stop.signal,
    wakeSignal,
    report: tellPass,
    reportFault: ({ message, fix }, retryIn: DurationMs) =>
      tell({ kind: "fault", message: `${message}; ${fix}; again in ${retryIn} ms` }),
  });
}

async function obey(order: Order): Promise<void> {
  switch (order.kind) {
    case "begin":
      if (order.profile) await startProfile();
      forgetPeak();
      // The process is started with --expose-gc.
      globalThis.gc?.();
      tell({ kind: "begun", usage: usage() });
      return;
    case "end":
      if (order.profile !== null) await endProfile(order.profile);
      tell({ kind: "ended", usage: usage() });
      return;
    case "ring":
      wakeSignal.wake();
      return;
    case "restart":
      restart.abort();
      return;
    case "stop":
      // A run that ended waits for the one that follows it.
      stop.abort();
      restart.abort();
  }
}

function tellPass(result: PassResult): void {
  const common = { kind: "pass", result: result.kind, at: instant(), unheard: pending, usage: usage() } as const;
  if (result.kind !== "passed") {
    const spent = { observe: 0, decide: 0, commit: 0, act: 0 };
    const none = { source: null, committed: false, acted: 0, moving: true, deferred: false, waiting: {} };
    tell({ ...common, ...none, spent });
    return;
  }
  const { plan, intent, committed, deferred, spent } = result;
  tell({
    ...common,
    spent,
    source: intent.commit,
    committed: committed !== null,
    acted: plan.actions.length,
    moving: isInFlight(plan.reasons) || plan.reasons.some((it) => onTheWay.has(it.kind)),
    deferred: deferred !== null,
    waiting: countsOf(plan.reasons),
  });
}

/** What is said of rollouts that are not over. */
const onTheWay: ReadonlySet<Reason["kind"]> = new Set(["heldBack", "started", "run"]);

function countsOf(reasons: readonly Reason[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { kind } of reasons) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const memory = { peak: peakMemory(), resident: rss / 2 ** 20, heap: heapUsed / 2 ** 20 };
  return { cpu: (user + system) / 1e6, gitCpu: cpuOfEndedChildren(), ...memory, ...requests };
}

const tell = (report: Report): void => void process.send?.(report);

void main();
