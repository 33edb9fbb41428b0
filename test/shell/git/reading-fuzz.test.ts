// Commits and trees broken at random: whatever we read of them, git reads alike, and what we refuse, git complains of.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commitLines } from "../../../src/core/model/commit.ts";
import { readTree } from "../../../src/shell/git/model/tree-object.ts";
import { randomOf } from "../signature/mutator.ts";
import { temporaryFolder } from "./hub.ts";

/** `FUZZ=1000000 npx vitest run test/shell/git/reading-fuzz` is a long walk; `SEED=7` another one. */
const count = Number(process.env["FUZZ"] ?? 4000);
const seed = Number(process.env["SEED"] ?? 1);
const batch = 5000;

const { path: folder, remove } = temporaryFolder();
const packs = join(folder, "objects", "pack");
afterAll(remove);

const git = (args: readonly string[], input: Buffer | string = ""): { out: Buffer; err: string; code: number } => {
  const options = { cwd: folder, input, maxBuffer: 1 << 30 } as const;
  const { stdout, stderr, status } = spawnSync("git", ["-c", "core.commitGraph=false", ...args], options);
  return { out: stdout, err: stderr.toString(), code: status ?? -1 };
};
const idOf = (type: string, raw: Buffer): string =>
  createHash("sha1").update(`${type} ${raw.length}\0`).update(raw).digest("hex");

let blobs: readonly string[] = [];
let trees: readonly string[] = [];
let commits: readonly string[] = [];

beforeAll(() => {
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", folder]);
  const written = (type: string, raw: Buffer): string => {
    git(["hash-object", "-t", type, "-w", "--literally", "--stdin"], raw);
    return idOf(type, raw);
  };
  blobs = ["one", "two", "three"].map((it) => written("blob", Buffer.from(it)));
  trees = blobs.map((it) => written("tree", entry("100644", "file", it)));
  commits = trees.map((it) => written("commit", Buffer.from(`tree ${it}\n${people}\nbase\n`)));
});

