// What code and tests cite: anchors of the rooms' pages (`src/README.md`, citations).
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The README.md of one folder. Citations call it by the folder's name alone, so no two pages have the same. */
interface Page {
  readonly name: string;
  readonly file: string;
  readonly anchors: readonly string[];
  readonly cases: readonly Case[];
  /** `B 22`: what we do otherwise than KubeFleet. */
  readonly differences: readonly string[];
}

/** Something that a test has to show: `R12`, `I-06`. What we do differently (`B 22`) is none. */
interface Case {
  readonly label: string;
  readonly isBuilt: boolean;
}

interface Source {
  readonly file: string;
  readonly text: string;
}

/** Pages that stand outside of the repository: nobody who reads it has them. Standards have paragraphs, too. */
const papers = /\bRULINGS\b|\bspec\/(?:[a-z]+\.md)?`|\b(?:security|libs|style|DESIGN)\.md\b|\bshared\//;
const standards = /\b(?:RFC|KEP-)\s?\d+|PROTOCOL/;

const pages = filesBelow(["src", "test"], /(^|\/)README\.md$/).map(pageOf);
const sources = filesBelow(["src", "test"], /\.ts$/).filter(({ file }) => file !== "test/citations.ts");
const anchorsOf = new Map(pages.map((it) => [it.name, new Set(it.anchors)]));

/** Anchors that stand on a page twice, and pages of one name: a citation could mean either. */
export function ambiguousAnchors(): readonly string[] {
  return [
    ...repeated(pages.map((it) => it.name)).map((it) => `two pages are called ${it}/README.md`),
    ...pages.flatMap(({ file, anchors }) => repeated(anchors).map((it) => `${file}: #${it} is there twice`)),
  ];
}

/** Citations that lead nowhere, in code, in tests and on the pages themselves. */
export function lostCitations(): readonly string[] {
  return [
    ...sources.flatMap(({ file, text }) => commentsOf(text).flatMap((it) => lostIn(file, it))),
    ...sources.filter(isTest).flatMap(({ file, text }) => lostIds(file, text)),
    ...pages.flatMap(lostLinks),
  ];
}

/** Cases of the pages that no test names, and that are not marked as not built or not tested either. */
export function uncitedCases(): readonly string[] {
  const tests = sources.filter(isTest).map(({ file, text }) => ({ room: roomOf(file), cited: idsIn(text) }));
  return pages.flatMap(({ name, file, cases }) =>
    cases
      .filter(
        ({ label, isBuilt }) => isBuilt && !tests.some((it) => it.cited.has(label) && homeOf(label, it.room) === name),
      )
      .map(({ label }) => `${file}: no test names ${label}; write one, or mark it as not built`),
  );
}

/** Citations of pages that the repository does not hold. */
export function foreignCitations(): readonly string[] {
  return sources.flatMap(({ file, text }) => {
    const lines = text.split("\n");
    return lines.flatMap((line, at) => {
      const isParagraph = /§\d/.test(line) && !standards.test(`${lines[at - 1] ?? ""} ${line}`);
      return isParagraph || papers.test(line)
        ? [`${file}:${at + 1}: cite an anchor of a room's README.md instead`]
        : [];
    });
  });
}

/** Ids where nobody can look them up: in what code says to people, in comments without their page, in the user's README.md. */
export function bareIds(): readonly string[] {
  const guide = { file: "README.md", text: readFileSync(join(root, "README.md"), "utf8") };
  return [guide, ...sources.filter((it) => !isTest(it))].flatMap(({ file, text }) =>
    (text.match(/\b(?:[ITFB]-\d{2}|V-[A-Z]+-\d{2})\b|(?<![\w.])[A-D] \d{1,2}(?![\w.%])/g) ?? []).map(
      (it) => `${file}: ${it} stands alone; cite its page, or say it in words`,
    ),
  );
}

const isTest = ({ file }: Source): boolean => file.startsWith("test/");

/** `` `rollout/README.md#b-22` ``; after one of these, `` `#b-4` `` in the same comment is of the same page. */
const citation = /`(?:([\w-]+)\/README\.md)?#([a-z][\w-]*)`/g;

function lostIn(file: string, comment: string): readonly string[] {
  let page: string | undefined;
  return [...comment.matchAll(citation)].flatMap(([whole, named, anchor = ""]) => {
    page = named ?? page;
    if (page === undefined) return [`${file}: ${whole} follows no citation that names a page`];
    return anchorsOf.get(page)?.has(anchor) ? [] : [`${file}: ${page}/README.md has no #${anchor}`];
  });
}

