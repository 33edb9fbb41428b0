import { parseAllDocuments } from "yaml";
import { isObject, type Json } from "../model/json.ts";
import { type InternPool, readCanonical } from "./canonical-read.ts";
import { isBounded } from "./compose.ts";

/** What a stream of YAML documents holds, or what is wrong with it. */
type YamlStream = { readonly documents: readonly Json[] } | { readonly error: string };

/** The values of a stream of YAML documents: ours at full speed, any other one with care. Comments are lost. */
export function readYamlStream(text: string, repeats?: InternPool): YamlStream {
  const canonical = readCanonical(text, repeats);
  if (canonical !== null) return { documents: canonical };
  if (!isBounded(text, maxForeignTokens))
    return { error: "it is not as flotilla writes it, and too long to be read otherwise" };
  try {
    return readForeign(text);
  } catch (error) {
    // Aliases that multiply, nesting that exhausts the stack: the library throws those.
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** What people edit by hand is much smaller. */
const maxForeignTokens = 40_000;

function readForeign(text: string): YamlStream {
  const documents: Json[] = [];
  for (const document of parseAllDocuments(text, { schema: "core", intAsBigInt: true, merge: false })) {
    const [first] = document.errors;
    if (first !== undefined) return { error: first.message.split("\n", 1)[0] ?? first.code };
    documents.push(narrowed(document.toJS({ maxAliasCount: 100 })));
  }
  return { documents };
}

/** Integers of up to 53 bits as numbers, as the canonical reader gives them. */
function narrowed(value: Json): Json {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(narrowed);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, narrowed(it)]));
}
