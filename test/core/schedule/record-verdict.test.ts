import { expect, test } from "vitest";
import type { PolicySnapshot } from "../../../src/core/model/ledger.ts";
import { nextPolicySnapshots } from "../../../src/core/schedule/policy-snapshot.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { recordVerdict } from "../../../src/core/schedule/record-verdict.ts";
import type { Schedule } from "../../../src/core/schedule/schedule.ts";
import { fleet, now, policyOf, schedule, secondsFromNow } from "./notation.ts";

const scheduled = (members: string, policy: string): Schedule =>
  schedule({ policy: policyOf(policy), candidates: fleet(members), cycleBindings: [], now }, profiles.default);

const fresh = (policy: string): PolicySnapshot => {
  const [snapshot] = nextPolicySnapshots([], policyOf(policy), { historyLimit: 10, inUse: new Set() });
  if (snapshot === undefined) throw new Error("a policy has a snapshot");
  return snapshot;
};

test("a fulfilled policy is recorded with everything that decided", () => {
  const snapshot = fresh("1");
  expect(recordVerdict(snapshot, scheduled("a b", "1"), 4, now)).toEqual({
    ...snapshot,
    verdict: {
      observedGeneration: 4,
      condition: {
        type: "Scheduled",
        status: "True",
        reason: "SchedulingPolicyFulfilled",
        message: "picked 1 cluster",
        observedGeneration: 4,
        lastTransitionTime: now,
      },
      decisions: [
        {
          cluster: "b",
          selected: true,
          score: { affinity: 0, topology: 0 },
          reason: "picked b: affinity score 0, topology score 0",
        },
        {
          cluster: "a",
          selected: false,
          score: { affinity: 0, topology: 0 },
          reason: "a fits and is not needed: affinity score 0, topology score 0",
        },
      ],
    },
  });
});

test("an unfulfilled policy says how many were found of how many", () => {
  const { verdict } = recordVerdict(fresh("3"), scheduled("a b", "3"), 1, now);
  expect(verdict?.condition).toMatchObject({
    status: "False",
    reason: "SchedulingPolicyUnfulfilled",
    message: "found 2 of 3 clusters; the decisions say why not more",
  });
});

test("12.3: nothing is written when generation, decisions and condition are those recorded", () => {
  const before = recordVerdict(fresh("2"), scheduled("a b c", "2"), 1, now);
  const shuffled = scheduled("a b c", "2");
  const again = { ...shuffled, decisions: [...shuffled.decisions].reverse() };
  expect(recordVerdict(before, again, 1, secondsFromNow(60))).toBe(before);
});

test("a new generation is recorded, and the time of transition stays while the status does", () => {
  const before = recordVerdict(fresh("2"), scheduled("a b c", "2"), 1, now);
  const after = recordVerdict(before, scheduled("a b c", "2"), 2, secondsFromNow(60));
  expect(after.verdict).toMatchObject({
    observedGeneration: 2,
    condition: { observedGeneration: 2, lastTransitionTime: now },
  });
  expect(after.verdict?.decisions).toBe(before.verdict?.decisions);
});

test("the time of transition moves when the status does", () => {
  const before = recordVerdict(fresh("3"), scheduled("a b", "3"), 1, now);
  const after = recordVerdict(before, scheduled("a b c", "3"), 1, secondsFromNow(60));
  expect(after.verdict?.condition).toMatchObject({ status: "True", lastTransitionTime: secondsFromNow(60) });
});

test("a decision with another reason is news", () => {
  const before = recordVerdict(fresh("1"), scheduled("a b", "1"), 1, now);
  const after = recordVerdict(before, scheduled("a[k=v] b", "1"), 1, now);
  expect(after.verdict?.decisions.at(-1)?.reason).toBe("TaintToleration: taint k=v:NoSchedule is not tolerated");
});

test("F6: nothing is recorded for a silent schedule", () => {
  const snapshot = fresh("fixed");
  const silent = schedule({ policy: policyOf("fixed"), candidates: [], cycleBindings: [], now }, profiles.kubefleet);
  expect(recordVerdict(snapshot, silent, 1, now)).toBe(snapshot);
});

test("warnings and what had no room are said in the message", () => {
  const warnings = ["w1", "w2", "w3", "w4", "w5"];
  const said = { ...scheduled("a", "all"), warnings, found: 1205, unlisted: 205 };
  expect(recordVerdict(fresh("all"), said, 1, now).verdict?.condition.message).toBe(
    "picked 1205 clusters; 205 of them are not listed; w1; w2; w3; 2 more warnings stand in the decisions",
  );
});
