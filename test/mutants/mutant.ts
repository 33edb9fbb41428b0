import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vitest/config";

/** One break of a guard or of an order: a change of one place in one file, and who has to notice. */
export interface Mutant {
  /** What is broken, in words: the name of its test. */
  readonly breaks: string;
  /** From the project's root. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The test files that must turn red. `check` alone: nothing but the second opinion on plans is asked. */
  readonly caughtBy: "check" | readonly string[];
}

/** The test files that a mutant turns red. */
export const filesOf = ({ caughtBy }: Mutant): readonly string[] =>
  caughtBy === "check" ? ["test/mutants/check-alone.ts"] : caughtBy;

/** The source with the break in it. Throws where the text to be replaced is not there, or not once. */
export function broken(source: string, { file, find, replace }: Pick<Mutant, "file" | "find" | "replace">): string {
  const found = source.split(find).length - 1;
  if (found !== 1) throw new Error(`${file} holds ${found} times, instead of once: ${find}`);
  return source.replace(find, () => replace);
}

/** Breaks one file on its way into the tests, and leaves the one on disk alone. */
export function breaking(mutant: Pick<Mutant, "file" | "find" | "replace">): Plugin {
  const target = resolve(projectFolder, mutant.file);
  return {
    name: `breaks-${relative(projectFolder, target)}`,
    enforce: "pre",
    // Modules are kept from one run to the next, and this one is another one in each.
    configureVitest: ({ experimental_defineCacheKeyGenerator: distinguish }) => {
      distinguish(({ id }) => (id.split("?")[0] === target ? JSON.stringify(mutant) : undefined));
    },
    transform: (source, id) => (id.split("?")[0] === target ? broken(source, mutant) : null),
  };
}

/** The root of the project, which paths of mutants begin at. */
export const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
