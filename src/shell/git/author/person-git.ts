import { spawn } from "node:child_process";
import { redact } from "../model/address.ts";
import { repositoryFault } from "../model/repository-fault.ts";

export interface PersonGitResult {
  readonly code: number;
  readonly output: string;
  /** Without credentials; at most 8 KiB. */
  readonly stderr: string;
}

interface PersonCall {
  /** The operation, for a fault's message. */
  readonly during: string;
  readonly input?: string | Uint8Array;
  /** The program reads what the person types; there is no `input` then. */
  readonly isTyped?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs git, or another program of the person's, in one work tree as the person would. */
export type PersonGit = (args: readonly string[], call: PersonCall) => Promise<PersonGitResult>;

/** Git as a person runs it: settings, hooks, terminal and time are theirs. The reconciler has `runGit`. */
export const personGit = (folder: string): PersonGit => {
  const run = personProgram("git", null, "install git 2.31 or newer and see that it is on the PATH");
  return (args, call) => run(["-C", folder, ...args], call);
};

/** Any program as {@link personGit} runs git. `folder` null: where we are ourselves. `fix`: what to do when there is none. */
export const personProgram =
  (program: string, folder: string | null, fix: string): PersonGit =>
  (args, { during, input = "", isTyped = false, environment = {} }) =>
    new Promise((resolve, reject) => {
      const env = { ...inherited(), ...environment };
      const cwd = folder === null ? {} : { cwd: folder };
      const stdin = isTyped ? "inherit" : "pipe";
      const child = spawn(program, args, { ...cwd, env, stdio: [stdin, "pipe", "pipe"], windowsHide: true });
      const output: Buffer[] = [];
      const errorText: Buffer[] = [];
      child.stdout?.on("data", (it: Buffer) => output.push(it));
      child.stderr?.on("data", (it: Buffer) => errorText.push(it));
      child.stdin?.on("error", () => {});
      child.on("error", (cause) =>
        reject(
          repositoryFault("RepositoryUnsupported", during, `the program ${program} cannot be run`, { fix, cause }),
        ),
      );
      child.on("close", (code) =>
        resolve({
          code: code ?? 128,
          output: Buffer.concat(output).toString("utf8"),
          stderr: stderrText(Buffer.concat(errorText).toString("utf8")),
        }),
      );
      child.stdin?.end(input);
    });

const complaintLimit = 8 << 10;

/** Without git's hints. */
const stderrText = (text: string): string =>
  // Cut last: half a URL would not be known as one that holds a password.
  redact(text.replace(/^hint:.*\n?/gm, ""))
    .slice(-complaintLimit)
    .trim();

/** A git process that surrounds us (a hook, an alias) may point elsewhere. */
const pointers =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|PREFIX|(?:ALTERNATE_)?OBJECT_DIRECTOR(?:Y|IES))$/;

const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([key]) => !pointers.test(key)));

/** What git printed, without the last line's end; anything but success is a fault. */
export async function gitOutput(git: PersonGit, args: readonly string[], call: PersonCall): Promise<string> {
  const { code, output, stderr } = await git(args, call);
  if (code !== 0) {
    const message = stderr === "" ? `git ${args[0]} failed and gave no reason` : stderr;
    throw repositoryFault("RepositoryRefused", call.during, message, {
      fix: "do what git says above, then run it again",
    });
  }
  return output.replace(/\r?\n$/, "");
}

/** What git printed; null when it has no such thing. */
export async function gitOutputOrNull(
  git: PersonGit,
  args: readonly string[],
  call: PersonCall,
): Promise<string | null> {
  const { code, output } = await git(args, call);
  return code === 0 && output.trim() !== "" ? output.replace(/\r?\n$/, "") : null;
}

/** A path of ours as an argument: no character of it means a pattern. */
export const literalPathspec = (path: string): string => `:(top,literal)${path}`;
