import type {
  Binding,
  BindingFacts,
  ClusterDecision,
  ContestedObject,
  HandOver,
  Target,
} from "../../../src/core/model/binding.ts";
import type { ConfirmationRecord, DeletionLedger } from "../../../src/core/model/deletion.ts";
import type { DeletionBounds } from "../../../src/core/model/fleet.ts";
import type { Hold } from "../../../src/core/model/intent.ts";
import type {
  ClusterRecord,
  FormerNames,
  Ledger,
  PlacementRecord,
  PolicySnapshot,
  ResourceSnapshot,
} from "../../../src/core/model/ledger.ts";
import type { EnvelopeRef, ObjectId, VersionedId } from "../../../src/core/model/manifest.ts";
import type { OverrideSnapshot, OverrideSpec } from "../../../src/core/model/override.ts";
import {
  type PlacementPolicy,
  type PlacementSpec,
  placementKey,
  type Toleration,
} from "../../../src/core/model/placement.ts";
import type { Quarantine } from "../../../src/core/model/plan-defect.ts";
import {
  type BlobId,
  type ClusterName,
  compareText,
  type Digest,
  type DurationMs,
  type Epoch,
  type PlacementKey,
  type Sequence,
} from "../../../src/core/model/value.ts";
import { type Random, seeded } from "../intent/random.ts";
import {
  applyStrategy,
  blob,
  clusterNames,
  commit,
  condition,
  digest,
  flag,
  hex,
  instant,
  keysOf,
  labels,
  many,
  maybe,
  selector,
  sequence,
  text,
} from "../yaml/random-values.ts";
import { randomEviction, randomRun } from "./run-records.ts";
import { randomAnswers, randomChange, randomTrust } from "./trust-records.ts";

/** A valid ledger that uses every shape the model has, the same for the same seed. */
export function randomLedger(seed: number): Ledger {
  const random = seeded(seed);
  const clusters = keysOf(random, clusterNames).map((it) => cluster(random, it as ClusterName));
  const placements = keysOf(random, placementNames).map((it) => placement(random, it));
  const ledger = {
    fleet: hex(random, 16),
    epoch: random.below(3) as Epoch,
    sequence: (random.below(1000) + 1) as Sequence,
    sourceCommit: maybe(random, () => commit(random)),
    holds: many(random, 3, () => hold(random)),
    deletions: deletions(random),
    clusters: new Map(clusters.map((it) => [it.name, it])),
    placements: new Map(placements.map((it) => [it.key, it])),
    overrides: overrides(random),
  };
  const runs = keysOf(random, runNames).map((it) => randomRun(random, it));
  const evictions = keysOf(random, evictionNames).map((it) => randomEviction(random, it));
  return {
    ...ledger,
    runs: new Map(runs.map((it) => [it.key, it])),
    evictions: new Map(evictions.map((it) => [it.name, it])),
    quarantines: new Map(
      keysOf(random, ["api", "web"]).map((it) => [it as PlacementKey, randomQuarantine(random, it)]),
    ),
    formerNames: new Map(many(random, 3, () => formerNames(random)).map((it) => [it.uid, it])),
    hasTrust: flag(random),
    trust: maybe(random, () => randomTrust(random)),
    answers: maybe(random, () => randomAnswers(random)) ?? new Map(),
    takenAway: new Set([...many(random, 3, () => hex(random, 40) as BlobId)].sort(compareText)),
  };
}

const formerNames = (random: Random): FormerNames => ({
  uid: hex(random, 8),
  names: [...clusterNames.slice(random.below(clusterNames.length))] as ClusterName[],
  since: random.below(9) as Sequence,
});

const runNames = ["1", "a-b/v1", "a/v1", "no", "shop-v2"];
const evictionNames = ["10", "9", "away.1"];
const placementNames = ["a-b/web", "a/web", "no", "null", "shop", "web"];
const objectId = (random: Random): ObjectId => ({
  group: random.pick(["", "apps", "rbac.authorization.k8s.io"]),
  kind: random.pick(["Deployment", "Namespace", "ClusterRole"]),
  namespace: maybe(random, () => "shop"),
  name: random.pick(["web", "1", "system:reader", "no"]),
});

const versionedId = (random: Random): VersionedId => ({ ...objectId(random), version: random.pick(["v1", "v1beta1"]) });

const hold = (random: Random): Hold => ({
  id: objectId(random),
  commit: commit(random),
  path: "placements/web.yaml",
  document: random.below(3),
  blob: blob(random),
});

