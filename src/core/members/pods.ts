import { type JsonObject, listAt, memberAt, textOf } from "../model/json.ts";
import { type Amounts, amountsIn } from "./amounts.ts";

/** Pods that ask for something of a node: scheduled, and not ended. A member that ignores it lists all. */
export const requestingPods = "spec.nodeName!=,status.phase!=Failed,status.phase!=Succeeded";

/** As much of a Pod as its requests need: the rest is forgotten with the page that it came in. */
export const reducedPod = (pod: JsonObject): JsonObject => ({
  node: textOf(memberAt(pod, "spec", "nodeName")),
  phase: textOf(memberAt(pod, "status", "phase")),
  requests: listAt(pod, "spec", "containers").map((it) => memberAt(it, "resources", "requests")),
});

/** What the containers of pods ask for, of pods as {@link reducedPod} leaves them. */
export function requestedBy(pods: readonly JsonObject[]): Amounts {
  const sum = new Map<string, bigint>();
  for (const pod of pods) {
    const { node = null, phase = null } = pod;
    if (node === null || node === "" || phase === "Succeeded" || phase === "Failed") continue;
    for (const requests of listAt(pod, "requests"))
      for (const [name, amount] of amountsIn(requests)) sum.set(name, (sum.get(name) ?? 0n) + amount);
  }
  return sum;
}
