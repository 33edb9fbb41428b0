import { readTrust, type TrustReading, trustPath } from "../../../core/intent/trust/trust-file.ts";
import type { Json } from "../../../core/model/json.ts";
import type { TrustRecord } from "../../../core/model/trust.ts";
import { type Commit, oneLine } from "../../../core/model/value.ts";
import { type ShownTrust, signersOf, trustLines, trustValue } from "../../../core/report/trust-text.ts";
import type { Repository } from "../../../shell/reconcile/ports.ts";
import { readStateBranch } from "../../../shell/reconcile/state.ts";
import { usageError } from "../../hub/commit-files.ts";
import { closing, type HubOptions, now, openHub, readableHub } from "../../hub/wire.ts";
import type { ExitCode } from "../../terminal/exit-code.ts";
import { codeOfProblems, printProblems } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";
import { largestTrustFile, type SignatureFile, signatureFacts, signaturesLimit } from "./trust-files.ts";
import { restoreFix } from "./trust-lines.ts";

export interface TrustShowOptions extends HubOptions {
  readonly output: Format;
}

/** Shows the trust file of the source branch, whose signatures it carries, and what is in force by the record. */
export async function trustShow(options: TrustShowOptions, terminal: Terminal): Promise<ExitCode> {
  return closing(await openHub(await readableHub(options, terminal), terminal.environment), async (repository) => {
    const { source, state } = await repository.heads();
    const found = source === null ? null : await trustAt(repository, source);
    const { ledger } = await readStateBranch(repository, state);
    if (found === null) return usageError(...missing(ledger.trust, options), terminal);
    const shown = await shownOf(found, ledger.trust);
    const { problems } = found.reading;
    if (options.output === "text") {
      printProblems(problems, terminal);
      for (const line of shown === null ? unusableLines(ledger.trust, options) : trustLines(shown))
        terminal.out(`${oneLine(line)}\n`);
    } else {
      const value = { trust: shown === null ? null : trustValue(shown), problems: problems as unknown as Json };
      terminal.out(encoded(value, options.output));
    }
    return codeOfProblems(problems);
  });
}

interface FoundTrust {
  readonly text: string;
  readonly reading: TrustReading;
  readonly signatures: readonly SignatureFile[];
}

async function trustAt(repository: Repository, commit: Commit): Promise<FoundTrust | null> {
  const files = (await repository.files(commit, "trust")).filter(({ kind }) => kind === "file");
  const root = files.find(({ path }) => path === trustPath);
  if (root === undefined) return null;
  const textOf = await textsOf(repository, [root]);
  const text = textOf(root);
  const reading = readTrust(text);
  const version = reading.trust?.version ?? null;
  const sigs = files.filter(({ path }) => path.startsWith(`trust/sigs/${version}.`) && path.endsWith(".sig"));
  const own = sigs.slice(0, signaturesLimit);
  const signatureOf = await textsOf(repository, own);
  return { text, reading, signatures: own.map((it) => ({ path: it.path, text: signatureOf(it) })) };
}

async function textsOf(repository: Repository, files: Awaited<ReturnType<Repository["files"]>>) {
  const blobs = await repository.blobs(
    files.map((it) => it.blob),
    largestTrustFile,
  );
  // A byte order mark is part of the text: the digest is over it.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return ({ blob }: (typeof files)[number]): string => decoder.decode(blobs.get(blob));
}

async function shownOf({ text, reading, signatures }: FoundTrust, record: ShownTrust["record"]) {
  const { trust } = reading;
  if (trust === null) return null;
  const before = record !== null && record.trust.digest === trust.previous ? record.trust : null;
  const facts = await signatureFacts(text, signatures, [before, trust]);
  const at = now();
  return { trust, record, signed: signersOf({ before, next: trust, signatures: facts, now: at }), now: at };
}

function missing(record: ShownTrust["record"], options: TrustShowOptions): [string, string] {
  const where = `there is no ${trustPath} on ${options.branch}`;
  return record === null ? [where, "flotilla trust init writes one"] : [`${where}${lost(record)}`, restoreFix(options)];
}

const unusableLines = (record: ShownTrust["record"], options: TrustShowOptions): readonly string[] =>
  record === null
    ? [`${trustPath} cannot be used, and none is in force`]
    : [`${trustPath} cannot be used${lost(record)}`, restoreFix(options)];

const lost = ({ trust: { version, digest } }: TrustRecord): string =>
  `, and every gate is closed: version ${version} is in force, with the SHA-256 ${digest}`;
