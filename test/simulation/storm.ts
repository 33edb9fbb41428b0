// A storm: many seeded worlds at once, one process per core. See package.json for how it is built and started.
import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { lateOptimization } from "../late-optimization.ts";
import { type Finding, faultKinds, missing, storm } from "./seeds.ts";

/** What the command line asks for. */
interface Wish {
  readonly seeds: number;
  readonly from: number;
}

/** What a worker says: how far it is, what it hit, what it found. */
type Word =
  | { readonly kind: "progress"; readonly seeds: number; readonly hits: Readonly<Record<string, number>> }
  | { readonly kind: "finding"; readonly finding: Finding };

const batch = 20;

/** What workers are started with: what survives one step of a world is garbage a few steps later. */
const engine = [...lateOptimization, "--min-semi-space-size=16", "--max-semi-space-size=64"];

function wishOf(words: readonly string[]): Wish {
  const numberAfter = (name: string, otherwise: number): number => {
    const at = words.indexOf(name);
    return at < 0 ? otherwise : Number(words[at + 1]);
  };
  return { seeds: numberAfter("--seeds", 2_000), from: numberAfter("--from", 1) };
}

/** One worker: every n-th seed, told in batches. */
async function work(first: number, last: number, stride: number): Promise<void> {
  const tell = (word: Word): void => void process.send?.(word);
  for (let at = first; at <= last; at += stride * batch) {
    const seeds = Array.from({ length: batch }, (_, step) => at + step * stride).filter((it) => it <= last);
    const hits = await storm(seeds, (finding) => tell({ kind: "finding", finding }));
    tell({ kind: "progress", seeds: seeds.length, hits: Object.fromEntries(hits) });
  }
}

/** Starts the workers and listens to them. Gives the exit code. */
async function lead({ seeds, from }: Wish): Promise<number> {
  const began = Date.now();
  const workers = availableParallelism();
  const total = new Map<string, number>();
  let done = 0;
  let findings = 0;
  const children: Promise<number>[] = [];
  for (let at = 0; at < workers; at++) {
    const words = ["--worker", String(from + at), String(from + seeds - 1), String(workers)];
    const child = fork(fileURLToPath(import.meta.url), words, { execArgv: [...process.execArgv, ...engine] });
    child.on("message", (word: Word) => {
      if (word.kind === "finding") {
        findings++;
        process.stdout.write(`\n${textOf(word.finding)}\n`);
        return;
      }
      done += word.seeds;
      for (const [kind, count] of Object.entries(word.hits)) total.set(kind, (total.get(kind) ?? 0) + count);
      const elapsed = (Date.now() - began) / 1000;
      process.stderr.write(`\r${done} of ${seeds} seeds, ${findings} violations, ${elapsed.toFixed(0)} s `);
    });
    children.push(ended(child));
  }
  const codes = await Promise.all(children);
  process.stderr.write("\n");
  return report({ total, done, findings, seconds: (Date.now() - began) / 1000, died: codes.some((it) => it !== 0) });
}

const ended = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));

const textOf = ({ seed, violation, script, transcript }: Finding): string =>
  [`seed ${seed}: ${violation.rule}: ${violation.message}`, "", transcript, "", "as a short script:", "", script].join(
    "\n",
  );

interface Total {
  readonly total: ReadonlyMap<string, number>;
  readonly done: number;
  readonly findings: number;
  readonly seconds: number;
  readonly died: boolean;
}

function report({ total, done, findings, seconds, died }: Total): number {
  const rows = [...new Set([...faultKinds, ...[...total.keys()].sort()])];
  for (const kind of rows) process.stdout.write(`${String(total.get(kind) ?? 0).padStart(8)}  ${kind}\n`);
  const unmet = missing(total);
  process.stdout.write(`${done} seeds in ${seconds.toFixed(0)} s, ${findings} violations\n`);
  for (const kind of unmet) process.stdout.write(`no seed was hit by: ${kind}\n`);
  return findings > 0 || unmet.length > 0 || died ? 1 : 0;
}

const [mode, ...words] = process.argv.slice(2);
if (mode === "--worker") {
  const [first = 1, last = 1, stride = 1] = words.map(Number);
  await work(first, last, stride);
  process.disconnect();
} else process.exitCode = await lead(wishOf(process.argv.slice(2)));
