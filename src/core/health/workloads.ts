import { memberAt } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Health } from "../model/observation.ts";
import {
  available,
  conditionText,
  failed,
  integerAt,
  isObserved,
  liveCondition,
  notObserved,
  progressing,
} from "./verdicts.ts";

/**
 * A Deployment is available when every wanted replica is updated and available and no other is left
 * (`health/README.md#v-01` to `#v-04`). It fails when its own progress deadline has passed, and only as long as it is
 * not available all the same.
 */
export function deploymentHealth(live: Manifest): Health {
  if (!isObserved(live)) return notObserved;
  const wanted = integerAt(live, ["spec", "replicas"], 1);
  const updated = integerAt(live, ["status", "updatedReplicas"]);
  const ready = integerAt(live, ["status", "availableReplicas"]);
  const unavailable = integerAt(live, ["status", "unavailableReplicas"]);
  if (updated === wanted && ready === wanted && unavailable === 0) return available;
  const progress = liveCondition(live, "Progressing");
  if (progress?.status === "False" && progress.reason === "ProgressDeadlineExceeded") {
    return failed(conditionText("Progressing", progress));
  }
  // An older replica may stand in for one of the new.
  const missing = ready >= wanted && unavailable > 0 ? `, ${unavailable} unavailable` : "";
  return progressing(`${ready} of ${wanted} replicas are available, ${updated} updated${missing}`);
}

/** A StatefulSet is available when its replicas are, all of the latest revision (`health/README.md#v-05`). */
export function statefulSetHealth(live: Manifest): Health {
  if (!isObserved(live)) return notObserved;
  const wanted = integerAt(live, ["spec", "replicas"], 1);
  const ready = integerAt(live, ["status", "availableReplicas"]);
  const current = integerAt(live, ["status", "currentReplicas"]);
  const updated = integerAt(live, ["status", "updatedReplicas"]);
  const isOneRevision = memberAt(live, "status", "currentRevision") === memberAt(live, "status", "updateRevision");
  if (ready === wanted && current === updated && isOneRevision) return available;
  return progressing(`${ready} of ${wanted} replicas are available, ${updated} updated`);
}

/** A DaemonSet is available when every matching node, if any, runs it updated (`health/README.md#v-06`). */
export function daemonSetHealth(live: Manifest): Health {
  if (!isObserved(live)) return notObserved;
  const wanted = integerAt(live, ["status", "desiredNumberScheduled"]);
  const ready = integerAt(live, ["status", "numberAvailable"]);
  const updated = integerAt(live, ["status", "updatedNumberScheduled"]);
  if (ready === wanted && integerAt(live, ["status", "currentNumberScheduled"]) === updated) return available;
  return progressing(`${ready} of ${wanted} nodes run it, ${updated} updated`);
}

/** A Job is available with one succeeded or one ready pod, and failed when it says so (`health/README.md#jobs`). */
export function jobHealth(live: Manifest): Health {
  const failure = liveCondition(live, "Failed");
  if (failure?.status === "True") return failed(conditionText("Failed", failure));
  if (liveCondition(live, "Complete")?.status === "True") return available;
  if (integerAt(live, ["status", "succeeded"]) > 0 || integerAt(live, ["status", "ready"]) > 0) return available;
  return progressing("no pod is ready or has succeeded yet");
}

/** A CronJob is available once it exists: its Jobs come and go by schedule (`health/README.md#c-4`). */
export const cronJobHealth = (): Health => available;
