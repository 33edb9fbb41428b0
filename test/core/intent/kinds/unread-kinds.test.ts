import { describe, expect, it } from "vitest";
import type { Intent } from "../../../../src/core/model/intent.ts";
import { configMap, errorsOf, inForce, override, placement, problemsOf, read, readAll } from "../reading.ts";

const group = "placement.kubernetes-fleet.io/v1beta1";

const document = (kind: string, namespace = "shop", apiVersion = group): string =>
  `apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: web${namespace === "" ? "" : `, namespace: ${namespace}`}}
spec: {anything: true}
`;

describe("a document of a kind that does not work yet is an error, since what it asks for would never arrive", () => {
  const kinds: readonly [kind: string, fix: string, apiVersion?: string][] = [
    ["Work", "remove it until a later version supports it"],
    ["PlacementPolicy", "remove it until a later version supports it", "placement.kubefleet.dev/v1alpha1"],
    ["Work", "remove it until a later version supports it", "placement.kubefleet.dev/v1alpha1"],
  ];
  for (const [kind, fix, apiVersion] of kinds)
    it(`${kind} of ${apiVersion ?? group}`, () => {
      expect(problemsOf(document(kind, kind.startsWith("Cluster") ? "" : "shop", apiVersion))).toEqual([
        `2:7: error FLT1900: kind: ${kind} is not yet supported: what it asks for never reaches a cluster; ${fix}`,
      ]);
    });
});

describe("what only the controllers of a hub write is ignored with a warning, since nobody loses anything", () => {
  const kinds: readonly [kind: string, apiVersion?: string][] = [
    ["ClusterResourceBinding"],
    ["ResourceSnapshot"],
    ["ClusterResourcePlacementStatus"],
    ["AppliedWork"],
    ["InternalMemberCluster", "cluster.kubernetes-fleet.io/v1"],
    ["PlacementBinding", "placement.kubefleet.dev/v1alpha1"],
  ];
  for (const [kind, apiVersion] of kinds)
    it(`${kind}`, () => {
      expect(problemsOf(document(kind, "", apiVersion))).toEqual([
        `2:7: warning FLT1900: kind: ${kind} is written by the controllers of a hub; here it is ignored; remove it`,
      ]);
    });

  it("ClusterApprovalRequest, which flotilla writes", () => {
    expect(problemsOf(document("ClusterApprovalRequest", ""))).toEqual([
      "2:7: warning FLT1900: kind: ClusterApprovalRequest is written by flotilla to the state branch; here it is ignored; answer it with flotilla approve",
    ]);
  });
});

describe("a document of a kind that does not work yet costs nothing but itself", () => {
  const before = { "a.yaml": placement("web"), "b.yaml": override("o", "web"), "c.yaml": configMap("web") };
  const team = {
    "team/policy.yaml": document("PlacementPolicy", "web", "placement.kubefleet.dev/v1alpha1"),
    "team/work.yaml": document("Work", "web"),
  };
  const asked = ({ problems: _, files: __, commit: ___, ...rest }: Intent) => rest;

  it("everything else is asked for as it would be without it", () => {
    const intent = readAll(before, { ...before, ...team });
    expect(asked(intent)).toEqual(asked(readAll(before, before)));
    expect(errorsOf(intent)).toHaveLength(2);
  });

  it("what is removed beside it is deleted", () => {
    const { "c.yaml": _, ...rest } = before;
    expect(inForce(readAll(before, { ...rest, ...team }))).toEqual([
      "ClusterResourcePlacement web",
      "ClusterResourceOverride o",
    ]);
  });

  it("advice on other documents stays", () => {
    const nowhere = { "a.yaml": placement("web"), "c.yaml": configMap("web") };
    const advice = (intent: Intent) => intent.problems.filter((it) => it.code === "FLT1341");
    expect(advice(read(nowhere))).toHaveLength(1);
    expect(advice(read({ ...nowhere, ...team }))).toHaveLength(1);
  });

  it("but without a namespace it may be a misspelt one, and what has its name is not deleted for it", () => {
    const misspelt = { ...before, "a.yaml": placement("web").replace("ClusterResourcePlacement", "Work") };
    const intent = readAll(before, misspelt);
    expect(inForce(intent)).toContain("ClusterResourcePlacement web (held c1 a.yaml#0)");
    expect([...intent.suspects.values()]).toEqual(["the Work in a.yaml:1 has its name and no namespace"]);
  });

  it("with a namespace it is no other object: the placement that it replaces is deleted", () => {
    const moved = { ...before, "a.yaml": document("Work", "web") };
    expect(inForce(readAll(before, moved))).toEqual(["ClusterResourceOverride o", "ConfigMap web/web"]);
  });
});
