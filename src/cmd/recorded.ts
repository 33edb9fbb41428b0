import { approvalsIn } from "../core/intent/approvals.ts";
import { decodeBlob } from "../core/intent/documents.ts";
import { isApprovalPath } from "../core/intent/kinds/approval.ts";
import type { Json } from "../core/model/json.ts";
import type { ApprovalFile } from "../core/model/trust.ts";
import { type Commit, compareText } from "../core/model/value.ts";
import { readState } from "../core/yaml/canonical-read.ts";
import type { State } from "../shell/reconcile/memory.ts";
import type { Repository } from "../shell/reconcile/ports.ts";
import type { TextFile } from "./edits/found-document.ts";

/** Where the objects of a kind stand, and what of their key the path says. */
const patterns = {
  placements: /^(?:namespaces\/(?<namespace>[^/]+)\/)?placements\/(?<name>[^/]+)\/placement\.yaml$/,
  clusters: /^clusters\/(?<name>[^/]+)\.yaml$/,
  bindings: /^(?:namespaces\/(?<namespace>[^/]+)\/)?placements\/(?<name>[^/]+)\/bindings\.yaml$/,
  runs: /^(?:namespaces\/(?<namespace>[^/]+)\/)?runs\/(?<name>[^/]+)\/run\.yaml$/,
  plans: /^(?:namespaces\/(?<namespace>[^/]+)\/)?runs\/(?<name>[^/]+)\/plan\.yaml$/,
  evictions: /^evictions\/(?<name>[^/]+)\.yaml$/,
  approvals: /^(?:namespaces\/(?<namespace>[^/]+)\/)?approvals\/(?<name>[^/]+)\.yaml$/,
} as const;

/**
 * KubeFleet's objects as the state branch holds them; those of one placement, cluster or run when a key is given: `name`, or
 * `namespace/name`.
 */
export async function recorded(
  repository: Repository,
  head: Commit,
  kind: keyof typeof patterns,
  key: string | null,
): Promise<readonly Json[]> {
  const files = (await repository.files(head)).filter(({ path }) => {
    const { namespace, name } = patterns[kind].exec(path)?.groups ?? {};
    if (name === undefined) return false;
    return key === null || key === (namespace === undefined ? name : `${namespace}/${name}`);
  });
  const blobs = await repository.blobs(files.map((it) => it.blob));
  const decoder = new TextDecoder();
  return files.flatMap((it) => {
    const read = readState(decoder.decode(blobs.get(it.blob)));
    return "documents" in read ? read.documents : [];
  });
}

/** The source's files as they were last read. */
export async function acceptedTexts(repository: Repository, { accepted }: State): Promise<readonly TextFile[]> {
  const blobs = await repository.blobs([...new Set(accepted.values())]);
  const decoder = new TextDecoder();
  return [...accepted].map(([path, blob]) => ({ path, text: decoder.decode(blobs.get(blob)) }));
}

/** The answers to requests among them, in the order of their paths; those that cannot be read are left out. */
export async function acceptedAnswers(
  repository: Repository,
  { accepted }: Pick<State, "accepted">,
): Promise<readonly ApprovalFile[]> {
  const files = [...accepted].filter(([path]) => isApprovalPath(path)).sort(([a], [b]) => compareText(a, b));
  const blobs = await repository.blobs([...new Set(files.map(([, blob]) => blob))]);
  const read = files.flatMap(([path, blob]) => {
    const bytes = blobs.get(blob);
    return bytes === undefined ? [] : [{ path, blob, kind: "file" as const, decoded: decodeBlob(bytes) }];
  });
  return approvalsIn(read).approvals;
}
