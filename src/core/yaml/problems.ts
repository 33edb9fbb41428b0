import type { Problem } from "../model/intent.ts";
import type { Json, JsonList, JsonObject } from "../model/json.ts";
import { compareText } from "../model/value.ts";

/** The path from a document's root to a value: keys and list indices. */
export type JsonPath = readonly (string | number)[];

/** The value at a path; undefined where there is none. */
export function valueAt(value: Json, path: JsonPath): Json | undefined {
  let here: Json | undefined = value;
  for (const step of path) {
    if (Array.isArray(here)) here = (here as JsonList)[Number(step)];
    else here = typeof here === "object" && here !== null ? (here as JsonObject)[step] : undefined;
  }
  return here;
}

/** A problem at a path in a value, whose line and file are not known yet. */
export interface FieldProblem {
  readonly code: ProblemCode;
  readonly severity: Problem["severity"];
  readonly at: JsonPath;
  /** Whether the key at `at` is meant, or the value there. */
  readonly on: "key" | "value";
  /** Without the field's name, which is put in front. */
  readonly message: string;
  /** The value there, shown unless the document is a Secret; null shows nothing. */
  readonly got: string | null;
  readonly fix: string;
}

export type FieldProblems = readonly FieldProblem[];

/** A problem at a line and column, whose file is not known yet. */
export type LocatedProblem = Omit<Problem, "path">;

type Args = readonly [code: ProblemCode, at: JsonPath, message: string, fix: string, got?: string | null];

export const error = (...args: Args): FieldProblem => fieldProblem("error", args);
export const warning = (...args: Args): FieldProblem => fieldProblem("warning", args);
export const note = (...args: Args): FieldProblem => fieldProblem("note", args);

const fieldProblem = (severity: Problem["severity"], [code, at, message, fix, got = null]: Args): FieldProblem => ({
  code,
  severity,
  at,
  on: "value",
  message,
  got,
  fix,
});

/** How many problems of one document are listed. */
export const maxProblems = 20;

export const isError = ({ severity }: { readonly severity: Problem["severity"] }): boolean => severity === "error";

