// The house rules, as a test: who may import whom, which words may not be said, how large things may get.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ambiguousAnchors, bareIds, foreignCitations, lostCitations, uncitedCases } from "./citations.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What every command may use: what it reads, decides and says is in the core, what it opens in `cmd/hub`. */
const commands = [
  "core/model",
  "core/yaml",
  "core/intent",
  "core/intent/kinds",
  "core/intent/trust",
  "core/report",
  "shell/reconcile",
  "cmd/terminal",
  "cmd/edits",
  "cmd/hub",
  "npm:commander",
  "node:*",
];

/** One folder for each noun that commands are about. */
const folders = ["approvals", "clusters", "demo", "reconcile", "record", "runs", "trust"].map(
  (it) => `cmd/commands/${it}`,
);

/** What adapters implement, and what they throw. */
const ports = ["shell/reconcile/ports.ts", "shell/reconcile/fault.ts"];

/**
 * Who may import whom (`src/README.md`). A room may always import itself. A value may be a room, one file of a room,
 * an npm package (`npm:`) or a module of Node (`node:`; `node:*` stands for all of them).
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  "core/model": [],
  "core/yaml": ["core/model", "npm:yaml"],
  "core/intent/kinds": ["core/model", "core/rollout/tasks", "core/yaml", "npm:ajv", "schemas"],
  "core/intent/trust": ["core/model", "core/yaml", "core/intent/kinds", "npm:yaml", "schemas"],
  "core/intent/tenants": ["core/model", "core/yaml", "core/intent/kinds"],
  "core/intent": [
    "core/model",
    "core/yaml",
    "core/intent/kinds",
    "core/intent/trust",
    "core/intent/tenants",
    "npm:yaml",
  ],
  "core/ledger/codec": ["core/model"],
  "core/ledger": [
    "core/model",
    "core/yaml",
    "core/intent",
    "core/intent/trust",
    "core/ledger/codec",
    "core/rollout/tasks",
  ],
  "core/schedule/framework": ["core/model"],
  "core/schedule/plugins": ["core/model", "core/schedule/framework"],
  "core/schedule": ["core/model", "core/schedule/framework", "core/schedule/plugins"],
  "core/hub": ["core/model", "core/ledger", "core/ledger/codec", "core/schedule", "core/schedule/framework"],
  "core/render": ["core/model", "npm:fast-json-patch"],
  "core/rollout/tasks": ["core/model", "core/yaml", "core/ledger/codec", "schemas"],
  "core/rollout": ["core/model", "core/rollout/tasks"],
  "core/health": ["core/model"],
  "core/apply": ["core/model"],
  "core/status": ["core/model", "core/rollout/tasks"],
  "core/trust": ["core/model"],
  "core/members": ["core/model"],
  "core/plan/facts": ["core/model", "core/members", "core/apply", "core/render"],
  "core/plan/moves": [
    "core/model",
    "core/schedule/framework",
    "core/render",
    "core/rollout",
    "core/status",
    "core/plan/facts",
  ],
  "core/plan/authors": ["core/model", "core/render", "core/rollout", "core/trust", "core/plan/moves"],
  "core/plan/approval": [
    "core/model",
    "core/rollout/tasks",
    "core/render",
    "core/rollout",
    "core/trust",
    "core/plan/moves",
    "core/plan/authors",
  ],
  "core/plan/guard": [
    "core/model",
    "core/render/resource-snapshot.ts",
    "core/trust",
    "core/plan/moves",
    "core/plan/approval",
  ],
  "core/plan/runs": [
    "core/model",
    "core/rollout/tasks",
    "core/render",
    "core/rollout",
    "core/status",
    "core/trust",
    "core/plan/moves",
    "core/plan/authors",
    "core/plan/approval",
    "core/plan/guard",
  ],
  "core/plan/placement": [
    "core/model",
    "core/schedule",
    "core/schedule/framework",
    "core/render",
    "core/rollout",
    "core/status",
    "core/plan/facts",
    "core/plan/moves",
    "core/plan/approval",
    "core/plan/guard",
    "core/plan/runs",
  ],
  "core/plan": [
    "core/model",
    "core/schedule",
    "core/schedule/framework",
    "core/render",
    "core/rollout",
    "core/apply",
    "core/status",
    "core/trust",
    "core/plan/facts",
    "core/plan/moves",
    "core/plan/approval",
    "core/plan/guard",
    "core/plan/runs",
    "core/plan/placement",
  ],
  "core/check": ["core/model"],
  "core/decide": ["core/model", "core/plan", "core/check"],
  "core/report": [
    "core/model",
    "core/rollout/tasks",
    "core/yaml",
    "core/intent",
    "core/intent/trust",
    "core/ledger",
    "core/schedule",
    "core/schedule/framework",
    "core/status",
    "core/trust",
    "core/plan/moves",
    "core/plan/approval",
    "core/plan/guard",
    "npm:diff",
  ],
  "core/audit": [
    "core/model",
    "core/render",
    "core/rollout",
    "core/schedule",
    "core/schedule/framework",
    "core/trust",
    "core/plan/moves",
    "core/plan/approval",
    "core/plan/authors",
    "core/plan/placement",
    "core/check",
  ],
  "core/forecast": [
    "core/model",
    "core/rollout/tasks",
    "core/render",
    "core/apply",
    "core/health",
    "core/status",
    "core/plan",
    "core/plan/moves",
    "core/decide",
    "core/report",
  ],
  "shell/reconcile": [
    "core/model",
    "core/rollout/tasks",
    "core/yaml",
    "core/intent",
    "core/intent/kinds",
    "core/intent/trust",
    "core/ledger",
    "core/status",
    "core/plan",
    "core/plan/approval",
    "core/plan/authors",
    "core/decide",
    "core/report",
    "core/audit",
  ],
  "shell/reconcile/verify": [
    "core/model",
    "core/ledger",
    "core/plan",
    "core/plan/approval",
    "core/report",
    "core/audit",
    "shell/reconcile",
  ],
  "shell/git/model": ["core/model", ...ports, "node:buffer", "node:crypto"],
  "shell/git/program": ["core/model", ...ports, "shell/git/model", "shell/host", "node:*"],
  "shell/git/iso": ["core/model", ...ports, "shell/git/model", "npm:isomorphic-git", "node:*"],
  "shell/git/author": ["core/model", ...ports, "shell/git/model", "node:*"],
  "shell/git": [...ports, "shell/git/model", "shell/git/program", "shell/git/iso", "npm:chokidar", "node:*"],
  "shell/kube/client": ["core/model", ...ports, "shell/host", "npm:@kubernetes/client-node", "npm:yaml", "node:*"],
  "shell/kube/inventory": ["core/model", "shell/kube/client"],
  "shell/kube/watch": [
    "core/model",
    "core/members",
    "core/apply",
    "core/health",
    ...ports,
    "shell/kube/client",
    "shell/kube/inventory",
    "node:events",
  ],
  "shell/kube/apply": [
    "core/model",
    "core/apply",
    ...ports,
    "shell/kube/client",
    "shell/kube/inventory",
    "shell/kube/watch",
    "npm:fast-json-patch",
  ],
  "shell/kube": ["core/model", ...ports, "shell/kube/client", "shell/kube/watch", "shell/kube/apply"],
  "shell/embedded/api": ["core/model"],
  "shell/embedded/apply": ["core/model", "shell/embedded/api", "npm:fast-json-patch"],
  "shell/embedded/storage": ["core/model", "shell/embedded/api", "node:crypto"],
  "shell/embedded/admission": ["core/model", "shell/embedded/api", "shell/embedded/storage"],
  "shell/embedded/registry": [
    "core/model",
    "shell/embedded/api",
    "shell/embedded/apply",
    "shell/embedded/storage",
    "shell/embedded/admission",
    "node:events",
  ],
  "shell/embedded/controllers": [
    "core/model",
    "shell/embedded/api",
    "shell/embedded/apply",
    "shell/embedded/storage",
    "shell/embedded/registry",
    "node:crypto",
  ],
  "shell/embedded/http": [
    "core/model",
    "shell/embedded/api",
    "shell/embedded/storage",
    "shell/embedded/registry",
    "npm:yaml",
    "node:http",
  ],
  "shell/embedded": [
    "core/model",
    "shell/embedded/api",
    "shell/embedded/storage",
    "shell/embedded/registry",
    "shell/embedded/controllers",
    "shell/embedded/http",
    "npm:yaml",
    "node:*",
  ],
  "shell/signature": ["core/model", ...ports, "npm:openpgp", "node:crypto", "node:buffer"],
  "shell/forge": ["core/model", ...ports, "node:timers/promises"],
  "shell/host": ["core/model", ...ports, "node:*"],
  "cmd/terminal": ["core/model", "core/yaml", "core/intent/kinds", "core/report", "shell/reconcile", "npm:commander"],
  "cmd/edits": [
    "core/model",
    "core/yaml",
    "core/intent",
    "core/intent/kinds",
    "core/intent/trust",
    "core/ledger",
    "core/plan/approval",
    "core/plan/placement",
    "core/report",
    "shell/reconcile/ports.ts",
    "npm:yaml",
  ],
  "cmd/hub": [
    "core/model",
    "core/yaml",
    "core/intent",
    "core/intent/kinds",
    "core/intent/trust",
    "core/report",
    "shell/reconcile",
    "shell/reconcile/verify",
    "shell/git",
    "shell/git/author",
    "shell/kube",
    "shell/embedded",
    "shell/forge",
    "shell/host",
    "shell/signature",
    "cmd/terminal",
    "cmd/edits",
    "node:*",
  ],
  "cmd/commands/record": [
    ...commands,
    "shell/reconcile/verify",
    "core/audit",
    "core/ledger",
    "core/plan/approval",
    "core/schedule",
    "core/status",
  ],
  "cmd/commands/reconcile": [
    ...commands,
    "core/audit",
    "core/check",
    "core/hub",
    "core/render/override-findings.ts",
    "core/render/select.ts",
    "core/trust",
    "shell/git/author/worktree.ts",
    "shell/host/system.ts",
  ],
  "cmd/commands/runs": [...commands, "core/forecast"],
  "cmd/commands/approvals": [...commands, "core/plan/approval", "core/plan/guard", "core/trust"],
  "cmd/commands/clusters": [...commands, "cmd/commands/approvals"],
  "cmd/commands/trust": [...commands, "core/trust"],
  "cmd/commands/demo": [
    ...commands,
    "cmd/commands/record",
    "cmd/commands/runs",
    "shell/git",
    "shell/host",
    "shell/kube",
    "shell/embedded",
    "shell/embedded/registry/declared-nodes.ts",
  ],
  cmd: [...folders, "core/model", "cmd/terminal", "npm:commander"],
};

/** Single files that need one thing more than their room. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // The demo makes its own hub.
  "cmd/commands/demo/demo.ts": ["shell/git/program/process.ts"],
  "core/model/json.ts": ["node:crypto"],
  // Base64 and UTF-8 are functions of their input.
  "core/intent/kinds/manifest.ts": ["node:buffer"],
  "core/intent/source-file.ts": ["node:buffer"],
  "core/yaml/text.ts": ["node:buffer"],
  // Fingerprints are functions of the key.
  "core/intent/trust/openpgp-key.ts": ["node:buffer", "node:crypto"],
  "core/intent/trust/ssh-key.ts": ["node:buffer", "node:crypto"],
  "core/render/render.ts": ["node:buffer"],
  // A kubeconfig is text of others as well.
  "shell/kube/client/kubeconfig.ts": ["core/yaml/compose.ts"],
};

/** Rooms whose folders still import each other. */
const circular: readonly string[] = [];

