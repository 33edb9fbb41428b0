import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** One try to move the state branch. */
export interface Move {
  /** Of whoever called git; of somebody else when that one was dead already. */
  readonly pid: number;
  /** Milliseconds since the epoch: before and after git was at it. */
  readonly from: number;
  readonly to: number;
  /** Git's exit code: 0 when the branch moved. */
  readonly code: number;
  readonly commit: string;
  /** Where the branch was thought to be; empty when it was to be founded. */
  readonly parent: string;
}

/** Something at which the next one who comes by waits. */
export interface Barrier {
  /** The next one will wait. */
  close(): Promise<void>;
  /** Somebody waits. */
  isWaiting(): boolean;
  /** Nobody waits any more; nobody waits longer than half a minute in any case. */
  open(): Promise<void>;
}

/** A git program that notes what moves the state branch, and can hold it back. Everything else is git as it is. */
export interface ObservedGit {
  /** For the environment of whoever is to use it. */
  readonly path: string;
  readonly barrier: Barrier;
  /** Whether it was called since this was last asked. */
  wasCalled(): boolean;
  /** Tries that have ended, in their order. */
  moves(): Promise<readonly Move[]>;
}

const waitAt = (folder: string): string => `
if mv '${folder}/closed' '${folder}/waiting' 2>/dev/null; then
  for try in $(seq 1500); do [ -e '${folder}/waiting' ] || break; sleep 0.02; done
  rm -f '${folder}/waiting'
fi`;

const script = (git: string, folder: string): string => `#!/bin/sh
: >'${folder}/called'
for last; do :; done
case " $* " in
  *" push "*)
    input=
    commits="\${last%%:*} $(printf '%s' "$*" | sed -n 's/.*--force-with-lease=[^ :]*:\\([0-9a-f]*\\) .*/\\1/p')"
    ;;
  *" update-ref -m "*)
    input=$(cat)
    commits=$(printf '%s\\n' "$input" | sed -n 's/^\\(update\\|create\\) [^ ]* //p')
    ;;
  *) exec '${git}' "$@" ;;
esac
from=$(date +%s%3N)
${waitAt(folder)}
printf '%s\\n' "$input" | '${git}' "$@"
code=$?
echo "$PPID $from $(date +%s%3N) $code $commits" >> '${folder}/moves'
exit $code
`;

export async function observeGit(folder: string): Promise<ObservedGit> {
  await mkdir(join(folder, "bin"), { recursive: true });
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  await writeFile(join(folder, "bin", "git"), script(git, folder), { mode: 0o755 });
  const [log, called] = [join(folder, "moves"), join(folder, "called")];
  return {
    path: `${join(folder, "bin")}:${process.env["PATH"]}`,
    barrier: barrierAt(folder),
    wasCalled: () => {
      const was = existsSync(called);
      rmSync(called, { force: true });
      return was;
    },
    moves: async () => {
      const text = existsSync(log) ? await readFile(log, "utf8") : "";
      return text
        .trimEnd()
        .split("\n")
        .filter((it) => it !== "")
        .map(moveOf);
    },
  };
}

function moveOf(line: string): Move {
  const [pid, from, to, code, commit = "", parent = ""] = line.split(" ");
  return { pid: Number(pid), from: Number(from), to: Number(to), code: Number(code), commit, parent };
}

/** Makes a repository's own hook wait: after it has heard of a push to the state branch, and before the branch moves. */
export async function holdInHook(repo: string, folder: string): Promise<Barrier> {
  for (const it of [folder, join(repo, "hooks")]) await mkdir(it, { recursive: true });
  const hook = `#!/bin/sh
while read old new ref; do
  [ "$ref" = refs/heads/fleet/state ] || continue
${waitAt(folder)}
done
`;
  await writeFile(join(repo, "hooks", "pre-receive"), hook, { mode: 0o755 });
  return barrierAt(folder);
}

const barrierAt = (folder: string): Barrier => ({
  close: () => writeFile(join(folder, "closed"), ""),
  isWaiting: () => existsSync(join(folder, "waiting")),
  open: async () => {
    await Promise.all(["closed", "waiting"].map((it) => rm(join(folder, it), { force: true })));
  },
});
