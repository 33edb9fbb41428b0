import { askedCommitsPath, askedPagePath, askedPath, renderedPath } from "../../core/ledger/layout.ts";
import { renderedText } from "../../core/ledger/output.ts";
import type { Json } from "../../core/model/json.ts";
import type { Ledger, PlacementRecord } from "../../core/model/ledger.ts";
import { type ClusterName, type Commit, compareText, type PlacementKey } from "../../core/model/value.ts";
import { type ApprovalRequest, requestedPlacement } from "../../core/plan/approval/approval-request.ts";
import {
  genuineContent,
  genuineTarget,
  mostShown,
  type RequestDetails,
  requestedContents,
  unansweredRequests,
} from "../../core/plan/approval/request-content.ts";
import type { ManifestChange, Manifests, RequestContent } from "../../core/report/request-changes.ts";
import { requestFolder, requestPage } from "../../core/report/request-page.ts";
import { readYamlStream } from "../../core/yaml/read-stream.ts";
import type { Edit, Repository, TreeFile } from "./ports.ts";

// What people are asked about, as files: written when asked for, removed when over; nobody decides by it.

const longestText = 1_000_000;

const mostText = 4_000_000;

const mostCommits = 100;

const placementOf = (ask: ApprovalRequest): PlacementKey =>
  ask.kind === "gate" ? ask.run.spec.placement : ask.record.key;

/** Writes what is newly asked, and takes away what nobody is asked any more. */
export async function approvalEdits(
  repository: Repository,
  { commit, ledger: before }: { readonly commit: Commit | null; readonly ledger: Ledger },
  after: Ledger,
  asked: readonly RequestDetails[],
): Promise<readonly Edit[]> {
  const written = asked.flatMap(filesFor);
  const paths = new Set(written.map((it) => it.path));
  const open = new Map(unansweredRequests(after).map((it) => [it.request.digest, it] as const));
  const removals: Edit[] = [];
  for (const ask of unansweredRequests(before)) {
    if (commit === null || open.has(ask.request.digest)) continue;
    const folder = requestFolder(ask);
    // Whatever a repository lists besides, nothing else goes: everything that is known stands in the same branch.
    for (const { path } of await repository.files(commit, folder))
      if (path.startsWith(folder) && !paths.has(path)) removals.push({ kind: "remove", path });
  }
  return [...written, ...removals];
}

/** The files of one request: at most so many, none of them huge; its page says what is left out. */
function filesFor({ ask, contents: shares, commits }: RequestDetails): readonly (Edit & { readonly kind: "write" })[] {
  const folder = requestFolder(ask);
  const placement = placementOf(ask);
  let room = mostText;
  const files: (Edit & { readonly kind: "write" })[] = [];
  const rows = shares.slice(0, mostShown).map(({ clusters, manifests, isNew }) => {
    const leftOut = (because: string) => ({ clusters, isNew, file: null, because });
    if (manifests === null) return leftOut("cannot be rendered any more");
    const text = renderedText(manifests);
    if (text.length > Math.min(longestText, room)) return leftOut(`too long to be shown: ${text.length} characters`);
    room -= text.length;
    const path = askedPath(folder, clusters[0], placement);
    files.push({ kind: "write", path, text });
    return { clusters, isNew, file: path.slice(folder.length), because: "" };
  });
  const some = commits.slice(0, mostCommits);
  const page = requestPage({
    name: folder.split("/").at(-2) ?? "",
    placement,
    digest: ask.request.digest,
    depth: folder.split("/").length - 2,
    shares: rows,
    unnamed: Math.max(0, shares.length - mostShown),
    leaves: ask.kind === "change" ? ask.change.leaves : new Map(),
    others: ask.kind === "change" ? ask.change.others : [],
    commits: some,
    moreCommits: commits.length - some.length,
  });
  if (some.length > 0)
    files.push({ kind: "write", path: askedCommitsPath(folder), text: some.map((it) => `${it}\n`).join("") });
  return [...files, { kind: "write", path: askedPagePath(folder), text: page }];
}

const nothing: Manifests = [];

/**
 * Reads what a request is about from the state branch. Whatever is not what the request's digest was made over, or what
 * the record says that a cluster carries, counts as not there: nobody is shown anything else than they approve
 * (`trust/README.md#t-21`).
 */
export async function readApprovalView(
  repository: Repository,
  commit: Commit,
  ask: ApprovalRequest,
  ledger: Ledger,
): Promise<RequestContent> {
  const folder = requestFolder(ask);
  const placement = placementOf(ask);
  const record = requestedPlacement(ask, ledger);
  const standing = new Map((await repository.files(commit, folder)).map((it) => [it.path, it]));
  const read = reader(repository);
  const moves = new Map<ClusterName, ManifestChange>();
  if (record !== null) {
    const carried = carriedReader(repository, commit, record, read);
    for (const share of requestedContents(ask).slice(0, mostShown)) {
      const text = await read(standing.get(askedPath(folder, share.clusters[0], placement)));
      const after = text === null ? null : genuineContent(documentsOf(text), ask, share, ledger);
      for (const cluster of share.clusters) moves.set(cluster, { before: await carried(cluster), after });
    }
    if (ask.kind === "change")
      for (const [cluster, content] of ask.change.clusters)
        if (content === null) moves.set(cluster, { before: await carried(cluster), after: nothing });
  }
  const commits = (await read(standing.get(askedCommitsPath(folder))))?.split("\n") ?? [];
  const ids = commits.filter((it) => /^[0-9a-f]{40,64}$/.test(it)).slice(0, mostCommits) as Commit[];
  return { moves: new Map([...moves].sort(([a], [b]) => compareText(a, b))), commits: ids };
}

/** Gives what stands in a file; null where there is none, or a longer one than is ever written. */
function reader(repository: Repository): (file: TreeFile | undefined) => Promise<string | null> {
  return async (file) => {
    if (file === undefined || file.kind !== "file") return null;
    const bytes = (await repository.blobs([file.blob], longestText * 4)).get(file.blob);
    return bytes === undefined || bytes.length > longestText * 4 ? null : new TextDecoder().decode(bytes);
  };
}

/** Gives what a cluster carries, read once for all that carry the same; only so many different ones are looked at. */
function carriedReader(
  repository: Repository,
  commit: Commit,
  record: PlacementRecord,
  read: ReturnType<typeof reader>,
): (cluster: ClusterName) => Promise<Manifests | null> {
  const known = new Map<string, Manifests | null>();
  return async (cluster) => {
    const digest = record.bindings.get(cluster)?.target?.digest ?? null;
    if (digest === null) return nothing;
    const found = known.get(digest);
    if (found !== undefined || known.size >= mostShown * 2) return found ?? null;
    const path = renderedPath(cluster, record.key);
    const files = await repository.files(commit, path.slice(0, path.lastIndexOf("/") + 1));
    const text = await read(files.find((it) => it.path === path));
    const manifests = text === null ? null : genuineTarget(documentsOf(text), record, cluster);
    known.set(digest, manifests);
    return manifests;
  };
}

function documentsOf(text: string): readonly Json[] {
  const read = readYamlStream(text);
  return "documents" in read ? read.documents : [];
}
