import { readKinds, type SchemaName, schemaNames } from "./known-kinds.ts";

/** The schemas by kind: what editors complete from, what documentation is made of, and what files are checked with. */
export const schemas = Object.fromEntries(schemaNames.map((it) => [it, readKinds[it].schema])) as Readonly<
  Record<SchemaName, object>
>;

/** How validators are made of the schemas, at run time as well as ahead of it. Without ajv's words: ours are shown. */
export const ajvOptions = { allErrors: true, strict: true, allowUnionTypes: true, messages: false } as const;
