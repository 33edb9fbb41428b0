import { join } from "node:path";
import type { Hub } from "./hub.ts";
import type { Members } from "./members.ts";
import { beganAt, isAtRest, type Outcome, outcomeOf } from "./outcome.ts";
import { type Reconciler, startReconciler } from "./process.ts";
import { instant, type PassReport, type Usage } from "./protocol.ts";
import { runFiles, stagedFiles } from "./staged.ts";
import { whatIf } from "./what-if.ts";
import { changeOf, type File, type Size, workloadOf } from "./workload.ts";

/** The cases, in the order in which they are run on one hub. */
export const caseNames = ["nothing", "restart", "idle", "new", "edit", "run", "what-if"] as const;
/** One of {@link caseNames}. */
export type CaseName = (typeof caseNames)[number];

/** Where cases are run. */
export interface Bench {
  readonly size: Size;
  readonly hub: Hub;
  readonly members: Members;
  /** Folder of the bundle that is measured. */
  readonly bundle: string;
  /** Where profiles are written; null: none are made. */
  readonly profiles: string | null;
  /** Do not wait until the daemon has written down that all is well, which it does every ten seconds at most. */
  readonly hurry: boolean;
  /** Longest wait for one case, in milliseconds. */
  readonly limitMs: number;
  /** Somebody waits: says what is going on. */
  readonly say: (text: string) => void;
}

/** Nothing has been used by a process that begins. */
const unused = { cpu: 0, gitCpu: 0, reads: 0, writes: 0 };

/** Runs the cases that are wanted, and before them whatever they need to stand on; gives each to `done` as it ends. */
export async function runCases(
  bench: Bench,
  wanted: ReadonlySet<CaseName>,
  done: (outcome: Outcome) => void,
): Promise<void> {
  const tell = (name: CaseName, outcome: Outcome): void => (wanted.has(name) ? done(outcome) : undefined);
  const { hub, size } = bench;
  hub.push("main", workloadOf(size));
  const founder = start(bench, bench.members.kubeconfig === null ? "both" : "once");
  let daemon = founder;
  try {
    tell("nothing", await fromNothing(bench, founder));
    if (bench.members.kubeconfig !== null) await founder.stop();
    if (![...wanted].some((it) => it !== "nothing")) return;
    if (["restart", "idle", "new", "edit", "run"].some((it) => wanted.has(it as CaseName))) {
      if (bench.members.kubeconfig !== null) daemon = start(bench, "daemon");
      tell("restart", await restart(bench, daemon));
    }
    if (wanted.has("idle")) done(await idle(bench, daemon));
    for (const name of ["new", "edit"] as const)
      if (wanted.has(name)) done(await push(bench, daemon, { name, what: pushes[name], files: changeOf(name, size) }));
    if (wanted.has("run")) done(await stagedRun(bench, daemon));
  } finally {
    await founder.stop();
    await daemon.stop();
  }
  if (wanted.has("what-if")) done(await whatIf(bench));
}

const start = ({ bundle, hub, members, profiles }: Bench, run: "once" | "daemon" | "both"): Reconciler =>
  startReconciler(join(bundle, "reconciler.js"), {
    run,
    profile: profiles !== null,
    repo: hub.path,
    kubeconfig: members.kubeconfig,
    members: members.names,
  });

async function fromNothing(bench: Bench, reconciler: Reconciler): Promise<Outcome> {
  bench.say("all placements from nothing");
  const membersCpu = bench.members.cpu();
  await reconciler.until(() => reconciler.settled() !== null, "all placements from nothing", bench.limitMs);
  const last = reconciler.passes.at(-1);
  if (reconciler.settled() !== "settled" || last === undefined || !isAtRest(last, null))
    throw new Error(`the run from nothing ended ${reconciler.settled()}: ${JSON.stringify(last)}`);
  await profiled(bench, reconciler, "nothing");
  return finish(bench, "nothing", {
    what: "all placements from nothing",
    from: reconciler.startedAt,
    before: unused,
    passes: reconciler.passes,
    membersCpu,
    state: null,
  });
}

async function restart(bench: Bench, daemon: Reconciler): Promise<Outcome> {
  bench.say("restart and full re-sync");
  const { hub, members, profiles, limitMs } = bench;
  const [membersCpu, state, first] = [members.cpu(), hub.state(), daemon.passes.length];
  const isSame = daemon.settled() !== null;
  const before = isSame ? await daemon.begin(profiles !== null) : unused;
  const from = isSame ? instant() : daemon.startedAt;
  daemon.say({ kind: "restart" });
  await daemon.until(() => isCalm(daemon.passes.slice(first)), "restart", limitMs);
  await profiled(bench, daemon, "restart");
  const what = `restart and full re-sync${isSame ? " (same process, no memory)" : ""}`;
  return finish(bench, "restart", { what, from, before, passes: daemon.passes.slice(first), membersCpu, state });
}

