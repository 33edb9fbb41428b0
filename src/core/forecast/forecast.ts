import { check } from "../check/check.ts";
import type { Ledger } from "../model/ledger.ts";
import type { Plan, World } from "../model/plan.ts";
import { type ClusterName, type DurationMs, earliest, type Instant, later, seconds } from "../model/value.ts";
import { plan } from "../plan/plan.ts";
import { weightOf } from "../report/explain.ts";
import { approved, nextApproval } from "./forecast-approval.ts";
import type { Focus } from "./forecast-event.ts";
import { afterActions, memberAt, nextTurn, type VirtualMember } from "./forecast-member.ts";
import { membersAsRecorded, type Supposition } from "./forecast-start.ts";
import { type Ending, type Forecast, reasonsOn, taleOf, tell, told } from "./forecast-tale.ts";

/** What a forecast supposes, and how far it goes. */
export interface ForecastSetup extends Supposition {
  readonly focus: Focus;
  /** How long after a request somebody approves; null: nobody does. */
  readonly approveAfter: DurationMs | null;
  readonly until: DurationMs;
  readonly mostPasses: number;
}

/**
 * Plays the real planner over members that exist in the forecast only, from event to event, until nothing happens any
 * more (`forecast/README.md`).
 *
 * Pure: the same world and the same suppositions give the same forecast. Every plan passes its check as in a real pass;
 * members do at once what they are told, and `landing` later it is available. The clock jumps to whatever comes next.
 */
export function forecast(world: World, setup: ForecastSetup): Forecast {
  const horizon = later(world.now, setup.until);
  let scene: Scene = { now: world.now, ledger: world.ledger, members: membersAsRecorded(world, setup) };
  const tale = taleOf(world, setup.focus);
  for (let passes = 1; passes <= setup.mostPasses; passes++) {
    const step = passIn(scene, world, setup);
    if ("ending" in step) return told(tale, step.ending, passes);
    tell(tale, { before: scene.ledger, after: step.scene.ledger, reasons: step.plan.reasons, now: scene.now });
    scene = step.scene;
    const ending = endingOf(step, horizon, setup);
    if (ending !== null) return told(tale, ending, passes);
    if (!step.hasMoved) scene = { ...scene, now: step.next ?? scene.now };
  }
  return told(tale, { kind: "passes" }, setup.mostPasses);
}

/** The forecast's world between two passes. */
interface Scene {
  readonly now: Instant;
  readonly ledger: Ledger;
  readonly members: ReadonlyMap<ClusterName, VirtualMember>;
}

interface Step {
  readonly plan: Plan;
  readonly scene: Scene;
  readonly hasMoved: boolean;
  /** When something next happens by itself; null when nothing does. */
  readonly next: Instant | null;
}

function passIn(before: Scene, world: World, setup: ForecastSetup): Step | { readonly ending: Ending } {
  const { now } = before;
  const members = new Map([...before.members].map(([name, it]) => [name, memberAt(it, now)]));
  const ledger = approved(before.ledger, now, setup);
  const seen: World = {
    ...world,
    ledger,
    observed: new Map([...members].map(([name, it]) => [name, it.seen])),
    now,
    // Nobody's clock jumps in a forecast.
    clockOffset: seconds(0),
    patience: "retryAt",
  };
  const decided = plan(seen);
  const faults = check(decided, seen);
  if (faults.length > 0) return { ending: { kind: "unsound", faults } };
  if (decided.refusal !== null) return { ending: { kind: "refused", refusal: decided.refusal } };
  for (const it of decided.actions) {
    const member = members.get(it.cluster);
    if (member !== undefined) members.set(it.cluster, afterActions(member, it, { now, landing: setup.landing }));
  }
  const scene = { now, ledger: decided.ledger, members };
  const turns = [...members.values()].map(nextTurn);
  const wake = decided.wakeAt === null ? null : (Math.max(decided.wakeAt, later(now, seconds(1))) as Instant);
  const next = earliest(wake, nextApproval(decided.ledger, now, setup), ...turns);
  return { plan: decided, scene, hasMoved: decided.decides || decided.actions.length > 0, next };
}

function endingOf(step: Step, horizon: Instant, { focus }: ForecastSetup): Ending | null {
  const { scene, next, hasMoved, plan: decided } = step;
  const end = focus.run === null ? null : (scene.ledger.runs.get(focus.run)?.end ?? null);
  if (end !== null) return end.kind === "succeeded" ? { kind: "done" } : { kind: "failed" };
  if (hasMoved) return null;
  const isOpen = reasonsOn(focus, decided.reasons, scene.ledger).some((it) => weightOf(it) !== "notice");
  const isToBreak = [...scene.members.values()].some((it) => it.fate.kind === "breaks");
  if (focus.run === null && !isOpen && (!isToBreak || next === null || next > horizon)) return { kind: "done" };
  if (next === null) return { kind: "waits" };
  return next > horizon ? { kind: "time", next } : null;
}
