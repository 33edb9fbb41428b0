// The fleet that watches, beyond the contract: what it holds on to, what wakes it, and what it does when watches break.
import { setMaxListeners } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import { MemberUnreachable } from "../../../src/shell/kube/client/member-unreachable.ts";
import { httpNetwork, httpStreams, type Network, type Streams } from "../../../src/shell/kube/client/transport.ts";
import { type KubeFleetOptions, kubeFleet } from "../../../src/shell/kube/fleet.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { heartbeats } from "./heartbeats.ts";
import { heldList } from "./held-list.ts";
import {
  actionsOf,
  clock,
  configMap,
  type Doing,
  departure,
  deployment,
  entriesOf,
  namespace,
  rendered,
  type Stage,
  stageOn,
} from "./member-world.ts";
import { type Simulated, startSimulated } from "./simulated.ts";

let simulated: Simulated;
let stage: Stage;
beforeAll(async () => {
  simulated = await startSimulated();
  stage = await stageOn(simulated, "watches");
  const apply = [namespace("shop"), configMap("shop/a", { a: "1" }), configMap("shop/b", {}), deployment("shop/web")];
  await stage.act({ placement: "shop", apply });
});
afterAll(async () => {
  stage.client.close();
  await stage.fleet.close();
  await simulated.close();
});

const cluster = () => simulated.server.cluster("admin");
const settings = { group: "", kind: "ConfigMap", namespace: "shop", name: "a" };
const web = { group: "apps", kind: "Deployment", namespace: "shop", name: "web" };

/** A watching fleet of its own, with a count of its rings. */
async function watching(options: Partial<KubeFleetOptions> & { readonly heartbeatMs?: number } = {}) {
  const { heartbeatMs = 60_000, ...others } = options;
  let rings = 0;
  const onChange = (): void => void rings++;
  const { kubeconfig } = simulated;
  const fleet = await kubeFleet({ kubeconfig, clock, deadlineMs: 5_000, ...others, watch: { onChange, heartbeatMs } });
  const see = (): Promise<Observation> => fleet.observe(stage.admin);
  await see();
  return { fleet, see, rings: () => rings };
}

const until = (what: string, isSo: () => Promise<boolean>) =>
  eventually(what, async () => ((await isSo()) ? true : null));

const watches = (): number =>
  Object.entries(cluster().counters.requests).reduce((sum, [key, count]) => sum + (/^watch/.test(key) ? count : 0), 0);

const lists = (): number =>
  Object.entries(cluster().counters.requests).reduce((sum, [key, count]) => sum + (/^list/.test(key) ? count : 0), 0);

describe("what is held of a member", () => {
  it("stays the same object while nothing changes that matters, through every new list", async () => {
    const { fleet, see, rings } = await watching({ heartbeatMs: 20 });
    const [before, rung, listed] = [await see(), rings(), lists()];
    cluster().patch("somebody", settings, { metadata: { labels: { team: "them" } } });
    cluster().patch("kubelet", web, { status: { replicas: 2 } });
    await until("everything was listed again", async () => {
      await see();
      return lists() > listed + 8;
    });
    expect(await see()).toBe(before);
    expect(rings()).toBe(rung);
    await fleet.close();
  });

  it("keeps what did not change, and rings for what did", async () => {
    const { fleet, see, rings } = await watching();
    const [before, rung] = [await see(), rings()];
    cluster().remove({ ...settings, name: "b" });
    await until("it rings", async () => rings() > rung);
    const after = await see();
    if (before.kind === "unreachable" || after.kind === "unreachable") throw new Error("it is unreachable");
    expect(after.inventory).toBe(before.inventory);
    const gone = [...before.objects.keys()].filter((it) => !after.objects.has(it));
    expect(gone.length).toBe(1);
    expect([...after.objects].every(([key, it]) => before.objects.get(key) === it)).toBe(true);
    cluster().create("somebody", configMap("shop/b", {}));
    await fleet.close();
    // No watch covers it: other tests begin once a heartbeat has found it.
    await stage.see();
  });

  it("is reached, however long it takes to list its nodes and pods", async () => {
    const deadlineMs = 20_000;
    const set: AbortController[] = [];
    const network: Network = {
      ...httpNetwork,
      deadline(ms) {
        if (ms !== deadlineMs) return httpNetwork.deadline(ms);
        const over = new AbortController();
        setMaxListeners(0, over.signal);
        set.push(over);
        return over.signal;
      },
      async exchange(outgoing) {
        const answer = await httpNetwork.exchange(outgoing);
        // The time for the requests before it is over meanwhile.
        if (outgoing.url.pathname.endsWith("/nodes")) for (const it of set.splice(0)) it.abort();
        return answer;
      },
    };
    const { fleet, see } = await watching({ network, deadlineMs });
    expect((await see()).kind).toBe("reached");
    expect(set).not.toEqual([]);
    await fleet.close();
  });

  it("costs no request while nothing happens", async () => {
    const { fleet, see } = await watching();
    await see();
    const asked = cluster().counters.total;
    for (let looks = 0; looks < 20; looks += 1) await see();
    expect(cluster().counters.total).toBe(asked);
    await fleet.close();
  });
});

