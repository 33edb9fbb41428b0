import type { Condition } from "../../../src/core/model/condition.ts";
import type { ApplyStrategy } from "../../../src/core/model/placement.ts";
import type {
  BlobId,
  Commit,
  Digest,
  Instant,
  LabelSelector,
  Labels,
  Sequence,
} from "../../../src/core/model/value.ts";
import type { Random } from "../intent/random.ts";

// What random records are made of.

export const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => random.pick([..."0123456789abcdef"])).join("");

export const clusterNames = ["10", "9", "a", "berlin-1", "berlin-2", "no", "tokyo"];
const texts = [
  "",
  "no",
  "1",
  "3 of 5 ready: waiting",
  'said "no"',
  "line\nline",
  "{}",
  "日本 | x",
  "a: b #c",
  "x".repeat(300),
];

export const keysOf = (random: Random, keys: readonly string[]): readonly string[] =>
  keys.filter(() => random.below(4) > 0);
export const many = <T>(random: Random, most: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: random.below(most + 1) }, (_, at) => make(at));
export const maybe = <T>(random: Random, make: () => T): T | null => (random.below(3) === 0 ? null : make());
export const commit = (random: Random): Commit => hex(random, 40) as Commit;
export const blob = (random: Random): BlobId => hex(random, 40) as BlobId;
export const digest = (random: Random): Digest => hex(random, 64) as Digest;
export const sequence = (random: Random): Sequence => random.below(5000) as Sequence;
export const instant = (random: Random): Instant =>
  (1_700_000_000_000 + random.below(100_000_000) * 1000 + random.below(2) * random.below(1000)) as Instant;
export const text = (random: Random): string => random.pick(texts);
export const flag = (random: Random): boolean => random.below(2) === 0;

export const labels = (random: Random): Labels =>
  Object.fromEntries(many(random, 3, () => [random.pick(["env", "region", "example.com/tier", "1"]), text(random)]));

export const condition = (random: Random): Condition => ({
  type: random.pick(["Applied", "Available", "ClusterResourcePlacementScheduled"]),
  status: random.pick(["True", "False", "Unknown"]),
  reason: random.pick(["Scheduled", "No"]),
  message: text(random),
  observedGeneration: random.below(20),
  lastTransitionTime: instant(random),
});

export const applyStrategy = (random: Random): ApplyStrategy => ({
  type: random.pick(["ClientSideApply", "ServerSideApply", "ReportDiff"]),
  comparisonOption: random.pick(["PartialComparison", "FullComparison"]),
  whenToApply: random.pick(["Always", "IfNotDrifted"]),
  whenToTakeOver: random.pick(["Always", "IfNoDiff", "Never"]),
  allowCoOwnership: flag(random),
  forceConflicts: flag(random),
});

export const selector = (random: Random): LabelSelector => ({
  ...(flag(random) ? { matchLabels: labels(random) } : {}),
  ...(flag(random)
    ? {
        matchExpressions: many(random, 2, () => ({
          key: "env",
          operator: random.pick(["In", "NotIn", "Exists", "DoesNotExist"] as const),
          ...(flag(random) ? { values: many(random, 3, () => text(random)) } : {}),
        })),
      }
    : {}),
});
