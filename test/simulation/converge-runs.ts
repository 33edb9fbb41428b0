import type { Reason } from "../../src/core/model/reason.ts";
import type { RunWait } from "../../src/core/model/update-run.ts";
import type { PlacementKey } from "../../src/core/model/value.ts";
import { type Document, isExternal } from "./people/document.ts";
import { voters } from "./people/trust-content.ts";
import { evictionsAt, runsAt, type SeenRun } from "./rules/recorded-runs.ts";
import type { Simulation } from "./simulation.ts";

type Placement = Extract<Document, { kind: "placement" }>;

/** Runs that people try for one placement before they give up. */
const mostRuns = 6;

/** What people do with runs when the weather clears: put away what is under way, and bring the last version everywhere. */
export function finishRuns(simulation: Simulation): void {
  const { people, hub } = simulation;
  const ended = new Set(runsAt(hub, hub.state).flatMap((it) => (it.end === null ? [] : [it.name])));
  const judged = new Set(evictionsAt(hub, hub.state).map((it) => it.name));
  for (const [path, it] of [...people.draft]) {
    if (it.kind === "run" && !ended.has(it.name)) people.erase(path);
    if (it.kind === "eviction" && !judged.has(it.name)) people.erase(path);
  }
  const staged = externals(simulation);
  if (staged.length === 0) return;
  people.write({
    kind: "strategy",
    name: "last",
    stages: "dev:env=dev/2/ask-before prod:env=prod/50%/wait=5/ask-after",
  });
  if (!people.draft.has("fleet.yaml")) people.write({ kind: "guards", objects: 5, clusters: 3, profile: "default" });
  for (const it of staged) writeRun(simulation, it.name);
}

const externals = ({ people }: Simulation): readonly Placement[] =>
  [...people.draft.values()].filter((it): it is Placement => it.kind === "placement" && isExternal(it));

/** One more run of a placement; the one before it is put away. False where there were enough. */
function writeRun({ people }: Simulation, placement: string): boolean {
  const named = (serial: number): string => `last-${placement}-${serial}`;
  let serial = 1;
  while (people.draft.has(`runs/${named(serial)}.yaml`)) serial++;
  if (serial > mostRuns) return false;
  people.write({ kind: "run", name: named(serial), placement, strategy: "last", index: "", state: "Run" });
  return true;
}

/** What people do when they read of runs: answer, and run once more where one could not do all. */
export async function helpRuns(simulation: Simulation, reasons: readonly Reason[], isStill: boolean): Promise<boolean> {
  if (reasons.some((it) => it.kind === "run" && taskIn(it.wait) === "Approval")) {
    await answer(simulation);
    return true;
  }
  const incomplete = isStill ? externals(simulation).filter(({ name }) => isIncomplete(simulation, name)) : [];
  const isWritten = incomplete.map(({ name }) => writeRun(simulation, name)).includes(true);
  if (isWritten) await simulation.step({ do: "push" });
  return isWritten;
}

/** Everybody says yes to all that is asked, by signature where that counts. */
export async function answer(simulation: Simulation): Promise<void> {
  if (simulation.approvers.anchor === null) {
    // Nobody signs, so nobody can tell an old word from a new one: what took something back has to go.
    for (const [path, it] of [...simulation.people.draft])
      if (it.kind === "approval" && it.decision === "Revoke") await simulation.step({ do: "erase", path });
    await simulation.step({ do: "answer", how: "Approve" });
    await simulation.step({ do: "push" });
    return;
  }
  for (const who of voters) await simulation.step({ do: "vote", who, how: "Approve", way: "commit" });
}

/** Its newest run failed, or has not all the clusters on which the placement is by now. */
function isIncomplete(simulation: Simulation, placement: string): boolean {
  const { hub } = simulation;
  const newest = runsAt(hub, hub.state).find((it) => it.placement === placement);
  if (newest === undefined || newest.end === null) return false;
  if (newest.end !== "succeeded") return true;
  const bindings = simulation.ledger()?.placements.get(placement as PlacementKey)?.bindings ?? new Map();
  const covered = coveredBy(newest);
  return [...bindings.values()].some(
    (it) => it.state !== "Unscheduled" && it.removal === null && !covered.has(it.cluster),
  );
}

const coveredBy = ({ stages }: SeenRun): ReadonlySet<string> =>
  new Set(stages.flatMap((it) => it.clusters.flatMap(({ name, end }) => (end?.endsWith("Skipped") ? [] : [name]))));

/** Whether time alone may take a run further. */
export const runMayGoOn = (reason: Reason): boolean =>
  reason.kind === "run" && (["clusters", "failures"].includes(reason.wait.kind) || taskIn(reason.wait) === "TimedWait");

const taskIn = (wait: RunWait): string | null => (wait.kind === "task" ? wait.task : null);