/** Words that let the outside world into the core, and what to do instead. */
const bannedInCore: readonly (readonly [RegExp, string])[] = [
  [/\bDate\b/, "take `now` from the world"],
  [/\bMath\.random\b|\brandomUUID\b/, "derive the name from the content"],
  [/\basync\b|\bawait\b|\bPromise\b/, "the core does not wait; return an action"],
  [/\bprocess\b|\bconsole\b|\bfetch\(|\bsetTimeout\b/, "the core does not act; return an action or a reason"],
  [/\bthrow\b/, "return a Problem or a Reason; only assert may throw"],
  [/\blocaleCompare\b/, "use compareText: it does not depend on the machine"],
  [/^\s*(export )?(abstract )?class\b/m, "values and functions; no classes in the core"],
];
const mayThrow = ["core/model/assert.ts"];

const bannedEverywhere: readonly (readonly [RegExp, string])[] = [
  [/\bas any\b|: any(?=\s*[;,)>\]|=&{])|@ts-ignore|@ts-expect-error/, "fix the type"],
  [/\b(TODO|FIXME|XXX|HACK)\b/, "do it, or file an issue"],
  [/\bexport default\b/, "export by name"],
  [/\bexport \* from\b/, "no barrels: import from the file that defines it"],
];

const drawers = /(^|[/-])(utils?|helpers?|common|misc|manager|lib)([./-]|$)/;

