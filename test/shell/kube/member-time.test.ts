import { describe, expect, it } from "vitest";
import type { Instant } from "../../../src/core/model/value.ts";
import { startEmbedded } from "../../../src/shell/embedded/server.ts";
import { clockOffsetOf, trackMemberTime } from "../../../src/shell/kube/client/member-time.ts";
import { MemberUnreachable } from "../../../src/shell/kube/client/member-unreachable.ts";
import type {
  Network,
  StreamingResponse,
  Streams,
  WireRequest,
  WireResponse,
} from "../../../src/shell/kube/client/transport.ts";
import { noon } from "./member-world.ts";

const noonText = "Sat, 21 Nov 2026 12:00:00 GMT";

/** A member that says what it is told to say, and takes as long as it is told to. */
function scene() {
  let now = 7_000;
  let [date, tookMs]: [string | null | MemberUnreachable, number] = [null, 0];
  const answer = <T>(rest: T): Promise<T & { readonly date: string | null }> => {
    now += tookMs;
    return date instanceof MemberUnreachable ? Promise.reject(date) : Promise.resolve({ ...rest, date });
  };
  const network: Network = {
    exchange: () => answer({ status: 503, retryAfterMs: null, text: "" }),
    pause: async () => {},
    deadline: () => new AbortController().signal,
    elapsed: () => now,
  };
  const streams: Streams = {
    open: () => answer({ kind: "streaming", ended: Promise.resolve(null), stop: () => {} } as const),
  };
  const heard = trackMemberTime(network, streams);
  return {
    ask: (said: string | null | MemberUnreachable, took = 0): Promise<WireResponse> => {
      [date, tookMs] = [said, took];
      return heard.network.exchange(request);
    },
    watch: (said: string): Promise<WireResponse | StreamingResponse> => {
      [date, tookMs] = [said, 0];
      return heard.streams.open(request, 1, () => {});
    },
    pass: (ms: number) => {
      now += ms;
    },
    /** Seconds after noon. */
    time: () => {
      const it = heard.time();
      return it === null ? null : (it - noon) / 1000;
    },
  };
}

// Nobody reads it.
const request = {} as WireRequest;

describe("the time at a member", () => {
  it("is not known before it has answered", () => {
    expect(scene().time()).toBeNull();
  });

  it("is what any answer says, and goes on from there (F-50)", async () => {
    const { ask, pass, time } = scene();
    expect(await ask(noonText)).toEqual({ status: 503, retryAfterMs: null, date: noonText, text: "" });
    expect(time()).toBe(0);
    pass(90_000);
    expect(time()).toBe(90);
  });

  it("is what the answer to a watch says", async () => {
    const { watch, time } = scene();
    await watch(noonText);
    expect(time()).toBe(0);
  });

  it("counts for the middle of the exchange", async () => {
    const { ask, time } = scene();
    await ask(noonText, 4_000);
    expect(time()).toBe(2);
  });

  it("is that of the latest answer, of which one a second is read", async () => {
    const { ask, pass, time } = scene();
    await ask(noonText);
    pass(900);
    await ask("Sat, 21 Nov 2026 13:00:00 GMT");
    expect(time()).toBe(0.9);
    pass(100);
    await ask("Sat, 21 Nov 2026 14:00:00 GMT");
    expect(time()).toBe(7200);
  });

  it("is not known any more when nothing was heard for five minutes", async () => {
    const { ask, pass, time } = scene();
    await ask(noonText);
    pass(300_000);
    expect(time()).toBe(300);
    pass(1);
    expect(time()).toBeNull();
    await ask(noonText);
    expect(time()).toBe(0);
  });

  it("is not learned from a member that is lost", async () => {
    const { ask, pass, time } = scene();
    await ask(noonText);
    pass(2_000);
    await expect(ask(new MemberUnreachable("Unreachable", "no answer"))).rejects.toThrow("no answer");
    expect(time()).toBe(2);
  });

  it.each<[string, string | null]>([
    ["no date", null],
    ["an empty one", ""],
    ["no date of HTTP", "2026-11-21T12:00:00Z"],
    ["two dates", `${noonText}, ${noonText}`],
    ["a month that is none", "Sat, 21 Foo 2026 12:00:00 GMT"],
    ["a day with 25 hours", "Sat, 21 Nov 2026 25:00:00 GMT"],
    ["a page of text", "x".repeat(10_000)],
  ])("is not learned from %s", async (_, date) => {
    const { ask, pass, time } = scene();
    await ask(date);
    expect(time()).toBeNull();
    await ask(noonText);
    pass(5_000);
    await ask(date);
    expect(time()).toBe(5);
  });
});

it.each<[number, number | null, number | null]>([
  [0, 0, 0],
  [0, null, null],
  [61_000, 0, 61_000],
  [60_999, 0, 60_000],
  [0, 61_000, -61_000],
])("a clock at %i that a member has at %s is ahead by %s ms, in whole seconds", (ours, theirs, offset) => {
  const at = (ms: number): Instant => (noon + ms) as Instant;
  expect(clockOffsetOf(at(ours), theirs === null ? null : at(theirs))).toBe(offset);
});

it("a simulated member tells the time of the simulation, in answers, refusals and watches", async () => {
  const server = await startEmbedded({ clusters: ["m1"], tokens: { m1: "secret" }, now: () => noon });
  const dates: unknown[] = [];
  const headers = { authorization: "Bearer secret" };
  for (const [path, sent] of [
    ["/api/v1/namespaces", headers],
    ["/api/v1/namespaces", {}],
    ["/api/v1/namespaces?watch=1&timeoutSeconds=60", headers],
  ] as const) {
    const response = await fetch(server.url("m1") + path, { headers: sent });
    dates.push([response.status, response.headers.get("date")]);
    await response.body?.cancel();
  }
  expect(dates).toEqual([
    [200, noonText],
    [401, noonText],
    [200, noonText],
  ]);
  await server.close();
});
