import { manifestAt } from "../../core/intent/intent.ts";
import { versionsNamed } from "../../core/model/binding.ts";
import { remembered } from "../../core/model/identity.ts";
import type { Intent } from "../../core/model/intent.ts";
import type { Ledger, PlacementRecord, SnapshotResource } from "../../core/model/ledger.ts";
import type { Manifest } from "../../core/model/manifest.ts";
import type { Digest } from "../../core/model/value.ts";
import type { Memory } from "./memory.ts";
import type { Repository } from "./ports.ts";
import { decodeBlobs } from "./source.ts";

/** The manifests of earlier commits' targets that this commit lacks: clusters that are held back may need them. */
export async function readArchive(
  repository: Repository,
  ledger: Ledger,
  intent: Intent,
  memory: Memory,
): Promise<ReadonlyMap<Digest, Manifest>> {
  const current = digestsOf(intent.objects);
  const wanted = new Map<Digest, SnapshotResource>();
  const want = (it: SnapshotResource): void => {
    if (!current.has(it.digest)) wanted.set(it.digest, it);
  };
  for (const record of ledger.placements.values()) for (const it of resourcesInForce(record)) want(it);
  for (const it of resourcesToRollOut(intent, ledger)) want(it);
  if (wanted.size === 0) return new Map();
  const decoded = await decodeBlobs(
    repository,
    [...wanted.values()].map((it) => it.blob),
    memory,
  );
  const archive = new Map<Digest, Manifest>();
  for (const [digest, { blob, document }] of wanted) {
    const file = decoded.get(blob);
    const found = file === undefined ? null : manifestAt(file, document, digest);
    if (found !== null) archive.set(digest, found);
  }
  return archive;
}

const digestsOf = remembered((objects: Intent["objects"]): ReadonlySet<Digest> => {
  const found = new Set<Digest>();
  for (const { digest, wraps } of objects.values()) {
    found.add(digest);
    for (const it of wraps?.objects ?? []) found.add(it.digest);
  }
  return found;
});

/** What update runs bring, or may begin to bring now: the snapshots that they name, or that their plans do. */
function* resourcesToRollOut({ runs }: Intent, ledger: Ledger): Generator<SnapshotResource> {
  for (const { key, spec } of runs.values()) {
    const plan = ledger.runs.get(key)?.plan ?? null;
    const index = plan === null ? spec.resourceIndex : String(plan.resourceIndex);
    const snapshots = ledger.placements.get(spec.placement)?.resourceSnapshots ?? [];
    const snapshot = ledger.runs.get(key)?.end == null ? snapshots.find((it) => String(it.index) === index) : undefined;
    yield* snapshot?.resources ?? [];
  }
}

/** What the targets of a placement consist of. A record that did not change is not looked at again. */
const resourcesInForce = remembered(({ bindings, resourceSnapshots }: PlacementRecord): readonly SnapshotResource[] => {
  const named = new Set(
    [...bindings.values()].flatMap((it) => versionsNamed(it).map(({ resourceIndex }) => resourceIndex)),
  );
  return resourceSnapshots.filter((it) => named.has(it.index)).flatMap((it) => it.resources);
});