describe("while everything is listed again", () => {
  it("nothing older is given than before, of what no watch covers either", async () => {
    const again = configMap("shop/again", {});
    await stage.act({ placement: "again", apply: [again] });
    const ours = await stage.see();
    const beats = heartbeats();
    const held = heldList("/deployments", beats.network);
    let [isListing, isListed] = [false, false];
    const network: Network = {
      ...held.network,
      async exchange(outgoing) {
        const { pathname } = outgoing.url;
        if (isListing && pathname.endsWith("/api/v1/configmaps")) cluster().remove({ ...settings, name: "again" });
        const answer = await held.network.exchange(outgoing);
        if (isListing && pathname.endsWith("/again")) isListed = true;
        return answer;
      },
    };
    const { fleet, see } = await watching({ network });
    const { key } = rendered(again);
    const isThere = async (): Promise<boolean> => {
      const seen = await see();
      return seen.kind === "reached" && seen.objects.has(key);
    };
    for (let beat = 1; beat < 10; beat += 1) {
      await see();
      await beats.next();
    }
    isListing = true;
    held.hold();
    await beats.next();
    await until("it is listed without the object", async () => isListed && held.isHolding());
    cluster().create("somebody", again);
    await until("the watch of before gives it", isThere);
    held.release();
    await until("the new watch took over", async () => beats.isWaiting());
    expect(await isThere()).toBe(true);
    await fleet.close();
    cluster().remove({ ...settings, name: "again" });
    await stage.act({ placement: "again", sequence: 2, remove: [departure(ours, "again", again)], leaves: true });
  });

  it.each([
    { when: "has not been told yet", name: "told", breaks: false },
    { when: "has not been told yet, and the one before broke meanwhile", name: "broken", breaks: true },
  ])("nothing older is given than before, although the new watch $when", async ({ name, breaks }) => {
    // An object for each: what somebody took over of one is ours no more.
    const own = configMap(`shop/${name}`, { a: "1" });
    await stage.act({ placement: name, apply: [own] });
    const beats = heartbeats();
    const held = heldList("/deployments", beats.network);
    let isListing = false;
    const tellBefore = new Map<string, (line: string) => void>();
    const streams: Streams = {
      open: (outgoing, longestMs, onLine) => {
        if (!isListing) tellBefore.set(outgoing.url.pathname, onLine);
        return httpStreams.open(outgoing, longestMs, isListing ? () => {} : onLine);
      },
    };
    const { fleet, see } = await watching({ network: held.network, streams });
    const { key } = rendered(own);
    const look = async () => {
      const seen = await see();
      return seen.kind === "reached" ? seen.objects.get(key)?.fingerprint : undefined;
    };
    const before = await look();
    for (let beat = 1; beat < 10; beat += 1) {
      await see();
      await beats.next();
    }
    isListing = true;
    held.hold();
    const opened = watches();
    await beats.next();
    await until("it is listed, and only waits for the rest", async () => held.isHolding() && watches() >= opened + 3);
    cluster().apply("somebody", configMap(`shop/${name}`, { a: "since then" }));
    await until("the watch of before gives it", async () => (await look()) !== before);
    const after = await look();
    const tooOld = JSON.stringify({ type: "ERROR", object: { kind: "Status", code: 410, message: "too old" } });
    if (breaks) tellBefore.get("/clusters/admin/api/v1/configmaps")?.(tooOld);
    held.release();
    await until("the new watch took over", async () => beats.isWaiting());
    const seen = await look();
    await fleet.close();
    expect(seen).toBe(after);
  });
});