const bounds = (random: Random): DeletionBounds => ({
  objectsPerCluster: random.below(20),
  percentPerCluster: random.below(101),
  clusters: random.below(9),
  percentOfClusters: random.below(101),
});

const confirmation = (random: Random, of: Digest): ConfirmationRecord => ({
  digest: of,
  outcome: random.pick(["used", "void"] as const),
  commit: commit(random),
  basis: maybe(random, () => ({
    placement: placementKey(null, "web"),
    cluster: random.pick(clusterNames) as ClusterName,
    binding: hex(random, 32),
    sequence: random.below(9) as Sequence,
  })),
});

const deletions = (random: Random): DeletionLedger => ({
  bounds: maybe(random, () => ({ declared: bounds(random), inForce: bounds(random) })),
  cause: maybe(random, () => commit(random)),
  permitted: new Map(keysOf(random, clusterNames).map((it) => [it as ClusterName, random.below(20)])),
  held: many(random, 2, () => ({
    cause: commit(random),
    because: random.pick(["bounds", "kind", "foreign", "protected"] as const),
    digest: digest(random),
    confirmed: flag(random),
    groups: many(random, 2, () => ({
      placement: placementKey(
        maybe(random, () => "a"),
        "web",
      ),
      clusters: keysOf(random, clusterNames) as ClusterName[],
      objects: many(random, 4, () => objectId(random)),
    })),
    others: many(random, 2, () => ({
      placement: placementKey(null, "web"),
      cluster: random.pick(clusterNames) as ClusterName,
      id: objectId(random),
      objects: many(random, 3, () => ({ ...objectId(random), uid: text(random) })),
    })),
  })),
  confirmations: new Map(
    [...many(random, 3, () => digest(random))].sort(compareText).map((it) => [it, confirmation(random, it)]),
  ),
});

const textsByName = <V>(random: Random, value: () => V): ReadonlyMap<string, V> =>
  new Map([...many(random, 3, () => text(random))].sort(compareText).map((it) => [it, value()]));

const cluster = (random: Random, name: ClusterName): ClusterRecord => ({
  name,
  uid: hex(random, 32),
  generation: random.below(9),
  specDigest: digest(random),
  kubeSystemUid: maybe(random, () => hex(random, 32)),
  properties: new Map(
    [
      ...textsByName(random, () => text(random)),
      ...many(random, 2, () => [`resources.kubernetes-fleet.io/available-${text(random)}`, text(random)] as const),
    ].sort(([a], [b]) => compareText(a, b)),
  ),
  collection: {
    origins: textsByName(random, () => "provider" as const),
    labels: textsByName(random, () => text(random)),
    measuredAt: maybe(random, () => instant(random)),
  },
  namespaces: maybe(random, () => ({
    names: textsByName(random, () => text(random)),
    isCut: random.below(2) === 0,
    recordedAt: instant(random),
  })),
  contactFailure: maybe(random, () => ({
    code: random.pick([
      "Unreachable",
      "NoConnection",
      "Unauthorized",
      "Forbidden",
      "Unintelligible",
      "IdentityChanged",
    ] as const),
    message: text(random),
    since: instant(random),
  })),
  conditions: many(random, 2, () => condition(random)),
});

function placement(random: Random, key: string): PlacementRecord {
  const [name = "", namespace = null] = key.split("/").reverse();
  const bindings = keysOf(random, clusterNames).map((it) => binding(random, it as ClusterName, name));
  return {
    key: placementKey(namespace, name),
    scope: namespace === null ? "Cluster" : "Namespaced",
    namespace,
    name,
    uid: hex(random, 32),
    generation: random.below(9),
    specDigest: digest(random),
    spec: spec(random),
    deleting: maybe(random, () => ({ since: instant(random), cause: commit(random) })),
    policySnapshots: many(random, 3, (at) => policySnapshot(random, at * 4)),
    resourceSnapshots: many(random, 3, (at) => resourceSnapshot(random, at * 7)),
    bindings: new Map(bindings.map((it) => [it.cluster, it])),
    change: maybe(random, () => randomChange(random)),
    unrolled: maybe(random, () => digest(random)),
    selectionError: maybe(random, () => text(random)),
    conditions: many(random, 3, () => condition(random)),
  };
}

