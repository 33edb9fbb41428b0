import { lstat, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseOpenPgpKey } from "../../../core/intent/trust/openpgp-key.ts";
import { parseSshKey } from "../../../core/intent/trust/ssh-key.ts";
import { readTrust, type TrustReading, trustPath } from "../../../core/intent/trust/trust-file.ts";
import { digestOfText } from "../../../core/model/json.ts";
import type { DetachedSignature, Trust, TrustRecord } from "../../../core/model/trust.ts";
import { compareText } from "../../../core/model/value.ts";
import type { TrustStep } from "../../../core/report/trust-text.ts";
import { Fault } from "../../../shell/reconcile/fault.ts";
import type { Author } from "../../../shell/reconcile/ports.ts";
import { readRecordedLedger } from "../../hub/record.ts";
import { committedVersions, detachedSignatureFact, type HubOptions, now, openWorkTree } from "../../hub/wire.ts";

interface TrustWorkTree {
  readonly author: Author;
  /** Null when there is no trust file. */
  readonly file: { readonly text: string; readonly reading: TrustReading } | null;
}

/** Reads the work tree at `--repo`, or here. */
export async function openTrustFile(options: HubOptions): Promise<TrustWorkTree> {
  const author = await openWorkTree(options);
  const text = await textAt(author, trustPath);
  return { author, file: text === null ? null : { text, reading: readTrust(text) } };
}

/** Why the text in the work tree differs from the committed one, which is what everybody reads; null if it does not. */
export async function uncommittedProblem(text: string, options: HubOptions): Promise<readonly [string, string] | null> {
  const [committed = ""] = await committedVersions(options, trustPath);
  if (committed === text) return null;
  if (committed === text.replaceAll("\r\n", "\n"))
    return [
      `Git converts the line endings of ${trustPath} here, and signatures cover the bytes that it stores`,
      "add the line trust/** -text to .gitattributes, commit it, and check the file out again",
    ];
  return [`${trustPath} has uncommitted changes`, "commit it on its own first, or discard them"];
}

/** What is in force by the record: null when nothing is, `unknown` when the record cannot be read from here. */
export type TrustInForce = TrustRecord | null | "unknown";

