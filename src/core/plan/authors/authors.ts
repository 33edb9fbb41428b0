import type { Binding } from "../../model/binding.ts";
import type { CommitFact } from "../../model/commit.ts";
import type { Ledger, PlacementRecord } from "../../model/ledger.ts";
import type { World } from "../../model/plan.ts";
import type { Authors, TrustRecord } from "../../model/trust.ts";
import type { RunPlan, RunRecord } from "../../model/update-run.ts";
import { type ClusterName, type Commit, compareText, type Digest } from "../../model/value.ts";
import { signerOf } from "../../trust/signer.ts";
import type { RenderContext } from "../moves/version.ts";
import { baselineOf } from "./baseline.ts";
import { carriedSince } from "./carried-since.ts";
import { type Changer, changersOf, documentsChangedIn, dormantChangers } from "./changers.ts";
import {
  type BindingSubject,
  type ClusterContent,
  type ClusterUpdate,
  carriedBy,
  plannedBy,
  planWithContent,
  wantedBy,
} from "./cluster-content.ts";
import { dormantInputs } from "./dormant-inputs.ts";
import { type Inputs, inputsOf, updateDigest } from "./inputs.ts";

/** Nobody that anybody knows of. */
export const noAuthors: Authors = { principals: [], unknown: 0 };

/** By what people's changes are judged. */
interface AuthorsContext extends RenderContext {
  readonly world: World;
  readonly ledger: Ledger;
  readonly trust: TrustRecord;
}

/**
 * Says who changed what a run brings, by the signatures of the commits that changed what was read for it
 * (`trust/README.md#step-8`; `#t-06`, `#t-07`, `#t-12`). For every cluster, that is looked for since what that cluster
 * carried before.
 */
export const authorsOfRun = (run: RunRecord, record: PlacementRecord, judging: AuthorsContext): Authors =>
  run.plan === null ? noAuthors : count(changersBehind(run, record, judging), judging.trust, judging.world);

/** Says who changed what makes a placement move where no run's gate asks, on these clusters. */
export const authorsOfChange = (
  record: PlacementRecord,
  clusters: ContentByCluster,
  judging: AuthorsContext,
): Authors => count(changersBehind(clusters, record, judging), judging.trust, judging.world);

/** The commits by which these are authors, in the order of their ids. */
export const commitsBehind = (
  what: RunRecord | ContentByCluster,
  record: PlacementRecord,
  judging: AuthorsContext,
): readonly Commit[] =>
  [...changersBehind(what, record, judging)].flatMap((it) => (it === "unknown" ? [] : it.commit)).sort(compareText);

/** By cluster, what it would carry; null where the placement leaves it. */
type ContentByCluster = ReadonlyMap<ClusterName, Digest | null>;

function changersBehind(
  what: RunRecord | ContentByCluster,
  record: PlacementRecord,
  judging: AuthorsContext,
): ReadonlySet<Changer> {
  if (!("plan" in what)) {
    const updates = [...what].map(([cluster, content]) => ofChange(cluster, content, record, judging));
    return changersOn(grouped(updates), null, judging);
  }
  const { plan } = what;
  if (plan === null) return new Set();
  const clusters = plan.stages.flatMap((it) => it.clusters.map(({ cluster }) => cluster));
  const updates = [...clusters, ...plan.deletions].map((it) => ofRun(it, { run: what, plan, record }, judging));
  const version = record.resourceSnapshots.find((it) => it.index === plan.resourceIndex)?.commit ?? null;
  return changersOn(grouped(updates), version, judging);
}

/** The change of clusters, and since when whoever had a part in it counts. */
interface DatedUpdate extends ClusterUpdate {
  readonly settled: Commit;
  /** What was decided about them last, beside which dormant are told; null: nothing that anybody knows. */
  readonly decided: ClusterContent | null;
}

const bindingSubject = (
  cluster: ClusterName,
  record: PlacementRecord,
  { world, overrides }: AuthorsContext,
): BindingSubject => ({
  record,
  binding: record.bindings.get(cluster) ?? { cluster, target: null },
  intent: world.intent,
  overrides,
});

interface RunPlanned {
  readonly run: RunRecord;
  readonly plan: RunPlan;
  readonly record: PlacementRecord;
}

function ofRun(cluster: ClusterName, { run, plan, record }: RunPlanned, judging: AuthorsContext): DatedUpdate {
  const subject = bindingSubject(cluster, record, judging);
  return datedUpdate({ subject, cluster, wanted: plannedBy(plan, subject), run }, plan.resourceIndex, judging);
}

