import { join } from "node:path";
import { readIntent } from "../../src/core/codec/intent.ts";
import { readTrust } from "../../src/core/codec/trust-file.ts";
import type { ApprovalFile } from "../../src/core/model/approval-file.ts";
import { emptyLedger, type Ledger } from "../../src/core/model/ledger.ts";
import type { Trust } from "../../src/core/model/trust.ts";
import type { BlobId, Commit, Digest, Instant, Sequence } from "../../src/core/model/value.ts";
import { judgeApproval } from "../../src/core/trust/judge-approval.ts";
import { openRepository } from "../../src/shell/git/open.ts";
import { readHistory } from "../../src/shell/reconcile/history.ts";
import { freshMemory } from "../../src/shell/reconcile/memory.ts";
import type { HistoricCommit } from "../../src/shell/reconcile/ports.ts";
import { verifier } from "../../src/shell/signature/verifier.ts";
import { type BenchSigner, makeSigners, objectId, signedCommit, signedHistory } from "./signed-history.ts";
import { cpuOfEndedChildren } from "./usage.ts";

/** What signatures of one format cost. */
export interface ApprovalOutcome {
  readonly format: BenchSigner["format"];
  /** Milliseconds from the bytes of a signed commit to the judgement on the approval in it: the first, and the median. */
  readonly first: number;
  readonly median: number;
  /** The same on a core, on average. */
  readonly each: number;
  readonly commits: number;
  /** Seconds until it is known who signed each of so many commits of a real repository: by the clock, and on a core. */
  readonly history: number;
  readonly cpu: number;
  /** Milliseconds of the next pass, which brings nothing new. */
  readonly again: number;
}

/** Measures what it takes to find out who approved, with real keys and a real repository below `folder`. */
export async function measureApprovals(
  folder: string,
  commits: number,
  say: (text: string) => void,
): Promise<readonly ApprovalOutcome[]> {
  const outcomes: ApprovalOutcome[] = [];
  for (const signer of await makeSigners()) {
    const { format } = signer;
    const trust = trustOf(signer);
    say(`${format}: one approval`);
    const { spans, each } = await approvals(signer, trust);
    say(`${format}: ${commits} signed commits`);
    const history = await wholeHistory(join(folder, `${format}.git`), { signer, trust, commits });
    const sorted = [...spans].sort((a, b) => a - b);
    const [first = 0, median = 0] = [spans[0], sorted[sorted.length >> 1]];
    outcomes.push({ format, first, median, each, commits, ...history });
  }
  return outcomes;
}

function trustOf({ principal }: BenchSigner): Trust {
  const { trust, problems } = readTrust(`apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: 1
  expires: "2028-01-01T00:00:00Z"
  threshold: 1
  roots: [ann]
  principals:
    ann: ${principal}
  approvals:
    - {placements: ["*"], stages: ["*"], principals: [ann]}
`);
  if (trust === null) throw new Error(problems.map((it) => it.message).join("; "));
  return trust;
}

const digest = "d".repeat(64) as Digest;
const certificatesOf = ({ principals }: Trust): readonly string[] =>
  [...principals.values()].flatMap((it) => [...it.openPgp.values()]);

/** Different approvals one after the other: from bytes to judgement, in milliseconds. */
async function approvals(
  signer: BenchSigner,
  trust: Trust,
): Promise<{ readonly spans: readonly number[]; readonly each: number }> {
  const spans: number[] = [];
  let used = 0;
  for (let at = 0; at < 201; at++) {
    const [path, blob] = [`approvals/${at}.yaml`, "b".repeat(40) as BlobId];
    const commit = { tree: "a".repeat(40), parent: "c".repeat(40), message: `Approve ${at}` };
    const raw = await signedCommit(signer, commit);
    const historic: HistoricCommit = {
      commit: objectId("commit", raw) as Commit,
      raw,
      changes: [{ path, before: null, after: blob }],
      merge: null,
    };
    const file = { path, blob, digest, decision: "Approve", principal: "ann", comment: "", signature: null } as const;
    const [from, spent] = [performance.now(), cpu()];
    const verdict = await judged(historic, file, trust);
    spans.push(performance.now() - from);
    // What is compiled first is no matter of signatures.
    if (at > 0) used += cpu() - spent;
    if (verdict !== "counts") throw new Error(`an approval ${verdict}`);
  }
  return { spans, each: (used / (spans.length - 1)) * 1000 };
}

/** Seconds on a core of this process and of the programs that it ran. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + cpuOfEndedChildren();
}

async function judged(historic: HistoricCommit, file: ApprovalFile, trust: Trust): Promise<string> {
  const now = Date.now() as Instant;
  const fact = await verifier.commit(historic, certificatesOf(trust), now);
  const authors = { principals: [], unknown: 0 };
  const request = { digest, requestedAt: now, authors, placement: "web", stage: "prod", targets: [] };
  const scene = { file, files: [file], introducers: [fact], detached: null, review: null, request, trust, now };
  const judgement = judgeApproval(scene);
  return judgement.kind === "counts" ? "counts" : judgement.because;
}

/** Everything that a pass does to find out who signed what beyond the first commit, twice. */
async function wholeHistory(
  path: string,
  { signer, trust, commits }: { readonly signer: BenchSigner; readonly trust: Trust; readonly commits: number },
): Promise<Pick<ApprovalOutcome, "history" | "cpu" | "again">> {
  const { root, head } = await signedHistory(path, signer, commits);
  const places = { branch: "main", stateBranch: "fleet/state", cacheFolder: "", token: null };
  const repository = await openRepository({ repo: path, engine: "program", ...places });
  try {
    const intent = readIntent({ commit: head, files: [], accepted: null });
    const record = { trust, text: "", since: 1 as Sequence, from: root, first: root, by: "anchor" } as const;
    const ledger: Ledger = { ...emptyLedger, sourceCommit: root, hasTrust: true, trust: record };
    const source = { head, isHeld: false, intent, reasons: [] };
    const memory = freshMemory();
    const read = () =>
      readHistory({ repository, verifier }, memory, { source, ledger, anchor: null, now: Date.now() as Instant });
    const [from, spent] = [performance.now(), cpu()];
    const { commits: facts, gap } = await read();
    const [history, used] = [(performance.now() - from) / 1000, cpu() - spent];
    const unproven = [...facts.values()].filter((it) => !["ssh", "openpgp"].includes(it.signature.kind));
    if (facts.size !== commits || unproven.length > 0 || gap !== null)
      throw new Error(
        `${facts.size} commits, ${unproven.length} unproven: ${JSON.stringify(unproven[0]?.signature)}; ${gap}`,
      );
    const start = performance.now();
    await read();
    return { history, cpu: used, again: performance.now() - start };
  } finally {
    await repository.close();
  }
}
