// A team's folder through the whole of a pass, over real Git and real HTTP: what a push of it may bring about.
import { afterEach, beforeEach, expect, test } from "vitest";
import { mutations, rest, type Stage, setStage } from "./stage.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(() => stage.close());

const grant = (...namespaces: readonly string[]): string => `
  tenants:
    - path: teams/search/**
      namespaces: [${namespaces.join(", ")}]
      kinds: [ConfigMap, ResourcePlacement]
`;

/** A ConfigMap, and a placement of all those of the team. */
const team = (namespace: string, name = "tuning"): string => `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}, namespace: ${namespace}, labels: {team: search}}
data: {a: b}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourcePlacement
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  resourceSelectors: [{group: "", version: v1, kind: ConfigMap, labelSelector: {matchLabels: {team: search}}}]
  policy: {placementType: PickAll}
  strategy: {rollingUpdate: {maxUnavailable: 100%, unavailablePeriodSeconds: 0}}
`;

/** Namespaces without what is in them, on every cluster. */
const platform = (...names: readonly string[]): string =>
  [
    ...names.map((it) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${it}, labels: {team: search}}\n`),
    `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata: {name: search-namespaces}
spec:
  resourceSelectors:
    - {group: "", version: v1, kind: Namespace, labelSelector: {matchLabels: {team: search}}, selectionScope: NamespaceOnly}
  strategy: {rollingUpdate: {maxUnavailable: 100%, unavailablePeriodSeconds: 0}}
`,
  ].join("---\n");

async function push(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) await stage.hub.write(path, text);
  stage.hub.push("Push");
}

/** What the state branch says of `tuning` in a namespace: its placement, and what clusters are to carry. */
const recorded = (namespace: string): readonly string[] =>
  stage.hub.statePaths().filter((it) => it.includes(`/${namespace}/`) && it.includes("tuning"));

test("I-46 T-24: a commit that widens its grant and uses it places nothing, however often it is read", async () => {
  await push({ "platform/search.yaml": platform("search-a", "search-b") });
  await rest(await stage.reconciler());
  const fleet = await stage.hub.read("fleet.yaml");
  await push({ "fleet.yaml": `${fleet}${grant("search-a")}`, "teams/search/a.yaml": team("search-a") });
  await rest(await stage.reconciler());
  const [own, before] = [recorded("search-a"), mutations(stage)];
  expect(own).not.toEqual([]);

  await push({ "fleet.yaml": `${fleet}${grant("search-a", "search-b")}`, "teams/search/b.yaml": team("search-b") });
  for (let process = 0; process < 2; process++) await rest(await stage.reconciler());
  expect(recorded("search-b")).toEqual([]);
  expect([recorded("search-a"), mutations(stage)]).toEqual([own, before]);
  expect(stage.hub.stateFile("README.md")).toContain("as far as it limits tenants: what is granted more counts");

  // Whoever widened the grant has been heard by the next commit.
  await push({ "teams/search/c.yaml": team("search-a", "other").split("---")[0] ?? "" });
  await rest(await stage.reconciler());
  expect(recorded("search-b")).not.toEqual([]);
});
