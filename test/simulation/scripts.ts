import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Steps of a world that are kept as a text, and what they show. */
export interface Script {
  readonly name: string;
  readonly text: string;
}

/** The scripts of a folder beside this file, by name; none where the folder is missing: Git keeps no empty one. */
export function scriptsIn(folder: "kept" | "open"): readonly Script[] {
  const path = join(import.meta.dirname, folder);
  const names = existsSync(path) ? readdirSync(path) : [];
  return names
    .filter((it) => it.endsWith(".txt"))
    .sort()
    .map((it) => ({
      name: it.slice(0, -".txt".length).replaceAll("-", " "),
      text: readFileSync(join(path, it), "utf8"),
    }));
}
