import { describe, expect, it } from "vitest";
import type { ProtectedTarget } from "../../../src/core/model/trust.ts";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { protectionRule, rulesFor, targetsReached } from "../../../src/core/trust/protected.ts";
import { day, rule } from "./scene.ts";

const target = (clusters: readonly string[], namespaces: readonly string[]): ProtectedTarget => ({
  clusters,
  namespaces,
  principals: ["ann", "bob"],
  minimum: 2,
  accept: ["commit"],
});
const trust = {
  protectedTargets: [
    { ...target(["prod-*"], ["payments"]), released: ["free"] },
    target(["prod-1@u1", "edge"], ["*"]),
    target(["x"], ["pay*"]),
  ],
};
const cluster = (name: string, uid: string | null = "u0", formerly: readonly string[] = []) => ({
  name: name as ClusterName,
  uid,
  formerly: formerly as readonly ClusterName[],
});

describe("a protected target is reached", () => {
  const rows: readonly (readonly [
    name: string,
    cluster: ReturnType<typeof cluster>,
    namespaces: readonly (string | null)[],
    want: readonly number[],
  ])[] = [
    ["by its cluster and its namespace", cluster("prod-2"), ["payments"], [0]],
    ["by one namespace among others", cluster("prod-2"), ["web", "payments"], [0]],
    ["by several rules", cluster("prod-1"), ["payments"], [0, 1]],
    ["by a beginning", cluster("x"), ["payroll"], [2]],
    ["T-33: under another name, by its UID", cluster("dev-9", "u1"), ["web"], [1]],
    ["T-33: under its name, with another UID", cluster("prod-1", "u2"), ["web"], [1]],
    ["by an object of no namespace", cluster("prod-2"), [null], [0]],
    ["not in another namespace", cluster("prod-2"), ["web"], []],
    ["not in another cluster", cluster("dev-1", "u9"), ["payments", null], []],
    ["T-33: by a cluster whose UID nobody knows yet: it may be any", cluster("dev-9", null), ["payments"], [1]],
    ["T-41: under another name, by the one that it had", cluster("dev-9", "u7", ["prod-7"]), ["payments"], [0]],
    ["T-41: by one of several that it had", cluster("dev-9", "u7", ["dev-1", "edge"]), ["web"], [1]],
    ["not by a name that it had, where it is released", cluster("dev-9", "free", ["prod-7"]), ["payments"], []],
    ["by the name that it has, though it is released", cluster("prod-7", "free"), ["payments"], [0]],
    ["not by nothing", cluster("prod-1", "u1"), [], []],
    ["not by a cluster whose name only begins alike", cluster("edge-1"), ["web"], []],
  ];
  for (const [name, at, namespaces, want] of rows)
    it(name, () => {
      expect(targetsReached(trust, at, namespaces).map((it) => trust.protectedTargets.indexOf(it))).toEqual(want);
    });
});

it("a request has to meet the rules of its stage and those of its targets; without the former nobody can", () => {
  const approvals = [rule(), rule({ stages: ["canary"] })];
  const targets = [target(["prod-*"], ["*"])];
  const protection = targets.map(protectionRule);
  const rules = (stage: string | null) => rulesFor({ approvals }, { placement: "web", stage, targets });
  expect([rules("prod"), rules("other"), rules(null)]).toEqual([[rule(), ...protection], [], protection]);
});

it("protection asks for four eyes, within a day", () => {
  const prod = target(["prod-*"], ["*"]);
  expect(protectionRule(prod)).toEqual({
    placements: ["*"],
    stages: ["*"],
    principals: ["ann", "bob"],
    minimum: 2,
    fourEyes: true,
    unsignedChanges: "oneMore",
    accept: ["commit"],
    maxAge: day,
    target: prod,
  });
});