describe("what we wrote", () => {
  const hold: readonly {
    name: string;
    placement: string;
    lines: (onLine: (line: string) => void) => (line: string) => void;
  }[] = [
    { name: "tell late", placement: "late", lines: (onLine) => (line) => void setTimeout(onLine, 200, line) },
    { name: "never tell", placement: "silent", lines: () => () => {} },
  ];
  it.each(hold)("is in the next observation, even when watches $name", async ({ placement, lines }) => {
    const streams: Streams = {
      open: (outgoing, longestMs, onLine) => httpStreams.open(outgoing, longestMs, lines(onLine)),
    };
    const { fleet, see } = await watching({ streams });
    const late = configMap(`shop/${placement}`, { a: "1" });
    const act = async (sequence: number, doing: Partial<Doing>) =>
      fleet.act(stage.admin, actionsOf(stage.uid, [{ placement, sequence, ...doing }]));
    const { key } = rendered(late);
    expect(await act(1, { apply: [late] })).toMatchObject({ created: 1 });
    const made = await see();
    if (made.kind === "unreachable") throw new Error(made.message);
    const uid = made.objects.get(key)?.uid ?? null;
    expect(uid).toBe(entriesOf(made, placement).get(key)?.uid);
    expect(await act(2, { apply: [configMap(`shop/${placement}`, { a: "2" })] })).toMatchObject({ configured: 1 });
    const changed = await see();
    if (changed.kind === "unreachable") throw new Error(changed.message);
    expect(changed.objects.get(key)?.fingerprint).toBe(entriesOf(changed, placement).get(key)?.fingerprint);
    expect(changed.objects.get(key)?.fingerprint).not.toBe(made.objects.get(key)?.fingerprint);
    const remove = [departure(changed, placement, late)];
    expect(await act(3, { remove, leaves: true })).toMatchObject({ deleted: 1 });
    const gone = await see();
    expect(gone.kind === "reached" && gone.objects.has(key)).toBe(false);
    await fleet.close();
  });
});

describe("when a watch breaks", () => {
  it("a member that is down is said to be, and what it missed is there when it is back", async () => {
    const { fleet, see, rings } = await watching();
    const rung = rings();
    cluster().control({ faults: { down: true } });
    await until("it is lost", async () => (await see()).kind === "unreachable");
    expect(await see()).toMatchObject({ kind: "unreachable", code: "Unreachable" });
    expect(await see()).toBe(await see());
    expect(rings()).toBeGreaterThan(rung);
    cluster().apply("somebody", configMap("shop/a", { a: "while you were away" }));
    cluster().control({ faults: { down: false } });
    expect(await stage.look(stage.admin, fleet)).toMatchObject({ kind: "reached" });
    await fleet.close();
  });

  it("a member whose past is forgotten meanwhile is listed again", async () => {
    const { fleet, see } = await watching();
    cluster().control({ faults: { down: true } });
    for (let at = 0; at < 600; at += 1) cluster().apply("somebody", configMap("shop/a", { a: String(at) }));
    cluster().control({ faults: { down: false } });
    await see();
    expect(await stage.look(stage.admin, fleet)).toMatchObject({ kind: "reached" });
    await fleet.close();
  });

  it("a member that falls silent is found out by its heartbeat, and found again (F-35)", async () => {
    const { fleet, see } = await watching({ heartbeatMs: 50, deadlineMs: 300 });
    cluster().control({ faults: { hang: true } });
    await until("it is lost", async () => (await see()).kind === "unreachable");
    expect(await see()).toEqual({ kind: "unreachable", code: "Unreachable", message: "timed out" });
    cluster().control({ faults: { hang: false } });
    expect(await stage.look(stage.admin, fleet)).toMatchObject({ kind: "reached" });
    await fleet.close();
  });

  it("an action on a member that fell silent ends with the member's deadline, not with the action's", async () => {
    const { fleet } = await watching({ deadlineMs: 300 });
    cluster().control({ faults: { hang: true } });
    const began = performance.now();
    const { interrupted } = await fleet.act(stage.admin, { cluster: "m1", placements: [] } as never);
    expect(interrupted).toBe("timed out");
    expect(performance.now() - began).toBeLessThan(5_000);
    cluster().control({ faults: { hang: false } });
    await fleet.close();
  });
});

