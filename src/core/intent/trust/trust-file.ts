import { isNode, parseDocument } from "yaml";
import type {
  Principal as WrittenPrincipal,
  Rule as WrittenRule,
  Target as WrittenTarget,
  Trust as WrittenTrust,
} from "#schemas/trust";
import type { Problem } from "../../model/intent.ts";
import { digestOfText, isObject } from "../../model/json.ts";
import type { ApprovalRule, Principal, ProtectedTarget, Trust } from "../../model/trust.ts";
import { compareText, type Digest, type DurationMs, durationOf, type Instant, instantOf } from "../../model/value.ts";
import { readYaml } from "../../yaml/kyaml.ts";
import { fileWideProblem, locateDocument, type ParsedValue } from "../../yaml/locate.ts";
import { error, type FieldProblem, isError, type LocatedProblem } from "../../yaml/problems.ts";
import { positionsIn, slicesOf, type TextSlice } from "../../yaml/text.ts";
import { metadataProblems } from "../kinds/metadata.ts";
import { checkSchema } from "../kinds/schema-check.ts";
import { parseOpenPgpKey } from "./openpgp-key.ts";
import { type KeyResult, parseSshKey } from "./ssh-key.ts";
import { normalizedFingerprint, trustProblems, type WrittenApprovers } from "./trust-rules.ts";

/** The one file that defines who may approve. */
export const trustPath = "trust/root.yaml";

/** The largest trust file, in UTF-16 units: 256 principals with three SSH keys each, or twenty OpenPGP certificates. */
const maxTrustText = 64 * 1024;

/** A trust file is usable as a whole, or not at all. */
export interface TrustReading {
  /** Null when anything is wrong with it: then every gate is closed (`plan/README.md#d-6`). */
  readonly trust: Trust | null;
  readonly problems: readonly Problem[];
}

/**
 * Reads `trust/root.yaml` (`trust/README.md#the-trust-file`), strictly: what is a warning elsewhere is an error here.
 *
 * It is never used in part: without a rule or a revocation that has a typo, what should be closed would be open. Whether
 * it may follow the version that is in force is decided in `core/trust`.
 */
export function readTrust(text: string): TrustReading {
  const { value, problems: located } = readText(text);
  const problems = located.map((it): Problem => ({ ...it, severity: severityOf(it), path: trustPath }));
  const trust = value === null || problems.some(isError) ? null : trustOf(value, digestOfText(text));
  return { trust, problems };
}

const severityOf = ({ severity }: LocatedProblem): LocatedProblem["severity"] =>
  severity === "warning" ? "error" : severity;

interface TextReading {
  readonly value: WrittenTrust | null;
  readonly problems: readonly LocatedProblem[];
}

function readText(text: string): TextReading {
  if (text.length > maxTrustText) return unreadable(tooLarge);
  if (text.startsWith("\ufeff")) return unreadable(byteOrderMark);
  // First, so that no other message shows a part of it.
  if (/PRIVATE KEY/.test(text)) return unreadable(privateKey);
  const documents = slicesOf(text, 100).flatMap(documentIn);
  const [document] = documents;
  if (document === undefined || documents.length > 1) return unreadable(notOneTrust);
  const { yaml } = document;
  if (yaml.textProblems.some(isError) || yaml.begin === null) return { value: null, ...locateDocument(document, []) };
  if (!isObject(yaml.value)) return unreadable(notOneTrust);
  const checked = checkSchema("Trust", yaml.value);
  if (!checked.isValid) return { value: null, ...locateDocument(document, checked.problems) };
  const problems = [...metadataProblems(yaml.value), ...trustProblems(checked.document)];
  return { value: checked.document, ...locateDocument(document, problems) };
}

/** A slice that is not empty. */
function documentIn(slice: TextSlice): readonly ParsedValue[] {
  const positionOf = positionsIn(slice);
  const yaml = readYaml(slice, positionOf);
  return yaml.begin === null && yaml.textProblems.length === 0 ? [] : [{ slice, positionOf, yaml, base: [] }];
}

const unreadable = (problem: FieldProblem): TextReading => ({ value: null, problems: [fileWideProblem(problem)] });

const tooLarge = error("FLT1234", [], `the file is larger than ${maxTrustText} characters`, "remove old keys");

