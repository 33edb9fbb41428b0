import { digestOf } from "../../../src/core/model/json.ts";
import type { TaskWait } from "../../../src/core/model/stage-task.ts";
import type { GateAnswer } from "../../../src/core/model/trust.ts";
import type { RunPlan, RunRecord, RunWait, UpdateStrategy } from "../../../src/core/model/update-run.ts";
import { type ClusterName, type Instant, later } from "../../../src/core/model/value.ts";
import type { Planning } from "../../../src/core/rollout/run-plan.ts";
import type { RunStep } from "../../../src/core/rollout/run-step.ts";
import { approvalOf } from "../../gate.ts";
import { clientSide } from "../../strategy.ts";
import {
  change,
  create,
  digestAt,
  durationOf,
  join,
  type Mood,
  pass,
  runIn,
  strategyOf,
  type World,
} from "./run-world.ts";

// Scripts for the world of staged runs, and what came of them, each in one line.

/**
 * Plays `A=0 Run; pass; member2 ok; +1m; pass` and tells what every pass did, in order.
 *
 * - `A=0 Run`: run A of index 0 is created; `A Stop`: it is edited
 * - `a,b ok`: what members say: `ok`, `blind`, `slow`, `bad`, `?`; or what becomes of them: `drop`, `pick`, `gone`,
 *   `leave`, `touch` (something else changes what it carries), `repick` (before it was gone), `clear` (now it is)
 * - `yes A before canary`, `no …`, `void …`, `hush …`: people answer, and take it back
 * - `rules strict` (`none` for none), `within 5m` (`ever`): under which rules people are asked
 * - `join d:env=prod`, `policy other`, `count 2`, `apply ReportDiff`, `type RollingUpdate`, `remove`, `Scheduled False|never`,
 *   `clock unsound`, `+90s`, `-90s`
 */
export function play(world: World, script: string, strategy: UpdateStrategy): string {
  return script
    .split("; ")
    .flatMap((line) => perform(world, line, strategy) ?? [])
    .join(" | ");
}

/** Plays one line; what a pass did, or why there is no plan; null for everything else. */
export function perform(world: World, line: string, strategy: UpdateStrategy): string | null {
  const [verb = "", ...rest] = line.split(" ");
  const [first = "", second = "", third = ""] = rest;
  if (verb === "pass") return passText(world);
  if (verb.startsWith("-")) world.now = (world.now - durationOf(verb.slice(1))) as Instant;
  else if (verb.startsWith("+")) world.now = later(world.now, durationOf(verb.slice(1)));
  else if (/^[A-Z]=\d+$/.test(verb)) return createText(world, verb, first, strategy);
  else if (/^[A-Z]$/.test(verb)) edit(world, runIn(world, verb), first as RunRecord["spec"]["state"]);
  else if (["yes", "no", "void", "hush"].includes(verb)) answer(world, verb, runIn(world, first), [second, third]);
  else if (!befalls(world, verb, first)) for (const it of verb.split(",")) happens(world, it as ClusterName, first);
  return null;
}

function createText(world: World, text: string, state: string, strategy: UpdateStrategy): string | null {
  const [name = "", index = ""] = text.split("=");
  const planning = create(world, name, Number(index), strategy);
  if (planning.kind !== "planned") return planningText(planning);
  edit(world, runIn(world, name), state as RunRecord["spec"]["state"]);
  return null;
}

const edit = (world: World, run: RunRecord, state: RunRecord["spec"]["state"]): void => {
  world.runs.set(run.key, { ...run, spec: { ...run.spec, state } });
};

function answer(world: World, verb: string, run: RunRecord, [when, stage]: readonly [string, string]): void {
  const approval = approvalOf("ann", world.now);
  const answers: Readonly<Record<string, GateAnswer>> = {
    yes: { kind: "approved", approval },
    no: { kind: "rejected", by: "ann", comment: "too hot", path: "approvals/ann.yaml" },
    void: { kind: "void", because: "no signature", wakeAt: null },
  };
  const digest = digestAt(world, run, stage, when === "before" ? "before" : "after");
  const said = answers[verb];
  if (said === undefined) world.answers.delete(digest);
  else world.answers.set(digest, said);
}

/** What befalls the placement, or everything. */
function befalls(world: World, verb: string, what: string): boolean {
  if (verb === "join") join(world, what);
  else if (verb === "policy") world.policyName = what;
  else if (verb === "count") world.policy = { ...pickN, numberOfClusters: Number(what) };
  else if (verb === "apply") world.applyStrategy = { ...clientSide, type: "ReportDiff" };
  else if (verb === "type") world.type = "RollingUpdate";
  else if (verb === "rules") world.rules = what === "none" ? null : digestOf(what);
  else if (verb === "within") world.maxAge = what === "ever" ? null : durationOf(what);
  else if (verb === "remove") world.hasPlacement = false;
  else if (verb === "Scheduled") world.scheduled = what as World["scheduled"];
  else if (verb === "clock") world.clock = what as World["clock"];
  else return false;
  return true;
}

const pickN = { kind: "PickN", required: [], preferred: [], spread: [], tolerations: [] } as const;

