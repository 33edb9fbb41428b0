import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { instant } from "./protocol.ts";
import type { File } from "./workload.ts";

/** A bare repository as the hub, without a clone: thousands of files need no disk. */
export interface Hub {
  /** What `--repo` is given. */
  readonly path: string;
  /** Commits files on top of a branch and moves it; gives the commit, and the moment just before the branch moved. */
  push(branch: string, files: readonly File[]): Pushed;
  /** Makes a branch that begins where another one is. */
  branch(name: string, from: string): void;
  /** Where the state branch stands; null before it is founded. */
  state(): string | null;
  /** Commits of the state branch after `from`. */
  commitsSince(from: string | null): number;
  /** Bytes of everything that the tip of the state branch holds, packed. */
  tipBytes(): number;
  /** Bytes by which a repacked history grew from `from` to `to`: their pack, with what was there before to lean on. */
  growth(from: string, to: string): number;
}

/** A commit that people pushed, and when: milliseconds since the epoch. */
export interface Pushed {
  readonly commit: string;
  readonly at: number;
}

const stateRef = "refs/heads/fleet/state";
const scratch = "refs/bench/next";

/** Makes an empty hub in a folder, with the git program. */
export function makeHub(folder: string): Hub {
  const path = join(folder, "hub.git");
  const git = (args: readonly string[], input = ""): Buffer =>
    execFileSync("git", ["--git-dir", path, ...args], {
      input,
      maxBuffer: 1 << 30,
      stdio: ["pipe", "pipe", "inherit"],
    });
  const say = (args: readonly string[]): string => git(args).toString("utf8").trim();
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", path]);
  const tipOf = (ref: string): string | null => say(["for-each-ref", "--format=%(objectname)", ref]) || null;
  const packed = (revisions: readonly string[], options: readonly string[]): number =>
    git(
      ["pack-objects", "--stdout", "--revs", "--delta-base-offset", "--quiet", ...options],
      `${revisions.join("\n")}\n`,
    ).length;
  return {
    path,
    push(branch, files) {
      const parent = tipOf(`refs/heads/${branch}`);
      git(["fast-import", "--quiet", "--done", "--force"], importText(files, parent));
      const commit = tipOf(scratch) ?? "";
      const at = instant();
      git(["update-ref", `refs/heads/${branch}`, commit]);
      return { commit, at };
    },
    branch: (name, from) => void git(["update-ref", `refs/heads/${name}`, `refs/heads/${from}`]),
    state: () => tipOf(stateRef),
    commitsSince: (from) => {
      const tip = tipOf(stateRef);
      return tip === null ? 0 : Number(say(["rev-list", "--count", tip, ...(from === null ? [] : [`^${from}`])]));
    },
    tipBytes: () => packed([`${stateRef}^{tree}`], []),
    growth: (from, to) => packed([to, `^${from}`], ["--thin"]),
  };
}

function importText(files: readonly File[], parent: string | null): string {
  const writes = files.map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`).join("");
  const from = parent === null ? "" : `from ${parent}\n`;
  // A branch that is reset has no history: otherwise the last commit that was made here would be the parent.
  return `reset ${scratch}\n\ncommit ${scratch}\ncommitter bench <bench@localhost> 1790000000 +0000\n${data("Change")}${from}${writes}\ndone\n`;
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