const spec = (random: Random): PlacementSpec => ({
  resourceSelectors: many(random, 3, () => ({
    group: random.pick(["", "apps"]),
    version: "v1",
    kind: "Namespace",
    name: maybe(random, () => "shop"),
    labelSelector: maybe(random, () => selector(random)),
    selectionScope: random.pick(["NamespaceOnly", "NamespaceWithResources", "NamespaceWithResourceSelectors"]),
  })),
  policy: policy(random),
  strategy: {
    ...random.pick<Pick<PlacementSpec["strategy"], "type" | "rollingUpdate">>([
      { type: "RollingUpdate", rollingUpdate: rollingUpdate(random) },
      // An External placement has no rolling update: it reads as KubeFleet's defaults.
      { type: "External", rollingUpdate: unusedRollingUpdate },
    ]),
    applyStrategy: applyStrategy(random),
    propagationPolicy: random.pick(["Delete", "Abandon"]),
    progressDeadline: random.pick([600_000, 1500, 0]) as DurationMs,
    deleteAdopted: flag(random),
  },
  revisionHistoryLimit: random.below(10) + 1,
});

const rollingUpdate = (random: Random): PlacementSpec["strategy"]["rollingUpdate"] => ({
  maxUnavailable: random.pick([{ count: 3 }, { percent: 25 }, { count: 0 }]),
  maxSurge: random.pick([{ count: 1 }, { percent: 100 }, { percent: 0 }]),
  unavailablePeriod: (random.below(100) * 1000) as DurationMs,
});

const unusedRollingUpdate: PlacementSpec["strategy"]["rollingUpdate"] = {
  maxUnavailable: { percent: 25 },
  maxSurge: { percent: 25 },
  unavailablePeriod: 60_000 as DurationMs,
};

const toleration = (random: Random): Toleration => ({
  key: random.pick(["", "gpu"]),
  operator: random.pick(["Equal", "Exists"]),
  value: random.pick(["", "no"]),
  effect: random.pick(["", "NoSchedule"]),
});

function policy(random: Random): PlacementPolicy {
  const required = many(random, 2, () => ({
    labelSelector: maybe(random, () => selector(random)),
    properties: many(random, 2, () => ({
      name: random.pick(["np", "resources.kubernetes-fleet.io/total-cpu"]),
      operator: random.pick(["Gt", "Ge", "Lt", "Le", "Eq", "Ne"] as const),
      value: random.pick(["5", "1.5Gi", "100m"]),
    })),
  }));
  const tolerations = many(random, 2, () => toleration(random));
  const preferred = many(random, 2, () => ({
    weight: random.below(201) - 100,
    preference: {
      labelSelector: maybe(random, () => selector(random)),
      sorter: maybe(random, () => ({ name: "np", order: random.pick(["Ascending", "Descending"] as const) })),
    },
  }));
  const spread = many(random, 2, () => ({
    topologyKey: random.pick(["region", "topology.kubernetes.io/zone"]),
    maxSkew: 1 + random.below(3),
    whenUnsatisfiable: random.pick(["DoNotSchedule", "ScheduleAnyway"] as const),
  }));
  return random.pick<PlacementPolicy>([
    { kind: "PickAll", required, tolerations },
    { kind: "PickN", numberOfClusters: random.below(9), required, preferred, spread, tolerations },
    { kind: "PickFixed", clusterNames: keysOf(random, clusterNames) as ClusterName[] },
  ]);
}

const decision = (random: Random, name: ClusterName): ClusterDecision => ({
  cluster: name,
  selected: flag(random),
  score: maybe(random, () => ({ affinity: random.below(200) - 100, topology: random.below(5) - 2 })),
  reason: text(random),
});

const policySnapshot = (random: Random, index: number): PolicySnapshot => ({
  index,
  hash: digest(random),
  policy: policy(random),
  verdict: maybe(random, () => ({
    observedGeneration: random.below(9),
    condition: condition(random),
    decisions: keysOf(random, clusterNames).map((it) => decision(random, it as ClusterName)),
  })),
});

const resourceSnapshot = (random: Random, index: number): ResourceSnapshot => ({
  index,
  hash: digest(random),
  commit: commit(random),
  resources: many(random, 4, () => {
    const resource = {
      id: versionedId(random),
      digest: digest(random),
      path: random.pick(["resources/shop.yaml", "resources/on", "resources/on/web.yaml"]),
      document: random.below(4),
      blob: random.pick(["a", "b"]).repeat(40) as BlobId,
    };
    return random.below(3) === 0 ? { ...resource, envelope: random.pick(envelopes) } : resource;
  }),
});

