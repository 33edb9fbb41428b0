import type { Intent, Problem } from "../model/intent.ts";
import { isObject, type Json, member, memberAt, textsOf } from "../model/json.ts";
import {
  type EnvelopeRef,
  envelopeRef,
  isEnvelope,
  kindKey,
  misplacedIn,
  type ObjectId,
  type ObjectKey,
  objectKey,
  objectText,
  type WrappedObject,
} from "../model/manifest.ts";
import { remembered } from "../model/memo.ts";
import type { Override } from "../model/override.ts";
import type { Placement, ResourceSelector } from "../model/placement.ts";
import { type ClusterName, compareText, type Labels, selects } from "../model/value.ts";
import { locateProblem } from "../yaml/locate.ts";
import { didYouMean } from "../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, note, warning } from "../yaml/problems.ts";
import type { ContentOf } from "./kinds/kind.ts";
import { placementAdvice } from "./placement-advice.ts";
import type { DocumentVersion, DocumentVersions } from "./resolve.ts";
import { budgetAdvice, evictionAdvice, runAdvice, strategyAdvice } from "./rollout-advice.ts";
import { sharedObjectAdvice } from "./shared-objects.ts";

type AdviceContext = Pick<
  Intent,
  "fleet" | "clusters" | "prices" | "placements" | "strategies" | "objects" | "scopes" | "unusable"
>;

/**
 * Problems that only the whole repository shows: unknown names, overrides without effect, runs that cannot begin. They
 * keep no document from being used: how a run or an eviction ends, the reconciler decides.
 */
export function adviceOn(context: AdviceContext, versions: DocumentVersions): readonly Problem[] {
  const problems: Problem[] = [];
  for (const version of versions.values()) {
    if (version.isHeld || version.content.kind === "manifest") continue;
    for (const it of problemsWith(version, context))
      problems.push({ ...locateProblem(version.document, it), path: version.source.path });
  }
  return problems;
}

function problemsWith({ id, content }: DocumentVersion, context: AdviceContext): FieldProblems {
  switch (content.kind) {
    case "fleet":
      return [...contextProblems(context), ...priceListProblems(context)];
    case "placement":
      return [
        ...clusterNameProblems(content.placement, context),
        ...placementAdvice(content.placement, context),
        ...sharedObjectAdvice(content.placement, context),
      ];
    case "override":
      return overrideProblems(content.override, context);
    case "run":
      return runAdvice(content.run, context);
    case "strategy":
      return strategyAdvice(content.strategy, context);
    case "eviction":
      return evictionAdvice(content.eviction, context);
    case "budget":
      return budgetAdvice(content.budget, context);
    case "envelope":
      return scopeProblems(content, envelopeRef(id), context);
    case "cluster":
    case "prices":
    case "manifest":
    case "confirmation":
    case "approval":
    case "later":
      return [];
  }
}

/** What an envelope wraps and may not, by the scopes of this commit (`render/README.md#envelopes`). */
function scopeProblems(
  { manifest, wraps }: ContentOf<"envelope">,
  { type }: EnvelopeRef,
  { scopes }: AdviceContext,
): FieldProblems {
  const entries = Object.entries(member(manifest, "data") ?? {});
  const problems = new Map<string, FieldProblem>();
  for (const it of wraps.objects) {
    const why = misplacedIn(type, it.id, scopes);
    // Once for a kind: each is looked for in the text of the envelope.
    if (why === null || problems.has(why) || problems.size === maxKinds) continue;
    const at = ["data", entries.find(([, value]) => value === it.manifest)?.[0] ?? "", "kind"];
    const fix = scopes.has(kindKey(it.id)) ? "use the other kind of envelope" : "add its CustomResourceDefinition";
    problems.set(why, error("FLT1416", at, why, fix));
  }
  return [...problems.values()];
}

/** Of how many kinds an envelope is told that they do not belong into it. */
const maxKinds = 5;

function contextProblems({ fleet, clusters }: AdviceContext): FieldProblems {
  return [...fleet.contexts.keys()]
    .filter((it) => !clusters.has(it))
    .map((it) => unknownClusterProblem(it, ["spec", "contexts", it], clusters));
}

function priceListProblems({ fleet, prices }: AdviceContext): FieldProblems {
  if (fleet.prices === null || prices !== null) return [];
  const fix = "add it, or remove the name; until then costs are not computed";
  return [warning("FLT1335", ["spec", "prices"], `there is no PriceList ${fleet.prices}`, fix)];
}

function clusterNameProblems(
  { spec: { policy } }: Pick<Placement, "spec">,
  { clusters }: AdviceContext,
): FieldProblems {
  if (policy.kind !== "PickFixed") return [];
  return policy.clusterNames.flatMap((it, i) =>
    clusters.has(it) ? [] : [unknownClusterProblem(it, ["spec", "policy", "clusterNames", i], clusters)],
  );
}

function unknownClusterProblem(
  name: ClusterName,
  at: FieldProblem["at"],
  clusters: AdviceContext["clusters"],
): FieldProblem {
  const fix = didYouMean(name, clusters.keys(), "add its MemberCluster, or remove the name");
  return { ...warning("FLT1335", at, `there is no MemberCluster ${name}`, fix), on: "key" };
}

function overrideProblems(override: Pick<Override, "namespace" | "spec">, context: AdviceContext): FieldProblems {
  return [...reachProblems(override, context), ...ruleProblems(override, context)];
}

