import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks again and again until the answer is not null, and fails with `what` when the deadline passes first. Who asks by starting
 * a process asks less often, or asking is what keeps the machine busy.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | null>,
  limitMs = 180_000,
  everyMs = 50,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(everyMs);
  }
}
