import type { Intent } from "../model/intent.ts";
import { type ObjectKey, objectKey } from "../model/manifest.ts";
import {
  clusterDocument,
  fleetDocument,
  overrideDocument,
  type PastDocument,
  placementDocument,
  runDocument,
} from "../model/past-document.ts";
import type { Placement } from "../model/placement.ts";
import { selectResources } from "../render/select.ts";
import { actingRules, type Decided, ruleDigest } from "./decided.ts";
import { type Course, isUnder, only } from "./inputs.ts";

/**
 * What a decision reads that the one before did not, although it may have stood there for long: an override that begins to
 * match, a label that is looked at for the first time, an object that is selected now. Nobody was asked about these
 * when they were written, so whoever wrote them is asked for from the beginning (`security.md` T-40).
 */
export interface Sleepers {
  /** Where it stands; only these wake. */
  readonly keys: ReadonlySet<ObjectKey>;
  readonly read: (document: PastDocument) => string | null;
}

export const noSleepers: Sleepers = { keys: new Set(), read: () => null };

/** The sleepers of a course; none where nothing was decided before: then all of it is looked for from the beginning. */
export function sleepersOf(course: Course): Sleepers {
  const { carried, wanted, run } = course;
  const found = new Map<ObjectKey, Sleepers["read"]>();
  if (run !== null)
    found.set(runDocument(run), ({ said }) => (said.kind === "run" ? JSON.stringify(said.run.spec) : null));
  if (carried !== null && wanted !== null) {
    for (const it of objectsAmong(carried, wanted)) found.set(it, wholly);
    for (const [key, rules] of overridesAmong(carried, wanted)) found.set(key, rulesAmong(rules));
    const labels = new Set([...wanted.lookedAt].filter((it) => !carried.lookedAt.has(it)));
    if (labels.size > 0) for (const it of course.clusters) found.set(clusterDocument(it), labelsAmong(labels));
    for (const [key, read] of widened(course, carried, wanted)) found.set(key, read);
  }
  return { keys: new Set(found.keys()), read: (document) => found.get(document.key)?.(document) ?? null };
}

const wholly: Sleepers["read"] = ({ said }) => (said.kind === "manifest" ? said.digest : null);

const labelsAmong =
  (keys: ReadonlySet<string>): Sleepers["read"] =>
  ({ said }) => {
    const labels = said.kind === "cluster" ? only(said.cluster.labels, keys) : {};
    return Object.keys(labels).length === 0 ? null : JSON.stringify(Object.entries(labels).sort());
  };

const rulesAmong =
  (rules: ReadonlySet<string>): Sleepers["read"] =>
  ({ said }) => {
    if (said.kind !== "override") return null;
    const own = said.override.spec.rules.map(ruleDigest);
    const awake = own.filter((it) => rules.has(it));
    return awake.length === 0 ? null : JSON.stringify(awake);
  };

function objectsAmong(carried: Decided, wanted: Decided): readonly ObjectKey[] {
  const known = new Set(carried.resources.map((it) => objectKey(it.id)));
  return wanted.resources.map((it) => objectKey(it.id)).filter((it) => !known.has(it));
}

/** Overrides, and rules of them, that act now and stood there, or may have, when they did not. */
function overridesAmong(carried: Decided, wanted: Decided): ReadonlyMap<ObjectKey, ReadonlySet<string>> {
  const found = new Map<ObjectKey, ReadonlySet<string>>();
  for (const it of wanted.overrides) {
    const before = carried.overrides.find((old) => old.namespace === it.namespace && old.override === it.override);
    const known = new Set(before === undefined ? [] : actingRules(before, carried.labels));
    const awake = actingRules(it, wanted.labels).filter((rule) => !known.has(rule));
    if (awake.length > 0) found.set(overrideDocument({ namespace: it.namespace, name: it.override }), new Set(awake));
  }
  return found;
}

/** Selectors and roots that hold something now and held nothing then. */
function* widened(
  { subject: { intent, record } }: Course,
  carried: Decided,
  wanted: Decided,
): Generator<readonly [ObjectKey, Sleepers["read"]]> {
  const known = new Set(carried.resources.map((it) => objectKey(it.id)));
  const fresh = wanted.resources.filter((it) => !known.has(objectKey(it.id)));
  if (fresh.length === 0) return;
  const placement = intent.placements.get(record.key);
  const selectors = new Set(placement === undefined ? [] : awakeSelectors(placement, intent, known));
  if (selectors.size > 0)
    yield [
      placementDocument(record),
      ({ said }) => {
        const all =
          said.kind === "placement" ? said.placement.spec.resourceSelectors.map((it) => JSON.stringify(it)) : [];
        const own = all.filter((it) => selectors.has(it));
        return own.length === 0 ? null : own.join();
      },
    ];
  const roots = intent.fleet.roots.filter(
    (root) => fresh.some((it) => isUnder(it.path, [root])) && !carried.resources.some((it) => isUnder(it.path, [root])),
  );
  if (roots.length > 0)
    yield [
      fleetDocument,
      ({ said }) => {
        const own = said.kind === "fleet" ? said.fleet.roots.filter((it) => roots.includes(it)) : [];
        return own.length === 0 ? null : own.join();
      },
    ];
}

/** The selectors that select something, and nothing of what is known. */
function awakeSelectors(placement: Placement, intent: Intent, known: ReadonlySet<ObjectKey>): readonly string[] {
  return placement.spec.resourceSelectors.flatMap((it) => {
    const alone = { ...placement, spec: { ...placement.spec, resourceSelectors: [it] } };
    const selection = selectResources(alone, intent);
    const keys = selection.kind === "selected" ? selection.resources.map(({ id }) => objectKey(id)) : [];
    return keys.length > 0 && !keys.some((key) => known.has(key)) ? [JSON.stringify(it)] : [];
  });
}
