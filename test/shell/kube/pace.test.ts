// How many members are asked at once, and what time it is then: a network whose time is in the hands of the test.
import http from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ClusterName } from "../../../src/core/model/value.ts";
import { type EmbeddedServer, startEmbedded } from "../../../src/shell/embedded/server.ts";
import type { Connection } from "../../../src/shell/kube/client/connection.ts";
import type { Kubeconfig } from "../../../src/shell/kube/client/kubeconfig.ts";
import { httpNetwork, type Network, type WireResponse } from "../../../src/shell/kube/client/transport.ts";
import { kubeFleetOver } from "../../../src/shell/kube/fleet.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { actionsOf, clock, namespace, receipt } from "./member-world.ts";
import { plainConnection } from "./plain-connection.ts";

let server: EmbeddedServer;
beforeAll(async () => {
  server = await startEmbedded({ clusters: ["one"], availableAfterMs: 0, now: () => Date.now() });
});
afterAll(() => server.close());

/** The same cluster under any name. */
function everywhere(): Kubeconfig {
  const connections = new Map<string, Connection>();
  const agent = new http.Agent({ keepAlive: true });
  return {
    connection: async (context) => {
      const known = connections.get(context) ?? plainConnection(new URL(server.url("one")), async () => ({}), agent);
      connections.set(context, known);
      return known;
    },
    close: () => {},
  };
}

it("members are asked whether they are still there 64 at a time, and who answers late gives way to the next", async () => {
  const members = Array.from({ length: 70 }, (_, at) => ({ name: `m${at}` as ClusterName, context: `m${at}` }));
  let [isHeld, asked, deadlines] = [false, 0, 0];
  const [answer, second] = [gate(), gate()];
  const network: Network = {
    async exchange(outgoing) {
      if (isHeld && outgoing.url.pathname.endsWith("/kube-system")) {
        asked += 1;
        await answer.opened;
      }
      return httpNetwork.exchange(outgoing);
    },
    pause: (ms, signal) => (isHeld && ms === 1_000 ? second.opened : httpNetwork.pause(ms, signal)),
    deadline(ms) {
      if (isHeld) deadlines += 1;
      return httpNetwork.deadline(ms);
    },
    elapsed: httpNetwork.elapsed,
  };
  const fleet = kubeFleetOver(everywhere(), { clock, network, watch: { onChange: () => {}, heartbeatMs: 600_000 } });
  for (const it of members) expect((await fleet.observe(it)).kind).toBe("reached");
  isHeld = true;
  const acting = Promise.all(members.map((it) => fleet.act(it, actionsOf("another", []))));
  await eventually("as many as may be are asked", async () => (asked === 64 ? true : null));
  // Who has not been asked yet has all of its time left.
  expect(deadlines).toBe(64);
  second.open();
  await eventually("all are asked", async () => (asked === 70 ? true : null));
  isHeld = false;
  answer.open();
  for (const { interrupted } of await acting) expect(interrupted).toContain("it is another cluster now");
  await fleet.close();
});

it("a kind that was just defined is waited for in the network's time", async () => {
  const group = "company.example";
  const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }];
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: { group, scope: "Namespaced", names, versions },
  };
  const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a", namespace: "company" } };
  const pauses: number[] = [];
  let before: WireResponse | null = null;
  const network: Network = {
    ...httpNetwork,
    // The member goes on serving what it served at first, until somebody has waited three times.
    async exchange(outgoing) {
      if (!outgoing.url.pathname.endsWith("/apis") || pauses.length >= 3) return httpNetwork.exchange(outgoing);
      before ??= await httpNetwork.exchange(outgoing);
      return before;
    },
    pause: async (ms) => void pauses.push(ms),
  };
  const fleet = kubeFleetOver(everywhere(), { clock, network });
  const doing = { placement: "company", apply: [namespace("company"), definition, thing] };
  const member = { name: "m1" as ClusterName, context: "m1" };
  const ended = await fleet.act(member, actionsOf(server.cluster("one").uid, [doing]));
  expect(ended).toEqual(receipt({ created: 3 }));
  expect(pauses).toEqual([200, 200, 200]);
  await fleet.close();
});

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
