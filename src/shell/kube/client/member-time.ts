import type { DurationMs, Instant } from "../../../core/model/value.ts";
import type { Network, StreamingResponse, Streams, WireResponse } from "./transport.ts";

/** The time at a member right now; null when it has not told within the last minutes. */
export type MemberTime = () => Instant | null;

/** Network and streams to a member, and the time that its responses tell. */
export interface TimedTransport {
  readonly network: Network;
  readonly streams: Streams;
  readonly time: MemberTime;
}

/** Several heartbeats of a watched member: by default there is one a minute. */
const maxAgeMs = 5 * 60_000;

/** At most one response a second is read. */
const minIntervalMs = 1_000;

/**
 * Tracks the time at one member: every response of an API server has it in its `Date` header (RFC 9110 §6.6.1).
 *
 * It is carried forward by {@link Network.elapsed}, so that a jump of our own clock shows at once, before the next
 * response (`rollout/README.md#i-06`, `kube/README.md#f-50`). It counts for the middle of the exchange, which it
 * misses by half its duration at most, and by the second to which the header is written.
 */
export function trackMemberTime(network: Network, streams: Streams): TimedTransport {
  let said: { readonly theirs: number; readonly at: number } | null = null;
  const listen = async <T extends WireResponse | StreamingResponse>(ask: () => Promise<T>): Promise<T> => {
    const sent = network.elapsed();
    const answer = await ask();
    const at = (sent + network.elapsed()) / 2;
    if (said !== null && at - said.at < minIntervalMs) return answer;
    const theirs = instantOf(answer.date);
    if (theirs !== null) said = { theirs, at };
    return answer;
  };
  return {
    network: {
      exchange: (outgoing) => listen(() => network.exchange(outgoing)),
      pause: (ms, signal) => network.pause(ms, signal),
      deadline: (ms) => network.deadline(ms),
      elapsed: () => network.elapsed(),
    },
    streams: { open: (...asked) => listen(() => streams.open(...asked)) },
    time() {
      if (said === null) return null;
      const since = network.elapsed() - said.at;
      return since > maxAgeMs ? null : ((said.theirs + since) as Instant);
    },
  };
}

/** `Sat, 21 Nov 2026 12:00:00 GMT`: the one form in which dates are sent (RFC 9110 §5.6.7). Null for anything else. */
function instantOf(date: string | null): number | null {
  if (date === null || !/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/.test(date)) return null;
  const at = Date.parse(date);
  return Number.isNaN(at) ? null : at;
}

/** By how much our clock is ahead of a member's, in whole seconds; null when the member's is not known. */
export const clockOffsetOf = (ours: Instant, theirs: Instant | null): DurationMs | null =>
  theirs === null ? null : ((Math.floor((ours - theirs) / 1000) * 1000) as DurationMs);
