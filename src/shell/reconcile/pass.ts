import { decide, type Planner } from "../../core/decide/decide.ts";
import type { Intent } from "../../core/model/intent.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { PlanDefect } from "../../core/model/plan-defect.ts";
import { type Commit, oneLine } from "../../core/model/value.ts";
import { newRequestDetails } from "../../core/plan/approval/request-content.ts";
import { isFinalNews } from "../../core/plan/decision.ts";
import { plan as production, sealed } from "../../core/plan/plan.ts";
import { describeChanges } from "../../core/report/commit-message.ts";
import { commitDecision } from "./commit.ts";
import type { Memory } from "./memory.ts";
import { memberAddressOf, observe } from "./observe.ts";
import type { Clock, Ports, Receipt, Settings } from "./ports.ts";

export type PassResult =
  /** Somebody else decided first. Nothing was changed; run another pass. */
  | { readonly kind: "superseded" }
  /** The plan failed its check: a defect of ours. Nothing was written or changed. */
  | { readonly kind: "unsound"; readonly faults: readonly PlanDefect[] }
  | {
      readonly kind: "passed";
      readonly plan: Plan;
      readonly intent: Intent;
      readonly committed: Commit | null;
      /** What was committed, as lines of text. */
      readonly lines: readonly string[];
      /** News that decides nothing and waits in memory for a later commit; null when none does. */
      readonly deferred: News | null;
      /** Of the members whose actions have ended. */
      readonly receipts: readonly Receipt[];
      readonly spent: PassTimings;
    };

/** News that a pass heard and left for a later commit: `final` ends something that people wait for. */
export type News = "final" | "routine";

/** A completed pass: it decided, or found nothing to decide. */
export type Passed = Extract<PassResult, { kind: "passed" }>;

/** The durations of a pass's steps, in milliseconds. */
interface PassTimings {
  readonly observe: number;
  /** Planning and checking. */
  readonly decide: number;
  readonly commit: number;
  readonly act: number;
}

/** Whether a pass committed, or some member did part of its work; one that refused at once would do so again. */
export const hasMoved = ({ committed, receipts }: Passed): boolean =>
  committed !== null || receipts.some((it) => it.interrupted === null || hasWorked(it));

const hasWorked = ({ created, configured, deleted, released, failed }: Receipt): boolean =>
  created + configured + deleted + released + failed > 0;

/**
 * One look at the world and one step towards what the repository asks for, safe to run twice, at once, or never, by its
 * order: decide, check, write it down, and only then act. `flush` commits news that decides nothing too.
 */
export async function pass(
  ports: Ports,
  settings: Settings,
  memory: Memory,
  flush: boolean,
  planner: Planner = production,
): Promise<PassResult> {
  const lap = stopwatch(ports.clock);
  const { world, state, reasons: known } = await observe(ports, settings, memory);
  const observing = lap();
  const decision = decide(world, planner);
  const deciding = lap();
  if (decision.kind === "unsound") return { kind: "unsound", faults: decision.faults };
  const { plan: decided } = decision;

  const { intent } = world;
  const reasons = [...known, ...decided.reasons];
  const reported = { ...decided, reasons };
  if (decided.refusal !== null) {
    // Members that are ahead of the state we read may just mean that somebody else decided in the meantime.
    if ((await ports.repository.heads()).state !== state.commit) return { kind: "superseded" };
    const spent = { observe: observing, decide: deciding, commit: 0, act: 0 };
    return { kind: "passed", plan: reported, intent, committed: null, lines: [], deferred: null, receipts: [], spent };
  }
  const isNews = decided.ledger !== state.ledger;
  let committed: Commit | null = null;
  let lines: readonly string[] = [];
  if (decided.decides || (flush && isNews)) {
    const ledger = decided.decides ? decided.ledger : sealed(decided.ledger);
    lines = describeChanges(state.ledger, ledger).map(oneLine);
    const asked = newRequestDetails(ledger, world);
    const outcome = { ledger, intent, rendered: decided.rendered, asked, reasons, lines, now: world.now };
    const written = await commitDecision(ports.repository, state, outcome, memory);
    if (written.kind === "superseded") {
      memory.pending = null;
      return written;
    }
    committed = written.commit;
  } else if (isNews) memory.pending = decided.ledger;

  const committing = lap();
  const ended = await Promise.all(
    decided.actions.map((it) => ports.fleet.act(memberAddressOf(intent, it.cluster), it)),
  );
  const receipts = ended.filter((it) => it !== null);
  const spent = { observe: observing, decide: deciding, commit: committing, act: lap() };
  const deferred = committed !== null || !isNews ? null : newsOf(state.ledger, decided.ledger);
  return { kind: "passed", plan: reported, intent, committed, lines, deferred, receipts, spent };
}

const newsOf = (before: Ledger, after: Ledger): News => (isFinalNews(before, after) ? "final" : "routine");

/** Gives at each call the milliseconds since the call before. */
function stopwatch(clock: Clock): () => number {
  let last = clock.now();
  return () => {
    const now = clock.now();
    const passed = now - last;
    last = now;
    return passed;
  };
}
