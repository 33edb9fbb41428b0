import { boundedMessage, type Verdict } from "../model/condition.ts";

interface Judgement {
  readonly kind: "invalid" | "executed" | "refused";
  readonly message: string;
}

/**
 * The conditions of an eviction, in KubeFleet's terms: Valid, and Executed where it is valid
 * (`rollout/README.md#evictions`). Outcomes that share a reason differ by message alone. An eviction is immutable, so
 * its generation is 1.
 */
export function evictionVerdicts({ kind, message }: Judgement): readonly Verdict[] {
  switch (kind) {
    case "invalid":
      return [verdict("Valid", "False", "Invalid", message)];
    case "refused":
      return [valid, verdict("Executed", "False", "NotExecuted", message)];
    case "executed":
      return [valid, verdict("Executed", "True", "Executed", message)];
  }
}

const verdict = (type: string, status: Verdict["status"], reason: string, message: string): Verdict => ({
  type,
  status,
  reason: `ClusterResourcePlacementEviction${reason}`,
  message: boundedMessage(message),
  observedGeneration: 1,
});

const valid = verdict("Valid", "True", "Valid", "the placement is on the cluster, or is to be");
