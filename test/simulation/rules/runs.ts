import type { Binding } from "../../../src/core/model/binding.ts";
import type { ClusterName, Commit, PlacementKey } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import type { StateCommit, StateCommitRule } from "../state-commit.ts";
import { runsAt, type SeenCluster, type SeenRun, type SeenStage } from "./recorded-runs.ts";

/** Promises about what a commit of the state branch says of update runs. */
export const runRules: readonly (readonly [string, StateCommitRule])[] = [
  ["I-01", opensInOrder],
  ["I-02", staysWithinItsWindow],
  ["I-05", keepsItsPlan],
  ["I-06", waitsItsTime],
  ["I-07", stopsAtFailures],
  ["I-08", startsWhatIsToRun],
  ["I-09", holdsAlone],
  ["B 4", staysBehindNewer],
  ["I-22", beginsWhatItSays],
];

/** A run of a commit, with what it was in the one before. */
interface Turn {
  readonly run: SeenRun;
  readonly old: SeenRun | null;
}

function turnsOf({ commit }: StateCommit, { simulation: { hub } }: Judge): readonly Turn[] {
  const before = runsAt(hub, hub.commitAt(commit).parent);
  return runsAt(hub, commit).map((run) => ({ run, old: before.find((it) => it.uid === run.uid) ?? null }));
}

/** Clusters that a stage starts in this commit. */
function freshIn(stage: SeenStage, at: number, { old }: Turn): readonly SeenCluster[] {
  const before = old?.stages[at]?.clusters;
  return stage.clusters.filter(
    (it) => it.startedAt !== null && before?.find(({ name }) => name === it.name)?.startedAt == null,
  );
}

const whereOf = ({ name }: SeenStage, { run }: Turn): string => `stage ${name} of run ${run.name}`;

/** I-01: a stage begins when those before it are over, its tasks included, and it ends when all of it is over. */
function* opensInOrder(page: StateCommit, judge: Judge): Generator<string> {
  for (const turn of turnsOf(page, judge)) {
    for (const [at, stage] of turn.run.stages.entries()) {
      noteBrought(stage, turn, page, judge);
      const where = whereOf(stage, turn);
      for (const { name } of freshIn(stage, at, turn)) {
        if (turn.run.stages.slice(0, at).some((it) => it.endedAt === null)) yield `${where} starts ${name} out of turn`;
        const isBrought = judge.brought.has(`${turn.run.uid} ${name}`);
        if (stage.before?.isApproved === false && isBrought) yield `${where} starts ${name} without its approval`;
      }
      yield* endsWhole(stage, at, turn, judge);
      for (const when of ["before", "after"] as const) yield* isAnswered(when, { stage, at, turn }, page, judge);
    }
    const isTaking = turn.run.deletions.some((it) => it.startedAt !== null);
    if (isTaking && turn.run.stages.some((it) => it.endedAt === null)) yield `run ${turn.run.name} deletes out of turn`;
  }
}

/** What a run changed on a cluster, by what it was to carry before. */
function noteBrought({ clusters }: SeenStage, { run }: Turn, { before, after }: StateCommit, judge: Judge): void {
  const key = run.placement as PlacementKey;
  for (const { name, digest, startedAt } of clusters) {
    const [was, is] = [before, after].map((it) => it?.placements.get(key)?.bindings.get(name as ClusterName)?.target);
    if (startedAt !== null && is?.digest === digest && is.sequence !== was?.sequence && was?.digest !== digest)
      judge.brought.add(`${run.uid} ${name}`);
  }
}

/** Whether a stage changed anything: one that did not asks for no approval, and waits for nothing. */
const hasChanged = ({ clusters }: SeenStage, { run }: Turn, { brought }: Judge): boolean =>
  clusters.some((it) => brought.has(`${run.uid} ${it.name}`));

function* endsWhole(stage: SeenStage, at: number, turn: Turn, judge: Judge): Generator<string> {
  const hasBegun = stage.clusters.some((it) => it.startedAt !== null);
  if (stage.endedAt === null || turn.old?.stages[at]?.endedAt != null || !hasBegun) return;
  const open = stage.clusters.filter((it) => it.end === null);
  if (open.some((it) => it.startedAt === null) || open.length > stage.mayFail)
    yield `${whereOf(stage, turn)} ends, and ${open.map((it) => it.name).join(", ")} has not`;
  if (stage.after?.isApproved === false && hasChanged(stage, turn, judge))
    yield `${whereOf(stage, turn)} ends without its approval`;
}

