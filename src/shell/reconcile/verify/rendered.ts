import { renderedTargets } from "../../../core/audit/audit.ts";
import { askedFolder, askedPath, renderedFolder, renderedPath } from "../../../core/ledger/layout.ts";
import { renderedText } from "../../../core/ledger/output.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import type { BlobId, Commit, Instant } from "../../../core/model/value.ts";
import { requestedPlacement, requestsIn } from "../../../core/plan/approval/approval-request.ts";
import { requestedContents, unansweredRequests } from "../../../core/plan/approval/request-content.ts";
import { requestFolder } from "../../../core/report/request-page.ts";
import { readApprovalView } from "../approval-content.ts";
import { readArchive } from "../archive.ts";
import type { Memory, State } from "../memory.ts";
import type { Ports } from "../ports.ts";
import type { AuditFindings } from "./findings.ts";
import { worldAt } from "./world.ts";

/** Files whose texts are held at the same time. */
const filesAtOnce = 256;

/** Renders every target of the last state and compares it with the files in `rendered/`. */
export async function auditRendered(
  ports: Pick<Ports, "repository" | "verifier">,
  tip: State,
  memory: Memory,
  findings: AuditFindings,
): Promise<void> {
  const { repository } = ports;
  const { commit, ledger } = tip;
  const seen = commit === null ? null : await worldAt(ports, memory, { before: tip, after: tip, at: 0 as Instant });
  if (commit === null || seen === null) return;
  const archive = await readArchive(repository, ledger, seen.world.intent, memory);
  const targets = renderedTargets(ledger, { ...seen.world, archive }, () => true);
  const standing = new Map((await repository.files(commit, renderedFolder)).map((it) => [it.path, it.blob]));
  const wrong = (path: string, what: string): void =>
    findings.take(commit, { check: "rendered", subject: { kind: "file", path }, what });
  findings.count("rendered", targets.length);
  for (let at = 0; at < targets.length; at += filesAtOnce) {
    const some = targets
      .slice(at, at + filesAtOnce)
      .map((it) => ({ ...it, path: renderedPath(it.cluster, it.placement) }));
    const blobs = await repository.blobs([...new Set(some.flatMap((it) => standing.get(it.path) ?? []))]);
    for (const { path, manifests } of some) {
      const blob = standing.get(path);
      standing.delete(path);
      if (manifests === null) findings.skip("targets whose content is not kept any more");
      else if (blob === undefined) wrong(path, "is missing: it should show what a cluster has to run");
      else if (new TextDecoder().decode(blobs.get(blob)) !== renderedText(manifests))
        wrong(path, "differs from what the cluster has to run");
    }
  }
  for (const path of await askedAmiss(repository, commit, ledger, standing))
    wrong(path, "differs from what people are asked to approve");
  for (const path of standing.keys())
    wrong(
      path,
      path.startsWith(askedFolder) ? "shows a request that nobody opened" : "shows what no cluster has to run",
    );
}

/** Files of open requests that show something else. Those of all requests on record are taken from `standing`. */
async function askedAmiss(
  repository: Ports["repository"],
  commit: Commit,
  ledger: Ledger,
  standing: Map<string, BlobId>,
): Promise<readonly string[]> {
  const amiss: string[] = [];
  for (const ask of unansweredRequests(ledger)) {
    const { moves } = await readApprovalView(repository, commit, ask, ledger);
    const placement = requestedPlacement(ask, ledger)?.key;
    for (const { clusters } of requestedContents(ask)) {
      const path = placement === undefined ? "" : askedPath(requestFolder(ask), clusters[0], placement);
      if (standing.has(path) && moves.get(clusters[0])?.after == null) amiss.push(path);
    }
  }
  const folders = requestsIn(ledger).map(requestFolder);
  for (const path of [...standing.keys()]) if (folders.some((it) => path.startsWith(it))) standing.delete(path);
  return amiss;
}
