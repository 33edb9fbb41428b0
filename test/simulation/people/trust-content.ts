import { publicKeyOf, sha256, signatureBy } from "./signing.ts";

/** Everybody whom a trust file names: these approve, the first three may change the file; Dave only writes. */
export const voters = ["ann", "bob", "carol", "erin"] as const;
const roots = ["ann", "bob", "carol"] as const;

/** What a trust file says, in few words: `min=2 four m1/web m3/shop retired=carol`, or `stolen=erin`. */
export interface TrustContent {
  readonly minimum: number;
  readonly fourEyes: boolean;
  /** Places that are protected: of one member and one namespace. */
  readonly places: readonly { readonly cluster: string; readonly namespace: string }[];
  /** Whose key counts no more. */
  readonly revoked: string | null;
  /** Whose key was somebody else's all along, as far as anybody knows. */
  readonly stolen: string | null;
}

/** Reads the words of a step. */
export function trustContentOf(words: string): TrustContent {
  const all = words.split(" ");
  return {
    minimum: Number(all.find((it) => it.startsWith("min="))?.slice("min=".length) ?? 1),
    fourEyes: all.includes("four"),
    places: all
      .filter((it) => it.includes("/"))
      .map((it) => it.split("/"))
      .map(([cluster = "", namespace = ""]) => ({ cluster, namespace })),
    revoked: all.find((it) => it.startsWith("retired="))?.slice("retired=".length) ?? null,
    stolen: all.find((it) => it.startsWith("stolen="))?.slice("stolen=".length) ?? null,
  };
}

/** A version of the trust file that somebody wrote. */
export interface TrustVersion {
  readonly number: number;
  readonly text: string;
  readonly digest: string;
  readonly previous: string | null;
  readonly words: TrustContent;
  /** Enough roots signed it, and it follows a version that they signed. */
  readonly isProper: boolean;
}

/** Writes a version of the trust file; `before` is the one that it follows. */
export function trustVersion(
  words: TrustContent,
  { number, before, isProper }: { readonly number: number; readonly before: string | null; readonly isProper: boolean },
): TrustVersion {
  const text = trustText(words, number, before);
  return { number, text, digest: sha256(text), previous: before, words, isProper };
}

/** Files with the signatures of some roots under a version. */
export const signaturesUnder = ({ number, text }: TrustVersion, count: number): ReadonlyMap<string, string> =>
  new Map(
    roots
      .slice(0, count)
      .map((it) => [`trust/sigs/${number}.${it}.sig`, signatureBy(it, "flotilla-trust-v1", text)] as const),
  );

function trustText(
  { minimum, fourEyes, places, revoked, stolen }: TrustContent,
  number: number,
  before: string | null,
): string {
  const names = `[${voters.join(", ")}]`;
  const people = [...voters, "dave"].map((it) => `    ${it}: {human: true, keys: ["${publicKeyOf(it).line}"]}`);
  const rule = `{placements: ["*"], stages: ["*"], principals: ${names}, minimum: ${minimum}, fourEyes: ${fourEyes}}`;
  const targets = places.map(
    (it) =>
      `    - {clusters: [${it.cluster}], namespaces: [${it.namespace}], principals: ${names}, minimum: ${minimum}}`,
  );
  const revocations = [
    ...(revoked === null ? [] : [`    - {key: "${publicKeyOf(revoked).fingerprint}", kind: retired}`]),
    ...(stolen === null ? [] : [`    - {key: "${publicKeyOf(stolen).fingerprint}", kind: compromised}`]),
  ];
  return [
    "apiVersion: flotilla.dev/v1alpha1",
    "kind: Trust",
    "metadata: {name: root}",
    "spec:",
    `  version: ${number}`,
    ...(before === null ? [] : [`  previous: ${before}`]),
    `  expires: "2027-06-01T00:00:00Z"`,
    "  threshold: 2",
    `  roots: [${roots.join(", ")}]`,
    "  principals:",
    ...people,
    "  approvals:",
    `    - ${rule}`,
    ...(targets.length === 0 ? [] : ["  protectedTargets:", ...targets]),
    ...(revocations.length === 0 ? [] : ["  revocations:", ...revocations]),
    "",
  ].join("\n");
}
