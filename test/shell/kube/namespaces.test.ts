// The namespaces of a member: who is asked, what is told at once, and what becomes of a member that refuses.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { NamespacesSeen } from "../../../src/core/model/observation.ts";
import { type ClusterName, minutes, seconds } from "../../../src/core/model/value.ts";
import {
  httpNetwork,
  httpStreams,
  type Network,
  type Streams,
  type WireRequest,
} from "../../../src/shell/kube/client/transport.ts";
import { kubeFleet } from "../../../src/shell/kube/fleet.ts";
import { NamespaceWatch } from "../../../src/shell/kube/watch/namespace-watch.ts";
import { type NamespaceReader, newNamespaceReader } from "../../../src/shell/kube/watch/namespaces.ts";
import type { MemberAddress } from "../../../src/shell/reconcile/ports.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { heartbeats } from "./heartbeats.ts";
import { clock } from "./member-world.ts";
import { type Simulated, startSimulated } from "./simulated.ts";

let simulated: Simulated;
beforeAll(async () => {
  simulated = await startSimulated();
});
afterAll(() => simulated.close());

const cluster = () => simulated.server.cluster("admin");
const idOf = (name: string) => ({ group: "", kind: "Namespace", namespace: null, name });
const make = (name: string, labels: Readonly<Record<string, string>> = {}): void =>
  void cluster().create("somebody", { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } } as JsonObject);
const own = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Who may not do what. */
let refused: { readonly lists: boolean; readonly watches: boolean };
beforeEach(() => {
  cluster().control({ reset: true });
  refused = { lists: false, watches: false };
});

const isOfNamespaces = (url: URL): boolean => url.pathname.endsWith("/api/v1/namespaces");
const forbidden = JSON.stringify({ kind: "Status", status: "Failure", reason: "Forbidden", code: 403 });
const refusal = { status: 403, text: forbidden, retryAfterMs: null, date: null };

/** A network and streams over it, and what was asked of namespaces there: lists by what they accept, and watches. */
function ways(through: Network = httpNetwork) {
  const asked: string[] = [];
  const watched = { opened: 0, ended: 0 };
  const network: Network = {
    ...through,
    async exchange(outgoing) {
      if (!isOfNamespaces(outgoing.url)) return through.exchange(outgoing);
      asked.push(outgoing.headers["Accept"] ?? "");
      return refused.lists ? refusal : through.exchange(outgoing);
    },
  };
  const streams: Streams = {
    async open(outgoing, longestMs, onLine) {
      if (!isOfNamespaces(outgoing.url)) return httpStreams.open(outgoing, longestMs, onLine);
      if (refused.watches) return refusal;
      const opened = await httpStreams.open(outgoing, longestMs, onLine);
      if ("status" in opened) return opened;
      watched.opened += 1;
      void opened.ended.then(() => {
        watched.ended += 1;
      });
      return opened;
    },
  };
  return { asked, watched, network, streams };
}

const addressOf = (...placed: readonly string[]): MemberAddress => ({
  name: "m1" as ClusterName,
  context: "admin",
  namespaces: new Set(placed),
});

/** A fleet whose heartbeats come when they are called for, over a network that may be changed; and what it tells. */
async function watching(change: (by: Pick<ReturnType<typeof ways>, "network" | "streams">) => object = () => ({})) {
  const beats = heartbeats();
  const by = ways(beats.network);
  let rings = 0;
  const watch = { onChange: () => void rings++, heartbeatMs: 60_000 };
  const { network, streams } = { ...by, ...change(by) };
  const fleet = await kubeFleet({ kubeconfig: simulated.kubeconfig, clock, network, streams, watch });
  const tell = async (at: MemberAddress): Promise<NamespacesSeen | null> => {
    const seen = await fleet.observe(at);
    if (seen.kind === "unreachable") throw new Error(seen.message);
    return seen.namespaces ?? null;
  };
  const names = async (at: MemberAddress): Promise<readonly string[]> => {
    const seen = await tell(at);
    return seen?.kind === "listed" ? [...seen.names.keys()].filter((it) => !own.includes(it)) : ["not listed"];
  };
  const { asked, watched } = by;
  return { fleet, beats, asked, watched, tell, names, rings: () => rings };
}

const until = (what: string, isSo: () => Promise<boolean> | boolean) =>
  eventually(what, async () => ((await isSo()) ? true : null), 20_000);

