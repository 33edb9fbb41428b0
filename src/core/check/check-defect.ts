import type { ClusterActions, ObjectRemoval, PlacementActions } from "../model/plan.ts";
import type { DefectSubject, PlanDefect, PlanDefectCode } from "../model/plan-defect.ts";

// Shared by all checks; the planner has its own.

/** A defect; the message is a sentence without its subject, which is the plan. */
export const defect = <Code extends PlanDefectCode>(
  code: Code,
  subject: DefectSubject,
  message: string,
): PlanDefect<Code> => ({ code, subject, message });

/** The actions of every cluster and placement. */
export function* placementActionsIn(
  actions: readonly ClusterActions[],
): Generator<readonly [ClusterActions["cluster"], PlacementActions]> {
  for (const { cluster, placements } of actions) for (const work of placements) yield [cluster, work];
}

type Named = {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
};

/** An object's key, as inventories and actions write it. */
export const inventoryKey = (id: Named): string => [id.group, id.kind, id.namespace ?? "", id.name].join("/");

/** Whether a key is that of an object. */
export const sameKey = (key: string, id: Named): boolean => key === inventoryKey(id);

/** Whether a removal is of an object. */
export const sameObject = (id: Named, gone: ObjectRemoval): boolean => sameKey(gone.key, id);
