import type { Manifest } from "../model/manifest.ts";
import type { Health } from "../model/observation.ts";
import { available, conditionText, countAt, failed, liveCondition, progressing } from "./verdicts.ts";

/** A Job is available with one succeeded or one ready pod, and failed when it says so (`health/README.md#jobs`). */
export function jobHealth(live: Manifest): Health {
  const failure = liveCondition(live, "Failed");
  if (failure?.status === "True") return failed(conditionText("Failed", failure));
  if (liveCondition(live, "Complete")?.status === "True") return available;
  if (countAt(live, ["status", "succeeded"]) > 0 || countAt(live, ["status", "ready"]) > 0) return available;
  return progressing("no pod is ready or has succeeded yet");
}

/** A CronJob does its work by being there: its Jobs come and go by the clock (`health/README.md#c-4`). */
export const cronJobHealth = (): Health => available;
