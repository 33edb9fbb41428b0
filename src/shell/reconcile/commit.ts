import { acceptedFolder, heldFolder, pagePath, renderedPath } from "../../core/ledger/layout.ts";
import { renderedText } from "../../core/ledger/output.ts";
import { stateEdits } from "../../core/ledger/writer.ts";
import type { Intent } from "../../core/model/intent.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { RenderedTarget } from "../../core/model/plan.ts";
import type { Reason } from "../../core/model/reason.ts";
import { type BlobId, compareText, exactInstantText, type Instant } from "../../core/model/value.ts";
import { restless } from "../../core/plan/affected.ts";
import type { RequestDetails } from "../../core/plan/approval/request-content.ts";
import { decisionVersion } from "../../core/plan/decision.ts";
import { commitSubject } from "../../core/report/commit-message.ts";
import { confirmationFile, heldReasons } from "../../core/report/deletion-text.ts";
import { type PageWords, statePage } from "../../core/report/page.ts";
import { reasonText } from "../../core/report/reason-text.ts";
import { perClusterRows, selectedResources } from "../../core/status/per-cluster-rows.ts";
import { observedResourceIndex } from "../../core/status/selected-clusters.ts";
import { approvalEdits } from "./approval-content.ts";
import type { Memory, State } from "./memory.ts";
import type { CommitResult, Edit, Repository } from "./ports.ts";

interface Decision {
  readonly ledger: Ledger;
  readonly intent: Intent;
  readonly rendered: readonly RenderedTarget[];
  /** New approval requests with their content. */
  readonly asked: readonly RequestDetails[];
  readonly reasons: readonly Reason[];
  /** What changes, as lines of text. */
  readonly lines: readonly string[];
  readonly now: Instant;
}

const pageWords: PageWords = {
  explain: reasonText,
  confirmation: confirmationFile,
  whyHeld: (because) => heldReasons[because],
};

/** Commits a decision on top of `state`; "superseded": somebody else decided first, and everything is as it was. */
export async function commitDecision(
  repository: Repository,
  state: State,
  decision: Decision,
  memory: Memory,
): Promise<CommitResult> {
  const { ledger, intent, lines, now } = decision;
  const page = statePage(ledger, decision.reasons, pageWords);
  const edits = [
    ...stateEdits(state.ledger, ledger, {
      rowsOf: perClusterRows,
      indexOf: observedResourceIndex,
      selectedOf: selectedResources,
      members: intent.clusters,
      restless: restless(decision.reasons),
    }),
    ...acceptedEdits(state, intent),
    ...renderedEdits(state.ledger, decision),
    ...(await approvalEdits(repository, state, ledger, decision.asked)),
    ...(page === memory.page ? [] : [{ kind: "write", path: pagePath, text: page } as const]),
  ].sort((a, b) => compareText(a.path, b.path));
  const message = [
    commitSubject(lines),
    "",
    ...lines,
    ...(lines.length > 0 ? [""] : []),
    `Source-Commit: ${ledger.sourceCommit}`,
    `Ledger-Sequence: ${ledger.sequence}`,
    // Git dates commits by the second; an audit needs the exact "now".
    `Decided-At: ${exactInstantText(now)}`,
    `Decision-Version: ${decisionVersion}`,
    `Writer: ${memory.writer}`,
    "",
  ].join("\n");

  const written = await repository.commit({ parent: state.commit, edits, message, at: now });
  if (written.kind === "superseded") return written;
  memory.state = { commit: written.commit, ledger, accepted: intent.files, held: heldOf(intent) };
  memory.heads = { source: memory.heads?.source ?? null, state: written.commit };
  memory.pending = null;
  memory.page = page;
  return written;
}

/** Links to the source files as read, and to those of held objects under the commit they were accepted in. */
const acceptedEdits = (state: State, intent: Intent): readonly Edit[] => [
  ...mapEdits(acceptedFolder, state.accepted, intent.files),
  ...mapEdits(heldFolder, state.held, heldOf(intent)),
];

const heldOf = ({ holds }: Intent): State["held"] =>
  new Map(holds.map((it): [string, BlobId] => [`${it.commit}/${it.path}`, it.blob]));

function mapEdits(
  folder: string,
  before: ReadonlyMap<string, BlobId>,
  after: ReadonlyMap<string, BlobId>,
): readonly Edit[] {
  if (before === after) return [];
  const links = [...after].filter(([path, blob]) => before.get(path) !== blob);
  const removals = [...before.keys()].filter((it) => !after.has(it));
  return [
    ...links.map(([path, blob]): Edit => ({ kind: "link", path: folder + path, blob })),
    ...removals.map((path): Edit => ({ kind: "remove", path: folder + path })),
  ];
}

/** The rendered files that changed. A cluster whose binding is gone has none for the placement. */
function* renderedEdits(before: Ledger, { ledger, rendered }: Decision): Generator<Edit> {
  for (const { cluster, placement, manifests } of rendered)
    yield { kind: "write", path: renderedPath(cluster, placement), text: renderedText(manifests) };
  for (const [key, was] of before.placements) {
    const next = ledger.placements.get(key);
    if (next === was) continue;
    for (const [cluster, binding] of was.bindings) {
      if (binding.target === null) continue;
      if (next?.bindings.get(cluster)?.target == null) yield { kind: "remove", path: renderedPath(cluster, key) };
    }
  }
}