const byteOrderMark = error("FLT1021", [], "the file begins with a byte order mark", "save it without one");

const notOneTrust = error(
  "FLT1234",
  [],
  "this must be one Trust of flotilla.dev/v1alpha1, and nothing else",
  "restore the last version that was accepted, or write one document",
);

const privateKey = error(
  "FLT1229",
  [],
  "this file contains a private key",
  "revoke it: everybody who can read the repository has it now; then list another one's public half",
);

/** How old a request may get where the rule does not say (`yaml/README.md#limits`). */
const defaultMaxAge = (24 * 3_600_000) as DurationMs;

/** A trust file after defaults, which has passed its schema and its rules. */
function trustOf({ spec }: WrittenTrust, digest: Digest): Trust {
  const people = Object.entries(spec.principals).sort(([a], [b]) => compareText(a, b));
  return {
    version: spec.version,
    digest,
    previous: (spec.previous ?? null) as Digest | null,
    // The rules have checked it; an expiry long ago would allow nothing.
    expires: instantOf(spec.expires) ?? (0 as Instant),
    principals: new Map(people.map(([name, it]) => [name, principalOf(name, it)])),
    roots: { principals: spec.roots, threshold: spec.threshold },
    approvals: (spec.approvals ?? []).map(approvalRuleOf),
    protectedTargets: (spec.protectedTargets ?? []).map(targetOf),
    revocations: (spec.revocations ?? []).map(({ key, kind }) => ({ key: normalizedFingerprint(key), kind })),
  };
}

function principalOf(name: string, written: WrittenPrincipal): Principal {
  const { human, keys = [], authorities = [], openpgp = [], forge = {} } = written;
  return {
    name,
    isHuman: human,
    sshKeys: keys.flatMap((it) => fingerprintOf(parseSshKey(it))),
    sshAuthorities: authorities.flatMap((it) => fingerprintOf(parseSshKey(it))),
    openPgp: new Map(openpgp.flatMap((it) => fingerprintOf(parseOpenPgpKey(it)).map((key) => [key, it] as const))),
    forgeIds: new Map(Object.entries(forge).sort(([a], [b]) => compareText(a, b))),
  };
}

const fingerprintOf = (key: KeyResult): readonly string[] => (key.kind === "key" ? [key.fingerprint] : []);

function approvalRuleOf(written: WrittenRule): ApprovalRule {
  const { placements, stages, fourEyes = true, unsignedChanges = "oneMore", maxAge = "" } = written;
  const age = durationOf(maxAge) ?? defaultMaxAge;
  return { placements, stages, ...approversOf(written), fourEyes, unsignedChanges, maxAge: age };
}

const targetOf = (written: WrittenTarget): ProtectedTarget => ({
  clusters: written.clusters,
  namespaces: written.namespaces,
  ...approversOf(written),
  ...(written.released === undefined ? {} : { released: written.released }),
});

/** Reviews on a forge count only where the rule says so (`trust/README.md#d-04`). */
const approversOf = ({ principals, minimum = 1, accept = ["commit", "detached"] }: WrittenApprovers) => ({
  principals,
  minimum,
  accept,
});

/** A note about one rule of a usable trust file: see `core/trust/quorum.ts`. */
interface RuleNote {
  readonly field: "approvals" | "protectedTargets";
  readonly index: number;
  readonly isHopeless: boolean;
  readonly message: string;
}

/** Notes as problems with positions; none is an error. `text`: of a usable trust file. */
export function trustNotes(text: string, notes: readonly RuleNote[]): readonly Problem[] {
  if (notes.length === 0) return [];
  const document = parseDocument(text);
  return notes.map(({ field, index, isHopeless, message }): Problem => {
    const node: unknown = document.getIn(["spec", field, index], true);
    const before = text.slice(0, isNode(node) ? (node.range?.[0] ?? 0) : 0);
    const fix = isHopeless
      ? "add people to the rule, or lower its minimum"
      : "if that is too few, add people to the rule";
    const at = { path: trustPath, line: before.split("\n").length, column: before.length - before.lastIndexOf("\n") };
    return { code: "FLT1239", severity: isHopeless ? "warning" : "note", ...at, message, fix };
  });
}
