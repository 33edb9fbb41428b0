import { open, readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "./supervise.ts";

/**
 * Runs `work` while no other process of this machine holds the lock file, and waits for one that does.
 *
 * The file names its holder, so one that died without letting go is passed over. Two that pass over it in the same instant may
 * both work: what is done under a lock must be wasteful when done twice, never wrong.
 */
export async function withLock<T>(path: string, limitMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + limitMs;
  while (!(await take(path))) {
    if (Date.now() > deadline) throw new Error(`${path} is still held after ${limitMs / 60_000} minutes; remove it`);
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    const holder = Number(await readFile(path, "utf8").catch(() => ""));
    if (holder > 0 && !isRunning(holder)) await rm(path, { force: true });
    return false;
  }
}
