import { relative, resolve, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";

/** One push changes several files; they are reported as one change (`git/README.md#libraries`). */
const gatheringMs = 20;

/**
 * Calls `onChange` after a branch of a repository on this machine moved, until `signal` aborts. Resolves once it looks.
 *
 * The whole git folder is watched and almost all of it ignored: a watch on the file of one ref goes deaf when `git
 * pack-refs` or `git gc` replaces it (`git/README.md#libraries`). Our own scratch refs are ignored too. A change may be
 * told although no branch moved; callers look at the heads, and poll slowly besides. Does not keep the process alive.
 */
export async function watchRepository(gitDir: string, onChange: () => void, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let timer: NodeJS.Timeout | null = null;
  const fire = (): void => {
    timer = null;
    onChange();
  };
  const gather = (): void => {
    timer ??= setTimeout(fire, gatheringMs);
  };
  let watcher = look(gitDir, gather);
  // A folder of refs that vanishes takes chokidar's watch with it, unnoticed: we look afresh after every removal.
  const renew = (event: string): void => {
    if (event !== "unlink" && event !== "unlinkDir") return;
    void watcher.close();
    watcher = look(gitDir, gather).once("ready", gather).on("all", renew);
  };
  signal.addEventListener("abort", () => {
    if (timer !== null) clearTimeout(timer);
    void watcher.close();
  });
  await new Promise<void>((looks) => {
    watcher.once("ready", looks).on("all", renew);
    signal.addEventListener("abort", () => looks());
  });
}

/**
 * One watcher of chokidar's; not `persistent`, or watchers of one path would share a handle that outlives them; not
 * `atomic`, or removals would be told late or, when the name comes back, not at all.
 */
function look(gitDir: string, onEvent: () => void): FSWatcher {
  const ignored = (path: string): boolean => isIdle(relative(gitDir, path));
  const watcher = watch(gitDir, { ignoreInitial: true, atomic: false, persistent: false, ignored });
  watcher.on("all", onEvent);
  // Of several changes of one file within 50 ms, chokidar tells the first only; the last one is the news.
  watcher.on("raw", (_, path, details) => {
    const { watchedPath } = details as { readonly watchedPath: string };
    if (!isIdle(relative(gitDir, resolve(watchedPath, path ?? "")))) onEvent();
  });
  // Losing the watch costs time, never correctness: the slow poll remains.
  watcher.on("error", () => {});
  return watcher;
}

/** Whether nothing at this path of the git folder can move a branch. */
function isIdle(path: string): boolean {
  const [top = "", under] = path.split(sep);
  if (path.endsWith(".lock") || (top === "refs" && under === "flotilla")) return true;
  return top !== "" && !heads.has(top);
}

/** Where a git folder keeps its branches: loose, packed, and the current one's name. */
const heads: ReadonlySet<string> = new Set(["refs", "packed-refs", "HEAD"]);
