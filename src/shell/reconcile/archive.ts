import { manifestAt } from "../../core/codec/intent.ts";
import type { Intent } from "../../core/model/intent.ts";
import type { Ledger, SnapshotResource } from "../../core/model/ledger.ts";
import type { Manifest } from "../../core/model/manifest.ts";
import type { Digest } from "../../core/model/value.ts";
import type { Memory } from "./memory.ts";
import type { Repository } from "./ports.ts";
import { decodeBlobs } from "./source.ts";

/**
 * The manifests that targets of earlier commits name and this commit no longer has: a cluster that is held back keeps
 * what it has, and has to get it back when somebody deletes it there.
 */
export async function readArchive(
  repository: Repository,
  ledger: Ledger,
  intent: Intent,
  memory: Memory,
): Promise<ReadonlyMap<Digest, Manifest>> {
  const current = new Set([...intent.objects.values()].map((it) => it.digest));
  const wanted = new Map<Digest, SnapshotResource>();
  for (const it of resourcesInForce(ledger)) if (!current.has(it.digest)) wanted.set(it.digest, it);
  if (wanted.size === 0) return new Map();
  const decoded = await decodeBlobs(
    repository,
    [...wanted.values()].map((it) => it.blob),
    memory,
  );
  const archive = new Map<Digest, Manifest>();
  for (const [digest, { blob, document }] of wanted) {
    const file = decoded.get(blob);
    const found = file === undefined ? null : manifestAt(file, document);
    if (found?.digest === digest) archive.set(digest, found.manifest);
  }
  return archive;
}

function* resourcesInForce({ placements }: Ledger): Generator<SnapshotResource> {
  for (const { bindings, resourceSnapshots } of placements.values()) {
    const named = new Set([...bindings.values()].map((it) => it.target?.resourceIndex));
    for (const snapshot of resourceSnapshots) if (named.has(snapshot.index)) yield* snapshot.resources;
  }
}
