import { setTimeout as sleep } from "node:timers/promises";

/** Asks again and again until the answer is not null, and fails with `what` when the deadline passes first. */
export async function eventually<T>(what: string, ask: () => Promise<T | null>, limitMs = 60_000): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(50);
  }
}
