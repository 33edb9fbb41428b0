import { join } from "node:path";
import { readIntent } from "../../src/core/intent/intent.ts";
import { readTrust } from "../../src/core/intent/trust/trust-file.ts";
import { emptyLedger, type Ledger, type PlacementRecord } from "../../src/core/model/ledger.ts";
import type { World } from "../../src/core/model/plan.ts";
import type { ApprovalFile, Trust } from "../../src/core/model/trust.ts";
import type { BlobId, ClusterName, Commit, Digest, Instant, Sequence } from "../../src/core/model/value.ts";
import { authorsOfChange } from "../../src/core/plan/authors/authors.ts";
import { judgeApproval } from "../../src/core/trust/judge-approval.ts";
import { openRepository } from "../../src/shell/git/open.ts";
import { readHistory } from "../../src/shell/reconcile/history.ts";
import { newMemory } from "../../src/shell/reconcile/memory.ts";
import type { HistoricCommit } from "../../src/shell/reconcile/ports.ts";
import { verifier } from "../../src/shell/signature/verifier.ts";
import { placementOf } from "../intent.ts";
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
  /** Seconds until it is known who has a part in a change that reads a tenth of all those files, everything read before. */
  readonly authors: number;
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

const nothingElse = {
  observed: new Map(),
  unsound: new Map(),
  archive: new Map(),
  trustAnchor: null,
  now: Date.now() as Instant,
  entropy: "",
  clockOffset: null,
  patience: "none",
} as const;

/** A placement that waits for an approval of 20 of the files, on a cluster that has nothing yet. */
function waiting(commit: Commit): PlacementRecord {
  const { key, scope, namespace, name, spec } = placementOf({
    name: "web",
    policy: { kind: "PickAll", required: [], tolerations: [] },
    options: [],
  });
  const resources = Array.from({ length: 20 }, (_, at) => {
    const id = { group: "", version: "v1", kind: "ConfigMap", namespace: "web", name: `app-${at}` };
    return { id, digest, path: `resources/app-${at}.yaml`, document: 0, blob: "b".repeat(40) as BlobId };
  });
  return {
    ...{ key, scope, namespace, name, spec, uid: "", generation: 1, specDigest: digest, deleting: null },
    ...{ policySnapshots: [], bindings: new Map(), selectionError: null, conditions: [], unrolled: null },
    resourceSnapshots: [{ index: 0, hash: digest, commit, resources }],
    change: {
      clusters: new Map([["m1" as ClusterName, digest]]),
      leaves: new Map(),
      others: [],
      since: [commit],
      request: null,
    },
  };
}

/** Everything that a pass does to find out who signed what beyond the first commit, twice. */
async function wholeHistory(
  path: string,
  { signer, trust, commits }: { readonly signer: BenchSigner; readonly trust: Trust; readonly commits: number },
): Promise<Pick<ApprovalOutcome, "history" | "cpu" | "again" | "authors">> {
  const { root, head } = await signedHistory(path, signer, commits);
  const places = { branch: "main", stateBranch: "fleet/state", cacheFolder: "", token: null };
  const repository = await openRepository({ repo: path, engine: "program", ...places });
  try {
    const intent = readIntent({ commit: head, files: [], accepted: null });
    const record = { trust, text: "", since: 1 as Sequence, from: root, first: root, by: "anchor" } as const;
    const web = waiting(root);
    const placements = new Map([[web.key, web]]);
    const ledger: Ledger = { ...emptyLedger, sourceCommit: root, hasTrust: true, trust: record, placements };
    const source = { head, isHeld: false, intent, reasons: [] };
    const memory = newMemory();
    const read = () =>
      readHistory({ repository, verifier }, memory, { source, ledger, anchor: null, now: Date.now() as Instant });
    const [from, spent] = [performance.now(), cpu()];
    const history = await read();
    const { commits: facts, gap } = history;
    const [whole, used] = [(performance.now() - from) / 1000, cpu() - spent];
    const unproven = [...facts.values()].filter((it) => !["ssh", "openpgp"].includes(it.signature.kind));
    if (facts.size !== commits || unproven.length > 0 || gap !== null)
      throw new Error(
        `${facts.size} commits, ${unproven.length} unproven: ${JSON.stringify(unproven[0]?.signature)}; ${gap}`,
      );
    const start = performance.now();
    await read();
    const again = performance.now() - start;
    const world: World = { ...nothingElse, intent, ledger, history };
    const judging = { world, ledger, trust: record, overrides: [], content: () => null };
    const asked = performance.now();
    const { principals, unknown } = authorsOfChange(web, web.change?.clusters ?? new Map(), judging);
    const authors = (performance.now() - asked) / 1000;
    if (principals.join() !== "ann" || unknown > 0)
      throw new Error(`changed by ${principals.join()}, ${unknown} unknown`);
    return { history: whole, cpu: used, again, authors };
  } finally {
    await repository.close();
  }
}
