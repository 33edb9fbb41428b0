import type { WireResponse } from "../../../src/shell/kube/client/transport.ts";
import type { Lie } from "../step.ts";

type Json = unknown;

const pagesAbout =
  /^\/(api\/v1\/nodes|api\/v1\/pods|version|api\/v1\/namespaces\/flotilla-system\/configmaps\/flotilla-properties)$/;

/**
 * What a member says of itself instead of the truth, with the `at`th answer; null where it does not lie. Who it is, and
 * what it carries, is told as it is.
 */
export function liedAnswer(lie: Lie, path: string, truth: WireResponse, at: number): WireResponse | null {
  const page = pagesAbout.exec(path)?.[1]?.split("/").at(-1) as keyof typeof lies.changing | undefined;
  if (lie === "none" || page === undefined) return null;
  if (lie === "cut")
    return page === "version" ? null : { ...truth, status: 200, text: truth.text.slice(0, truth.text.length / 2) };
  if (lie === "forbidden")
    return page === "version" ? null : { ...truth, status: 403, text: JSON.stringify(forbidden) };
  return { ...truth, status: 200, text: JSON.stringify(lies[lie][page](at)) };
}

const forbidden = { kind: "Status", status: "Failure", reason: "Forbidden", message: "no", code: 403 };

const nodes = (...all: readonly Json[]): Json => ({ kind: "NodeList", metadata: { resourceVersion: "1" }, items: all });
const pods = (...all: readonly Json[]): Json => ({ kind: "PodList", metadata: { resourceVersion: "1" }, items: all });

const nodeOf = (amount: string, more: Readonly<Record<string, string>> = {}): Json => ({
  metadata: { name: "n", labels: { "node.kubernetes.io/instance-type": "t".repeat(60) } },
  status: { capacity: { cpu: amount, memory: amount, ...more }, allocatable: { cpu: amount, memory: amount } },
});
const podOf = (amount: string): Json => ({
  spec: { nodeName: "n", containers: [{ resources: { requests: { cpu: amount, memory: amount } } }] },
});

const many = (count: number, value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`made.up/r${at}`, value]));

type Answers = Readonly<Record<"nodes" | "pods" | "version" | "flotilla-properties", (at: number) => Json>>;

const lies: Readonly<Record<Exclude<Lie, "none" | "cut" | "forbidden">, Answers>> = {
  negative: {
    nodes: () => nodes(nodeOf("-4", many(2, "-1")), nodeOf("2")),
    pods: () => pods(podOf("-5"), podOf("1")),
    version: () => ({ gitVersion: "-1" }),
    "flotilla-properties": () => ({ data: { quota: "-3", "kubernetes-fleet.io/node-count": "-3" } }),
  },
  huge: {
    nodes: () => nodes(nodeOf("1e399", many(300, "1e20")), nodeOf("9".repeat(399))),
    pods: () => pods(podOf("1e399"), podOf("9".repeat(390))),
    version: () => ({ gitVersion: "v".repeat(10_000) }),
    "flotilla-properties": () => ({ data: many(500, "1e300") }),
  },
  nonsense: {
    nodes: () => ({ kind: "NodeList", items: [null, 3, { metadata: "no", status: { capacity: [1] } }, { spec: [] }] }),
    pods: () => ({ kind: "PodList", items: [{ spec: { nodeName: 3, containers: { a: 1 } } }, "pod", {}] }),
    version: () => ({ gitVersion: ["v1"] }),
    "flotilla-properties": () => ({ data: { "properties.json": "[{]", quota: "" } }),
  },
  changing: {
    nodes: (at) => nodes(...Array.from({ length: 1 + (at % 5) }, () => nodeOf(String(1 + (at % 7))))),
    pods: (at) => pods(podOf(String(at % 3))),
    version: (at) => ({ gitVersion: `v1.${at}` }),
    "flotilla-properties": (at) => ({ data: { quota: String(at % 4) } }),
  },
};
