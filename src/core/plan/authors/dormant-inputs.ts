import {
  clusterDocumentKey,
  fleetDocumentKey,
  overrideDocumentKey,
  type PastDocument,
  placementDocumentKey,
  runDocumentKey,
} from "../../model/history.ts";
import type { Intent } from "../../model/intent.ts";
import { documentKeyOf, type ObjectKey } from "../../model/manifest.ts";
import type { Placement } from "../../model/placement.ts";
import { selectResources } from "../../render/select.ts";
import { actingRules, type ClusterContent, type ClusterUpdate, ruleDigest } from "./cluster-content.ts";
import { isUnder } from "./read-roots.ts";

/**
 * What a decision reads that the one before did not, although it may have stood there for long: an override that begins
 * to match, a label that is looked at for the first time, an object that is selected now. Nobody was asked about these
 * when they were written, so whoever wrote them is asked for from the beginning (`trust/README.md#t-40`).
 */
export interface DormantInput {
  /** Where it stands. */
  readonly key: ObjectKey;
  /** What wakes of a version of that document; null: nothing was there. */
  readonly read: (document: PastDocument) => string | null;
  /** Whether it is an object that is placed: of those, a run brings what was selected when it was planned. */
  readonly isObject?: true;
}

/** The sleepers of a update; none where nothing was decided before: then all of it is looked for from the beginning. */
export function dormantInputs(update: ClusterUpdate): readonly DormantInput[] {
  const { carried, wanted, run, clusters } = update;
  const own: readonly DormantInput[] =
    run === null
      ? []
      : [
          {
            key: runDocumentKey(run),
            read: ({ said }) => (said.kind === "run" ? JSON.stringify(said.run.spec) : null),
          },
        ];
  if (carried === null || wanted === null) return own;
  const labels = [...wanted.lookedAt].filter((it) => !carried.lookedAt.has(it));
  return [
    ...own,
    ...newObjects(carried, wanted).map((key): DormantInput => ({ key, read: readAll, isObject: true })),
    ...newOverrides(carried, wanted),
    ...[...clusters].flatMap((it) => labels.map((label) => ({ key: clusterDocumentKey(it), read: readLabel(label) }))),
    ...newSelectorsAndRoots(update, carried, wanted),
  ];
}

const readAll: DormantInput["read"] = ({ said }) =>
  said.kind === "manifest" ? said.digest : said.kind === "override" ? JSON.stringify(said.override.spec) : null;

const readLabel =
  (label: string): DormantInput["read"] =>
  ({ said }) =>
    said.kind === "cluster" ? (said.cluster.labels[label] ?? null) : null;

/** What is there, or not, and has nothing about it that could change. */
const presence = (isThere: boolean): string | null => (isThere ? "there" : null);

function newObjects(carried: ClusterContent, wanted: ClusterContent): readonly ObjectKey[] {
  const known = new Set(carried.resources.map(documentKeyOf));
  return [...new Set(wanted.resources.map(documentKeyOf))].filter((it) => !known.has(it));
}

/** Overrides that act now and did not; of those that did, the rules for which that is so. */
function newOverrides(carried: ClusterContent, wanted: ClusterContent): readonly DormantInput[] {
  return wanted.overrides.flatMap((it): readonly DormantInput[] => {
    const key = overrideDocumentKey({ namespace: it.namespace, name: it.override });
    const before = carried.overrides.find((old) => old.namespace === it.namespace && old.override === it.override);
    if (before === undefined) return [{ key, read: readAll }];
    const known = new Set(actingRules(before, carried.labels));
    const awake = actingRules(it, wanted.labels).filter((rule) => !known.has(rule));
    return awake.map((rule) => ({
      key,
      read: ({ said }) =>
        presence(said.kind === "override" && said.override.spec.rules.some((own) => ruleDigest(own) === rule)),
    }));
  });
}

/** Selectors and roots that hold something now and held nothing then. */
function newSelectorsAndRoots(
  { subject: { intent, record } }: ClusterUpdate,
  carried: ClusterContent,
  wanted: ClusterContent,
): readonly DormantInput[] {
  const known = new Set(carried.resources.map(documentKeyOf));
  const fresh = wanted.resources.filter((it) => !known.has(documentKeyOf(it)));
  if (fresh.length === 0) return [];
  const placement = intent.placements.get(record.key);
  const selectors = placement === undefined ? [] : newSelectors(placement, intent, known);
  const roots = intent.fleet.roots.filter(
    (root) => fresh.some((it) => isUnder(it.path, [root])) && !carried.resources.some((it) => isUnder(it.path, [root])),
  );
  return [
    ...selectors.map(
      (selector): DormantInput => ({
        key: placementDocumentKey(record),
        read: ({ said }) =>
          presence(
            said.kind === "placement" &&
              said.placement.spec.resourceSelectors.some((it) => JSON.stringify(it) === selector),
          ),
      }),
    ),
    ...roots.map(
      (root): DormantInput => ({
        key: fleetDocumentKey,
        read: ({ said }) => presence(said.kind === "fleet" && said.fleet.roots.includes(root)),
      }),
    ),
  ];
}

/** The selectors that select something, and nothing of what is known. */
function newSelectors(placement: Placement, intent: Intent, known: ReadonlySet<ObjectKey>): readonly string[] {
  return placement.spec.resourceSelectors.flatMap((it) => {
    const alone = { ...placement, spec: { ...placement.spec, resourceSelectors: [it] } };
    const selection = selectResources(alone, intent);
    const keys = selection.kind === "selected" ? selection.resources.map(documentKeyOf) : [];
    return keys.length > 0 && !keys.some((key) => known.has(key)) ? [JSON.stringify(it)] : [];
  });
}
