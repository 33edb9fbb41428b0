import { describe, expect, test } from "vitest";
import { type Instant, instantText, minutes, seconds } from "../../../src/core/model/value.ts";
import type { AgentReport } from "../../../src/core/schedule/framework/agent.ts";
import type { Candidate } from "../../../src/core/schedule/framework/cycle.ts";
import type { MemberNamespaces } from "../../../src/core/schedule/framework/facts.ts";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { all, cycleBindings, fixed, fleet, now, schedule, told } from "./notation.ts";

const ago = (length: number): Instant => (now - length) as Instant;

type Agent = NonNullable<AgentReport["agent"]>;

const well: Agent = { heartbeat: now, isJoined: true, healthy: { isTrue: true, since: ago(minutes(60)) } };

function withAgent(name: string, agent: Partial<Agent> | null, more: Partial<AgentReport> = {}): Candidate {
  const [member] = fleet(name);
  if (member === undefined) throw new Error("one cluster");
  const report = {
    isLeaving: false,
    agent: agent === null ? null : { ...well, ...agent },
    heartbeatPeriod: seconds(60),
  };
  return { ...member, agent: { ...report, ...more } };
}

const sick = (since: number): Partial<Agent> => ({ healthy: { isTrue: false, since: ago(since) } });

const reporting = [
  withAgent("a", null),
  withAgent("b", { isJoined: false }),
  withAgent("c", { heartbeat: ago(seconds(298)) }),
  withAgent("d", { heartbeat: ago(seconds(302)) }),
  withAgent("e", sick(minutes(4))),
  withAgent("f", sick(minutes(6))),
  withAgent("h", {}, { isLeaving: true }),
  withAgent("i", { heartbeat: null }),
  withAgent("j", { healthy: null }),
  withAgent("k", { heartbeat: ago(minutes(5)), ...sick(minutes(5)) }),
];

describe.each(Object.values(profiles))("members of a hub, in the profile $name", (profile) => {
  test("E1: are eligible by what their agents report, and the first rule that they fail is the reason", () => {
    const { create, decisions } = schedule({ policy: all(), candidates: reporting, cycleBindings: [] }, profile);
    expect(create.map((it) => it.cluster)).toEqual(["c", "e", "k"]);
    expect(decisions.slice(3).map((it) => it.reason.replace("ClusterEligibility: ", ""))).toEqual([
      "its agent is not online yet",
      "its agent has not joined yet",
      `no heartbeat since ${instantText(ago(seconds(302)))}`,
      `unhealthy since ${instantText(ago(minutes(6)))}`,
      "the cluster leaves the fleet",
      "its agent has sent no heartbeat",
      "nothing is known of its health",
    ]);
  });

  test("A 48: a slow heartbeat is waited for three times", () => {
    const slow = withAgent("a", { heartbeat: ago(minutes(14)) }, { heartbeatPeriod: minutes(5) });
    const { create, wakeAt } = schedule({ policy: all(), candidates: [slow], cycleBindings: [] }, profile);
    expect(create).toHaveLength(1);
    expect(wakeAt).toBeNull();
  });

  test("turn ineligible by time alone, with the earlier of heartbeat and health", () => {
    const { wakeAt } = schedule(
      {
        policy: fixed("k"),
        candidates: [withAgent("k", { heartbeat: ago(minutes(1)), ...sick(minutes(2)) })],
        cycleBindings: [],
      },
      profile,
    );
    expect(wakeAt).toBe(now + minutes(3) + 1000);
  });

  test("A8: that leave lose their bindings", () => {
    const candidates = [withAgent("a", {}), withAgent("b", {}, { isLeaving: true })];
    expect(told(schedule({ policy: all(), candidates, cycleBindings: cycleBindings("b:B0", 0) }, profile))).toBe(
      "+a -b | T1 a | b:eligibility",
    );
  });
});

test("A10 in the profile kubefleet: with PickAll and another policy, a member out of contact is dropped as KubeFleet does", () => {
  const candidates = [withAgent("a", { heartbeat: ago(minutes(6)) }), withAgent("b", {})];
  const cycle = { policy: all(), candidates, cycleBindings: cycleBindings("a:B0 b:B0", 1) };
  expect(told(schedule(cycle, profiles.kubefleet))).toBe("=b:B -a | T1 b | a:eligibility");
});

describe.each(Object.values(profiles))("namespaces, in the profile $name", (profile) => {
  const having = (name: string, namespaces: MemberNamespaces | null): Candidate => {
    const [member] = fleet(name);
    if (member === undefined) throw new Error("one cluster");
    return { ...member, facts: { ...member.facts, namespaces } };
  };
  const teamA = new Map([["team-a", ""]]);
  const candidates = [
    having("a", null),
    having("b", { names: teamA, isCut: false }),
    having("c", { names: new Map([["other", ""]]), isCut: false }),
    having("d", { names: teamA, isCut: true }),
    having("e", { names: null, isCut: false }),
    having("f", { names: new Map([["x", ""]]), isCut: true }),
  ];

  test("M1 with A 55: a placement in a namespace goes where it exists, is not reported, or was cut from the list", () => {
    const outcome = schedule({ policy: all(), namespace: "team-a", candidates, cycleBindings: [] }, profile);
    expect(told(outcome)).toBe("+a +b +d +f | T4 a,b,d,f | c:namespace e:namespace");
    expect(outcome.warnings).toEqual(["f has more namespaces than it lists: whether team-a is among them is unknown"]);
  });

  test("M1: a placement without a namespace goes everywhere", () => {
    expect(schedule({ policy: all(), candidates, cycleBindings: [] }, profile).found).toBe(6);
  });

  test("F9 with A 56: PickFixed picks without the namespace, and warns of it", () => {
    const asked = { policy: fixed("b,c,f"), namespace: "team-a", candidates, cycleBindings: [] };
    const outcome = schedule(asked, profile);
    expect(told(outcome)).toBe("+b +c +f | T3 b,c,f |");
    expect(outcome.warnings).toEqual([
      "c is named, and the namespace team-a does not exist there",
      "f has more namespaces than it lists: whether team-a is among them is unknown",
    ]);
    expect(outcome.decisions.map((it) => it.reason)).toEqual([
      "picked b by name",
      "picked c by name; the namespace team-a does not exist there",
      "picked f by name",
    ]);
    expect(schedule({ ...asked, namespace: null }, profile).warnings).toEqual([]);
  });
});