describe("a member that is watched", () => {
  it("is asked for nothing of them where no placement lives in one, and not watched any more once none does", async () => {
    const { fleet, tell, names, asked, watched } = await watching();
    expect([await tell(addressOf()), asked, watched.opened]).toEqual([null, [], 0]);
    expect(await names(addressOf("team"))).toEqual([]);
    expect(asked).toEqual([expect.stringContaining("PartialObjectMetadataList")]);
    await until("it is watched", () => watched.opened === 1);
    expect(await tell(addressOf())).toBeNull();
    await until("it is watched no more", () => watched.ended === 1);
    expect(asked.length).toBe(1);
    await fleet.close();
  });

  it("rings at once for one that placements live in, and with its heartbeat for all others", async () => {
    const { fleet, beats, names, tell, rings, asked, watched } = await watching();
    const at = addressOf("team");
    expect(await names(at)).toEqual([]);
    await until("it is watched", () => watched.opened === 1);
    const before = rings();
    make("other");
    make("team", { "flotilla.dev/placement": "tenants" });
    await until("it rings", () => rings() > before);
    // What nobody waited for comes along, once.
    expect(await names(at)).toEqual(["other", "team"]);
    expect(rings()).toBe(before + 1);
    const told = await tell(at);
    expect(told?.kind === "listed" ? told.names.get("team") : null).toBe("tenants");
    make("another");
    cluster().remove(idOf("other"));
    expect(await tell(at)).toBe(told);
    await until("its heartbeat tells", async () => {
      await beats.next();
      return rings() > before + 1;
    });
    expect(await names(at)).toEqual(["another", "team"]);
    expect(asked.length).toBe(1);
    await fleet.close();
  });

  it("tells what it knows in another way as soon as another placement lives somewhere", async () => {
    const { fleet, names, asked, watched } = await watching();
    make("quiet");
    expect(await names(addressOf("team"))).toEqual(["quiet"]);
    await until("it is watched", () => watched.opened === 1);
    make("late");
    await until("another one is told of", async () => (await names(addressOf("late"))).includes("late"));
    expect([watched.opened, asked.length]).toEqual([1, 1]);
    await fleet.close();
  });

  it("is listed with every heartbeat where it may not be watched (F-47)", async () => {
    refused = { lists: false, watches: true };
    const { fleet, beats, names } = await watching();
    const at = addressOf("team");
    expect(await names(at)).toEqual([]);
    make("team");
    await until("a heartbeat finds it", async () => {
      await beats.next();
      return (await names(at)).includes("team");
    });
    await fleet.close();
  });

  it("says what is missing where it may not be listed, stays reached, and tells once it may (F-47)", async () => {
    refused = { lists: true, watches: true };
    const { fleet, beats, names, tell } = await watching();
    const at = addressOf("team");
    const missing = {
      source: "namespaces",
      code: "Forbidden",
      message: "namespaces may not be read: grant list and watch on namespaces (core API group)",
    };
    const told = await tell(at);
    expect(told).toEqual({ kind: "missing", missing });
    await beats.next();
    expect(await tell(at)).toBe(told);
    refused = { lists: false, watches: false };
    await until("it is listed", async () => {
      await beats.next();
      return (await tell(at))?.kind === "listed";
    });
    expect(await names(at)).toEqual([]);
    await fleet.close();
  });

  it("tells nothing older than before through every new list (F-32)", async () => {
    const { fleet, beats, names, watched } = await watching();
    const at = addressOf("team");
    expect(await names(at)).toEqual([]);
    await until("it is watched", () => watched.opened === 1);
    make("team");
    await until("it is told", async () => (await names(at)).includes("team"));
    for (let beat = 0; watched.opened < 3; beat += 1) {
      expect(beat).toBeLessThan(60);
      expect(await names(at)).toEqual(["team"]);
      await beats.next();
    }
    expect(await names(at)).toEqual(["team"]);
    await fleet.close();
  });
});

it.each([
  { when: "does not know of it yet", name: "told", breaks: false },
  { when: "does not know of it yet, and the one before broke meanwhile", name: "broken", breaks: true },
])("what the watch before told is told after it, although the new one $when (F-32)", async ({ name, breaks }) => {
  const held = { isListing: false, isAnswered: false, release: () => {} };
  const released = new Promise<void>((resolve) => {
    held.release = resolve;
  });
  let tellBefore: (line: string) => void = () => {};
  const { fleet, beats, names, watched } = await watching(({ network, streams }) => ({
    network: {
      ...network,
      async exchange(outgoing: WireRequest) {
        const answer = await network.exchange(outgoing);
        if (!held.isListing || held.isAnswered || !isOfNamespaces(outgoing.url)) return answer;
        held.isAnswered = true;
        await released;
        return answer;
      },
    },
    streams: {
      open: (outgoing: WireRequest, longestMs: number, onLine: (line: string) => void) => {
        if (!isOfNamespaces(outgoing.url)) return streams.open(outgoing, longestMs, onLine);
        if (!held.isListing) tellBefore = onLine;
        return streams.open(outgoing, longestMs, held.isListing ? () => {} : onLine);
      },
    },
  }));
  const at = addressOf(name);
  const before = await names(at);
  await until("it is watched", () => watched.opened === 1);
  for (let beat = 1; beat < 10; beat += 1) {
    await names(at);
    await beats.next();
  }
  held.isListing = true;
  await beats.next();
  await until("it is listed anew", () => held.isAnswered);
  make(name);
  await until("the watch before tells it", async () => (await names(at)).includes(name));
  const tooOld = { type: "ERROR", object: { kind: "Status", code: 410, message: "too old" } };
  if (breaks) tellBefore(JSON.stringify(tooOld));
  held.release();
  await until("the new watch took over", () => beats.isWaiting());
  expect(await names(at)).toEqual([name, ...before].sort());
  await fleet.close();
});

