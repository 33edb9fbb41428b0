import { Ajv } from "ajv";
import type { Json } from "../../model/json.ts";
import { ajvOptions, type SchemaName, schemas } from "./known-kinds.ts";

/** What a schema has against a value: the part of ajv's error objects that we use. */
export interface SchemaError {
  /** JSON pointer to the value. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

type Validate = (value: Json) => readonly SchemaError[];

/** A validator per kind, compiled on first use; the bundle has code in its place that ajv generated ahead of time. */
export const validators = Object.fromEntries(
  (Object.keys(schemas) as SchemaName[]).map((name) => [name, lazily(name)]),
) as Readonly<Record<SchemaName, Validate>>;

function lazily(kind: SchemaName): Validate {
  let compiled: ReturnType<Ajv["compile"]> | null = null;
  return (value) => {
    compiled ??= new Ajv(ajvOptions).compile(schemas[kind]);
    return compiled(value) ? [] : (compiled.errors ?? []);
  };
}
