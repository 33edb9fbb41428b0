import type { InventoryEntry } from "../model/inventory.ts";
import { digestOfText, isObject, type JsonObject, member, memberAt, textOf } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import { placementLabel, writeAnnotation } from "../model/names.ts";
import type { Epoch, PlacementKey, Sequence } from "../model/value.ts";

/** Who wrote an object, and with which decision. */
interface Write {
  readonly placement: PlacementKey;
  readonly fleet: string;
  readonly epoch: Epoch;
  readonly sequence: Sequence;
}

/** Our mark, read from an object. The label value identifies the placement: see {@link markOf}. */
export interface Mark {
  /** Empty when the label is missing. */
  readonly label: string;
  readonly fleet: string;
  readonly epoch: Epoch;
  readonly sequence: Sequence;
}

/** The manifest with our mark on it: the placement as a label, the write as an annotation (`apply/README.md#c-14`). */
export function marked(manifest: Manifest, write: Write): Manifest {
  const metadata = asObject(manifest["metadata"]);
  return {
    ...manifest,
    metadata: {
      ...metadata,
      labels: { ...asObject(metadata["labels"]), [placementLabel]: markOf(write.placement) },
      annotations: { ...asObject(metadata["annotations"]), [writeAnnotation]: writeText(write) },
    },
  };
}

/**
 * A placement's key as a label value: `team/web` is `team.web`; beyond 63 characters it is cut, with a hash that nobody
 * finds another name for. No name has a `_`, so that nobody can call a placement like the cut key of another one.
 */
export function markOf(placement: PlacementKey): string {
  const text = placement.replace("/", ".");
  return text.length <= 63 ? text : `${text.slice(0, 30)}_${digestOfText(placement).slice(0, 32)}`;
}

/** `fleet/epoch/sequence`. */
export const writeText = ({ fleet, epoch, sequence }: Omit<Write, "placement">): string =>
  `${fleet}/${epoch}/${sequence}`;

/** The inverse of {@link writeText}; null for another text. */
export function readWrite(text: string): Omit<Write, "placement"> | null {
  const write = /^(.*)\/(\d{1,15})\/(\d{1,15})$/.exec(text);
  if (write === null) return null;
  const [, fleet = "", epoch, sequence] = write;
  return { fleet, epoch: Number(epoch) as Epoch, sequence: Number(sequence) as Sequence };
}

/** The mark of a live object; null when its annotation is absent or not ours. */
export function readMark(live: Manifest): Mark | null {
  const write = readWrite(textOf(memberAt(live, "metadata", "annotations", writeAnnotation)) ?? "");
  if (write === null) return null;
  return { ...write, label: textOf(memberAt(live, "metadata", "labels", placementLabel)) ?? "" };
}

/** Whether anything of our mark is on a live object. Who lets an object go takes all of it off: {@link unmarkPatch}. */
export const bearsMark = (live: Manifest): boolean =>
  memberAt(live, "metadata", "labels", placementLabel) !== null ||
  memberAt(live, "metadata", "annotations", writeAnnotation) !== null;

/**
 * Whether a write may be one whose result the inventory is missing: no earlier than the entry's claim, and no later
 * than the last claim of its placement. A renewed claim keeps its sequence, so whatever it made stays ours, even if
 * later attempts are refused.
 */
export const isWriteOf = (
  write: Pick<Write, "sequence">,
  entry: Pick<InventoryEntry, "sequence">,
  upTo: Sequence,
): boolean => write.sequence >= entry.sequence && write.sequence <= upTo;

const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/**
 * The JSON patch that takes our mark and field ownership off an object of the resourceVersion that was read. Applying
 * an empty manifest instead would delete every field that only we own.
 */
export function unmarkPatch(live: Manifest, manager: string): readonly JsonObject[] {
  const metadata = asObject(live["metadata"]);
  const drop = (map: string, key: string): readonly JsonObject[] =>
    member(metadata[map], key) === null
      ? []
      : [{ op: "remove", path: `/metadata/${map}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}` }];
  const entries = Array.isArray(metadata["managedFields"]) ? metadata["managedFields"] : [];
  const others = entries.filter((it) => memberAt(it, "manager") !== manager);
  return [
    { op: "replace", path: "/metadata/resourceVersion", value: metadata["resourceVersion"] ?? "" },
    ...drop("labels", placementLabel),
    ...drop("annotations", writeAnnotation),
    ...managedFieldsPatch(entries.length, others),
  ];
}

/** An empty list would change nothing; a list of one empty entry resets the managed fields (server-side apply). */
function managedFieldsPatch(before: number, after: readonly JsonObject[]): readonly JsonObject[] {
  if (before === after.length) return [];
  return [{ op: "replace", path: "/metadata/managedFields", value: after.length === 0 ? [{}] : after }];
}
