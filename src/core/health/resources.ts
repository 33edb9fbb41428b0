import { listAt, member, memberAt, textOf } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Health } from "../model/observation.ts";
import {
  available,
  conditionText,
  failed,
  integerAt,
  isObserved,
  type LiveCondition,
  liveCondition,
  notObserved,
  progressing,
  untrackable,
} from "./verdicts.ts";

/** A Service is available with its address, inside or outside (`health/README.md#v-07`, `#v-08`, `#v-09`). */
export function serviceHealth(live: Manifest): Health {
  const type = textOf(memberAt(live, "spec", "type")) ?? "ClusterIP";
  if (type === "LoadBalancer") return loadBalancerHealth(live);
  if (type !== "ClusterIP" && type !== "NodePort" && type !== "") return untrackable;
  const first = textOf(listAt(live, "spec", "clusterIPs")[0]);
  return first === null || first === "" ? progressing("has no cluster IP yet") : available;
}

function loadBalancerHealth(live: Manifest): Health {
  const [first] = listAt(live, "status", "loadBalancer", "ingress");
  const isReachable = [member(first, "ip"), member(first, "hostname")].some(
    (it) => typeof it === "string" && it !== "",
  );
  return isReachable ? available : progressing("its load balancer has no address yet");
}

/** A PersistentVolumeClaim is available when it is bound (`health/README.md#c-4`); a lost volume does not come back. */
export function claimHealth(live: Manifest): Health {
  const phase = textOf(memberAt(live, "status", "phase")) ?? "Pending";
  if (phase === "Bound") return available;
  return phase === "Lost" ? failed("its volume is lost") : progressing(`is ${phase}, not bound`);
}

/** A PodDisruptionBudget is available when its controller has counted (`health/README.md#v-10`, `#v-11`). */
export function budgetHealth(live: Manifest): Health {
  const allowed = liveCondition(live, "DisruptionAllowed");
  if (allowed === null || !isObserved(live)) return notObserved;
  const isSufficient = integerAt(live, ["status", "disruptionsAllowed"]) > 0;
  const agrees = isSufficient
    ? allowed.status === "True" && allowed.reason === "SufficientPods"
    : allowed.status === "False" && allowed.reason === "InsufficientPods";
  return agrees ? available : progressing("its condition does not agree with its count yet");
}

/** A HorizontalPodAutoscaler is available when it can read its metrics and scale, or was told to stand still. */
export function autoscalerHealth(live: Manifest): Health {
  const observed = memberAt(live, "status", "observedGeneration");
  if (observed !== null && !isObserved(live)) return notObserved;
  const able = liveCondition(live, "AbleToScale");
  if (able === null) return progressing("has not looked at its target yet");
  if (able.status !== "True") return progressing(conditionText("AbleToScale", able));
  const active = liveCondition(live, "ScalingActive");
  if (active === null || active.status === "True" || active.reason === "ScalingDisabled") return available;
  return progressing(conditionText("ScalingActive", active));
}

/** A CustomResourceDefinition is available when it is served under its names (`health/README.md#v-12`). */
export function definitionHealth(live: Manifest): Health {
  for (const type of ["NamesAccepted", "Established"]) {
    const condition = liveCondition(live, type);
    if (condition === null) return progressing(`is not ${type} yet`);
    if (condition.status !== "True") return progressing(conditionText(type, condition));
  }
  return available;
}

/**
 * Judges a custom resource by the common habits of controllers: a `Ready` or `Available` condition, with the generation
 * that it speaks of (`health/README.md#c-4`). One without either cannot be judged. `Stalled` is the one explicit
 * failure that these habits know (kstatus).
 */
export function customHealth(live: Manifest): Health {
  const type = ["Ready", "Available"].find((it) => liveCondition(live, it) !== null);
  const condition = type === undefined ? null : liveCondition(live, type);
  if (type === undefined || condition === null) return untrackable;
  const observed = observedBy(live, condition);
  if (observed === null) return untrackable;
  if (observed !== integerAt(live, ["metadata", "generation"])) return notObserved;
  if (condition.status === "True") return available;
  const stalled = liveCondition(live, "Stalled");
  if (stalled?.status === "True") return failed(conditionText("Stalled", stalled));
  return progressing(conditionText(type, condition));
}

function observedBy(live: Manifest, condition: LiveCondition): number | null {
  if (condition.observedGeneration !== null) return condition.observedGeneration;
  const observed = memberAt(live, "status", "observedGeneration");
  return typeof observed === "number" ? observed : null;
}
