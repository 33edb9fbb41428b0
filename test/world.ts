import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { check } from "../src/core/check/check.ts";
import { versionsNamed } from "../src/core/model/binding.ts";
import type { CommitFact, PathChange } from "../src/core/model/commit.ts";
import {
  defaultFleet,
  type FleetSpec,
  type MemberCluster,
  type PriceList,
  type Tenant,
} from "../src/core/model/fleet.ts";
import {
  clusterDocumentKey,
  fleetDocumentKey,
  type History,
  noHistory,
  overrideDocumentKey,
  type PastDocument,
  placementDocumentKey,
  runDocumentKey,
  strategyDocumentKey,
} from "../src/core/model/history.ts";
import type { Hold, Intent } from "../src/core/model/intent.ts";
import { emptyLedger, type Ledger } from "../src/core/model/ledger.ts";
import {
  builtInScopes,
  type Manifest,
  type ObjectId,
  type ObjectKey,
  objectIdOf,
  objectKey,
  objectText,
  type ScopeTable,
  type SourcedManifest,
} from "../src/core/model/manifest.ts";
import { placementGroup } from "../src/core/model/names.ts";
import type { Observation } from "../src/core/model/observation.ts";
import type { Override } from "../src/core/model/override.ts";
import type { DisruptionBudget, Eviction, Placement } from "../src/core/model/placement.ts";
import type { ClusterActions, Plan, World as Seen } from "../src/core/model/plan.ts";
import type { ApprovalFile, TrustFile } from "../src/core/model/trust.ts";
import type { UpdateRun, UpdateStrategy } from "../src/core/model/update-run.ts";
import {
  type BlobId,
  type ClusterName,
  type Commit,
  compareText,
  type Digest,
  type DurationMs,
  type Instant,
  later,
  type PlacementKey,
  type RunKey,
  type StrategyKey,
  seconds,
} from "../src/core/model/value.ts";
import { lookBack, lookBackToStart } from "../src/core/plan/authors/look-back.ts";
import { plan, sealed } from "../src/core/plan/plan.ts";
import { beyond } from "./commit-graph.ts";
import { type Death, Member } from "./member.ts";

/** What becomes of a pass after it has decided. */
export interface Fate {
  /** Somebody else pushed first: the plan is dropped. */
  readonly isRefused?: boolean;
  /** The process dies once the decision is committed. */
  readonly diesAfterCommit?: boolean;
  /** The executor takes its time: the actions stay in its hands. */
  readonly isLate?: boolean;
  /** Where the executors of this pass die. */
  readonly death?: Death | null;
}

/** What one pass did. */
export interface Passed {
  readonly seen: Seen;
  readonly plan: Plan;
  readonly before: Ledger;
  readonly isCommitted: boolean;
  /** What members said that did not do as they were told. */
  readonly refusals: readonly string[];
}

/** Nine in the morning: instants in transcripts are easy to read. */
export const morning = Date.UTC(2026, 10, 21, 9) as Instant;

/**
 * A world small enough to hold in the head: a repository, a state branch, some members, one clock.
 *
 * Everything is an assignment: edits of the repository take effect with the next pass, the clock moves when it is told to.
 */
export class World {
  now = morning;
  /** The state branch. */
  head: Ledger = emptyLedger;
  /** News that the process has heard and not committed. A restart forgets it. */
  news: Ledger | null = null;
  patience: Seen["patience"] = "retryAt";
  fleet: FleetSpec = defaultFleet;
  tenants: readonly Tenant[] = [];
  readonly clusters = new Map<ClusterName, MemberCluster>();
  readonly placements = new Map<PlacementKey, Placement>();
  readonly objects = new Map<ObjectKey, SourcedManifest>();
  /** Objects in files that no root holds. */
  readonly unread = new Map<ObjectKey, SourcedManifest>();
  readonly overrides = new Map<string, Override>();
  readonly confirmations = new Set<Digest>();
  /** By the CustomResourceDefinitions of the repository. */
  scopes: ScopeTable = builtInScopes;
  holds: readonly Hold[] = [];
  unusable: ReadonlySet<ObjectKey> = new Set();
  readonly runs = new Map<RunKey, UpdateRun>();
  readonly strategies = new Map<StrategyKey, UpdateStrategy>();
  readonly evictions = new Map<string, Eviction>();
  readonly budgets = new Map<PlacementKey, DisruptionBudget>();
  readonly approvals: ApprovalFile[] = [];
  /** `trust/root.yaml`. */
  trust: TrustFile | null = null;
  /** There is something else under `trust/`. */
  hasTrust = false;
  /** The SHA-256 of the trust file that the operator vouches for. */
  anchor: Digest | null = null;
  /** Of the passes to come. */
  entropy = "00".repeat(32);
  /** What stands instead of what the commits make of it: signatures in files, a gap. */
  history: Partial<History> = {};
  /** Every commit; those of other branches can be added, and named as parents. */
  readonly facts = new Map<Commit, CommitFact>();
  readonly members = new Map<ClusterName, Member>();
  prices: PriceList | null = null;
  /** Actions that slow executors still have in their hands. */
  readonly late: ClusterActions[] = [];
  /** A commit beyond which there are too many to be looked at. */
  outOfSight: Commit | null = null;
  /** Members that are not asked. */
  isBlind = false;
  /** By how much our clock is ahead of every member's; null: none of them tells the time. */
  clockOffset: DurationMs | null = seconds(0);
  private commits = 0;
  private cached: Intent | null = null;
  private readonly said = new Map<ClusterName, Observation>();
  private readonly texts = new Map<Digest, Manifest>();
  private tree: ReadonlyMap<string, BlobId> = new Map();
  /** What stands in files, by blob. */
  private readonly documents = new Map<BlobId, readonly PastDocument[]>();