const people = "author A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n";
const entry = (mode: string, name: string, id: string): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`, "latin1"), Buffer.from(id, "hex")]);

type Random = (below: number) => number;
const pick = <T>(all: readonly T[], random: Random): T => all[random(all.length)] as T;

/** A commit of these objects, with a few of its lines changed, moved, doubled or joined. */
function brokenCommit(random: Random): Buffer {
  const parents = Array.from({ length: random(3) }, () => `parent ${pick(commits, random)}`);
  const lines = [`tree ${pick(trees, random)}`, ...parents, ...people.trimEnd().split("\n"), "", "message"];
  const header = (): string =>
    pick([`tree ${pick(trees, random)}`, `parent ${pick(commits, random)}`, "encoding UTF-8", "", "x y", " z"], random);
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(lines.length);
    const line = lines[at] ?? "";
    pick<() => unknown>(
      [
        () => lines.splice(at, 0, header()),
        () => lines.splice(at, 1),
        () => lines.splice(at, 1, line.toUpperCase()),
        () =>
          lines.splice(
            at,
            1,
            line.replace(/[0-9a-f]{40}/, (it) => it.toUpperCase()),
          ),
        () => lines.splice(at, 1, line.replace(" ", pick(["  ", "\t", "", " \r"], random))),
        () => lines.splice(at, 1, line + pick([" ", "\r", "0", "\0"], random)),
        () => lines.splice(at, 1, line.slice(0, random(line.length + 1))),
        () => lines.push(...lines.splice(at, 1)),
        () => lines.splice(random(lines.length), 0, line),
      ],
      random,
    )();
  }
  const text = lines.join("\n") + pick(["\n", "", "\n\n"], random);
  return Buffer.from(random(20) === 0 ? text.slice(0, random(text.length + 1)) : text, "latin1");
}

/** A tree of these objects, with odd modes, names, orders and ends. */
function brokenTree(random: Random): Buffer {
  const modes = ["100644", "100755", "120000", "160000", "40000", "040000", "0160000", "100664", "777", "0", "1006440"];
  const oddModes = ["", "10064x", "+100644", "100648", "37777700644", "4000 0"];
  const names = ["a", "a.b", "a0", "b", "folder", "A", "\xe9", ".git", ".gitmodules"];
  const oddNames = ["", ".", "..", "a/b", "a\nb", "a b"];
  const made = Array.from({ length: 1 + random(5) }, () => {
    const mode = pick(random(12) === 0 ? oddModes : modes, random);
    const name = pick(random(12) === 0 ? oddNames : names, random);
    const isFolder = (Number.parseInt(mode, 8) & 0o170000) === 0o040000;
    const raw = entry(mode, name, pick(isFolder ? trees : blobs, random));
    return { key: isFolder ? `${name}/` : name, name, raw };
  });
  const unique =
    random(4) === 0 ? made : made.filter((it, at) => made.findIndex((other) => other.name === it.name) === at);
  const ordered = random(4) === 0 ? unique : [...unique].sort((a, b) => (a.key < b.key ? -1 : 1));
  const raw = Buffer.concat(ordered.map((it) => it.raw));
  return random(15) === 0 ? raw.subarray(0, random(raw.length + 1)) : raw;
}

/** Puts objects into the repository as they are, whatever git would say of them. */
function planted(type: "commit" | "tree", raws: readonly Buffer[]): void {
  const head = Buffer.alloc(12);
  head.write("PACK");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(raws.length, 8);
  const kind = type === "commit" ? 1 : 2;
  const objects = raws.flatMap((raw) => {
    const sizes = [(kind << 4) | (raw.length & 15)];
    for (let rest = raw.length >> 4; rest > 0; rest >>= 7) {
      sizes[sizes.length - 1]! |= 128;
      sizes.push(rest & 127);
    }
    return [Buffer.from(sizes), deflateSync(raw, { level: 1 })];
  });
  const body = Buffer.concat([head, ...objects]);
  const pack = Buffer.concat([body, createHash("sha1").update(body).digest()]);
  // What came before it would be looked through again and again.
  for (const old of readdirSync(packs)) rmSync(join(packs, old), { force: true });
  const { code, err } = git(["index-pack", "--stdin"], pack);
  if (code !== 0) throw new Error(err);
}

/** What is read in another way than git reads it: how often, and the first of it. */
function differences() {
  const shown: string[] = [];
  let count = 0;
  const compare = (what: () => string, mine: readonly unknown[], gits: readonly unknown[]): void => {
    if (mine.length === gits.length && mine.every((it, at) => it === gits[at])) return;
    count++;
    if (shown.length < 10) shown.push(`${what()}\n  read here: ${mine.join(", ")}\n  read by git: ${gits.join(", ")}`);
  };
  return { compare, found: () => ({ count, shown }) };
}

const unique = (type: string, raws: readonly Buffer[]): ReadonlyMap<string, Buffer> =>
  new Map(raws.map((it) => [idOf(type, it), it]));

test(`of ${count} commits broken at random, each is read as git reads it, or refused by git as well`, {
  timeout: 60_000 + 5 * count,
}, () => {
  const random = randomOf(seed);
  const { compare, found } = differences();
  let read = 0;
  for (let left = count; left > 0; left -= batch) {
    const raws = unique(
      "commit",
      Array.from({ length: Math.min(left, batch) }, () => brokenCommit(random)),
    );
    planted("commit", [...raws.values()]);
    const questions = [...raws.keys()].flatMap((it) => [`${it}^{tree}`, `${it}^1`, `${it}^2`, `${it}^3`, `${it}^4`]);
    const answers = git(["cat-file", "--batch-check=%(objectname)"], `${questions.join("\n")}\n`)
      .out.toString("latin1")
      .split("\n");
    const there = new Set([...trees, ...commits]);
    for (const [at, [id, raw]] of [...raws].entries()) {
      const lines = commitLines(raw);
      const mine = lines === null ? [] : [lines.tree, ...lines.parents];
      if (lines !== null) read++;
      const said = answers.slice(5 * at, 5 * at + 5).map((it) => (it.endsWith(" missing") ? null : it));
      // What names an object that is not here is missing to git, whoever reads it.
      const want = said.map((_, index) => (there.has(mine[index] ?? "") ? mine[index] : null));
      compare(() => `commit ${id}\n${raw.toString("latin1")}`, want, said);
    }
  }
  expect(found()).toEqual({ count: 0, shown: [] });
  expect(read).toBeGreaterThan(count / 4);
});

test(`of ${count} trees broken at random, each is read as git reads it, or git fsck complains of it`, {
  timeout: 60_000 + 5 * count,
}, () => {
  const random = randomOf(seed + 1);
  const { compare, found } = differences();
  let read = 0;
  for (let left = count; left > 0; left -= batch) {
    const raws = unique(
      "tree",
      Array.from({ length: Math.min(left, batch) }, () => brokenTree(random)),
    );
    planted("tree", [...raws.values()]);
    const all = [...raws].map(([id, raw]) => ({ id, mine: readTree(new Uint8Array(raw)) }));
    const accepted = all.filter((it) => it.mine.kind === "read");
    read += accepted.length;
    const nothing = git(["hash-object", "-t", "tree", "-w", "--stdin"]).out.toString().trim();
    const pairs = accepted.map((it) => `${nothing} ${it.id}\n`).join("");
    const told = git(
      ["diff-tree", "--stdin", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none"],
      pairs,
    );
    expect([told.code, told.err]).toEqual([0, ""]);
    const byGit = entriesIn(told.out, nothing);
    for (const { id, mine } of accepted)
      if (mine.kind === "read") compare(() => `tree ${id}`, mine.entries.map(asRow), byGit.get(id) ?? []);
    const complaints = git(["fsck", "--no-dangling", "--no-reflogs", "--strict"]);
    const named = new Set(`${complaints.out}${complaints.err}`.match(/[0-9a-f]{40}/g));
    for (const { id, mine } of all)
      if (mine.kind === "refused")
        compare(() => `tree ${id}`, ["refused"], [named.has(id) ? "refused" : "nothing amiss"]);
  }
  expect(found()).toEqual({ count: 0, shown: [] });
  expect(read).toBeGreaterThan(count / 4);
});

const asRow = (it: { name: string; id: string; kind: string; isExecutable: boolean }): string => {
  const mode = { folder: "040000", link: "120000", submodule: "160000", file: it.isExecutable ? "100755" : "100644" }[
    it.kind
  ];
  return `${mode} ${it.id} ${it.name}`;
};

/** What `git diff-tree` says each tree holds beyond nothing. */
function entriesIn(out: Buffer, nothing: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  let rows: string[] = [];
  const words = out.toString("utf8").split(/\0|\n(?=[0-9a-f]{40} )/);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const pair = new RegExp(`^${nothing} ([0-9a-f]{40})\\n?`).exec(word);
    const rest = pair === null ? word : word.slice(pair[0].length);
    if (pair !== null) {
      rows = [];
      found.set(pair[1] ?? "", rows);
    }
    const row = /^:000000 ([0-7]{6}) 0{40} ([0-9a-f]{40}) A$/.exec(rest);
    if (row !== null) rows.push(`${row[1]} ${row[2]} ${words[++at]}`);
  }
  return found;
}
