import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from "yaml";
import type { Json } from "../model/json.ts";
import {
  composeYaml,
  maxDepth,
  maxTokens,
  syntaxProblems,
  tooDeep,
  tooDeepToRead,
  tooLongToRead,
  tooManyProblems,
  unrendered,
} from "./compose.ts";
import { plainProblems } from "./plain-problems.ts";
import { offsetInPlain, type PlainPositions, positionsInPlain, readPlainYaml } from "./plain-yaml.ts";
import { ambiguityProblem, duplicateKey, maxTextProblems, type ProblemText, refused } from "./problem-text.ts";
import { isError, type JsonPath, maxProblems, type TextProblem } from "./problems.ts";
import { plainScalar } from "./scalar.ts";
import { characterProblems, type PositionOf, type TextSlice } from "./text.ts";

/** One document of a file. */
export interface YamlDocument {
  /** Where the root begins; null when there is only white space and comments, or when the text is beyond reading. */
  readonly begin: number | null;
  /** What could be read; null where nothing could. To be trusted only as far as `textProblems` allow. */
  readonly value: Json;
  readonly textProblems: readonly TextProblem[];
  /** The library's tree, where it was the library that read the text. */
  readonly tree: Node | null;
  /** Where the value at a path is, or its key; the nearest thing around it when it is missing. */
  readonly offsetOf: (path: JsonPath, on: "key" | "value") => number;
  /** How many tokens the library read. */
  readonly tokens: number;
}

/** How many values one document may hold. */
const maxValues = 50_000;

/**
 * Reads one YAML document as kubectl does, strictly: whatever two readers could read differently is an error.
 *
 * Nearly every text is plain: {@link readPlainYaml} reads those, twenty times as fast as the library, which reads all
 * others, of up to `most` tokens.
 */
export function readYaml(slice: TextSlice, positionOf: PositionOf, most = maxTokens): YamlDocument {
  const { text } = slice;
  const plain = readPlainYaml(text);
  if (plain === null) return readAnyYaml(slice, positionOf, most);
  const { begin, value } = plain;
  let positions: PlainPositions | null = plain.isDoubtful ? positionsInPlain(text) : null;
  const textProblems = positions === null ? [] : plainProblems(positions, positionOf);
  const offsetOf = (path: JsonPath, on: "key" | "value"): number => {
    if (path.length > 0) positions ??= positionsInPlain(text);
    return (positions && offsetInPlain(positions, path, on)) ?? begin ?? 0;
  };
  return { begin, value, textProblems, tree: null, offsetOf, tokens: 0 };
}

/**
 * Reads one YAML document through the library, whatever it holds.
 *
 * Refused are anchors, aliases, merge keys, tags, duplicate and non-text keys and what JSON cannot express
 * (`yaml/README.md#hostile-input`, `#b-05` … `#b-22`). Ambiguous scalars pass with a warning (`intent/README.md#e-1`). Never throws.
 */
export function readAnyYaml({ text }: TextSlice, positionOf: PositionOf, most = maxTokens): YamlDocument {
  const read = composeYaml(text, most);
  const bad = characterProblems(text);
  if (read === null) {
    const nothing = { begin: null, value: null, tree: null, offsetOf: () => 0 };
    return { ...nothing, textProblems: [tooDeepToRead], tokens: maxTokens };
  }
  const { parserErrors, second, cut } = read;
  // Bad characters make the parser fail in other places too.
  const relevant = bad.some(isError) ? [] : parserErrors;
  const surplus = second === null ? [] : [surplusDocument(second)];
  // An empty scalar is what the library makes of a text without content.
  const isEmpty = isScalar(read.root) && read.root.source === "" && read.root.type === "PLAIN";
  const root = isEmpty ? null : read.root;
  // Errors of the parser in a text that was cut are about the cut.
  const syntax = cut === null ? syntaxProblems(relevant, text) : [{ ...tooLongToRead, offset: cut }];
  const textProblems = [...bad, ...syntax, ...surplus];
  const walk: Walk = { positionOf, path: [], textProblems, values: 0, ambiguous: 0 };
  const value = jsonOf(root, walk);
  const begin = root === null ? null : startOf(root);
  const offsetOf = (path: JsonPath, on: "key" | "value"): number => (root === null ? 0 : offsetIn(root, path, on));
  return { begin, value, textProblems, tree: root, offsetOf, tokens: read.tokens };
}

function offsetIn(root: Node, path: JsonPath, on: "key" | "value"): number {
  let here: Node = root;
  let offset = startOf(here);
  for (const [depth, step] of path.entries()) {
    const isLast = depth === path.length - 1;
    if (isMap(here)) {
      const pair = (here.items as Pair<Node, Node | null>[]).find((it) => keyText(it.key) === step);
      if (pair === undefined) return offset;
      offset = startOf(on === "key" || !isLast || pair.value === null ? pair.key : pair.value);
      if (pair.value === null) return offset;
      here = pair.value;
    } else if (isSeq(here)) {
      const item: unknown = typeof step === "number" ? here.items[step] : undefined;
      if (item === undefined || item === null) return offset;
      here = item as Node;
      offset = startOf(here);
    } else return offset;
  }
  return offset;
}

interface Walk {
  readonly positionOf: PositionOf;
  readonly path: (string | number)[];
  readonly textProblems: TextProblem[];
  values: number;
  ambiguous: number;
}