// Lines are kept below 120 columns by the formatter; only a text may be longer.
const limits = { fileLines: 300, functionLines: 60, folderFiles: 25 } as const;

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((it) => it.endsWith(".ts"))
  .map((it) => it.replaceAll("\\", "/"))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, "src", file), "utf8") }));

test("imports point downwards", () => {
  expect(sources.flatMap(({ file, text }) => badImports(file, text))).toEqual([]);
});

test("every folder of the shell has a row in the table", () => {
  const folders = new Set(sources.map(({ file }) => dirname(file)).filter((it) => it.startsWith("shell/")));
  expect([...folders].filter((it) => !Object.hasOwn(mayImport, it))).toEqual([]);
});

test("no two folders import each other, on whatever way", () => {
  const circles = circlesIn(importsBetween(dirname)).filter(
    (it) => !circular.some((room) => it === room || it.startsWith(`${room}/`)),
  );
  expect(circles).toEqual([]);
});

test("no two files import each other, on whatever way, types included", () => {
  expect(circlesIn(importsBetween((file) => file))).toEqual([]);
});

/** Who imports whom, as `nameOf` names a file; nobody imports itself. */
function importsBetween(nameOf: (file: string) => string): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, Set<string>>();
  for (const { file, text } of sources) {
    const from = nameOf(file);
    const targets = specifiersOf(text).map((it) => targetOf(file, it));
    for (const to of targets.filter((it) => it.includes("/") && !/^(npm|node):/.test(it)).map(nameOf))
      if (to !== from) imports.set(from, (imports.get(from) ?? new Set()).add(to));
  }
  return imports;
}

