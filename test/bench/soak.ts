import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, isCalm } from "./cases.ts";
import { type Reconciler, startReconciler } from "./process.ts";
import { instant } from "./protocol.ts";
import { editOf, workloadOf } from "./workload.ts";

/** How much memory the daemon held at one moment of a soak. */
export interface Sample {
  readonly minutes: number;
  readonly changes: number;
  readonly commits: number;
  readonly passes: number;
  /** In MiB: of its process, and what JavaScript still needed after a collection. */
  readonly resident: number;
  readonly heap: number;
}

/** What a soak found. */
export interface SoakOutcome {
  readonly samples: readonly Sample[];
  /** MiB by which the memory in use grew in an hour, over the last two thirds of the time; what fills caches comes before. */
  readonly heapGrowth: number;
  readonly residentGrowth: number;
}

/**
 * Lets a daemon run for so many minutes while somebody pushes one change a second, and looks at its memory: what is kept
 * for good where it should not be shows as growth. A change that takes longer than its second delays the next one.
 */
export async function soak(bench: Bench, minutes: number): Promise<SoakOutcome> {
  const { hub, size, members, bundle, limitMs, say } = bench;
  const orders = { profile: false, repo: hub.path, kubeconfig: members.kubeconfig, members: members.names };
  const program = join(bundle, "reconciler.js");
  hub.push("main", workloadOf(size));
  const founder = startReconciler(program, { ...orders, run: "once" });
  await founder.until(() => founder.settled() !== null, "all placements from nothing", limitMs);
  await founder.stop();
  const daemon = startReconciler(program, { ...orders, run: "daemon" });
  try {
    await daemon.until(() => isCalm(daemon.passes), "the daemon's first passes", limitMs);
    const began = instant();
    const samples: Sample[] = [];
    const end = began + minutes * 60_000;
    for (let changes = 0, due = began; instant() < end; changes++) {
      if (instant() >= due) {
        const sample = await sampled(bench, daemon, { began, changes });
        samples.push(sample);
        const { minutes: at, resident, heap } = sample;
        say(`${at.toFixed(1)} min, ${changes} changes: ${resident.toFixed(0)} MiB, heap ${heap.toFixed(1)} MiB`);
        due += Math.min(60_000, (minutes * 60_000) / 6);
      }
      hub.push("main", editOf(changes % size.placements, `change ${changes}`));
      await sleep(Math.max(0, began + (changes + 1) * 1000 - instant()));
    }
    const last = samples.at(-1)?.changes ?? 0;
    await daemon.until(() => isCalm(daemon.passes), "the last changes", limitMs);
    samples.push(await sampled(bench, daemon, { began, changes: last }));
    return { samples, heapGrowth: growth(samples, "heap"), residentGrowth: growth(samples, "resident") };
  } finally {
    await daemon.stop();
  }
}

async function sampled(
  { hub }: Bench,
  daemon: Reconciler,
  { began, changes }: { readonly began: number; readonly changes: number },
): Promise<Sample> {
  const { resident, heap } = await daemon.begin(false);
  const minutes = (instant() - began) / 60_000;
  return { minutes, changes, commits: hub.commitsSince(null), passes: daemon.passes.length, resident, heap };
}

/** The slope of a straight line through the later samples, by least squares. */
function growth(samples: readonly Sample[], of: "resident" | "heap"): number {
  const late = samples.slice(Math.floor(samples.length / 3));
  const mean = (values: readonly number[]): number => values.reduce((sum, it) => sum + it, 0) / values.length;
  const [time, memory] = [mean(late.map((it) => it.minutes)), mean(late.map((it) => it[of]))];
  const across = late.reduce((sum, it) => sum + (it.minutes - time) * (it[of] - memory), 0);
  const along = late.reduce((sum, it) => sum + (it.minutes - time) ** 2, 0);
  return along === 0 ? 0 : (across / along) * 60;
}
