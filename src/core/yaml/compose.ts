import { Composer, type Document, Lexer, type Node, Parser } from "yaml";
import { maxProblems, type TextProblem } from "./problems.ts";
import { linesIn, slicesOf } from "./text.ts";

/** How deeply mappings and lists may be nested. */
export const maxDepth = 64;

/**
 * How many tokens the library may read, of one document and of all refused ones of a file (`yaml/README.md#limits`).
 *
 * A token costs up to ten microseconds, most of it where its tree is composed, and some hundred bytes.
 */
export const maxTokens = 12_000;

/** Of a document that has more, how many are composed: enough to say which object it is. */
const headTokens = 2000;

/** An error of the library. Its message is left out: it quotes the text. */
interface ParserError {
  readonly code: string;
  readonly offset: number;
}

/** What the library read. */
interface Composed {
  readonly root: Node | null;
  readonly parserErrors: readonly ParserError[];
  /** Where a second document begins, or null. */
  readonly second: number | null;
  /** Where reading stopped, if the text has more tokens than allowed. */
  readonly cut: number | null;
  readonly tokens: number;
}

/**
 * Reads a text with the library; of one of more than `most` tokens, its beginning. Null for one that is nested so deeply
 * that it would exhaust the stack. Never throws.
 */
export function composeYaml(text: string, most: number): Composed | null {
  if (most <= 0) return { root: null, parserErrors: [], second: null, cut: 0, tokens: 0 };
  const { lexemes, tokens, cut, badEscapes } = lexemesOf(text, most);
  const parser = new Parser();
  const parsed: Token[] = [];
  for (const lexeme of cut === null ? lexemes : lexemes.slice(0, headTokens)) {
    for (const token of parser.next(lexeme)) parsed.push(token);
    if (parser.stack.length > maxStack) return null;
  }
  parsed.push(...parser.end());
  const { parserErrors, ...read } = compose(parsed, parser.offset);
  return { ...read, tokens, cut, parserErrors: [...badEscapes, ...parserErrors] };
}

/** The lexemes of a text, which cost little before they are parsed: `most` tokens, up to one with many bad escapes. */
function lexemesOf(text: string, most: number) {
  const lexemes: string[] = [];
  const read = { lexemes, tokens: 0, cut: null, badEscapes: [] };
  let offset = 0;
  let isBlock = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (hasManyBadEscapes(lexeme)) return { ...read, badEscapes: [{ code: "BAD_DQ_ESCAPE", offset }] };
    read.tokens += 1 + Math.floor(linesIn(lexeme) / (isBlock ? linesOfBlock : 1));
    if (read.tokens > most) return { ...read, tokens: most, cut: offset };
    lexemes.push(lexeme);
    if (marks.has(lexeme)) continue;
    offset += lexeme.length;
    isBlock = lexeme.startsWith("|") || lexeme.startsWith(">") || (isBlock && lexeme.trim() === "");
  }
  return read;
}

/** A scalar of many lines costs the library a token's time for each that it folds, and for so many that it keeps. */
const linesOfBlock = 8;

/** What the lexer puts between pieces of the text: a document, the end of broken brackets, a scalar. */
const marks: ReadonlySet<string> = new Set(["\u0002", "\u0018", "\u001f"]);

/** A text may have half a million of them, and the library would write a message for each. */
function hasManyBadEscapes(lexeme: string): boolean {
  if (!lexeme.startsWith('"') || lexeme.length < maxParserErrors) return false;
  let found = 0;
  for (const _ of lexeme.matchAll(badEscape)) {
    found += 1;
    if (found > maxParserErrors) return true;
  }
  return false;
}

