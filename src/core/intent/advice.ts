import { clusterGrantsOf, exceededOn } from "../model/fleet.ts";
import type { Intent, Problem } from "../model/intent.ts";
import { isObject, type Json, member } from "../model/json.ts";
import {
  type EnvelopeRef,
  envelopeRef,
  kindKey,
  misplacedIn,
  type SourcePosition,
  type WrappedObject,
} from "../model/manifest.ts";
import type { Placement } from "../model/placement.ts";
import { type ClusterName, compareText } from "../model/value.ts";
import { locateProblem } from "../yaml/locate.ts";
import { didYouMean } from "../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, warning } from "../yaml/problems.ts";
import type { ContentOf } from "./kinds/kind.ts";
import { overrideAdvice } from "./override-advice.ts";
import { placementAdvice } from "./placement-advice.ts";
import type { DocumentVersion, DocumentVersions } from "./resolve.ts";
import { budgetAdvice, evictionAdvice, runAdvice, strategyAdvice } from "./rollout-advice.ts";
import { sharedObjectAdvice } from "./shared-objects.ts";

type AdviceContext = Pick<
  Intent,
  "fleet" | "tenants" | "clusters" | "prices" | "placements" | "strategies" | "objects" | "scopes" | "unusable"
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

function problemsWith({ id, content, source }: DocumentVersion, context: AdviceContext): FieldProblems {
  switch (content.kind) {
    case "fleet":
      return [...contextProblems(context), ...priceListProblems(context)];
    case "placement":
      return [
        ...clusterNameProblems(content.placement, context),
        ...grantProblems(content.placement, source, context),
        ...placementAdvice(content.placement, context),
        ...sharedObjectAdvice(content.placement, context),
      ];
    case "override":
      return overrideAdvice(content.override, context);
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

/** Clusters that a tenant's placement names and is not granted: it is never picked there. */
function grantProblems(
  { spec: { policy } }: Pick<Placement, "spec">,
  source: SourcePosition,
  { clusters, tenants }: AdviceContext,
): FieldProblems {
  const grants = clusterGrantsOf(source, tenants);
  if (policy.kind !== "PickFixed" || grants.length === 0) return [];
  return policy.clusterNames.flatMap((it, i) => {
    const member = clusters.get(it);
    const grant = member === undefined ? null : exceededOn(member, grants);
    if (grant === null) return [];
    const message = `names the cluster ${it}, which ${grant.folder}** is not granted (${grant.place})`;
    return [error("FLT1404", ["spec", "policy", "clusterNames", i], message, "have it granted, or name another one")];
  });
}

function unknownClusterProblem(
  name: ClusterName,
  at: FieldProblem["at"],
  clusters: AdviceContext["clusters"],
): FieldProblem {
  const fix = didYouMean(name, clusters.keys(), "add its MemberCluster, or remove the name");
  return { ...warning("FLT1335", at, `there is no MemberCluster ${name}`, fix), on: "key" };
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
