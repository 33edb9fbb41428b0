import { type ObjectKey, objectText } from "../model/manifest.ts";
import type { Commit } from "../model/value.ts";
import { type Claim, type Complaint, keyOf, placeText, type Version, type Versions } from "./claim.ts";
import { error, isError, type Remark } from "./remark.ts";

/** What claims are settled by. */
export interface Terms {
  readonly commit: Commit;
  /** What was in force until now. */
  readonly before: Versions;
  /** Whether an object's absence is no deletion, because something that cannot be read might be it. */
  readonly isSilent: (version: Version) => boolean;
  /** What speaks against a version taking the place of the one before. */
  readonly check: (
    claim: Claim & { readonly content: Version["content"] },
    before: Version | null,
  ) => readonly Remark[];
}

/**
 * Decides for every object which document is in force: `RULINGS.md` D 2.
 *
 * One usable document is. An unusable one, two of them, or one that may not replace what was accepted leave what was in
 * force before; nothing if there was nothing. An object without a document is gone, unless nothing was heard of it.
 */
export function settle(
  claims: readonly Claim[],
  { commit, before, isSilent, check }: Terms,
): { readonly versions: Map<ObjectKey, Version>; readonly complaints: readonly Complaint[] } {
  const versions = new Map<ObjectKey, Version>();
  const complaints: Complaint[] = [];
  const byKey = grouped(claims);
  for (const [key, [claim, ...rivals]] of byKey) {
    const previous = before.get(key) ?? null;
    const remarks = remarksOn(claim, rivals, check, previous);
    complaints.push(...remarks);
    const content = remarks.some((it) => isError(it.remark)) ? null : claim.content;
    if (content?.kind === "later") continue;
    if (content !== null) versions.set(key, { ...claim, content, commit, isHeld: false });
    else if (previous !== null) versions.set(key, held(previous));
  }
  for (const [key, previous] of before) if (!byKey.has(key) && isSilent(previous)) versions.set(key, held(previous));
  return { versions, complaints };
}

/** The version before, kept in force against or without its document. */
export const held = (version: Version): Version => (version.isHeld ? version : { ...version, isHeld: true });

function grouped(claims: readonly Claim[]): ReadonlyMap<ObjectKey, readonly [Claim, ...Claim[]]> {
  const groups = new Map<ObjectKey, [Claim, ...Claim[]]>();
  for (const claim of claims) {
    const key = keyOf(claim.id);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [claim]);
    else group.push(claim);
  }
  return groups;
}

function remarksOn(
  claim: Claim,
  rivals: readonly Claim[],
  check: Terms["check"],
  previous: Version | null,
): readonly Complaint[] {
  if (rivals.length > 0) {
    const all = [claim, ...rivals];
    return all.map((it) => ({
      claim: it,
      remark: rivalry(
        it,
        all.filter((other) => other !== it),
      ),
    }));
  }
  const { content } = claim;
  if (content === null) return [];
  return check({ ...claim, content }, previous).map((remark) => ({ claim, remark }));
}

function rivalry({ id }: Claim, others: readonly Claim[]): Remark {
  const places = others.slice(0, 3).map((it) => placeText(it.source));
  const more = others.length > places.length ? ` and ${others.length - places.length} more` : "";
  const message = `${objectText(id)} is also defined at ${places.join(", ")}${more}; none of them counts`;
  return error("FLT1316", ["metadata", "name"], message, "keep one of them");
}
