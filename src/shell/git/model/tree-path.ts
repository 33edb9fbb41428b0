import { assert } from "../../../core/model/assert.ts";

/**
 * Asserts that a path may stand in a tree that we write.
 *
 * Names in the state come from validated objects and from trees that git accepted; one that leads out of the tree or
 * into `.git` is our own mistake.
 */
export function assertTreePath(path: string): void {
  const parts = path.split("/");
  const isSound =
    !path.includes("\0") && parts.every((it) => it !== "" && it !== "." && it !== ".." && !/^\.git$/i.test(it));
  assert(isSound, `a path that no tree may hold: ${JSON.stringify(path.slice(0, 200))}`);
}
