import type { LabelRequirement, LabelSelector } from "../../model/value.ts";
import { error, type JsonPath, type Remark } from "../../yaml/remark.ts";
import { isLabelValue, isQualifiedName } from "./label-syntax.ts";
import { labelRemarks, malformed } from "./metadata.ts";

/** Checks that a label selector is one Kubernetes would take: `intent/README.md#v-pl-04`, `#v-pl-31`, `#v-ov-04`. */
export function labelSelectorRemarks(selector: LabelSelector | undefined, at: JsonPath): readonly Remark[] {
  if (selector === undefined) return [];
  return [
    ...labelRemarks(selector.matchLabels, [...at, "matchLabels"]),
    ...(selector.matchExpressions ?? []).flatMap((it, i) => requirementRemarks(it, [...at, "matchExpressions", i])),
  ];
}

function requirementRemarks({ key, operator, values }: LabelRequirement, at: JsonPath): readonly Remark[] {
  const takesValues = operator === "In" || operator === "NotIn";
  const count = values?.length ?? 0;
  const malformedValues = (values ?? []).flatMap((it, i) =>
    isLabelValue(it) ? [] : [malformed("label value", [...at, "values", i], it)],
  );
  return [
    ...(isQualifiedName(key) ? [] : [malformed("label key", [...at, "key"], key)]),
    ...(takesValues && count === 0
      ? [error("FLT1305", at, `${operator} needs values`, "list at least one value")]
      : []),
    ...(!takesValues && count > 0 ? [error("FLT1305", at, `${operator} takes no values`, "remove the values")] : []),
    ...malformedValues,
  ];
}
