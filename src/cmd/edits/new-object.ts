import type { Json } from "../../core/model/json.ts";
import { placementGroup } from "../../core/model/names.ts";
import type { UpdateRunSpec } from "../../core/model/update-run.ts";
import { someNames } from "../../core/report/phrases.ts";
import type { Objection } from "../../core/report/rollback-choice.ts";
import { emitYaml } from "../../core/yaml/canonical.ts";
import { didYouMean } from "../../core/yaml/nearest.ts";
import { type FoundDocument, type TextFile, valueIn, type WantedDocument } from "./found-document.ts";

interface NewRun {
  /** Null for a ClusterStagedUpdateRun. */
  readonly namespace: string | null;
  readonly name: string;
  readonly placement: string;
  readonly strategy: string;
  /** Null: what is selected when it is initialized. */
  readonly index: string | null;
  readonly state: UpdateRunSpec["state"];
}

/** `ClusterStagedUpdateRun`, or `StagedUpdateRun` in a namespace. */
export const runKind = (namespace: string | null): string =>
  namespace === null ? "ClusterStagedUpdateRun" : "StagedUpdateRun";

/** The file of a run: `runs/<name>.yaml`, in a folder of its namespace where it has one, below `root`. */
export function runFile({ namespace, name, placement, strategy, index, state }: NewRun, root: string): TextFile {
  const spec = {
    placementName: placement,
    ...(index === null ? {} : { resourceSnapshotIndex: index }),
    stagedRolloutStrategyName: strategy,
    state,
  };
  const path = `${root}runs/${namespace === null ? "" : `${namespace}/`}${name}.yaml`;
  return { path, text: objectText(runKind(namespace), namespace === null ? { name } : { namespace, name }, spec) };
}

/** The file of an eviction: `evictions/<name>.yaml`, below `root`. */
export const evictionFile = (
  name: string,
  { placement, cluster }: { readonly placement: string; readonly cluster: string },
  root: string,
): TextFile => ({
  path: `${root}evictions/${name}.yaml`,
  text: objectText(evictionKind, { name }, { placementName: placement, clusterName: cluster }),
});

export const evictionKind = "ClusterResourcePlacementEviction";

const objectText = (kind: string, metadata: Json, spec: Json): string =>
  emitYaml({ apiVersion: `${placementGroup}/v1beta1`, kind, metadata, spec });

/** `wanted`, or with `-2`, `-3` … behind it the first that is not taken: names must not depend on chance. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(wanted)) return wanted;
  let number = 2;
  while (isTaken(`${wanted}-${number}`)) number += 1;
  return `${wanted}-${number}`;
}

/** The files of a work tree, as far as names go. */
interface NamedFiles {
  readonly find: (wanted: WantedDocument) => readonly FoundDocument[];
  readonly named: (kind: string, namespace: string | null) => readonly string[];
}

interface RunSubject {
  /** Null for a ClusterStagedUpdateRun. */
  readonly namespace: string | null;
  readonly placement: string;
  readonly strategy: string;
}

/**
 * What is wrong with the placement or strategy of a run, which would wait or fail for good; null when nothing is
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
  const there = known.length === 0 ? `no file defines any ${kind}` : `there are: ${someNames(known)}`;
  const otherwise = `${there}; check that the right branch is checked out (flotilla validate shows files that cannot be read)`;
  const where = namespace === null ? "" : ` in namespace ${namespace}`;
  return {
    message: `no file defines the ${nouns[kind] ?? kind} ${name}${where}`,
    fix: didYouMean(name, known, otherwise),
  };
}

/** One hint and another one. */
export const alsoTry = (fix: string, more: string): string => `${fix}${fix.endsWith("?") ? "" : ";"} ${more}`;
