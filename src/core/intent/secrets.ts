import type { Intent, Problem } from "../model/intent.ts";
import { isObject, type Json, member, memberAt } from "../model/json.ts";
import { compareText } from "../model/value.ts";
import { error, type Remark } from "../yaml/remark.ts";

/**
 * Says of a document that it is encrypted with SOPS, which nobody decrypts here; null for any other.
 *
 * Its metadata may be gone while its values are still encrypted: they would pass for texts, or for bad base64.
 */
export function sopsRemark(value: Json): Remark | null {
  if (isObject(member(value, "sops"))) return encrypted;
  const texts = ["data", "stringData"].flatMap((field) => Object.values(member(value, field) ?? {}));
  return member(value, "kind") === "Secret" && texts.some(isEncrypted) ? encrypted : null;
}

const isEncrypted = (value: Json): boolean => typeof value === "string" && value.startsWith("ENC[AES256_GCM,");

/** Whether SOPS left readable which object a document is. */
export const isIdentityEncrypted = (value: Json): boolean =>
  [member(value, "apiVersion"), member(value, "kind"), memberAt(value, "metadata", "name")].some(isEncrypted) ||
  isEncrypted(memberAt(value, "metadata", "namespace"));

const encrypted = error(
  "FLT1905",
  [],
  "this is encrypted with SOPS, which is not supported yet: it is neither decrypted nor placed",
  "let something in the clusters make the Secret, an External Secrets operator for one",
);

/**
 * One note about all Secrets that stand in a repository in plain text; null where none does. Whoever may read the
 * repository may read them, and so may whoever may read the state branch: that holds every file and what each cluster gets.
 */
export function secretsNote({ objects }: Pick<Intent, "objects">): Problem | null {
  const secrets = [...objects.values()].filter(
    ({ id, manifest }) =>
      id.group === "" && id.kind === "Secret" && ["data", "stringData"].some((it) => hasAny(member(manifest, it))),
  );
  const [first] = secrets.sort((a, b) => compareText(a.source.path, b.source.path) || a.source.line - b.source.line);
  if (first === undefined) return null;
  const { path, line, column } = first.source;
  const [which, them] =
    secrets.length === 1 ? ["a Secret stands", "it"] : [`${secrets.length} Secrets, this one first, stand`, "them"];
  return {
    code: "FLT1510",
    severity: "note",
    path,
    line,
    column,
    message: `${which} here in plain text; the state branch repeats ${them} under accepted/ and rendered/, and keeps ${them} in its history`,
    fix: `let nobody read either branch who may not read ${them}, or have something in the clusters make ${them}`,
  };
}

const hasAny = (value: Json): boolean => isObject(value) && Object.keys(value).length > 0;