/** What is in force in a work tree's fleet. Never rejects for want of a network: signing must work offline. */
export async function trustInForce(
  options: HubOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<TrustInForce> {
  try {
    return (await readRecordedLedger(options, environment)).trust;
  } catch (error) {
    if (error instanceof Fault && error.code !== "StateUnreadable") return "unknown";
    throw error;
  }
}

/** What a file of the work tree says; null where there is none. Links are not followed. */
async function textAt({ name }: Author, path: string): Promise<string | null> {
  const full = join(name, path);
  const entry = await lstat(full).catch(() => null);
  return entry?.isFile() === true && entry.size <= largestTrustFile ? readFile(full, "utf8") : null;
}

/** What is larger is no signature, and no usable trust file. */
export const largestTrustFile = 1 << 20;

/** The version that a trust file says it follows: as it is in force, or else as an earlier commit has it. */
export async function versionBefore(
  { previous }: Trust,
  record: TrustInForce,
  options: HubOptions,
): Promise<Trust | null> {
  if (previous === null) return null;
  if (record !== null && record !== "unknown" && record.trust.digest === previous) return record.trust;
  const text = (await committedVersions(options, trustPath)).find((it) => digestOfText(it) === previous);
  return text === undefined ? null : readTrust(text).trust;
}

export interface SignatureFile {
  readonly path: string;
  readonly text: string;
}

const signatureFolder = "trust/sigs";

/** As many are looked at; there are never more roots. */
export const signaturesLimit = 256;

/** The signatures of a version in the work tree, by file name. */
export async function signatureFiles(author: Author, version: number): Promise<readonly SignatureFile[]> {
  const names = await readdir(join(author.name, signatureFolder)).catch(() => []);
  const own = names.filter((it) => it.startsWith(`${version}.`) && it.endsWith(".sig")).sort(compareText);
  const files = own.slice(0, signaturesLimit).map(async (name) => {
    const path = `${signatureFolder}/${name}`;
    return { path, text: await textAt(author, path) };
  });
  return (await Promise.all(files)).flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
}

/** The path of a key's signature of a version, with characters replaced that a file name should not have. */
export const signaturePath = (version: number, fingerprint: string): string =>
  `${signatureFolder}/${version}.${fingerprint.replace("SHA256:", "").replaceAll("/", "_").replaceAll("+", "-")}.sig`;

/** What signatures say about the text of a version, by the OpenPGP certificates that these versions list. */
export async function signatureFacts(
  text: string,
  files: readonly SignatureFile[],
  versions: readonly (Trust | null)[],
): Promise<readonly DetachedSignature[]> {
  const certificates = [
    ...new Set(
      versions.flatMap((it) => [...(it?.principals.values() ?? [])].flatMap((who) => [...who.openPgp.values()])),
    ),
  ];
  return Promise.all(
    files.map(async ({ path, text: armored }) => ({
      path,
      fact: await detachedSignatureFact(text, armored, certificates),
    })),
  );
}

/** A version after the one before it, as it is with the signatures in these files. */
export const trustStepOf =
  ({ before, next, text }: Pick<TrustStep, "before" | "next"> & { readonly text: string }) =>
  async (files: readonly SignatureFile[]): Promise<TrustStep> => ({
    before,
    next,
    signatures: await signatureFacts(text, files, [before, next]),
    now: now(),
  });

/** Files with public keys, as a command line names them. */
export interface KeyOptions {
  readonly key: readonly string[];
  readonly openpgp: readonly string[];
}

/** Public keys: OpenSSH lines, and armored OpenPGP certificates. */
interface ReadKeys {
  readonly keys: readonly string[];
  readonly openpgp: readonly string[];
}

type Reading =
  | ({ readonly kind: "keys" } & ReadKeys)
  | { readonly kind: "declined"; readonly message: string; readonly fix: string };

/**
 * Reads files with public keys, each valid and strong; private keys are never shown. A file of SSH keys may hold
 * several, a line each, as forges give them out (`https://github.com/NAME.keys`).
 */
export async function keyFiles({ key, openpgp }: KeyOptions): Promise<Reading> {
  const keys: string[] = [];
  const certificates: string[] = [];
  for (const { path, isSsh } of [
    ...key.map((it) => ({ path: it, isSsh: true })),
    ...openpgp.map((it) => ({ path: it, isSsh: false })),
  ]) {
    const text = await textOf(path);
    if (text === null)
      return { kind: "declined", message: `${path} cannot be read`, fix: "give a file with public keys" };
    if (/PRIVATE KEY/.test(text))
      return { kind: "declined", message: `${path} is a private key`, fix: "give the public key, such as FILE.pub" };
    const found = isSsh ? linesOf(text) : [text.replaceAll("\r", "").trim()];
    for (const it of found) {
      const read = isSsh ? parseSshKey(it) : parseOpenPgpKey(it);
      if (read.kind === "unusable") return { kind: "declined", message: `${path} ${read.message}`, fix: read.fix };
    }
    if (found.length === 0) return { kind: "declined", message: `${path} contains no key`, fix: "give a .pub file" };
    (isSsh ? keys : certificates).push(...found);
  }
  return { kind: "keys", keys, openpgp: certificates };
}

/** The largest file of keys. */
const largestKeyFile = 64 << 10;

async function textOf(path: string): Promise<string | null> {
  const size = await stat(path).then(
    (it) => (it.isFile() ? it.size : null),
    () => null,
  );
  return size === null || size > largestKeyFile ? null : readFile(path, "utf8").catch(() => null);
}

const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((it) => it.trim())
    .filter((it) => it !== "" && !it.startsWith("#"));
