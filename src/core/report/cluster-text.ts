import { conditionOf } from "../model/condition.ts";
import type { MemberCluster } from "../model/fleet.ts";
import type { Intent } from "../model/intent.ts";
import type { ClusterRecord, Ledger } from "../model/ledger.ts";
import { coreCostProperty, nodeCountProperty, resourcePrefix } from "../model/names.ts";
import { compareText, type DurationMs, type Instant, instantText, shortDuration } from "../model/value.ts";
import { factsOfMember } from "../schedule/framework/facts.ts";
import { clusterRows, type TableRows } from "./tables.ts";

/** The record, the files that were accepted last, and the time of the look. */
interface Look {
  readonly ledger: Ledger;
  readonly intent: Pick<Intent, "clusters">;
  readonly cordoned: ReadonlySet<string>;
  readonly now: Instant;
}

/**
 * One property of a member as decisions read it, and who says it: the cluster itself, a provider, a price, or the file;
 * `record` where no file defines the member any more.
 */
interface KnownProperty {
  readonly name: string;
  readonly value: string;
  readonly from: string;
}

/** {@link clusterRows} with what is known of the members' resources: available of all, cost per core, age of that. */
export function wideClusterRows({ ledger, intent, cordoned, now }: Look, name: string | null): TableRows {
  const [header, rows] = clusterRows(ledger, name, cordoned);
  return [
    [...header, "NODES", "CPU", "MEMORY", "COST/CORE", "MEASURED"],
    rows.map((row) => {
      const record = ledger.clusters.get(row[0] as ClusterRecord["name"]);
      return record === undefined ? row : [...row, ...resourceCells(record, intent, now)];
    }),
  ];
}

function resourceCells(record: ClusterRecord, { clusters }: Look["intent"], now: Instant): readonly string[] {
  const member = clusters.get(record.name);
  const known = new Map(knownProperties(record, member).map((it) => [it.name, it.value]));
  const measuredAt = record.collection.measuredAt ?? member?.resourceUsage.observedAt ?? null;
  const amount = (resource: string): string => {
    const [available, total] = ["available", "total"].map((it) => known.get(`${resourcePrefix}${it}-${resource}`));
    return available === undefined && total === undefined ? "-" : `${available ?? "-"}/${total ?? "-"}`;
  };
  return [
    known.get(nodeCountProperty) ?? "-",
    amount("cpu"),
    amount("memory"),
    known.get(coreCostProperty) ?? "-",
    measuredAt === null ? "-" : `${shortDuration(Math.max(0, now - measuredAt) as DurationMs)} ago`,
  ];
}

/** The properties of a member, by name, each as the scheduler reads it. */
export function knownProperties(record: ClusterRecord, member: MemberCluster | undefined): readonly KnownProperty[] {
  const facts = member === undefined ? null : factsOfMember(member, record);
  const recorded = [...record.properties].map(([name, value]) => [name, { value }] as const);
  return [...(facts?.properties ?? recorded)]
    .map(([name, { value }]) => ({
      name,
      value,
      from: facts?.origins.get(name) ?? (facts === null ? "record" : "file"),
    }))
    .sort((a, b) => compareText(a.name, b.name));
}

/** Everything that is known of a member, for people: lines, its properties, and what it carries. */
export function describeCluster(
  record: ClusterRecord,
  { ledger, intent, cordoned, now }: Look,
): { readonly lines: readonly string[]; readonly properties: TableRows; readonly placements: TableRows } {
  const member = intent.clusters.get(record.name);
  const [, [row = []]] = clusterRows(ledger, record.name, cordoned) as TableRows & [unknown, [readonly string[]]];
  const { contactFailure, conditions, kubeSystemUid, collection, namespaces } = record;
  const [, version, status, available] = row;
  const lines = [
    `${record.name}: ${status}; Kubernetes ${version}; ${available} placements available`,
    ...(member === undefined ? ["  no file defines it any more"] : memberLines(member)),
    ...(kubeSystemUid === null ? ["  never reached yet"] : [`  UID of kube-system: ${kubeSystemUid}`]),
    ...(contactFailure === null
      ? []
      : [`  no contact since ${instantText(contactFailure.since)}: ${contactFailure.code}: ${contactFailure.message}`]),
    ...[...collection.labels].map(([key, value]) => `  its nodes tell: ${key}=${value} (affinity alone matches that)`),
    ...conditions.map(
      (it) => `  ${it.type} ${it.status} since ${instantText(it.lastTransitionTime)}: ${it.reason}: ${it.message}`,
    ),
    ...(namespaces === null ? [] : [`  namespaces: ${namespacesText(namespaces)}`]),
    ...(collection.measuredAt === null
      ? []
      : [`  resources measured ${shortDuration(Math.max(0, now - collection.measuredAt) as DurationMs)} ago`]),
  ];
  return {
    lines,
    properties: [
      ["PROPERTY", "VALUE", "FROM"],
      knownProperties(record, member).map((it) => [it.name, shortValue(it.value), it.from]),
    ],
    placements: carriedRows(record, ledger),
  };
}

/** So many namespaces are named; the others stand in the file of the state branch. */
const namedNamespaces = 10;

function namespacesText({ names, isCut }: NonNullable<ClusterRecord["namespaces"]>): string {
  const more = names.size - namedNamespaces;
  const shown = [...names.keys()].slice(0, namedNamespaces).join(", ");
  const rest = more > 0 ? ` and ${more} more` : "";
  return `${names.size === 0 ? "none" : shown}${rest}${isCut ? ", and others that are not recorded" : ""}`;
}

/** Longer ones, as certificates are, stand in the file of the state branch. */
const shortValue = (value: string): string =>
  value.length <= 100 ? value : `${value.slice(0, 60)}… (${value.length} characters)`;

function memberLines({ labels, taints, source }: MemberCluster): readonly string[] {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [
    `  defined in ${source.path}:${source.line}`,
    `  labels: ${pairs.length === 0 ? "none" : pairs.sort(compareText).join(", ")}`,
    ...taints.map(({ key, value, effect }) => `  taint: ${key}${value === "" ? "" : `=${value}`}:${effect}`),
  ];
}

/** What a member carries, and why. */
const carriedRows = ({ name }: ClusterRecord, { placements }: Ledger): TableRows => [
  ["PLACEMENT", "INDEX", "STATE", "AVAILABLE", "WHY"],
  [...placements.values()].flatMap(({ key, bindings }) => {
    const binding = bindings.get(name);
    if (binding === undefined) return [];
    const available = conditionOf(binding.conditions, "Available")?.status ?? "-";
    const state = binding.removal === null ? binding.state : "Removing";
    return [[key, `${binding.target?.resourceIndex ?? "-"}`, state, available, binding.decision.reason]];
  }),
];
