// The small values every room shares. Branded so that a cluster's name can never be passed as a placement's key.
declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A MemberCluster's `metadata.name`: a DNS label. */
export type ClusterName = Brand<string, "ClusterName">;

/** Names a placement of either scope: `name` of a ClusterResourcePlacement, `namespace/name` of a ResourcePlacement. */
export type PlacementKey = Brand<string, "PlacementKey">;

/** Names an update run of either scope: `name` of a ClusterStagedUpdateRun, `namespace/name` of a StagedUpdateRun. */
export type RunKey = Brand<string, "RunKey">;

/** Names a staged update strategy of either scope, as runs are named. */
export type StrategyKey = Brand<string, "StrategyKey">;

/** A Git commit id: 40 hexadecimal digits. Only a locator; trust is bound to a {@link Digest}. */
export type Commit = Brand<string, "Commit">;

/** A Git blob id: 40 hexadecimal digits. Equal ids are equal bytes, so everything decoded is cached under it. */
export type BlobId = Brand<string, "BlobId">;

/** SHA-256 of a canonical text, 64 hexadecimal digits. Digests are equated, never compared. */
export type Digest = Brand<string, "Digest">;

/** Counts the commits of the state branch. It only grows, so a higher one is newer. */
export type Sequence = Brand<number, "Sequence">;

/** Counts recoveries of a lost state branch. An older epoch never overrules a newer one. */
export type Epoch = Brand<number, "Epoch">;

/** Milliseconds since the Unix epoch, UTC. Recorded as RFC 3339, exactly; see {@link exactInstantText}. */
export type Instant = Brand<number, "Instant">;

export type DurationMs = Brand<number, "DurationMs">;

export type Labels = Readonly<Record<string, string>>;

export const seconds = (count: number): DurationMs => (count * 1000) as DurationMs;
export const minutes = (count: number): DurationMs => (count * 60_000) as DurationMs;

export const later = (at: Instant, by: DurationMs): Instant => (at + by) as Instant;

/** The first of several moments; null means "no such moment". */
export function earliest(...moments: readonly (Instant | null)[]): Instant | null {
  let first: Instant | null = null;
  for (const moment of moments) if (moment !== null && (first === null || moment < first)) first = moment;
  return first;
}

/** By code unit, as KubeFleet orders names (`schedule/README.md#words`): `localeCompare` depends on the machine. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** RFC 3339 to the millisecond, UTC, which {@link instantOf} reads back exactly, so that no wait ends early. */
export function exactInstantText(at: Instant): string {
  const text = instantText(at);
  const millis = at - Math.floor(at / 1000) * 1000;
  return millis === 0 ? text : `${text.slice(0, -1)}.${String(millis).padStart(3, "0")}Z`;
}

/** An instant in RFC 3339 to the second, UTC, for people; after Howard Hinnant's `civil_from_days`. */
export function instantText(at: Instant): string {
  const total = Math.floor(at / 1000);
  const days = Math.floor(total / 86_400);
  const rest = total - days * 86_400;
  const { year, month, day } = civilOf(days);
  const two = (count: number): string => String(count).padStart(2, "0");
  const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  return `${date}T${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}Z`;
}

/** Reads RFC 3339 with any fraction and offset, to the millisecond; null for other texts and for February 30. */
export function instantOf(text: string): Instant | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const millis = Number((match[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const sign = match[8] === "-" ? -1 : 1;
  const offset = match[8] === undefined ? 0 : sign * (Number(match[9]) * 60 + Number(match[10]));
  const days = daysOf(year, month, day);
  const named = civilOf(days);
  // A day that does not exist comes back as another one. A leap second is the first second of the next minute.
  if (named.month !== month || named.day !== day || hour > 23 || minute > 59 || second > 60) return null;
  return ((days * 86_400 + hour * 3600 + (minute - offset) * 60 + second) * 1000 + millis) as Instant;
}

function civilOf(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function daysOf(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Names for a message, in the order given: the first `most` of them, and how many more there are. */
export const firstOf = (names: readonly string[], most: number): string =>
  names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", ");

/** Names for a message: sorted, the first ten, and how many more there are (`rollout/README.md#u15`). */
export const nameList = (names: readonly string[]): string => firstOf([...names].sort(compareText), 10);

/** Kubernetes' label selector. Empty selects everything; what an absent one means depends on the field. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** One expression of a selector. `values` belong to `In` and `NotIn` only. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** Kubernetes' semantics: all parts ANDed; `NotIn` holds for an absent key (`schedule/README.md#clusteraffinity`). */
export function selects({ matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  // Called a million times by a cold scheduler: nothing is allocated here.
  for (const key in matchLabels) if (labels[key] !== matchLabels[key]) return false;
  return matchExpressions === undefined || matchExpressions.every((it) => meets(it, labels));
}

/** The same for a field in which an absent selector selects everything. */
export function selectsIfAny(selector: LabelSelector | null, labels: Labels): boolean {
  return selector === null || selects(selector, labels);
}

function meets({ key, operator, values = [] }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

export const selectorKeys = (selector: LabelSelector): readonly string[] => [
  ...Object.keys(selector.matchLabels ?? {}),
  ...(selector.matchExpressions ?? []).map((it) => it.key),
];

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** The longest duration that Go, and so a hub, can read: 292 years. */
const longest = 9_223_372_036_854;

/** A Go duration such as `90s` or `1h30m`, down to milliseconds; null for any other text, and for 0 or less. */
export function durationOf(text: string): DurationMs | null {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s))+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(h|ms|m|s)/g)) total += Number(count) * (units[unit ?? ""] ?? 0);
  return total >= 1 && total <= longest ? (Math.round(total) as DurationMs) : null;
}

/** A length of time as Go and kubectl write it, without what is zero: `1h30m`, `90s` as `1m30s`. */
export function shortDuration(duration: DurationMs): string {
  const total = Math.round(duration / 1000);
  const parts = [
    [Math.floor(total / 3600), "h"],
    [Math.floor(total / 60) % 60, "m"],
    [total % 60, "s"],
  ] as const;
  const text = parts.map(([number, unit]) => (number === 0 ? "" : `${number}${unit}`)).join("");
  return text === "" ? "0s" : text;
}

/**
 * The text on one line, without control characters and those that turn text around: what members and servers say must
 * not pass for a trailer or a command of ours, nor rewrite what was said before.
 */
export const oneLine = (text: string): string =>
  text
    .replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ")
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

/** `namespace/name`, as kubectl shows it; the name alone for what is the whole fleet's. */
export const scopedKey = (namespace: string | null, name: string): string =>
  namespace === null ? name : `${namespace}/${name}`;

/** The namespace of a {@link scopedKey}, and the name in it; null is the whole fleet. */
export function partsOfKey(key: string): readonly [namespace: string | null, name: string] {
  const slash = key.indexOf("/");
  return slash < 0 ? [null, key] : [key.slice(0, slash), key.slice(slash + 1)];
}
