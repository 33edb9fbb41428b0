import { describe, expect, it } from "vitest";
import { readIntent } from "../../../src/core/intent/intent.ts";
import { reuseIntent } from "../../../src/core/ledger/identity.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import { problemText } from "../../../src/core/yaml/problems.ts";
import { armoredSignature } from "../ledger/trust-records.ts";
import {
  budget,
  cluster,
  configMap,
  errorsOf,
  eviction,
  inForce,
  placement,
  read,
  readAll,
  run,
  sourceFiles,
  updateStrategy,
} from "./reading.ts";

const digest = "ab".repeat(32);
const approval = (fields = "decision: Approve, principal: ann@example.com"): string =>
  `apiVersion: flotilla.dev/v1alpha1\nkind: Approval\nspec: {requestDigest: ${digest}, ${fields}}\n`;
const web = configMap("web");
const signature = JSON.stringify(armoredSignature);

describe("approvals", () => {
  it("are read from any folder under approvals/, by path", () => {
    const full = approval(`decision: Revoke, principal: bob, comment: not yet, signature: ${signature}`);
    const intent = read({ "approvals/b.yaml": full, "approvals/a/run/1.yml": approval(), "web.yaml": web });
    const ann = { decision: "Approve", principal: "ann@example.com", comment: "", signature: null };
    const bob = { decision: "Revoke", principal: "bob", comment: "not yet", signature: armoredSignature };
    expect(intent.approvals.map(({ blob: _, ...it }) => it)).toEqual([
      { path: "approvals/a/run/1.yml", digest, ...ann },
      { path: "approvals/b.yaml", digest, ...bob },
    ]);
    expect(intent.problems).toEqual([]);
    expect([...intent.files.keys()]).toEqual(["approvals/a/run/1.yml", "approvals/b.yaml", "web.yaml"]);
  });

  it("are read whatever the roots are, and kept for the next reading", () => {
    const fleet = "apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {roots: [apps]}\n";
    const intent = read({ "approvals/a.yaml": approval(), "apps/web.yaml": web, "fleet.yaml": fleet });
    expect(intent.approvals.length).toBe(1);
    expect(intent.files.has("approvals/a.yaml")).toBe(true);
  });

  it("count nowhere else", () => {
    const intent = read({
      "APPROVALS/a.yaml": approval(),
      "Approvals/run/a.yaml": approval(),
      "a.yaml": approval(),
      "approvals/.drafts/a.yaml": approval(),
      "approvals/deletions/a.yaml": approval(),
      "approvals/deletions/more/a.yaml": approval(),
      "approvals/notes.txt": approval(),
      "web.yaml": web,
    });
    expect(intent.approvals).toEqual([]);
    expect(intent.problems.map((it) => `${it.path} ${it.severity} ${it.code}`)).toEqual([
      "APPROVALS/a.yaml error FLT1350",
      "Approvals/run/a.yaml error FLT1350",
      "a.yaml error FLT1350",
      "approvals/deletions/a.yaml error FLT1350",
      "approvals/deletions/more/a.yaml note FLT1350",
    ]);
  });

  const broken: readonly [ref: string, text: string, want: string][] = [
    ["text that is no YAML", "spec: [", "error FLT1022"],
    ["an empty file", "", "error FLT1350"],
    ["another object", configMap("x"), "error FLT1350"],
    ["two answers", `${approval()}---\n${approval()}`, "error FLT1350"],
    ["an answer and something else", `${approval()}---\nnote: hello\n`, "error FLT1350, note FLT1023"],
    ["a digest that is none", approval().replace(digest, "abc"), "error FLT1302"],
    ["B-64: a decision in lower case", approval("decision: approve, principal: ann"), "error FLT1302"],
    ["B-64: no decision", approval("principal: ann"), "error FLT1300"],
    ["a decision that does not exist", approval("decision: Perhaps, principal: ann"), "error FLT1302"],
    ["no principal", approval("decision: Approve"), "error FLT1300"],
    ["an empty principal", approval("decision: Approve, principal: ''"), "error FLT1302"],
    ["a principal on two lines", approval('decision: Approve, principal: "ann\\nbob"'), "error FLT1302"],
    [
      "a comment without end",
      approval(`decision: Approve, principal: ann, comment: ${"x".repeat(1001)}`),
      "error FLT1302",
    ],
    ["a signature that is no armor", approval("decision: Approve, principal: ann, signature: U1NI"), "error FLT1302"],
    [
      "a key in place of a signature",
      approval(`decision: Approve, principal: ann, signature: ${signature.replaceAll("SIGNATURE", "PUBLIC KEY")}`),
      "error FLT1302",
    ],
    [
      "a signature with an end of another kind",
      approval(`decision: Approve, principal: ann, signature: ${signature.replace("END SSH", "END PGP")}`),
      "error FLT1302",
    ],
    [
      "a signature without end",
      approval(`decision: Approve, principal: ann, signature: ${signature.replace("U1NI", "U1NI".repeat(4096))}`),
      "error FLT1302",
    ],
    ["a field that does not exist", approval("decision: Approve, principal: ann, expires: never"), "error FLT1301"],
  ];
  for (const [ref, text, want] of broken)
    it(`a broken file costs only itself: ${ref}`, () => {
      const before = {
        "approvals/a.yaml": approval(),
        "approvals/b.yaml": approval(),
        "web.yaml": web,
        "x.yaml": configMap("y"),
      };
      const intent = readAll(before, { "approvals/a.yaml": text, "approvals/b.yaml": approval(), "web.yaml": web });
      expect(intent.approvals.map((it) => it.path)).toEqual(["approvals/b.yaml"]);
      expect(intent.problems.map((it) => `${it.severity} ${it.code}`).join(", ")).toBe(want);
      // What was removed is gone, and nothing is held because of the approval.
      expect(inForce(intent)).toEqual(["ConfigMap web/web"]);
    });

  it.each([
    ["no folder", {}, false],
    ["keys, which are no YAML", { "trust/allowed_signers": "ann ssh-ed25519 AAAA\n" }, true],
    ["rules that nobody can read", { "trust/more/rules.yaml": "rules: [" }, true],
    ["a folder of that name elsewhere", { "apps/trust/rules.yaml": configMap("rules") }, false],
  ] as const)("who may approve is set up by a trust/ folder, whatever is in it: %s", (_, files, want) => {
    const fleet = "apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {roots: [apps]}\n";
    expect(read({ ...files, "web.yaml": web }).hasTrust).toBe(want);
    expect(read({ ...files, "fleet.yaml": fleet, "apps/web.yaml": web }).hasTrust).toBe(want);
  });

  it("whether they count unsigned is said in fleet.yaml, and the default is no", () => {
    const fleet = (spec: string): string => `apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {${spec}}\n`;
    const said = (spec: string) => read({ "fleet.yaml": fleet(spec), "web.yaml": web });
    expect(read({ "web.yaml": web }).fleet.unsignedApprovals).toBe("deny");
    expect(said("").fleet.unsignedApprovals).toBe("deny");
    expect(said("approvals: {}").fleet.unsignedApprovals).toBe("deny");
    expect(said("approvals: {unsigned: allow}").fleet.unsignedApprovals).toBe("allow");
    expect(said("approvals: {unsigned: deny}").fleet.unsignedApprovals).toBe("deny");
    expect(errorsOf(said("approvals: {unsigned: yes}"))).toEqual([
      expect.stringContaining("fleet.yaml:3:30: error FLT1302: spec.approvals.unsigned: must be"),
    ]);
  });
});

