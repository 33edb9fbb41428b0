import { remembered } from "../../model/identity.ts";
import type { ClusterTerm, Preference, PreferredTerm, PropertyRequirement } from "../../model/placement.ts";
import { type Quantity, quantityOf } from "../../model/quantity.ts";
import { selects, selectsIfAny } from "../../model/value.ts";
import type { Candidate } from "../framework/cycle.ts";
import type { Aspect, CandidateChange, Extensions, Part, Plugin, PluginInput } from "../framework/plugin.ts";
import { isInside, propertyOf, rangeOf, spellingOf, unreadableAt } from "../framework/properties.ts";
import { explainMismatch, selectorMismatch } from "./affinity-words.ts";
import { type SorterArithmetic, sorterShare } from "./property-sorter.ts";

/**
 * Refuses clusters that no required term matches, and scores the rest by the preferred terms
 * (`schedule/README.md#clusteraffinity`). No required term at all means no restriction.
 */
export const clusterAffinity = (arithmetic: SorterArithmetic): Plugin => ({
  name: "ClusterAffinity",
  changesWithPicks: false,

  prepare({ policy, candidates }: PluginInput): Extensions {
    if (policy.kind === "PickFixed") return {};
    const required = readTerms(policy.required);
    const preferred = preferredIn(policy);
    const { failure } = arithmetic;
    const sorters = sortersIn(preferred);
    const isRequired = (candidate: Candidate): boolean => required.some((it) => matches(it, candidate));
    return {
      filter: (candidate) => (required.length === 0 || isRequired(candidate) ? "fits" : "unschedulable"),
      because: (candidate) =>
        explainMismatch(policy.required, candidate, (it) => meets(readRequirement(it), candidate)),
      remedy: () => "change its labels or properties, or the required terms of the policy",
      numbers: (candidate) => preferred.map((it) => preferenceText(it, candidate, { candidates, arithmetic })),
      score(candidate) {
        let affinity = 0;
        for (const { weight, preference } of preferred)
          affinity += share(candidate, preference, { weight, candidates, arithmetic });
        return { affinity };
      },
      parts: {
        fits:
          required.length === 0 ? [] : [{ asked: requiredText(policy.required), of: (it) => (isRequired(it) ? 1 : 0) }],
        scores: preferred.map((it) => scorePart(it, candidates, arithmetic)),
      },
      ...(failure !== null && sorters.length > 0 ? { failure: failureAt(preferred, candidates, failure) } : {}),
      warnings: [...new Set([...policy.required.flatMap(namesIn), ...sorters])].flatMap((name) =>
        unreadableAt(candidates, name).map((it) => unreadable(it, name)),
      ),
    };
  },

  othersSee(candidate, policy) {
    if (policy.kind !== "PickN") return "";
    return preferredIn(policy)
      .flatMap(({ preference: { labelSelector, sorter } }) => {
        if (sorter === null) return [];
        const isMeant = selectsIfAny(labelSelector, candidate.facts.labels);
        return `${isMeant} ${candidate.facts.properties.get(sorter.name)?.value}`;
      })
      .join("\n");
  },

  looksAt: (policy) =>
    policy.kind === "PickFixed"
      ? []
      : [
          ...[...policy.required, ...preferredIn(policy).map((it) => it.preference)].flatMap(labelsIn),
          ...[...policy.required.flatMap(namesIn), ...sortersIn(preferredIn(policy))].map(
            (it) => `property ${it}` as const,
          ),
        ],
});

const preferredIn = (policy: PluginInput["policy"]): readonly PreferredTerm[] =>
  policy.kind === "PickN" ? policy.preferred.filter((it) => it.weight !== 0) : [];

const namesIn = ({ properties }: ClusterTerm): readonly string[] => properties.map((it) => it.name);

const labelsIn = ({ labelSelector }: Pick<ClusterTerm, "labelSelector">): readonly Aspect[] =>
  [
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map((it) => it.key),
  ].map((key) => `label ${key}` as const);

const requiredText = remembered((terms: readonly ClusterTerm[]) => `fits ${JSON.stringify(terms)}`);

const preferredText = remembered((term: PreferredTerm) => `scores ${JSON.stringify(term)}`);

/** What one preferred term gives. */
function scorePart(term: PreferredTerm, candidates: readonly Candidate[], arithmetic: SorterArithmetic): Part {
  const { weight, preference } = term;
  const of = (it: Candidate): number => share(it, preference, { weight, candidates, arithmetic });
  const asked = preferredText(term);
  const name = preference.sorter?.name;
  return name === undefined
    ? { asked, of }
    : { asked, of, concernsOthers: (change, all) => movesRange(change, name, all) };
}

