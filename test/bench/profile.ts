import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

let session: Session | null = null;

/** Begins a CPU profile of this process. */
export async function startProfile(): Promise<void> {
  session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 1000 });
  await session.post("Profiler.start");
}

/** Ends it and writes it to a file that Chrome's DevTools and speedscope open. */
export async function endProfile(file: string): Promise<void> {
  if (session === null) return;
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  session = null;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(profile));
}

/**
 * Writes into a profile which source files its functions come from, in place of files of the bundle, which is gone when
 * somebody looks at it.
 */
export function nameSources(file: string): void {
  const profile = JSON.parse(readFileSync(file, "utf8")) as Profiler.Profile;
  const sources = new Map<string, readonly Heading[]>();
  for (const { callFrame } of profile.nodes) {
    const { url, lineNumber } = callFrame;
    if (!url.startsWith("file:")) continue;
    const headings = sources.get(url) ?? headingsOf(url);
    sources.set(url, headings);
    callFrame.url = headings.findLast((it) => it.line <= lineNumber)?.file ?? url;
  }
  writeFileSync(file, JSON.stringify(profile));
}

/** esbuild puts each file's path in a comment above what came from it. */
interface Heading {
  readonly line: number;
  readonly file: string;
}

function headingsOf(url: string): readonly Heading[] {
  const lines = readFileSync(fileURLToPath(url), "utf8").split("\n");
  return lines.flatMap((text, line): readonly Heading[] => {
    const file = /^ *\/\/ ((?:src|test|node_modules)\/\S+)$/.exec(text)?.[1];
    return file === undefined ? [] : [{ line, file }];
  });
}

/** Where the time of a process went: one function, and the milliseconds in it alone and with what it called. */
export interface Hotspot {
  readonly name: string;
  readonly file: string;
  readonly self: number;
  readonly total: number;
}

/** Adds up a profile by function; the idle process, and the profiling itself, left out. */
export function hotspotsOf(file: string): readonly Hotspot[] {
  const { nodes, samples = [], timeDeltas = [] } = JSON.parse(readFileSync(file, "utf8")) as Profiler.Profile;
  const self = new Map<number, number>();
  samples.forEach((id, at) => {
    self.set(id, (self.get(id) ?? 0) + (timeDeltas[at] ?? 0) / 1000);
  });
  const byId = new Map(nodes.map((it) => [it.id, it]));
  const spots = new Map<string, { name: string; file: string; self: number; total: number }>();
  const walk = (id: number, above: ReadonlySet<string>, caller: string): number => {
    const node = byId.get(id);
    if (node === undefined) return 0;
    const { functionName, url } = node.callFrame;
    const name = functionName || `(in ${caller.replace(/^\(in |\)$/g, "")})`;
    const key = `${name} ${url}`;
    const within = new Set([...above, key]);
    const own = self.get(id) ?? 0;
    const total = (node.children ?? []).reduce((sum, it) => sum + walk(it, within, name), own);
    const spot = spots.get(key) ?? { name, file: url, self: 0, total: 0 };
    spot.self += own;
    // What calls itself is counted once, at the top.
    if (!above.has(key)) spot.total += total;
    spots.set(key, spot);
    return total;
  };
  const [root] = nodes;
  if (root !== undefined) walk(root.id, new Set(), "");
  return [...spots.values()].filter((it) => !isNoWork(it)).sort((a, b) => b.self - a.self);
}

const isNoWork = ({ name, file }: Hotspot): boolean =>
  /^\((root|idle|program)\)$/.test(name) ||
  file === "node:inspector" ||
  /^(dispatch|startProfile|endProfile)$/.test(name);
