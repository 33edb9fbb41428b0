import { askedProperties } from "../../members/access.ts";
import { costsOf } from "../../members/costs.ts";
import { declaredDifferences } from "../../members/declared.ts";
import { recordedProperties } from "../../members/providers.ts";
import { type FactsRecord, recordedFacts } from "../../members/recorded-facts.ts";
import { type ComparedValues, comparedValues } from "../../members/threshold.ts";
import { boundedMessage, conditionOf, type Verdict } from "../../model/condition.ts";
import type { FleetSpec, PriceList } from "../../model/fleet.ts";
import type { Intent } from "../../model/intent.ts";
import type { ClusterRecord, Ledger } from "../../model/ledger.ts";
import { type Collected, noProperties, type Observation } from "../../model/observation.ts";
import type { World } from "../../model/plan.ts";
import { earliest, type Instant } from "../../model/value.ts";
import type { Reached } from "./members.ts";
import { namespacesOf } from "./namespaces.ts";

/** What is recorded of the facts about a member that answered; what it was, where nothing is worth a commit. */
export function factsOf(cluster: ClusterRecord, seen: Reached, world: FactsInput): FactsRecord {
  const { collected } = seen;
  if (collected === undefined) return { ...unread(cluster, seen), until: null };
  const compared = comparedValues(world.intent.placements, world.ledger);
  const known = judged.get(collected);
  if (known !== undefined && holds(known, cluster, { seen, compared, world })) return known.facts;
  const { prices, fleet } = world.intent;
  const access = askedProperties(collected.access ?? noProperties, fleet);
  const read = new Map([...recordedProperties(cluster.properties, seen.properties), ...access]);
  const provided = askedProperties(collected.provided, fleet);
  const priced = costsOf(collected, prices).properties;
  const told = provided === collected.provided ? collected : { ...collected, provided };
  const facts = recordedFacts(cluster, { read, collected: told, priced }, { compared, now: world.now });
  judged.set(collected, { facts, read: seen.properties, compared, prices, fleet });
  return facts;
}

type FactsInput = Pick<World, "intent" | "ledger" | "now">;

/** Nobody asked for more than is read with every look: the rest stands. */
function unread({ properties, collection }: ClusterRecord, seen: Reached): Omit<FactsRecord, "until"> {
  const observed = new Map([...properties, ...seen.properties]);
  return { properties: recordedProperties(properties, observed), collection };
}

/** What was last made of a collection: one that did not change is judged once. */
const judged = new WeakMap<Collected, JudgedFacts>();

interface JudgedFacts {
  readonly facts: FactsRecord;
  readonly read: Reached["properties"];
  readonly compared: ComparedValues;
  readonly prices: PriceList | null;
  readonly fleet: FleetSpec;
}

const holds = (
  { facts, read, compared: by, prices, fleet }: JudgedFacts,
  { properties, collection }: ClusterRecord,
  { seen, compared, world }: { readonly seen: Reached; readonly compared: ComparedValues; readonly world: FactsInput },
): boolean =>
  facts.properties === properties &&
  facts.collection === collection &&
  read === seen.properties &&
  by === compared &&
  prices === world.intent.prices &&
  fleet === world.intent.fleet &&
  (facts.until === null || world.now < facts.until);

/** When a collection that is not worth a commit yet will be; null where none is. */
export const factsDueAt = (world: World, { clusters }: Pick<Ledger, "clusters">): Instant | null => {
  let due: Instant | null = null;
  for (const [name, seen] of world.observed) {
    const cluster = clusters.get(name);
    if (cluster === undefined || cluster.contactFailure !== null) continue;
    if (seen.kind !== "reached") continue;
    if (seen.collected !== undefined) due = earliest(due, factsOf(cluster, seen, world).until);
    due = earliest(due, namespacesOf(cluster, seen, world).until);
  }
  return due;
};

const conditionType = "ClusterPropertyCollectionSucceeded";

/** What the last collection came to, by KubeFleet's type; none where nothing was ever collected. */
export function collectionVerdict(
  cluster: ClusterRecord,
  collected: Collected | null,
  { prices, clusters }: Pick<Intent, "prices" | "clusters">,
): readonly Verdict[] {
  if (collected === null) {
    const said = conditionOf(cluster.conditions, conditionType);
    return said === null ? [] : [{ ...said, observedGeneration: cluster.generation }];
  }
  const [first] = collected.missing;
  const what =
    first === undefined
      ? ({
          status: "True",
          reason: "PropertiesCollected",
          message: completeText(cluster, collected, { prices, clusters }),
        } as const)
      : ({ status: "False", reason: first.code, message: missingText(collected) } as const);
  return [{ type: conditionType, ...what, observedGeneration: cluster.generation }];
}

/** What else is to be said where all was read: why costs are unknown, and where the file declares something else. */
function completeText(
  { name, properties }: ClusterRecord,
  collected: Collected,
  { prices, clusters }: Pick<Intent, "prices" | "clusters">,
): string {
  const { unknown } = costsOf(collected, prices);
  const file = clusters.get(name);
  const declared = file === undefined ? [] : declaredDifferences(file, properties);
  const otherwise = declared.map((it) => `${it.name} as ${it.declared} where it is ${it.recorded}`).join(", ");
  return boundedMessage(
    `nodes and pods were read${unknown === null ? "" : `; ${unknown}`}${otherwise === "" ? "" : `; the file declares ${otherwise}, which does not count`}`,
  );
}

const missingText = ({ missing }: Collected): string => boundedMessage(missing.map((it) => it.message).join("; "));

/** What a member said of itself in this look; null where nobody asked. */
export const collectedIn = (seen: Observation | undefined): Collected | null =>
  seen?.kind === "reached" ? (seen.collected ?? null) : null;