/** All that import themselves by way of others. */
function circlesIn(imports: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const reached = (from: string): ReadonlySet<string> => {
    const found = new Set(imports.get(from));
    for (const it of found) for (const next of imports.get(it) ?? []) found.add(next);
    return found;
  };
  return [...imports.keys()].filter((it) => reached(it).has(it));
}

test("the core does not speak of the outside", () => {
  const complaints = sources
    .filter((it) => it.file.startsWith("core/"))
    .flatMap(({ file, text }) =>
      bannedInCore
        .filter(([word]) => word.test(codeOf(text)) && !(word.source.includes("throw") && mayThrow.includes(file)))
        .filter(([word]) => !(word.source.includes("class") && mayThrow.includes(file)))
        .map(([word, instead]) => `${file}: ${word.source}: ${instead}`),
    );
  expect(complaints).toEqual([]);
});

test("nobody says what nobody should", () => {
  const complaints = sources.flatMap(({ file, text }) =>
    bannedEverywhere
      .filter(([word]) => word.test(text))
      .map(([word, instead]) => `${file}: ${word.source}: ${instead}`),
  );
  expect(complaints).toEqual([]);
});

test("files and functions fit in the head", () => {
  const complaints = sources.flatMap(({ file, text }) => [
    ...(text.split("\n").length > limits.fileLines + 1 ? [`${file}: more than ${limits.fileLines} lines`] : []),
    ...longFunctions(text).map((it) => `${file}: ${it}`),
  ]);
  expect(complaints).toEqual([]);
});

test("a folder holds what one can look over", () => {
  const counts = new Map<string, number>();
  for (const { file } of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > limits.folderFiles)).toEqual([]);
});

test("an exported name means one thing", () => {
  const exported =
    /^export (?:declare |abstract |async )*(?:const|let|type|interface|function\*?|class|enum) ([\w$]+)/gm;
  const files = new Map<string, Set<string>>();
  for (const { file, text } of sources)
    for (const [, name = ""] of text.matchAll(exported)) files.set(name, (files.get(name) ?? new Set()).add(file));
  expect([...files].flatMap(([name, all]) => (all.size > 1 ? [`${name}: ${[...all].join(", ")}`] : []))).toEqual([]);
});

test("nothing is exported that nobody imports", () => {
  const files = ["src", "test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((it) => it.endsWith(".ts"))
      .map((it) => `${folder}/${it.replaceAll("\\", "/")}`),
  );
  const used = new Set<string>();
  const at = (file: string, path: string): string => relative(root, join(root, dirname(file), path));
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    for (const [, path = ""] of text.matchAll(/import\("(\.[^"]+)"\)/g)) used.add(at(file, path));
    for (const [, names = "", path = ""] of text.matchAll(importOfNames))
      for (const name of names.split(",").map((it) =>
        it
          .replace(/\btype\b/, "")
          .split(" as ")[0]
          ?.trim(),
      ))
        used.add(`${at(file, path)} ${name}`);
  }
  const unused = sources.flatMap(({ file, text }) =>
    used.has(`src/${file}`)
      ? []
      : [...text.matchAll(exportOfName)].flatMap(([, name]) =>
          used.has(`src/${file} ${name}`) ? [] : `${file}: ${name}`,
        ),
  );
  // A program that `test/end-to-end/ships.test.ts` writes imports it.
  expect(unused).toEqual(["shell/signature/openpgp-signature.ts: openPgp"]);
});

