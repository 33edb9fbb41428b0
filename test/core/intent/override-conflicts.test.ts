import { describe, expect, it } from "vitest";
import { problemText } from "../../../src/core/yaml/problems.ts";
import { cluster, errorsOf, type Files, inForce, override, placement, read, readAll } from "./reading.ts";

describe("overrides (C 21)", () => {
  it("V-CRO-07, B-85: two of one object for one placement: neither is new, the accepted one stays", () => {
    const intent = readAll(
      { "a.yaml": override("a", "web", "p") },
      { "a.yaml": override("a", "web", "p"), "b.yaml": override("b", "web", "p") },
    );
    expect(inForce(intent)).toEqual(["ClusterResourceOverride a (held c1 a.yaml#0)"]);
    expect(errorsOf(intent)).toEqual([
      "a.yaml:5:3: error FLT1331: spec: Namespace web is also overridden by b (b.yaml:1) for the same placement",
      "b.yaml:5:3: error FLT1331: spec: Namespace web is also overridden by a (a.yaml:1) for the same placement",
    ]);
  });

  it("of one object for two placements they go together, beside one for all they do not", () => {
    const two: Files = { "a.yaml": override("a", "web", "p"), "b.yaml": override("b", "web", "q") };
    expect(inForce(read(two))).toEqual(["ClusterResourceOverride a", "ClusterResourceOverride b"]);
    expect(inForce(read({ ...two, "c.yaml": override("c", "web") }))).toEqual([]);
  });

  it("V-CRO-08 the 101st is not taken in", () => {
    const hundred = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`o${at}.yaml`, override(`o${at}`, `n${at}`)]),
    );
    const intent = readAll(hundred, { ...hundred, "extra.yaml": override("extra", "n100") });
    expect(intent.overrides.length).toBe(100);
    expect(errorsOf(intent)).toEqual(["extra.yaml:3:18: error FLT1338: metadata.name: more than 100 overrides"]);
  });

  it("one without a placement says to which it applies", () => {
    const { problems } = read({
      "a.yaml": override("a", "web"),
      "p.yaml": placement("p"),
      "q.yaml": placement("q"),
      "c.yaml": cluster("eu"),
    });
    expect(problems.filter((it) => it.code !== "FLT1342").map(problemText)).toEqual([
      "a.yaml:6:3: note FLT1334: spec: applies to p, q; name one in spec.placement to narrow it down",
    ]);
  });

  it("B-87 one that has no effect is named", () => {
    const nowhere = override("a", "web", "pp").replace(
      "clusterSelectorTerms: []",
      "clusterSelectorTerms: [{labelSelector: {matchLabels: {env: dev}}}]",
    );
    const { problems } = read({
      "a.yaml": nowhere,
      "b.yaml": override("b", "other"),
      "p.yaml": placement("p"),
      "c.yaml": cluster("eu"),
    });
    expect(problems.map((it) => `${it.path} ${it.code} ${it.message}`)).toEqual([
      "a.yaml FLT1337 spec.placement.name: there is no placement pp",
      "a.yaml FLT1333 spec.policy.overrideRules[0].clusterSelector: no cluster matches: the rule has no effect",
      "b.yaml FLT1333 spec: no placement it belongs to selects Namespace other: it has no effect",
    ]);
  });
});