it("a member about which nobody asks any more is not watched any more, and is watched again once somebody does", async () => {
  const { fleet, see, rings } = await watching({ heartbeatMs: 20 });
  let [edits, heard] = [0, -1];
  await until("a change does not onChange", async () => {
    const isDeaf = heard === rings();
    heard = rings();
    cluster().patch("somebody", settings, labelled(edits++ % 2 === 0 ? null : "shop"));
    return isDeaf;
  });
  expect(await stage.look(stage.admin, fleet)).toBe(await see());
  expect(rings()).toBeGreaterThan(heard);
  await fleet.close();
});

it("a member that is lost and about which nobody asks any more is not tried any more", async () => {
  let tries = 0;
  const network: Network = {
    ...httpNetwork,
    exchange: (outgoing) => httpNetwork.exchange(outgoing).finally(() => tries++),
    pause: (ms, signal) => httpNetwork.pause(Math.min(ms, 5), signal),
  };
  const { fleet, see } = await watching({ network });
  cluster().control({ faults: { down: true } });
  await until("it is lost", async () => (await see()).kind === "unreachable");
  let counted = -1;
  await until("it is not tried", async () => {
    const isQuiet = counted === tries;
    counted = tries;
    return isQuiet;
  });
  cluster().control({ faults: { down: false } });
  expect(await stage.look(stage.admin, fleet)).toMatchObject({ kind: "reached" });
  await fleet.close();
});

describe("watches that nobody needs any more are closed", () => {
  it("when an action breaks off while everything is listed again", async () => {
    const held = holding();
    const { fleet, see } = await watching({ heartbeatMs: 20, ...held });
    // The inventory and the kinds of the placement.
    const needed = 4;
    await until("all are open", async () => held.open() === needed);
    held.hold();
    await until("it is being listed again", async () => (await see()).kind === "reached" && held.isHolding());
    const { interrupted } = await fleet.act(stage.admin, actionsOf("another cluster", []));
    expect(interrupted).toContain("it is another cluster now");
    held.release();
    expect(await see()).toMatchObject({ kind: "reached" });
    await until("the old ones are closed", async () => (await see()).kind === "reached" && held.open() === needed);
    await fleet.close();
  });

  it("when all is closed while a member is listed", async () => {
    const held = holding();
    held.hold();
    const { kubeconfig } = simulated;
    const fleet = await kubeFleet({ kubeconfig, clock, ...held, watch: { onChange: () => {}, heartbeatMs: 60_000 } });
    const seeing = fleet.observe(stage.admin);
    await until("it is being listed", async () => held.isHolding());
    await fleet.close();
    held.release();
    expect(await seeing).toMatchObject({ kind: "unreachable", message: "it is no longer watched" });
    await until("all are closed", async () => held.open() === 0);
  });
});

/** Lists of the inventory that can be held back, and the number of watches that are open. */
function holding() {
  let open = 0;
  const streams: Streams = {
    async open(outgoing, longestMs, onLine) {
      const opened = await httpStreams.open(outgoing, longestMs, onLine);
      if (!("ended" in opened)) return opened;
      open += 1;
      void opened.ended.then(() => {
        open -= 1;
      });
      return opened;
    },
  };
  return { ...heldList("/flotilla-system/configmaps"), streams, open: () => open };
}

