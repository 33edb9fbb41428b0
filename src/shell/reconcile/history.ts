import { decodeBlob, pastDocuments } from "../../core/intent/documents.ts";
import { signedApproval } from "../../core/intent/kinds/approval.ts";
import { isYamlPath } from "../../core/intent/source-file.ts";
import type { CommitFact, SignatureFact } from "../../core/model/commit.ts";
import { type History, noHistory, type PastDocument } from "../../core/model/history.ts";
import type { Intent } from "../../core/model/intent.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { DetachedSignature, Trust, TrustFile } from "../../core/model/trust.ts";
import { type BlobId, type Commit, compareText, type Digest, type Instant, minutes } from "../../core/model/value.ts";
import { lookBack, lookBackToStart } from "../../core/plan/authors/look-back.ts";
import { maxFileBytes } from "../../core/yaml/text.ts";
import type { FactCache, Memory } from "./memory.ts";
import type { Ports, Repository, Verifier } from "./ports.ts";
import { type CommitWalker, newCommitWalker } from "./repository-queries.ts";
import type { Source } from "./source.ts";

/** What a history is read for. */
interface Retrospect {
  readonly source: Source;
  readonly ledger: Ledger;
  readonly anchor: Digest | null;
  readonly now: Instant;
}

type Sources = Pick<Ports, "repository" | "verifier">;

/** More commits than this beyond any one commit are not read: that is a gap, which is reported. */
const longestHistory = 10_000;

/** Facts that depend on the time are verified again after this. */
const period = minutes(10);

/**
 * Reads and verifies the signatures of the source branch: its commits, its trust file, and the approvals in its files.
 *
 * Where nobody set up who may approve, nothing is looked at. Otherwise, what `lookBack` asks for and what is beyond the
 * accepted commit. As long as nothing changed, it is the same history (`===`); what the memory holds makes it cheaper
 * and never another one, but for OpenPGP keys: that one has expired may be noticed ten minutes late.
 */
export async function readHistory(ports: Sources, memory: Memory, about: Retrospect): Promise<History> {
  const { source, ledger, anchor, now } = about;
  const { head, intent } = source;
  const isAsked = ledger.trust !== null || intent.trust !== null || intent.hasTrust || anchor !== null;
  const bases = isAsked ? lookBack(ledger, intent) : [];
  const at = Math.floor(now / period);
  const of = isAsked
    ? [head, source.isHeld, intent, ledger.sourceCommit, ledger.trust, ledger.answers, at, ...asking(ledger, bases)]
    : [head];
  const known = memory.history.last;
  if (known !== null && known.of.length === of.length && known.of.every((it, index) => it === of[index]))
    return known.value;
  const value = isAsked ? await farEnough(ports, memory, { ...about, bases, further: null, at }) : noHistory(head);
  memory.history.last = { of, value };
  return value;
}

/** How far back to read depends on the open requests, if there are any. */
const asking = ({ placements, runs }: Ledger, bases: readonly Commit[]): readonly unknown[] =>
  bases.length === 0 ? [] : [placements, runs, ...bases];

async function farEnough(ports: Sources, memory: Memory, question: Question): Promise<History> {
  const near = await historyOf(ports, memory, question);
  const { ledger, source, bases } = question;
  const further = bases.length === 0 ? null : lookBackToStart(ledger, source.intent, near);
  return further === null ? near : historyOf(ports, memory, { ...question, further });
}

interface Question extends Retrospect {
  readonly bases: readonly Commit[];
  /** One more, if what is beyond it is not too much. */
  readonly further: Commit | null;
  /** Which period it is. */
  readonly at: number;
}

