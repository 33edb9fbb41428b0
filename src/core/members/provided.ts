import { isObject, type Json, type JsonObject, memberAt, textOf } from "../model/json.ts";
import type { MemberProperties } from "../model/observation.ts";
import { compareText } from "../model/value.ts";

/** The ConfigMap in which a platform says properties of its own (`members/README.md#providers`). */
export const propertiesMap = "flotilla-properties";

/** The key for names that are no keys of a ConfigMap, as those with a slash are: a JSON object. */
const jsonKey = "properties.json";

const mostProperties = 100;
const longestName = 253;
const longestValue = 1024;

/** Kubernetes' limit of a ConfigMap: parsing what a member makes up instead would take long. */
const longestText = 1024 * 1024;

/** What a provider says, or what is wrong with it, in words that have no value in them. */
type Provided = { readonly properties: MemberProperties } | { readonly wrong: string };

/** Reads a ConfigMap of properties: each key is a name, and its text the value. */
export function providedByMap(configMap: Json): Provided {
  const data = memberAt(configMap, "data");
  const { [jsonKey]: text, ...plain } = isObject(data) ? data : {};
  if (text === undefined) return providedBy(plain);
  const parsed = parsedObject(textOf(text) ?? "");
  return parsed === null
    ? { wrong: `it has no JSON object as ${jsonKey}` }
    : providedBy({ ...plain, ...(parsed as JsonObject) });
}

/** Reads a JSON object of properties in one text: `{"properties": {name: value}}`. */
export function providedByText(text: string): Provided {
  const properties = memberAt(parsedObject(text), "properties");
  return isObject(properties) ? providedBy(properties) : { wrong: "it gave no JSON object with properties" };
}

/** A value is a text or a number, or an object that has it as `value`. */
function providedBy(written: Json): Provided {
  const entries = Object.entries(isObject(written) ? written : {});
  if (entries.length > mostProperties) return { wrong: `it has more than ${mostProperties} properties` };
  const found: [string, string][] = [];
  for (const [name, it] of entries) {
    if (!isPropertyName(name))
      return { wrong: `it has ${JSON.stringify(name.slice(0, 60))}, which is no name of a property` };
    const value = isObject(it) ? (it["value"] ?? null) : it;
    const text = typeof value === "number" ? String(value) : textOf(value);
    if (text === null || text === "") return { wrong: `it has ${name} without a value` };
    if (text.length > longestValue)
      return { wrong: `it has more than ${longestValue} characters as the value of ${name}` };
    found.push([name, text]);
  }
  return { properties: new Map(found.sort(([a], [b]) => compareText(a, b))) };
}

/** A name of a property as Kubernetes writes labels' keys, with any number of slashes. */
export const isPropertyName = (name: string): boolean =>
  name.length <= longestName && name.split("/").every((it) => /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(it));

function parsedObject(text: string): Json {
  if (text.length > longestText) return null;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
