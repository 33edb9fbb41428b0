import { expect, it } from "vitest";
import { problemText } from "../../../src/core/yaml/problems.ts";
import { cluster, type Files, placement, read } from "./reading.ts";

const fleet: Files = {
  "clusters/a.yaml": cluster("a", "env: prod"),
  "clusters/b.yaml": cluster("b", "env: dev"),
  "web.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n",
};

const on = (...names: readonly string[]): string =>
  `  policy: {placementType: PickFixed, clusterNames: [${names.join(", ")}]}\n`;
const some = `  policy:
    placementType: PickAll
    affinity: {clusterAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {clusterSelectorTerms: [{labelSelector: {matchLabels: {env: prod}}}]}}}
`;

const selecting = (name: string, policy: string, selected = "web"): string =>
  placement(name, policy).replace(
    /resourceSelectors: .*/,
    `resourceSelectors: [{group: "", version: v1, kind: Namespace, name: ${selected}}]`,
  );

const of = (a: string, b: string): readonly string[] =>
  read({ ...fleet, "a.yaml": a, "b.yaml": b })
    .problems.filter(({ code }) => code === "FLT1342")
    .map((it) => problemText(it).replace(/^(\S+?):\S+ /, "$1 "));

it.each([
  ["both on all clusters", "", "", "2 clusters, a among them"],
  ["one on all, one on a cluster by name", "", on("b"), "the cluster b"],
  ["different clusters by name", on("a"), on("b"), null],
  ["by labels, which may pick others by then", some, "", null],
])("two placements that name the same object, %s", (_, one, other, want) => {
  const where = `selects for ${want} what placement first (a.yaml) selects as well: whoever of the two has it keeps it, and first gets it where neither does`;
  expect(of(selecting("first", one), selecting("second", other))).toEqual(
    want === null ? [] : [`b.yaml warning FLT1342: spec.resourceSelectors[0]: ${where}; leave it out of one of them`],
  );
});

it("placements of different objects share nothing", () => {
  expect(of(selecting("first", ""), selecting("second", "", "shop"))).toEqual([]);
});
