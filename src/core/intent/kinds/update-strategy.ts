import type { Scope } from "../../model/manifest.ts";
import { maxFailuresAnnotation } from "../../model/names.ts";
import type { CountOrPercent } from "../../model/placement.ts";
import { type Stage, type StageTask, strategyKey, type UpdateStrategy } from "../../model/update-run.ts";
import type { DurationMs } from "../../model/value.ts";
import { durationOf } from "./duration.ts";
import { countOrPercent } from "./placement.ts";
import type { WrittenStage, WrittenTask, WrittenUpdateStrategy } from "./written.ts";

/** A strategy after defaults, which has passed its schema and its rules. */
export function updateStrategyOf(
  { metadata, spec }: WrittenUpdateStrategy,
  scope: Scope,
): Omit<UpdateStrategy, "source"> {
  const namespace = scope === "Cluster" ? null : (metadata.namespace ?? null);
  const allowed = new Map<string, CountOrPercent>();
  for (const { stage, limit } of failureLimits(metadata.annotations?.[maxFailuresAnnotation] ?? ""))
    if (limit !== null) allowed.set(stage, limit);
  return {
    key: strategyKey(namespace, metadata.name),
    scope,
    namespace,
    name: metadata.name,
    stages: spec.stages.map((it) => stageOf(it, allowed.get(it.name) ?? { count: 0 })),
  };
}

function stageOf(written: WrittenStage, maxFailures: CountOrPercent): Stage {
  const { name, labelSelector, sortingLabelKey = "", maxConcurrency = 1 } = written;
  return {
    name,
    selector: labelSelector ?? null,
    sortingLabelKey: sortingLabelKey === "" ? null : sortingLabelKey,
    maxConcurrency: concurrencyOf(maxConcurrency) ?? { count: 1 },
    before: (written.beforeStageTasks ?? []).map(taskOf),
    after: (written.afterStageTasks ?? []).map(taskOf),
    maxFailures,
  };
}

const taskOf = ({ type, waitTime = "" }: WrittenTask): StageTask =>
  type === "Approval" ? { kind: "Approval" } : { kind: "TimedWait", wait: waitOf(waitTime) ?? (0 as DurationMs) };

/** `3` or `"25%"`, from 1 on; null for anything else (`intent/README.md#v-us-04`, `#v-us-05`). */
export function concurrencyOf(written: number | string): CountOrPercent | null {
  const value = countOrPercent(written);
  return value === null || ("count" in value ? value.count : value.percent) === 0 ? null : value;
}

/**
 * `1h30m` or `1.5h`: hours, minutes and seconds, more than nothing; null for anything else (`intent/README.md#v-us-13`,
 * `#v-us-15`).
 */
export const waitOf = (written: string): DurationMs | null =>
  /^(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[smh])+$/.test(written) ? durationOf(written) : null;

/** How many clusters of a stage may fail; null when the text says no number and no percentage. */
export interface FailureLimit {
  readonly stage: string;
  readonly limit: CountOrPercent | null;
}

/** The entries of `canary=0,prod=10%` as they stand there; an empty text has none (`rollout/README.md#b-13`). */
export function failureLimits(text: string): readonly FailureLimit[] {
  if (text.trim() === "") return [];
  return text.split(",").map((entry) => {
    const at = entry.indexOf("=");
    const written = entry.slice(at + 1).trim();
    const isCount = /^[0-9]{1,9}$/.test(written);
    return {
      stage: (at < 0 ? entry : entry.slice(0, at)).trim(),
      limit: at < 0 ? null : countOrPercent(isCount ? Number(written) : written),
    };
  });
}
