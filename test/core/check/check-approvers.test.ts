import { expect, test } from "vitest";
import {
  coversObject,
  isMet,
  type Requirement,
  stageRequirements,
  targetRequirement,
  targetsOn,
  usesCompromisedKey,
  verifiedSignerOf,
} from "../../../src/core/check/check-approvers.ts";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { gateOf } from "../../gate.ts";
import { at, certified, day, digest, hour, openpgp, rejected, rule, ssh, trust } from "../trust/scene.ts";

const whose = (fact: SignatureFact, revoked: readonly string[] = []): string | null => {
  const revocations = revoked.map((key) => ({ key, kind: "retired" }) as const);
  const speaker = verifiedSignerOf(fact, "git", { principals: trust().principals, revocations, now: at(0) });
  return speaker && `${speaker.name} ${speaker.key}`;
};

test.each<readonly [string, SignatureFact, readonly string[], string | null]>([
  ["a key that is listed", ssh("ann"), [], "ann SHA256:ann"],
  ["another key of his", ssh("ann2"), [], "ann SHA256:ann2"],
  ["a key that nobody has", ssh("eve"), [], null],
  ["what was made for something else", ssh("ann", "file"), [], null],
  ["no signature", { kind: "unsigned" }, [], null],
  ["one that does not verify", rejected("Mismatch"), [], null],
  ["a revoked key", ssh("ann"), ["SHA256:ann"], null],
  ["an OpenPGP key", openpgp("B0B"), [], "bob B0B"],
  ["a machine's key", openpgp("5DE3"), [], null],
  ["an OpenPGP fingerprint in an SSH signature", ssh("B0B"), [], null],
  ["a certificate that names one", certified("new", ["carol"]), [], "carol SHA256:new by SHA256:ca"],
  ["a certificate that names two", certified("new", ["ann", "carol"]), [], null],
  ["a certificate that is over", certified("new", ["carol"], -day, 0), [], null],
  ["a certificate that is not yet valid", certified("new", ["carol"], 1), [], null],
  ["a certificate for ever", certified("new", ["carol"], 0, null), [], "carol SHA256:new by SHA256:ca"],
  ["a certificate of a revoked authority", certified("ann", ["ann"]), ["SHA256:ca"], null],
  ["a certificate of somebody else for a key that is listed", certified("ann", ["carol"]), [], "ann SHA256:ann"],
])("%s speaks for whom it should", (_, fact, revoked, name) => expect(whose(fact, revoked)).toBe(name));

test.each<readonly [key: string, kind: "retired" | "compromised", boolean]>([
  ["SHA256:new", "compromised", true],
  ["SHA256:ca", "compromised", true],
  ["SHA256:new", "retired", false],
  ["SHA256:n", "compromised", false],
  ["a", "compromised", false],
])("what %s opened, being %s, is in wrong hands: %s", (key, kind, isIt) =>
  expect(usesCompromisedKey({ evidence: "commit", key: "SHA256:new by SHA256:ca" }, [{ key, kind }])).toBe(isIt),
);

const demand = (more: Partial<Requirement> = {}): Requirement => ({
  ...targetRequirement({ clusters: [], namespaces: [], principals: ["ann", "bob"], minimum: 1, accept: ["commit"] }),
  ...more,
});
const commit = [{ evidence: "commit", key: "k" }] as const;
const voice = (principal: string, when = hour) => ({ principal, proofs: commit, at: at(when) });
const asked = (principals: readonly string[] = [], unknown = 0) =>
  gateOf({ digest: digest("d"), requestedAt: at(0), authors: { principals, unknown } });

test.each<readonly [string, boolean, boolean]>([
  ["one of one", isMet(demand(), asked(), [voice("ann")]), true],
  ["none", isMet(demand({ minimum: 0 }), asked(), []), false],
  ["one twice", isMet(demand({ minimum: 2 }), asked(), [voice("ann"), voice("ann")]), false],
  ["two of two", isMet(demand({ minimum: 2 }), asked(), [voice("ann"), voice("bob")]), true],
  ["who is not named", isMet(demand(), asked(), [voice("carol")]), false],
  ["too late", isMet(demand(), asked(), [voice("ann", day + 1)]), false],
  ["in the last moment", isMet(demand(), asked(), [voice("ann", day)]), true],
  ["in a way that is not accepted", isMet(demand({ accept: ["detached"] }), asked(), [voice("ann")]), false],
  ["who changed it", isMet(demand(), asked(["ann"]), [voice("ann")]), false],
  ["who changed it, where that is no matter", isMet(demand({ fourEyes: false }), asked(["ann"]), [voice("ann")]), true],
  ["one, where nobody signed a change", isMet(demand(), asked([], 1), [voice("ann")]), false],
  ["two, where nobody signed a change", isMet(demand(), asked([], 1), [voice("ann"), voice("bob")]), true],
  [
    "anybody, where all is to be signed",
    isMet(demand({ unsignedChanges: "deny" }), asked([], 1), [voice("ann")]),
    false,
  ],
])("%s: enough is %s", (_, isEnough, expected) => expect(isEnough).toBe(expected));

const target = (clusters: readonly string[]) => ({ clusters, namespaces: [], principals: [], minimum: 1, accept: [] });
const member = (kubeSystemUid: string | null) =>
  [
    { clusters: new Map([["m1", { name: "m1", kubeSystemUid }]]), formerNames: new Map([["f", { names: ["p1"] }]]) },
  ] as unknown as Parameters<typeof targetsOn>[2];

test.each<readonly [pattern: string, uid: string | null, boolean]>([
  ["m1", null, true],
  ["m", null, false],
  ["m*", null, true],
  ["*", null, true],
  ["m1@u", null, true],
  ["old@u", "u", true],
  ["old@u", "v", false],
  // Nobody has reached it yet: it may be that one.
  ["old@u", null, true],
  ["p*", "f", true],
  ["p1@w", "f", true],
  ["p*", "u", false],
])("%s means m1 of uid %s: %s", (pattern, uid, isMeant) =>
  expect(targetsOn(trust({ protectedTargets: [target([pattern])] }), "m1" as ClusterName, member(uid))).toHaveLength(
    isMeant ? 1 : 0,
  ),
);

test.each<readonly [group: string, kind: string, namespace: string | null, name: string, boolean]>([
  ["", "ConfigMap", "pay", "x", true],
  ["", "ConfigMap", "payments", "x", false],
  ["", "Namespace", null, "pay", true],
  ["", "Namespace", null, "web", false],
  ["example.com", "Namespace", null, "web", true],
  ["", "PersistentVolume", null, "web", true],
])("%s/%s %s/%s lies in pay: %s", (group, kind, namespace, name, isIt) =>
  expect(coversObject({ ...target([]), namespaces: ["pay"] }, { group, kind, namespace, name })).toBe(isIt),
);

test.each<readonly [pattern: string, placement: string, boolean]>([
  ["*", "web", true],
  ["we*", "web", true],
  ["team/*", "team/web", true],
  ["team/web", "team/web", true],
  ["*", "team/web", false],
  ["te*", "team/web", false],
  ["*/web", "team/web", false],
  ["team/*", "team", false],
])("a rule for %s is about the stages of %s: %s", (pattern, placement, isIt) => {
  const approvals = [rule({ placements: [pattern] })];
  expect(stageRequirements(trust({ approvals }), placement, "prod")).toEqual(isIt ? approvals : []);
});
