import { isObject, type Json } from "../../core/model/json.ts";
import { keyText, leafText } from "../../core/yaml/canonical.ts";

/**
 * A value as block YAML for people, line by line and without line ends: as `emitYaml` writes it, but a text of several
 * lines stands as one (`|`), below a key or a dash. A list in a mapping is indented.
 */
export function yamlLines(value: Json): readonly string[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((it: Json) => yamlLines(it).map((line, at) => (at === 0 ? `- ${line}` : indented(line))));
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, it]) => pairLines(keyText(key), it));
  // A block would lose blanks at its edges, and more than one line end behind it.
  if (typeof value === "string" && /\n/.test(value) && !/^\s|[ \t]\n|\s$|[^\n -~]/.test(value))
    return ["|-", ...value.split("\n")];
  return [leafText(value)];
}

function pairLines(key: string, value: Json): readonly string[] {
  const lines = yamlLines(value);
  const [first = "", ...rest] = lines;
  const isNested = typeof value === "object" && value !== null && !/^(?:\[\]|\{\})$/.test(first);
  return isNested ? [`${key}:`, ...lines.map(indented)] : [`${key}: ${first}`, ...rest.map(indented)];
}

const indented = (line: string): string => (line === "" ? "" : `  ${line}`);
