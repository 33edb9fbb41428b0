import { describe, expect, test } from "vitest";
import type { CountOrPercent, PlacementPolicy } from "../../../src/core/model/placement.ts";
import { type Instant, seconds } from "../../../src/core/model/value.ts";
import { budgetOf, isHolding, isReady, isTargeted, type RolloutBinding } from "../../../src/core/rollout/budget.ts";
import { decideRollout, type RolloutState } from "../../../src/core/rollout/rolling-update.ts";
import { random } from "../schedule/random.ts";
import { bindings, bound, secondsFromNow } from "./notation.ts";

const pickN = (numberOfClusters: number): PlacementPolicy => ({
  kind: "PickN",
  numberOfClusters,
  required: [],
  preferred: [],
  spread: [],
  tolerations: [],
});

const stateOf = (count: number, maxUnavailable: string, maxSurge: string, text: string): RolloutState => ({
  policy: pickN(count),
  rollingUpdate: { maxUnavailable: bound(maxUnavailable), maxSurge: bound(maxSurge), unavailablePeriod: seconds(60) },
  bindings: bindings(text),
});

describe("B 7: what is held back shows its arithmetic", () => {
  test("for updates, additions and clusters picked again too early, each in its own group", () => {
    const { heldBack } = decideRollout(stateOf(3, "25%", "0", "a:Bor b:Bor c:Bnp d:S e:Sxp"));
    expect(heldBack).toEqual([
      {
        clusters: ["a", "b"],
        arithmetic: "ready 2, needed 2 (3 targeted - maxUnavailable 25% = 1), budget 0, starting now 0",
      },
      { clusters: ["d"], arithmetic: "holding 4, at most 3 (3 wanted + maxSurge 0), budget -1" },
      { clusters: ["e"], arithmetic: "what was there before has to be gone first" },
    ]);
  });

  test("for removals", () => {
    const { pendingRemovals } = decideRollout(stateOf(2, "0", "1", "a:Ur b:Ur c:S d:S"));
    expect(pendingRemovals).toEqual({
      clusters: ["a", "b"],
      arithmetic: "ready 2, needed 2 (2 wanted - maxUnavailable 0), budget 0",
    });
  });
});

describe("wakeAt", () => {
  const failing = (text: string, failsAt: Instant): readonly RolloutBinding[] =>
    bindings(text).map((it) =>
      it.readiness.kind === "progressing" ? { ...it, readiness: { ...it.readiness, failsAt } } : it,
    );

  test("R29: is when the first untrackable cluster counts as available", () => {
    expect(decideRollout(stateOf(3, "20%", "3", "a:Bot25 b:Bot40 c:Bor")).wakeAt).toBe(secondsFromNow(25));
  });

  test("is when a cluster in progress fails, since its place is free then", () => {
    const state = stateOf(1, "1", "0", "a:Bnp b:S");
    expect(decideRollout({ ...state, bindings: failing("a:Bnp b:S", secondsFromNow(90)) }).wakeAt).toBe(
      secondsFromNow(90),
    );
  });

  test("is null when nothing waits", () => {
    const state = stateOf(2, "1", "1", "a:Bnp b:Bnt9");
    expect(decideRollout({ ...state, bindings: failing("a:Bnp b:Bnt9", secondsFromNow(90)) }).wakeAt).toBeNull();
  });

  test("R7: is null when no time can help", () => {
    expect(decideRollout(stateOf(2, "0", "3", "a:Bor b:Bor")).wakeAt).toBeNull();
  });
});

const seeds = Array.from({ length: 500 }, (_, seed) => seed);

function anyState(seed: number): RolloutState {
  const { below, pick } = random(seed);
  const kinds = [
    "S",
    "Sn",
    "Bor",
    "Bor",
    "Bop",
    "Boa",
    "Bof",
    "Bo?",
    "Bnr",
    "Bnp",
    "Bnf",
    "Bn?",
    "Ur",
    "Up",
    "Uy",
    "Ua",
    "Uf",
    "U?",
    "Uxr",
    "Uxp",
    "Sxr",
  ];
  const text = Array.from({ length: 1 + below(12) }, (_, at) => `c${at + 10}:${pick(kinds as [string, ...string[]])}`);
  const bounds = (): CountOrPercent => (below(2) === 0 ? { count: below(4) } : { percent: below(101) });
  return {
    policy: below(2) === 0 ? { kind: "PickAll", required: [], tolerations: [] } : pickN(below(12)),
    rollingUpdate: { maxUnavailable: bounds(), maxSurge: bounds(), unavailablePeriod: seconds(60) },
    bindings: bindings(text.join(" ")),
  };
}

