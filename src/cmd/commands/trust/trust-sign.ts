import { trustPath } from "../../../core/intent/trust/trust-file.ts";
import type { Trust } from "../../../core/model/trust.ts";
import { oneLine } from "../../../core/model/value.ts";
import {
  mayTrustSign,
  nextTrustVerdict,
  signersOf,
  type TrustStep,
  trustDifference,
} from "../../../core/report/trust-text.ts";
import { trustNamespace } from "../../../core/trust/trust-chain.ts";
import { type CommitOptions, commitFiles, usageError } from "../../hub/commit-files.ts";
import { now } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { printProblems } from "../../terminal/outcome.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import {
  openTrustFile,
  signatureFiles,
  signaturePath,
  type TrustInForce,
  trustInForce,
  trustStepOf,
  uncommittedProblem,
  versionBefore,
} from "./trust-files.ts";
import { anchorLines, chainLines, quorumLines } from "./trust-lines.ts";

/**
 * Signs the version in the work tree with the person's key, after showing what it changes. The signature covers the
 * bytes there: they are shown by their meaning, not by their text.
 */
export async function trustSign(options: CommitOptions, terminal: Terminal): Promise<ExitCode> {
  const { author, file } = await openTrustFile(options);
  if (file === null) return usageError(`there is no ${trustPath}`, "flotilla trust init writes the first", terminal);
  const { text, reading } = file;
  const next = reading.trust;
  if (next === null) {
    printProblems(reading.problems, terminal);
    return exitCodes.problems;
  }
  const record = await trustInForce(options, terminal.environment);
  if (record !== null && record !== "unknown" && record.trust.digest === next.digest) {
    terminal.out(`version ${next.version} is already in force: it needs no more signatures\n`);
    return exitCodes.done;
  }
  const loose = await uncommittedProblem(text, options);
  if (loose !== null) return usageError(...loose, terminal);
  const before = await versionBefore(next, record, options);
  const flaw = flawOf(next, before, record);
  if (flaw !== null) return usageError(flaw, "correct it, commit it on its own, and sign that", terminal);
  const there = await signatureFiles(author, next.version);
  const stepOf = trustStepOf({ before, next, text });
  for (const line of [
    `version ${next.version} of ${trustPath}, SHA-256 ${next.digest}`,
    ...differenceLines(await stepOf(there)),
  ])
    terminal.out(`${line}\n`);
  for (const line of quorumLines(next, before)) terminal.err(`${oneLine(line)}\n`);
  if (options.dryRun === true) return exitCodes.done;
  const own = { path: "your signature", text: await author.sign(new TextEncoder().encode(text), trustNamespace) };
  const step = await stepOf([...there, own]);
  const signer = signersOf(step).find((it) => it.path === own.path)?.signer;
  if (signer === undefined || signer.kind === "denied")
    return usageError(signer?.because ?? "nobody signed", "configure Git to sign with a root's key", terminal);
  const { name } = signer.principal;
  if (!mayTrustSign(step, name))
    return usageError(`${name} is not a root of this version or the one before`, "a root has to sign it", terminal);
  const path = signaturePath(next.version, signer.key);
  const old = there.find((it) => it.path === path)?.text ?? null;
  if (old === own.text) {
    terminal.out(`${path} already contains your signature\n`);
    return exitCodes.done;
  }
  const slug = `trust-${next.version}-${name.replaceAll(/[^a-z0-9-]+/g, "-")}`;
  const files = [{ path, text: own.text, before: old }];
  const written = { files, subject: `Sign trust version ${next.version}`, slug, signed: true };
  const code = await commitFiles(author, written, options, terminal);
  for (const line of nextLines(step, record, options)) terminal.out(`${line}\n`);
  return code;
}

/** What no signature can fix: a version that does not follow the one in force, or expires too late. Null: nothing. */
function flawOf(next: Trust, before: Trust | null, record: TrustInForce): string | null {
  const current = record === null || record === "unknown" ? before : record.trust;
  const verdict = nextTrustVerdict({ before: current, next, signatures: [], now: now() });
  // FLT1222: signatures are missing; FLT1235: an anchor is.
  return verdict.kind !== "refused" || ["FLT1222", "FLT1235"].includes(verdict.denial.code)
    ? null
    : verdict.denial.because;
}

function nextLines(step: TrustStep, record: TrustInForce, options: CommitOptions): readonly string[] {
  const { before, next } = step;
  if (record === null || next.previous === null) return anchorLines(next.version, next.digest);
  if (before === null) return ["what else is needed cannot be told here, without the version before"];
  return chainLines(next, { verdict: nextTrustVerdict(step), before }, options);
}

function differenceLines(step: TrustStep): readonly string[] {
  const { before, next } = step;
  const signed = signersOf(step).map(({ path, signer }) =>
    signer.kind === "denied"
      ? `  ${path}: does not count: ${signer.because}`
      : `  ${path}: ${signer.principal.name} with ${signer.key}`,
  );
  const changes =
    before === null
      ? next.previous === null
        ? ["it is the first version"]
        : [`the version before, with the SHA-256 ${next.previous}, is not here, so its changes cannot be shown`]
      : [
          `it changes version ${before.version}, SHA-256 ${before.digest}:`,
          ...trustDifference(before, next).map((it) => `  ${it}`),
        ];
  return [...changes, ...(signed.length === 0 ? ["no signatures so far"] : ["signatures so far:", ...signed])];
}