/** A path as people write it: `spec.tolerations[0].key`. */
function pathText(path: JsonPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** A text on one line, cut to `limit` characters. */
function excerpt(text: string, limit = 80): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

/** The message of a problem: field, what is wrong, the value there. At most 1 KiB. */
export function problemMessage(
  { at, message, got }: Pick<FieldProblem, "at" | "message" | "got">,
  secret: boolean,
): string {
  const field = pathText(at);
  const shown = got === null ? "" : secret ? " (value not shown)" : ` (got ${excerpt(got)})`;
  return excerpt(`${field === "" ? "" : `${field}: `}${message}${shown}`, 1000);
}

/** Problems in the order in which they are listed: path, line, column, code, message. */
export const compareProblems = (a: Problem, b: Problem): number => compareText(a.path, b.path) || compareLocated(a, b);

export const compareLocated = (a: LocatedProblem, b: LocatedProblem): number =>
  a.line - b.line || a.column - b.column || compareText(a.code, b.code) || compareText(a.message, b.message);

/** One line for a terminal or a log: `placements/web.yaml:4:7: error FLT1302: what is wrong; what to do`. */
export function problemText({ path, line, column, severity, code, message, fix }: Problem): string {
  const place = line === 0 ? path : `${path}:${line}:${column}`;
  return `${place}: ${severity} ${code}: ${message}${fix === "" ? "" : `; ${fix}`}`;
}

/**
 * Every code that a Problem may have, and its meaning. Codes are stable: a meaning never moves to another code.
 *
 * FLT10xx text and YAML, FLT11xx files and paths, FLT12xx who may approve what (FLT1201 … FLT1222 are `core/trust`'s),
 * FLT13xx our own kinds, FLT14xx plain objects, FLT15xx what does not belong in a repository, FLT19xx what is
 * recognised and not supported yet (`yaml/README.md#hostile-input`).
 */
export const problemCodes = {
  FLT1001: "the file is not UTF-8",
  FLT1002: "a control character",
  FLT1003: "an invisible character that changes how a line looks",
  FLT1004: "a tab is used as indentation",
  FLT1005: "a duplicate key in a mapping",
  FLT1006: "an anchor, alias or merge key",
  FLT1007: "an explicit tag",
  FLT1008: "nested too deeply",
  FLT1009: "the file is too large",
  FLT1010: "too many documents or values in one file",
  FLT1011: "a word that kubectl reads as a boolean",
  FLT1012: "a number whose notation is not read as it looks",
  FLT1013: "an integer beyond 64 bits",
  FLT1014: "a number that JSON cannot hold",
  FLT1015: "a key that is not a string",
  FLT1016: "a line end that is neither LF nor CRLF",
  FLT1017: "a reserved key",
  FLT1018: "broken JSON",
  FLT1019: "an unrendered template",
  FLT1020: "a file without any document",
  FLT1021: "a byte order mark",
  FLT1022: "text that is not YAML",
  FLT1023: "a document that is not a Kubernetes object",
  FLT1024: "more problems than are listed",
  FLT1025: "an unresolved merge conflict",
  FLT1101: "a symbolic link",
  FLT1102: "a submodule",
  FLT1103: "a path that not every system can hold",
  FLT1104: "two paths that are the same on some systems",
  FLT1105: "a pointer to a large file instead of its content",
  FLT1110: "a root without any object",
  FLT1223: "more approvals required than there are principals",
  FLT1224: "a malformed timestamp",
  FLT1226: "a weak key",
  FLT1227: "a malformed key, or one of an unknown kind",
  FLT1228: "a key that occurs twice",
  FLT1229: "a private key in the repository",
  FLT1230: "an unknown principal",
  FLT1231: "a principal that is not human where a human is required",
  FLT1232: "a principal without any key",
  FLT1233: "a wildcard or an option where a name or a key is required",
  FLT1234: "a trust file that is more than one document, or too large",
  FLT1237: "a trust folder without its root.yaml",
  FLT1238: "more signatures under a trust file than count",
  FLT1239: "a rule that all, or too few, of its principals can meet",
  FLT1300: "a required field is missing",
  FLT1301: "an unknown field, kind or version",
  FLT1302: "a value of the wrong type or out of range",
  FLT1303: "not a usable number or percentage",
  FLT1304: "fields that do not go with the placement type",
  FLT1305: "a malformed label, selector, taint or toleration",
  FLT1306: "a property selector or sorter where it is not allowed",
  FLT1307: "settings that do not go together",
  FLT1308: "the same entry twice in a list",
  FLT1309: "a malformed name",
  FLT1310: "a malformed duration or setting in an annotation",
  FLT1311: "a kind that cannot be selected here",
  FLT1312: "a wait that is not a duration above zero",
  FLT1313: "tasks of a stage that do not go together",
  FLT1314: "a run, an eviction or a budget refers to something that is missing or does not suit it",
  FLT1315: "an immutable field has changed",
  FLT1316: "two documents define one object",
  FLT1317: "stages that do not suit the clusters of the fleet",
  FLT1320: "a malformed patch path",
  FLT1321: "a reserved name in a patch path",
  FLT1325: "a patch value that does not go with its operation",
  FLT1330: "a patch of a field that cannot be overridden",
  FLT1331: "two overrides of one object for one placement",
  FLT1332: "a malformed variable in an override",
  FLT1333: "an override without effect",
  FLT1334: "which placements an override applies to",
  FLT1335: "an unknown cluster",
  FLT1337: "an unknown placement",
  FLT1338: "too many overrides",
  FLT1339: "a patch that replaces a whole map",
  FLT1340: "a placement that matches no cluster",
  FLT1341: "a selector that selects nothing",
  FLT1342: "a selector of what another placement selects for the same clusters",
  FLT1343: "an override that fails on a cluster",
  FLT1344: "an override that is not tried on every cluster",
  FLT1345: "a placement of which nothing is placed for what an envelope holds",
  FLT1350: "settings, a confirmation or an approval in the wrong place",
  FLT1401: "the identity of an object cannot be read",
  FLT1402: "a List inside a List",
  FLT1403: "a reserved namespace",
  FLT1404: "something that its tenant is not granted",
  FLT1405: "a field that only a server may write",
  FLT1406: "data of a Secret that is not base64",
  FLT1407: "annotations larger than Kubernetes allows",
  FLT1411: "a hook, which is not run here",
  FLT1412: "a namespaced object without a namespace",
  FLT1413: "a cluster-scoped object with a namespace",
  FLT1414: "a label or annotation that only Flotilla may set",
  FLT1415: "a malformed CustomResourceDefinition",
  FLT1416: "an object that its envelope may not wrap",
  FLT1509: "credentials in the repository",
  FLT1510: "Secrets in plain text",
  FLT1900: "a kind that is not supported yet",
  FLT1901: "a field that is not supported yet",
  FLT1903: "a file of another tool",
  FLT1904: "an envelope of the old kind",
  FLT1905: "a file that is encrypted with SOPS",
  FLT1910: "an old version of a kind",
} as const;

export type ProblemCode = keyof typeof problemCodes;

/** A problem at an offset in a text. */
export interface TextProblem {
  readonly code: ProblemCode;
  readonly severity: Problem["severity"];
  readonly offset: number;
  /** The path to the value; null when the text itself is broken there, so that nothing after it can be trusted. */
  readonly at: JsonPath | null;
  readonly message: string;
  readonly got: string | null;
  readonly fix: string;
}
