import type { Scope } from "../../model/manifest.ts";
import { deleteAdoptedAnnotation, isReservedNamespace, progressDeadlineAnnotation } from "../../model/names.ts";
import { error, type JsonPath, note, type Remark, warning } from "../../yaml/remark.ts";
import { durationOf } from "./duration.ts";
import { labelSelectorRemarks } from "./label-selector.ts";
import { annotationRemarks, dnsLabelRemarks, statusRemarks } from "./metadata.ts";
import { isNeverPlaced } from "./never-placed.ts";
import { notYet } from "./not-yet.ts";
import { policyRemarks } from "./policy-rules.ts";
import { repeated } from "./repeated.ts";
import { strategyRemarks } from "./strategy-rules.ts";
import type { WrittenPlacement, WrittenSelector } from "./written.ts";

/**
 * Checks a placement that its schema has passed against the rules that it alone decides (`intent/README.md#placements`).
 */
export function placementRemarks(placement: WrittenPlacement, scope: Scope): readonly Remark[] {
  const { metadata, spec, status } = placement;
  return [
    ...dnsLabelRemarks(metadata.name),
    ...settingRemarks(metadata.annotations ?? {}),
    ...selectorsRemarks(spec.resourceSelectors, scope),
    ...policyRemarks(spec.policy ?? {}),
    ...strategyRemarks(spec.strategy ?? {}),
    ...newerFieldRemarks(placement),
    ...(spec.statusReportingScope === "NamespaceAccessible"
      ? [notYet(["spec", "statusReportingScope"], "NamespaceAccessible is")]
      : []),
    ...statusRemarks(status),
  ];
}

function settingRemarks(annotations: Readonly<Record<string, string>>): readonly Remark[] {
  const at = (key: string): JsonPath => ["metadata", "annotations", key];
  const deadline = annotations[progressDeadlineAnnotation];
  const adopted = annotations[deleteAdoptedAnnotation];
  const remarks = [...annotationRemarks(annotations, [progressDeadlineAnnotation, deleteAdoptedAnnotation])];
  if (deadline !== undefined && durationOf(deadline) === null)
    remarks.push(
      error("FLT1310", at(progressDeadlineAnnotation), "is not a duration above 0", "write 10m, 90s or 1h30m"),
    );
  if (adopted !== undefined && adopted !== "true" && adopted !== "false")
    remarks.push(
      error("FLT1310", at(deleteAdoptedAnnotation), "must be true or false, in quotes", 'write "true" or "false"'),
    );
  return remarks;
}

function selectorsRemarks(selectors: readonly WrittenSelector[], scope: Scope): readonly Remark[] {
  const at: JsonPath = ["spec", "resourceSelectors"];
  return [
    ...selectors.flatMap((it, i) => selectorRemarks(it, scope, [...at, i])),
    ...namespaceModeRemarks(selectors, at),
    ...repeated(selectors, (it) => JSON.stringify([it.group ?? "", it.kind, it.name, it.labelSelector])).map((i) =>
      warning("FLT1308", [...at, i], "this selector occurs twice", "remove one of the two"),
    ),
  ];
}

function selectorRemarks(selector: WrittenSelector, scope: Scope, at: JsonPath): readonly Remark[] {
  const { group = "", kind, name = "", labelSelector } = selector;
  const remarks = [...labelSelectorRemarks(labelSelector, [...at, "labelSelector"])];
  if (selector.group === undefined)
    remarks.push(note("FLT1300", [...at, "group"], "is missing and read as the core group", 'add group: ""'));
  if (name !== "" && labelSelector !== undefined)
    remarks.push(error("FLT1307", at, "name and labelSelector exclude each other", "remove one of the two"));
  if (isNamespaceKind(selector) && isReservedNamespace(name))
    remarks.push(error("FLT1403", [...at, "name"], `namespace ${name} is reserved and never placed`, "choose another"));
  if (isNamespaceKind(selector) && scope === "Namespaced")
    remarks.push(
      error("FLT1311", at, "a ResourcePlacement cannot carry a Namespace", "use a ClusterResourcePlacement"),
    );
  if (isNeverPlaced({ group, kind }))
    remarks.push(warning("FLT1311", at, `objects of kind ${kind} are never placed`, "remove the selector"));
  return remarks;
}

/**
 * NamespaceWithResourceSelectors: one namespace, by name, and no other Namespace selector (`intent/README.md#v-pl-06` …
 * `#v-pl-08`).
 */
function namespaceModeRemarks(selectors: readonly WrittenSelector[], at: JsonPath): readonly Remark[] {
  const namespaces = [...selectors.entries()].filter(([, it]) => isNamespaceKind(it));
  const special = namespaces.filter(([, it]) => it.selectionScope === "NamespaceWithResourceSelectors");
  const [first] = special;
  if (first === undefined) return [];
  const unnamed = special.filter(([, it]) => (it.name ?? "") === "");
  const others = namespaces.filter(([i]) => i !== first[0]);
  return [
    ...unnamed.map(([i]) =>
      error("FLT1307", [...at, i], "NamespaceWithResourceSelectors picks its namespace by name", "name the namespace"),
    ),
    ...others.map(([i]) =>
      error(
        "FLT1307",
        [...at, i],
        "NamespaceWithResourceSelectors allows no other Namespace selector",
        "make it a placement of its own",
      ),
    ),
  ];
}

export const isNamespaceKind = ({ group = "", kind }: { readonly group?: string; readonly kind: string }): boolean =>
  group === "" && kind === "Namespace";

/** Fields that a hub drops from a v1 document without a word (`intent/README.md#kinds`). */
function newerFieldRemarks({ apiVersion, spec: { strategy } }: WrittenPlacement): readonly Remark[] {
  if (!apiVersion.endsWith("/v1") || strategy === undefined) return [];
  return (["deleteStrategy", "reportBackStrategy"] as const)
    .filter((it) => strategy[it] !== undefined)
    .map((it) => ({
      ...error(
        "FLT1301",
        ["spec", "strategy", it],
        "exists in v1beta1 only",
        `change apiVersion to ${apiVersion}beta1`,
      ),
      on: "key",
    }));
}
