import { digestOf, type Json } from "../../model/json.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import { idOf, type Manifest, objectKey } from "../../model/manifest.ts";
import type { RenderedManifest, World } from "../../model/plan.ts";
import { type ClusterName, type Commit, compareText, type Digest } from "../../model/value.ts";
import { latestOf } from "../../render/override-snapshot.ts";
import type { Rendering } from "../../render/render.ts";
import { contentDigest } from "../../render/resource-snapshot.ts";
import { commitsBehind } from "../authors/authors.ts";
import { contentOf, targetRendering, versionsOf } from "../moves/version.ts";
import { type ApprovalRequest, requestedPlacement, requestState, requestsIn } from "./approval-request.ts";

/** Clusters that would carry the same content. */
interface RequestedContent {
  /** By name. */
  readonly clusters: readonly [ClusterName, ...ClusterName[]];
  /** Its digest in the request: for a gate, of the rendered manifests; for a change, also of how they are applied. */
  readonly content: Digest;
}

/** What clusters would carry: each content once, with its clusters, in the order of the first of them. */
export function requestedContents(ask: ApprovalRequest): readonly RequestedContent[] {
  const contents: readonly (readonly [ClusterName, Digest | null])[] =
    ask.kind === "change"
      ? [...ask.change.clusters]
      : ask.when === "after"
        ? []
        : ask.stage.clusters.map(({ cluster, digest }) => [cluster, digest]);
  const found = new Map<Digest, [ClusterName, ...ClusterName[]]>();
  for (const [cluster, content] of [...contents].sort(([a], [b]) => compareText(a, b))) {
    if (content === null) continue;
    const known = found.get(content);
    if (known === undefined) found.set(content, [cluster]);
    else known.push(cluster);
  }
  return [...found].map(([content, clusters]) => ({ clusters, content }));
}

/** What a request is about, as it was when people were asked. */
export interface RequestDetails {
  readonly ask: ApprovalRequest;
  readonly contents: readonly (RequestedContent & {
    /** Null where it cannot be rendered any more, and of all but the first {@link mostShown}. */
    readonly manifests: readonly RenderedManifest[] | null;
    /** The first of its clusters carries nothing of the placement yet. */
    readonly isNew: boolean;
  })[];
  /** The commits that brought it, in the order of their ids. */
  readonly commits: readonly Commit[];
}

/** How many different contents are rendered: where every cluster gets its own, nobody reads them all. */
export const mostShown = 20;

/** The requests that were not open before this pass, with what they are about. */
export function newRequestDetails(after: Ledger, world: World): readonly RequestDetails[] {
  const known = new Set(unansweredRequests(world.ledger).map((it) => it.request.digest));
  return unansweredRequests(after)
    .filter((it) => !known.has(it.request.digest))
    .map((ask) => ({
      ask,
      contents: requestedContents(ask).map((share, at) => ({
        ...share,
        manifests: at < mostShown ? manifestsOf(ask, share, after, world) : null,
        isNew: (requestedPlacement(ask, after)?.bindings.get(share.clusters[0])?.target ?? null) === null,
      })),
      commits: commitsOf(ask, after, world),
    }));
}

/** The requests that are still open. */
export const unansweredRequests = (ledger: Pick<Ledger, "runs" | "placements">): readonly ApprovalRequest[] =>
  requestsIn(ledger).filter((it) => requestState(it) === "open");

function commitsOf(ask: ApprovalRequest, ledger: Ledger, world: World): readonly Commit[] {
  const { trust, overrides } = ledger;
  const record = requestedPlacement(ask, ledger);
  if (trust === null || record === null) return [];
  const judging = { world, ledger, trust, overrides, content: contentOf(world) };
  return commitsBehind(ask.kind === "gate" ? ask.run : ask.change.clusters, record, judging);
}

/** The manifests whose digest the request has; null where nothing renders to that now. */
function manifestsOf(
  ask: ApprovalRequest,
  { clusters: [cluster], content }: RequestedContent,
  ledger: Ledger,
  world: World,
): readonly RenderedManifest[] | null {
  const record = requestedPlacement(ask, ledger);
  const renderings = record === null ? [] : renderingsFor(ask, cluster, record, { ledger, world });
  for (const it of renderings)
    if (it?.kind === "rendered" && isOf(it.digest, ask, content, ledger)) return it.manifests;
  return null;
}

interface RenderInput {
  readonly ledger: Ledger;
  readonly world: World;
}

function* renderingsFor(
  ask: ApprovalRequest,
  cluster: ClusterName,
  record: PlacementRecord,
  { ledger, world }: RenderInput,
): Generator<Rendering | null> {
  const context = { overrides: ledger.overrides, content: contentOf(world), world };
  const runs = ask.kind === "gate" ? [ask.run] : [...ledger.runs.values()];
  for (const { plan, spec } of runs) {
    const planned = plan?.stages.flatMap((it) => it.clusters).find((it) => it.cluster === cluster);
    if (plan === null || planned === undefined || spec.placement !== record.key) continue;
    const { resourceIndex, applyStrategy } = plan;
    const target = { ...planned, resourceIndex, applyStrategy, sequence: ledger.sequence, startedAt: world.now };
    yield targetRendering({ cluster, target }, record, context);
  }
  if (ask.kind === "gate") return;
  const snapshot = record.resourceSnapshots.at(-1);
  const member = world.intent.clusters.get(cluster);
  if (snapshot === undefined || member === undefined) return;
  const versionOf = versionsOf({
    placement: record.key,
    snapshot,
    applyStrategy: record.spec.strategy.applyStrategy,
    overrides: latestOf(ledger.overrides, world.intent.overrides),
    scopes: world.intent.scopes,
    content: context.content,
  });
  if (versionOf !== null) yield versionOf(member).rendering();
}

/** Whether manifests with this digest are what a request says of a cluster. */
function isOf(
  digest: Digest,
  ask: ApprovalRequest,
  content: Digest,
  { placements, runs }: Pick<Ledger, "placements" | "runs">,
) {
  if (ask.kind === "gate") return digest === content;
  const strategies = [
    placements.get(ask.record.key)?.spec.strategy.applyStrategy,
    ...[...runs.values()].map((it) => it.plan?.applyStrategy),
  ];
  return strategies.some((it) => it !== undefined && digestOf([digest, it as unknown as Json]) === content);
}

/** Manifests as somebody reads them from a file, with the digest of all of them; null where one has no identity. */
function readManifests(values: readonly Json[]): { readonly digest: Digest; readonly manifests: Manifests } | null {
  const manifests: RenderedManifest[] = [];
  for (const value of values) {
    const id = idOf(value);
    if (id === null) return null;
    manifests.push({ id, key: objectKey(id), manifest: value as Manifest, digest: digestOf(value) });
  }
  return { digest: contentDigest(manifests), manifests };
}

type Manifests = readonly RenderedManifest[];

/** What was read from a file, if it is what a request was made over (`trust/README.md#t-21`); null otherwise. */
export function genuineContent(
  values: readonly Json[],
  ask: ApprovalRequest,
  { content }: RequestedContent,
  ledger: Pick<Ledger, "placements" | "runs">,
): Manifests | null {
  const read = readManifests(values);
  return read !== null && isOf(read.digest, ask, content, ledger) ? read.manifests : null;
}

/** What was read from a file, if it is what a cluster carries by the record; null otherwise. */
export function genuineTarget(
  values: readonly Json[],
  record: PlacementRecord,
  cluster: ClusterName,
): Manifests | null {
  const read = readManifests(values);
  return read !== null && read.digest === record.bindings.get(cluster)?.target?.digest ? read.manifests : null;
}
