import { socketsPerMember } from "./connection.ts";

/**
 * Does all of the work, so much of it at once as a member is sent requests at once.
 *
 * What waits for its turn has not begun, so a member with a thousand objects to write costs no more than one with twenty.
 */
export async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const lane = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(socketsPerMember, items.length) }, lane));
}
