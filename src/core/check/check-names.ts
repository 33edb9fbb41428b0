import type { Binding } from "../model/binding.ts";
import { maxFormerNames } from "../model/ledger.ts";
import type { ObjectId } from "../model/manifest.ts";
import type { Plan, World } from "../model/plan.ts";
import type { NameDefectCode, PlanDefect } from "../model/plan-defect.ts";
import type { ProtectedTarget } from "../model/trust.ts";
import type { ClusterName } from "../model/value.ts";
import { coversCluster, coversObject } from "./check-approvers.ts";
import { defect } from "./check-defect.ts";

/**
 * Lists where a plan may lose track of protected clusters: it forgets a former name that protected one, or gives
 * something to a member that was never reached and may turn out to be one (`trust/README.md#t-41`).
 */
export function* checkFormerNames(plan: Plan, world: World): Generator<PlanDefect<NameDefectCode>> {
  const targets = plan.ledger.trust?.trust.protectedTargets ?? [];
  if (targets.length === 0) return;
  yield* keepsNames(plan, world, targets);
  for (const [key, record] of plan.ledger.placements) {
    const before = world.ledger.placements.get(key);
    if (record.bindings === before?.bindings) continue;
    for (const [cluster, binding] of record.bindings) {
      const was = before?.bindings.get(cluster);
      const isKnown = plan.ledger.clusters.get(cluster)?.kubeSystemUid !== null;
      if (isKnown || binding.target === null || isSameTarget(binding, was)) continue;
      const shown = plan.rendered.find((it) => it.placement === key && it.cluster === cluster)?.manifests ?? [];
      const brought: readonly { readonly id: ObjectId }[] = [...shown, ...binding.leaving];
      if (brought.some(({ id }) => targets.some((it) => coversObject(it, id))))
        yield defect(
          "UnidentifiedClusterTargeted",
          { kind: "binding", placement: key, cluster },
          `brings ${key} to ${cluster}, which was never reached and may be protected under another name`,
        );
    }
  }
}

const isSameTarget = ({ target }: Binding, was: Binding | undefined): boolean => target?.digest === was?.target?.digest;

/** Every name that protected a cluster is still its name or recorded as a former one. */
function* keepsNames(
  { ledger }: Plan,
  world: World,
  targets: readonly ProtectedTarget[],
): Generator<PlanDefect<NameDefectCode>> {
  const before = world.ledger;
  if (ledger.formerNames.size >= maxFormerNames) return;
  const left = [...before.clusters.values()]
    .filter((it) => ledger.clusters.get(it.name)?.kubeSystemUid !== it.kubeSystemUid)
    .map(({ name, kubeSystemUid }) => ({ uid: kubeSystemUid, names: [name] }));
  for (const { uid, names } of [...left, ...before.formerNames.values()]) {
    if (uid === null) continue;
    const now = targetsUnder(ledger.formerNames.get(uid)?.names ?? [], uid, targets);
    const lost = targetsUnder(names, uid, targets).find((it) => !now.includes(it));
    if (lost !== undefined)
      yield defect(
        "FormerNameForgotten",
        { kind: "ledger" },
        `forgets that the cluster ${uid} was protected as ${names.join(" and ")}, and nobody released it`,
      );
  }
}

/**
 * The targets that cover a cluster by these names. Targets that cover it by uid, or released it, do not depend on
 * names.
 */
const targetsUnder = (
  names: readonly ClusterName[],
  uid: string,
  targets: readonly ProtectedTarget[],
): readonly ProtectedTarget[] =>
  targets.filter(
    ({ clusters, released }) =>
      released?.includes(uid) !== true &&
      clusters.some((pattern) => !pattern.endsWith(`@${uid}`) && names.some((it) => coversCluster(pattern, it))),
  );
