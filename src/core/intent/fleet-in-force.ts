import { defaultFleet, type FleetSpec, type Tenant } from "../model/fleet.ts";
import { rememberedPair } from "../model/identity.ts";
import type { ObjectKey, SourcePosition } from "../model/manifest.ts";
import { flotillaGroup } from "../model/names.ts";
import type { Commit } from "../model/value.ts";
import { locateProblem } from "../yaml/locate.ts";
import { error, type FieldProblems, type JsonPath } from "../yaml/problems.ts";
import { absenceDoubts } from "./absence.ts";
import { indexDocuments } from "./document-index.ts";
import type { DecodedDocument } from "./documents.ts";
import { isFleetPath } from "./kinds/fleet.ts";
import type { DocumentContent } from "./kinds/kind.ts";
import {
  type DocumentProblem,
  type DocumentRef,
  type DocumentVersion,
  type DocumentVersions,
  resolveDocuments,
} from "./resolve.ts";
import { isTrustPath, type SourceFile } from "./source-file.ts";
import { grantedKindProblems } from "./tenants/granted-kinds.ts";

/** The settings that are in force at a commit. */
interface FleetInForce {
  /** Of `fleet.yaml`; none without one. */
  readonly versions: DocumentVersions;
  readonly documentProblems: readonly DocumentProblem[];
  readonly suspects: ReadonlyMap<ObjectKey, string>;
  readonly fleet: FleetSpec;
  /** What every document is held against: what was granted before, and what is granted now. */
  readonly tenants: readonly Tenant[];
  /** The version before, where what it grants counts besides what is granted now. */
  readonly granting: DocumentVersion | null;
}

/**
 * Decides which settings are in force: they say where to look for everything else, so they are resolved first. `granting`
 * is what granted until now: a commit does not widen what it is judged by itself (`intent/README.md#tenants`).
 */
export function fleetInForce(
  commit: Commit,
  files: readonly SourceFile[],
  { before, granting }: { readonly before: DocumentVersions; readonly granting: DocumentVersion | null },
): FleetInForce {
  const own = files.filter((it) => isFleetPath(it.path));
  const refs = indexDocuments(own, []).refs.filter(isFleet);
  const previous = fleetIn(before);
  const absenceDoubt = refs.length > 0 || previous.size === 0 ? null : absenceDoubts(indexDocuments(files, []), []);
  const context = {
    commit,
    before: previous,
    absenceDoubt: absenceDoubt ?? (() => null),
    check: fleetProblems(files.some((it) => isTrustPath(it.path))),
  };
  const { versions, documentProblems, suspects } = resolveDocuments(refs, context);
  const [fleet] = [...versions.values()].flatMap(({ content }) => (content.kind === "fleet" ? [content.fleet] : []));
  // What two files grant at once counts as well: neither of them is used, and neither may be forgotten.
  const now = distinct([...refs, ...versions.values()].map(tenantsIn));
  const tenants = granting === null ? now : distinct([now, tenantsBefore(granting)]);
  const isWider = tenants.length > now.length;
  if (!isWider || granting === null)
    return { versions, documentProblems, suspects, fleet: fleet ?? defaultFleet, tenants: now, granting: null };
  return {
    versions,
    documentProblems,
    suspects: new Map([...suspects, [granting.key, stillGranting]]),
    fleet: fleet ?? defaultFleet,
    tenants,
    granting,
  };
}

const stillGranting = "as far as it limits tenants: what is granted more counts from the next commit";

/** Whoever may push may edit `fleet.yaml`: where there is a trust file, only its roots may say who may define what. */
const fleetProblems =
  (hasTrust: boolean) =>
  (_: DocumentRef, content: DocumentContent): FieldProblems => {
    if (content.kind !== "fleet" || content.fleet.tenants.length === 0) return none;
    const beside = "are not yet supported beside trust/root.yaml; what they limit stays limited";
    return [
      ...(hasTrust ? [error("FLT1901", tenantsPath, beside, "remove the trust file, or the tenants")] : []),
      ...grantedKindProblems(content.fleet.tenants, tenantsPath),
    ];
  };

const tenantsPath: JsonPath = ["spec", "tenants"];

const isFleet = ({ id }: Pick<DocumentRef, "id">): boolean => id.group === flotillaGroup && id.kind === "Fleet";

/** The version of `fleet.yaml` among others; one at most, since there is one name for it. */
export function fleetIn(versions: DocumentVersions): DocumentVersions {
  const found = new Map<ObjectKey, DocumentVersion>();
  for (const [key, it] of versions) if (isFleet(it)) found.set(key, it);
  return found;
}

/** What a fleet's document grants, with the place of every entry; whether or not it is used. */
const tenantsIn = ({ document, source }: Pick<DocumentRef, "document" | "source">): readonly Tenant[] =>
  placedTenants(document, source);

const placedTenants = rememberedPair((document: DecodedDocument, { path }: SourcePosition): readonly Tenant[] => {
  if (document.kind !== "object" || document.content?.kind !== "fleet") return none;
  return document.content.fleet.tenants.map((it, i) => {
    const { line, column } = locateProblem(document, error("FLT1404", [...tenantsPath, i], "", ""));
    return { ...it, place: `${path}:${line}:${column}` };
  });
});

/** The same: at its place there may be something else now. */
const tenantsBefore = (granting: DocumentVersion): readonly Tenant[] =>
  tenantsIn(granting).map((it) => ({ ...it, place: `${it.place} before this commit` }));

const none: readonly never[] = [];

/** What is in any of the lists, each grant once; the first list itself (`===`) where the others add nothing to it. */
function distinct(lists: readonly (readonly Tenant[])[]): readonly Tenant[] {
  const [first = none, ...others] = new Set(lists);
  const seen = new Set(first.map(grantText));
  const added: Tenant[] = [];
  for (const it of others.flat()) {
    const text = grantText(it);
    if (!seen.has(text)) added.push(it);
    seen.add(text);
  }
  return added.length === 0 ? first : [...first, ...added];
}

const grantText = ({ place: _, ...grant }: Tenant): string => JSON.stringify(grant);
