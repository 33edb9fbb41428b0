import { checkCascades } from "../check/check-cascades.ts";
import { checkProtection } from "../check/check-protection.ts";
import { checkRuns } from "../check/check-runs.ts";
import { checkTrust } from "../check/check-trust.ts";
import { type Json, sameJson } from "../model/json.ts";
import type { Ledger } from "../model/ledger.ts";
import type { Plan, RenderedTarget, World } from "../model/plan.ts";
import type { PlacementKey } from "../model/value.ts";
import { isGenuine, requestState, requestsIn } from "../plan/approval/approval-request.ts";
import { contentOf, targetRendering } from "../plan/moves/version.ts";
import { planRoot } from "../rollout/run-plan.ts";
import { auditAnswers, auditAuthors, auditTrustFile } from "./audit-consent.ts";
import { type AuditFinding, type AuditSubject, whatOf } from "./audit-finding.ts";
import { aligned, findingOf } from "./audit-opinion.ts";

/** How many items of each kind a step re-judged. */
interface AuditCounts {
  readonly trust: number;
  readonly approvals: number;
  readonly plans: number;
}

/**
 * Judges one commit of the state branch again (`trust/README.md#t-23`): `world` is what its writer saw, on top of the
 * ledger before; nothing in `after`, which it wrote, is trusted. By the planner's rules where they need nothing from
 * members, and by the second opinion that every plan has to pass.
 */
export function auditStep(world: World, after: Ledger): readonly AuditFinding[] {
  const before = world.ledger;
  const ledger = aligned(after, world);
  const plan = planOf(ledger, renderedIn(ledger, world));
  const trust = [...auditTrustFile(world, ledger)];
  const approvals = [...checkTrust(plan, world)].map(findingOf);
  return [
    ...trust,
    ...approvals.filter((it) => it.check !== "trust" || trust.length === 0),
    ...auditAnswers(world, ledger),
    ...forgedRequests(before, ledger),
    ...auditAuthors(world, ledger),
    ...forgedPlans(before, ledger),
    ...[...checkRuns(plan, world)].map(findingOf),
    ...[...checkProtection(plan, world, true), ...checkCascades(plan, world, true)].map(findingOf),
  ];
}

/** Counts what is judged in a step: new versions of the trust file, answers and opened gates, and plans. */
export function auditCounts(before: Ledger, after: Ledger): AuditCounts {
  const open = new Set(requestsIn(before).flatMap((it) => (requestState(it) === "answered" ? [] : it.request.digest)));
  const known = new Set(requestsIn(before).map((it) => it.request.digest));
  const opened = requestsIn(after).filter(
    ({ request: { approval, digest } }) => approval !== null && (open.has(digest) || !known.has(digest)),
  );
  const plans = [...after.runs].filter(([key, { plan }]) => plan !== null && before.runs.get(key)?.plan !== plan);
  return {
    trust: after.trust !== null && after.trust.trust.digest !== before.trust?.trust.digest ? 1 : 0,
    approvals: [...after.answers.keys()].filter((it) => !before.answers.has(it)).length + opened.length,
    plans: plans.length,
  };
}

const planOf = (ledger: Ledger, rendered: readonly RenderedTarget[]): Plan => ({
  refusal: null,
  ledger,
  decides: true,
  actions: [],
  rendered,
  wakeAt: null,
  reasons: [],
});

/** The new targets of a ledger, rendered as its writer had them; those whose content is lost are left out. */
function renderedIn(ledger: Ledger, world: World): readonly RenderedTarget[] {
  if (ledger.trust === null || ledger.trust.trust.protectedTargets.length === 0) return [];
  return renderedTargets(ledger, world, (key, cluster) => {
    const was = world.ledger.placements.get(key)?.bindings.get(cluster);
    return was?.target !== ledger.placements.get(key)?.bindings.get(cluster)?.target;
  }).flatMap(({ cluster, placement, manifests }) => (manifests === null ? [] : [{ cluster, placement, manifests }]));
}

/** A recorded target, rendered again; null where its content is lost. */
interface RenderedAgain extends Omit<RenderedTarget, "manifests"> {
  readonly manifests: RenderedTarget["manifests"] | null;
}

/** Renders wanted targets of a ledger again, from what was recorded with them. */
export function renderedTargets(
  { placements, overrides }: Ledger,
  world: World,
  isWanted: (placement: PlacementKey, cluster: RenderedTarget["cluster"]) => boolean,
): readonly RenderedAgain[] {
  const sources = { overrides, content: contentOf(world), world };
  return [...placements.values()].flatMap((record) =>
    [...record.bindings.values()].flatMap((binding): readonly RenderedAgain[] => {
      if (binding.target === null || !isWanted(record.key, binding.cluster)) return [];
      const rendering = targetRendering(binding, record, sources);
      const manifests = rendering?.kind === "rendered" ? rendering.manifests : null;
      return [{ cluster: binding.cluster, placement: record.key, manifests }];
    }),
  );
}

/** A request with a wrong digest lets people approve something else than they are shown (`trust/README.md#t-21`). */
function* forgedRequests(before: Ledger, after: Ledger): Generator<AuditFinding> {
  const known = new Set(requestsIn(before).map((it) => it.request));
  for (const ask of requestsIn(after)) {
    if (known.has(ask.request) || isGenuine(ask, after)) continue;
    const subject = ask.kind === "gate" ? ({ kind: "run", key: ask.run.key } as const) : placementOf(ask.record.key);
    yield { check: "approvals", subject, what: `asks for ${whatOf(ask)} under a digest that is not of what is asked` };
  }
}

const placementOf = (key: PlacementKey): AuditSubject => ({ kind: "placement", key });

function* forgedPlans(before: Ledger, after: Ledger): Generator<AuditFinding> {
  for (const [key, { plan, uid }] of after.runs) {
    const was = before.runs.get(key);
    if (plan === null || plan === was?.plan) continue;
    const { root, ...bare } = plan;
    const subject = { kind: "plan", key } as const;
    if (planRoot(bare) !== root)
      yield { check: "plans", subject, what: `has a plan of run ${key} that is not of its root` };
    const isOther =
      was?.uid === uid && was.plan !== null && !sameJson(was.plan as unknown as Json, plan as unknown as Json);
    if (isOther) yield { check: "plans", subject, what: `puts another plan in the place of that of run ${key}` };
  }
}
