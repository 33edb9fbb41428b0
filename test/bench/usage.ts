import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Clock ticks a second in `/proc`: 100 on every Linux that runs Node. */
const ticks = 100;

/** Seconds on a core of all processes in the groups, with the children that they waited for; null where there is no `/proc`. */
export function cpuOfGroups(groups: readonly number[]): number | null {
  const wanted = new Set(groups);
  const processes = entries("/proc").filter((it) => /^\d+$/.test(it));
  if (processes.length === 0) return null;
  const all = processes.map((it) => statOf(it)).filter((it) => it !== null && wanted.has(it.group));
  return all.reduce((sum, it) => sum + (it?.own ?? 0) + (it?.children ?? 0), 0);
}

/** Milliseconds on a core of this process since a moment. */
export function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Seconds on a core of this process's children that have ended; 0 where there is no `/proc`. */
export const cpuOfEndedChildren = (): number => statOf("self")?.children ?? 0;

/** Lets the peak of this process's memory count from here, where the system can. */
export function forgetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // The peak of the whole life is shown then.
  }
}

/** Most memory of this process since {@link forgetPeak}, in MiB. */
export const peakMemory = (): number => peakMemoryOf("self") ?? process.resourceUsage().maxRSS / 1024;

/** Most memory of a process so far, in MiB; null where there is no `/proc`, or no such process any more. */
export function peakMemoryOf(process: number | "self"): number | null {
  const line = /^VmHWM:\s+(\d+) kB/m.exec(textOf(`/proc/${process}/status`) ?? "");
  return line === null ? null : Number(line[1]) / 1024;
}

interface Stat {
  readonly group: number;
  readonly own: number;
  readonly children: number;
}

function statOf(process: string): Stat | null {
  const text = textOf(`/proc/${process}/stat`);
  if (text === null) return null;
  // The second field is the program's name in parentheses, and may hold anything.
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const at = (field: number): number => fields[field - 3] ?? 0;
  return { group: at(5), own: (at(14) + at(15)) / ticks, children: (at(16) + at(17)) / ticks };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function entries(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
