import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { withLock } from "./lock.ts";

const run = promisify(execFile);

/** A Go module of ours with `tool` directives: programs that tests run, and how they are built. */
export interface GoModule {
  /** Where go.mod and go.sum are. */
  readonly folder: string;
  /** Go package by the name under which its program is kept. */
  readonly packages: Readonly<Record<string, string>>;
  /** Given to the linker besides `-s -w`. */
  readonly linkerFlags: readonly string[];
  /** Build tags of programs that need a C compiler; absent: they need neither. */
  readonly cgoTags?: readonly string[];
  /** Files that the programs need and that ship with their modules: text by file name. */
  readonly companions: () => Promise<Readonly<Record<string, string>>>;
}

/** Programs that cannot be had here. */
export type Missing = { readonly kind: "missing"; readonly why: string };
/** Where the programs are, or why they cannot be had. */
export type Built = { readonly kind: "found"; readonly folder: string } | Missing;

/** Not null when `FLOTILLA_TEST_KUBERNETES=skip` says not even to look. */
export const notWanted: Missing | null =
  process.env["FLOTILLA_TEST_KUBERNETES"] === "skip" ? { kind: "missing", why: "FLOTILLA_TEST_KUBERNETES=skip" } : null;

/** Cold, on two busy cores, the largest of our modules takes six minutes. */
const buildLimitMs = 20 * 60_000;

/**
 * Gives the folder that holds all `names`, building those that are not there yet.
 *
 * It lies outside the repository and is named after everything that decides what a program is, so it is never stale. Test files
 * that ask at the same time build once, and a build that failed is tried again by the next run, not by the next file.
 */
export async function buildPrograms(module: GoModule, names: readonly string[]): Promise<Built> {
  if (notWanted !== null) return notWanted;
  const folder = join(cacheRoot(), await fingerprint(module));
  if ((await absent(folder, names)).length === 0) return { kind: "found", folder };
  const noGo = await whyNoGo(module.folder);
  if (noGo !== null) return { kind: "missing", why: noGo };
  await mkdir(folder, { recursive: true });
  return withLock(join(folder, ".lock"), buildLimitMs, async () => {
    const missing = await absent(folder, names);
    if (missing.length === 0) return { kind: "found", folder };
    const failure = await readFile(failureFile(folder), "utf8").catch(() => null);
    return failure === null ? build(module, folder, missing) : { kind: "missing", why: failure };
  });
}

/** The names under which the folder has no program. */
export async function absent(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const executable = await Promise.all(
    names.map((name) =>
      access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return names.filter((_, i) => executable[i] === false);
}

async function build(module: GoModule, folder: string, names: readonly string[]): Promise<Built> {
  await removeLeftovers(folder);
  const fresh = await mkdtemp(join(folder, ".building-"));
  process.stderr.write(`building ${names.join(", ")} for the tests; takes minutes, once per machine\n`);
  try {
    for (const [name, text] of Object.entries(await module.companions())) await writeFile(join(fresh, name), text);
    const flags = ["-s", "-w", ...module.linkerFlags].join(" ");
    for (const name of names) {
      const source = module.packages[name] ?? name;
      const { cgoTags } = module;
      const tags = cgoTags === undefined ? [] : ["-tags", cgoTags.join(" ")];
      const options = ["-trimpath", ...tags, "-ldflags", flags, "-o", join(fresh, name)];
      await go(module.folder, ["build", ...options, source], cgoTags !== undefined);
    }
    // Whoever finds a program must find its companions too.
    const companionsFirst = (await readdir(fresh)).toSorted(
      (a, b) => Number(names.includes(a)) - Number(names.includes(b)),
    );
    for (const file of companionsFirst) await rename(join(fresh, file), join(folder, file));
    return { kind: "found", folder };
  } catch (error) {
    const why = `building ${names.join(", ")} failed: ${tailOf(error)}`;
    await writeFile(failureFile(folder), why);
    return { kind: "missing", why };
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** What builds that were killed left behind, and the failures of earlier runs. */
async function removeLeftovers(folder: string): Promise<void> {
  const leftovers = (await readdir(folder)).filter((name) => /^\.(building|failed)-/.test(name));
  await Promise.all(leftovers.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

function failureFile(folder: string): string {
  return join(folder, `.failed-${process.env["FLOTILLA_TEST_RUN"] ?? process.pid}`);
}

async function fingerprint(module: GoModule): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(await readFile(join(module.folder, file)));
  const { packages, linkerFlags, cgoTags } = module;
  const tags = cgoTags === undefined ? [] : [cgoTags];
  hash.update(JSON.stringify([process.platform, process.arch, packages, linkerFlags, ...tags]));
  return hash.digest("hex").slice(0, 20);
}

function cacheRoot(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "flotilla-test");
}

/** Why this machine cannot build the module; null when it can. An older `go` that may fetch the wanted one by itself can. */
async function whyNoGo(folder: string): Promise<string | null> {
  return go(folder, ["list", "-m"]).then(
    () => null,
    (error) => `no usable Go toolchain: ${tailOf(error)}`,
  );
}

/** Runs `go` in a module's folder, without cgo unless it is wanted, and gives what it printed. */
export async function go(folder: string, args: readonly string[], cgo = false): Promise<string> {
  const env = { ...process.env, CGO_ENABLED: cgo ? "1" : "0", GOWORK: "off", GOFLAGS: "-buildvcs=false" };
  const { stdout } = await run("go", [...args], { cwd: folder, env, timeout: buildLimitMs, maxBuffer: 64 << 20 });
  return stdout;
}

function tailOf(error: unknown): string {
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  return (stderr || String(error)).split("\n").slice(-12).join("\n");
}
