import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import type { ApprovalOutcome } from "./approval.ts";
import type { AuditOutcome } from "./audit.ts";
import type { BareOutcome } from "./bare.ts";
import type { CollectOutcome } from "./collect.ts";
import type { Outcome } from "./outcome.ts";
import type { Hotspot } from "./profile.ts";
import type { ScheduleOutcome } from "./schedule.ts";
import type { SoakOutcome } from "./soak.ts";
import type { TextOutcome } from "./text.ts";

/** Where numbers come from: they mean nothing without it. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  /** What else ran when the bench began: the average of a minute. */
  readonly load: number;
  readonly platform: string;
  readonly node: string;
  readonly git: string;
}

/** Describes the machine that this process runs on. */
export const machine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  cores: cpus().length,
  load: loadavg()[0] ?? 0,
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
  git: execFileSync("git", ["--version"], { encoding: "utf8" }).trim().replace("git version ", ""),
});

/** The machine on one line. */
export const headOf = ({ cpu, cores, load, platform, node, git }: Machine): string =>
  `${cpu}, ${cores} cores (load ${load.toFixed(1)}), ${platform}; node ${node}, git ${git}`;

/** When things had happened, and what that cost. */
export function outcomeTables(outcomes: readonly Outcome[]): string {
  const when = outcomes.map(({ case: name, what, when: it, passes, commits }) => [
    `${name}: ${what}`,
    seconds(it.decided),
    seconds(it.pushed),
    seconds(it.applied),
    seconds(it.available),
    seconds(it.recorded),
    String(passes),
    String(commits),
  ]);
  const spent = outcomes.map(({ case: name, first, all }) => [
    name,
    ...(first === null ? Array(3).fill("-") : [ms(first.observe), ms(first.decide), ms(first.commit)]),
    ...(all === null ? Array(4).fill("-") : [ms(all.observe), ms(all.decide), ms(all.commit), ms(all.act)]),
  ]);
  const cost = outcomes.map(({ case: name, requests, cpu, peakMemory, historyBytes }) => [
    name,
    String(requests?.read ?? "-"),
    String(requests?.write ?? "-"),
    seconds(cpu.reconciler),
    seconds(cpu.git),
    seconds(cpu.members),
    peakMemory.toFixed(0),
    historyBytes === null ? "-" : (historyBytes / 1000).toFixed(1),
  ]);
  return [
    "when: seconds since the push, or since the process began",
    aligned(["case", "decided", "pushed", "applied", "available", "recorded", "passes", "commits"], when),
    "",
    "where the time went: milliseconds of the first deciding pass, and of all passes together",
    aligned(["case", "observe", "decide", "commit", "Σ observe", "Σ decide", "Σ commit", "Σ act"], spent),
    "",
    "what it cost: requests, seconds on a core, peak of the reconciler's resident memory, growth of the packed history",
    aligned(["case", "reads", "writes", "cpu", "cpu git", "cpu members", "MiB", "state kB"], cost),
  ].join("\n");
}

/** What texts cost their reader, the dearest first. */
export function textTable(outcomes: readonly TextOutcome[]): string {
  const rows = [...outcomes]
    .sort((a, b) => b.took - a.took)
    .map(({ name, refused, took, cpu, memory, tokens }) => [
      name,
      refused ? "refused" : "accepted",
      ms(took),
      ms(cpu),
      memory.toFixed(0),
      String(tokens),
    ]);
  return [
    "one file of 1 MiB in a fresh process: milliseconds by the clock and on a core, growth of the resident memory",
    aligned(["text", "", "ms", "cpu ms", "MiB", "tokens"], rows),
  ].join("\n");
}

/** What collecting the properties of members cost. */
export function collectTable(outcomes: readonly CollectOutcome[]): string {
  const rows = outcomes.map(({ name, requests, took, cpu, memory }) => [
    name,
    String(requests),
    took.toFixed(2),
    cpu.toFixed(2),
    memory.toFixed(0),
  ]);
  return [
    "100 members with 50 nodes and 2,000 pods each: requests, seconds by the clock and on a core (with the simulated API server)",
    aligned(["properties", "requests", "s", "cpu s", "MiB"], rows),
  ].join("\n");
}