/** An approval is that of somebody who named this request, and nobody rejected it. */
function* isAnswered(
  when: "before" | "after",
  { stage, at, turn }: { readonly stage: SeenStage; readonly at: number; readonly turn: Turn },
  { after }: StateCommit,
  { simulation: { people, approvers } }: Judge,
): Generator<string> {
  const gate = stage[when];
  // Where people sign, their signatures are counted elsewhere.
  if (approvers.anchor !== null) return;
  if (gate?.isApproved !== true || turn.old?.stages[at]?.[when]?.isApproved === true) return;
  const said = [...people.at(after.sourceCommit as Commit).values()];
  const answers = said.flatMap((it) => (it.kind === "approval" && it.digest === gate.digest ? [it.decision] : []));
  if (!answers.includes("Approve") || answers.some((it) => it !== "Approve"))
    yield `${whereOf(stage, turn)} is approved (${when}), and people said ${answers.join(", ") || "nothing"}`;
}

const bindingOf = (page: StateCommit, placement: string, cluster: string): Binding | null =>
  page.after.placements.get(placement as PlacementKey)?.bindings.get(cluster as ClusterName) ?? null;

/** How a cluster that is under way stands, by what its member said of the version of the plan. */
type Standing = "failed" | "perhaps failed" | "in flight";

/** Who does not answer has not failed, as far as anybody knows; who is late may have. */
function standingOf({ name, digest }: SeenCluster, { run }: Turn, page: StateCommit): Standing {
  const { target = null, facts = null } = bindingOf(page, run.placement, name) ?? {};
  if (target === null || target.digest !== digest) return "in flight";
  const isFailed = facts?.sequence === target.sequence && (facts.applied === "failed" || facts.phase === "failed");
  if (isFailed) return page.facts.answered.has(name) ? "failed" : "perhaps failed";
  const deadline = page.after.placements.get(run.placement as PlacementKey)?.spec.strategy.progressDeadline ?? 0;
  return (page.facts.attempt.decidedAt ?? 0) >= target.startedAt + deadline ? "perhaps failed" : "in flight";
}

const isUnderWay = (it: SeenCluster): boolean => it.startedAt !== null && it.end === null;

/** I-02: clusters that are under way, and not known to have failed, are no more than maxConcurrency allows. */
function* staysWithinItsWindow(page: StateCommit, judge: Judge): Generator<string> {
  for (const turn of turnsOf(page, judge))
    for (const [at, stage] of turn.run.stages.entries()) {
      if (freshIn(stage, at, turn).length === 0) continue;
      const active = stage.clusters.filter((it) => isUnderWay(it) && standingOf(it, turn, page) === "in flight");
      if (active.length > stage.most)
        yield `${whereOf(stage, turn)} has ${active.map((it) => it.name).join(", ")} under way, at most ${stage.most} may`;
    }
}

/** I-05: a plan is written once, has each cluster once, and stays as long as its run. */
function* keepsItsPlan(page: StateCommit, judge: Judge): Generator<string> {
  for (const { run, old } of turnsOf(page, judge)) {
    if (old !== null && old.plan !== null && run.plan !== old.plan) yield `the plan of run ${run.name} changed`;
    if (old !== null && old.end !== null && run.end !== old.end) yield `run ${run.name} ended twice`;
    const names = [...run.stages.flatMap((it) => it.clusters), ...run.deletions].map((it) => it.name);
    if (new Set(names).size < names.length) yield `the plan of run ${run.name} has a cluster twice`;
  }
}

/** By how much our clock may be ahead of three members' before it is not believed, and the second they round to. */
const tolerance = 61_000;

/**
 * I-06: a wait is over after its time, by the record and by the members' clocks, and not while three of them say that
 * ours is wrong.
 */
function* waitsItsTime(page: StateCommit, judge: Judge): Generator<string> {
  const { skew, answered, attempt, beganAt } = page.facts;
  const isSeen = !attempt.wasHeld && answered.size >= 3;
  for (const turn of turnsOf(page, judge))
    for (const [at, stage] of turn.run.stages.entries()) {
      const key = `${turn.run.uid} ${stage.name}`;
      if (stage.finishedAt !== null && !judge.finished.has(key)) {
        judge.finished.set(key, { at: isSeen ? beganAt : -Infinity, skew });
        if (!attempt.wasHeld && stage.finishedAt - skew < beganAt)
          yield `${whereOf(stage, turn)} landed before anybody looked, by ${beganAt - stage.finishedAt + skew} ms`;
      }
      const landed = judge.finished.get(key);
      const hasBegun = stage.clusters.some((it) => it.startedAt !== null);
      const isNew = stage.endedAt !== null && turn.old?.stages[at]?.endedAt == null;
      if (!isNew || !hasBegun) continue;
      if (!hasChanged(stage, turn, judge)) judge.simulation.hit("stage passed over");
      if (stage.waitMs === null || !hasChanged(stage, turn, judge)) continue;
      const { finishedAt, endedAt, waitMs } = stage;
      if (finishedAt === null || endedAt === null || endedAt < finishedAt + waitMs)
        yield `${whereOf(stage, turn)} ends before its wait is over`;
      if (isSeen && Math.abs(skew) > tolerance)
        yield `${whereOf(stage, turn)} ends while our clock is wrong by ${skew} ms`;
      const waited = judge.simulation.time.now - (landed?.at ?? -Infinity);
      // Where our clock went as the members' did, not a millisecond is missing.
      const slack = landed?.skew === skew ? 0 : 2 * tolerance;
      if (isSeen && waited < waitMs - slack)
        yield `${whereOf(stage, turn)} ends after ${waited} ms by the members' clocks, and waits ${waitMs}`;
    }
}

