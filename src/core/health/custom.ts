import { memberAt } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Health } from "../model/observation.ts";
import {
  available,
  conditionText,
  countAt,
  failed,
  type LiveCondition,
  liveCondition,
  notObserved,
  progressing,
  untrackable,
} from "./verdicts.ts";

/**
 * Judges a custom resource by the common habits of controllers: a `Ready` or `Available` condition, with the generation
 * that it speaks of (`health/README.md#c-4`). One without either cannot be judged. `Stalled` is the one explicit
 * failure that these habits know (kstatus).
 */
export function customHealth(live: Manifest): Health {
  const type = ["Ready", "Available"].find((it) => liveCondition(live, it) !== null);
  const condition = type === undefined ? null : liveCondition(live, type);
  if (type === undefined || condition === null) return untrackable;
  const observed = observedBy(live, condition);
  if (observed === null) return untrackable;
  if (observed !== countAt(live, ["metadata", "generation"])) return notObserved;
  if (condition.status === "True") return available;
  const stalled = liveCondition(live, "Stalled");
  if (stalled?.status === "True") return failed(conditionText("Stalled", stalled));
  return progressing(conditionText(type, condition));
}

function observedBy(live: Manifest, condition: LiveCondition): number | null {
  if (condition.observedGeneration !== null) return condition.observedGeneration;
  const observed = memberAt(live, "status", "observedGeneration");
  return typeof observed === "number" ? observed : null;
}
