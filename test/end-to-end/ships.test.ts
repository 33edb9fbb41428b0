// What dist/ holds of others, and whether it says so.
import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFolder } from "./bundle.ts";

const run = promisify(execFile);
const scratch = mkdtempSync(join(tmpdir(), "flotilla-ships-"));
const dist = join(scratch, "dist");
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Metafile {
  readonly inputs: Readonly<Record<string, unknown>>;
}

let metafile: Metafile = { inputs: {} };

beforeAll(async () => {
  const probe = join(scratch, "probe.ts");
  const loader = join(projectFolder, "src/shell/signature/openpgp-signature.ts");
  writeFileSync(
    probe,
    `import { openPgp } from ${JSON.stringify(loader)};\nconsole.log(Object.keys(await openPgp()).join());`,
  );
  const meta = join(scratch, "meta.json");
  await run(process.execPath, [join(projectFolder, ".ci/bundle.mjs"), dist, `--metafile=${meta}`, `probe=${probe}`]);
  metafile = JSON.parse(readFileSync(meta, "utf8"));
});

/** `name version` of every package that something was taken from. */
function bundled(): readonly string[] {
  const folders = Object.keys(metafile.inputs).flatMap((file) => {
    const parts = file.split("/");
    const at = parts.lastIndexOf("node_modules");
    if (at < 0) return [];
    return [parts.slice(0, at + (parts[at + 1]?.startsWith("@") ? 3 : 2)).join("/")];
  });
  return [...new Set(folders)].map((it) => {
    const { name, version } = JSON.parse(readFileSync(join(projectFolder, it, "package.json"), "utf8"));
    return `${name} ${version}`;
  });
}

const openPgp = JSON.parse(readFileSync(join(projectFolder, "node_modules/openpgp/package.json"), "utf8"));

test("the licence of every package that is bundled goes along, with its text", () => {
  const texts = readFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), "utf8").split(`\n\n${"-".repeat(78)}\n\n`);
  const packages = bundled();
  expect(packages.length).toBeGreaterThan(20);
  for (const it of [...packages, `openpgp ${openPgp.version}`]) {
    const found = texts.filter((text) => text.startsWith(`${it} (`));
    expect(found, it).toHaveLength(1);
    expect(found[0]?.length, it).toBeGreaterThan(250);
  }
});

test("OpenPGP.js, which is LGPL, is a file of its own, as it was published, with both licences that hold for it", () => {
  expect(bundled().filter((it) => it.startsWith("openpgp "))).toEqual([]);
  const published = join(projectFolder, "node_modules/openpgp/dist/node/openpgp.min.mjs");
  expect(readFileSync(join(dist, "openpgp.mjs")).equals(readFileSync(published))).toBe(true);
  const texts = readFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), "utf8");
  expect(texts).toContain("GNU LESSER GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007");
  expect(texts).toContain("GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007");
});

test("another file in the place of OpenPGP.js is the one that is loaded", async () => {
  const load = async (): Promise<string> => (await run(process.execPath, [join(dist, "probe.js")])).stdout;
  expect(await load()).toContain("readKey");
  writeFileSync(join(dist, "openpgp.mjs"), "export const somebodyElses = true;");
  expect(await load()).toBe("somebodyElses\n");
});

test("npm lists all that is bundled from the lock file alone, without a network", {
  timeout: 60_000,
}, async () => {
  for (const it of ["package.json", "package-lock.json"]) copyFileSync(join(projectFolder, it), join(scratch, it));
  const env = { ...process.env, npm_config_cache: join(scratch, "cache"), npm_config_offline: "true" };
  const { stdout } = await run("npm", ["run", "--silent", "sbom"], { cwd: scratch, env, maxBuffer: 1 << 26 });
  const listed = JSON.parse(stdout).components.map((it: { purl: string }) => decodeURIComponent(it.purl));
  const wanted = [...bundled(), `openpgp ${openPgp.version}`].map((it) => `pkg:npm/${it.replace(" ", "@")}`);
  expect(wanted.filter((it) => !listed.includes(it))).toEqual([]);
});

test("the map says of every library what it is for", () => {
  const { dependencies } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
  const map = readFileSync(join(projectFolder, "src/README.md"), "utf8");
  const rows = map.slice(map.indexOf("| Library |"), map.indexOf("By hand,")).split("\n").slice(2);
  const named = rows.flatMap((it) => /^\| `([^`]+)` \|/.exec(it)?.[1] ?? []);
  expect(named.sort()).toEqual(Object.keys(dependencies).sort());
});
