// What the commands that only read say of a member, from its record and from the file that was accepted last.
import { afterEach, beforeEach, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";
import type { Commit } from "../../src/core/model/value.ts";
import { type Clone, clonesWith } from "../shell/git/clone.ts";
import { recordStateIn } from "./record-state.ts";
import { ledgerOf, memberRecord, on, web } from "./rollout-ledger.ts";

const clones = clonesWith({ "members.yaml": "# none yet\n" });
let place: Clone;
beforeEach(() => {
  place = clones();
  const ledger = { ...ledgerOf([web([on("east", 3)])], [], [east]), sourceCommit: "c".repeat(40) as Commit };
  recordStateIn(place, ledger, { "clusters/east.yaml": file });
  place.git("fetch", "--quiet");
});
afterEach(() => place.remove());

const east = memberRecord("east", {
  properties: new Map([
    ["k8s.io/cluster-certificate-authority-data", "L".repeat(1604)],
    ["resources.kubernetes-fleet.io/available-cpu", "5"],
  ]),
});

const file = `apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata: {name: east, labels: {region: eu}}
spec: {identity: {kind: ServiceAccount, name: hub, namespace: fleet-system}}
status: {properties: {kubernetes-fleet.io/node-count: {value: "3"}}}
`;

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function flotilla(...argv: readonly string[]): Promise<Said> {
  const said = { out: "", err: "" };
  const out = (text: string): void => {
    said.out += text;
  };
  const err = (text: string): void => {
    said.err += text;
  };
  const code = await main([...argv, "--repo", place.path], { out, err, environment: {} });
  return { code, ...said };
}

const cellsOf = (out: string): readonly (readonly string[])[] => out.split("\n").map((it) => it.trim().split(/ {2,}/));

test("describe cluster has its file, who says which property, and what it carries", async () => {
  const { code, out } = await flotilla("describe", "cluster", "east");
  expect(code).toBe(0);
  expect(out).toContain("\n  defined in clusters/east.yaml:1\n");
  const cells = cellsOf(out);
  expect(cells).toContainEqual(["kubernetes-fleet.io/node-count", "3", "file"]);
  const authority = `${"L".repeat(60)}… (1604 characters)`;
  expect(cells).toContainEqual(["k8s.io/cluster-certificate-authority-data", authority, "cluster"]);
  expect(cells).toContainEqual(["resources.kubernetes-fleet.io/available-cpu", "5", "cluster"]);
  expect(cells.at(-2)).toEqual(["web", "3", "Bound", "True", expect.any(String)]);
});

test("describe cluster has the same for programs, in the order of the names", async () => {
  const { code, out } = await flotilla("describe", "cluster", "east", "-o", "json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    cluster: { kind: "MemberCluster", metadata: { name: "east" } },
    properties: [
      { name: "k8s.io/cluster-certificate-authority-data", value: "L".repeat(1604), from: "cluster" },
      { name: "kubernetes-fleet.io/node-count", value: "3", from: "file" },
      { name: "resources.kubernetes-fleet.io/available-cpu", value: "5", from: "cluster" },
    ],
    placements: ["web"],
  });
});

test("describe cluster names the clusters there are, for one that there is not", async () => {
  const { code, err } = await flotilla("describe", "cluster", "west");
  expect(code).toBe(64);
  expect(err).toContain("east");
});

test("get clusters -o wide has nodes and resources, by the record and by the file", async () => {
  const { out } = await flotilla("get", "clusters", "-o", "wide");
  const [header = [], row = []] = out.split("\n").map((it) => it.trim().split(/ +/));
  expect(header.slice(-5)).toEqual(["NODES", "CPU", "MEMORY", "COST/CORE", "MEASURED"]);
  expect(row.slice(-5)).toEqual(["3", "5/-", "-", "-", "-"]);
  expect((await flotilla("get", "clusters")).out).not.toContain("NODES");
});
