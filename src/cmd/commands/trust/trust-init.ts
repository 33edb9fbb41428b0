import { readTrust, trustPath } from "../../../core/intent/trust/trust-file.ts";
import { type FirstTrust, firstTrustText } from "../../edits/trust-file.ts";
import { type CommitOptions, commitFiles, type Declined, usageError } from "../../hub/commit-files.ts";
import { gitSigningKey } from "../../hub/wire.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { type KeyOptions, keyFiles, openTrustFile, trustInForce } from "./trust-files.ts";
import {
  anchorLines,
  expiryObjection,
  invalidExpiry,
  parseExpiry,
  printUnusableTrust,
  restoreFix,
} from "./trust-lines.ts";

export interface TrustInitOptions extends CommitOptions, KeyOptions {
  readonly name: string;
  /** `PLACEMENT/STAGE` each. */
  readonly approves: readonly string[];
  readonly expires: string;
}

/** Writes version 1: one person who may change the file, and approve. The operator vouches for it by its digest. */
export async function trustInit(options: TrustInitOptions, terminal: Terminal): Promise<ExitCode> {
  const { name } = options;
  const parsed = parsedOptions(options);
  if (parsed.kind === "declined") return usageError(parsed.message, parsed.fix, terminal);
  const { author, file } = await openTrustFile(options);
  if (file !== null)
    return usageError(`${trustPath} already exists`, "change it with flotilla trust add, rotate or revoke", terminal);
  const record = await trustInForce(options, terminal.environment);
  if (record !== null && record !== "unknown")
    return usageError(`version ${record.trust.version} of ${trustPath} is in force`, restoreFix(options), terminal);
  const own = await gitSigningKey(options);
  const keys = await firstKeys(options, own);
  if (keys.kind === "declined") return usageError(keys.message, keys.fix, terminal);
  const text = firstTrustText({ name, keys: keys.keys, openpgp: keys.openpgp, ...parsed.first });
  const { trust, problems } = readTrust(text);
  if (trust === null) return printUnusableTrust(problems, terminal);
  const objection = expiryObjection(null, trust);
  if (objection !== null) return usageError(...objection, terminal);
  const files = [{ path: trustPath, text, before: null }];
  const written = { files, subject: `Trust version 1: ${name}`, slug: "trust-1", signed: own !== null };
  const code = await commitFiles(author, written, options, terminal);
  if (options.dryRun === true) return code;
  for (const line of anchorLines(trust.version, trust.digest)) terminal.out(`${line}\n`);
  terminal.err(`warning: ${name} is the only one who may approve, and nobody may approve their own changes\n`);
  terminal.err("  add someone: flotilla trust add NAME --key FILE.pub --approver --root\n");
  return code;
}

type ParsedOptions = { readonly kind: "parsed"; readonly first: Pick<FirstTrust, "approves" | "expires"> } | Declined;

function parsedOptions({ approves, expires: until }: TrustInitOptions): ParsedOptions {
  const wrong = approves.find((it) => !/^.+\/[^/]+$/.test(it));
  if (wrong !== undefined) {
    const fix = "write it as web/production, or web/*";
    return { kind: "declined", message: `${JSON.stringify(wrong)} is not PLACEMENT/STAGE`, fix };
  }
  const expires = parseExpiry(until);
  if (expires === null) return invalidExpiry(until);
  const gates = approves.map((it) => {
    const slash = it.lastIndexOf("/");
    return { placement: it.slice(0, slash), stage: it.slice(slash + 1) };
  });
  return { kind: "parsed", first: { approves: gates, expires } };
}

type OwnKey = Awaited<ReturnType<typeof gitSigningKey>>;

/** The given keys, or else the one that Git signs with. */
async function firstKeys(options: KeyOptions, own: OwnKey): ReturnType<typeof keyFiles> {
  if (options.key.length + options.openpgp.length > 0) return keyFiles(options);
  const message = "no key is given, and Git has no signing key configured, or its public key cannot be found";
  const fix = "git config gpg.format ssh; git config user.signingKey ~/.ssh/id_ed25519.pub; or give --key FILE.pub";
  if (own === null) return { kind: "declined", message, fix };
  return own.kind === "ssh"
    ? { kind: "keys", keys: [own.line], openpgp: [] }
    : { kind: "keys", keys: [], openpgp: [own.armored] };
}
