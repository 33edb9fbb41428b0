import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { devNull } from "node:os";
import { Readable } from "node:stream";
import { killGroup, startGroup } from "../../host/system.ts";
import { redact } from "../model/address.ts";
import { repositoryFault } from "../model/repository-fault.ts";

/** How git is run for one repository. */
export interface Git {
  /** Null where there is none yet: `git init`, `git --version`. */
  readonly gitDir: string | null;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** Texts that must never show in an error. */
  readonly secrets: readonly string[];
}

interface GitCall {
  /** The operation, for a fault's message. */
  readonly during: string;
  readonly input?: string | Iterable<string>;
  readonly deadlineMs?: number;
}

/** The result of running git, successful or not. */
export interface GitResult {
  /** Git's exit code; 0 is success. */
  readonly code: number;
  readonly output: Buffer;
  /** Error output of git and the server, without credentials; at most 8 KiB. */
  readonly stderr: string;
}

/** Local git commands take less. */
const defaultDeadlineMs = 120_000;

/** The largest answer is the listing of a tree: about 120 bytes for each of at most some hundred thousand files. */
const outputLimit = 64 << 20;

const complaintLimit = 8 << 10;

/** Why git was killed; a failing input is the caller's error. */
type Stop = "late" | "flood" | { readonly input: unknown };

/**
 * Runs git once and gives its result, whatever the exit code; rejects only when git cannot be run, hangs, or prints too
 * much, or when the input fails.
 *
 * No shell, one argument per array element, no terminal. At the deadline the whole process group is killed, since git
 * leaves network access to child processes (ssh, git-remote-https).
 */
export async function runGit(git: Git, args: readonly string[], call: GitCall): Promise<GitResult> {
  const child = spawnGit(git, args);
  const deadlineMs = call.deadlineMs ?? defaultDeadlineMs;
  const stops: Stop[] = [];
  const stop = (why: Stop): void => {
    stops.push(why);
    killGroup(child);
  };
  const timer = setTimeout(stop, deadlineMs, "late");
  const output = collect(child, () => stop("flood"));
  feed(child, call.input ?? "", (error) => stop({ input: error }));
  try {
    const code = await exitOf(child, call.during);
    const [stopped] = stops;
    if (stopped === "late") {
      const message = `no answer within ${Math.ceil(deadlineMs / 1000)} s`;
      throw repositoryFault("RepositoryUnreachable", call.during, message);
    }
    if (stopped === "flood") {
      throw repositoryFault("RepositoryUnsupported", call.during, `git answered with more than ${outputLimit} bytes`);
    }
    if (stopped !== undefined) throw stopped.input;
    return { code, output: output.whole(), stderr: stderrText(output.complaint(), git.secrets) };
  } finally {
    clearTimeout(timer);
  }
}

/** Starts git with open pipes, in a process group of its own. */
export const spawnGit = (git: Git, args: readonly string[]): ChildProcessWithoutNullStreams =>
  git.gitDir === null
    ? startGroup("git", args, { env: git.environment })
    : startGroup("git", [`--git-dir=${git.gitDir}`, ...args], { cwd: git.gitDir, env: git.environment });

/**
 * The environment in which git runs for us (`git/README.md#the-environment`).
 *
 * Closed: hooks, file system monitors, replace refs, background maintenance, transports that run commands, traces that
 * would show headers, and variables by which a surrounding git process points elsewhere. Left open, since remotes need
 * it: credential helpers, askpass, ssh and its agent, proxies and headers, as the user configured them.
 * `settings` come after the user's own, so they win.
 */
