import type { Binding } from "../model/binding.ts";
import type { CommitFact } from "../model/commit.ts";
import type { History } from "../model/history.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import { placementGroup } from "../model/names.ts";
import type { Plan, World } from "../model/plan.ts";
import type { DefectSubject, PlanDefect, RequestDefectCode } from "../model/plan-defect.ts";
import type { Request, TrustRecord } from "../model/trust.ts";
import type { RunRecord } from "../model/update-run.ts";
import type { ClusterName, Commit } from "../model/value.ts";
import { verifiedSignerOf } from "./check-approvers.ts";
import { defect, inventoryKey } from "./check-defect.ts";

/**
 * Lists new requests that omit somebody who clearly changed what they are about: an object that a cluster carries or is
 * to carry, or the placement that goes (`trust/README.md#step-8`; `#t-06`, `#t-07`, `#t-38`, `#t-39`). Finding further
 * authors is up to the planner.
 */
export function* checkAuthors(plan: Plan, world: World): Generator<PlanDefect<RequestDefectCode>> {
  const { trust } = plan.ledger;
  if (trust === null) return;
  for (const asked of newlyAsked(plan, world)) {
    const { what, subject, request } = asked;
    for (const fact of changersOf(asked, trust, world)) {
      const { principals } = trust.trust;
      const who = verifiedSignerOf(fact.signature, "git", { principals, revocations: [], now: null });
      const isNamed = who === null ? request.authors.unknown > 0 : request.authors.principals.includes(who.name);
      if (!isNamed)
        yield defect(
          "AuthorOmitted",
          subject,
          `asks about ${what} without ${who?.name ?? "anybody unknown"}, who changed it in ${fact.commit}`,
        );
    }
  }
}

/** A new request, and what it is about. */
interface Asked {
  readonly what: string;
  readonly subject: DefectSubject;
  readonly request: Request;
  readonly record: PlacementRecord;
  /** The bindings, before this pass, of the clusters that get a version or lose the placement. */
  readonly bindings: readonly Binding[];
  /** The new version; null where the placement goes. */
  readonly version: PlacementRecord["resourceSnapshots"][number] | null;
  /** The new version contains nothing later than this commit; null: it contains everything. */
  readonly until: Commit | null;
}

function* newlyAsked({ ledger }: Plan, { ledger: old, intent }: World): Generator<Asked> {
  for (const [key, record] of ledger.placements) {
    const request = record.change?.request ?? null;
    const was = old.placements.get(key);
    if (request === null || was === undefined || was.change?.request?.digest === request.digest) continue;
    const isGone = !intent.placements.has(key);
    const isPlain = isGone || record.spec.strategy.type === "RollingUpdate";
    const clusters = [...(record.change?.clusters ?? [])].filter(
      ([, content]) => isPlain && (content === null) === isGone,
    );
    const bindings = clusters.flatMap(([it]) => was.bindings.get(it) ?? []);
    const version = isGone ? null : (record.resourceSnapshots.at(-1) ?? null);
    if (isGone || version !== null)
      yield {
        what: `the change of ${key}`,
        subject: { kind: "placement", placement: key },
        request,
        record,
        bindings,
        version,
        until: null,
      };
  }
  for (const run of ledger.runs.values()) yield* gatesOf(run, ledger, old);
}

function* gatesOf(run: RunRecord, ledger: Ledger, old: Ledger): Generator<Asked> {
  const { plan, spec, stages, key } = run;
  const [record, was] = [ledger, old].map((it) => it.placements.get(spec.placement));
  const version = record?.resourceSnapshots.find((it) => it.index === plan?.resourceIndex);
  if (plan === null || record === undefined || version === undefined) return;
  const known =
    old.runs.get(key)?.stages.flatMap((it) => [it.before.Approval?.digest, it.after.Approval?.digest]) ?? [];
  const requests = stages.flatMap((it) => [it.before.Approval ?? [], it.after.Approval ?? []].flat());
  const own = new Set(stages.flatMap((it) => [...it.clusters.values()].map(({ sequence }) => sequence)));
  // What another run brings in this pass counts as carried before this run brings anything.
  const carried = (cluster: ClusterName): Binding | undefined => {
    const [before, now] = [was, record].map((it) => it?.bindings.get(cluster));
    const target = now?.target ?? null;
    return target === null || target === before?.target || own.has(target.sequence) ? before : now;
  };
  const bindings = plan.stages
    .flatMap((it) => it.clusters.flatMap(({ cluster }) => carried(cluster) ?? []))
    .filter(({ target }) => target === null || (target.resourceIndex <= version.index && !own.has(target.sequence)));
  for (const request of requests)
    if (!known.includes(request.digest) && request.approval === null)
      yield {
        what: `run ${key}`,
        subject: { kind: "run", run: key },
        request,
        record,
        bindings,
        version,
        until: version.commit,
      };
}

/**
 * Commits, since the version that a cluster carries, that changed an object of either version or removed the placement.
 */
function changersOf({ record, bindings, version, until }: Asked, trust: TrustRecord, world: World): Set<CommitFact> {
  const { history, intent } = world;
  const found = new Set<CommitFact>();
  for (const index of new Set(bindings.map(({ target }) => target?.resourceIndex))) {
    const carried = record.resourceSnapshots.find((it) => it.index === index);
    const base = carried?.commit ?? trust.first;
    if (!history.beyond.has(base)) continue;
    const both = [...(carried?.resources ?? []), ...(version?.resources ?? [])].map(({ id, envelope }) =>
      inventoryKey(envelope === undefined ? id : { ...envelope, group: placementGroup, kind: envelope.type }),
    );
    const kind = record.scope === "Cluster" ? "ClusterResourcePlacement" : "ResourcePlacement";
    const own = { group: placementGroup, kind, namespace: record.namespace, name: record.name };
    const keys = new Set(version === null ? [inventoryKey(own)] : both);
    const settled = leadingTo(base, history);
    for (const id of leadingTo(until ?? history.head, history)) {
      const fact = settled.has(id) ? undefined : history.commits.get(id);
      if (fact !== undefined && changes(fact, keys, history, intent.fleet.roots)) found.add(fact);
    }
  }
  return found;
}

function leadingTo(tip: Commit, { commits }: History): ReadonlySet<Commit> {
  const found = new Set<Commit>([tip]);
  for (const it of found) for (const parent of commits.get(it)?.parents ?? []) found.add(parent);
  return found;
}

/** Whether a commit changes, adds or removes one of these documents. */
function changes(
  { changes: all }: CommitFact,
  keys: ReadonlySet<string>,
  { documents }: History,
  roots: readonly string[],
): boolean {
  const said = { before: new Map<string, string>(), after: new Map<string, string>() };
  for (const change of all) {
    const isRead = roots.length === 0 || roots.some((it) => change.path.startsWith(`${it}/`));
    if (!isRead || change.path.startsWith("approvals/") || change.path.startsWith("trust/")) continue;
    for (const side of ["before", "after"] as const)
      for (const it of documents.get(change[side] ?? ("" as never)) ?? [])
        if (it.said.kind === "manifest") said[side].set(it.key, it.said.digest);
        else if (it.said.kind === "placement") said[side].set(it.key, "there");
  }
  return [...keys].some((it) => said.before.get(it) !== said.after.get(it));
}
