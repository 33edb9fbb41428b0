import type { PlacementRecord } from "../../core/model/ledger.ts";
import { names } from "../../core/report/explain.ts";
import { didYouMean } from "../../core/yaml/nearest.ts";
import { type FoundDocument, valueIn, type WantedDocument } from "./found-document.ts";

/** Why what a command names cannot be meant, and what to do instead. */
export interface Objection {
  readonly message: string;
  readonly fix: string;
}

/** The files of a work tree, as far as names go. */
export interface NamedFiles {
  readonly find: (wanted: WantedDocument) => readonly FoundDocument[];
  readonly named: (kind: string, namespace: string | null) => readonly string[];
}

/** What a run is to be about. */
export interface RunSubject {
  /** Null for a ClusterStagedUpdateRun. */
  readonly namespace: string | null;
  readonly placement: string;
  readonly strategy: string;
}

/**
 * What is wrong with the placement or the strategy that a run is to name: it is not there, or not made for runs. Null
 * when nothing is. A run that named them all the same would wait, or fail for good
 * (`intent/README.md#rules-decidable-here`).
 */
export function runObjection(files: NamedFiles, { namespace, placement, strategy }: RunSubject): Objection | null {
  const [found] = files.find({ kind: placementKind(namespace), namespace, name: placement });
  if (found === undefined)
    return undefinedObject(files, { kind: placementKind(namespace), namespace, name: placement });
  const type = valueIn(found, "spec", "strategy", "type") ?? "RollingUpdate";
  if (type !== "External")
    return {
      message: `placement ${placement} does not wait for runs: its strategy is ${String(type)}`,
      fix: `set spec.strategy.type in ${found.path} to External; until then, what is pushed rolls out by itself`,
    };
  const wanted = { kind: strategyKind(namespace), namespace, name: strategy };
  return files.find(wanted).length > 0 ? null : undefinedObject(files, wanted);
}

/** `ClusterResourcePlacement`, or `ResourcePlacement` in a namespace. */
const placementKind = (namespace: string | null): string =>
  namespace === null ? "ClusterResourcePlacement" : "ResourcePlacement";

const strategyKind = (namespace: string | null): string =>
  namespace === null ? "ClusterStagedUpdateStrategy" : "StagedUpdateStrategy";

const nouns: Readonly<Record<string, string>> = {
  ClusterResourcePlacement: "placement",
  ResourcePlacement: "placement",
  ClusterStagedUpdateStrategy: "strategy",
  StagedUpdateStrategy: "strategy",
  ClusterStagedUpdateRun: "run",
  StagedUpdateRun: "run",
};

/** That no file defines an object, with what somebody may have meant, or what there is. */
export function undefinedObject({ named }: NamedFiles, { kind, namespace, name }: WantedDocument): Objection {
  const known = named(kind, namespace);
  const there = known.length === 0 ? `no file defines any ${kind}` : `there are: ${names(known)}`;
  const otherwise = `${there}; see that the right branch is checked out (flotilla validate says which files cannot be read)`;
  const where = namespace === null ? "" : ` in namespace ${namespace}`;
  return {
    message: `no file defines the ${nouns[kind] ?? kind} ${name}${where}`,
    fix: didYouMean(name, known, otherwise),
  };
}

/** One hint and another one. */
export const alsoTry = (fix: string, more: string): string => `${fix}${fix.endsWith("?") ? "" : ";"} ${more}`;

/** What is wrong with the index of a resource snapshot, as it was typed; null when nothing is. */
export function indexObjection(
  placement: string,
  record: PlacementRecord | undefined,
  index: string,
): Objection | null {
  const kept = (record?.resourceSnapshots ?? []).map((it) => String(it.index));
  if (kept.includes(index)) return null;
  return {
    message: `no resource snapshot ${index} of ${placement} is kept`,
    fix: kept.length === 0 ? "none is kept, roll a version out first" : `give one of ${kept.join(", ")}`,
  };
}