async function historyOf(ports: Sources, memory: Memory, question: Question): Promise<History> {
  const { source, ledger, bases, further, at, now } = question;
  const { head, intent } = source;
  const { history } = memory;
  history.certificates = certificatesOf([ledger.trust?.trust, intent.trust?.trust], history.certificates);
  for (const it of [history.commits, history.detached]) it.expireFor(history.certificates, at);
  const examiner = { ...ports, certificates: history.certificates, now };

  const walk = newCommitWalker(ports.repository, head, longestHistory, history.walks);
  const beyond = new Map<Commit | null, readonly Commit[] | null>();
  // After a rewrite the accepted commit may be nowhere any more: what holds a branch back must not hold up a pass.
  if (!source.isHeld) for (const it of new Set([ledger.sourceCommit, ...bases])) beyond.set(it, await walk.ids(it));
  const gap = gapIn(source, beyond);
  if (!source.isHeld && further !== null) beyond.set(further, await walk.ids(further));
  history.walks = walk.walks();
  const commits = await factsOf(examiner, history.commits, walk, beyond);
  return {
    head,
    news: beyond.get(ledger.sourceCommit) ?? [],
    commits,
    beyond: new Set([...beyond].flatMap(([base, ids]) => (ids === null ? [] : [base]))),
    documents: bases.length === 0 ? new Map() : await readPastDocuments(ports.repository, history, commits),
    gap,
    trustSignatures: await trustSignatures(examiner, history.detached, intent),
    detached: await answerSignatures(examiner, history.detached, intent, ledger),
    // Which reviews matter is known once the rest of the world is.
    reviews: new Map(),
    reviewsAt: null,
  };
}

interface Examiner {
  readonly repository: Repository;
  readonly verifier: Verifier;
  readonly certificates: readonly string[];
  readonly now: Instant;
}

/** Every OpenPGP certificate of these trust files, once, in one order; the same list while it is the same. */
function certificatesOf(trusts: readonly (Trust | null | undefined)[], before: readonly string[]): readonly string[] {
  const principals = trusts.flatMap((it) => [...(it?.principals.values() ?? [])]);
  const all = [...new Set(principals.flatMap((it) => [...it.openPgp.values()]))].sort(compareText);
  return all.length === before.length && all.every((it, index) => it === before[index]) ? before : all;
}

/** So many commits are verified before the event loop runs again: a daemon watches meanwhile. */
const inOneGo = 50;
const turnOfOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function factsOf(
  { verifier, certificates, now }: Examiner,
  cache: FactCache<CommitFact>,
  walk: CommitWalker,
  beyond: ReadonlyMap<Commit | null, readonly Commit[] | null>,
): Promise<History["commits"]> {
  const facts = new Map<Commit, CommitFact>();
  let verified = 0;
  for (const [base, ids] of beyond) {
    if (ids === null) continue;
    // Whoever was walked last time and has to be looked at again is read again.
    if (ids.some((it) => cache.get(it) === undefined && !walk.read.has(it))) await walk.commits(base);
    for (const id of ids) {
      const known = facts.get(id) ?? cache.get(id);
      const raw = walk.read.get(id);
      const fact = known ?? (raw === undefined ? undefined : await verifier.commit(raw, certificates, now));
      if (fact === undefined) continue;
      facts.set(id, fact);
      if (known !== undefined) continue;
      cache.set(id, fact.signature, fact);
      verified += 1;
      if (verified % inOneGo === 0) await turnOfOthers();
    }
  }
  return facts;
}

/** Why some commits were not read, and what follows from it. */
function gapIn({ head, isHeld }: Source, beyond: ReadonlyMap<Commit | null, readonly Commit[] | null>): string | null {
  const short = (it: Commit | null): string => (it === null ? "the beginning" : it.slice(0, 7));
  const held =
    "the source branch is held back: its commits are not read, so approvals in them do not count " +
    "and the authors of changes are unknown";
  const long = [...beyond].flatMap(([base, ids]) =>
    ids === null
      ? [
          `there are more than ${longestHistory} commits between ${short(base)} and ${short(head)}: they are not read, ` +
            "so approvals in them do not count and the authors of changes are unknown",
        ]
      : [],
  );
  const gaps = [...(isHeld ? [held] : []), ...long];
  return gaps.length === 0 ? null : gaps.join("; ");
}

