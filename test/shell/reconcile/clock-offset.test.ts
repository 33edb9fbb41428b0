import { describe, expect, it } from "vitest";
import { type Instant, seconds } from "../../../src/core/model/value.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { medianOffset, observe } from "../../../src/shell/reconcile/observe.ts";
import { once, setStage } from "./stage.ts";

describe("the offset of our clock is that of the member in the middle (I-06)", () => {
  it.each<[string, readonly number[], number | null]>([
    ["nobody tells the time", [], null],
    ["one member proves nothing", [3600], null],
    ["of two that disagree nobody knows which is wrong", [0, 3600], null],
    ["three are enough", [0, 0, 0], 0],
    ["one that is wrong does not count", [0, 3600, 1], 1],
    ["two of three do", [3600, 0, 3601], 3600],
    ["the order is of no importance", [90, -1, 1, 0, 80], 1],
    ["numbers are compared as such", [100, 9, 20], 20],
    ["behind is negative", [-70, -70, 0], -70],
    ["of the middle two, the higher may be nearer", [-90, -70, 5, 6], 5],
    ["of the middle two, the lower may be nearer", [0, 1, 3600, 3600], 1],
    ["half of the members are no majority, ahead", [0, 0, 61, 61], 0],
    ["half of the members are no majority, behind", [-61, -61, 0, 0], 0],
    ["members that contradict each other do not make up for each other", [-3600, -3600, 3600, 3600], -3600],
  ])("%s", (_, offsets, median) => {
    const before = [...offsets.map(seconds)];
    const given = offsets.map(seconds);
    expect(medianOffset(given)).toBe(median === null ? null : seconds(median));
    expect(given).toEqual(before);
  });
});

describe("a world has the offset of our clock", () => {
  it("from nine members that were asked, and none when nobody was", async () => {
    const stage = await setStage();
    const ports = await stage.reconciler();
    const recorded = await observe(ports, { ...once, members: "record" }, newMemory());
    expect(recorded.world.clockOffset).toBeNull();
    const memory = newMemory();
    for (const ahead of [0, 61, -3600]) {
      stage.now = (Date.now() + 1000 * ahead) as Instant;
      const { world } = await observe(ports, once, memory);
      // Meanwhile the members' clocks went on, and ours stood still.
      const late = ahead - (world.clockOffset ?? Number.NaN) / 1000;
      expect([late >= -2, late <= 30]).toEqual([true, true]);
    }
    await stage.close();
  });
});
