import type { Override } from "../model/override.ts";
import type { Eviction, Placement, PlacementPolicy } from "../model/placement.ts";
import type { UpdateRun } from "../model/update-run.ts";
import { error, type Remark } from "../yaml/remark.ts";
import type { Content } from "./content.ts";
import { tolerationKey } from "./kinds/policy-rules.ts";

/** Checks an object against its accepted version: what a hub lets nobody change stays as it was. */
export function updateRemarks(before: Content, after: Content): readonly Remark[] {
  if (before.kind === "placement" && after.kind === "placement")
    return placementRemarks(before.placement, after.placement);
  if (before.kind === "override" && after.kind === "override") return overrideRemarks(before.override, after.override);
  if (before.kind === "run" && after.kind === "run") return runRemarks(before.run, after.run);
  if (before.kind === "eviction" && after.kind === "eviction") return evictionRemarks(before.eviction, after.eviction);
  return [];
}

type Unsourced<T> = Omit<T, "source">;

/**
 * `intent/README.md#v-crp-02`, `#v-crp-07`, `#v-pl-21`: the placement type is for life; `#v-pl-61`: so is External.
 * `#v-pl-56`: tolerations grow.
 */
function placementRemarks(
  { spec: before }: Unsourced<Placement>,
  { spec: after }: Unsourced<Placement>,
): readonly Remark[] {
  if (before.policy.kind !== after.policy.kind) {
    const message = `cannot change from ${before.policy.kind} to ${after.policy.kind}`;
    return [error("FLT1315", ["spec", "policy", "placementType"], message, "write a placement with another name")];
  }
  if (before.strategy.type === "External" && after.strategy.type !== "External") {
    const message = "cannot change from External to RollingUpdate";
    return [error("FLT1315", ["spec", "strategy", "type"], message, "put External back")];
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

/** `intent/README.md#v-cro-02`, `#v-ro-01`: an override belongs to the placement it was made for. */
function overrideRemarks(
  { spec: before }: Unsourced<Override>,
  { spec: after }: Unsourced<Override>,
): readonly Remark[] {
  if (before.placement === after.placement) return [];
  const text = (it: string | null): string => it ?? "every placement";
  const message = `cannot change from ${text(before.placement)} to ${text(after.placement)}`;
  return [error("FLT1315", ["spec", "placement"], message, "write an override with another name")];
}

/**
 * `intent/README.md#v-ur-04`: a run is for one version of one placement. An absent index and an empty one are the same.
 */
function runRemarks({ spec: before }: Unsourced<UpdateRun>, { spec: after }: Unsourced<UpdateRun>): readonly Remark[] {
  const fields = [
    ["placementName", before.placement, after.placement],
    ["resourceSnapshotIndex", before.resourceIndex ?? "none", after.resourceIndex ?? "none"],
    ["stagedRolloutStrategyName", before.strategy, after.strategy],
  ] as const;
  const changed = fields
    .filter(([, was, is]) => was !== is)
    .map(([field, was, is]) =>
      error("FLT1315", ["spec", field], `cannot change from ${was} to ${is}`, "write a run with another name"),
    );
  const next = nextState[before.state];
  if (after.state === before.state || after.state === next) return changed;
  const message = `cannot change from ${before.state} to ${after.state}`;
  return [...changed, error("FLT1315", ["spec", "state"], message, `from ${before.state} it can only go to ${next}`)];
}

/** `intent/README.md#v-ur-06`: what has begun can be stopped and resumed, and never becomes a plan again. */
const nextState = { Initialize: "Run", Run: "Stop", Stop: "Run" } as const;

/** `intent/README.md#v-crpe-02`: an eviction is one order. */
function evictionRemarks(before: Unsourced<Eviction>, after: Unsourced<Eviction>): readonly Remark[] {
  const fields = [
    ["placementName", before.placement, after.placement],
    ["clusterName", before.cluster, after.cluster],
  ] as const;
  return fields
    .filter(([, was, is]) => was !== is)
    .map(([field, was, is]) =>
      error("FLT1315", ["spec", field], `cannot change from ${was} to ${is}`, "write an eviction with another name"),
    );
}
