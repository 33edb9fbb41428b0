// A folder with keys of all kinds, and a repository in it where real programs sign and verify.
import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { commitId } from "../../../src/shell/signature/commit-bytes.ts";
import { verifier } from "../../../src/shell/signature/verifier.ts";

/** A key that git signs with, by the configuration that makes it do so. */
export interface Signer {
  readonly name: string;
  readonly format: "ssh" | "openpgp";
  /** What `user.signingkey` is set to. */
  readonly key: string;
}

export interface Workshop {
  readonly root: string;
  readonly repository: string;
  /** Runs a program, and gives what it printed. */
  readonly run: (program: string, args: readonly string[], input?: Uint8Array | string) => Buffer;
  readonly git: (...args: string[]) => string;
  readonly attempt: (program: string, args: readonly string[], input?: Uint8Array | string) => Attempt;
  /** The configuration under which git signs with that key. */
  readonly signingAs: (signer: Signer) => readonly string[];
  /** An empty commit on HEAD, signed; its content. */
  readonly commit: (signer: Signer, message: string | Uint8Array, ...more: string[]) => Buffer;
  readonly contentOf: (id: string) => Buffer;
  /** Writes a commit object as it is, however wrong. */
  readonly plant: (raw: Uint8Array) => string;
  /** Whether git says that the signature is good and made by a key that it was told of. */
  readonly gitAccepts: (raw: Uint8Array) => boolean;
  readonly close: () => void;
}

/** What the verifier makes of the signature of a commit of these bytes. */
export async function signatureOf(
  raw: Uint8Array,
  certificates: readonly string[],
  now: Instant,
): Promise<SignatureFact> {
  const historic = { commit: commitId(raw), raw, changes: [], merge: null };
  return (await verifier.commit(historic, certificates, now)).signature;
}

interface Attempt {
  readonly code: number | null;
  readonly out: string;
}

export const has = (program: string): boolean => spawnSync(program, ["--help"]).error === undefined;
export const hasSshKeygen = has("ssh-keygen");
export const hasGpg = has("gpg");

