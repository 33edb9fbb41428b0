import type { Condition } from "../../model/condition.ts";
import { isObject, type Json, type JsonObject, listAt, member } from "../../model/json.ts";
import type { Instant } from "../../model/value.ts";
import { at, listOf, object, type ReadContext, reportProblem, unlessEmpty } from "./codec.ts";
import { choice, decodedOnce, instant, integer, string } from "./scalars.ts";

/** Kubernetes' `metav1.Condition`. */
const condition = object<Condition>({
  type: string,
  status: choice("Unknown", "True", "False"),
  reason: string,
  message: string,
  observedGeneration: integer,
  lastTransitionTime: instant,
});

/** A thousand bindings say the same. */
export const conditions = decodedOnce(listOf(condition));

/** The same, left out where there are none. */
export const conditionsIfAny = unlessEmpty(conditions);

/** What makes a condition that is True. */
export interface TrueCondition {
  readonly reason: string;
  readonly message: string;
  readonly at: Instant;
}

/** A stage's conditions count the generation of its run. */
export interface OfRun {
  readonly generation: number;
}

export const trueCondition = (type: string, { reason, message, at }: TrueCondition, { generation }: OfRun): Json =>
  condition.write({ type, status: "True", reason, message, observedGeneration: generation, lastTransitionTime: at }) ??
  null;

/** The condition of that type, which is True or not there. */
export function trueConditionIn(from: JsonObject, type: string, context: ReadContext): JsonObject | null {
  const found = listAt(from, "conditions").find((it) => member(it, "type") === type);
  if (!isObject(found)) return null;
  return found["status"] === "True" ? found : reportProblem(context, type, "is present and not True", found);
}

/** When a condition became True. */
export const transition = (from: JsonObject, context: ReadContext): Instant =>
  at(["lastTransitionTime"], instant).take(from, context);