const encoder = new TextEncoder();

/** Signatures under a version of the trust file: how many, and how long each may be. */
const mostSignatures = 256;
const longestSignature = 16 * 1024;

async function trustSignatures(
  examiner: Examiner,
  cache: FactCache<SignatureFact>,
  intent: Intent,
): Promise<readonly DetachedSignature[]> {
  const { trust: file } = intent;
  if (file?.trust == null) return [];
  const prefix = `trust/sigs/${file.trust.version}.`;
  const entries = [...intent.files]
    .filter(([path]) => path.startsWith(prefix))
    .sort(([a], [b]) => compareText(a, b))
    .slice(0, mostSignatures);
  const keyOf = (blob: BlobId): string => `${file.blob} ${blob}`;
  const unknown = new Set(entries.map(([, blob]) => blob).filter((it) => cache.get(keyOf(it)) === undefined));
  const texts = unknown.size === 0 ? new Map() : await examiner.repository.blobs([...unknown], longestSignature);
  for (const [blob, bytes] of texts) {
    const fact = await factUnder(examiner, file, bytes);
    cache.set(keyOf(blob), fact, fact);
  }
  return entries.flatMap(([path, blob]) => {
    const fact = cache.get(keyOf(blob));
    return fact === undefined ? [] : [{ path, fact }];
  });
}

async function factUnder(
  { verifier, certificates, now }: Examiner,
  { text }: TrustFile,
  bytes: Uint8Array,
): Promise<SignatureFact> {
  if (bytes.length > longestSignature)
    return {
      kind: "rejected",
      code: "Malformed",
      message: "the file is longer than 16 KiB, the limit for a signature",
    };
  const armored = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return verifier.detached(encoder.encode(text), armored, certificates, now);
}

/** The signatures in approval files that were not judged yet, by the files' blobs. */
async function answerSignatures(
  { verifier, certificates, now }: Examiner,
  cache: FactCache<SignatureFact>,
  { approvals }: Intent,
  { answers }: Ledger,
): Promise<History["detached"]> {
  const facts = new Map<BlobId, SignatureFact>();
  for (const file of approvals) {
    const { path, blob, signature } = file;
    if (signature === null || answers.get(path)?.file.blob === blob) continue;
    const known = cache.get(blob);
    const fact = known ?? (await verifier.detached(encoder.encode(signedApproval(file)), signature, certificates, now));
    if (known === undefined) cache.set(blob, fact, fact);
    facts.set(blob, fact);
  }
  return facts;
}

/** So many blobs are kept, and so many read at once before others get their turn: a daemon watches meanwhile. */
const mostKept = 20_000;
const blobsAtOnce = 200;

/** Takes apart the files that commits changed, as they were before and after; what answers and trusts is not read so. */
async function readPastDocuments(
  repository: Repository,
  { pastFiles }: Memory["history"],
  commits: History["commits"],
): Promise<History["documents"]> {
  const wanted = new Set<BlobId>();
  for (const { changes } of commits.values())
    for (const { path, before, after } of changes)
      if (isYamlPath(path) && !/^(?:approvals|trust)\//.test(path))
        for (const it of [before, after]) if (it !== null) wanted.add(it);
  const missing = [...wanted].filter((it) => !pastFiles.has(it));
  for (let at = 0; at < missing.length; at += blobsAtOnce) {
    const blobs = await repository.blobs(missing.slice(at, at + blobsAtOnce), maxFileBytes);
    for (const [id, bytes] of blobs) pastFiles.set(id, pastDocuments(decodeBlob(bytes)));
    await turnOfOthers();
  }
  const found = new Map<BlobId, readonly PastDocument[]>();
  for (const id of wanted) {
    const documents = pastFiles.get(id) ?? null;
    if (documents !== null) found.set(id, documents);
  }
  for (const id of pastFiles.keys()) {
    if (pastFiles.size <= mostKept) break;
    pastFiles.delete(id);
  }
  return found;
}