describe("whatever the state of a rollout", () => {
  test("one pass takes down no more ready clusters than the budget allows", () => {
    for (const seed of seeds) {
      const state = anyState(seed);
      const { update, remove } = decideRollout(state);
      const { wanted, maxUnavailable, maxUnavailableOfTargeted } = budgetOf(
        state.policy,
        state.rollingUpdate,
        state.bindings,
      );
      const ready = state.bindings.filter(isReady);
      const left = ready.filter((it) => !remove.includes(it.cluster));
      const leftTargeted = ready.filter((it) => isTargeted(it) && !update.includes(it.cluster));
      const removed = ready.length - left.length;
      const updated = ready.filter((it) => update.includes(it.cluster)).length;
      if (removed > 0) expect(left.length, `seed ${seed}`).toBeGreaterThanOrEqual(wanted - maxUnavailable.count);
      const neededForUpdates = maxUnavailableOfTargeted.of - maxUnavailableOfTargeted.count;
      if (updated > 0) expect(leftTargeted.length, `seed ${seed}`).toBeGreaterThanOrEqual(neededForUpdates);
    }
  });

  test("B 3: a cluster that may be up unseen is removed only as long as enough others are known to be ready", () => {
    for (const seed of seeds) {
      const state = anyState(seed);
      const { remove } = decideRollout(state);
      const { wanted, maxUnavailable } = budgetOf(state.policy, state.rollingUpdate, state.bindings);
      const isUnseen = ({ readiness: it }: RolloutBinding): boolean =>
        it.kind === "unknown" || (it.kind === "progressing" && !it.isHeard);
      const left = state.bindings.filter((it) => isReady(it) && !remove.includes(it.cluster)).length;
      if (state.bindings.some((it) => isUnseen(it) && remove.includes(it.cluster)))
        expect(left, `seed ${seed}`).toBeGreaterThanOrEqual(wanted - maxUnavailable.count);
    }
  });

  test("I-03, B 11: no more clusters are down or get a version than may be down, failed ones apart", () => {
    for (const seed of seeds) {
      const state = anyState(seed);
      const { update } = decideRollout(state);
      const { maxUnavailableOfTargeted: bound } = budgetOf(state.policy, state.rollingUpdate, state.bindings);
      const untouched = state.bindings.filter((it) => isTargeted(it) && isReady(it) && !update.includes(it.cluster));
      const isPaced = (it: RolloutBinding): boolean => it.readiness.kind !== "failed" && update.includes(it.cluster);
      if (state.bindings.some(isPaced))
        expect(untouched.length, `seed ${seed}`).toBeGreaterThanOrEqual(bound.of - bound.count);
    }
  });

  test("with no fewer targets than wanted, removals and updates together respect one floor", () => {
    for (const seed of seeds) {
      const state = anyState(seed);
      const { update, remove } = decideRollout(state);
      const { wanted, targeted, maxUnavailable } = budgetOf(state.policy, state.rollingUpdate, state.bindings);
      if (targeted < wanted) continue;
      const ready = state.bindings.filter(isReady);
      const left = ready.filter((it) => !remove.includes(it.cluster) && !update.includes(it.cluster)).length;
      if (left < ready.length) expect(left, `seed ${seed}`).toBeGreaterThanOrEqual(wanted - maxUnavailable.count);
    }
  });

  test("I-04: additions never make more holders than wanted, surge and failed ones", () => {
    for (const seed of seeds) {
      const state = anyState(seed);
      const { bind } = decideRollout(state);
      const { wanted, maxSurge } = budgetOf(state.policy, state.rollingUpdate, state.bindings);
      const holders = state.bindings.filter((it) => isHolding(it) && it.readiness.kind !== "failed").length;
      if (bind.length > 0) expect(holders + bind.length, `seed ${seed}`).toBeLessThanOrEqual(wanted + maxSurge.count);
    }
  });

  test("every cluster that could move moves or is reported, once", () => {
    for (const seed of seeds) {
      const state = anyState(seed);
      const { bind, update, remove, heldBack, pendingRemovals } = decideRollout(state);
      const told = [bind, update, remove, ...heldBack.map((it) => it.clusters), pendingRemovals?.clusters ?? []].flat();
      const movable = state.bindings.filter(({ state, removing, upToDate }) =>
        removing ? state === "Scheduled" : state === "Unscheduled" || !upToDate,
      );
      expect([...told].sort(), `seed ${seed}`).toEqual(movable.map((it) => it.cluster).sort());
    }
  });

  test("the order in which bindings are read does not matter", () => {
    for (const seed of seeds) {
      const state = anyState(seed);
      const other = { ...state, bindings: random(seed).shuffled(state.bindings) };
      expect(decideRollout(other), `seed ${seed}`).toEqual(decideRollout(state));
    }
  });

  test("a rollout in which every cluster comes up well ends with everything in place", () => {
    for (const seed of seeds) {
      const start = anyState(seed);
      const rollingUpdate = { ...start.rollingUpdate, maxUnavailable: { count: 1 } };
      const versioned = start.bindings.filter((it) => it.state !== "Scheduled" || !it.upToDate);
      let state: RolloutState = {
        policy: { kind: "PickAll", required: [], tolerations: [] },
        rollingUpdate,
        bindings: versioned,
      };
      for (let pass = 0; pass < 40; pass += 1) state = { ...state, bindings: allWell(state) };
      expect(
        state.bindings.filter((it) => it.state !== "Bound" || !it.upToDate),
        `seed ${seed}`,
      ).toEqual([]);
    }
  });
});

/** The next state if members do at once what one pass decides, and everything works. */
function allWell(state: RolloutState): readonly RolloutBinding[] {
  const { bind, update, remove } = decideRollout(state);
  return state.bindings.flatMap((it): readonly RolloutBinding[] => {
    if (remove.includes(it.cluster)) return [{ ...it, removing: true }];
    if (it.removing) return it.state === "Scheduled" ? [{ ...it, removing: false }] : [];
    const started = bind.includes(it.cluster) || update.includes(it.cluster);
    const readiness = { kind: "available" } as const;
    return [started ? { ...it, state: "Bound", upToDate: true, readiness } : { ...it, readiness }];
  });
}