const badEscape = /(?<!\\)(?:\\\\)*\\[^0abtnvfreN_LPxuU \t\r\n"/\\]/g;

/** Whether a full YAML parser may read a text: at most `most` tokens, and only a few errors. */
export function isBounded(text: string, most: number): boolean {
  let left = most;
  for (const slice of slicesOf(text)) {
    const read = composeYaml(slice.text, left);
    if (read === null || read.cut !== null || read.parserErrors.length > fewParserErrors) return false;
    left -= read.tokens;
  }
  return true;
}

const fewParserErrors = 20;

type Token = Parser["stack"][number];

/** Mappings in lists count twice in the parser's stack; far above {@link maxDepth}, far below what exhausts ours. */
const maxStack = 3 * maxDepth;

/** More than are ever shown. */
const maxParserErrors = 500;

function compose(tokens: readonly Token[], length: number) {
  const parserErrors: ParserError[] = [];
  const note = (source: Place, code: string): void => {
    if (parserErrors.length < maxParserErrors) parserErrors.push({ code, offset: offsetOf(source) });
  };
  const composer = new Composer(options);
  // The library's own handler makes an Error with a trace of each, a kilobyte and ten microseconds; there may be a million.
  Object.assign(composer, {
    onError: (source: Place, code: string, _: string, isWarning = false) => isWarning || note(source, code),
  });
  const first: Token[] = [];
  let documents = 0;
  let second: number | null = null;
  for (const token of tokens) {
    if (token.type === "document") documents += 1;
    if (documents === 2) second ??= token.offset;
    // The library would make an Error of each of these too.
    if (token.type === "error" || (token.type === "doc-end" && documents === 0)) note(token, "UNEXPECTED_TOKEN");
    else if (documents < 2) first.push(token);
  }
  const [document] = [...composer.compose(first, true, length)] as Document.Parsed[];
  for (const { code, pos } of document?.errors ?? []) note(pos, code);
  return { root: document?.contents ?? null, parserErrors, second };
}

/** How the library says where something is. */
type Place = number | readonly [number, number] | { readonly offset: number };

const offsetOf = (place: Place): number =>
  typeof place === "number" ? place : "offset" in place ? place.offset : place[0];

/** The failsafe schema leaves every scalar a string, so that `scalar.ts` decides what it is. */
const options = {
  schema: "failsafe",
  // Quadratic in the library; checked where its tree is walked.
  uniqueKeys: false,
  merge: false,
  prettyErrors: false,
  keepSourceTokens: false,
  logLevel: "silent",
} as const;

/**
 * Errors of the YAML parser in our words, in the order of the text. Its own messages quote the text, which may be a
 * Secret's.
 *
 * What looks like an unrendered template or like broken JSON is named as such: `status/README.md#b-23`, `#b-24`.
 */
export function syntaxProblems(parserErrors: readonly ParserError[], text: string): readonly TextProblem[] {
  if (parserErrors.length === 0) return [];
  const conflict = conflictIn(text);
  if (conflict !== null) return [{ ...unresolved, offset: conflict }];
  const ordered = [...parserErrors].sort((a, b) => a.offset - b.offset).slice(0, maxProblems);
  const template = /\{\{-?[^{}\n]*\}\}/.exec(text);
  if (template !== null)
    return [{ ...textual, ...unrendered, offset: Math.min(template.index, ordered[0]?.offset ?? 0) }];
  const directive = /^%/m.exec(text);
  if (directive !== null) return [{ ...messageFor("BAD_DIRECTIVE", false), offset: directive.index }];
  const isJson = /^\s*[{[]/.test(text);
  return ordered.map(({ code, offset }) => ({ ...messageFor(code, isJson), offset }));
}

function messageFor(code: string, isJson: boolean): Omit<TextProblem, "offset"> {
  if (code === "TAB_AS_INDENT") return tabbed;
  if (code === "RESOURCE_EXHAUSTION") return tooDeepToRead;
  if (isJson) return brokenJson;
  const [message, fix] = messages[code] ?? ["this is not YAML", "check the lines above"];
  return refused("FLT1022", message, fix);
}

/** Where git left the markers of a merge conflict. */
function conflictIn(text: string): number | null {
  const begin = /^<{7}(?: .*)?\r?$/m.exec(text);
  return begin !== null && /^={7}\r?$/m.test(text) ? begin.index : null;
}

const textual = { severity: "error", at: null, got: null } as const;

const refused = (code: TextProblem["code"], message: string, fix: string): Omit<TextProblem, "offset"> => ({
  ...textual,
  code,
  message,
  fix,
});

/** Also for `{{ .Values.x }}` where it happens to be YAML: a mapping with a mapping for a key. */
export const unrendered = {
  code: "FLT1019",
  message: "this looks like a template that has not been rendered",
  fix: "commit what the template renders to",
} as const;

const unresolved = refused(
  "FLT1025",
  "unresolved merge conflict",
  "keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>",
);

const tabbed = refused("FLT1004", "tabs cannot indent YAML", "indent with spaces");

const brokenJson = refused(
  "FLT1018",
  "this is neither JSON nor YAML",
  "check brackets, commas and quotes; comments begin with #",
);

/** For a mapping or list that is nested too deeply in a document that can be read. */
export const tooDeep = { code: "FLT1008", message: "nested deeper than 64 levels", fix: "flatten it" } as const;

/** For a text nested so deeply that it is not read at all. */
export const tooDeepToRead: TextProblem = { ...textual, ...tooDeep, offset: 0 };

/** Where reading stopped in a document of too many tokens. */
export const tooLongToRead = refused(
  "FLT1010",
  `more than ${maxTokens} tokens in one document; the rest is not read`,
  "split the document, or write it in the plain style of kubectl get -o yaml",
);

/** For a document with so many problems that it is not read. */
export const tooManyProblems: TextProblem = {
  ...refused("FLT1010", "too many problems in one document", "check whether this is YAML at all"),
  offset: 0,
};

/** By the parser's code: what is wrong and what to do. */
const messages: Readonly<Record<string, readonly [string, string]>> = {
  BAD_DIRECTIVE: ["directives are not allowed", "remove the line that begins with %"],
  BAD_DQ_ESCAPE: ["this escape does not exist in double quotes", "write \\\\ for a backslash, or use single quotes"],
  BAD_INDENT: ["this line is indented differently from its neighbours", "align it with them"],
  BAD_SCALAR_START: ["a value cannot begin with this character", "put the value in quotes"],
  BLOCK_AS_IMPLICIT_KEY: [
    "a second key is on the same line, or indented further than its neighbours",
    "check the indentation",
  ],
  BLOCK_IN_FLOW: ["indented lines inside brackets", "use one style, brackets or indentation"],
  KEY_OVER_1024_CHARS: ["a key is longer than 1024 characters", "shorten it"],
  MISSING_CHAR: ["a closing quote, a bracket, a comma or a colon is missing before this", "add it"],
  MULTILINE_IMPLICIT_KEY: ["a key runs over several lines", "check the indentation and the colons"],
  UNEXPECTED_TOKEN: ["unexpected text", "check the indentation and the quotes of the lines above"],
};