/** Whether an end of the range was changed, or is one now. */
function movesRange({ was, is }: CandidateChange, name: string, candidates: readonly Candidate[]): boolean {
  const range = rangeOf(candidates, name);
  const isRespelled = was.facts.properties.get(name)?.value !== is.facts.properties.get(name)?.value;
  return isRespelled && !(isInside(was, name, range) && isInside(is, name, range));
}

const sortersIn = (preferred: readonly PreferredTerm[]): readonly string[] =>
  preferred.flatMap((it) => it.preference.sorter?.name ?? []);

/** Why the first sorter that has to rank a cluster cannot. */
const failureAt =
  (
    preferred: readonly PreferredTerm[],
    candidates: readonly Candidate[],
    failure: NonNullable<SorterArithmetic["failure"]>,
  ) =>
  (candidate: Candidate): string | null => {
    for (const { preference } of preferred) {
      const { labelSelector, sorter } = preference;
      if (sorter === null || (labelSelector !== null && !selects(labelSelector, candidate.facts.labels))) continue;
      const value = propertyOf(candidate, sorter.name);
      const range = rangeOf(candidates, sorter.name);
      const because = value === null || range === null ? null : failure(value, range);
      if (because !== null) return `${candidate.cluster.name} cannot be ranked by ${sorter.name}: ${because}`;
    }
    return null;
  };

const unreadable = ({ cluster, facts }: Candidate, name: string): string =>
  `${name} of ${cluster.name} counts as missing: ${JSON.stringify(facts.properties.get(name)?.value)} is no quantity`;

/** A term whose quantities have been read. */
interface ReadTerm {
  readonly labelSelector: ClusterTerm["labelSelector"];
  readonly properties: readonly ReadRequirement[];
}

interface ReadRequirement {
  readonly name: string;
  readonly operator: PropertyRequirement["operator"];
  /** Null if it is no quantity, which validation refuses: nothing meets it. */
  readonly bound: Quantity | null;
}

const readTerms = remembered((terms: readonly ClusterTerm[]) => terms.map(readTerm));

const readTerm = ({ labelSelector, properties }: ClusterTerm): ReadTerm => ({
  labelSelector,
  properties: properties.map(readRequirement),
});

const readRequirement = ({ name, operator, value }: PropertyRequirement): ReadRequirement => ({
  name,
  operator,
  bound: quantityOf(value),
});

function matches({ labelSelector, properties }: ReadTerm, candidate: Candidate): boolean {
  if (labelSelector !== null && !selects(labelSelector, candidate.facts.labels)) return false;
  for (const it of properties) if (!meets(it, candidate)) return false;
  return true;
}

/** A missing value meets nothing, not even `Ne` (case `schedule/README.md#q2`). */
function meets({ name, operator, bound }: ReadRequirement, candidate: Candidate): boolean {
  const value = propertyOf(candidate, name);
  if (value === null || bound === null) return false;
  switch (operator) {
    case "Gt":
      return value.nanos > bound.nanos;
    case "Ge":
      return value.nanos >= bound.nanos;
    case "Lt":
      return value.nanos < bound.nanos;
    case "Le":
      return value.nanos <= bound.nanos;
    case "Eq":
      return value.nanos === bound.nanos;
    case "Ne":
      return value.nanos !== bound.nanos;
  }
}

function share(
  candidate: Candidate,
  { labelSelector, sorter }: Preference,
  input: Parameters<typeof sorterShare>[2],
): number {
  if (labelSelector !== null && !selects(labelSelector, candidate.facts.labels)) return 0;
  return sorter === null ? input.weight : sorterShare(candidate, sorter, input);
}

/** What a preferred term adds to a cluster's score, and from which numbers. */
function preferenceText(
  { weight, preference }: PreferredTerm,
  candidate: Candidate,
  input: Omit<Parameters<typeof sorterShare>[2], "weight">,
): string {
  const { labelSelector, sorter } = preference;
  const scored = `${share(candidate, preference, { ...input, weight })} of weight ${weight}`;
  const mismatch = labelSelector === null ? null : selectorMismatch(labelSelector, candidate);
  if (mismatch !== null) return `${scored}: not ${mismatch}`;
  if (sorter === null) return `${scored}: its labels match`;
  const { name, order } = sorter;
  const range = rangeOf(input.candidates, name);
  if (range === null || propertyOf(candidate, name) === null) return `${scored}: it has no ${name}`;
  const value = candidate.facts.properties.get(name)?.value;
  const text = (bound: Quantity): string => spellingOf(input.candidates, name, bound);
  const origin = candidate.facts.origins.get(name) ?? "file";
  return `${scored}: ${name} is ${value} (from the ${origin}), of ${text(range.min)} to ${text(range.max)}, ${order}`;
}