function ofChange(
  cluster: ClusterName,
  content: Digest | null,
  record: PlacementRecord,
  judging: AuthorsContext,
): DatedUpdate {
  const subject = bindingSubject(cluster, record, judging);
  const plan = content === null ? null : planWithContent(content, subject, judging.ledger.runs);
  const wanted = content === null ? null : plan === null ? wantedBy(subject) : plannedBy(plan, subject);
  return datedUpdate({ subject, cluster, wanted, run: null }, plan?.resourceIndex ?? null, judging);
}

interface UpdateParts {
  readonly subject: BindingSubject;
  readonly cluster: ClusterName;
  readonly wanted: ClusterContent | null;
  readonly run: RunRecord | null;
}

function datedUpdate(
  { subject, cluster, wanted, run }: UpdateParts,
  index: number | null,
  judging: AuthorsContext,
): DatedUpdate {
  const { isBack, rolledOut, decided } = baselineOf(subject, index, run, judging.ledger.runs);
  const settled = (isBack ? rolledOut?.commit : sinceOf(subject, judging)) ?? judging.trust.first;
  const carried = carriedBy(subject);
  return { subject, clusters: new Set([cluster]), carried, wanted, run, settled, decided };
}

/** When what a cluster carries came; null where nobody can tell, or it carries nothing. */
function sinceOf({ record, binding: { cluster } }: BindingSubject, context: RenderContext): Commit | null {
  const binding: Binding | undefined = record.bindings.get(cluster);
  return binding === undefined ? null : carriedSince(binding, record, context);
}

/** Clusters that go the same way since the same decision, together. */
function grouped(all: readonly DatedUpdate[]): readonly DatedUpdate[] {
  const found = new Map<string, DatedUpdate>();
  for (const it of all) {
    const key = `${it.settled} ${updateDigest(it)} ${updateDigest({ ...it, carried: it.decided })}`;
    const known = found.get(key);
    found.set(key, known === undefined ? it : { ...known, clusters: new Set([...known.clusters, ...it.clusters]) });
  }
  return [...found.values()];
}

/**
 * The commits that these rest on, whose signers are authors: a key counts here whatever became of it later, since revoking
 * it makes nobody innocent. What cannot be looked at counts as changed by nobody knows whom.
 */
function changersOn(
  updates: readonly DatedUpdate[],
  version: Commit | null,
  { world, trust }: AuthorsContext,
): ReadonlySet<Changer> {
  const { history } = world;
  const changers = new Set<Changer>();
  for (const it of updates) {
    const { settled, decided } = it;
    const inputs = inputsOf(it, documentsChangedIn({ settled: [settled], until: null }, history));
    // What is brought is what was selected then; all else is as it is now.
    const objects: Inputs = { ...inputs, read: (document) => (isObject(document) ? inputs.read(document) : null) };
    const rest: Inputs = { ...inputs, read: (document) => (isObject(document) ? null : inputs.read(document)) };
    const parts =
      version === null
        ? [{ inputs, until: null }]
        : [
            { inputs: objects, until: version },
            { inputs: rest, until: null },
          ];
    for (const part of parts)
      for (const changer of changersOf({ settled: [settled], until: part.until }, part.inputs, history))
        changers.add(changer);
    const dormant = dormantInputs({ ...it, carried: decided });
    for (const changer of dormantChangers(dormant, { first: trust.first, version }, history)) changers.add(changer);
  }
  return changers;
}

const isObject = ({ said }: Parameters<Inputs["read"]>[0]): boolean => said.kind === "manifest";

function count(changers: ReadonlySet<Changer>, { trust }: TrustRecord, { history }: World): Authors {
  const { principals } = trust;
  const names = new Set<string>();
  let unknown = history.gap === null ? 0 : 1;
  for (const it of changers) {
    const name = it === "unknown" ? null : personOf(it, principals);
    if (name === null) unknown += 1;
    else names.add(name);
  }
  return { principals: [...names].sort(compareText), unknown };
}

/** A machine signs for whoever made it do so. That a certificate is over by now makes nobody another person. */
function personOf({ commit, signature }: CommitFact, principals: TrustRecord["trust"]["principals"]): string | null {
  const scene = { trust: { principals, revocations: [] }, namespace: "git", what: `commit ${commit}`, now: null };
  const signer = signerOf(signature, scene);
  return signer.kind === "signer" && signer.principal.isHuman ? signer.principal.name : null;
}
