import { type Json, memberAt, textOf } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Health } from "../model/observation.ts";

export const available: Health = { phase: "available" };
/** The object does not show whether it is available. */
export const untrackable: Health = { phase: "untrackable" };
export const progressing = (message: string): Health => ({ phase: "progressing", message });
/** Reported by the object itself as failed. */
export const failed = (message: string): Health => ({ phase: "failed", message });

/** The whole number at a path of an object; `otherwise` where there is none, as Kubernetes leaves zeros out. */
export function integerAt(live: Manifest, path: readonly string[], otherwise = 0): number {
  const value = memberAt(live, ...path);
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : otherwise;
}

/** One entry of `status.conditions`, as the object's controller wrote it. */
export interface LiveCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Null where the controller does not say which generation it looked at. */
  readonly observedGeneration: number | null;
}

/** The condition of that type in an object's status, or null. */
export function liveCondition(live: Manifest, type: string): LiveCondition | null {
  const conditions = memberAt(live, "status", "conditions");
  if (!Array.isArray(conditions)) return null;
  const found = conditions.find((it: Json) => memberAt(it, "type") === type);
  if (found === undefined) return null;
  const observed = memberAt(found, "observedGeneration");
  return {
    status: textOf(memberAt(found, "status")) ?? "",
    reason: textOf(memberAt(found, "reason")) ?? "",
    message: textOf(memberAt(found, "message")) ?? "",
    observedGeneration: typeof observed === "number" ? observed : null,
  };
}

/** What a condition says, in a line: its message, or its reason where it has none. At most 200 characters. */
export function conditionText(type: string, { status, reason, message }: LiveCondition): string {
  const said = message === "" ? reason : message;
  return (said === "" ? `${type} is ${status}` : `${type} is ${status}: ${said}`).slice(0, 200);
}

/** Whether the controller has seen the object as it is now: `status.observedGeneration` is `metadata.generation`. */
export const isObserved = (live: Manifest): boolean =>
  integerAt(live, ["status", "observedGeneration"]) === integerAt(live, ["metadata", "generation"]);

/** Its status is about an earlier generation. */
export const notObserved: Health = progressing("its controller has not seen the latest version yet");