const importOfNames = /(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/g;
const exportOfName = /^export (?:async )?(?:const|function\*?|interface|type|class) (\w+)/gm;

test("nothing is put in a drawer", () => {
  expect(sources.map((it) => it.file).filter((it) => drawers.test(it))).toEqual([]);
});

test("the map shows every room, and leads to files that are there", () => {
  const map = readFileSync(join(root, "src", "README.md"), "utf8");
  const rows = [...map.matchAll(/^\| `((?:core|shell|cmd)[\w/]*)` \|.*\| ([^|]*) \|$/gm)];
  // Folders of a room are named in its row.
  const inside = rows.flatMap(([row, room]) =>
    Object.keys(mayImport).filter(
      (it) => it.startsWith(`${room}/`) && row.includes(`\`${it.slice(`${room}/`.length)}/\``),
    ),
  );
  expect([...rows.map((it) => it[1]), ...inside].sort()).toEqual(Object.keys(mayImport).sort());
  const starts = rows.flatMap(([, room, files]) =>
    [...(files ?? "").matchAll(/`([\w.-]+)`/g)].map((it) => `${room}/${it[1]}`),
  );
  expect(starts.filter((it) => !sources.some(({ file }) => file === it))).toEqual([]);
});

test("what things cost is measured in the bench, never in a test, which may run beside anything", () => {
  const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter(
    (it) => it.endsWith(".test.ts") && it !== "tidy.test.ts",
  );
  expect(tests.filter((it) => readFileSync(join(root, "test", it), "utf8").includes("cpuUsage("))).toEqual([]);
});

test("what is cited is on a page of this repository, and every case on a page has a test", () => {
  expect(ambiguousAnchors()).toEqual([]);
  expect(lostCitations()).toEqual([]);
  expect(uncitedCases()).toEqual([]);
  expect(foreignCitations()).toEqual([]);
  expect(bareIds()).toEqual([]);
});

test("the top level holds what it may and nothing else", () => {
  const allowed = new Set(
    `.ci .git .github .gitignore LICENSE README.md action.yml biome.json dist examples-repo node_modules package-lock.json
    package.json schemas src test tsconfig.json vitest.config.ts`.split(/\s+/),
  );
  expect(readdirSync(root).filter((it) => !allowed.has(it))).toEqual([]);
});

test("what runs at run time is a dependency, and every dependency runs", () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const specifiers = sources.flatMap(({ text }) => specifiersOf(text)).filter((it) => !/^(\.|#|node:)/.test(it));
  const packages = [...new Set(specifiers.map(packageOf))].sort();
  expect(packages).toEqual(Object.keys(dependencies).sort());
});

function badImports(file: string, text: string): readonly string[] {
  const room = roomOf(file);
  const allowed = [...(mayImport[room] ?? []), ...(exceptions[file] ?? [])];
  return specifiersOf(text).flatMap((specifier) => {
    const target = targetOf(file, specifier);
    const isFine =
      roomOf(target) === room ||
      allowed.includes(target) ||
      allowed.includes(roomOf(target)) ||
      (target.startsWith("node:") && allowed.includes("node:*"));
    if (isFine) return [];
    return [`${file}: ${room} may not import ${target}`];
  });
}

const specifiersOf = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:from|import) ?\(?"([\w@#./:-]+)"/g)].map((it) => it[1] ?? "");

function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith("node:")) return specifier;
  if (specifier.startsWith("#schemas/")) return "schemas";
  if (!specifier.startsWith(".")) return `npm:${packageOf(specifier)}`;
  const path = relative(join(root, "src"), join(root, "src", dirname(file), specifier));
  return path.startsWith("../schemas/") ? "schemas" : path;
}

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

/** The innermost row of the table that a file stands under. */
function roomOf(file: string): string {
  if (file.includes(":")) return file;
  const parts = file.split("/").slice(0, -1);
  while (parts.length > 1 && !Object.hasOwn(mayImport, parts.join("/"))) parts.pop();
  return parts.join("/");
}

/** The text without comments and strings: what is said in code. */
const codeOf = (text: string): string =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/(^|\s)\/\/.*$/gm, "")
    .replaceAll(/`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/g, '""');

const noFunction = /^(class|interface|return|if|for|while|switch|try|throw)$/;

/** Functions and methods that are longer than the limit: declared at the top level, or one level below. Tables may be long. */
function longFunctions(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, start) => {
    const [, indent, name] =
      /^(| {2})(?:export |async |static |readonly |const |function\*? )*([#\w]+)\b.*[({]$/.exec(line) ?? [];
    if (name === undefined || noFunction.test(name) || /= (\{|[\w.]+\()$/.test(line)) return [];
    const end = lines.findIndex((it, at) => at > start && it.startsWith(`${indent}}`));
    const length = end - start + 1;
    return length > limits.functionLines ? [`${name} has ${length} lines`] : [];
  });
}
