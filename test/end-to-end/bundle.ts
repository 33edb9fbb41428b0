import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withLock } from "../kubernetes/lock.ts";

/** The project's root: where `npm start` works. */
export const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

/** What the bundle is made of. */
const ingredients = ["src", "schemas", ".ci", "package.json"];

let built: Promise<string> | null = null;

/**
 * Gives the bundle that users run, and builds it first when it is absent or older than what it is made of. Test files that
 * begin together build it once.
 */
export function bundle(): Promise<string> {
  built ??= withLock(join(projectFolder, "node_modules", ".flotilla-bundle.lock"), 60_000, buildWhenStale);
  return built;
}

async function buildWhenStale(): Promise<string> {
  const path = join(projectFolder, "dist", "flotilla.js");
  const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(...ingredients.map((it) => newestIn(join(projectFolder, it))));
  if (made < newest) await promisify(execFile)(process.execPath, [join(projectFolder, ".ci", "bundle.mjs")]);
  return path;
}

/** When anything at or below a path last changed. */
function newestIn(path: string): number {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(found.mtimeMs, ...readdirSync(path).map((it) => newestIn(join(path, it))));
}
