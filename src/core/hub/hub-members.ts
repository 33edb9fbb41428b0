import type { MemberCluster, MemberProperty } from "../model/fleet.ts";
import { isObject, type Json, type JsonObject, memberAt, textOf, textsOf } from "../model/json.ts";
import { type ClusterName, type Instant, instantOf, seconds } from "../model/value.ts";
import type { AgentReport } from "../schedule/framework/agent.ts";
import type { Candidate } from "../schedule/framework/cycle.ts";
import { declaredFacts, type MemberNamespaces } from "../schedule/framework/facts.ts";
import { type HubObject, nameOf } from "./hub-objects.ts";

/**
 * MemberClusters as the scheduler sees them. Those of a hub are eligible by what their agents report; files of a
 * repository without any report are taken as members that were never asked (`schedule/README.md#a-48`).
 */
export function hubMembers(members: readonly HubObject[], isHub: boolean): readonly Candidate[] {
  const isReported = isHub || members.some((it) => memberAt(it.value, "status", "agentStatus") !== null);
  return members.map(({ value }) => {
    const cluster = memberOf(value);
    const facts = { ...declaredFacts(cluster), namespaces: namespacesOf(value) };
    return { cluster, contactFailure: null, facts, agent: isReported ? agentReport(value) : null };
  });
}

function memberOf(value: JsonObject): MemberCluster {
  const usage = memberAt(value, "status", "resourceUsage");
  return {
    name: nameOf(value) as ClusterName,
    labels: textsOf(memberAt(value, "metadata", "labels")),
    taints: listAt(value, "spec", "taints").map((it) => ({
      key: textOf(memberAt(it, "key")) ?? "",
      value: textOf(memberAt(it, "value")) ?? "",
      effect: "NoSchedule",
    })),
    properties: propertiesOf(memberAt(value, "status", "properties")),
    resourceUsage: {
      capacity: quantitiesOf(memberAt(usage, "capacity")),
      allocatable: quantitiesOf(memberAt(usage, "allocatable")),
      available: quantitiesOf(memberAt(usage, "available")),
      observedAt: instantAt(usage, "observationTime"),
    },
    spec: {},
    source: { path: "", document: 0, line: 1, column: 1 },
  };
}

const propertiesOf = (value: Json): Readonly<Record<string, MemberProperty>> =>
  Object.fromEntries(
    entriesOf(value).map(([name, it]) => [
      name,
      { value: scalarText(memberAt(it, "value")), observedAt: instantAt(it, "observationTime") },
    ]),
  );

/** Around these, Kubernetes takes blanks off. */
const quantitiesOf = (value: Json): Readonly<Record<string, string>> =>
  Object.fromEntries(entriesOf(value).map(([name, it]) => [name, scalarText(it).trim()]));

const entriesOf = (value: Json): readonly (readonly [string, Json])[] => (isObject(value) ? Object.entries(value) : []);

const scalarText = (value: Json): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? String(value) : "";

const listAt = (value: Json, ...path: readonly string[]): readonly Json[] => {
  const found = memberAt(value, ...path);
  return Array.isArray(found) ? (found as readonly Json[]) : [];
};

const instantAt = (value: Json, ...path: readonly string[]): Instant | null => {
  const text = textOf(memberAt(value, ...path));
  return text === null ? null : instantOf(text);
};

function agentReport(value: JsonObject): AgentReport {
  const agent = listAt(value, "status", "agentStatus").find((it) => textOf(memberAt(it, "type")) === "MemberAgent");
  const period = memberAt(value, "spec", "heartbeatPeriodSeconds");
  const healthy = conditionIn(agent, "Healthy");
  return {
    isLeaving: textOf(memberAt(value, "metadata", "deletionTimestamp")) !== null,
    heartbeatPeriod: seconds(typeof period === "number" ? period : 60),
    agent:
      agent === undefined
        ? null
        : {
            heartbeat: instantAt(agent, "lastReceivedHeartbeat"),
            isJoined: textOf(memberAt(conditionIn(agent, "Joined"), "status")) === "True",
            healthy:
              healthy === undefined
                ? null
                : {
                    isTrue: textOf(memberAt(healthy, "status")) === "True",
                    since: instantAt(healthy, "lastTransitionTime") ?? (0 as Instant),
                  },
          },
  };
}

const conditionIn = (value: Json | undefined, type: string): Json | undefined =>
  listAt(value ?? null, "conditions").find((it) => textOf(memberAt(it, "type")) === type);

/** What a member says of its namespaces; null where it does not collect them. */
function namespacesOf(value: JsonObject): MemberNamespaces | null {
  const collected = conditionIn(memberAt(value, "status"), "NamespaceCollectionSucceeded");
  if (collected === undefined) return null;
  const names = Object.entries(textsOf(memberAt(value, "status", "namespaces")));
  const status = textOf(memberAt(collected, "status"));
  // Ours, of a member that never let us list them (`members/README.md#namespaces`).
  if (status === "Unknown" && names.length === 0) return null;
  return { names: names.length === 0 ? null : new Map(names), isCut: status === "False" };
}
