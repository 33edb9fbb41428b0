import { readTrust, trustPath } from "../../../core/intent/trust/trust-file.ts";
import type { Trust } from "../../../core/model/trust.ts";
import { oneLine } from "../../../core/model/value.ts";
import { mayTrustSign, nextTrustVerdict, signersOf, unsignable } from "../../../core/report/trust-text.ts";
import { trustNamespace } from "../../../core/trust/trust-chain.ts";
import type { Author } from "../../../shell/reconcile/ports.ts";
import { nextTrustText, type TrustChange, trustEdits } from "../../edits/trust-file.ts";
import { type CommitOptions, commitFiles, type Declined, usageError } from "../../hub/commit-files.ts";
import { gitSigningKey } from "../../hub/wire.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import {
  type KeyOptions,
  keyFiles,
  openTrustFile,
  signatureFiles,
  signaturePath,
  type TrustInForce,
  trustInForce,
  trustStepOf,
  uncommittedProblem,
} from "./trust-files.ts";
import {
  anchorLines,
  chainLines,
  expiryObjection,
  invalidExpiry,
  parseExpiry,
  printUnusableTrust,
  quorumLines,
  whyAnchored,
} from "./trust-lines.ts";

/** What the commands that write the next version are given. */
export interface TrustNextOptions extends CommitOptions {
  readonly expires?: string;
  /** The operator vouches for the new version by its digest, since nobody can sign it. */
  readonly newAnchor?: boolean;
}

export interface TrustAddOptions extends TrustNextOptions, KeyOptions {
  readonly name: string;
  readonly machine?: boolean;
  readonly github?: string;
  readonly root?: boolean;
  readonly approver?: boolean;
}

/** Writes the next version, with another principal, or with more of an existing one. */
export async function trustAdd(options: TrustAddOptions, terminal: Terminal): Promise<ExitCode> {
  const { name, machine = false, github = null, root = false, approver = false } = options;
  if (github !== null && !/^[1-9]\d{0,19}$/.test(github))
    return usageError(
      `${JSON.stringify(github)} is not an account id`,
      "names can change owners: give the id that https://api.github.com/users/NAME shows",
      terminal,
    );
  const read = await keyFiles(options);
  if (read.kind === "declined") return usageError(read.message, read.fix, terminal);
  const { keys, openpgp } = read;
  const change: TrustChange = {
    kind: "add",
    name,
    isMachine: machine,
    keys,
    openpgp,
    github,
    asRoot: root,
    asApprover: approver,
  };
  const words = ({ principals }: Trust): string => (principals.has(name) ? `add to ${name}` : `add ${name}`);
  return writeNext({ change, words }, options, terminal);
}

/** What `flotilla trust rotate` is given: at most one of both for the key that goes. */
export interface TrustRotateOptions extends TrustNextOptions, KeyOptions {
  readonly name: string;
  readonly retire?: string;
  readonly compromised?: string;
}

/** Writes the next version, with a new key for an old one, which is revoked. */
export async function trustRotate(options: TrustRotateOptions, terminal: Terminal): Promise<ExitCode> {
  const { name, retire, compromised } = options;
  const read = await keyFiles(options);
  if (read.kind === "declined") return usageError(read.message, read.fix, terminal);
  const { keys, openpgp } = read;
  if (keys.length + openpgp.length === 0)
    return usageError("no new key is given", "give --key FILE.pub or --openpgp FILE", terminal);
  const as = compromised === undefined ? "retired" : "compromised";
  const change: TrustChange = { kind: "rotate", name, keys, openpgp, old: compromised ?? retire ?? null, as };
  return writeNext({ change, words: () => `another key for ${name}` }, options, terminal);
}

export interface TrustRevokeOptions extends TrustNextOptions {
  /** A fingerprint, or a principal's name. */
  readonly what: string;
  readonly retired?: boolean;
  readonly compromised?: boolean;
}

/** Writes the next version, with keys revoked. */
export async function trustRevoke(options: TrustRevokeOptions, terminal: Terminal): Promise<ExitCode> {
  const { what, retired = false, compromised = false } = options;
  if (retired === compromised)
    return usageError(
      "--retired or --compromised is missing",
      "give --retired (from now on), or --compromised (also for what it approved that has not ended)",
      terminal,
    );
  const as = retired ? "retired" : "compromised";
  return writeNext({ change: { kind: "revoke", what, as }, words: () => `revoke ${what}, ${as}` }, options, terminal);
}

interface VersionChange {
  readonly change: TrustChange;
  /** What the subject of the commit says, after the version before. */
  readonly words: (before: Trust) => string;
}

