import type { Problem } from "../../model/intent.ts";
import { digestOfText, isObject } from "../../model/json.ts";
import type { Trust } from "../../model/trust.ts";
import { readYaml, type YamlDocument } from "../../yaml/kyaml.ts";
import { fileFinding, placed } from "../../yaml/placed.ts";
import { error, type Finding, isError, type Remark } from "../../yaml/remark.ts";
import { type Ruler, rulerOf, slicesOf, type TextSlice } from "../../yaml/text.ts";
import { metadataRemarks } from "../kinds/metadata.ts";
import type { WrittenTrust } from "../kinds/written.ts";
import { schemaRemarks } from "../schema-check.ts";
import { trustOf } from "./trust-content.ts";
import { trustRemarks } from "./trust-rules.ts";

/** The one file that says who may approve. */
export const trustPath = "trust/root.yaml";

/** The largest trust file, in UTF-16 units: 256 principals with three SSH keys each, or twenty OpenPGP certificates. */
const maxTrustText = 64 * 1024;

/** What a trust file says: usable as a whole, or not at all. */
export interface TrustReading {
  /** Null when anything is wrong with it: then every gate is closed (`plan/README.md#d-6`). */
  readonly trust: Trust | null;
  readonly problems: readonly Problem[];
}

/**
 * Reads `trust/root.yaml` (`trust/README.md#the-trust-file`), strictly: what is a warning elsewhere is an error here.
 *
 * A part of it is never used: a rule that was dropped for a slip of the pen, or a revocation, would open what should be
 * closed. Whether it may follow the version that is in force is for `core/trust` to say.
 */
export function readTrust(text: string): TrustReading {
  const { value, findings } = readText(text);
  const problems = findings.map((it): Problem => ({ ...it, severity: severityOf(it), path: trustPath }));
  const trust = value === null || problems.some(isError) ? null : trustOf(value, digestOfText(text));
  return { trust, problems };
}

const severityOf = ({ severity }: Finding): Finding["severity"] => (severity === "warning" ? "error" : severity);

interface TextReading {
  readonly value: WrittenTrust | null;
  readonly findings: readonly Finding[];
}

function readText(text: string): TextReading {
  if (text.length > maxTrustText) return unreadable(tooLarge);
  if (text.startsWith("\ufeff")) return unreadable(marked);
  // Looked for first: no other message may show a part of it.
  if (/PRIVATE KEY/.test(text)) return unreadable(privateKey);
  const documents = slicesOf(text, 100).flatMap(documentOf);
  const [document] = documents;
  if (document === undefined || documents.length > 1) return unreadable(notOne);
  const { yaml } = document;
  if (yaml.flaws.some(isError) || yaml.begin === null) return { value: null, ...placed({ ...document, base: [] }, []) };
  if (!isObject(yaml.value)) return unreadable(notOne);
  const broken = schemaRemarks("Trust", yaml.value);
  // Its schema passed: the value is what its type says.
  const value = yaml.value as unknown as WrittenTrust;
  const remarks = broken.length > 0 ? broken : [...metadataRemarks(yaml.value), ...trustRemarks(value)];
  return { value: broken.length > 0 ? null : value, ...placed({ ...document, base: [] }, remarks) };
}

interface OneDocument {
  readonly slice: TextSlice;
  readonly ruler: Ruler;
  readonly yaml: YamlDocument;
}

/** A slice with something in it, or with something wrong. */
function documentOf(slice: TextSlice): readonly OneDocument[] {
  const ruler = rulerOf(slice);
  const yaml = readYaml(slice, ruler);
  return yaml.begin === null && yaml.flaws.length === 0 ? [] : [{ slice, ruler, yaml }];
}

const unreadable = (remark: Remark): TextReading => ({ value: null, findings: [fileFinding(remark)] });

const tooLarge = error("FLT1234", [], `the file is larger than ${maxTrustText} characters`, "remove old keys");

const marked = error("FLT1021", [], "the file begins with a byte order mark", "save it without one");

const notOne = error(
  "FLT1234",
  [],
  "this must be one Trust of flotilla.dev/v1alpha1, and nothing else",
  "restore the last version that was accepted, or write one document",
);

const privateKey = error(
  "FLT1229",
  [],
  "a private key stands in this file",
  "revoke it: everybody who reads the repository has it now; then list another one's public half",
);