export function gitEnvironment(settings: readonly (readonly [string, string])[] = []): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([key]) => !unsetVariables.test(key));
  const earlier = Number.parseInt(process.env["GIT_CONFIG_COUNT"] ?? "0", 10) || 0;
  const all = [...fixedSettings, ...settings];
  const configured = all.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${earlier + at}`, key],
    [`GIT_CONFIG_VALUE_${earlier + at}`, value],
  ]);
  return {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(configured),
    GIT_CONFIG_COUNT: String(earlier + all.length),
    ...fixedVariables,
  };
}

const unsetVariables = new RegExp(
  [
    "^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|PREFIX|QUARANTINE_PATH|SHALLOW_FILE|GRAFT_FILE)$",
    "^GIT_(OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|REPLACE_REF_BASE|EXTERNAL_DIFF|CURL_VERBOSE)$",
    "^GIT_(TRACE\\w*|(AUTHOR|COMMITTER)_\\w+)$",
  ].join("|"),
);

/**
 * Errors of `git fsck` that old tools produced, and that anybody who may push can produce: one such object in the history
 * would block every fetch for good. They are fetched, and read as git reads them, or refused where they are read
 * (`tree-object.ts`, and signatures in `shell/signature`). What could harm git itself is still refused.
 */
const toleratedFsckErrors: readonly string[] = [
  ...["badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "zeroPaddedDate"],
  ...["missingAuthor", "missingCommitter", "missingEmail", "missingNameBeforeEmail", "multipleAuthors"],
  ...["missingSpaceBeforeDate", "missingSpaceBeforeEmail"],
  ...["badFilemode", "zeroPaddedFilemode", "duplicateEntries", "treeNotSorted", "nullSha1", "fullPathname"],
];

const fixedSettings: readonly (readonly [string, string])[] = [
  ["core.hooksPath", devNull],
  ["core.fsmonitor", "false"],
  // Two reconcilers on one mirror wait for each other's lock instead of failing at once.
  ["core.filesRefLockTimeout", "5000"],
  ["core.packedRefsTimeout", "5000"],
  ["protocol.version", "2"],
  // Bytes a second, and for how many seconds fewer may come: a server that is busy sends a few to keep the line alive.
  ["http.lowSpeedLimit", "1"],
  ["http.lowSpeedTime", "60"],
  ["transfer.fsckObjects", "true"],
  ["fetch.fsckObjects", "true"],
  ...toleratedFsckErrors.map((it) => [`fetch.fsck.${it}`, "warn"] as const),
  ["fetch.recurseSubmodules", "false"],
  ["push.followTags", "false"],
  ["push.recurseSubmodules", "no"],
  ["submodule.recurse", "false"],
  ["maintenance.auto", "false"],
];

const fixedVariables: NodeJS.ProcessEnv = {
  LC_ALL: "C",
  LANGUAGE: "",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "http:https:ssh:file",
  // For reflogs only: commits carry what fast-import is told.
  GIT_COMMITTER_NAME: "flotilla",
  GIT_COMMITTER_EMAIL: "flotilla@localhost",
};

function collect(child: ChildProcessWithoutNullStreams, flood: () => void) {
  const output: Buffer[] = [];
  const complaints: Buffer[] = [];
  let size = 0;
  let complaintSize = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > outputLimit) flood();
    else output.push(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaintSize < complaintLimit) complaints.push(chunk.subarray(0, complaintLimit - complaintSize));
    complaintSize += chunk.length;
  });
  return { whole: () => Buffer.concat(output), complaint: () => Buffer.concat(complaints).toString("utf8") };
}

function feed(
  child: ChildProcessWithoutNullStreams,
  input: string | Iterable<string>,
  breaksOff: (error: unknown) => void,
): void {
  if (typeof input === "string") child.stdin.end(input);
  else Readable.from(input, { objectMode: true, highWaterMark: 4 }).on("error", breaksOff).pipe(child.stdin);
}

const exitOf = (child: ChildProcessWithoutNullStreams, during: string): Promise<number> =>
  new Promise((resolve, reject) => {
    child.on("error", (cause) => {
      const fix = "install git 2.31 or newer and see that it is on the PATH";
      reject(repositoryFault("RepositoryUnsupported", during, "the git program cannot be run", { fix, cause }));
    });
    child.on("close", (code) => resolve(code ?? 128));
  });

/** Git's error lines, without overwritten progress and without hints. */
function stderrText(text: string, secrets: readonly string[]): string {
  const lines = text.split("\n").map((it) => it.slice(it.lastIndexOf("\r", it.length - 2) + 1).trimEnd());
  return redact(lines.filter((it) => it !== "" && !it.startsWith("hint:")).join("\n"), secrets);
}
