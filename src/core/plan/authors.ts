import type { History } from "../model/history.ts";
import type { Intent } from "../model/intent.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { World } from "../model/plan.ts";
import type { RunRecord } from "../model/run-record.ts";
import type { CommitFact, PathChange } from "../model/signature.ts";
import type { Authors, Trust, TrustRecord } from "../model/trust.ts";
import { type Commit, compareText } from "../model/value.ts";
import { signerOf } from "../trust/signer.ts";
import { reachable } from "./ancestry.ts";
import { rolledOut } from "./look-back.ts";

/** Nobody that anybody knows of. */
export const noAuthors: Authors = { principals: [], unknown: 0 };

/** Which changes are looked at. */
export interface Span {
  /** What came before all of these was approved, or was there when trust began. */
  readonly since: readonly Commit[];
  /** What came after this does not matter; null: all that the head has does. */
  readonly until: Commit | null;
  /** What of it matters. */
  readonly isInput: (change: PathChange) => boolean;
}

/**
 * Says who changed what is to be approved, by the signatures of the commits that did (`security.md` §2.4, 8; T-06, T-07,
 * T-12: every commit counts, and not what is left of them all).
 *
 * A key counts here whatever became of it later: revoking it makes nobody innocent. What cannot be looked at counts as
 * changed by nobody knows whom.
 */
export function authorsOf(spans: readonly Span[], trust: Trust, { history, now }: World): Authors {
  const names = new Set<string>();
  const facts = new Set(spans.flatMap((it) => changesIn(it, history)));
  let unknown = history.gap === null ? 0 : 1;
  for (const it of facts) {
    if (it === "unknown") {
      unknown += 1;
      continue;
    }
    const { commit, signature } = it;
    const { principals } = trust;
    const scene = { trust: { principals, revocations: [] }, namespace: "git", what: `commit ${commit}`, now };
    const signer = signerOf(signature, scene);
    // A machine signs for whoever made it do so.
    if (signer.kind === "signer" && signer.principal.isHuman) names.add(signer.principal.name);
    else unknown += 1;
  }
  return { principals: [...names].sort(compareText), unknown };
}

/** The commits of a span that matter. */
function changesIn({ since, until, isInput }: Span, { head, commits }: History): readonly (CommitFact | "unknown")[] {
  const [first = new Set<Commit>(), ...others] = since.map((it) => reachable([it], commits, new Set()));
  const old = new Set([...first].filter((it) => others.every((other) => other.has(it))));
  const tip = until ?? head;
  // Rewritten away, or never looked at: nobody knows what it changed.
  if (!old.has(tip) && !commits.has(tip)) return ["unknown"];
  const facts = [...reachable([tip], commits, old)].flatMap((id) => commits.get(id) ?? []);
  // What was taken from there may stand elsewhere now, word for word: whoever wrote it there wrote it.
  const taken = new Set(
    facts.flatMap((it) => it.changes.filter((change) => isGone(change) && isInput(change)).map(pathOf)),
  );
  // Whoever resolves a merge his own way may have brought anything back (`security.md` §2.4, 4).
  return facts.filter(
    (it) => it.merge === "unclean" || it.changes.some((change) => isInput(change) || taken.has(change.path)),
  );
}

const isGone = ({ after }: PathChange): boolean => after === null;
const pathOf = ({ path }: PathChange): string => path;

/** Who changed what a run brings, and what makes it go: its version as it was frozen, and the rest as it is. */
export function authorsOfRun(run: RunRecord, record: PlacementRecord, context: Judging): Authors {
  const { world, ledger, trust } = context;
  const { placement, strategy } = run.spec;
  const index = run.plan?.resourceIndex ?? null;
  const since = [rolledOut(placement, ledger) ?? trust.first];
  const before = [...since, rolledOut(placement, ledger, index) ?? trust.first];
  const snapshot = record.resourceSnapshots.find((it) => it.index === index);
  const { runs, strategies } = world.intent;
  const controls = new Set([
    ...placementPaths(record, world.intent),
    ...[runs.get(run.key), strategies.get(strategy)].flatMap((it) => it?.source.path ?? []),
  ]);
  const contents = new Set(pathsIn(record));
  const content = {
    since: before,
    until: snapshot?.commit ?? null,
    isInput: ({ path }: PathChange) => contents.has(path),
  };
  const isLost = lostDocuments(record, ledger);
  const isInput = (it: PathChange): boolean => controls.has(it.path) || isLost(it);
  return authorsOf([content, { since, until: null, isInput }], trust.trust, world);
}

/** Who changed what makes a placement move where no run does, since these commits. */
export function authorsOfChange(record: PlacementRecord, since: readonly Commit[], context: Judging): Authors {
  const { world, ledger, trust } = context;
  const isLost = lostDocuments(record, ledger);
  const { intent } = world;
  const isMoved = intent.placements.has(record.key);
  const paths = new Set([
    ...pathsIn(record),
    ...placementPaths(record, intent),
    // The scheduler goes by what the members' files say.
    ...[...intent.clusters.values()].map((it) => it.source.path),
    ...[...intent.evictions.values()].flatMap((it) => (it.placement === record.key ? it.source.path : [])),
    ...[...intent.runs.values()].flatMap((it) => (it.spec.placement === record.key ? it.source.path : [])),
  ]);
  // Where its document is gone nobody knows which it was.
  const isInput = (it: PathChange): boolean =>
    isMoved ? paths.has(it.path) || isLost(it) : !/^(?:approvals|trust)\//.test(it.path);
  return authorsOf([{ since, until: null, isInput }], trust.trust, world);
}

/** By what people's changes are judged. */
export interface Judging {
  readonly world: World;
  readonly ledger: Ledger;
  readonly trust: TrustRecord;
}

/**
 * Documents that are there no more, such as an override: nobody knows what they said. What another placement selects, or
 * selected, is known to be something else.
 */
function lostDocuments({ key }: PlacementRecord, { placements }: Ledger): Span["isInput"] {
  const others = new Set([...placements.values()].filter((it) => it.key !== key).flatMap(pathsIn));
  return ({ path, after }) => after === null && !/^(?:approvals|trust)\//.test(path) && !others.has(path);
}

/** Where what a placement selects stands, and stood. */
const pathsIn = ({ resourceSnapshots }: PlacementRecord): readonly string[] =>
  resourceSnapshots.flatMap(({ resources }) => resources.map((it) => it.path));

/** The document of a placement, and those of its overrides. */
const placementPaths = ({ key }: PlacementRecord, { placements, overrides }: Intent): readonly string[] => [
  ...[placements.get(key)].flatMap((it) => it?.source.path ?? []),
  ...overrides.filter((it) => it.spec.placement === null || it.spec.placement === key).map((it) => it.source.path),
];
