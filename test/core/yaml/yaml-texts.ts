import type { Random } from "../intent/random.ts";

/**
 * A YAML text as somebody might have written it: the styles of scalars and collections that manifests use, with
 * indentation, blank lines and comments as they come, and rarely something that only YAML's own rules can tell.
 */
export function yamlText(random: Random): string {
  const opening = random.below(6) === 0 ? random.pick(["---\n", "# first\n", "--- # why\n", "\n\n"]) : "";
  const text = `${opening}${mapping(random, 0, 1 + random.below(4)).join("\n")}`;
  return random.below(8) === 0 ? text : `${text}\n`;
}

/** The text with one to three of the errors that people and tools make. */
export function mutated(text: string, random: Random): string {
  let result = text;
  for (let parserErrors = 1 + random.below(3); parserErrors > 0; parserErrors -= 1)
    result = random.pick(slipsOf)(result, random);
  return result;
}

type Slip = (text: string, random: Random) => string;

const slipsOf: readonly Slip[] = [
  (text, { below }) => spliced(text, below(text.length + 1), 1, ""),
  (text, { below, pick }) => spliced(text, below(text.length + 1), 0, pick(oddities)),
  (text, { below, pick }) => spliced(text, below(text.length + 1), 1, pick(oddities)),
  (text, { below }) => text.slice(0, below(text.length)),
  (text, { below }) => swapped(text, below(text.length)),
  (text, random) => onLine(text, random, (line) => [indented(line, random)]),
  (text, random) => onLine(text, random, (line) => [line + random.pick(endings)]),
  (text, random) => onLine(text, random, (line) => [line.replace(/(?<=[:-] )/, random.pick(oddities))]),
  (text, random) => onLine(text, random, (line) => [line, random.pick(["", "  ", "# c", "      # c", "      ", line])]),
  (text, random) => onLine(text, random, () => []),
];

const spliced = (text: string, at: number, count: number, put: string): string =>
  text.slice(0, at) + put + text.slice(at + count);

const swapped = (text: string, at: number): string => spliced(text, at, 2, (text[at + 1] ?? "") + (text[at] ?? ""));

const indented = (line: string, { pick }: Random): string =>
  line.replace(/^ */, (it) => pick(["", " ", `${it} `, `${it}  `, it.slice(1), it.slice(2), it + it]));

function onLine(text: string, { below }: Random, edit: (line: string) => readonly string[]): string {
  const lines = text.split("\n");
  const at = below(lines.length);
  return [...lines.slice(0, at), ...edit(lines[at] ?? ""), ...lines.slice(at + 1)].join("\n");
}

const oddities = [
  ..." :-#\"'|>[]{},&*!%@`?\\~.=+_<\t\n0a",
  ..."\r\u0000\u0085\u00a0\u200b\u2028\ufeff\u00e9",
  ...["  ", ": ", " #", "- ", "? ", "\n ", "\n\n", "\r\n", "''", '""', "\\n", '\\"', "\\x41", "--", "---", "..."],
  ...["\n---\n", "<<: ", "*a", "&a ", "!!str ", "|\n", ">-\n", "|2\n", "{}", "[]", "{a: b}", "[a, b]", "{{ .x }}"],
  ...["%YAML 1.2\n", "yes", "null", "~", "010", "0x1F", "1_000", ".inf", "1e3", "-0", "9223372036854775808"],
  ...["__proto__", "\u{1f600}"],
];

const endings = [" ", "  # c", "#c", ":", " :", ",", " |", ": |", ": >-", " - a", "\t", "\\", '"', "'", ": a"];

function mapping(random: Random, indent: number, count: number): readonly string[] {
  const keys = Array.from({ length: count }, () => key(random));
  return keys.flatMap((it) => [
    ...(random.below(8) === 0 ? doubt(random) : []),
    ...entry(random, `${" ".repeat(indent)}${it}:`, indent),
  ]);
}

const list = (random: Random, indent: number, count: number): readonly string[] =>
  Array.from({ length: count }, () => entry(random, `${" ".repeat(indent)}-`, indent)).flat();

