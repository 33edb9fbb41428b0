import { isObject, type Json, type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import { nodeCountProperty } from "../../../core/model/names.ts";
import { quantityOf } from "../../../core/model/quantity.ts";

/** A node to simulate: quantities as they are written. */
export interface SimulatedNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** The one node of a cluster that nothing else is said of. */
export const ordinaryNodes: readonly SimulatedNode[] = [nodeOf(0, { cpu: "8", memory: "32Gi" })];

const mostNodes = 1_000;

/**
 * Nodes as the `status` of a MemberCluster declares them: so many, with all that it has divided among them, of its types
 * of machine and in its region. Null where it declares no number.
 */
export function declaredNodes(memberCluster: Json): readonly SimulatedNode[] | null {
  const properties = memberAt(memberCluster, "status", "properties");
  const count = Number(textOf(memberAt(properties, nodeCountProperty, "value")) ?? "x");
  if (!Number.isInteger(count) || count < 0 || count > mostNodes) return null;
  const usage = memberAt(memberCluster, "status", "resourceUsage");
  const capacity = memberAt(usage, "capacity");
  const allocatable = memberAt(usage, "allocatable");
  const types = declaredTypes(properties);
  const region = textOf(memberAt(memberCluster, "metadata", "labels", "fleet.azure.com/location"));
  return Array.from({ length: count }, (_, at) => {
    const has = {
      cpu: share(capacity, "cpu", at, count) ?? "8",
      memory: share(capacity, "memory", at, count) ?? "32Gi",
    };
    const type = types[at];
    return {
      ...nodeOf(at, has, {
        cpu: share(allocatable, "cpu", at, count) ?? has.cpu,
        memory: share(allocatable, "memory", at, count) ?? has.memory,
      }),
      labels: {
        "kubernetes.io/hostname": `node-${at + 1}`,
        ...(type === undefined ? {} : { "node.kubernetes.io/instance-type": type }),
        ...(region === null ? {} : { "topology.kubernetes.io/region": region }),
      },
    };
  });
}

function nodeOf(
  at: number,
  capacity: Readonly<Record<string, string>>,
  allocatable: Readonly<Record<string, string>> = capacity,
): SimulatedNode {
  const name = `node-${at + 1}`;
  const rest = { "ephemeral-storage": "100Gi", pods: "110" };
  return {
    name,
    labels: { "kubernetes.io/hostname": name },
    capacity: { ...capacity, ...rest },
    allocatable: { ...allocatable, ...rest },
  };
}

/** The type of each node, in the order in which types are declared; of the others there is none. */
function declaredTypes(properties: Json): readonly string[] {
  return Object.entries(isObject(properties) ? (properties as JsonObject) : {}).flatMap(([name, it]) => {
    const [, type] = /^kubernetes\.azure\.com\/vm-sizes\/([^/]+)\/count$/.exec(name) ?? [];
    const count = Number(textOf(memberAt(it, "value")) ?? "0");
    return type === undefined || !Number.isInteger(count) ? [] : Array<string>(Math.min(count, mostNodes)).fill(type);
  });
}

/** A node's part of an amount, in whole thousandths of CPU and whole bytes; the first one has what does not divide. */
function share(amounts: Json, name: "cpu" | "memory", at: number, count: number): string | null {
  const written = memberAt(amounts, name);
  const amount = written === null ? null : quantityOf(String(written));
  if (amount === null) return null;
  const unit = name === "cpu" ? 1_000_000n : 1_000_000_000n;
  const units = amount.nanos / unit;
  const part = units / BigInt(count) + (at === 0 ? units % BigInt(count) : 0n);
  return name === "cpu" ? `${part}m` : String(part);
}