const envelopes: readonly EnvelopeRef[] = [
  { type: "ClusterResourceEnvelope", namespace: null, name: "e" },
  { type: "ResourceEnvelope", namespace: "shop", name: "e" },
];

const binding = (random: Random, name: ClusterName, of: string): Binding => ({
  cluster: name,
  name: `${of}-${name}-${hex(random, 8)}`,
  uid: hex(random, 32),
  generation: random.below(9),
  state: random.pick(["Scheduled", "Bound", "Unscheduled"]),
  previousState: maybe(random, () => random.pick(["Scheduled", "Bound"] as const)),
  policySnapshot: random.below(4),
  decision: decision(random, name),
  target: maybe(random, () => target(random)),
  removal: maybe(random, () => ({
    sequence: sequence(random),
    since: instant(random),
    cause: commit(random),
    propagation: random.pick(["Delete", "Abandon"] as const),
  })),
  leaving: many(random, 3, () => ({
    id: objectId(random),
    cause: commit(random),
    released: random.below(2) === 0,
    evenAdopted: random.below(2) === 0,
    ...(random.below(3) > 0 ? {} : { handOver: handOver(random) }),
  })),
  facts: maybe(random, () => facts(random)),
  conditions: many(random, 4, () => condition(random)),
});

const handOver = (random: Random): HandOver => ({
  to: "shop/next" as PlacementKey,
  by: maybe(random, () => {
    const { resourceIndex, clusterOverrides, resourceOverrides, labels: looked } = target(random);
    return { resourceIndex, clusterOverrides, resourceOverrides, labels: looked };
  }),
});

const target = (random: Random): Target => ({
  resourceIndex: random.below(20),
  clusterOverrides: many(random, 2, (at) => `tune-${at}`),
  resourceOverrides: many(random, 2, (at) => `shop/scale-${at}`),
  labels: labels(random),
  applyStrategy: applyStrategy(random),
  digest: digest(random),
  sequence: sequence(random),
  startedAt: instant(random),
});

function facts(random: Random): BindingFacts {
  const objectFailures = many(random, 3, () => ({
    id: versionedId(random),
    type: random.pick(["Applied", "Available"] as const),
    code: "ManifestApplyFailed",
    message: text(random),
  }));
  return {
    sequence: sequence(random),
    applied: random.pick(["pending", "applied", "failed"]),
    phase: random.pick(["available", "untrackable", "progressing", "failed"]),
    since: instant(random),
    objectFailures,
    objectFailureCount: objectFailures.length + random.pick([0, 0, 900]),
    adopted: many(random, 2, () => objectId(random)),
    ...(random.below(5) === 0 ? { contested: [contest(random)] } : {}),
  };
}

const contest = (random: Random): ContestedObject => ({
  id: objectId(random),
  by: random.pick([null, "kube-controller-manager", 'it\'s "odd"']),
  repairs: random.pick([3, 6, 12]),
  since: instant(random),
});

function overrides(random: Random): readonly OverrideSnapshot[] {
  const chains = [null, "a", "shop"].flatMap((namespace) =>
    keysOf(random, ["no", "scale", "scale-1"]).map((name) => ({ namespace, name })),
  );
  return chains.flatMap(({ namespace, name }) =>
    Array.from({ length: random.below(3) + 1 }, (_, at) => ({
      name: `${name}-${at + 9}`,
      namespace,
      override: name,
      index: at + 9,
      spec: overrideSpec(random, namespace),
    })),
  );
}

const overrideSpec = (random: Random, namespace: string | null): OverrideSpec => ({
  placement: maybe(random, () => placementKey(flag(random) ? null : namespace, "web")),
  selectors: many(random, 2, () => ({
    group: random.pick(["", "apps"]),
    version: "v1",
    kind: "Deployment",
    name: "web",
  })),
  rules: many(random, 3, () => ({
    clusters: maybe(random, () => many(random, 2, () => selector(random))),
    action: flag(random)
      ? { kind: "Delete" as const }
      : {
          kind: "JSONPatch" as const,
          operations: [
            { op: "remove" as const, path: "/spec/replicas", value: null },
            { op: "add" as const, path: "/metadata/annotations/a~1b", value: random.json(3) },
          ],
        },
  })),
});

const randomQuarantine = (random: Random, placement: string): Quarantine => ({
  placement: placement as PlacementKey,
  since: instant(random),
  commit: commit(random),
  decisionVersion: 1 + random.below(3),
  violations: [{ code: "TargetSequenceWrong", message: "dates the target of web on tokyo wrongly" }],
});
