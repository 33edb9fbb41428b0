import { type Command, Option } from "commander";

/** Options of every command that reads the hub. */
export const withHub = (command: Command): Command =>
  withBranches(
    command.addOption(
      new Option("--repo <path|url>", "the hub").default(null, "the remote origin of the repository here, or itself"),
    ),
  );

const withBranches = (command: Command): Command =>
  command
    .option("--branch <name>", "source branch", "main")
    .option("--state-branch <name>", "branch that flotilla writes", "fleet/state")
    .addOption(
      new Option("--git <engine>", "the git program, or isomorphic-git, which needs none and speaks http(s) only")
        .choices(["auto", "iso", "program"])
        .default("auto"),
    )
    .addOption(
      new Option("--cache <folder>", "where mirrors of remote hubs are kept").default(null, "~/.cache/flotilla"),
    );

/** The same for commands that tell what they found. */
export const withHubAndOutput = (command: Command): Command => withHub(command).addOption(outputOption());

/** How a result is told: to people, or to programs. */
export const outputOption = (formats: readonly string[] = ["text", "json", "yaml"]): Option =>
  new Option("-o, --output <format>", "output format").choices([...formats]).default("text");

/** Options of commands that write files and commit them. */
export const withDelivery = (command: Command): Command =>
  withBranches(command.addOption(new Option("--repo <path>", "the work tree").default(null, "the one here")))
    .addOption(new Option("--push", "push the branch that is checked out").conflicts("pr"))
    .addOption(new Option("--pr", "commit on a branch of its own, push it, and say where to open the pull request"))
    .addOption(new Option("--dry-run", "print the files and write nothing"))
    .addHelpText("after", deliveryHelp);

const deliveryHelp = `
Commits in the work tree at --repo, or here, as git commit would: with your identity, signature and hooks.
Refuses files with uncommitted changes, and leaves everything else that is changed or staged alone.`;