export function openWorkshop(): Workshop {
  const root = mkdtempSync(join(tmpdir(), "sign-"));
  const repository = join(root, "repository");
  for (const folder of [repository, join(root, "gnupg")]) mkdirSync(folder, { mode: 0o700 });
  const env = {
    PATH: process.env["PATH"],
    HOME: root,
    GNUPGHOME: join(root, "gnupg"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: join(root, "none"),
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
  };
  const spawn = (program: string, args: readonly string[], input?: Uint8Array | string) =>
    spawnSync(program, args, { cwd: repository, env, input: input ?? "", maxBuffer: 1 << 26 });
  const attempt = (program: string, args: readonly string[], input?: Uint8Array | string): Attempt => {
    const { status, stdout, stderr } = spawn(program, args, input);
    return { code: status, out: `${stdout}${stderr}` };
  };
  const run = (program: string, args: readonly string[], input?: Uint8Array | string): Buffer => {
    const { status, stdout, stderr } = spawn(program, args, input);
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const git = (...args: string[]): string => run("git", args).toString("utf8").trim();
  git("init", "-q", "--template=", "-b", "main");
  appendFileSync(join(repository, ".git", "config"), configuration(root));
  writeFileSync(join(root, "allowed"), "");
  const contentOf = (id: string): Buffer => run("git", ["cat-file", "commit", id]);
  const signingAs = ({ format, key }: Signer): readonly string[] => [
    ...["-c", `gpg.format=${format}`],
    ...["-c", `user.signingkey=${key}`],
  ];
  const plant = (raw: Uint8Array): string => {
    const id = commitId(raw);
    const folder = join(repository, ".git", "objects", id.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    rmSync(join(folder, id.slice(2)), { force: true });
    writeFileSync(join(folder, id.slice(2)), deflateSync(Buffer.concat([Buffer.from(`commit ${raw.length}\0`), raw])));
    return id;
  };
  return {
    ...{ root, repository, run, git, attempt, contentOf, plant, signingAs },
    commit: (signer, message, ...more) => {
      run(
        "git",
        [...signingAs(signer), ...more, "commit", "-q", "-S", "--allow-empty", "--allow-empty-message", "-F", "-"],
        message,
      );
      return contentOf("HEAD");
    },
    gitAccepts: (raw) => attempt("git", ["verify-commit", plant(raw)]).code === 0,
    close: () => {
      // An agent runs where somebody called gpg.
      if (readdirSync(join(root, "gnupg")).length > 0) attempt("gpgconf", ["--kill", "all"]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const configuration = (root: string): string => `[user]
  name = Anna Łęcka
  email = anna@example.com
[gpg]
  minTrustLevel = never
[gpg "ssh"]
  allowedSignersFile = ${join(root, "allowed")}
[commit]
  cleanup = verbatim
`;

/** Keys that ssh-keygen made, by their names and kinds: everybody keeps theirs from one workshop to the next. */
const made = new Map<string, { readonly secret: Buffer; readonly open: Buffer }>();

/** Lets ssh-keygen make a key, and git believe it. */
export function sshSigner(workshop: Workshop, name: string, ...kind: string[]): Signer {
  const file = join(workshop.root, name);
  const known = made.get([name, ...kind].join(" "));
  if (known === undefined) {
    workshop.run("ssh-keygen", ["-q", "-N", "", "-C", name, "-f", file, ...kind]);
    made.set([name, ...kind].join(" "), { secret: readFileSync(file), open: readFileSync(`${file}.pub`) });
  } else {
    writeFileSync(file, known.secret, { mode: 0o600 });
    writeFileSync(`${file}.pub`, known.open);
  }
  allow(workshop, `anna@example.com ${readFileSync(`${file}.pub`, "utf8")}`);
  return { name, format: "ssh", key: file };
}

/** A certificate of a key, by an authority that git believes. */
export function certified(workshop: Workshop, signer: Signer, authority: Signer, ...options: string[]): Signer {
  const copy = `${signer.key}-by-${authority.name}`;
  for (const end of ["", ".pub"]) writeFileSync(copy + end, readFileSync(signer.key + end), { mode: 0o600 });
  workshop.run("ssh-keygen", ["-q", "-s", authority.key, "-I", "badge 7", ...options, `${copy}.pub`]);
  const key = readFileSync(`${authority.key}.pub`, "utf8");
  const line = `anna@example.com cert-authority ${key}`;
  if (!readFileSync(join(workshop.root, "allowed"), "utf8").includes(line)) allow(workshop, line);
  return { name: `${signer.name} certified by ${authority.name}`, format: "ssh", key: `${copy}-cert.pub` };
}

const allow = ({ root }: Workshop, line: string): void =>
  writeFileSync(join(root, "allowed"), readFileSync(join(root, "allowed"), "utf8") + line);

/** Lets gpg make a key; with a kind of subkey, that one signs. */
export function gpgSigner(workshop: Workshop, kind: string, subkey: string | null = null, expires = "never"): Signer {
  const name = `${kind}${subkey === null ? "" : `-${subkey}`}-${expires}`;
  const quiet = ["--batch", "--quiet", "--passphrase", "", "--pinentry-mode", "loopback"];
  const usage = subkey === null ? "sign" : "cert";
  workshop.run("gpg", [...quiet, "--quick-generate-key", `${name} <anna@example.com>`, kind, usage, expires]);
  const listed = workshop.run("gpg", ["--list-keys", "--with-colons", name]).toString("utf8");
  const fingerprint = /^fpr:+([0-9A-F]+):/m.exec(listed)?.[1] ?? "";
  if (subkey !== null) workshop.run("gpg", [...quiet, "--quick-add-key", fingerprint, subkey, "sign", expires]);
  return { name: `gpg ${name}`, format: "openpgp", key: fingerprint };
}

/** The certificate as a trust file would carry it. */
export const certificateOf = (workshop: Workshop, signer: Signer): string =>
  workshop.run("gpg", ["--armor", "--export", signer.key]).toString("utf8");
