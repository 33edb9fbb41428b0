import { expect, test } from "vitest";
import { forecastLines, forecastValue } from "../../../src/core/forecast/forecast-text.ts";
import type { Forecast } from "../../../src/core/forecast/timeline.ts";
import { type ClusterName, minutes, type PlacementKey, type RunKey } from "../../../src/core/model/value.ts";
import { at } from "../../cmd/rollout-ledger.ts";

const names = (...all: readonly string[]) => all as readonly ClusterName[];
const [east, north, west] = names("east", "north", "west") as [ClusterName, ClusterName, ClusterName];
const start = at("09:00:00");
const half = at("09:00:30");
const hour = at("10:00:00");

const foreseen: Forecast = {
  start,
  events: [
    { at: start, kind: "planned", resourceIndex: 4, stages: 1, clusters: 3, deletions: 1 },
    { at: start, kind: "approvalNeeded", stage: "rest", when: "before" },
    { at: half, kind: "approved", stage: "rest", when: "before" },
    { at: half, kind: "starts", cluster: east, stage: "rest", resourceIndex: 4 },
    { at: half, kind: "starts", cluster: north, stage: "rest", resourceIndex: 4 },
    { at: half, kind: "skipped", cluster: west, stage: "rest", because: "it left the fleet" },
    { at: hour, kind: "fails", cluster: east, stage: "rest", because: "no room" },
    { at: hour, kind: "fails", cluster: north, stage: "rest", because: "no way" },
    { at: hour, kind: "holds", stage: "rest", because: "waits until 2026-11-21T10:30:00Z, since 2026-11-20T10:30:00Z" },
    { at: hour, kind: "leaves", cluster: west },
    { at: hour, kind: "gone", cluster: west },
    { at: hour, kind: "failed", because: "Rejected: by ada" },
  ],
  ending: { kind: "time", next: at("10:30:00") },
  end: hour,
  passes: 1,
  unavailable: [
    { at: half, clusters: names("east", "north") },
    { at: hour, clusters: names("north") },
  ],
  unreached: names("south"),
  reasons: [
    {
      kind: "run",
      run: "r" as RunKey,
      placement: "web" as PlacementKey,
      wait: { kind: "task", task: "TimedWait", stage: "rest", until: at("10:30:00"), clock: "sound" },
    },
  ],
};

test("a forecast for people: times count from its start, and clusters to which the same happens share a line", () => {
  expect(forecastLines(foreseen)).toEqual([
    "+0s   planned: resource snapshot 4 on 3 clusters in 1 stage, removed from 1 cluster",
    "+0s   stage rest needs an approval to begin",
    "+30s  stage rest is approved to begin",
    "+30s    east, north start",
    "+30s    west is skipped: it left the fleet",
    "+1h     east fails: no room",
    "+1h     north fails: no way",
    "+1h   stage rest is held up: waits until +1h30m, since 2026-11-20T10:30:00Z",
    "+1h     removal from west begins",
    "+1h     removed from west",
    "+1h   the run fails: Rejected: by ada",
    "",
    "not finished within the forecast time; last event at +1h, after 1 pass; next at +1h30m",
    "blast radius: 2 clusters not available at once, from +30s to +1h: east, north",
    "never reached: south",
    "waiting: web: run r, stage rest: waits until +1h30m",
  ]);
});

test("a timeline is cut off where nobody reads it any more", () => {
  const events = Array.from(
    { length: 1200 },
    (_, n) => ({ ...foreseen.events[1], at: start, stage: `s${n}` }) as never,
  );
  const lines = forecastLines({ ...foreseen, events });
  expect(lines.slice(999, 1002)).toEqual(["+0s  stage s999 needs an approval to begin", "and 200 more", ""]);
});

test("a forecast for programs: seconds since its start", () => {
  const timer = { at: half, kind: "timer", stage: "rest", until: hour } as const;
  expect(forecastValue({ ...foreseen, events: [timer], reasons: [] })).toEqual({
    start: "2026-11-21T09:00:00Z",
    ending: "time",
    next: minutes(90) / 1000,
    end: 3600,
    passes: 1,
    events: [{ at: 30, kind: "timer", stage: "rest", until: 3600 }],
    unavailable: [
      { at: 30, clusters: ["east", "north"] },
      { at: 3600, clusters: ["north"] },
    ],
    mostUnavailable: { at: 30, clusters: ["east", "north"] },
    unreached: ["south"],
    reasons: [],
  });
});