function jsonOf(node: Node | null, walk: Walk): Json {
  if (node === null) return null;
  walk.values += 1;
  if (walk.values === maxValues + 1) addProblem(walk, node, tooManyValues);
  if (walk.values > maxValues) return null;
  if (isAlias(node)) return addProblem(walk, node, aliasUsed);
  if (node.anchor !== undefined) addProblem(walk, node, anchorUsed);
  if (node.tag !== undefined) addProblem(walk, node, { ...tagUsed, got: node.tag });
  if (isScalar(node)) return scalarOf(node, walk);
  if (walk.path.length >= maxDepth) return addProblem(walk, node, tooDeep);
  if (isSeq(node)) return node.items.map((item, at) => within(walk, at, () => jsonOf(item as Node | null, walk)));
  return isMap(node) ? objectOf(node.items as Pair<Node, Node | null>[], walk) : null;
}

function scalarOf(node: Node, walk: Walk): Json {
  if (!isScalar(node)) return null;
  const text = String(node.value ?? "");
  if (node.type !== "PLAIN") return text;
  const scalar = plainScalar(text);
  if (scalar.kind === "overflow") return addProblem(walk, node, { ...integerOverflow, got: text });
  if (scalar.kind === "unrepresentable") return addProblem(walk, node, { ...unrepresentable, got: text });
  if (typeof scalar.value !== "string") warnIfAmbiguous(text, scalar.value, node, walk);
  return scalar.value;
}

function warnIfAmbiguous(text: string, value: Json, node: Node, walk: Walk): void {
  const problem = ambiguityProblem(text, value);
  if (problem === null) return;
  walk.ambiguous += 1;
  if (walk.ambiguous <= maxProblems) addProblem(walk, node, problem);
}

function objectOf(pairs: readonly Pair<Node, Node | null>[], walk: Walk): Json {
  const object: Record<string, Json> = {};
  const firsts = new Map<string, Node>();
  for (const pair of pairs) {
    const key = keyOf(pair.key, walk);
    if (key === null) continue;
    walk.path.push(key);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, pair.key);
    else addProblem(walk, pair.key, duplicateKey(walk.positionOf(startOf(first)).line));
    if (key === "__proto__") addProblem(walk, pair.key, reservedKey);
    else if (first === undefined) object[key] = jsonOf(pair.value, walk);
    walk.path.pop();
  }
  return object;
}

/** The text of a key, or null for a key that cannot be used; what kubectl turns into text passes with a warning. */
function keyOf(node: Node, walk: Walk): string | null {
  if (isScalar(node) && node.anchor === undefined && node.tag === undefined) {
    if (node.type === "PLAIN" && node.value === "<<") return addProblem(walk, node, mergeKey);
    const text = keyText(node);
    if (
      typeof text === "string" &&
      /[\u0000-\u0008\u000e-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069]/.test(text)
    )
      return addProblem(walk, node, hiddenInKey);
    if (text === null)
      return within(walk, "?", () => addProblem(walk, node, { ...nonStringKey, got: String(node.value) }));
    if (node.type === "PLAIN" && text !== node.value) warnIfAmbiguous(String(node.value), text === "true", node, walk);
    return text;
  }
  if (isAlias(node) || (isScalar(node) && node.tag === undefined)) return addProblem(walk, node, anchorUsed);
  if (isMap(node) && node.flow === true) return addProblem(walk, node, unrendered);
  return within(walk, "?", () => addProblem(walk, node, isScalar(node) ? tagUsed : nonStringKey));
}

/** The name of a key: kubectl turns booleans into strings; numbers, null and collections cannot be keys. */
function keyText(node: Node): string | null {
  if (!isScalar(node)) return null;
  const text = String(node.value ?? "");
  if (node.type !== "PLAIN") return text;
  const scalar = plainScalar(text);
  if (scalar.kind !== "value") return null;
  if (typeof scalar.value === "boolean") return String(scalar.value);
  return typeof scalar.value === "string" ? scalar.value : null;
}

function within<T>(walk: Walk, step: string | number, visit: () => T): T {
  walk.path.push(step);
  const result = visit();
  walk.path.pop();
  return result;
}

/** Adds a problem at the current path. Gives null, since what is refused has no value. */
function addProblem(walk: Walk, node: Node, text: ProblemText): null {
  if (walk.textProblems.length === maxTextProblems) walk.textProblems.push(tooManyProblems);
  if (walk.textProblems.length > maxTextProblems) return null;
  const base = { severity: "error", got: null } as const;
  walk.textProblems.push({ ...base, ...text, offset: startOf(node), at: [...walk.path] });
  return null;
}

const startOf = (node: Node): number => node.range?.[0] ?? 0;

const surplusDocument = (offset: number): TextProblem => ({
  code: "FLT1022",
  severity: "error",
  offset,
  at: null,
  message: "a second document begins here without a --- line before it",
  got: null,
  fix: "put a --- line between documents",
});

const spellOut = "write the value out where it is used";
const quoteIt = "quote it if it is meant as a string";
const aliasUsed = refused("FLT1006", "aliases are not allowed", spellOut);
const anchorUsed = refused("FLT1006", "anchors and aliases are not allowed", spellOut);
const mergeKey = refused("FLT1006", "merge keys are not allowed", spellOut);
const untag = "remove the tag; quote the value if it is meant as a string";
const tagUsed = refused("FLT1007", "explicit tags are not allowed", untag);
const tooManyValues = refused("FLT1010", `more than ${maxValues} values in one document`, "split it");
const reservedKey = refused("FLT1017", "this key is reserved", "use another name");
const hiddenInKey = refused("FLT1003", "a key contains an invisible character", "remove the character");
const nonStringKey = refused("FLT1015", "a key is not a string", "put the key in quotes");
const integerOverflow = refused("FLT1013", "the integer does not fit into 64 bits", quoteIt);
const unrepresentable = refused("FLT1014", "JSON has no such number", quoteIt);
