import type { PlacementRecord, ResourceSnapshot } from "../../model/ledger.ts";
import { documentIdOf, documentKeyOf, objectText } from "../../model/manifest.ts";
import type { RunRecord } from "../../model/update-run.ts";
import type { Selection } from "../../render/select.ts";
import type { PlanVersion } from "../../rollout/run-plan.ts";
import type { PlanContext } from "../moves/context.ts";
import { versionsOf } from "../moves/version.ts";

/** What a placement selects now. */
export interface Selected {
  readonly selection: Selection;
  /** The placement's resource snapshots once what is selected now has one. */
  readonly snapshotsNow: () => PlacementRecord["resourceSnapshots"];
}

/** What a run that is initialized now would roll out, and the snapshots that it needs. */
interface Chosen {
  readonly version: PlanVersion;
  readonly resourceSnapshots: PlacementRecord["resourceSnapshots"];
}

/**
 * The version that a run rolls out: the snapshot that it names, or what is selected at this commit
 * (`rollout/README.md#b-2`), with the overrides of today (`#the-plan-of-a-run`). What is selected and cannot be read is
 * waited for: the version before it is not the one that was asked for.
 */
export function versionFor(
  { spec }: RunRecord,
  record: PlacementRecord,
  selected: Selected,
  context: PlanContext,
): Chosen {
  const { resourceIndex: wanted } = spec;
  if (wanted === null && selected.selection.kind === "refused") {
    const { message } = selected.selection;
    return {
      version: { kind: "failed", code: "BadSelectors", message },
      resourceSnapshots: record.resourceSnapshots,
    };
  }
  const unread = wanted === null ? unreadIn(record, context) : undefined;
  if (unread !== undefined) {
    const message = `waits for ${objectText(documentIdOf(unread))}, which is selected and whose file cannot be used`;
    return { version: { kind: "waiting", message }, resourceSnapshots: record.resourceSnapshots };
  }
  const resourceSnapshots = wanted === null ? selected.snapshotsNow() : record.resourceSnapshots;
  const snapshot =
    wanted === null ? resourceSnapshots.at(-1) : resourceSnapshots.find((it) => String(it.index) === wanted);
  if (snapshot === undefined) return { version: missing(wanted, resourceSnapshots), resourceSnapshots };
  return { version: rendered(snapshot, record, context), resourceSnapshots };
}

/** An object that went out last and cannot be read now: without it nobody knows what this commit holds. */
const unreadIn = ({ resourceSnapshots }: PlacementRecord, { world: { intent } }: PlanContext) =>
  resourceSnapshots.at(-1)?.resources.find((it) => intent.unusable.has(documentKeyOf(it)));

/** As many as a placement keeps unless it says otherwise. */
const mostNamed = 10;

function missing(wanted: string | null, snapshots: readonly ResourceSnapshot[]): PlanVersion {
  const known = snapshots.slice(-mostNamed).map((it) => it.index);
  const kept = known.length === 0 ? "there is none yet" : `the newest are ${known.join(", ")}`;
  const message = `resource snapshot ${wanted ?? "of this commit"} is not kept; ${kept}`;
  return { kind: "failed", code: "SnapshotNotFound", message };
}

function rendered(snapshot: ResourceSnapshot, record: PlacementRecord, context: PlanContext): PlanVersion {
  const { intent } = context.world;
  const versionOf = versionsOf({
    placement: record.key,
    snapshot,
    applyStrategy: record.spec.strategy.applyStrategy,
    overrides: context.latestOverrides,
    scopes: intent.scopes,
    content: context.content,
  });
  if (versionOf === null) {
    const message = `the content of resource snapshot ${snapshot.index} is lost; commit it again`;
    return { kind: "failed", code: "SnapshotNotFound", message };
  }
  return {
    kind: "found",
    resourceIndex: snapshot.index,
    clusterOf: (cluster) => {
      const member = intent.clusters.get(cluster);
      if (member === undefined) return { kind: "failed", message: `${cluster} is no member any more` };
      const { clusterOverrides, resourceOverrides, labels, rendering } = versionOf(member);
      const made = rendering();
      if (made.kind === "failed") return made;
      return { cluster, clusterOverrides, resourceOverrides, labels, digest: made.digest };
    },
  };
}
