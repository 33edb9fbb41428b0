// How members are reached is recorded where fleet.yaml asks for it alone, and leaves the record where it does not any more.
import { beforeEach, describe, expect, it } from "vitest";
import { accessProperties } from "../../../src/core/members/access.ts";
import { defaultFleet } from "../../../src/core/model/fleet.ts";
import { objectKey } from "../../../src/core/model/manifest.ts";
import type { Collected, MissingFacts } from "../../../src/core/model/observation.ts";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { clusterOf } from "../../intent.ts";
import { World } from "../../world.ts";

const address = "k8s.io/cluster-entrypoint";
const authority = "k8s.io/cluster-certificate-authority-data";
const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

describe("how a member is reached, by its kubeconfig", () => {
  const key = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n";
  const cases: readonly [name: string, server: string, pem: string | null, is: readonly (string | null)[]][] = [
    ["its address, and no CA", "https://eu.example:6443", null, ["https://eu.example:6443", null]],
    ["a path, as a proxy has it", "https://r.example/k8s/c-1/", null, ["https://r.example/k8s/c-1", null]],
    [
      "nobody's password, and no query",
      "https://ann:s3cr3t@eu.example/?token=s3cr3t",
      null,
      ["https://eu.example", null],
    ],
    ["its CA", "https://eu.example", certificate, ["https://eu.example", certificate]],
    [
      "all certificates, and no key",
      "https://eu.example",
      `# CA\n${certificate}${key}${certificate}`,
      ["https://eu.example", certificate + certificate],
    ],
    ["no certificate at all", "https://eu.example", key, ["https://eu.example", null]],
    ["all that a machine trusts", "https://eu.example", certificate.repeat(2000), ["https://eu.example", null]],
  ];
  it.each(cases)("%s", (_, server, pem, expected) => {
    const found = accessProperties(new URL(server), pem);
    const ca = found.get(authority);
    expect([found.get(address), ca === undefined ? null : atob(ca)]).toEqual(expected);
  });
});

describe("what is recorded of it", () => {
  const told: Collected = {
    properties: new Map([["np", "5"]]),
    provided: new Map([["tier", "2"]]),
    access: new Map([
      [authority, "Q0E="],
      [address, "https://m1.example"],
    ]),
    machines: [],
    labels: new Map(),
    missing: [],
  };
  const noNodes: MissingFacts = { source: "nodes", code: "Forbidden", message: "nodes may not be read" };
  const m1 = "m1" as ClusterName;
  let world: World;
  beforeEach(() => {
    world = new World();
    world.commit(() => world.join(clusterOf("m1")));
    world.member("m1").collected = told;
    world.pass();
  });

  const asking = (...collect: readonly string[]): void =>
    world.commit(() => {
      world.fleet = { ...defaultFleet, collect };
    });
  const recorded = (): readonly string[] =>
    [...(plan(world.look()).ledger.clusters.get(m1)?.properties ?? [])]
      .filter(([name]) => name.startsWith("k8s.io/cluster-"))
      .map(([name, value]) => `${name}=${value}`);

  it("is nothing, where nobody asks", () => {
    expect(recorded()).toEqual([]);
  });

  it("is what fleet.yaml names, and written once", () => {
    asking(address);
    expect(recorded()).toEqual([`${address}=https://m1.example`]);
    asking(address, authority);
    expect(recorded()).toEqual([`${authority}=Q0E=`, `${address}=https://m1.example`]);
    world.pass();
    const { ledger } = world.look();
    expect(plan(world.look()).ledger).toBe(ledger);
  });

  it("is another address as soon as there is one", () => {
    asking(address);
    world.pass();
    world.member("m1").collected = { ...told, access: new Map([[address, "https://new.example"]]) };
    expect(recorded()).toEqual([`${address}=https://new.example`]);
  });

  const withdrawals: readonly [name: string, happens: () => void][] = [
    ["the member answers", () => {}],
    [
      "the member is silent",
      () => {
        world.member("m1").silence = { code: "Unreachable", message: "timed out" };
      },
    ],
    [
      "its nodes cannot be read",
      () => {
        world.member("m1").collected = { ...told, missing: [noNodes] };
      },
    ],
    [
      "its file cannot be read",
      () => {
        const id = { group: "cluster.kubernetes-fleet.io", kind: "MemberCluster", namespace: null, name: m1 };
        world.unusable = new Set([objectKey(id)]);
        world.clusters.delete(m1);
      },
    ],
  ];
  it.each(withdrawals)("leaves the record where it is not asked for any more, and %s", (_, happens) => {
    asking(address, authority);
    world.pass();
    happens();
    asking();
    expect(recorded()).toEqual([]);
    expect(plan(world.look()).ledger.clusters.get(m1)?.properties.get("np")).toBe("5");
  });

  it("is not what a provider says either, unless it is asked for", () => {
    world.member("m1").collected = { ...told, access: new Map(), provided: new Map([[address, "https://p.example"]]) };
    expect(recorded()).toEqual([]);
    asking(address);
    expect(recorded()).toEqual([`${address}=https://p.example`]);
    world.pass();
    asking();
    expect(recorded()).toEqual([]);
    expect(plan(world.look()).ledger.clusters.get(m1)?.collection.origins.has(address)).toBe(false);
  });
});