async function writeNext(
  { change, words }: VersionChange,
  options: TrustNextOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { author, file } = await openTrustFile(options);
  if (file === null) return usageError(`there is no ${trustPath}`, "flotilla trust init writes the first", terminal);
  const before = file.reading.trust;
  if (before === null) return printUnusableTrust(file.reading.problems, terminal);
  const loose = await uncommittedProblem(file.text, options);
  if (loose !== null) return usageError(...loose, terminal);
  const record = await trustInForce(options, terminal.environment);
  const stale = staleness(before, record);
  if (stale !== null) return usageError(...stale, terminal);
  const made = nextOf(file.text, before, change, options);
  if (made.kind === "declined") return usageError(made.message, made.fix, terminal);
  const { trust: next, problems } = readTrust(made.text);
  if (next === null) return printUnusableTrust(problems, terminal);
  // Where nothing is in force yet, there is nobody whose signature could count.
  const isAnchored = options.newAnchor === true || record === null;
  const objection = objectionTo(before, next, isAnchored);
  if (objection !== null) return usageError(...objection, terminal);
  const { step, files, isSigning } = await signedStep({ before, next, text: made.text }, author, options);
  const verdict = nextTrustVerdict(step);
  if (!isAnchored && verdict.kind === "refused" && options.push === true && author.branch === options.branch)
    return usageError(
      verdict.denial.because,
      "on the source branch it would close every gate: use --pr instead of --push, and have it signed there",
      terminal,
    );
  const all = [{ path: trustPath, text: made.text, before: file.text }, ...files];
  const written = {
    files: all,
    subject: `Trust version ${next.version}: ${words(before)}`,
    slug: `trust-${next.version}`,
  };
  const code = await commitFiles(author, { ...written, signed: isSigning }, options, terminal);
  if (options.dryRun === true) return code;
  const why = whyAnchored(before, { record, isWanted: options.newAnchor === true, verdict });
  if (why !== null) terminal.out(`${oneLine(why)}\n`);
  // What nobody could read here may be nothing.
  if (why === null && record === "unknown") terminal.out(`${unknownAnchor}\n`);
  const lines = why === null ? chainLines(next, { verdict, before }, options) : anchorLines(next.version, next.digest);
  for (const line of lines) terminal.out(`${line}\n`);
  for (const line of quorumLines(next, before)) terminal.err(`${oneLine(line)}\n`);
  return code;
}

const unknownAnchor =
  "the record cannot be read from here: if no version is in force yet, give the SHA-256 of this one as the trust anchor";

/** Why the next version cannot follow the file here; null if it can. */
function staleness({ digest, version }: Trust, record: TrustInForce): [string, string] | null {
  if (record === null || record === "unknown" || record.trust.digest === digest) return null;
  const { version: inForce } = record.trust;
  return [
    `version ${version} of ${trustPath} is not the one in force, which is version ${inForce}`,
    version > inForce
      ? "have it accepted first: flotilla trust show says what it lacks; flotilla trust sign adds your signature"
      : "bring the work tree up to date: git pull",
  ];
}

type Made = { readonly kind: "text"; readonly text: string } | Declined;

function nextOf(text: string, before: Trust, change: TrustChange, { expires: until }: TrustNextOptions): Made {
  const expires = until === undefined ? null : parseExpiry(until);
  if (until !== undefined && expires === null) return invalidExpiry(until);
  const made = trustEdits(before, change);
  if (made.kind === "declined") return made;
  if (made.edits.length === 0 && expires === null)
    return { kind: "declined", message: `${trustPath} says so already`, fix: "there is nothing to do" };
  const next = nextTrustText(text, before, made.edits, expires);
  if (next !== null) return { kind: "text", text: next };
  return { kind: "declined", message: `${trustPath} cannot be edited`, fix: "write the next version by hand" };
}

/** Why a version can never come into force, whoever signs it; null where it can. */
function objectionTo(before: Trust, next: Trust, isAnchored: boolean): [string, string] | null {
  const late = expiryObjection(before, next);
  const lacking = isAnchored ? null : unsignable(before, next);
  if (late !== null || lacking === null) return late;
  return [
    lacking,
    "add the new key first (flotilla trust add NAME --key NEW), have that accepted, sign with it, and then revoke " +
      "the old one; if no such key is left, give --new-anchor: the operator vouches for the version by its digest",
  ];
}

/** The version with all signatures that it has, the person's own among them where they are a root and git can sign. */
async function signedStep(
  { before, next, text }: { readonly before: Trust; readonly next: Trust; readonly text: string },
  author: Author,
  options: TrustNextOptions,
) {
  const there = await signatureFiles(author, next.version);
  const isSigning = options.dryRun !== true && (await gitSigningKey(options)) !== null;
  const stepOf = trustStepOf({ before, next, text });
  if (!isSigning) return { step: await stepOf(there), files: [], isSigning };
  const armored = await author.sign(new TextEncoder().encode(text), trustNamespace);
  const own = { path: "your signature", text: armored };
  const step = await stepOf([...there, own]);
  const signer = signersOf(step).find((it) => it.path === own.path)?.signer;
  if (signer?.kind !== "signer" || !mayTrustSign(step, signer.principal.name))
    return { step: await stepOf(there), files: [], isSigning };
  const path = signaturePath(next.version, signer.key);
  const files = [{ path, text: armored, before: there.find((it) => it.path === path)?.text ?? null }];
  return { step, files, isSigning };
}