  /**
   * Changes the repository: one commit, `c1`, `c2` … Nobody signed it, and it changes the files that `edit` does, unless
   * `fact` says otherwise.
   */
  commit(edit: () => void, fact: Partial<Omit<CommitFact, "commit">> = {}): void {
    edit();
    const parents = this.commits === 0 ? [] : [this.commitId()];
    this.commits += 1;
    this.cached = null;
    for (const { digest, manifest } of placedBy(this.objects)) this.texts.set(digest, manifest);
    const before = this.tree;
    this.tree = this.files();
    const commit = this.commitId();
    const usual = { parents, signature: { kind: "unsigned" }, claimedAuthor: "somebody", merge: null } as const;
    this.facts.set(commit, { commit, changes: changesBetween(before, this.tree), ...usual, ...fact });
  }

  private commitId = (): Commit => `c${this.commits}` as Commit;

  /** Every file by its path. Blobs that a test does not name are as many as there are values. */
  private files(): ReadonlyMap<string, BlobId> {
    const files = new Map<string, PastDocument[]>();
    for (const [path, document] of this.standing()) files.set(path, [...(files.get(path) ?? []), document]);
    const tree = new Map<string, BlobId>();
    for (const [path, documents] of files) tree.set(path, this.blobOf(documents));
    for (const { path, blob } of this.approvals) tree.set(path, blob);
    if (this.trust !== null) tree.set("trust/root.yaml", this.trust.blob);
    for (const [path, blob] of this.others) tree.set(path, blob);
    return tree;
  }

  /** What stands at a path; null where nothing does. */
  blobAt = (path: string): BlobId | null => this.tree.get(path) ?? null;

  /** Every document, by the path of its file. */
  private *standing(): Generator<readonly [string, PastDocument]> {
    if (this.fleet !== defaultFleet)
      yield ["fleet.yaml", { key: fleetDocumentKey, said: { kind: "fleet", fleet: this.fleet } }];
    for (const it of this.clusters.values())
      yield [it.source.path, { key: clusterDocumentKey(it.name), said: { kind: "cluster", cluster: it } }];
    for (const it of this.placements.values())
      yield [it.source.path, { key: placementDocumentKey(it), said: { kind: "placement", placement: it } }];
    for (const it of this.overrides.values())
      yield [it.source.path, { key: overrideDocumentKey(it), said: { kind: "override", override: it } }];
    for (const it of this.runs.values())
      yield [it.source.path, { key: runDocumentKey(it), said: { kind: "run", run: it } }];
    for (const it of this.strategies.values())
      yield [it.source.path, { key: strategyDocumentKey(it), said: { kind: "strategy", strategy: it } }];
    for (const it of this.evictions.values())
      yield [it.source.path, { key: objectKey(evictionId(it.name)), said: { kind: "eviction", eviction: it } }];
    for (const it of this.budgets.values())
      yield [it.source.path, { key: objectKey(budgetId(it.placement)), said: { kind: "budget", budget: it } }];
    for (const { id, manifest, digest, source } of [...this.objects.values(), ...this.unread.values()])
      yield [source.path, { key: objectKey(id), said: { kind: "manifest", id, manifest, digest } }];
  }

  /** Files that define nothing, by path. */
  readonly others = new Map<string, BlobId>();

  private blobOf(documents: readonly PastDocument[]): BlobId {
    const text = documents.map(textOfDocument).join();
    const blob = `blob-${createHash("sha1").update(text).digest("hex")}` as BlobId;
    this.documents.set(blob, documents);
    return blob;
  }

