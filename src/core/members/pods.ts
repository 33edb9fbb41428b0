import { type JsonObject, listAt, memberAt, textOf } from "../model/json.ts";
import { type Amounts, amountsIn, decimalText, largest, measured } from "./amounts.ts";

/** Pods that ask for something of a node: scheduled, and not ended. A member that ignores it lists all. */
export const requestingPods = "spec.nodeName!=,status.phase!=Failed,status.phase!=Succeeded";

/** What the containers of pods ask for: of those that stand on a node and have not ended. */
export function requestedBy(pods: readonly JsonObject[]): Amounts {
  const sum = new Map<string, bigint>();
  for (const pod of pods) {
    const [node, phase] = [textOf(memberAt(pod, "spec", "nodeName")), textOf(memberAt(pod, "status", "phase"))];
    if (node === null || node === "" || phase === "Succeeded" || phase === "Failed") continue;
    for (const container of listAt(pod, "spec", "containers")) {
      const amounts = amountsIn(memberAt(container, "resources", "requests"));
      for (const name of measured) sum.set(name, (sum.get(name) ?? 0n) + (amounts.get(name) ?? 0n));
    }
  }
  return sum;
}

/**
 * A page of pods as one that asks for what they do together: there may be two hundred thousand. The sum is spread over
 * containers, because what a single one asks for beyond `largest` is left out.
 */
export function summedPods(page: readonly JsonObject[]): readonly JsonObject[] {
  const containers = [...requestedBy(page)].flatMap(([name, amount]) =>
    sharesOf(amount).map((it) => ({ resources: { requests: { [name]: decimalText(it) } } })),
  );
  return [{ spec: { nodeName: "any", containers } }];
}

function sharesOf(amount: bigint): readonly bigint[] {
  const full = Array.from({ length: Number(amount / largest) }, () => largest);
  return [...full, amount % largest];
}
