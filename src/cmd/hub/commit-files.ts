import { oneLine } from "../../core/model/value.ts";
import type { Author, AuthoredCommit, AuthoredFile, Delivery, DeliveryObjection } from "../../shell/reconcile/ports.ts";
import { type ExitCode, exitCodes } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { HubOptions } from "./wire.ts";

/** Options of commands that write files and commit them. */
export interface CommitOptions extends HubOptions {
  readonly push?: boolean;
  readonly pr?: boolean;
  readonly dryRun?: boolean;
}

export interface FilesToCommit {
  readonly files: readonly AuthoredFile[];
  readonly subject: string;
  /** Of the branch that `--pr` makes: `flotilla/<slug>`. */
  readonly slug: string;
  /** The commit is signed, whatever Git's configuration says. */
  readonly signed?: boolean;
  /** Called when others pushed first: why it should not be pushed any longer. */
  readonly objection?: () => Promise<DeliveryObjection | null>;
}

/** Commits a command's files as its options say, and prints the result and what is left to do. */
export async function commitFiles(
  author: Author,
  { files, subject, slug, signed = false, objection }: FilesToCommit,
  options: CommitOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  if (options.dryRun === true) {
    terminal.out(files.map(({ path, text }) => `# ${oneLine(path)}\n${text ?? "# removed\n"}`).join("---\n"));
    return exitCodes.done;
  }
  const { commit, branch, remote, page, integrated } = await author.commit({
    files,
    message: subject,
    signed,
    delivery: deliveryOf(options, slug, objection),
  });
  terminal.out(`committed ${commit.slice(0, 10)} to ${branch}: ${oneLine(subject)}\n`);
  for (const { path, text } of files) terminal.out(`  ${oneLine(path)}${text === null ? " (removed)" : ""}\n`);
  if (remote !== null)
    terminal.out(`pushed ${branch} to ${remote}${integrated === null ? "" : overtakenText[integrated]}\n`);
  for (const line of nextSteps(options, { branch, page })) terminal.out(`${line}\n`);
  return exitCodes.done;
}

/** What happened when others pushed first. */
const overtakenText: Readonly<Record<NonNullable<AuthoredCommit["integrated"]>, string>> = {
  rebased: "; others had pushed in the meantime: the commit was recreated on top of theirs",
  merged: "; others had pushed in the meantime: what they pushed was merged",
};

function deliveryOf(
  { push, pr, branch: base }: CommitOptions,
  slug: string,
  objection: FilesToCommit["objection"],
): Delivery {
  if (pr === true) return { kind: "pullRequest", branch: `flotilla/${slug}`, base };
  if (push !== true) return { kind: "commit" };
  return { kind: "push", ...(objection === undefined ? {} : { objection }) };
}

interface Landed {
  readonly branch: string;
  readonly page: string | null;
}

/** What has to happen before Flotilla sees the commit. */
function nextSteps({ pr, branch: source }: CommitOptions, { branch, page }: Landed): readonly string[] {
  if (pr === true) return [`open a pull request into ${source}: ${page === null ? `from ${branch}` : oneLine(page)}`];
  return branch === source ? [] : [`flotilla reads ${source}: it takes effect once ${branch} is merged there`];
}

/** Prints why a command does nothing, and what to do; gives the exit code of a wrong command line. */
export function usageError(message: string, fix: string, { err }: Terminal): ExitCode {
  err(`error: ${oneLine(message)}\n  ${oneLine(fix)}\n`);
  return exitCodes.usage;
}

/** Why a command does nothing, and what to do. */
export interface Declined {
  readonly kind: "declined";
  readonly message: string;
  readonly fix: string;
}