/** `head`, a key or a dash that stands at `indent`, and what belongs to it. */
function entry(random: Random, head: string, indent: number): readonly string[] {
  const { below, pick } = random;
  const isKey = head.endsWith(":");
  const inner = indent + pick([1, 2, 2, 2, 4]);
  const size = 1 + below(3);
  const kind = below(indent < 10 ? 12 : 7);
  if (kind === 0) return [head + pick(["", "", " ", " # none"])];
  if (kind === 1) return [`${head} ${pick(headers)}`, ...block(random, inner)];
  if (kind === 2) return [`${head} ${closed(random, 2)}${pick(ends)}`];
  if (kind < 7) return [`${head} ${unquoted(random)}${pick(ends)}`];
  if (kind === 7) return [head, ...doubt(random), ...list(random, isKey ? pick([indent, inner]) : inner, size)];
  if (kind < 10 || isKey) return [head, ...doubt(random), ...mapping(random, inner, size)];
  return inline(random, head, indent);
}

/** A collection that begins on the line of its dash. */
function inline(random: Random, dash: string, indent: number): readonly string[] {
  const { below, pick } = random;
  const gap = pick([1, 1, 1, 3]);
  const write = below(4) === 0 ? list : mapping;
  const [first, ...rest] = write(random, indent + 1 + gap, 1 + below(3));
  return [`${dash}${" ".repeat(gap)}${(first ?? "").trimStart()}`, ...rest];
}

const doubt = ({ pick }: Random): readonly string[] =>
  pick([[], [], [], [""], ["# c"], ["# c"], ["   "], ["   # c", ""]]);

const headers = ["|", "|", "|-", "|-", "|+", ">", ">-", ">+", "|  # why", "|2", "|1-", ">2"];
const ends = ["", "", "", "", "", " ", " # why"];

const block = ({ below, pick }: Random, indent: number): readonly string[] =>
  Array.from({ length: 1 + below(4) }, () => {
    const line = below(20) === 0 ? pick(["  further", " f", "\tx", "   "]) : pick(rows);
    return line === "" ? "" : `${" ".repeat(indent)}${line}`;
  });

const rows = [
  "text",
  "some more",
  "a: b",
  "# no comment",
  "- x",
  "",
  "",
  "key: 'v' # z",
  "x  ",
  "---",
  "a\tb",
  "caf\u00e9",
];

const key = ({ below, pick }: Random): string => {
  const kind = below(30);
  if (kind === 0) return pick(["$g", "h i", "yes", "1", "a", '"a\\tb"', "'it''s'", "~"]);
  return kind < 20
    ? `k${below(1000)}`
    : pick(["name", "app.kubernetes.io/name", '"a b"', "'c'", ".d", "x-y", "e_f", "a1"]);
};

const unquoted = ({ below, pick }: Random): string => {
  const kind = below(30);
  if (kind === 0) return pick(odd);
  return kind < 15 ? `v${below(1000)}` : pick(tame);
};

const tame = [
  ...[
    "web",
    "nginx:1.27",
    "64Mi",
    "100m",
    "https://a.example/b?c=d#e",
    "--flag=x",
    "-1",
    "3",
    "0.5",
    "true",
    "null",
    "~",
  ],
  ...[
    "a b  c",
    "it's",
    'say "x"',
    "a#b",
    "25%",
    "1.10",
    "1e3",
    ":80",
    "<none>",
    "2026-11-21",
    "12:30",
    "caf\u00e9",
    "a:b",
  ],
  ...["_1", "+1", ".5", "1.", "-.5", "(x)", "$(X)", "/etc/x", "a\\nb", "3.0", "9007199254740993", "a, b", "x}", "="],
];

const odd = [
  "{x",
  "-",
  "*",
  "yes",
  "0644",
  "0x",
  "0x1",
  "%",
  "@a",
  "`",
  "? a",
  ",",
  "a: b",
  "a:",
  "---",
  "...",
  "1_0",
  "a\tb",
];

function closed(random: Random, depth: number): string {
  const { below, pick } = random;
  const several = (one: () => string): string =>
    Array.from({ length: below(4) }, one).join(pick([", ", ", ", ",", " , "]));
  const gap = pick(["", "", " "]);
  const again = (): string => closed(random, depth - 1);
  if (depth > 0 && below(2) === 0) return `[${gap}${several(again)}${gap}]`;
  if (depth > 0 && below(2) === 0) return `{${gap}${several(() => `${key(random)}: ${again()}`)}${gap}}`;
  const quoted = below(20) === 0 ? pick(["\\u0041", "\\x41", "\\"]) : pick(quotables);
  return pick([unquoted(random), `"${quoted}"`, `'${quoted.replaceAll("'", "''")}'`]);
}

const quotables = [
  "",
  "a",
  "a: b",
  "x # y",
  "it's",
  "\\n",
  '\\"',
  "\\\\",
  "\\/",
  "\\t",
  "{{ .x }}",
  "a  ",
  "[",
  "1",
  "caf\u00e9",
];
