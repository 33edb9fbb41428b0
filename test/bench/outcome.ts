import type { PassReport, Spent, Usage } from "./protocol.ts";

/** What one case took. Moments are seconds since the case began: a push, or the start of a process. */
export interface Outcome {
  readonly case: string;
  readonly what: string;
  readonly when: Moments;
  /** Until everything was available. */
  readonly passes: number;
  /** Until everything was recorded. */
  readonly commits: number;
  /** Milliseconds of the first pass that decided something, or of the first pass when none did. */
  readonly first: Spent | null;
  /** Milliseconds of all passes together. */
  readonly all: Spent | null;
  readonly requests: { readonly read: number; readonly write: number } | null;
  /** Seconds on a core: the reconciler's process, the git programs that it ran, and everything that serves the members. */
  readonly cpu: { readonly reconciler: number; readonly git: number; readonly members: number | null };
  /** Of the reconciler's process alone, in MiB. */
  readonly peakMemory: number;
  /** Bytes by which the repacked history of the state branch grew; null where nothing was committed. */
  readonly historyBytes: number | null;
}

/** Seconds from the beginning of a case to each of its marks; null where it has no such mark. */
export interface Moments {
  /** The first decision was made, and not yet written down. */
  readonly decided: number | null;
  /** It was pushed: the state branch says so. */
  readonly pushed: number | null;
  /** The last pass that wrote to a member was over. */
  readonly applied: number | null;
  /** The reconciler had seen that everything is available everywhere. */
  readonly available: number;
  /** The state branch said so. */
  readonly recorded: number | null;
}

/** What is needed to judge a case. */
export interface Course {
  readonly case: string;
  readonly what: string;
  /** When it began: milliseconds since the epoch. */
  readonly from: number;
  readonly before: Pick<Usage, "cpu" | "gitCpu" | "reads" | "writes">;
  /** Passes since then; the last one found everything at rest. */
  readonly passes: readonly PassReport[];
  readonly membersCpu: number | null;
}

/** Everything that `source` asks for is on the members and available, as far as this pass saw. */
export const isAtRest = (it: PassReport, source: string | null): boolean =>
  it.result === "passed" &&
  !it.moving &&
  it.acted === 0 &&
  it.unheard === 0 &&
  (source === null || it.source === source);

/** When a pass began. */
export const beganAt = ({ at, spent }: PassReport): number =>
  at - spent.observe - spent.decide - spent.commit - spent.act;

/** Says what a course of passes took. */
export function outcomeOf({ passes, from, before, membersCpu, ...names }: Course): Omit<Outcome, "historyBytes"> {
  const end = passes.find((it) => isAtRest(it, passes.at(-1)?.source ?? null)) ?? passes.at(-1);
  const counted = passes.slice(0, end === undefined ? 0 : passes.indexOf(end) + 1);
  const decisive = counted.find((it) => it.committed);
  const lastAct = counted.findLast((it) => it.acted > 0 || it.unheard > 0);
  const recorded = passes.slice(counted.length - 1).find((it) => !it.deferred);
  const since = (at: number | undefined): number | null => (at === undefined ? null : (at - from) / 1000);
  const usage = end?.usage ?? { ...before, peak: 0 };
  return {
    ...names,
    when: {
      decided: since(decisive && decisive.at - decisive.spent.act - decisive.spent.commit),
      pushed: since(decisive && decisive.at - decisive.spent.act),
      applied: since(lastAct?.at),
      available: since(end?.at) ?? 0,
      recorded: since(recorded?.at),
    },
    passes: counted.length,
    commits: passes.filter((it) => it.committed).length,
    first: (decisive ?? counted[0])?.spent ?? null,
    all: sumOf(counted.map((it) => it.spent)),
    requests: { read: usage.reads - before.reads, write: usage.writes - before.writes },
    cpu: { reconciler: usage.cpu - before.cpu, git: usage.gitCpu - before.gitCpu, members: membersCpu },
    peakMemory: usage.peak,
  };
}

const sumOf = (spents: readonly Spent[]): Spent =>
  spents.reduce(
    (sum, it) => ({
      observe: sum.observe + it.observe,
      decide: sum.decide + it.decide,
      commit: sum.commit + it.commit,
      act: sum.act + it.act,
    }),
    { observe: 0, decide: 0, commit: 0, act: 0 },
  );