it("gives what a list gives after any number of edits by anybody (F-32)", async () => {
  const { fleet } = await watching({ heartbeatMs: 100 });
  const random = randomFrom(7);
  const names = ["a", "b", "c", "d"];
  for (let round = 0; round < 6; round += 1) {
    for (let edit = 0; edit < 40; edit += 1) editAtRandom(random, names);
    const apply = names
      .filter(() => random(2) === 0)
      .map((name) => configMap(`shop/${name}`, { round: String(round) }));
    await stage.act({ placement: "shop", sequence: 10 + round, apply });
    if (random(3) === 0) cluster().control({ faults: { down: true } });
    cluster().control({ faults: { down: false } });
    expect(await stage.look(stage.admin, fleet)).toMatchObject({ kind: "reached" });
  }
  await fleet.close();
}, 60_000);

/** What somebody may do to an object: make it, change it, take our label off or put it on, delete it. */
function editAtRandom(random: (below: number) => number, names: readonly string[]): void {
  const name = names[random(names.length)] ?? "a";
  const at = { ...settings, name };
  const isThere = cluster().get(at) !== null;
  const change: readonly (() => void)[] = [
    () => cluster().apply("somebody", configMap(`shop/${name}`, { a: String(random(3)) })),
    () => isThere && cluster().patch("somebody", at, labelled(random(2) === 0 ? null : "shop")),
    () => isThere && cluster().patch("somebody", at, { data: { theirs: String(random(9)) } }),
    () => isThere && cluster().remove(at),
  ];
  change[random(change.length)]?.();
}

const labelled = (placement: string | null): JsonObject => ({
  metadata: { labels: { "flotilla.dev/placement": placement } },
});

/** Numbers below a bound, the same ones for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

it("looks that fail three times in a row leave nothing old behind, and it rings when the member is back", async () => {
  let [isBroken, failed, opens, made, told] = [false, 0, 0, 0, 0];
  const isInventory = (url: URL): boolean => url.pathname.endsWith("/flotilla-system/configmaps");
  const change = async (): Promise<void> => {
    const before = told;
    made += 1;
    await stage.act({ placement: "third", sequence: made, apply: [configMap(`shop/third-${made}`, {})] });
    await until("the watch tells of the inventory", async () => told > before);
  };
  const network: Network = {
    ...httpNetwork,
    pause: (ms, signal) => (ms > 500 ? Promise.resolve() : httpNetwork.pause(ms, signal)),
    async exchange(outgoing) {
      const { url } = outgoing;
      // Who opens a watch asks who the member is; who looks asks for the inventory alone.
      if (url.pathname.endsWith("/kube-system")) opens += 1;
      else if (isInventory(url) && isBroken) {
        if (opens === 0) {
          failed += 1;
          throw new MemberUnreachable("Unreachable", "lost on the way");
        }
        opens = 0;
        return httpNetwork.exchange(outgoing);
      } else if (isBroken && url.pathname.endsWith("/deployments") && failed < 3) {
        // While a watch is opened, somebody writes the inventory: the look that waits for it has to read it again.
        await change();
      }
      return httpNetwork.exchange(outgoing);
    },
  };
  const streams: Streams = {
    open: (outgoing, longestMs, onLine) =>
      httpStreams.open(outgoing, longestMs, (line) => {
        onLine(line);
        if (isInventory(outgoing.url) && !line.includes("BOOKMARK")) told += 1;
      }),
  };
  const { fleet, see, rings } = await watching({ network, streams });
  await change();
  [isBroken, opens] = [true, 0];
  expect(await see()).toMatchObject({ kind: "unreachable" });
  expect(failed).toBe(3);
  isBroken = false;
  const rung = rings();
  await until("it rings", async () => rings() > rung);
  const seen = await see();
  if (seen.kind === "unreachable") throw new Error(seen.message);
  expect(entriesOf(seen, "third").has(rendered(configMap(`shop/third-${made}`, {})).key)).toBe(true);
  await fleet.close();
});