  member(name: string): Member {
    const found = this.members.get(name as ClusterName);
    if (found === undefined) throw new Error(`there is no member ${name}`);
    return found;
  }

  join(cluster: MemberCluster): void {
    this.clusters.set(cluster.name, cluster);
    if (!this.members.has(cluster.name)) this.members.set(cluster.name, new Member(cluster.name));
  }

  wait(by: DurationMs): void {
    this.now = later(this.now, by);
  }

  intent(): Intent {
    this.cached ??= {
      commit: this.commitId(),
      fleet: this.fleet,
      clusters: sorted(this.clusters),
      prices: this.prices,
      placements: sorted(this.placements),
      overrides: [...this.overrides.values()],
      runs: sorted(this.runs),
      strategies: sorted(this.strategies),
      evictions: sorted(this.evictions),
      budgets: sorted(this.budgets),
      approvals: [...this.approvals],
      hasTrust: this.hasTrust || this.trust !== null,
      trust: this.trust,
      objects: sorted(this.objects),
      scopes: this.scopes,
      confirmations: new Set(this.confirmations),
      tenants: this.tenants,
      holds: this.holds,
      suspects: new Map(),
      unusable: this.unusable,
      problems: [],
      files: new Map([...this.tree].filter(([path]) => !path.startsWith("trust/") && !path.startsWith("approvals/"))),
    };
    return this.cached;
  }

  /** What members say. One that says what it said before says it in the same words (`===`), as one that is watched does. */
  observe(): ReadonlyMap<ClusterName, Observation> {
    if (this.isBlind) return new Map();
    for (const name of this.intent().clusters.keys()) {
      const said = this.member(name).observe();
      if (!isDeepStrictEqual(said, this.said.get(name))) this.said.set(name, said);
    }
    return new Map([...this.intent().clusters.keys()].map((it) => [it, this.said.get(it) as Observation]));
  }

  look(): Seen {
    const { now, patience, entropy, anchor: trustAnchor } = this;
    const intent = this.intent();
    const ledger = this.news ?? this.head;
    const archive = this.archive(intent, ledger);
    const observed = this.observe();
    const telling = [...observed.values()].filter((it) => it.kind === "reached").length;
    const clockOffset = telling < 3 ? null : this.clockOffset;
    const history = this.historyFor(intent, ledger);
    const seen = { intent, ledger, observed, archive, history, trustAnchor, now, entropy, clockOffset, patience };
    return { ...seen, unsound: new Map() };
  }

  /** Facts about commits, as the shell would look for them: no others. */
  private historyFor(intent: Intent, ledger: Ledger): History {
    const head = intent.commit;
    const isAsked = ledger.trust !== null || intent.hasTrust || this.anchor !== null;
    if (!isAsked) return { ...noHistory(head), ...this.history };
    const news = beyond(this.facts, head, ledger.sourceCommit);
    const near = this.historyBeyond(news, head, [ledger.sourceCommit, ...lookBack(ledger, intent)]);
    const further = lookBackToStart(ledger, intent, near);
    return further === null || further === this.outOfSight
      ? near
      : this.historyBeyond(news, head, [...near.beyond, further]);
  }

  private historyBeyond(news: readonly CommitFact[], head: Commit, bases: readonly (Commit | null)[]): History {
    const older = bases.flatMap((it) => beyond(this.facts, head, it));
    const commits = new Map([...older, ...news].map((it) => [it.commit, it]));
    const { documents } = this;
    const found = { news: news.map((it) => it.commit), commits, beyond: new Set(bases), documents };
    return { ...noHistory(head), ...found, ...this.history };
  }

  /** Manifests of earlier commits that targets name, as the shell would fetch them: no others. */
  private archive({ objects, runs: asked }: Intent, { placements, runs }: Ledger): ReadonlyMap<Digest, Manifest> {
    const current = new Set(placedBy(objects).map((it) => it.digest));
    const archive = new Map<Digest, Manifest>();
    for (const { bindings, resourceSnapshots } of placements.values()) {
      const named = new Set([
        ...[...bindings.values()].flatMap((it) => versionsNamed(it).map(({ resourceIndex }) => resourceIndex)),
        ...[...runs.values()].map((it) => it.plan?.resourceIndex),
        ...[...asked.values()].map((it) => Number(it.spec.resourceIndex ?? -1)),
      ]);
      for (const { digest } of resourceSnapshots.filter((it) => named.has(it.index)).flatMap((it) => it.resources)) {
        const manifest = this.texts.get(digest);
        if (manifest !== undefined && !current.has(digest)) archive.set(digest, manifest);
      }
    }
    return archive;
  }

