import type { Override } from "../model/override.ts";
import type { Placement, PlacementPolicy } from "../model/placement.ts";
import type { Content } from "./content.ts";
import { tolerationKey } from "./policy-rules.ts";
import { error, type Remark } from "./remark.ts";

/** Checks an object against its accepted version: what a hub lets nobody change stays as it was. */
export function updateRemarks(before: Content, after: Content): readonly Remark[] {
  if (before.kind === "placement" && after.kind === "placement")
    return placementRemarks(before.placement, after.placement);
  if (before.kind === "override" && after.kind === "override") return overrideRemarks(before.override, after.override);
  return [];
}

type Unsourced<T> = Omit<T, "source">;

/** V-CRP-02, V-CRP-07, V-PL-21: the placement type is for life. V-PL-56: tolerations only grow. */
function placementRemarks(
  { spec: before }: Unsourced<Placement>,
  { spec: after }: Unsourced<Placement>,
): readonly Remark[] {
  if (before.policy.kind !== after.policy.kind) {
    const message = `cannot change from ${before.policy.kind} to ${after.policy.kind}`;
    return [error("FLT1315", ["spec", "policy", "placementType"], message, "write a placement with another name")];
  }
  const present = new Set(tolerationsOf(after.policy).map(tolerationKey));
  const lost = tolerationsOf(before.policy).filter((it) => !present.has(tolerationKey(it)));
  return lost.map(({ key, value, effect }) => {
    const what = [key === "" ? "every taint" : key, value, effect].filter((it) => it !== "").join(" ");
    const message = `the accepted toleration of ${what} is gone; tolerations can only be added`;
    return error("FLT1315", ["spec", "policy", "tolerations"], message, "put it back");
  });
}

const tolerationsOf = (policy: PlacementPolicy) => (policy.kind === "PickFixed" ? [] : policy.tolerations);

/** V-CRO-02, V-RO-01: an override belongs to the placement it was made for. */
function overrideRemarks(
  { spec: before }: Unsourced<Override>,
  { spec: after }: Unsourced<Override>,
): readonly Remark[] {
  if (before.placement === after.placement) return [];
  const text = (it: string | null): string => it ?? "every placement";
  const message = `cannot change from ${text(before.placement)} to ${text(after.placement)}`;
  return [error("FLT1315", ["spec", "placement"], message, "write an override with another name")];
}
