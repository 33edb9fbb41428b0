import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "../../../src/core/model/json.ts";
import type { ClusterName, Commit, PlacementKey } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import type { MemberWrite, MemberWriteRule } from "../member-write.ts";
import { isExternal } from "../people/document.ts";
import { contentOf, keyOf, markOf } from "../world/observed-objects.ts";
import { renderedAt } from "../world/rendered.ts";
import { runsAt, type SeenCluster } from "./recorded-runs.ts";
import { decidedFor } from "./trust.ts";

/** Promises about what reaches a cluster in an update run. */
export const approvedRules: readonly (readonly [string, MemberWriteRule])[] = [
  ["I-01", comesInTurn],
  ["I-12", sendsWhatWasApproved],
];

/** One cluster of a run whose target is what a request is about. */
interface Assignment {
  readonly run: string;
  readonly cluster: SeenCluster;
  /** Everything before it is over, by the record. */
  readonly isInTurn: boolean;
}

/** The run that gave a cluster what it is to carry, by the record that the request follows; null when none is there. */
function assignmentOf(
  { request, ledger, stateCommit, simulation, incoming }: MemberWrite,
  { brought }: Judge,
): Assignment | null {
  if (request.kind !== "apply" || request.body === null || incoming.status >= 300) return null;
  const placement = markOf(request.body)?.placement ?? "";
  const { sequence } =
    ledger?.placements.get(placement as PlacementKey)?.bindings.get(request.member as ClusterName)?.target ?? {};
  if (sequence === undefined) return null;
  for (const run of runsAt(simulation.hub, stateCommit).filter((it) => it.placement === placement))
    for (const [at, stage] of run.stages.entries()) {
      const cluster = stage.clusters.find((it) => it.name === request.member && it.sequence === sequence);
      if (cluster === undefined) continue;
      // Where it found what an earlier run had decided, it asks for nothing.
      const isOpen = !brought.has(`${run.uid} ${request.member}`) || stage.before?.isApproved !== false;
      const isInTurn = run.stages.slice(0, at).every((it) => it.endedAt !== null) && isOpen;
      return { run: run.name, cluster, isInTurn };
    }
  return null;
}

/** I-01: whatever a run brings to a cluster of a stage comes after the stages before it, and its own approval. */
function* comesInTurn(write: MemberWrite, judge: Judge): Generator<string> {
  const it = assignmentOf(write, judge);
  if (it?.isInTurn === false) yield `${write.request.text} on ${write.request.member} for run ${it.run}, out of turn`;
}

/** I-12: what is sent is what the plan of the run has the digest of. */
function* sendsWhatWasApproved(write: MemberWrite, judge: Judge): Generator<string> {
  const { request, stateCommit, ledger, simulation } = write;
  const it = assignmentOf(write, judge);
  if (it === null || request.body === null || request.place === null || stateCommit === null || ledger === null) return;
  const placement = markOf(request.body)?.placement ?? "";
  const rendered = renderedAt(simulation.hub, stateCommit, request.member, placement);
  const placed = { ledger, stateCommit, member: request.member, placement, key: keyOf(request.place) };
  const what = `${request.text} on ${request.member} for run ${it.run}`;
  const content = contentOf(request.body);
  if (decidedFor(placed, simulation.hub)?.content !== content) yield `${what} is not what was written down`;
  const document = judge.inForce
    .at(simulation.ledger(stateCommit)?.sourceCommit as Commit)
    .get(`placements/${placement}.yaml`);
  const isStaged = document?.kind === "placement" && isExternal(document);
  if (isStaged && digestOf(rendered.map((own) => own.identity)) !== it.cluster.digest)
    yield `${what} is of a set that the plan has another digest of`;
}

const digestOf = (value: Json): string => createHash("sha256").update(canonicalJson(value)).digest("hex");
