import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { compareText, type Instant } from "../../model/value.ts";

/** How a value is written as JSON and read back; `W`: what it takes to write one, where files repeat of elsewhere. */
export interface Codec<T, W = T> {
  /** Undefined: the member is left out. */
  readonly write: (value: W) => Json | undefined;
  /** `json` is null where there is nothing. Anything that does not fit is reported, and a stand-in is returned. */
  readonly read: (json: Json, key: string, context: ReadContext) => T;
}

/** How one member of a value, or several together, stand in the JSON object of that value. */
export interface Field<T, W = unknown> {
  /** `whole` is the value that has the member. */
  readonly put: (into: Draft, value: T, whole: W) => void;
  readonly take: (from: JsonObject, context: ReadContext) => T;
}

/** A JSON object that is being written. */
export type Draft = Record<string, Json>;

/** How every member of `T` is written, in this order, and read: a codec stands under the member's own name. */
export type Members<T, W = T> = { readonly [K in keyof T]-?: Codec<T[K]> | Field<T[K], W> };

/** What is wrong with a document that is being read: the first problem. Reading goes on with stand-ins. */
export interface ReadContext {
  problem: string | null;
  /** Where that is, if `path` is kept. */
  problemPath: readonly (string | number)[];
  /** Where reading is at present. Null: not kept, which is faster. */
  readonly path: (string | number)[] | null;
  /** Instants read so far: the documents of a file repeat them. */
  readonly instants: Map<string, Instant>;
}

/** Reports what is wrong with the member `key`, and gives `instead`. */
export function reportProblem<T>(context: ReadContext, key: string, wrong: string, instead: T): T {
  if (context.problem === null) context.problemPath = [...(context.path ?? [])];
  context.problem ??= `"${key}" ${wrong}`;
  return instead;
}

/** The members of a value, in the JSON object that stands around it. */
export function group<T extends object, W extends T = T>(members: Members<T, W>): Field<T> {
  const fields = Object.entries(members as Record<string, Codec<unknown> | Field<unknown>>).map(([name, it]) =>
    "put" in it ? { name, codec: null, field: it } : { name, codec: it, field: null },
  );
  return {
    put(into, value) {
      for (const { name, codec, field } of fields) {
        const part: unknown = (value as Record<string, unknown>)[name];
        if (codec === null) {
          field.put(into, part, value);
          continue;
        }
        const json = codec.write(part);
        if (json !== undefined) into[name] = json;
      }
    },
    take(from, context) {
      const value: Record<string, unknown> = {};
      for (const { name, codec, field } of fields) {
        const part = codec === null ? field.take(from, context) : readStep(codec, from[name], name, context);
        if (part !== undefined) value[name] = part;
      }
      return value as T;
    },
  };
}

/** One of several kinds, which `tag` names; each with its own members. */
export function unionOf<T extends { readonly kind: string }>(
  tag: string,
  kinds: { readonly [K in T["kind"]]: Members<Omit<Extract<T, { kind: K }>, "kind">> },
): Field<T> {
  const groups = new Map(Object.entries<Members<object>>(kinds).map(([kind, members]) => [kind, group(members)]));
  const kindCodec = oneOf([...groups.keys()]);
  return {
    put(into, value) {
      into[tag] = value.kind;
      groups.get(value.kind)?.put(into, value, value);
    },
    take(from, context) {
      const kind = readStep(kindCodec, from[tag], tag, context);
      return { kind, ...groups.get(kind)?.take(from, context) } as unknown as T;
    },
  };
}

/** A JSON object of its own, that is always there. */
export const object = <T extends object, W extends T = T>(members: Members<T, W>): Codec<T, W> =>
  objectOf(group(members));

/** A JSON object of its own, for what is described as a part of one. */
export function objectOf<T, W extends T = T>(field: Field<T>): Codec<T, W> {
  return {
    write(value) {
      const into: Draft = {};
      field.put(into, value, value);
      return into;
    },
    read: (json, key, context) => field.take(objectIn(json, key, context), context),
  };
}

function objectIn(json: Json, key: string, context: ReadContext): JsonObject {
  if (isObject(json)) return json;
  return json === null ? nothing : reportProblem(context, key, "is not an object", nothing);
}

const nothing: JsonObject = {};

/** Reads what stands one step deeper. */
function readStep<T>(
  { read }: Codec<T, never>,
  json: Json | undefined,
  step: string | number,
  context: ReadContext,
  key: string = step as string,
): T {
  const { path } = context;
  if (path === null) return read(json ?? null, key, context);
  path.push(step);
  const value = read(json ?? null, key, context);
  path.pop();
  return value;
}

/** Reads what stands at those steps of where reading is: problems are found there. */
export function readWithin<T>(steps: readonly (string | number)[], { path }: ReadContext, read: () => T): T {
  path?.push(...steps);
  const value = read();
  path?.splice(-steps.length);
  return value;
}

/** A member that stands at that path of the object: under another name, or deeper. What is left out leaves nothing behind. */
export function at<T>(path: readonly string[], codec: Codec<T>): Field<T> {
  const [first = "", ...rest] = path;
  if (rest.length > 0) return atStep(first, at(rest, codec));
  return {
    put(into, value) {
      const json = codec.write(value);
      if (json !== undefined) into[first] = json;
    },
    take: (from, context) => readStep(codec, from[first], first, context),
  };
}

