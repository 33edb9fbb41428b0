import type { Json, JsonObject } from "../../../src/core/model/json.ts";

/** What people say of staged runs and evictions, in few words. */
export type RolloutDocument =
  /**
   * Stages in order: `dev:env=dev/50%/ask-before prod:env=prod/wait=5/ask-after/fail=1/sort=order`. A stage without
   * labels has all clusters, a wait is in minutes.
   */
  | { readonly kind: "strategy"; readonly name: string; readonly stages: string }
  /** An empty index is none. */
  | {
      readonly kind: "run";
      readonly name: string;
      readonly placement: string;
      readonly strategy: string;
      readonly index: string;
      readonly state: RunState;
    }
  /** One answer to the request with a digest. */
  | { readonly kind: "approval"; readonly digest: string; readonly decision: Decision; readonly by?: Voter }
  | { readonly kind: "eviction"; readonly name: string; readonly placement: string; readonly cluster: string }
  /** Of the placement of that name: `maxUnavailable=1`, `minAvailable=50%`. */
  | { readonly kind: "budget"; readonly name: string; readonly bound: string };

/** Who answers where answers are signed; every file of his has a number. */
export interface Voter {
  readonly principal: string;
  readonly serial: number;
  /** Inside of the file; null: the commit says who wrote it. */
  readonly signature: string | null;
}

export type RunState = "Initialize" | "Run" | "Stop";
export type Decision = "Approve" | "Reject" | "Revoke";

const fleetGroup = "placement.kubernetes-fleet.io/v1beta1";

/** Where such a document stands. */
export function rolloutPath(document: RolloutDocument): string {
  switch (document.kind) {
    case "strategy":
      return `strategies/${document.name}.yaml`;
    case "approval":
      if (document.by !== undefined)
        return `approvals/${document.by.principal}-${document.by.serial}-${document.digest.slice(0, 8)}.yaml`;
      return `approvals/${document.digest.slice(0, 16)}-${document.decision.toLowerCase()}.yaml`;
    default:
      return `${document.kind}s/${document.name}.yaml`;
  }
}

/** The document as KubeFleet has it; an answer as ours. */
export function rolloutObject(document: RolloutDocument): JsonObject {
  const of = (kind: string, spec: JsonObject, annotations: JsonObject = {}): JsonObject => ({
    apiVersion: fleetGroup,
    kind,
    metadata: { name: "name" in document ? document.name : "", annotations },
    spec,
  });
  switch (document.kind) {
    case "strategy":
      return strategyOf(document.stages, of);
    case "run": {
      const { placement, strategy, index, state } = document;
      const version = index === "" ? {} : { resourceSnapshotIndex: index };
      const spec = { placementName: placement, stagedRolloutStrategyName: strategy, ...version, state };
      return of("ClusterStagedUpdateRun", spec);
    }
    case "approval": {
      const { digest, decision, by } = document;
      const signed = by?.signature == null ? {} : { signature: by.signature };
      const spec = { requestDigest: digest, decision, principal: by?.principal ?? "ann@example.com", ...signed };
      return { apiVersion: "flotilla.dev/v1alpha1", kind: "Approval", spec };
    }
    case "eviction":
      return of("ClusterResourcePlacementEviction", {
        placementName: document.placement,
        clusterName: document.cluster,
      });
    case "budget": {
      const [field = "", limit = ""] = document.bound.split("=");
      return of("ClusterResourcePlacementDisruptionBudget", { [field]: amount(limit) });
    }
  }
}

const amount = (written: string): Json => (written.endsWith("%") ? written : Number(written));

/** One stage in parts. */
interface Words {
  readonly name: string;
  readonly labels: string;
  readonly options: readonly string[];
}

const stagesIn = (stages: string): readonly Words[] =>
  stages.split(" ").map((it) => {
    const [head = "", ...options] = it.split("/");
    const [name = "", labels = ""] = head.split(":");
    return { name, labels, options };
  });

function strategyOf(
  stages: string,
  of: (kind: string, spec: JsonObject, annotations: JsonObject) => JsonObject,
): JsonObject {
  const words = stagesIn(stages);
  const allowed = words.flatMap(({ name, options }) => {
    const limit = optionIn("fail", options);
    return limit === null ? [] : `${name}=${limit}`;
  });
  const annotations: JsonObject = allowed.length === 0 ? {} : { "flotilla.dev/max-failures": allowed.join(",") };
  return of("ClusterStagedUpdateStrategy", { stages: words.map(stageOf) }, annotations);
}

const optionIn = (name: string, options: readonly string[]): string | null =>
  options.find((it) => it.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;

function stageOf({ name, labels, options }: Words): JsonObject {
  const [key = "", value = ""] = labels.split("=");
  const most = options.find((it) => /^\d+%?$/.test(it));
  const wait = optionIn("wait", options);
  const sort = optionIn("sort", options);
  const after = [
    ...(wait === null ? [] : [{ type: "TimedWait", waitTime: `${wait}m` }]),
    ...(options.includes("ask-after") ? [{ type: "Approval" }] : []),
  ];
  return {
    name,
    labelSelector: labels === "" ? {} : { matchLabels: { [key]: value } },
    ...(most === undefined ? {} : { maxConcurrency: amount(most) }),
    ...(sort === null ? {} : { sortingLabelKey: sort }),
    ...(options.includes("ask-before") ? { beforeStageTasks: [{ type: "Approval" }] } : {}),
    ...(after.length === 0 ? {} : { afterStageTasks: after }),
  };
}
