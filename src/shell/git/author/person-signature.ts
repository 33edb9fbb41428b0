import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Fault } from "../../reconcile/fault.ts";
import { redact } from "../model/address.ts";
import { repositoryFault } from "../model/repository-fault.ts";
import { gitOutput, gitOutputOrNull, type PersonGit, type PersonGitResult, personProgram } from "./person-git.ts";

/** A person's public signing key. */
export type PersonKey =
  /** One line, as in a `.pub` file. */
  | { readonly kind: "ssh"; readonly line: string }
  /** An armored certificate. */
  | { readonly kind: "openpgp"; readonly armored: string };

/** Git's signing configuration in a work tree. */
type Setup =
  | { readonly format: "ssh"; readonly program: string; readonly key: SshKey | null }
  | { readonly format: "openpgp"; readonly program: string; readonly key: string; readonly isChosen: boolean };

/** A file with the public or the private half, or a public key in git's settings, whose private half an agent has. */
type SshKey = { readonly kind: "file"; readonly path: string } | { readonly kind: "literal"; readonly line: string };

const setUp = "git config gpg.format ssh; git config user.signingKey ~/.ssh/id_ed25519.pub";

/**
 * An armored signature of bytes, made as `git commit -S` in that work tree would (git's `gpg-interface.c`): the same
 * settings decide, and passphrases are asked for where the programs ask for them.
 */
export async function personSignature(
  git: PersonGit,
  top: string,
  bytes: Uint8Array,
  namespace: string,
): Promise<string> {
  const during = "signing as you";
  const setup = await setupOf(git, top, during);
  const armored =
    setup.format === "ssh"
      ? await sshSignature(setup, top, bytes, namespace)
      : await openPgpSignature(setup, top, bytes);
  return `${armored.replaceAll("\r", "").trimEnd()}\n`;
}

/** The public half of the key of {@link personSignature}; null where it is not at hand, or nobody can sign with it. */
export async function personKey(git: PersonGit, top: string): Promise<PersonKey | null> {
  try {
    const setup = await setupOf(git, top, "asking git what you sign with");
    return setup.format === "ssh" ? await publicSshKey(setup.key) : await publicOpenPgpKey(setup, top);
  } catch (error) {
    // Not set up, or without its program.
    if (error instanceof Fault) return null;
    throw error;
  }
}

async function setupOf(git: PersonGit, top: string, during: string): Promise<Setup> {
  const setting = (...args: readonly string[]): Promise<string | null> =>
    gitOutputOrNull(git, ["config", ...args], { during });
  const format = (await setting("gpg.format")) ?? "openpgp";
  const chosen = await setting("user.signingKey");
  if (format === "ssh") {
    const program = (await setting("--type=path", "gpg.ssh.program")) ?? "ssh-keygen";
    return { format, program, key: await sshKeyOf(chosen, { setting, top, during }) };
  }
  if (format !== "openpgp") {
    const said = `git signs with ${JSON.stringify(format)} (gpg.format), and nothing here reads such signatures`;
    throw repositoryFault("RepositoryUnsupported", during, said, { fix: `sign with SSH or OpenPGP: ${setUp}` });
  }
  const program =
    (await setting("--type=path", "gpg.openpgp.program")) ?? (await setting("--type=path", "gpg.program")) ?? "gpg";
  return { format, program, key: chosen ?? (await committer(git, during)), isChosen: chosen !== null };
}

/** `Name <address>`: the key that gpg is asked for where none is chosen. */
const committer = async (git: PersonGit, during: string): Promise<string> =>
  (await gitOutput(git, ["var", "GIT_COMMITTER_IDENT"], { during })).replace(/>[^>]*$/, ">");

interface Asking {
  readonly setting: (...args: readonly string[]) => Promise<string | null>;
  readonly top: string;
  readonly during: string;
}

async function sshKeyOf(chosen: string | null, { setting, top, during }: Asking): Promise<SshKey | null> {
  const line = literalKey(chosen ?? "");
  if (line !== null) return { kind: "literal", line };
  // Asked again, for git to know what ~ is.
  if (chosen !== null) {
    const path = (await setting("--type=path", "user.signingKey")) ?? chosen;
    return { kind: "file", path: resolve(top, path) };
  }
  const command = await setting("gpg.ssh.defaultKeyCommand");
  if (command === null) return null;
  const answer = await keyCommand(command, top, during);
  const first = answer.output.split("\n").map((it) => literalKey(it.trim()))[0] ?? null;
  if (answer.code === 0 && first !== null) return { kind: "literal", line: first };
  const said = `gpg.ssh.defaultKeyCommand prints no key${answer.stderr === "" ? "" : `: ${answer.stderr}`}`;
  throw repositoryFault("RepositoryRefused", during, said, {
    fix: `start the agent and add your key (ssh-add), or choose one: ${setUp}`,
  });
}

