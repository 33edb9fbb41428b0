import type { Tenant } from "../model/fleet.ts";
import type { Intent } from "../model/intent.ts";
import { builtInScopes } from "../model/manifest.ts";
import { clusterGroup, flotillaGroup, placementGroup } from "../model/names.ts";
import type { Placement } from "../model/placement.ts";
import type { Plan, World } from "../model/plan.ts";
import type { PlanDefect } from "../model/plan-defect.ts";
import { selectsIfAny } from "../model/value.ts";
import { defect, inventoryKey, placementActionsIn } from "./check-defect.ts";

/**
 * Lists what is applied beyond the grant of the tenant who asks for it: in other namespaces, in none, or of a kind that its
 * document may not be of (`intent/README.md#i-46`). What was accepted before the grant became tighter, and stays, is held.
 */
export function* checkTenants(plan: Plan, world: World): Generator<PlanDefect<"GrantExceeded">> {
  if (world.intent.tenants.length === 0) return;
  yield* appliesBeyond(plan, world);
  yield* goesBeyond(plan, world);
}

function* appliesBeyond({ actions }: Plan, { intent }: World): Generator<PlanDefect<"GrantExceeded">> {
  const held = new Set(intent.holds.map((it) => inventoryKey(it.id)));
  for (const [cluster, { placement: key, apply }] of placementActionsIn(actions)) {
    const placement = intent.placements.get(key);
    const asking = placement === undefined || held.has(documentKey(placement)) ? [] : tenantsAt(placement, intent);
    for (const { id } of apply) {
      const space = id.group === "" && id.kind === "Namespace" ? id.name : id.namespace;
      const object = inventoryKey(id);
      const source = held.has(object) ? undefined : intent.objects.get(object as never)?.source;
      const defining = source === undefined ? [] : tenantsAt({ source }, intent);
      const exceeded =
        asking.find((it) => (space === null ? !namesKind(it, id) : !namesSpace(it, space))) ??
        defining.find((it) => !namesKind(it, id) || (space !== null && !namesSpace(it, space)));
      if (exceeded === undefined) continue;
      const why = `which ${exceeded.folder} is not granted (${exceeded.place})`;
      yield defect(
        "GrantExceeded",
        { kind: "object", placement: key, cluster, object },
        `applies ${object} of ${key} to ${cluster}, ${why}`,
      );
    }
  }
}

/**
 * Clusters that are picked, or brought to something new, although the grant of the placement's tenant keeps it off them.
 * What is there stays, and what it carries is put right.
 */
function* goesBeyond({ ledger }: Plan, { ledger: old, intent }: World): Generator<PlanDefect<"GrantExceeded">> {
  for (const [key, { bindings, deleting }] of ledger.placements) {
    const before = old.placements.get(key)?.bindings;
    const placement = intent.placements.get(key);
    if (bindings === before || deleting !== null || placement === undefined) continue;
    const limits = tenantsAt(placement, intent).filter((it) => it.clusters !== null);
    for (const { cluster, state, target } of limits.length === 0 ? [] : bindings.values()) {
      const was = before?.get(cluster);
      const isPicked = state !== "Unscheduled" && (was === undefined || was.state === "Unscheduled");
      const isBrought =
        target !== null && (was?.target?.digest !== target.digest || was.target.sequence !== target.sequence);
      const labels = intent.clusters.get(cluster)?.labels;
      const exceeded = labels === undefined ? undefined : limits.find((it) => !selectsIfAny(it.clusters, labels));
      if (exceeded === undefined || !(isPicked || isBrought)) continue;
      const what = isPicked ? `picks ${cluster} for ${key}` : `brings something new of ${key} to ${cluster}`;
      const why = `which ${exceeded.folder} is not granted (${exceeded.place})`;
      yield defect("GrantExceeded", { kind: "binding", placement: key, cluster }, `${what}, ${why}`);
    }
  }
}

/** The key of a placement's document. */
const documentKey = ({ scope, namespace, name }: Placement): string => {
  const kind = scope === "Cluster" ? "ClusterResourcePlacement" : "ResourcePlacement";
  return inventoryKey({ group: placementGroup, kind, namespace, name });
};

const tenantsAt = ({ source }: Pick<Placement, "source">, { tenants }: Intent): readonly Tenant[] => {
  const path = source.path.normalize("NFC").toLowerCase();
  return tenants.filter((it) => path.indexOf(it.folder.normalize("NFC").toLowerCase()) === 0);
};

const namesSpace = ({ namespaces }: Tenant, space: string): boolean =>
  namespaces.some((it) => new RegExp(`^${it.replace("*", ".*")}$`).test(space));

const namesKind = ({ kinds }: Tenant, { group, kind }: { readonly group: string; readonly kind: string }): boolean => {
  const isFamiliar =
    builtInScopes.has(`${group}/${kind}`) || [placementGroup, clusterGroup, flotillaGroup].includes(group);
  return kinds.some((it) => it === `${kind}.${group}` || (isFamiliar && it === kind));
};
