import type { MemberCluster as WrittenCluster } from "#schemas/member-cluster";
import schema from "../../../../schemas/member-cluster.json" with { type: "json" };
import type { MemberCluster, MemberProperty } from "../../model/fleet.ts";
import type { Json } from "../../model/json.ts";
import { clusterGroup, memberNameLabel } from "../../model/names.ts";
import { quantityOf } from "../../model/quantity.ts";
import { type ClusterName, type Instant, instantOf } from "../../model/value.ts";
import { error, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";
import { repeatedProblems } from "./fields.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";
import { dnsLabelProblems, isLabelValue, isQualifiedName, malformedProblem, newerFieldProblems } from "./metadata.ts";

/** Members of the fleet. */
export const memberClusterKind: ReadKind<WrittenCluster, ContentOf<"cluster">> = {
  names: [{ group: clusterGroup, kind: "MemberCluster", scope: "Cluster", versions: ["v1", "v1beta1"] }],
  schema,
  ownPlace: null,
  rules: (it) => memberClusterProblems(it),
  content: (it) => ({ kind: "cluster", cluster: memberClusterFrom(it) }),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};

type WrittenQuantities = Readonly<Record<string, string | number>>;

function memberClusterFrom({ metadata, spec, status }: WrittenCluster): Omit<MemberCluster, "source"> {
  const { capacity = {}, allocatable = {}, available = {}, observationTime } = status?.resourceUsage ?? {};
  const properties = Object.entries(status?.properties ?? {}).map(([name, it]): [string, MemberProperty] => [
    name,
    { value: it.value, observedAt: observedAt(it.observationTime) },
  ]);
  return {
    name: metadata.name as ClusterName,
    labels: { ...metadata.labels, [memberNameLabel]: metadata.name },
    taints: (spec.taints ?? []).map(({ key, value = "", effect }) => ({ key, value, effect })),
    properties: Object.fromEntries(properties),
    resourceUsage: {
      capacity: quantitiesOf(capacity),
      allocatable: quantitiesOf(allocatable),
      available: quantitiesOf(available),
      observedAt: observedAt(observationTime),
    },
    spec: defaulted(spec),
  };
}

/** A time that cannot be read says nothing: it decides nothing. */
const observedAt = (text: string | undefined): Instant | null => (text === undefined ? null : instantOf(text));

/** Checks a member cluster (`intent/README.md#v-mc-01`, `#v-mc-05` … `#v-mc-07`, `yaml/README.md#b-113`). */
function memberClusterProblems({ apiVersion, metadata, spec, status }: WrittenCluster): FieldProblems {
  const taints = spec.taints ?? [];
  const taintAt = (i: number): JsonPath => ["spec", "taints", i];
  const { capacity = {}, allocatable = {}, available = {} } = status?.resourceUsage ?? {};
  return [
    ...dnsLabelProblems(metadata.name),
    ...memberNameProblems(metadata.name, metadata.labels?.[memberNameLabel]),
    ...taints.flatMap(({ key }, i) =>
      isQualifiedName(key) ? [] : [malformedProblem("taint key", [...taintAt(i), "key"], key)],
    ),
    ...taints.flatMap(({ value = "" }, i) =>
      isLabelValue(value) ? [] : [malformedProblem("taint value", [...taintAt(i), "value"], value)],
    ),
    ...repeatedProblems(taints, ({ key, value = "", effect }) => JSON.stringify([key, value, effect]), [
      ["spec", "taints"],
      "this taint occurs twice",
    ]),
    ...quantityProblems(capacity, "capacity"),
    ...quantityProblems(allocatable, "allocatable"),
    ...quantityProblems(available, "available"),
    ...newerFieldProblems(apiVersion, ["spec"], { deleteOptions: spec.deleteOptions }),
  ];
}

/** The label is filled in with the cluster's own name; another value would select the wrong cluster. */
function memberNameProblems(name: string, label: string | undefined): FieldProblems {
  if (label === undefined || label === name) return [];
  const at: JsonPath = ["metadata", "labels", memberNameLabel];
  return [error("FLT1305", at, "must be the cluster's own name", "remove it; it is filled in")];
}

/** The form that a hub's schema asks of quantities. */
const quantity =
  /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))?$/;

const quantityProblems = (written: WrittenQuantities, field: string): FieldProblems =>
  Object.entries(written)
    .filter(([, it]) => !quantity.test(String(it)) || quantityOf(String(it)) === null)
    .map(([resource]) =>
      error("FLT1302", ["status", "resourceUsage", field, resource], "is not a quantity", "write 4, 500m or 16Gi"),
    );

const quantitiesOf = (written: WrittenQuantities): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(written).map(([resource, it]) => [resource, String(it)]));

function defaulted(spec: WrittenCluster["spec"]): Json {
  const { deleteOptions } = spec;
  return {
    heartbeatPeriodSeconds: 60,
    ...spec,
    ...(deleteOptions === undefined ? {} : { deleteOptions: { validationMode: "Strict", ...deleteOptions } }),
  };
}