function happens(world: World, cluster: ClusterName, what: string): void {
  if (what === "leave") world.members.delete(cluster);
  if (what === "leave" || what === "gone") world.spots.delete(cluster);
  else if (what === "drop") change(world, cluster, { state: "Unscheduled" });
  else if (what === "pick") change(world, cluster, { state: "Bound" });
  else if (what === "touch") change(world, cluster, { index: -1 });
  else if (what === "repick") change(world, cluster, { state: "Scheduled", removing: true });
  else if (what === "clear") change(world, cluster, { removing: false, index: null });
  else change(world, cluster, { mood: what as Mood });
}

function passText(world: World): string {
  const before = [...world.runs.values()].reverse();
  const steps = pass(world);
  const texts = steps.map((step, at) => told(before[at] ?? step.run, step, world.now));
  if (texts.length === 1) return texts[0] ?? "";
  return texts.flatMap((it, at) => (it === "nothing" ? [] : `${before[at]?.name}: ${it}`)).join(", ") || "nothing";
}

/** `staging=member2 canary=member3,member1 deletion=`; or the code and the message; or what it waits for. */
export function planningText(planning: Planning): string {
  switch (planning.kind) {
    case "planned":
      return planText(planning.plan);
    case "failed":
      return `${planning.code}: ${planning.message}`;
    case "waiting":
      return planning.message;
  }
}

const planText = ({ stages, deletions }: RunPlan): string =>
  [...stages.map((it) => `${it.name}=${it.clusters.map((c) => c.cluster).join(",")}`), `deletion=${deletions}`].join(
    " ",
  );

/**
 * What a step did and waits for: `+a` and `-a` start and go, `a!` ended well, `a~` was skipped, `a>B` superseded by B,
 * `stage.` is over; then the waits; then how the run ended.
 */
export function told(before: RunRecord, step: RunStep, now: Instant): string {
  const words = [
    ...step.start.map((it) => `+${it}`),
    ...step.remove.map((it) => `-${it}`),
    ...newsOf(before, step.run),
    ...step.waits.map((it) => waitText(it, now)),
    ...(step.run.end !== null && before.end === null ? [endText(step.run.end)] : []),
  ];
  return words.length === 0 ? "nothing" : words.join(" ");
}

const endText = (end: NonNullable<RunRecord["end"]>): string => (end.kind === "failed" ? end.code : end.kind);

function newsOf(before: RunRecord, after: RunRecord): readonly string[] {
  const news: string[] = [];
  const tell = (old: RunRecord["deletion"] | undefined, now: RunRecord["deletion"], name: string): void => {
    for (const [cluster, { end }] of now.clusters) {
      if (end === null || (old?.clusters.get(cluster)?.end ?? null) !== null) continue;
      news.push(cluster + (end.kind === "succeeded" ? "!" : end.kind === "skipped" ? "~" : `>${end.by}`));
    }
    if (now.endedAt !== null && (old?.endedAt ?? null) === null) news.push(`${name}.`);
  };
  for (const [at, stage] of after.stages.entries()) tell(before.stages[at], stage, after.plan?.stages[at]?.name ?? "");
  tell(before.deletion, after.deletion, "deletion");
  return news;
}

function taskText(wait: TaskWait, now: Instant): string {
  if (wait.task === "Approval")
    return `(asks ${wait.when} ${wait.stage}${wait.because === null ? "" : `: ${wait.because}`})`;
  return `(${wait.stage} in ${(wait.until - now) / 1000}s${wait.clock === "unsound" ? ", clock in doubt" : ""})`;
}

function waitText(wait: RunWait, now: Instant): string {
  switch (wait.kind) {
    case "planning":
      return `(${wait.message})`;
    case "task":
      return taskText(wait, now);
    case "clusters":
      return `(${wait.active.join(",") || "nobody"} of ${wait.maxConcurrency}; then ${wait.waiting.join(",") || "nobody"})`;
    case "failures":
      return `(failed ${wait.failed.join(",")} > ${wait.allowed})`;
    case "stuck":
      return `(stuck ${wait.clusters.join(",")})`;
    case "held":
      return `(held: ${wait.because})`;
    case "stopped":
      return `(stopped ${wait.stage}: ${wait.active.join(",") || "nobody"})`;
    case "joined":
      return `(skips ${wait.clusters.join(",")})`;
    case "superseded":
      return `(${wait.clusters.join(",")} is ${wait.by}'s)`;
  }
}

// The base fleet and strategy of `rollout/README.md#cases-of-staged-runs`.
export const fleet = "member1:env=canary,order=2 member2:env=staging member3:env=canary,order=1";
export const staged = "staging env=staging 30% after:1m | canary env=canary sort:order x2 before after";

/** Up to the request before canary; to its clusters; to the end. */
export const toCanary = "A=0 Run; pass; member2 ok; pass; +1m; pass";
export const inCanary = `${toCanary}; yes A before canary; pass`;
export const throughCanary = `${inCanary}; member1,member3 ok; pass; yes A after canary; pass`;

/** Plays what came before, and then the script, of which alone it tells. */
export function tell(world: World, stages: string, before: string, script: string): string {
  const strategy = strategyOf(stages);
  if (before !== "") play(world, before, strategy);
  return play(world, script, strategy);
}

/** The words of a tale whose order does not matter. */
export const sorted = (text: string): string => text.split(" ").sort().join(" ");
