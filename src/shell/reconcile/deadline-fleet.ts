import type { Observation } from "../../core/model/observation.ts";
import { type ClusterName, type DurationMs, type Instant, later, seconds } from "../../core/model/value.ts";
import type { Clock, Fleet, Receipt } from "./ports.ts";

/** How long a pass waits for a member, and who is told what arrives later. */
interface DeadlineOptions {
  readonly clock: Clock;
  readonly deadline: DurationMs;
  /** How long a starting process waits for unknown members while others keep answering: it cannot decide about them. */
  readonly firstDeadline: DurationMs;
  /** Something arrived after the deadline: the next pass has it. */
  readonly onLate: () => void;
  /** An action has ended after its pass. */
  readonly report: (receipt: Receipt) => void;
}

/** A fleet in which no member delays a pass beyond a deadline. */
export interface DeadlineFleet extends Fleet {
  /** Whether an action is running. */
  isActing(): boolean;
  /** Resolves when no action is running, or at this moment. */
  rest(until: Instant): Promise<void>;
}

/** An observation or an action that was started. */
interface Begun<T> {
  readonly done: Promise<void>;
  /** What came of it. */
  outcome: { readonly it: T; readonly at: Instant } | null;
  isWaitedFor: boolean;
}

/** An observation in progress, and its context: under another one, the name means another cluster. */
interface Question {
  readonly context: string;
  /** Whether it was asked for its namespaces: one that was not says nothing of them. */
  readonly isOfNamespaces: boolean;
  readonly begun: Begun<Observation | null>;
}

/** A late observation counts for so long; until it is used nothing is planned for its member, so it stays true. */
const maxAge = seconds(10);

/**
 * Puts a deadline on every answer of a fleet (`reconcile/README.md#i-17`, `#f-49`): a slow member answers in a later
 * pass. A slow action continues; until it ends its member has no observation, and so no other action.
 */
export function withDeadline(fleet: Fleet, options: DeadlineOptions): DeadlineFleet {
  const { clock, onLate, report } = options;
  const asked = new Map<ClusterName, Question>();
  const acting = new Map<ClusterName, Begun<Receipt | null>>();
  const waiting = waitingFor(options);
  const heard = new Set<ClusterName>();

  return {
    async observe(member) {
      const { name, context, namespaces } = member;
      if (acting.has(name)) return null;
      const last = asked.get(name);
      const isOfNamespaces = namespaces !== undefined && namespaces.size > 0;
      const isSame = last?.context === context && last.isOfNamespaces === isOfNamespaces;
      const known = isSame ? last.begun : null;
      // It was waited for in an earlier pass.
      if (known !== null && known.outcome === null) return null;
      const isFresh = known?.outcome != null && clock.now() <= later(known.outcome.at, maxAge);
      const begun = isFresh ? known : begin(clock, fleet.observe(member), onLate);
      asked.set(name, { context, isOfNamespaces, begun });
      await waiting.waitFor(begun, heard.has(name));
      if (begun.outcome === null) return null;
      asked.delete(name);
      if (!heard.has(name)) waiting.noteNews();
      heard.add(name);
      return begun.outcome.it;
    },
    async act(member, actions) {
      if (acting.has(member.name)) return null;
      const action = begin(
        clock,
        fleet.act(member, actions).finally(() => acting.delete(member.name)),
        (receipt) => {
          if (receipt !== null) report(receipt);
          onLate();
        },
      );
      acting.set(member.name, action);
      await waiting.waitFor(action, true);
      return action.outcome?.it ?? null;
    },
    clockOffsets: () => fleet.clockOffsets(),
    isActing: () => acting.size > 0,
    rest: async (until) => {
      const ending = new AbortController();
      await Promise.race([
        Promise.all([...acting.values()].map((it) => it.done)),
        clock.sleepUntil(until, ending.signal),
      ]);
      ending.abort();
    },
    close: () => fleet.close(),
  };
}

/** Notes the outcome; reports it only when nobody waits for it any more. */
function begin<T>(clock: Clock, promise: Promise<T>, tell: (it: T) => void): Begun<T> {
  const begun: Begun<T> = {
    done: promise.then((it) => {
      begun.outcome = { it, at: clock.now() };
      if (!begun.isWaitedFor) tell(it);
    }),
    outcome: null,
    isWaitedFor: true,
  };
  return begun;
}

/** Waits that begin within a twentieth of the deadline share a timer: there may be a thousand members. */
const timerShares = 20;

interface Timer {
  readonly until: Instant;
  readonly over: Promise<void>;
  readonly ending: AbortController;
  waiting: number;
}

/** When no new member has answered for so many deadlines, the others are not waited for. */
const deadlinesOfSilence = 5;

function waitingFor({ clock, deadline, firstDeadline }: DeadlineOptions) {
  const first = later(clock.now(), firstDeadline);
  let news = clock.now();
  const running = new Set<Timer>();
  const timerUntil = (until: Instant): Timer => {
    for (const it of running) if (Math.abs(it.until - until) <= deadline / timerShares) return it;
    const ending = new AbortController();
    const timer = { until, over: clock.sleepUntil(until, ending.signal), ending, waiting: 0 };
    running.add(timer);
    return timer;
  };
  const waitUntil = async (until: Instant, begun: Begun<unknown>): Promise<void> => {
    const timer = timerUntil(until);
    timer.waiting += 1;
    await Promise.race([begun.done, timer.over]);
    timer.waiting -= 1;
    if (timer.waiting > 0) return;
    timer.ending.abort();
    running.delete(timer);
  };
  return {
    /** Waits for the outcome until the deadline. */
    async waitFor(begun: Begun<unknown>, isKnown: boolean): Promise<void> {
      const longest = (): Instant =>
        Math.min(first, later(news, (deadlinesOfSilence * deadline) as DurationMs)) as Instant;
      await waitUntil(later(clock.now(), deadline), begun);
      while (!isKnown && begun.outcome === null && clock.now() < longest()) await waitUntil(longest(), begun);
      begun.isWaitedFor = begun.outcome !== null;
    },
    /** A member answered for the first time. */
    noteNews(): void {
      news = clock.now();
    },
  };
}
