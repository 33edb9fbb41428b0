// No member holds up a pass (I-17, F-49).
import { beforeEach, describe, expect, test } from "vitest";
import type { Observation } from "../../../src/core/model/observation.ts";
import type { ClusterActions } from "../../../src/core/model/plan.ts";
import { type DurationMs, later, seconds } from "../../../src/core/model/value.ts";
import { type DeadlineFleet, withDeadline } from "../../../src/shell/reconcile/deadline-fleet.ts";
import type { MemberAddress, Receipt } from "../../../src/shell/reconcile/ports.ts";
import { type HandClock, handClock, settled } from "./hand-clock.ts";

const member = { name: "m1", context: "m1" } as MemberAddress;
const other = { name: "m2", context: "m2" } as MemberAddress;
const seen: Observation = { kind: "unreachable", code: "Unreachable", message: "whatever it says" };
const receipt = { cluster: "m1", created: 3, interrupted: null } as unknown as Receipt;
const actions = {} as ClusterActions;

let clock: HandClock;
let fleet: DeadlineFleet;
/** Questions and actions that the member has not answered yet. */
let asked: ((answer: Observation) => void)[];
let told: ((receipt: Receipt) => void)[];
let rings: number;
let reports: Receipt[];
beforeEach(() => {
  clock = handClock();
  [asked, told, rings, reports] = [[], [], 0, []];
  fleet = begin(seconds(0));
});

function begin(firstDeadline: DurationMs): DeadlineFleet {
  const slow = {
    observe: () => new Promise<Observation>((resolve) => void asked.push(resolve)),
    act: () => new Promise<Receipt>((resolve) => void told.push(resolve)),
    clockOffsets: () => [],
    close: async () => {},
  };
  const onLate = (): void => void rings++;
  const report = (it: Receipt): void => void reports.push(it);
  return withDeadline(slow, { clock, deadline: seconds(1), firstDeadline, onLate, report });
}

/** What came of a promise so far. */
async function soFar<T>(promise: Promise<T>): Promise<T | "waiting"> {
  await settled();
  return Promise.race([promise, Promise.resolve("waiting" as const)]);
}

describe("a member that is asked", () => {
  test("and answers within the grace is heard in this pass, and nothing rings", async () => {
    const observing = fleet.observe(member);
    await clock.advance(900);
    expect(await soFar(observing)).toBe("waiting");
    asked[0]?.(seen);
    expect(await observing).toBe(seen);
    expect([rings, clock.sleepers()]).toEqual([0, 0]);
  });

  test("and answers later is heard in the next pass, which it calls for; it is asked once", async () => {
    const observing = fleet.observe(member);
    await clock.advance(1_000);
    expect(await observing).toBeNull();
    expect(await fleet.observe(member)).toBeNull();
    asked[0]?.(seen);
    await settled();
    expect(rings).toBe(1);
    expect(await fleet.observe(member)).toBe(seen);
    expect(asked.length).toBe(1);
    void fleet.observe(member);
    expect(asked.length).toBe(2);
  });

  test("is asked again when its late answer was not taken for ten seconds", async () => {
    void fleet.observe(member);
    await clock.advance(1_000);
    asked[0]?.(seen);
    await settled();
    await clock.advance(10_001);
    void fleet.observe(member);
    expect(asked.length).toBe(2);
  });

  test("is asked anew under a new context: what the old one says is about another cluster", async () => {
    void fleet.observe(member);
    await clock.advance(1_000);
    const moved = fleet.observe({ ...member, context: "elsewhere" });
    expect(asked.length).toBe(2);
    asked[0]?.({ ...seen, message: "of another cluster" });
    await settled();
    expect(await soFar(moved)).toBe("waiting");
    asked[1]?.(seen);
    expect(await moved).toBe(seen);
    void fleet.observe(member);
    expect(asked.length).toBe(3);
  });

  test("is asked anew once somebody asks for its namespaces: what it said before says nothing of them", async () => {
    void fleet.observe({ ...member, namespaces: new Set() });
    await clock.advance(1_000);
    asked[0]?.(seen);
    await settled();
    void fleet.observe({ ...member, namespaces: new Set(["team"]) });
    expect(asked.length).toBe(2);
    await clock.advance(1_000);
    const answer: Observation = { ...seen };
    asked[1]?.(answer);
    await settled();
    expect(await fleet.observe({ ...member, namespaces: new Set(["team", "more"]) })).toBe(answer);
    expect(asked.length).toBe(2);
  });

  test("costs a pass its grace once, whatever the number of silent members", async () => {
    const both = Promise.all([fleet.observe(member), fleet.observe(other)]);
    await settled();
    expect(clock.sleepers()).toBe(1);
    await clock.advance(1_000);
    expect(await both).toEqual([null, null]);
  });

  test("is waited for longer by a process that has just begun, as long as others go on answering", async () => {
    const young = begin(seconds(10));
    const [hearing, waiting] = [young.observe(member), young.observe(other)];
    await clock.advance(2_000);
    asked[0]?.(seen);
    expect(await hearing).toBe(seen);
    const again = young.observe(member);
    await clock.advance(1_000);
    expect(await again).toBeNull();
    await clock.advance(3_999);
    expect(await soFar(waiting)).toBe("waiting");
    await clock.advance(1);
    expect(await waiting).toBeNull();
  });

  test("is waited for no longer than that even so", async () => {
    const young = begin(seconds(4));
    const [hearing, waiting] = [young.observe(member), young.observe(other)];
    await clock.advance(2_000);
    asked[0]?.(seen);
    await hearing;
    await clock.advance(1_999);
    expect(await soFar(waiting)).toBe("waiting");
    await clock.advance(1);
    expect(await waiting).toBeNull();
  });
});

describe("an action", () => {
  test("that ends within the grace gives its receipt", async () => {
    const acting = fleet.act(member, actions);
    told[0]?.(receipt);
    expect(await acting).toBe(receipt);
    expect([rings, reports, fleet.isActing()]).toEqual([0, [], false]);
  });

  test("that takes longer goes on; until it has ended its member is still being asked, and there is no second one", async () => {
    const acting = fleet.act(member, actions);
    await clock.advance(1_000);
    expect(await acting).toBeNull();
    expect(await fleet.observe(member)).toBeNull();
    expect(await fleet.act(member, actions)).toBeNull();
    expect([told.length, asked.length, fleet.isActing()]).toEqual([1, 0, true]);
    told[0]?.(receipt);
    await settled();
    expect([rings, reports, fleet.isActing()]).toEqual([1, [receipt], false]);
    void fleet.observe(member);
    expect(asked.length).toBe(1);
  });

  test("that goes on when all is to end gets until then, and no longer", async () => {
    void fleet.act(member, actions);
    await clock.advance(1_000);
    const resting = fleet.rest(later(clock.now(), seconds(3)));
    await clock.advance(2_999);
    expect(await soFar(resting.then(() => "over"))).toBe("waiting");
    await clock.advance(1);
    expect(await soFar(resting.then(() => "over"))).toBe("over");
  });
});
