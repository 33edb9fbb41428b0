import { createHash } from "node:crypto";
import {
  canonicalJson,
  isObject,
  type JsonList,
  type JsonObject,
  listAt,
  member,
  memberAt,
  sameJson,
} from "../../../core/model/json.ts";
import { kindKey } from "../../../core/model/manifest.ts";
import type { ServedKind } from "../api/kinds.ts";

/** How far a change of a workload has come: seen, half of it running, all of it running. */
export type WorkloadProgress = "observed" | "half" | "done" | "overdue";

/** What a container's image asks for, by a word anywhere in it: `shop/web:2-broken`. */
type SimulatedOutcome = "runs" | "broken" | "crash";

/** `broken` never becomes available; `crash` is reported as failed once its deadline has passed. */
export function simulatedOutcomeOf(object: JsonObject): SimulatedOutcome {
  const template = memberAt(object, "spec", "template", "spec") ?? memberAt(object, "spec");
  const images = listAt(template, "containers").map((it) => String(member(it, "image") ?? ""));
  if (images.some((it) => it.includes("crash"))) return "crash";
  return images.some((it) => it.includes("broken")) ? "broken" : "runs";
}

/** The kinds that become available by themselves. */
export const isWorkload = (kind: ServedKind): boolean => statuses.has(kindKey(kind));

/** Whether a Job has ended, one way or the other: whatever changes about it, it does not start again. */
export function isFinished(object: JsonObject): boolean {
  const status = member(object, "status");
  const isFailed = listAt(status, "conditions").some((it) => member(it, "type") === "Failed");
  return isFailed || member(status, "completionTime") !== null;
}

interface Moment {
  readonly progress: WorkloadProgress;
  /** RFC 3339. */
  readonly time: string;
  /** How many nodes a DaemonSet finds. */
  readonly nodes: number;
  /** Whether what runs is replaced, and not only its number changed. */
  readonly rolls: boolean;
}

/** The status that a workload's controller writes at this point; the fields and their order of appearance are Kubernetes' own. */
export function workloadStatus(object: JsonObject, kind: ServedKind, moment: Moment): JsonObject {
  const status = statuses.get(kindKey(kind)) as StatusOf;
  return status(object, moment);
}

type StatusOf = (object: JsonObject, moment: Moment) => JsonObject;

const statuses: ReadonlyMap<string, StatusOf> = new Map<string, StatusOf>([
  ["apps/Deployment", deploymentStatus],
  ["apps/StatefulSet", statefulSetStatus],
  ["apps/DaemonSet", daemonSetStatus],
  ["apps/ReplicaSet", replicaStatus],
  ["/ReplicationController", replicaStatus],
  ["batch/Job", jobStatus],
  ["/Pod", podStatus],
]);

interface Counts {
  readonly wanted: number;
  /** Replicas of the newest template. */
  readonly updated: number;
  readonly available: number;
}

/** A new template halves what ran, brings half of the new, then all; another number leaves alone what runs. */
function countsOf(object: JsonObject, { progress, rolls }: Moment): Counts {
  const wanted = Number(memberAt(object, "spec", "replicas") ?? 1);
  if (progress === "done" || progress === "overdue") {
    return { wanted, updated: wanted, available: simulatedOutcomeOf(object) === "runs" ? wanted : 0 };
  }
  const before = Math.min(wanted, Number(memberAt(object, "status", "availableReplicas") ?? 0));
  const half = progress === "half" ? Math.ceil(wanted / 2) : 0;
  if (!rolls) return { wanted, updated: Math.max(before, half), available: before };
  return { wanted, updated: half, available: progress === "observed" ? Math.floor(before / 2) : before };
}

/** Go leaves out numbers that are zero. */
const present = (numbers: Readonly<Record<string, number>>): JsonObject =>
  Object.fromEntries(Object.entries(numbers).filter(([, it]) => it !== 0));

const observed = (object: JsonObject): JsonObject => ({
  observedGeneration: memberAt(object, "metadata", "generation") ?? 1,
});

function deploymentStatus(object: JsonObject, moment: Moment): JsonObject {
  const { wanted, updated, available } = countsOf(object, moment);
  const isAvailable = available >= wanted;
  const overdue = moment.progress === "overdue";
  const complete = isAvailable && updated === wanted;
  return {
    ...observed(object),
    ...present({
      replicas: wanted,
      updatedReplicas: updated,
      readyReplicas: available,
      availableReplicas: available,
      unavailableReplicas: wanted - available,
    }),
    conditions: conditions(object, moment, [
      {
        type: "Available",
        status: isAvailable,
        reason: isAvailable ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
        message: `Deployment ${isAvailable ? "has" : "does not have"} minimum availability.`,
      },
      {
        type: "Progressing",
        status: !overdue,
        reason: overdue ? "ProgressDeadlineExceeded" : complete ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
        message: overdue
          ? "ReplicaSet has timed out progressing."
          : complete
            ? "ReplicaSet has successfully progressed."
            : "ReplicaSet is progressing.",
      },
    ]),
  };
}