describe("rollouts from commit to commit", () => {
  const files = {
    "approvals/a.yaml": approval(),
    "b.yaml": budget("web", "minAvailable: 1"),
    "c.yaml": cluster("c1"),
    "e.yaml": eviction("e", "web", "c1"),
    "p.yaml": placement("web", "  strategy: {type: External}\n"),
    "r.yaml": run("r"),
    "s.yaml": updateStrategy("ring", "{name: all, labelSelector: {}}"),
  };

  it("what did not change is the same object", () => {
    const sources = sourceFiles(files);
    const first = readIntent({ commit: "c1" as Commit, files: sources, accepted: null });
    const accepted = { commit: "c1" as Commit, files: sources, holds: [], heldFiles: new Map() };
    const second = readIntent({ commit: "c1" as Commit, files: sources, accepted });
    expect(first.problems.map(problemText)).toEqual([]);
    expect(reuseIntent(first, second)).toBe(first);
    const more = [...sources, ...sourceFiles({ "z.yaml": configMap("z") })];
    const third = reuseIntent(first, readIntent({ commit: "c2" as Commit, files: more, accepted }));
    for (const part of ["runs", "strategies", "evictions", "budgets", "approvals"] as const)
      expect(third[part]).toBe(first[part]);
  });

  it("V-PL-61 External never changes back, not even by leaving it out", () => {
    for (const back of ["  strategy: {type: RollingUpdate}\n", ""]) {
      const intent = readAll(files, { ...files, "p.yaml": placement("web", back) });
      expect(errorsOf(intent)).toEqual([
        expect.stringContaining("error FLT1315: spec.strategy.type: cannot change from External to RollingUpdate"),
      ]);
      expect([...intent.placements.values()].map((it) => it.spec.strategy.type)).toEqual(["External"]);
    }
  });

  it("V-PL-61 RollingUpdate may become External", () => {
    const intent = readAll({ ...files, "p.yaml": placement("web") }, files);
    expect(errorsOf(intent)).toEqual([]);
    expect([...intent.placements.values()].map((it) => it.spec.strategy.type)).toEqual(["External"]);
  });
});
