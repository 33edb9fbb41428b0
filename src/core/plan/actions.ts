import { placementActions } from "../apply/actions.ts";
import type { Ledger } from "../model/ledger.ts";
import { objectIdOf } from "../model/manifest.ts";
import type { ClusterActions, PlacementActions } from "../model/plan.ts";
import { type ClusterName, compareText } from "../model/value.ts";
import type { PlanContext } from "./context.ts";
import { heldIndex } from "./holding.ts";
import { renderTarget } from "./version.ts";

/**
 * What each member that answered has to do to carry what the ledger says.
 *
 * A member in trouble gets nothing: one that is silent cannot be told, and one that is another cluster than the one that
 * joined must not be (`RULINGS.md` D 8).
 */
export function actionsFor(ledger: Ledger, context: PlanContext): readonly ClusterActions[] {
  const work = new Map<ClusterName, PlacementActions[]>();
  const { isHeld, isForeignConfirmed } = heldIndex(ledger.deletions);
  const { world, content } = context;
  for (const [placement, record] of ledger.placements) {
    const sources = {
      snapshots: record.resourceSnapshots,
      overrides: ledger.overrides,
      scopes: world.intent.scopes,
      content,
    };
    for (const [cluster, binding] of record.bindings) {
      const member = world.observed.get(cluster);
      if (member?.kind !== "reached" || ledger.clusters.get(cluster)?.trouble !== null) continue;
      const actions = placementActions({
        placement,
        binding,
        member,
        render: () => {
          const rendering = renderTarget(binding, sources);
          return rendering?.kind === "rendered" ? rendering.manifests : null;
        },
        isHeld: (key) => isHeld(cluster, placement, objectIdOf(key)),
        isForeignConfirmed: (key) => isForeignConfirmed(cluster, placement, objectIdOf(key)),
        deleteAdopted: record.spec.strategy.deleteAdopted,
        applyStrategy: binding.target?.applyStrategy ?? record.spec.strategy.applyStrategy,
        now: world.now,
        patience: world.patience,
      });
      if (actions === null) continue;
      const list = work.get(cluster) ?? [];
      list.push(actions);
      work.set(cluster, list);
    }
  }
  return [...work]
    .sort(([a], [b]) => compareText(a, b))
    .map(([cluster, placements]) => ({
      cluster,
      clusterUid: ledger.clusters.get(cluster)?.kubeSystemUid ?? "",
      fleet: ledger.fleet,
      epoch: ledger.epoch,
      placements,
    }));
}
