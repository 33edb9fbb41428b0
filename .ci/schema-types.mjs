// Writes the type of what every schema in schemas/ lets pass to node_modules/.cache/schemas/: to TypeScript, a JSON file has
// no literals in it. `#schemas/fleet` stands for what was made of schemas/fleet.json (tsconfig.json); nothing is loaded.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = `${root}node_modules/.cache/schemas/`;

// A keyword that is in none of the two might change what passes.
const shaping = ["$ref", "enum", "type", "required", "properties", "additionalProperties", "items", "definitions"];
const ignored = ["$schema", "$id", "title", "description", "default"].concat([
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
]);

function typeOf(schema) {
  const unknown = Object.keys(schema).find((it) => !shaping.includes(it) && !ignored.includes(it));
  if (unknown !== undefined) throw new Error(`.ci/schema-types.mjs: what does the keyword ${unknown} do to a type?`);
  if (schema.$ref !== undefined) return nameOf(schema.$ref.split("/").at(-1));
  if (schema.enum !== undefined) return schema.enum.map((it) => JSON.stringify(it)).join(" | ");
  if (schema.type === undefined) return "Json";
  return [...new Set([schema.type].flat().map((it) => types[it](schema)))].join(" | ");
}

const types = {
  string: () => "string",
  boolean: () => "boolean",
  integer: () => "number",
  number: () => "number",
  array: ({ items }) => `readonly (${typeOf(items)})[]`,
  object: ({ properties, additionalProperties: more, required = [] }) => {
    if (properties === undefined) return `{ readonly [name: string]: ${typeOf(more ?? {})} }`;
    if (more !== false) throw new Error(".ci/schema-types.mjs: an object with properties has to exclude others");
    const fields = Object.entries(properties).map(
      ([name, it]) => `readonly ${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${typeOf(it)};`,
    );
    return `{ ${fields.join(" ")} }`;
  },
};

const nameOf = (definition) => definition[0].toUpperCase() + definition.slice(1);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const schemas = readdirSync(`${root}schemas`).map((file) => ({
  file: file.replace(".json", ".ts"),
  schema: JSON.parse(readFileSync(`${root}schemas/${file}`, "utf8")),
}));
for (const { file, schema } of schemas) {
  const named = Object.entries({ ...schema.definitions, [schema.title]: schema });
  const lines = named.map(([name, it]) => `export type ${nameOf(name)} = ${typeOf(it)};\n`);
  const json = 'import type { Json } from "../../../src/core/model/json.ts";\n';
  writeFileSync(`${folder}${file}`, json + lines.join(""));
}
const all = schemas.map(({ file, schema: { title } }) => `readonly ${title}: import("./${file}").${title};\n`);
writeFileSync(`${folder}index.ts`, `export interface SchemaDocuments {\n${all.join("")}}\n`);
