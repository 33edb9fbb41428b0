import type { BindingFacts } from "../../core/model/binding.ts";
import type { Ledger, PlacementRecord, Trouble } from "../../core/model/ledger.ts";
import { objectText } from "../../core/model/manifest.ts";
import type { ClusterProgress, RunRecord } from "../../core/model/update-run.ts";
import { type ClusterName, type Instant, instantText, later } from "../../core/model/value.ts";
import { count } from "../../core/report/explain.ts";

interface View {
  readonly run: RunRecord;
  readonly ledger: Ledger;
  readonly now: Instant;
}

/** What keeps a cluster that is under way, one line each: the member, its objects, its deadline. */
export function troublesOn(view: View, cluster: ClusterName, progress: ClusterProgress): readonly string[] {
  const { trouble, facts, failsAt } = scene(view, cluster, progress);
  const objects = (facts?.troubles ?? []).map(({ id, code, message }) => `${objectText(id)}: ${code}: ${message}`);
  const more = (facts?.troubleCount ?? 0) - objects.length;
  const told: string[] = [...objects, ...(more > 0 ? [`and ${count(more, "more object")}`] : [])];
  // Silence never turns into failure: no deadline runs.
  if (trouble !== null) return [`${trouble.code} since ${instantText(trouble.since)}: ${trouble.message}`, ...told];
  if (facts === null) told.push("nothing recorded of it yet");
  if (failsAt === null) return told;
  const isOver = view.now >= failsAt;
  return [...told, `${isOver ? "counts as failed since" : "counts as failed from"} ${instantText(failsAt)}`];
}

/** Whether a cluster counts as failed: it says so, or its deadline has passed (`rollout/README.md#b-1`). */
export function hasFailed(view: View, cluster: ClusterName, progress: ClusterProgress): boolean {
  const { trouble, facts, failsAt } = scene(view, cluster, progress);
  if (trouble !== null) return false;
  return saysSo(facts) || (failsAt !== null && view.now >= failsAt);
}

interface ClusterScene {
  readonly trouble: Trouble | null;
  /** What the member said of the very target that the run gave it. */
  readonly facts: BindingFacts | null;
  /** When its deadline passes; null when none runs. */
  readonly failsAt: Instant | null;
}

function scene({ run, ledger }: View, cluster: ClusterName, progress: ClusterProgress): ClusterScene {
  const placement = ledger.placements.get(run.spec.placement) ?? null;
  const { facts: said = null, target = null } = placement?.bindings.get(cluster) ?? {};
  const facts = said?.sequence === progress.sequence ? said : null;
  const isSettled = saysSo(facts) || (facts !== null && isWell(facts));
  // What was there before the run came to it, or was begun again since, has a time of its own.
  const startedAt = target?.sequence === progress.sequence ? target.startedAt : progress.startedAt;
  return {
    trouble: ledger.clusters.get(cluster)?.trouble ?? null,
    facts,
    failsAt: isSettled || placement === null || startedAt === null ? null : deadlineOf(placement, startedAt, facts),
  };
}

const saysSo = (facts: BindingFacts | null): boolean => facts?.applied === "failed" || facts?.phase === "failed";

const isWell = ({ applied, phase }: BindingFacts): boolean =>
  applied === "applied" && (phase === "available" || phase === "untrackable");

/** As `core/rollout/readiness.ts` has it: what was well until after its deadline has the same time again. */
function deadlineOf({ spec }: PlacementRecord, startedAt: Instant, facts: BindingFacts | null): Instant {
  const { progressDeadline } = spec.strategy;
  const first = later(startedAt, progressDeadline);
  return facts !== null && facts.since >= first ? later(facts.since, progressDeadline) : first;
}