/** I-07: while more clusters failed than a stage allows, no other one of it starts. */
function* stopsAtFailures(page: StateCommit, judge: Judge): Generator<string> {
  for (const turn of turnsOf(page, judge))
    for (const [at, stage] of turn.run.stages.entries()) {
      const fresh = freshIn(stage, at, turn);
      const old = stage.clusters.filter((it) => !fresh.includes(it) && it.startedAt !== null);
      const failed = old.filter((it) => it.end === null && standingOf(it, turn, page) === "failed");
      const lost = old.filter((it) => it.end === "ClusterUpdatingSuperseded");
      if (failed.length + lost.length > 0) judge.simulation.hit("cluster failed in a run");
      if (fresh.length > 0 && failed.length + lost.length > stage.mayFail)
        yield `${whereOf(stage, turn)} starts ${fresh.map((it) => it.name).join(", ")} after too many failures`;
    }
}

/** I-08: nothing starts in a run that is not to run, as people say and as the record has it. */
function* startsWhatIsToRun(page: StateCommit, judge: Judge): Generator<string> {
  const said = judge.inForce.at(page.after.sourceCommit as Commit);
  for (const turn of turnsOf(page, judge)) {
    const { run, old } = turn;
    const fresh = [
      ...run.stages.flatMap((stage, at) => freshIn(stage, at, turn)),
      ...run.deletions.filter((it, at) => it.startedAt !== null && old?.deletions[at]?.startedAt == null),
    ];
    if (fresh.length === 0) continue;
    const document = said.get(`runs/${run.name}.yaml`);
    const names = fresh.map((it) => it.name).join(", ");
    if (run.state !== "Run") yield `run ${run.name} is to ${run.state}, and starts ${names}`;
    if (document?.kind !== "run" || document.state !== "Run") yield `run ${run.name} starts ${names}, unasked`;
    if (old?.end != null) yield `run ${run.name} has ended, and starts ${names}`;
  }
}

/** I-22: what a run says to have begun on a cluster has begun in the record of its placement as well. */
function* beginsWhatItSays(page: StateCommit, judge: Judge): Generator<string> {
  for (const turn of turnsOf(page, judge)) {
    const { run, old } = turn;
    for (const it of run.stages.flatMap((stage, at) => freshIn(stage, at, turn)).filter(isUnderWay))
      if (bindingOf(page, run.placement, it.name)?.target?.digest !== it.digest)
        yield `run ${run.name} has begun with ${it.name}, which does not get its version`;
    const begun = run.deletions.filter((it, at) => isUnderWay(it) && old?.deletions[at]?.startedAt == null);
    for (const { name } of begun)
      if (bindingOf(page, run.placement, name)?.removal === null)
        yield `run ${run.name} has begun to take ${run.placement} off ${name}, which keeps it`;
  }
}

/** I-09: one run alone has a cluster under way. */
function* holdsAlone(page: StateCommit, judge: Judge): Generator<string> {
  const holders = new Map<string, string>();
  for (const { run } of turnsOf(page, judge)) {
    if (run.end !== null) continue;
    for (const it of run.stages.flatMap((stage) => stage.clusters).filter(isUnderWay)) {
      const at = `${run.placement} on ${it.name}`;
      const other = holders.get(at);
      if (other !== undefined) yield `runs ${other} and ${run.name} both have ${at} under way`;
      holders.set(at, run.name);
    }
  }
}

/** B 4: what a newer run moved, no older one moves, whether the newer one is still there or not. */
function* staysBehindNewer(page: StateCommit, judge: Judge): Generator<string> {
  for (const turn of turnsOf(page, judge)) {
    const { run, old } = turn;
    const uid = page.after.placements.get(run.placement as PlacementKey)?.uid;
    const before = new Map(old?.stages.flatMap((it) => it.clusters.map((own) => [own.name, own.sequence] as const)));
    for (const { name, sequence, startedAt } of run.stages.flatMap((it) => it.clusters)) {
      if (startedAt === null || sequence === null || before.get(name) === sequence) continue;
      const joined = page.after.clusters.get(name as ClusterName)?.kubeSystemUid;
      const at = `${uid} ${joined} ${name}`;
      const newest = judge.movers.get(at) ?? 0;
      if (newest > run.since) yield `run ${run.name} moves ${run.placement} on ${name}, which a newer one moved`;
      judge.movers.set(at, Math.max(newest, run.since));
    }
  }
}
