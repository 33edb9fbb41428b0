import { maxTokens, type Slip } from "./composed.ts";
import type { Flaw } from "./flaw.ts";
import { maxFindings } from "./remark.ts";

/**
 * Says in our words what the YAML parser stumbled over, the first places first. Its own words are not used: they quote
 * the text, which may be a Secret's.
 *
 * What looks like a template that nobody rendered, or like JSON with a slip, is named as such: `status/README.md#b-23`,
 * `#b-24`.
 */
export function syntaxFlaws(slips: readonly Slip[], text: string): readonly Flaw[] {
  if (slips.length === 0) return [];
  const conflict = conflictIn(text);
  if (conflict !== null) return [{ ...unresolved, offset: conflict }];
  const ordered = [...slips].sort((a, b) => a.offset - b.offset).slice(0, maxFindings);
  const template = /\{\{-?[^{}\n]*\}\}/.exec(text);
  if (template !== null)
    return [{ ...textual, ...unrendered, offset: Math.min(template.index, ordered[0]?.offset ?? 0) }];
  const directive = /^%/m.exec(text);
  if (directive !== null) return [{ ...saying("BAD_DIRECTIVE", false), offset: directive.index }];
  const isJson = /^\s*[{[]/.test(text);
  return ordered.map(({ code, offset }) => ({ ...saying(code, isJson), offset }));
}

function saying(code: string, isJson: boolean): Omit<Flaw, "offset"> {
  if (code === "TAB_AS_INDENT") return tabbed;
  if (code === "RESOURCE_EXHAUSTION") return tooDeepToRead;
  if (isJson) return brokenJson;
  const [message, fix] = sayings[code] ?? ["this is not YAML", "check the lines above"];
  return { ...textual, code: "FLT1022", message, fix };
}

/** Where git left both sides of a merge for somebody to choose from; null where it did not. */
function conflictIn(text: string): number | null {
  const begin = /^<{7}(?: .*)?\r?$/m.exec(text);
  return begin !== null && /^={7}\r?$/m.test(text) ? begin.index : null;
}

const textual = { severity: "error", at: null, got: null } as const;

/** Also what `{{ .Values.x }}` is when it happens to be YAML: a mapping with a mapping for a key. */
export const unrendered = {
  code: "FLT1019",
  message: "this looks like a template that has not been rendered",
  fix: "commit what the template renders to",
} as const;

const unresolved = {
  ...textual,
  code: "FLT1025",
  message: "a merge conflict stands here that nobody resolved",
  fix: "choose one of the two sides, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>",
} as const;

const tabbed = {
  ...textual,
  code: "FLT1004",
  message: "tabs cannot indent YAML",
  fix: "indent with spaces",
} as const;

const brokenJson = {
  ...textual,
  code: "FLT1018",
  message: "this is neither JSON nor YAML",
  fix: "check brackets, commas and quotes; comments begin with #",
} as const;

/** For a mapping or list that stands too deep, where the rest of the document can still be read. */
export const tooDeep = {
  code: "FLT1008",
  message: "nested deeper than 64 levels",
  fix: "flatten it",
} as const;

/** For a text nested so deeply that it is not read at all. */
export const tooDeepToRead: Flaw = { ...textual, ...tooDeep, offset: 0 };

/** Where reading stopped in a document of too many tokens. */
export const tooLongToRead: Omit<Flaw, "offset"> = {
  ...textual,
  code: "FLT1010",
  message: `more than ${maxTokens} words and signs; what follows is not read`,
  fix: "split the document, or write it in the plain style of kubectl get -o yaml",
};

/** For a document with more flaws than anybody would repair one by one: none of it is believed. */
export const tooManyFlaws: Flaw = {
  ...textual,
  code: "FLT1010",
  message: "too many problems in one document",
  fix: "check whether this is YAML at all",
  offset: 0,
};

/** By the parser's code: what is wrong and what to do. */
const sayings: Readonly<Record<string, readonly [string, string]>> = {
  BAD_DIRECTIVE: ["directives are not allowed", "remove the line that begins with %"],
  BAD_DQ_ESCAPE: ["this escape does not exist in double quotes", "write \\\\ for a backslash, or use single quotes"],
  BAD_INDENT: ["this line is indented differently from its neighbours", "align it with them"],
  BAD_SCALAR_START: ["a value cannot begin with this character", "put the value in quotes"],
  BLOCK_AS_IMPLICIT_KEY: ["a second key stands in one line, or deeper than its neighbours", "check the indentation"],
  BLOCK_IN_FLOW: ["indented lines stand inside brackets", "use one style, brackets or indentation"],
  KEY_OVER_1024_CHARS: ["a key is longer than 1024 characters", "shorten it"],
  MISSING_CHAR: ["a closing quote, a bracket, a comma or a colon is missing before this", "add it"],
  MULTILINE_IMPLICIT_KEY: ["a key runs over several lines", "check the indentation and the colons"],
  UNEXPECTED_TOKEN: ["this was not expected here", "check the indentation and the quotes of the lines above"],
};