  /** One pass: look, decide, check, write it down, act. */
  pass(fate: Fate = {}): Passed {
    const seen = this.look();
    const decided = plan(seen);
    const faults = check(decided, seen);
    if (faults.length > 0) throw new Error(`the plan fails its check: ${faults.map((it) => it.message).join("; ")}`);
    const passed = { seen, plan: decided, before: this.head, isCommitted: false, refusals: [] };
    if (decided.refusal !== null) return passed;
    if (fate.isRefused === true) {
      this.news = null;
      return passed;
    }
    if (decided.decides) {
      this.head = decided.ledger;
      this.news = null;
    } else if (decided.ledger !== this.head) this.news = decided.ledger;
    const result = { ...passed, isCommitted: decided.decides };
    if (fate.diesAfterCommit === true) return result;
    if (fate.isLate === true) {
      this.late.push(...decided.actions);
      return result;
    }
    return { ...result, refusals: decided.actions.flatMap((it) => this.act(it, fate.death ?? null)) };
  }

  /** Commits the news, as a run does before it ends. */
  flush(): void {
    if (this.news === null) return;
    this.head = sealed(this.news);
    this.news = null;
  }

  /** The process ends: what it had not committed is forgotten, and everything is read anew. */
  restart(): void {
    this.news = null;
    this.head = structuredClone(this.head);
    this.cached = null;
    this.said.clear();
  }

  act(actions: ClusterActions, death: Death | null = null): readonly string[] {
    const refusal = this.member(actions.cluster).act(actions, this.now, death);
    return refusal === null ? [] : [`${actions.cluster}: ${refusal}`];
  }

  /** What a member carries, one line an object. */
  carried(name: string): readonly string[] {
    const { objects } = this.member(name);
    return [...objects.keys()].sort(compareText).map((key) => {
      const { content, mark } = objects.get(key) ?? { content: null, mark: null };
      const said = content === null ? null : (this.textOf(content) ?? "overridden");
      return [objectText(objectIdOf(key)), said, mark === null ? "(not ours)" : null]
        .filter((it) => it !== null)
        .join(" ");
    });
  }

  private textOf(digest: Digest): string | null {
    const data = this.texts.get(digest)?.["data"] as { readonly value?: string } | undefined;
    return data?.value ?? null;
  }
}

/** Every object, those that stand in envelopes as well. */
const placedBy = (objects: Intent["objects"]): readonly Pick<SourcedManifest, "digest" | "manifest">[] =>
  [...objects.values()].flatMap((it) => [it, ...(it.wraps?.objects ?? [])]);

/** What a document says is never changed in place. */
function textOfDocument({ key, said }: PastDocument): string {
  const value: object =
    said.kind === "cluster"
      ? said.cluster
      : said.kind === "placement"
        ? said.placement
        : said.kind === "override"
          ? said.override
          : said.kind === "run"
            ? said.run
            : said.kind === "strategy"
              ? said.strategy
              : said.kind === "manifest"
                ? said.manifest
                : said.kind === "fleet"
                  ? said.fleet
                  : said;
  const known = texts.get(value);
  const text = known ?? `${key} ${JSON.stringify(value, (_, it) => (it instanceof Map ? [...it] : it))}`;
  texts.set(value, text);
  return text;
}
const texts = new WeakMap<object, string>();

const evictionId = (name: string): ObjectId => ({
  group: placementGroup,
  kind: "ClusterResourcePlacementEviction",
  namespace: null,
  name,
});
const budgetId = (name: string): ObjectId => ({
  ...evictionId(name),
  kind: "ClusterResourcePlacementDisruptionBudget",
});

function changesBetween(from: ReadonlyMap<string, BlobId>, to: ReadonlyMap<string, BlobId>): readonly PathChange[] {
  const paths = [...new Set([...from.keys(), ...to.keys()])].sort(compareText);
  return paths.flatMap((path) => {
    const [before, after] = [from.get(path) ?? null, to.get(path) ?? null];
    return before === after ? [] : [{ path, before, after }];
  });
}

/** A file that cannot be read: the object stays as it was accepted in `commit`. */
export const holdOf = (id: ObjectId, commit: string): Hold => ({
  id,
  commit: commit as Commit,
  path: `held/${id.name}.yaml`,
  document: 0,
  blob: `held-${id.name}` as BlobId,
});

/** Makes a manifest part of the repository. */
export const write = (world: World, object: SourcedManifest): void =>
  void world.objects.set(objectKey(object.id), object);

const sorted = <K extends string, V>(map: ReadonlyMap<K, V>): ReadonlyMap<K, V> =>
  new Map([...map].sort(([a], [b]) => compareText(a, b)));
