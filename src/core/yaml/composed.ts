import { Composer, type Document, Lexer, type Node, Parser } from "yaml";
import { slicesOf } from "./text.ts";

/** How deep mappings and lists may stand in each other. */
export const maxDepth = 64;

/**
 * How many tokens the library is handed at most, of one document and of all refused ones of a file.
 *
 * A token costs it some microseconds and some hundred bytes, whatever comes of the text. A manifest of 150 KB has so many,
 * and those that are written as nearly all are do not come here (`plain-yaml.ts`).
 */
export const maxTokens = 40_000;

/** Something that the library stumbled over: its own code, and where. Its words quote the text, and are not kept. */
export interface Slip {
  readonly code: string;
  readonly offset: number;
}

/** What the library makes of a text. */
export interface Composed {
  readonly root: Node | null;
  /** The first ones that it came upon. */
  readonly slips: readonly Slip[];
  /** Where a second document begins, or null. */
  readonly second: number | null;
  /** Where reading stopped since the text has more tokens than were allowed; null where it went to the end. */
  readonly cut: number | null;
  /** How many tokens were taken: the work that it was. */
  readonly tokens: number;
}

/**
 * Has the library read a text, up to its token number `most`; null for one that is nested so deeply that composing it
 * would exhaust the stack. Never throws; costs no more than so many tokens do.
 */
export function composed(text: string, most: number): Composed | null {
  const parser = new Parser();
  const parsed: Token[] = [];
  let tokens = 0;
  let cut: number | null = null;
  const wild: Slip[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    if (hasManyBadEscapes(lexeme)) wild.push({ code: "BAD_DQ_ESCAPE", offset: parser.offset });
    if (tokens >= most) cut = parser.offset;
    if (wild.length > 0 || cut !== null) break;
    tokens += 1;
    for (const token of parser.next(lexeme)) parsed.push(token);
    if (parser.stack.length > maxStack) return null;
  }
  parsed.push(...parser.end());
  const { slips, ...read } = compose(parsed, cut ?? text.length);
  return { ...read, tokens, cut, slips: [...wild, ...slips] };
}

/** One text may hold half a million of them, for each of which the library would write a message. */
function hasManyBadEscapes(lexeme: string): boolean {
  if (!lexeme.startsWith('"') || lexeme.length < maxSlips) return false;
  let found = 0;
  for (const _ of lexeme.matchAll(badEscape)) {
    found += 1;
    if (found > maxSlips) return true;
  }
  return false;
}

const badEscape = /(?<!\\)(?:\\\\)*\\[^0abtnvfreN_LPxuU \t\r\n"/\\]/g;

/** Whether a text may be handed to a reader of all of YAML: at most `most` tokens, and no more than a few slips. */
export function isBounded(text: string, most: number): boolean {
  let left = most;
  for (const slice of slicesOf(text)) {
    const read = composed(slice.text, left);
    if (read === null || read.cut !== null || read.slips.length > fewSlips) return false;
    left -= read.tokens;
  }
  return true;
}

const fewSlips = 20;

type Token = Parser["stack"][number];

/** Mappings in lists count twice in the parser's stack; far above {@link maxDepth}, far below what exhausts ours. */
const maxStack = 3 * maxDepth;

/** More than are ever shown, after they were put in order. */
const maxSlips = 500;

function compose(tokens: readonly Token[], length: number) {
  const slips: Slip[] = [];
  const note = (source: Place, code: string): void => {
    if (slips.length < maxSlips) slips.push({ code, offset: offsetOf(source) });
  };
  const composer = new Composer(options);
  // Its own makes an error with a trace for each of perhaps a million slips: a kilobyte and ten microseconds.
  Object.assign(composer, {
    onError: (source: Place, code: string, _: string, isWarning = false) => isWarning || note(source, code),
  });
  const kept: Token[] = [];
  let documents = 0;
  let second: number | null = null;
  for (const token of tokens) {
    if (token.type === "document") documents += 1;
    if (documents === 2) second ??= token.offset;
    // For these as well it would make errors of its own, one for each.
    if (token.type === "error" || (token.type === "doc-end" && documents === 0)) note(token, "UNEXPECTED_TOKEN");
    else if (documents < 2) kept.push(token);
  }
  const [document] = [...composer.compose(kept, true, length)] as Document.Parsed[];
  for (const { code, pos } of document?.errors ?? []) note(pos, code);
  return { root: document?.contents ?? null, slips, second };
}

/** How the library says where something is. */
type Place = number | readonly [number, number] | { readonly offset: number };

const offsetOf = (place: Place): number =>
  typeof place === "number" ? place : "offset" in place ? place.offset : place[0];

/** The failsafe schema leaves every scalar a text, so that `scalar.ts` alone decides what it is. */
const options = {
  schema: "failsafe",
  // Quadratic in the library; checked where its tree is walked.
  uniqueKeys: false,
  merge: false,
  prettyErrors: false,
  keepSourceTokens: false,
  logLevel: "silent",
} as const;