/** How often the daemon passes with nothing to do; the pass that took the median time is shown. */
const idlePasses = 5;

async function idle(bench: Bench, daemon: Reconciler): Promise<Outcome> {
  bench.say("passes with nothing to do");
  const outcomes: Outcome[] = [];
  for (let count = 0; count < idlePasses; count++) {
    const state = bench.hub.state();
    const before = await daemon.begin(bench.profiles !== null && count === 0);
    const [from, membersCpu] = [instant(), bench.members.cpu()];
    daemon.say({ kind: "ring" });
    // One that was under way when the bell rang does not count.
    const since = (): readonly PassReport[] => daemon.passes.filter((it) => beganAt(it) >= from);
    await daemon.until(() => isCalm(since()), "a pass with nothing to do", bench.limitMs);
    if (count === 0) await profiled(bench, daemon, "idle");
    const what = `a pass with nothing to do (median of ${idlePasses})`;
    outcomes.push(finish(bench, "idle", { what, from, before, passes: since(), membersCpu, state }));
  }
  const sorted = outcomes.sort((a, b) => a.when.available - b.when.available);
  return sorted[Math.floor(sorted.length / 2)] as Outcome;
}

/** Something that people push, and which case that is. */
interface Push {
  readonly name: CaseName;
  readonly what: string;
  readonly files: readonly File[];
}

const pushes = { new: "one new placement", edit: "edit of one ConfigMap, rolled out at 25 %" } as const;

async function push(bench: Bench, daemon: Reconciler, { name, what, files }: Push): Promise<Outcome> {
  bench.say(what);
  const { hub, members, profiles, limitMs } = bench;
  const [first, state] = [daemon.passes.length, hub.state()];
  const before = await daemon.begin(profiles !== null);
  const membersCpu = members.cpu();
  const { commit, at: from } = hub.push("main", files);
  const since = (): readonly PassReport[] => daemon.passes.slice(first);
  await daemon.until(() => since().some((it) => isAtRest(it, commit)), what, limitMs);
  await profiled(bench, daemon, name);
  const used = cpuSince(bench, membersCpu);
  // The next case is to find a daemon with nothing left to write down.
  if (!bench.hurry) await daemon.until(() => isCalm(since()), `${what}: the record of it`, limitMs);
  return finish(bench, name, { what, from, before, passes: since(), membersCpu, state }, used);
}

/** From the commit of a run to the record that it succeeded; what it changes was brought there by another one. */
async function stagedRun(bench: Bench, daemon: Reconciler): Promise<Outcome> {
  bench.say("a placement that moves by runs alone");
  const first = daemon.passes.length;
  const { commit } = bench.hub.push("main", stagedFiles());
  const isFounded = (): boolean =>
    daemon.passes.slice(first).some((it) => isAtRest(it, commit)) && isCalm(daemon.passes);
  await daemon.until(isFounded, "the run that founds it", bench.limitMs);
  const what = "a staged run of one ConfigMap over all members: 3 stages at 50 %";
  const outcome = await push(bench, daemon, { name: "run", what, files: runFiles("measured", "edited") });
  const failed = daemon.passes.at(-1)?.waiting["runFailed"] ?? 0;
  if (failed > 0) throw new Error("the run failed");
  return outcome;
}

/** Nothing moves, and nothing is left to be written down. */
export const isCalm = (passes: readonly PassReport[]): boolean => {
  const last = passes.at(-1);
  return last !== undefined && isAtRest(last, null) && !last.deferred;
};

async function profiled({ profiles }: Bench, reconciler: Reconciler, name: CaseName): Promise<void> {
  await reconciler.end(profiles === null ? null : join(profiles, `${name}.cpuprofile`));
}

const cpuSince = ({ members }: Bench, before: number | null): number | null => {
  const now = members.cpu();
  return now === null || before === null ? null : now - before;
};

interface Facts {
  readonly what: string;
  readonly from: number;
  readonly before: Pick<Usage, "cpu" | "gitCpu" | "reads" | "writes">;
  readonly passes: readonly PassReport[];
  /** What the members had used when the case began. */
  readonly membersCpu: number | null;
  /** Where the state branch stood when the case began. */
  readonly state: string | null;
}

function finish(bench: Bench, name: CaseName, facts: Facts, used = cpuSince(bench, facts.membersCpu)): Outcome {
  const { state, ...course } = facts;
  const tip = bench.hub.state();
  const isGrown = state !== null && tip !== null && tip !== state;
  const historyBytes = isGrown ? bench.hub.growth(state, tip) : null;
  return { ...outcomeOf({ ...course, case: name, membersCpu: used }), historyBytes };
}
