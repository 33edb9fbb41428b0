import { type Command, InvalidArgumentError, Option } from "commander";
import {
  type Commit,
  type Digest,
  type DurationMs,
  durationOf,
  type Instant,
  instantOf,
} from "../../core/model/value.ts";
import type { ExitCode } from "./exit-code.ts";

/** Called by a command that has ended, with its exit code. */
export type Finish = (code: ExitCode) => void;

/** Options of every command that reads the hub. */
export const withHub = (command: Command): Command =>
  withBranches(
    command.addOption(
      new Option("--repo <path|url>", "the hub").default(
        null,
        "remote origin of the current repository, or that repository",
      ),
    ),
  );

const withBranches = (command: Command): Command =>
  command
    .option("--branch <name>", "source branch", "main")
    .option("--state-branch <name>", "branch that flotilla writes", "fleet/state")
    .addOption(
      new Option(
        "--git <engine>",
        "the git program, or isomorphic-git, which needs no program and supports http(s) only",
      )
        .choices(["auto", "iso", "program"])
        .default("auto"),
    )
    .addOption(
      new Option("--cache <folder>", "where mirrors of remote hubs are kept").default(null, "~/.cache/flotilla"),
    );

/** The same for commands that tell what they found. */
export const withHubAndOutput = (command: Command): Command => withHub(command).addOption(outputOption());

/** The option of commands that judge what people signed: which trust file the operator vouches for. */
export const withTrustAnchor = (command: Command, environment: Readonly<Record<string, string | undefined>>): Command =>
  command
    .addOption(
      new Option("--trust-anchor <sha256>", "SHA-256 of the first trust/root.yaml, from a source you trust")
        .argParser(anchorOf)
        .default(null, anchorVariable),
    )
    .hook("preAction", (it) => {
      const text = environment[anchorVariable] ?? "";
      if (text === "" || it.getOptionValue("trustAnchor") !== null) return;
      const anchor = sha256Of(text);
      if (anchor === null) it.error(`error: ${anchorVariable}='${text}' is invalid. ${anchorForm}`);
      it.setOptionValue("trustAnchor", anchor);
    });

const anchorVariable = "FLOTILLA_TRUST_ANCHOR";
const anchorForm = "expected a SHA-256: 64 hexadecimal digits";

const sha256Of = (text: string): Digest | null =>
  /^[0-9a-f]{64}$/i.test(text) ? (text.toLowerCase() as Digest) : null;

function anchorOf(text: string): Digest {
  const anchor = sha256Of(text);
  if (anchor === null) throw new InvalidArgumentError(anchorForm);
  return anchor;
}

/** The options of the command that writes the state branch: by which key, and what was found right there. */
export const withSigningKey = (command: Command, environment: Readonly<Record<string, string | undefined>>): Command =>
  command
    .addOption(
      new Option("--signing-key <file>", "Ed25519 private key that signs commits of the state branch").default(
        environment[signingVariable] || null,
        signingVariable,
      ),
    )
    .addOption(
      new Option(
        "--accept-state <commit>",
        "with a signing key: accept the state branch as of this commit, whoever wrote it",
      ).argParser(commitOf),
    )
    .hook("preAction", (it) => {
      const { acceptState, signingKey } = it.opts();
      if (acceptState !== undefined && signingKey === null)
        it.error("error: --accept-state needs --signing-key: without it, nobody checks who wrote the state branch");
    });

const signingVariable = "FLOTILLA_SIGNING_KEY";

function commitOf(text: string): Commit {
  if (!/^[0-9a-f]{40}$/.test(text)) throw new InvalidArgumentError("expected a full commit id: 40 hexadecimal digits");
  return text as Commit;
}

/** The option of the command that counts approvals: where their reviews are looked up. */
export const withForge = (command: Command): Command =>
  command.addOption(
    new Option(
      "--forge <url>",
      "the repository's page on its forge: reviews there count if trust/root.yaml says so",
    ).default(null, "the hub's page, if it is on github.com"),
  );

/** How a result is told: to people, or to programs. */
export const outputOption = (formats: readonly string[] = ["text", "json", "yaml"]): Option =>
  new Option("-o, --output <format>", "output format").choices([...formats]).default("text");

/** Options of commands that write files and commit them. */
export const withCommitting = (command: Command): Command =>
  withBranches(command.addOption(new Option("--repo <path>", "the work tree").default(null, "the current one")))
    .addOption(new Option("--push", "push the checked-out branch").conflicts("pr"))
    .addOption(new Option("--pr", "commit on a new branch, push it, and print where to open the pull request"))
    .addOption(new Option("--dry-run", "print the files and write nothing"))
    .addHelpText("after", deliveryHelp);

const deliveryHelp = `
Commits in the work tree at --repo, or the current one, as git commit would: with your identity, signature and hooks.
Refuses files with uncommitted changes, and leaves everything else that is changed or staged alone.`;

export const durationOption = (flags: string, description: string, preset: string): Option =>
  new Option(flags, description).argParser(parseDuration).default(parseDuration(preset), preset);

/** A duration that has to pass between two things: none would be no pause at all. */
export const periodOption = (flags: string, description: string, preset: string): Option =>
  durationOption(flags, description, preset).argParser(parsePeriod);

export const durationHelp = "\nA duration is written like 500ms, 90s or 1h30m.";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The longest that a timer of Node's can be set to: 24 days. */
const longest = 2 ** 31 - 1;

/** `500ms`, `90s`, `1h30m`: at least one number with its unit. */
export function parseDuration(text: string): DurationMs {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map((it) => it[0]).join("") !== text)
    throw new InvalidArgumentError("expected a duration such as 500ms, 90s or 10m");
  const sum = Math.round(parts.reduce((all, it) => all + Number(it[1]) * (units[it[2] ?? ""] ?? 0), 0));
  if (sum > longest) throw new InvalidArgumentError("expected a duration of at most 24 days");
  return sum as DurationMs;
}

function parsePeriod(text: string): DurationMs {
  const sum = parseDuration(text);
  if (sum === 0) throw new InvalidArgumentError("expected a duration such as 500ms, more than nothing");
  return sum;
}

/** A moment in RFC 3339. */
export const instantOption = (flags: string, description: string, preset: string): Option =>
  new Option(flags, description).argParser(parseInstant).default(null, preset);

function parseInstant(text: string): Instant {
  const at = instantOf(text);
  if (at === null) throw new InvalidArgumentError("expected a time such as 2026-01-31T12:00:00Z");
  return at;
}

export const spanOption = (flags: string, description: string): Option =>
  new Option(flags, description).argParser(parseSpan);

export function parseSpan(text: string): DurationMs {
  const read = durationOf(text);
  if (read === null) throw new InvalidArgumentError("expected a duration such as 30s, 10m or 1h30m");
  return read;
}