/** `U25` in a test is a case of its room, or of the one page that has it. */
function lostIds(file: string, text: string): readonly string[] {
  const room = roomOf(file);
  const kinds = new Set(pages.flatMap((it) => (it.name === room ? it.cases.map(({ label }) => kindOf(label)) : [])));
  // Where it names what is shown: at the beginning of a title or of a row.
  const first = text.match(/(?<=^|["'`(])(?:V-[A-Z]+-\d+|[A-Z]-\d{2}|[A-Z][1-9]\d?)(?=[:,; ]|"[,\])])/gm) ?? [];
  return [...first.filter((it) => kinds.has(kindOf(it))), ...(text.match(/\b[FIT]-\d{2}\b/g) ?? [])]
    .filter((it) => homeOf(it, room) === undefined)
    .concat(
      [...text.matchAll(difference)].flatMap(([it, kind, number]) => (isDifference(`${kind} ${number}`) ? [] : [it])),
    )
    .map((it) => `${file}: no page, or more than one, has the case ${it}`);
}

/** `B 22`: where we differ. Only one page has it. */
const difference = /(?<![\w.])([A-E]) (\d{1,2})(?![\w.%])/g;

const isDifference = (label: string): boolean => pages.filter((it) => it.differences.includes(label)).length === 1;

function homeOf(label: string, room: string): string | undefined {
  const homes = pages.filter((it) => it.cases.some((one) => one.label === label)).map((it) => it.name);
  return homes.includes(room) ? room : homes.length === 1 ? homes[0] : undefined;
}

const kindOf = (label: string): string => label.replace(/\d+$/, "");

const id = /\b(?:V-[A-Z]+-\d+|[A-Z]-\d{2,3}|[A-Z][1-9]\d?)\b/g;

/** Every id of a text; `U2 to U5` is four of them. */
function idsIn(text: string): ReadonlySet<string> {
  const ids = new Set(text.match(id));
  for (const [, kind = "", first, , last] of text.matchAll(/\b([A-Z]+-?)(\d+)( to |–|-)\1(\d+)\b/g)) {
    const width = first?.length ?? 0;
    for (let at = Number(first); at <= Number(last); at++) ids.add(`${kind}${String(at).padStart(width, "0")}`);
  }
  return ids;
}

/** Comments, one by one: a run of line comments is one. Citations stand nowhere else. */
const commentsOf = (text: string): readonly string[] =>
  text.match(/\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|\/\/ .*/gm) ?? [];

function pageOf({ file, text }: Source): Page {
  const rows = text.split(/\n(?=[-*|\n#]|\d+\. )/);
  return {
    name: basename(dirname(file)),
    file,
    anchors: [
      ...[...text.matchAll(/<a id="([^"]+)">/g)].map((it) => it[1] ?? ""),
      ...[...text.matchAll(/^#+ (.+)$/gm)].map((it) => slugOf(it[1] ?? "")),
    ],
    differences: [...text.matchAll(/<a id="[a-e]-\d+"><\/a>([A-E] \d+)/g)].map((it) => it[1] ?? ""),
    cases: rows.flatMap((row) =>
      [...row.matchAll(/<a id="([^"]+)"><\/a>([A-Z][\w-]*)(?! \d)/g)].flatMap(([, anchor, label = ""]) =>
        anchor === label.toLowerCase() ? [{ label, isBuilt: !/not (built|tested)/i.test(row) }] : [],
      ),
    ),
  };
}

/** The anchor that GitHub gives a heading. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** Links of a page to itself and to other pages. */
function lostLinks({ name, file }: Page): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/\]\(([^)#]*)#([\w-]+)\)/g)].flatMap(([, path = "", anchor = ""]) => {
    const page = path === "" ? name : basename(dirname(join(dirname(file), path)));
    return anchorsOf.get(page)?.has(anchor) ? [] : [`${file}: ${path}#${anchor} leads nowhere`];
  });
}

/** The folder whose page a file's ids are of. */
function roomOf(file: string): string {
  const parts = dirname(file).split("/");
  const name = parts[1] === "core" || parts[1] === "shell" ? parts[2] : parts[1];
  return name ?? "";
}

function filesBelow(folders: readonly string[], name: RegExp): readonly Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((it) => `${folder}/${it.replaceAll("\\", "/")}`)
      .filter((it) => name.test(it))
      .sort()
      .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") })),
  );
}

const repeated = (names: readonly string[]): readonly string[] => [
  ...new Set(names.filter((it, at) => names.indexOf(it) !== at)),
];
