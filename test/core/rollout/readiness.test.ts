import { describe, expect, test } from "vitest";
import type { Binding, BindingFacts } from "../../../src/core/model/binding.ts";
import {
  type ClusterName,
  type Digest,
  type Instant,
  minutes,
  type Sequence,
  seconds,
} from "../../../src/core/model/value.ts";
import { type ReadinessContext, readinessChangesAt, readinessOf } from "../../../src/core/rollout/readiness.ts";
import { clientSide } from "../../strategy.ts";
import { now, secondsFromNow } from "./notation.ts";

const context: ReadinessContext = {
  contact: "reached",
  progressDeadline: minutes(10),
  unavailablePeriod: seconds(60),
  now,
};

/** A binding whose target, of sequence 7, was started so many seconds ago. */
function binding(startedSecondsAgo: number, facts: BindingFacts | null): Binding {
  const cluster = "a" as ClusterName;
  return {
    cluster,
    name: "web-a-00000000",
    uid: "u",
    generation: 1,
    state: "Bound",
    previousState: null,
    policySnapshot: 0,
    decision: { cluster, selected: true, score: null, reason: "picked a by name" },
    target: {
      resourceIndex: 0,
      clusterOverrides: [],
      resourceOverrides: [],
      labels: {},
      applyStrategy: clientSide,
      digest: "d" as Digest,
      sequence: 7 as Sequence,
      startedAt: secondsFromNow(-startedSecondsAgo),
    },
    removal: null,
    leaving: [],
    facts,
    conditions: [],
  };
}

const facts = (
  applied: BindingFacts["applied"],
  phase: BindingFacts["phase"],
  secondsAgo: number,
  sequence = 7,
): BindingFacts => ({
  sequence: sequence as Sequence,
  applied,
  phase,
  since: secondsFromNow(-secondsAgo) as Instant,
  objectFailures: [],
  objectFailureCount: 0,
  adopted: [],
});

const progressing = (inSeconds: number, isHeard = true) => ({
  kind: "progressing",
  failsAt: secondsFromNow(inSeconds),
  isHeard,
});
const untrackable = (inSeconds: number) => ({ kind: "untrackable", countsFrom: secondsFromNow(inSeconds) });
const failed = (because: "explicit" | "deadline") => ({ kind: "failed", because });
const available = { kind: "available" };

const rows = [
  { name: "nothing heard yet", started: 100, facts: null, want: progressing(500, false) },
  {
    name: "facts about another target count as none",
    started: 100,
    facts: facts("applied", "available", 90, 6),
    want: progressing(500, false),
  },
  { name: "not applied yet", started: 100, facts: facts("pending", "progressing", 90), want: progressing(500, false) },
  { name: "applied and coming up", started: 100, facts: facts("applied", "progressing", 90), want: progressing(500) },
  { name: "available", started: 100, facts: facts("applied", "available", 90), want: available },
  { name: "available after the deadline", started: 6000, facts: facts("applied", "available", 1), want: available },
  {
    name: "B 1: an apply that failed is a failure",
    started: 100,
    facts: facts("failed", "progressing", 90),
    want: failed("explicit"),
  },
  {
    name: "B 1: a workload that failed is a failure",
    started: 100,
    facts: facts("applied", "failed", 90),
    want: failed("explicit"),
  },
  { name: "just before the deadline", started: 599, facts: facts("applied", "progressing", 590), want: progressing(1) },
  {
    name: "B 1: at the deadline it has failed",
    started: 600,
    facts: facts("applied", "progressing", 590),
    want: failed("deadline"),
  },
  { name: "B 1: silence of a member within reach fails as well", started: 600, facts: null, want: failed("deadline") },
  {
    name: "what was well for days and restarts has the whole time",
    started: 90_000,
    facts: facts("applied", "progressing", 5),
    want: progressing(595),
  },
  {
    name: "what restarts at the very deadline has it again",
    started: 700,
    facts: facts("applied", "progressing", 100),
    want: progressing(500),
  },
  {
    name: "and fails when that is over",
    started: 90_000,
    facts: facts("applied", "progressing", 600),
    want: failed("deadline"),
  },
  {
    name: "R29: untrackable does not count yet",
    started: 100,
    facts: facts("applied", "untrackable", 35),
    want: untrackable(25),
  },
  {
    name: "untrackable counts after its period",
    started: 100,
    facts: facts("applied", "untrackable", 60),
    want: available,
  },
];

describe("readiness", () => {
  test.each(rows)("$name", ({ started, facts: said, want }) => {
    expect(readinessOf(binding(started, said), context)).toEqual(want);
  });

  test.each([null, facts("applied", "available", 90), facts("applied", "failed", 90)])(
    "D-15: of a member out of reach is unknown, whatever it said last",
    (said) => {
      expect(readinessOf(binding(6000, said), { ...context, contact: "unreachable" })).toEqual({ kind: "unknown" });
    },
  );

  test("of a member that was not asked stands as recorded, and no deadline passes", () => {
    const unasked = { ...context, contact: "unasked" } as const;
    expect(readinessOf(binding(6000, facts("applied", "progressing", 5990)), unasked)).toEqual({
      kind: "progressing",
      isHeard: false,
      failsAt: null,
    });
    expect(readinessOf(binding(6000, facts("applied", "available", 5990)), unasked)).toEqual(available);
  });

  test("without a target waits for nothing", () => {
    expect(readinessOf({ ...binding(0, null), target: null }, context)).toEqual({
      kind: "progressing",
      failsAt: null,
      isHeard: false,
    });
  });

  test("is not another one before the moment it names, and is at that moment", () => {
    for (const { started, facts: said } of rows) {
      const before = readinessOf(binding(started, said), context);
      const at = readinessChangesAt(before);
      if (at === null) continue;
      expect(readinessOf(binding(started, said), { ...context, now: (at - 1) as Instant })).toEqual(before);
      expect(readinessOf(binding(started, said), { ...context, now: at })).not.toEqual(before);
    }
  });
});