/** What an audit took, and what it looked at. */
export function auditTable({ commits, took, cpu, peakMemory, looked, faults }: AuditOutcome): string {
  const each = [(took * 1000) / commits, (cpu * 1000) / commits].map((it) => it.toFixed(1));
  const counts = Object.entries(looked).map(([check, count]) => `${count} ${check}`);
  return [
    `verify --full of ${commits} commits: ${took.toFixed(1)} s, ${cpu.toFixed(1)} s on a core, at most ${peakMemory.toFixed(0)} MiB`,
    `each commit: ${each[0]} ms, ${each[1]} ms on a core`,
    `looked at: ${counts.join(", ")}; faults: ${faults}`,
  ].join("\n");
}

/** What the steps of one part took. */
export function bareTable(outcomes: readonly BareOutcome[]): string {
  const rows = outcomes.map((it) => [
    it.case,
    String(it.passes),
    ms(it.observe),
    ms(it.plan),
    ms(it.check),
    ms(it.longestDecision),
    ms(it.act),
    String(it.actions),
    seconds(it.cpu),
    it.peakMemory.toFixed(0),
  ]);
  const head = ["case", "passes", "Σ observe", "Σ plan", "Σ check", "longest", "Σ act", "applies", "cpu s", "MiB"];
  return `milliseconds of all passes together, and of the longest plan and check\n${aligned(head, rows)}`;
}

/** What scheduling cost. */
export function scheduleTable(outcomes: readonly ScheduleOutcome[]): string {
  const rows = outcomes.map((it) => [it.case, it.scheduling.toFixed(1), it.pass?.toFixed(1) ?? "-", String(it.rounds)]);
  return [
    "placements with 3 preferred terms and 2 spread constraints: milliseconds on a core, the least of some rounds, of the",
    "scheduler alone, and of planning the whole pass with it",
    aligned(["case", "scheduling", "whole pass", "rounds"], rows),
  ].join("\n");
}

/** What signatures cost. */
export function approvalTable(outcomes: readonly ApprovalOutcome[]): string {
  const rows = outcomes.map((it) => [
    it.format,
    it.first.toFixed(2),
    it.median.toFixed(2),
    it.each.toFixed(2),
    String(it.commits),
    seconds(it.history),
    seconds(it.cpu),
    it.again.toFixed(2),
    seconds(it.authors),
  ]);
  const head = [
    "keys",
    "first ms",
    "median ms",
    "cpu ms",
    "commits",
    "all of them s",
    "cpu s",
    "again ms",
    "authors s",
  ];
  return `one approval from its bytes to the judgement, and a history until it is known who signed what\n${aligned(head, rows)}`;
}

/** The daemon's memory over time. */
export function soakTable({ samples, heapGrowth, residentGrowth }: SoakOutcome): string {
  const rows = samples.map((it) => [
    it.minutes.toFixed(1),
    String(it.changes),
    String(it.commits),
    String(it.passes),
    it.resident.toFixed(1),
    it.heap.toFixed(1),
  ]);
  const head = ["minutes", "changes", "commits", "passes", "resident MiB", "heap in use MiB"];
  const growth = `${residentGrowth.toFixed(1)} MiB resident, ${heapGrowth.toFixed(1)} MiB of heap in use`;
  return `${aligned(head, rows)}\n\ngrowth in an hour, over the last two thirds: ${growth}`;
}

/** The functions in which most time was spent, by themselves and with what they called. */
export function hotspotTable(spots: readonly Hotspot[]): string {
  const most = (by: "self" | "total"): readonly Hotspot[] => [...spots].sort((a, b) => b[by] - a[by]).slice(0, 25);
  const rows = (of: readonly Hotspot[]) => of.map((it) => [`${it.name} ${it.file}`, ms(it.self), ms(it.total)]);
  return [
    aligned(["most by itself", "ms self", "ms in all"], rows(most("self"))),
    aligned(["most in all", "ms self", "ms in all"], rows(most("total"))),
  ].join("\n\n");
}

/** The first column to the left, the others to the right. */
function aligned(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => [...(row[at] ?? "")].length)));
  const cell = (text: string, at: number): string => {
    const gap = " ".repeat((widths[at] ?? 0) - [...text].length);
    return at === 0 ? text + gap : gap + text;
  };
  return all.map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}

const seconds = (value: number | null): string => (value === null ? "-" : value.toFixed(value < 10 ? 3 : 1));
const ms = (value: number): string => value.toFixed(value < 100 ? 1 : 0);