/** To which placements an override applies. */
function reachProblems(
  { namespace, spec }: Pick<Override, "namespace" | "spec">,
  context: AdviceContext,
): FieldProblems {
  const { placements } = context;
  if (spec.placement !== null && !placements.has(spec.placement)) {
    const fix = didYouMean(spec.placement, placements.keys(), "add the placement, or correct the name");
    return [warning("FLT1337", ["spec", "placement", "name"], `there is no placement ${spec.placement}`, fix)];
  }
  const reached = reachedBy({ namespace, spec }, context);
  if (reached.length === 0) {
    const what = spec.selectors.map((it) => objectText({ ...it, namespace })).slice(0, 3);
    const message = `no placement it belongs to selects ${what.join(", ")}: it has no effect`;
    return [warning("FLT1333", ["spec"], message, "correct the selectors, or let a placement select the object")];
  }
  if (spec.placement !== null) return [];
  const names = reached.map((it) => it.key);
  const shown = names.slice(0, 10).join(", ") + (names.length > 10 ? ` and ${names.length - 10} more` : "");
  return [note("FLT1334", ["spec"], `applies to ${shown}`, "name one in spec.placement to narrow it down")];
}

/** Placements that an override is for and that select one of its objects, by key. */
function reachedBy(
  { namespace, spec }: Pick<Override, "namespace" | "spec">,
  context: AdviceContext,
): readonly Placement[] {
  const reached = new Set<Placement>();
  for (const selector of spec.selectors)
    for (const id of placedAs({ ...selector, namespace }, context)) {
      const manifest = context.objects.get(objectKey(id))?.manifest;
      const labels = manifest === undefined ? null : textsOf(memberAt(manifest, "metadata", "labels"));
      for (const { placement, selectors } of selectorsOf(context.placements).get(kindKey(id)) ?? [])
        if (spec.placement === null || placement.key === spec.placement)
          if (selectors.some((it) => picks(it, id.name, labels))) reached.add(placement);
    }
  return [...reached].sort((a, b) => compareText(a.key, b.key));
}

/** An object, and the envelopes that it is in: by any of these a placement selects it. Never an envelope itself. */
const placedAs = (id: ObjectId, { objects }: AdviceContext): readonly ObjectId[] =>
  isEnvelope(id) ? [] : [id, ...(envelopesBy(objects).get(objectKey(id)) ?? [])];

const envelopesBy = remembered((objects: AdviceContext["objects"]): ReadonlyMap<ObjectKey, readonly ObjectId[]> => {
  const found = new Map<ObjectKey, ObjectId[]>();
  for (const { id, wraps } of objects.values())
    for (const it of wraps?.objects ?? []) {
      const key = objectKey(it.id);
      found.set(key, [...(found.get(key) ?? []), id]);
    }
  return found;
});

/** What placements select, by kind. */
const selectorsOf = remembered((placements: AdviceContext["placements"]) => {
  const byKind = new Map<string, Map<Placement, ResourceSelector[]>>();
  for (const placement of placements.values())
    for (const selector of placement.spec.resourceSelectors) {
      const ofKind = byKind.get(kindKey(selector)) ?? new Map<Placement, ResourceSelector[]>();
      byKind.set(kindKey(selector), ofKind);
      ofKind.set(placement, [...(ofKind.get(placement) ?? []), selector]);
    }
  return new Map(
    [...byKind].map(([kind, of]) => [kind, [...of].map(([placement, selectors]) => ({ placement, selectors }))]),
  );
});

function picks({ name, labelSelector }: ResourceSelector, wanted: string, labels: Labels | null): boolean {
  if (name !== null) return name === wanted;
  return labelSelector === null || (labels !== null && selects(labelSelector, labels));
}

/** Rules whose selectors match no cluster of the fleet: `yaml/README.md#b-87`. */
function ruleProblems({ spec }: Pick<Override, "spec">, { clusters }: AdviceContext): FieldProblems {
  if (clusters.size === 0) return [];
  return spec.rules.flatMap(({ clusters: selectors }, i) => {
    if (selectors === null || selectors.length === 0) return [];
    for (const { labels } of clusters.values()) if (selectors.some((it) => selects(it, labels))) return [];
    const at = ["spec", "policy", "overrideRules", i, "clusterSelector"];
    return [warning("FLT1333", at, "no cluster matches: the rule has no effect", "correct the selector")];
  });
}

/** One note about all Secrets in plain text, which whoever can read a branch can read; null without any. */
export function secretsNote({ objects }: Pick<Intent, "objects">): Problem | null {
  const isPlain = ({ id, manifest }: WrappedObject): boolean =>
    id.group === "" && id.kind === "Secret" && ["data", "stringData"].some((it) => hasAny(member(manifest, it)));
  const secrets = [...objects.values()].flatMap((it) =>
    [it, ...(it.wraps?.objects ?? [])].filter(isPlain).map(() => it),
  );
  const [first] = secrets.sort((a, b) => compareText(a.source.path, b.source.path) || a.source.line - b.source.line);
  if (first === undefined) return null;
  const { path, line, column } = first.source;
  const [which, them] =
    secrets.length === 1 ? ["a Secret is", "it"] : [`${secrets.length} Secrets, this one first, are`, "them"];
  const message = `${which} here in plain text; the state branch copies ${them} under accepted/ and rendered/, and keeps ${them} in its history`;
  const fix = `restrict who can read both branches, or have something in the clusters create ${them}`;
  return { code: "FLT1510", severity: "note", path, line, column, message, fix };
}

const hasAny = (value: Json): boolean => isObject(value) && Object.keys(value).length > 0;
