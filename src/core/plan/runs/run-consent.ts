import type { PlacementRecord } from "../../model/ledger.ts";
import type { VersionedId } from "../../model/manifest.ts";
import type { Gate } from "../../model/stage-task.ts";
import type { GateAnswer, ProtectedTarget, Trust } from "../../model/trust.ts";
import type { PlannedStage, RunPlan, RunRecord } from "../../model/update-run.ts";
import type { DurationMs } from "../../model/value.ts";
import type { RunContext } from "../../rollout/run-context.ts";
import { requestDigest } from "../../rollout/tasks/approval.ts";
import type { RequestRules } from "../../rollout/tasks/task-type.ts";
import { type RequestSubject, rulesFor } from "../../trust/protected.ts";
import { answerTo } from "../approval/consent.ts";
import { nonceOf } from "../approval/nonce.ts";
import { isCompromised, type RequestScope, rulesDigest } from "../approval/request-rules.ts";
import { authorsOfRun, noAuthors } from "../authors/authors.ts";
import { reachedTargets } from "../guard/protection.ts";
import type { PlanContext } from "../moves/context.ts";
import { targetRendering } from "../moves/version.ts";
import { plannedTarget } from "./run-moves.ts";

type Consents = Pick<RunContext, "requestRulesOf" | "nonceFor" | "answerTo">;

/** What a run asks people, and what they say. */
export function runConsents(run: RunRecord, record: PlacementRecord | null, context: PlanContext): Consents {
  const { world, ledger, consent } = context;
  const { record: trust } = consent;
  const rulesOf = (stage: PlannedStage, when: When) => (it: Trust) =>
    rulesFor(it, gateSubject({ run, record, stage, when }, it, context));
  return {
    requestRulesOf(stage, when): RequestRules {
      if (trust === null || record === null) return unsigned;
      const ages = rulesOf(stage, when)(trust.trust).map((it) => it.maxAge);
      return {
        rules: rulesDigest(trust.trust, requestScope(run, stage, when)),
        maxAge: ages.length === 0 ? null : (Math.min(...ages) as DurationMs),
        authors: () => authorsOfRun(run, record, { ...context, trust }),
      };
    },
    nonceFor: (stage, when) => nonceOf(world, ["gate", run.key, stage.name, when]),
    answerTo: (stage, when, gate) =>
      isOwn(gate, { run, stage, when }, ledger.fleet) ? answerTo(gate, rulesOf(stage, when), context) : forged,
  };
}

/**
 * Whether a request names what it stands at: somebody may have written another one's digest there
 * (`trust/README.md#t-21`).
 */
function isOwn(gate: Gate, { run, stage, when }: Omit<RunGate, "record">, fleet: string): boolean {
  // Without trust nothing is proven anyway, and requests of earlier versions stand.
  if (gate.rules === null || run.plan === null) return true;
  const { root } = run.plan;
  const { nonce, rules, authors } = gate;
  return gate.digest === requestDigest({ fleet, run, stage: stage.name, when, root, nonce, rules, authors });
}

const forged: GateAnswer = {
  kind: "void",
  because:
    "the state branch names another request here than this run makes; create the run again, and verify the branch",
  wakeAt: null,
};

type When = "before" | "after";

const unsigned: RequestRules = { rules: null, maxAge: null, authors: () => noAuthors };

const requestScope = ({ spec }: RunRecord, { name }: PlannedStage, when: When): RequestScope => ({
  placement: spec.placement,
  stage: name,
  // Behind a stage nothing of it changes any more.
  isProtected: when === "before",
});

/** One gate of a run, and the placement that it is about. */
interface RunGate {
  readonly run: RunRecord;
  readonly record: PlacementRecord | null;
  readonly stage: PlannedStage;
  readonly when: When;
}

/** What an approval of a gate is about: the stage, and whatever of protected targets its clusters would change. */
export const gateSubject = (
  { run, record, stage, when }: RunGate,
  trust: Pick<Trust, "protectedTargets">,
  context: PlanContext,
): RequestSubject => ({
  placement: run.spec.placement,
  stage: stage.name,
  targets:
    when === "after" || run.plan === null || record === null
      ? []
      : reached(stage, run.plan, record, { trust, context }),
});

function reached(
  stage: PlannedStage,
  plan: RunPlan,
  record: PlacementRecord,
  { trust, context }: { readonly trust: Pick<Trust, "protectedTargets">; readonly context: PlanContext },
): readonly ProtectedTarget[] {
  if (trust.protectedTargets.length === 0) return [];
  const targets = new Set<ProtectedTarget>();
  for (const planned of stage.clusters) {
    const binding = record.bindings.get(planned.cluster);
    if (binding === undefined) continue;
    const target = { ...plannedTarget(planned, plan), sequence: context.sequence, startedAt: context.world.now };
    const rendering = targetRendering({ cluster: planned.cluster, target }, record, context);
    // What cannot be rendered now may be anything, once it can be.
    const manifests = rendering?.kind === "rendered" ? rendering.manifests : [{ id: anything }];
    for (const it of reachedTargets({ record, binding }, manifests, trust, context)) targets.add(it);
  }
  return trust.protectedTargets.filter((it) => targets.has(it));
}

/** In no namespace: it may matter to all of them. */
const anything: VersionedId = { group: "", version: "", kind: "", namespace: null, name: "" };

/**
 * Why a run goes no further although its gates are open; null when nothing keeps it
 * (`trust/README.md#expiry-and-revocation`).
 */
export function blockedBecause({ stages }: RunRecord, { consent: { record } }: PlanContext): string | null {
  if (record === null) return null;
  const approvals = stages
    .flatMap(({ before, after }) => [before.Approval?.approval, after.Approval?.approval])
    .flatMap((it) => it ?? []);
  const last = approvals.reduce(
    (found, it) => (found === null || it.at >= found.at ? it : found),
    approvals[0] ?? null,
  );
  if (last === null || !isCompromised(last, record.trust)) return null;
  const who = last.by.map((it) => it.principal).join(" and ");
  return `ApproverKeyCompromised: the key by which ${who} approved it is revoked as compromised; create a new run`;
}
