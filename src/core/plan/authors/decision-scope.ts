import { type PastContent, type PastDocument, placementDocumentKey } from "../../model/history.ts";
import type { SnapshotResource } from "../../model/ledger.ts";
import {
  documentKeyOf,
  envelopeRef,
  isEnvelope,
  objectKey,
  type SourcedManifest,
  wrappedIds,
} from "../../model/manifest.ts";
import type { Override, OverrideSnapshot } from "../../model/override.ts";
import type { Placement } from "../../model/placement.ts";
import type { Labels } from "../../model/value.ts";
import { labelsLookedAt, overridesOf } from "../../render/applicable-overrides.ts";
import { selectResources } from "../../render/select.ts";
import type { ClusterUpdate } from "./cluster-content.ts";

/**
 * All that a decision could have met since the one in force: what is carried, what is wanted, and what came and went in
 * between. What nobody sees any more may have been what somebody was asked about (`trust/README.md#t-12`).
 */
export interface DecisionScope {
  /** The placement, as it is and as it was. */
  readonly placements: readonly Pick<Placement, "spec">[];
  readonly resources: readonly ScopedResource[];
  readonly labels: readonly Labels[];
  /** The keys of labels that any override looks at. */
  readonly lookedAt: ReadonlySet<string>;
  readonly selects: (said: Manifest) => boolean;
  readonly reaches: (override: OverrideSnapshot) => boolean;
}

type Manifest = Extract<PastContent, { kind: "manifest" }>;

type ScopedResource = Pick<SnapshotResource, "id" | "envelope">;

/** Lays out the ground of a course, given every document that anybody changed since. */
export function decisionScope(
  { subject, clusters, carried, wanted }: ClusterUpdate,
  past: readonly PastDocument[],
): DecisionScope {
  const { record, intent } = subject;
  const both = [carried, wanted].flatMap((it) => it ?? []);
  const own = placementDocumentKey(record);
  const placement = intent.placements.get(record.key);
  const before = past.flatMap(({ key, said }) => (key === own && said.kind === "placement" ? said.placement : []));
  const placements = [...(placement === undefined ? [] : [placement]), ...before];
  const selects = selectorOf(
    placements.map((it) => ({ ...it, source: nowhere })),
    subject.intent,
  );
  const selected = past.flatMap(({ said }) => (said.kind === "manifest" && selects(said) ? placedBy(said) : []));
  const resources = [...new Map([...both.flatMap((it) => it.resources), ...selected].map(byKey)).values()];
  const reaches = (it: OverrideSnapshot): boolean => overridesOf(record.key, resources, [it], intent.scopes).length > 0;
  const overrides = [
    ...intent.overrides,
    ...past.flatMap(({ said }) => (said.kind === "override" ? said.override : [])),
  ];
  const looking = overrides.map(overrideSnapshotOf).filter(reaches);
  const lookedAt = [...both.map((it) => it.lookedAt), ...[...clusters].map((it) => labelsLookedAt(looking, it))];
  const labels = [
    ...both.map((it) => it.labels),
    ...[...clusters].map((it) => intent.clusters.get(it)?.labels ?? {}),
    ...past.flatMap(({ said }) =>
      said.kind === "cluster" && clusters.has(said.cluster.name) ? [said.cluster.labels] : [],
    ),
  ];
  return { placements, resources, labels, lookedAt: new Set(lookedAt.flatMap((it) => [...it])), selects, reaches };
}

/** An override as if it had a snapshot. */
export const overrideSnapshotOf = ({
  namespace,
  name,
  spec,
}: Omit<Override, "source" | "scope">): OverrideSnapshot => ({
  name,
  namespace,
  override: name,
  index: 0,
  spec,
});

const nowhere = { path: "", document: 0, line: 1, column: 1 };

/** Whether any of these placements would select an object, were it there. */
function selectorOf(
  placements: readonly Placement[],
  { objects, scopes }: ClusterUpdate["subject"]["intent"],
): DecisionScope["selects"] {
  const namespaces = [...objects].filter(([, { id }]) => id.kind === "Namespace" && id.group === "");
  const known = new Map<object, boolean>();
  const isSelected = ({ id, manifest, digest }: Manifest): boolean => {
    const key = objectKey(id);
    const object: SourcedManifest = { id, manifest, digest, source: nowhere };
    const all = new Map([...namespaces, [key, object] as const]);
    return placements.some((it) => {
      const selection = selectResources(it, { objects: all, scopes });
      return selection.kind === "refused" || selection.resources.some((other) => documentKeyOf(other) === key);
    });
  };
  return (said) => {
    const found = known.get(said) ?? isSelected(said);
    known.set(said, found);
    return found;
  };
}

/** What a version of a document has placed: an object, or what the envelope wrapped. */
const placedBy = ({ id, manifest }: Manifest): readonly ScopedResource[] =>
  isEnvelope(id) ? [{ id }, ...wrappedIds(manifest).map((it) => ({ id: it, envelope: envelopeRef(id) }))] : [{ id }];

/** One that is wrapped is not the one that is not: they stand in two documents. */
const byKey = (it: ScopedResource): readonly [string, ScopedResource] => [
  `${documentKeyOf(it)} ${objectKey(it.id)}`,
  it,
];