interface Claim {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Conditions that keep the moment of their last transition; updated only where they say something new. */
function conditions(object: JsonObject, { time }: Moment, claims: readonly Claim[]): JsonList {
  const old = listAt(object, "status", "conditions");
  return claims.map(({ type, status, reason, message }) => {
    const last = old.find((it) => member(it, "type") === type);
    const said = { type, status: status ? "True" : "False", reason, message };
    const { lastTransitionTime: _, lastUpdateTime: __, ...was } = (isObject(last) ? last : {}) as JsonObject;
    if (isObject(last) && sameJson(was, said)) return last;
    const since = member(last, "status") === said.status ? (member(last, "lastTransitionTime") ?? time) : time;
    return { ...said, lastUpdateTime: time, lastTransitionTime: since };
  });
}

const revisionOf = (object: JsonObject): string => {
  const template = canonicalJson(memberAt(object, "spec", "template") ?? null);
  return `${String(memberAt(object, "metadata", "name"))}-${createHash("sha256").update(template).digest("hex").slice(0, 10)}`;
};

function statefulSetStatus(object: JsonObject, moment: Moment): JsonObject {
  const { wanted, updated, available } = countsOf(object, moment);
  const revision = revisionOf(object);
  const done = moment.progress === "done" && simulatedOutcomeOf(object) === "runs";
  return {
    ...observed(object),
    replicas: wanted,
    ...present({
      readyReplicas: available,
      currentReplicas: done ? wanted : wanted - updated,
      updatedReplicas: updated,
    }),
    currentRevision: done ? revision : (memberAt(object, "status", "currentRevision") ?? revision),
    updateRevision: revision,
    collisionCount: 0,
    availableReplicas: available,
  };
}

function daemonSetStatus(object: JsonObject, moment: Moment): JsonObject {
  const before = Math.min(moment.nodes, Number(memberAt(object, "status", "numberAvailable") ?? 0));
  const done = moment.progress === "done" || moment.progress === "overdue";
  const updated =
    moment.progress === "observed" ? 0 : moment.progress === "half" ? Math.ceil(moment.nodes / 2) : moment.nodes;
  const available = done ? (simulatedOutcomeOf(object) === "runs" ? moment.nodes : 0) : Math.floor(before / 2);
  return {
    ...observed(object),
    currentNumberScheduled: moment.nodes,
    numberMisscheduled: 0,
    desiredNumberScheduled: moment.nodes,
    numberReady: available,
    ...present({
      updatedNumberScheduled: updated,
      numberAvailable: available,
      numberUnavailable: moment.nodes - available,
    }),
  };
}

function replicaStatus(object: JsonObject, moment: Moment): JsonObject {
  const { wanted, available } = countsOf(object, moment);
  return {
    ...observed(object),
    replicas: wanted,
    ...present({ fullyLabeledReplicas: wanted, readyReplicas: available, availableReplicas: available }),
  };
}

function jobStatus(object: JsonObject, moment: Moment): JsonObject {
  const pods = Number(memberAt(object, "spec", "completions") ?? memberAt(object, "spec", "parallelism") ?? 1);
  const startTime = memberAt(object, "status", "startTime") ?? moment.time;
  const outcome = simulatedOutcomeOf(object);
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: "True",
    lastProbeTime: moment.time,
    lastTransitionTime: moment.time,
    reason,
    message,
  });
  if (moment.progress === "overdue") {
    const message = "Job has reached the specified backoff limit";
    return { startTime, failed: 1, conditions: [condition("Failed", "BackoffLimitExceeded", message)] };
  }
  if (moment.progress !== "done" || outcome !== "runs") return { startTime, active: pods, ready: 0 };
  const reached = ["CompletionsReached", "Reached expected number of succeeded pods"] as const;
  return {
    startTime,
    completionTime: moment.time,
    succeeded: pods,
    ready: 0,
    conditions: [condition("SuccessCriteriaMet", ...reached), condition("Complete", ...reached)],
  };
}

function podStatus(object: JsonObject, moment: Moment): JsonObject {
  const runs = moment.progress === "done" && simulatedOutcomeOf(object) === "runs";
  const failed = moment.progress === "overdue";
  const types = ["PodScheduled", "Initialized", "ContainersReady", "Ready"];
  const startTime = memberAt(object, "status", "startTime") ?? moment.time;
  return {
    ...observed(object),
    phase: failed ? "Failed" : runs ? "Running" : "Pending",
    conditions: types.map((type) => ({
      type,
      status: runs || (!failed && type !== "ContainersReady" && type !== "Ready") ? "True" : "False",
      lastProbeTime: null,
      lastTransitionTime: moment.time,
    })),
    startTime,
    qosClass: memberAt(object, "status", "qosClass") ?? "BestEffort",
  };
}
