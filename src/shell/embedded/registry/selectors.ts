import { isObject, type Json, type JsonObject, member, memberAt } from "../../../core/model/json.ts";
import type { ServedKind } from "../api/kinds.ts";
import { statusError } from "../api/status.ts";

/** Whether an object is among those that a list or watch asks for. */
export type ObjectFilter = (object: JsonObject) => boolean;

const everything: ObjectFilter = () => true;

/** `labelSelector` and `fieldSelector` of a list, watch or deletion of many; refuses what it cannot read. */
export function parseSelectors(labels: string | null, fields: string | null, kind: ServedKind): ObjectFilter {
  const byLabels = labels === null || labels.trim() === "" ? null : parseLabelSelector(labels);
  const byFields = fields === null || fields.trim() === "" ? null : fieldSelector(fields, kind);
  if (byLabels === null && byFields === null) return everything;
  return (object) => (byLabels?.(object) ?? true) && (byFields?.(object) ?? true);
}

type Requirement = (labels: JsonObject) => boolean;

/** Kubernetes' selector text: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. */
export function parseLabelSelector(text: string): ObjectFilter {
  const requirements = split(text).map(requirementOf);
  return (object) => {
    const labels = memberAt(object, "metadata", "labels");
    return requirements.every((it) => it(isObject(labels) ? labels : {}));
  };
}

/** At commas outside of parentheses. */
function split(text: string): readonly string[] {
  const parts = [""];
  let depth = 0;
  for (const letter of text) {
    depth += letter === "(" ? 1 : letter === ")" ? -1 : 0;
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts.map((it) => it.trim());
}

const key = "([A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?)";
const value = "([A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?|)";
const equality = new RegExp(`^${key}\\s*(==|=|!=)\\s*${value}$`);
const membership = new RegExp(`^${key}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const existence = new RegExp(`^(!?)\\s*${key}$`);

function requirementOf(text: string): Requirement {
  const equal = equality.exec(text);
  if (equal !== null) {
    const [, name = "", operator, wanted = ""] = equal;
    return operator === "!="
      ? (labels) => labelOf(labels, name) !== wanted
      : (labels) => labelOf(labels, name) === wanted;
  }
  const among = membership.exec(text);
  if (among !== null) {
    const [, name = "", operator, list = ""] = among;
    const values = new Set(list.split(",").map((it) => it.trim()));
    const isAmong: Requirement = (labels) => values.has(labelOf(labels, name) ?? "") && labelOf(labels, name) !== null;
    return operator === "in" ? isAmong : (labels) => !isAmong(labels);
  }
  const exists = existence.exec(text);
  if (exists === null) throw statusError("BadRequest", `unable to parse requirement: ${JSON.stringify(text)}`);
  const [, not, name = ""] = exists;
  return (labels) => (labelOf(labels, name) === null) === (not === "!");
}

const labelOf = (labels: JsonObject, name: string): string | null => {
  const label = member(labels, name);
  return typeof label === "string" ? label : null;
};

/** Fields that can be asked for besides name and namespace, by `group/Kind`. Events can be asked for by what they are about. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  "/Pod": ["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase"],
  "/Event": [
    ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
      (it) => `involvedObject.${it}`,
    ),
    ...["reason", "reportingComponent", "source", "type"],
  ],
  "/Secret": ["type"],
  "/Namespace": ["status.phase"],
  "/Node": ["spec.unschedulable"],
  "batch/Job": ["status.successful"],
};

function fieldSelector(text: string, kind: ServedKind): ObjectFilter {
  const known = ["metadata.name", "metadata.namespace", ...(selectable[`${kind.group}/${kind.kind}`] ?? [])];
  const terms = text.split(",").map((term) => {
    const [, path = "", operator = "=", wanted = ""] = /^\s*([^=!]+?)\s*(==|=|!=)(.*)$/.exec(term) ?? [];
    if (path === "") throw statusError("BadRequest", `invalid selector: '${text}'; can't understand '${term}'`);
    if (!known.includes(path)) {
      const shown = known.slice(0, 2).map((it) => `"${it}"`);
      throw statusError("BadRequest", `"${path}" is not a known field selector: only ${shown.join(", ")}`);
    }
    const steps = path.split(".");
    return (object: JsonObject): boolean => (textAt(object, steps) === wanted) === (operator !== "!=");
  });
  return (object) => terms.every((it) => it(object));
}

function textAt(object: JsonObject, steps: readonly string[]): string {
  const found: Json | null = memberAt(object, ...steps);
  return found === null || isObject(found) ? "" : String(found);
}
