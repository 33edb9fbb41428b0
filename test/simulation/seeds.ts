import { generate } from "./people/generate.ts";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";
import type { Violation } from "./simulation.ts";
import { type Step, scriptOf } from "./step.ts";
import { rolloutKinds } from "./strikes-runs.ts";
import { trustKinds } from "./strikes-trust.ts";

/** A seed whose world broke a promise, and how to see it. */
export interface Finding {
  readonly seed: number;
  readonly violation: Violation;
  /** The shortest script found that breaks the same promise; the first few are looked for. */
  readonly script: string;
  /** What happens in that script. */
  readonly transcript: string;
}

/** Runs the worlds of some seeds. Gives how many seeds were really hit by each kind of fault. */
export async function storm(
  seeds: Iterable<number>,
  tell: (finding: Finding) => void,
): Promise<ReadonlyMap<string, number>> {
  const hits = new Map<string, number>();
  let shrunk = 0;
  for (const seed of seeds) {
    const ran = await run(generate(seed));
    for (const kind of ran.hits.keys()) hits.set(kind, (hits.get(kind) ?? 0) + 1);
    const [violation] = ran.violations;
    if (violation === undefined) continue;
    const steps = shrunk++ < mostShrunk ? await shrink(generate(seed), violation) : generate(seed);
    tell(await findingOf(seed, violation, steps));
  }
  return hits;
}

/** Where everything breaks, the first few scripts say it all, and shrinking takes its time. */
const mostShrunk = 3;

async function findingOf(seed: number, violation: Violation, steps: readonly Step[]): Promise<Finding> {
  const { transcript } = await run(steps);
  return { seed, violation, script: scriptOf(steps), transcript: transcript() };
}

/** Kinds of faults that a storm has to meet: one that strikes nobody proves nothing. */
export const faultKinds: readonly string[] = [
  ...["heads", "files", "blobs", "descends", "history", "commit"].map((it) => `refused ${it}`),
  "lost commit",
  "hook commit",
  "hub unreachable",
  "superseded",
  "source absent",
  "source emptied",
  "source rewritten",
  ...["refused", "hangs", "lost", "torn", "late", "403", "429", "500", "503", "504"].flatMap((fault) =>
    ["read", "list", "note", "apply", "delete"].map((kind) => `${fault} ${kind}`),
  ),
  ...["down", "hangs", "busy", "broken", "unauthorized", "read-only", "frozen"].map((it) => `member ${it}`),
  ...["negative", "huge", "nonsense", "changing", "forbidden", "cut"].map((it) => `lied ${it}`),
  "identity changed",
  "readdressed",
  "old state restored",
  "inventory deleted",
  ...["create", "edit", "delete", "unmark", "finalize", "release", "copy"].map((it) => `others ${it}`),
  "member late",
  "others fight",
  "fight",
  "workload late",
  "workload failed",
  "clock ahead",
  "clock back",
  ...["before", "after"].flatMap((when) =>
    ["commit", "note", "apply", "delete"].map((kind) => `crash ${when} ${kind}`),
  ),
  ...["before", "after"].flatMap((when) => ["commit", "note", "apply", "delete"].map((kind) => `held ${when} ${kind}`)),
  "overtaken write",
  ...["yaml", "identity", "object", "either", "unsound"].map((it) => `broken ${it}`),
  "override",
  "override of one object",
  "moved into an envelope",
  "moved out of an envelope",
  ...["joined", "left", "relabelled", "tainted"].map((it) => `cluster ${it}`),
  "profile kubefleet",
  "profile changed",
  "placement removed",
  "deletions waited",
  "deletions waited beside confirmed ones",
  "confirmation",
  "confirmation used",
  "confirmation void",
  "others asked about",
  "others along",
  "deleteStrategy while leaving",
  "delete-adopted while leaving",
  "process restarted",
  "quarantine",
  "quarantine ended by a release",
  "release amid a hand-over to it",
  "intrusion",
  ...rolloutKinds,
  ...trustKinds,
];

/** Kinds of faults that no seed of a storm was hit by. */
export const missing = (hits: ReadonlyMap<string, number>): readonly string[] =>
  faultKinds.filter((it) => !hits.has(it));