it("what was listed while the last placement went is not told to the next one", async () => {
  const lists: (() => void)[] = [];
  const reader = {
    list: () =>
      new Promise<Awaited<ReturnType<NamespaceReader["list"]>>>((resolve) => {
        const names = new Map([[`list-${lists.length + 1}`, ""]]);
        lists.push(() => resolve({ found: { kind: "listed", names }, resourceVersion: null }));
      }),
    steady: (found: NamespacesSeen) => found,
  };
  const around = { changed: () => {}, broken: () => {}, pause: async () => {} };
  const watch = new NamespaceWatch({ ...around, client: null as never, reader });
  const team = new Set(["team"]);
  const first = watch.look(team);
  await until("it is listed", () => lists.length === 1);
  expect(await watch.look(new Set())).toBeNull();
  lists[0]?.();
  expect(await first).toBeNull();
  const next = watch.look(team);
  await until("it is listed anew", () => lists.length === 2);
  lists[1]?.();
  expect(await next).toEqual({ kind: "listed", names: new Map([["list-2", ""]]) });
});

describe("what a member tells again and again", () => {
  const listed = (...names: readonly string[]): NamespacesSeen => ({
    kind: "listed",
    names: new Map(names.map((it) => [it, ""])),
  });
  const team = new Set(["team"]);
  const missing: NamespacesSeen = {
    kind: "missing",
    missing: { source: "namespaces", code: "TimedOut", message: "late" },
  };
  const never = () => {
    throw new Error("nobody is asked");
  };

  it("is the same object as long as it says the same", () => {
    const { steady } = newNamespaceReader(() => 0, never);
    const first = steady(listed("a", "team"), team);
    expect(steady(listed("a", "team"), team)).toBe(first);
    const refusing = steady(missing, team);
    expect(steady(structuredClone(missing), team)).toBe(refusing);
  });

  it("is believed ten times within ten minutes where placements live, and afterwards again", () => {
    let now: number = minutes(60);
    const { steady } = newNamespaceReader(() => now, never);
    const has = (): boolean => {
      now += seconds(1);
      const told = steady(isThere ? listed("team") : listed(), team);
      return told.kind === "listed" && told.names.has("team");
    };
    let isThere = false;
    expect(has()).toBe(false);
    for (let change = 1; change <= 10; change += 1) {
      isThere = change % 2 === 1;
      expect(has(), `change ${change}`).toBe(isThere);
    }
    isThere = true;
    expect(has()).toBe(false);
    now += minutes(10);
    expect(has()).toBe(true);
  });

  it("is believed as often as it changes where none lives, which is recorded now and then", () => {
    const { steady } = newNamespaceReader(() => 0, never);
    for (let change = 0; change < 30; change += 1) {
      const said = listed(`n${change}`);
      expect(steady(said, team)).toBe(said);
    }
  });

  it("is not believed either where it may be listed and may not, in turns", () => {
    const { steady } = newNamespaceReader(() => 0, never);
    const kinds = Array.from({ length: 20 }, (_, at) => steady(at % 2 === 0 ? listed() : missing, team).kind);
    expect(new Set(kinds.slice(0, 11))).toEqual(new Set(["listed", "missing"]));
    expect(new Set(kinds.slice(11))).toEqual(new Set(["listed"]));
  });
});

it("names that Kubernetes would not accept, marks that are no labels, and what goes away get no further", async () => {
  const names = ["fine", "no such\nname", `x${"y".repeat(63)}`, "-", "Upper", "../up"];
  const items: object[] = names.map((name) => ({
    metadata: { name, labels: { "flotilla.dev/placement": name === "fine" ? "a|b" : "web" } },
  }));
  items.push({ metadata: { name: "going", deletionTimestamp: "2026-11-02T08:00:00Z" } });
  const client = {
    list: async ({ keep }: { keep: (page: readonly object[]) => readonly object[] }) => ({
      kind: "listed",
      items: keep(items),
      resourceVersion: "1",
    }),
  };
  const { found } = await newNamespaceReader(
    () => 0,
    () => client as never,
  ).list();
  expect(found).toEqual({ kind: "listed", names: new Map([["fine", ""]]) });
});

it("a run lists them once per look, by their metadata alone", async () => {
  const { kubeconfig } = simulated;
  make("team");
  const { asked, network } = ways();
  const fleet = await kubeFleet({ kubeconfig, clock, network });
  const seen = await fleet.observe(addressOf("team"));
  const again = await fleet.observe(addressOf("team"));
  expect(seen.kind === "reached" && seen.namespaces?.kind === "listed" && seen.namespaces.names.has("team")).toBe(true);
  expect(again).toBe(seen);
  expect([asked.length, "namespaces" in (await fleet.observe(addressOf()))]).toEqual([2, false]);
  await fleet.close();
});