function atStep<T>(step: string, { put, take }: Field<T>): Field<T> {
  return {
    put(into, value) {
      const known = into[step];
      const part: Draft = known === undefined ? {} : (known as Draft);
      put(part, value, null);
      if (known === undefined && Object.keys(part).length > 0) into[step] = part;
    },
    take(from, context) {
      const part = from[step];
      const object = isObject(part) ? part : nothing;
      return context.path === null ? take(object, context) : readWithin([step], context, () => take(object, context));
    },
  };
}

/** Members that are there all together, or not at all: there is something at `path` when they are. */
export const groupIfAt = <T extends object>(path: readonly [string, string], members: Members<T>): Field<T | null> =>
  groupIf((from) => isObject(from[path[0]]) && Object.hasOwn(from[path[0]] as JsonObject, path[1]), group(members));

/** Members that are there all together, or not at all. */
export const groupIf = <T>(isThere: (from: JsonObject) => boolean, field: Field<T>): Field<T | null> => ({
  put(into, value) {
    if (value !== null) field.put(into, value, value);
  },
  take: (from, context) => (isThere(from) ? field.take(from, context) : null),
});

/** A member that follows from what is written anyway. */
export const derived = <T>(take: (from: JsonObject) => T): Field<T> => ({ put: () => {}, take });

/** Null is left out. */
export const nullable = <T, W = T>({ write, read }: Codec<T, W>): Codec<T | null, W | null> => ({
  write: (value) => (value === null ? undefined : write(value)),
  read: (json, key, context) => (json === null ? null : read(json, key, context)),
});

/** Null is written as such. */
export const orNull = <T>(codec: Codec<T>): Codec<T | null> => ({
  ...nullable(codec),
  write: (value) => (value === null ? null : codec.write(value)),
});

/** A member that a value may lack. */
export const optional = <T>({ write, read }: Codec<T>): Codec<T | undefined> => ({
  write: (value) => (value === undefined ? undefined : write(value)),
  read: (json, key, context) => (json === null ? undefined : read(json, key, context)),
});

/** What is left out reads as `value`, and `value` is left out unless it `isWritten`. */
export const or = <T extends string | number>(value: T, { write, read }: Codec<T>, isWritten = false): Codec<T> => ({
  write: (it) => (it === value && !isWritten ? undefined : write(it)),
  read: (json, key, context) => (json === null ? value : read(json, key, context)),
});

/** A value that is written as another one. */
export const converted = <T, F, W = T, FW = F>(
  { write, read }: Codec<F, FW>,
  to: (value: W) => FW,
  from: (value: F, key: string, context: ReadContext) => T,
): Codec<T, W> => ({
  write: (value) => write(to(value)),
  read: (json, key, context) => from(read(json, key, context), key, context),
});

const none: readonly never[] = [];

/** A list; one that is left out is empty. */
export const listOf = <T, W = T>(item: Codec<T, W>): Codec<readonly T[], readonly W[]> => ({
  write: (values) => values.map((it) => item.write(it) ?? null),
  read(json, key, context) {
    if (json === null) return none;
    if (!Array.isArray(json)) return reportProblem(context, key, "is not a list", []);
    return json.length === 0 ? none : json.map((it: Json, index) => readStep(item, it, index, context, key));
  },
});

/** An object or a list that is left out when nothing is in it. */
export const unlessEmpty = <T, W = T>({ write, read }: Codec<T, W>): Codec<T, W> => ({
  write(value) {
    const json = write(value);
    return json === undefined || Object.keys(json as JsonObject).length === 0 ? undefined : json;
  },
  read,
});

/** A list that is left out when it is empty, as KubeFleet does. */
export const listIfAny = <T, W = T>(item: Codec<T, W>): Codec<readonly T[], readonly W[]> => {
  const { write, read } = listOf(item);
  return { read, write: (values) => (values.length === 0 ? undefined : write(values)) };
};

/** A list in which no two items have the same key; `wrong` says so. */
export const distinct = <T>(
  items: Codec<readonly T[]>,
  keyOf: (item: T) => string,
  wrong: string,
): Codec<readonly T[]> =>
  converted(
    items,
    (all) => all,
    (all, key, context) =>
      new Set(all.map(keyOf)).size === all.length ? all : reportProblem(context, key, wrong, all),
  );

/** An object of which each member is an entry. It is read in the order of the keys. */
export const mapOf = <K extends string, V>(value: Codec<V>): Codec<ReadonlyMap<K, V>> => ({
  write(map) {
    const into: Draft = {};
    for (const [key, it] of map) into[key] = value.write(it) ?? null;
    return into;
  },
  read(json, key, context) {
    const from = objectIn(json, key, context);
    const keys = Object.keys(from).sort(compareText) as K[];
    return new Map(keys.map((it) => [it, readStep(value, from[it], it, context)]));
  },
});

/** A text that is one of `choices`; the first of them stands in for any other. */
export const oneOf = <T extends string>(choices: readonly T[]): Codec<T> => ({
  write: (value) => value,
  read: (json, key, context) =>
    choices.find((it) => it === json) ??
    reportProblem(context, key, json === null ? "is missing" : `is not one of ${choices.join(", ")}`, choices[0] as T),
});