/** Its words are cut at blanks, quotes and all, as git cuts them: no shell runs it. */
function keyCommand(command: string, top: string, during: string): Promise<PersonGitResult> {
  const words = [...command.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g)].map(([it]) =>
    it.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g, (_, double, single, escaped) =>
      double === undefined ? (single ?? escaped) : double.replace(/\\(.)/g, "$1"),
    ),
  );
  const [program = "", ...args] = words;
  return personProgram(
    program || command,
    top,
    "correct gpg.ssh.defaultKeyCommand in Git's configuration",
  )(args, { during });
}

/** A public key that stands in the settings itself; null for a path. */
const literalKey = (text: string): string | null => {
  if (text.startsWith("key::")) return text.slice("key::".length).trim();
  return text.startsWith("ssh-") ? text : null;
};

async function sshSignature(
  { program, key }: Setup & { readonly format: "ssh" },
  top: string,
  bytes: Uint8Array,
  namespace: string,
): Promise<string> {
  const during = "signing with SSH";
  if (key === null)
    throw repositoryFault("RepositoryRefused", during, "Git has no signing key configured (user.signingKey)", {
      fix: setUp,
    });
  // Nobody else may read or write there: ssh-keygen puts the signature beside the file.
  const folder = await mkdtemp(join(tmpdir(), "flotilla-sign-"));
  try {
    const data = join(folder, "data");
    await writeFile(data, bytes, { mode: 0o600 });
    const path = key.kind === "file" ? key.path : join(folder, "key.pub");
    if (key.kind === "literal") await writeFile(path, `${key.line}\n`, { mode: 0o600 });
    const agent = key.kind === "literal" ? ["-U"] : [];
    const fix = "install OpenSSH 8.2 or newer, or correct gpg.ssh.program in Git's configuration";
    const run = personProgram(program, top, fix);
    const args = ["-Y", "sign", "-n", namespace, "-f", path, ...agent, data];
    const { code, stderr } = await run(args, { during, isTyped: true });
    const signature = await readFile(`${data}.sig`, "utf8").catch(() => null);
    if (code === 0 && signature !== null) return signature;
    const where = key.kind === "file" ? key.path : "the key in user.signingKey or of gpg.ssh.defaultKeyCommand";
    const words = `ssh-keygen cannot sign with ${where}${stderr === "" ? "" : `: ${stderr.replaceAll(folder, "")}`}`;
    throw repositoryFault("RepositoryRefused", during, words, {
      fix: `see that its private half lies beside it or is in the agent (ssh-add -l), or choose another: ${setUp}`,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function openPgpSignature(
  { program, key, isChosen }: Setup & { readonly format: "openpgp" },
  top: string,
  bytes: Uint8Array,
): Promise<string> {
  const during = "signing with OpenPGP";
  const answer = await gpg(program, top)(["--status-fd=2", "-bsau", key], { during, input: bytes });
  const { code, output, stderr } = answer;
  if (code === 0 && /^\[GNUPG:\] SIG_CREATED /m.test(stderr)) return output;
  const words = stderr.replace(/^\[GNUPG:\].*\n?/gm, "").trim();
  const whose = isChosen ? `the key ${key} (user.signingKey)` : `a key of ${key}, and user.signingKey names none`;
  const said = `${program} cannot sign with ${whose}${words === "" ? "" : `: ${words}`}`;
  throw repositoryFault("RepositoryRefused", during, redact(said), {
    fix: `name a key that gpg --list-secret-keys shows (git config user.signingKey <fingerprint>), or sign with SSH: ${setUp}`,
  });
}

const gpg = (program: string, top: string): PersonGit =>
  personProgram(
    program,
    top,
    `install GnuPG or correct gpg.program in Git's configuration, or sign with SSH: ${setUp}`,
  );

async function publicSshKey(key: SshKey | null): Promise<PersonKey | null> {
  if (key === null) return null;
  if (key.kind === "literal") return { kind: "ssh", line: key.line };
  for (const path of [key.path, `${key.path}.pub`]) {
    const text = await readFile(path, "utf8").catch(() => "");
    // Never the private half.
    if (/^[a-z][a-z0-9@.-]* [A-Za-z0-9+/=]+(?: [^\r\n]*)?\s*$/.test(text)) return { kind: "ssh", line: text.trim() };
  }
  return null;
}

async function publicOpenPgpKey(
  { program, key }: Setup & { readonly format: "openpgp" },
  top: string,
): Promise<PersonKey | null> {
  const during = "asking gpg for your key";
  const run = gpg(program, top);
  const secret = await run(["--batch", "--list-secret-keys", "--with-colons", "--", key], { during });
  if (secret.code !== 0) return null;
  const args = ["--batch", "--armor", "--export-options", "export-minimal", "--export", "--", key];
  const { code, output } = await run(args, { during });
  return code === 0 && output.trim() !== "" ? { kind: "openpgp", armored: output.trim() } : null;
}
