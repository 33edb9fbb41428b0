import type {
  Principal as WrittenPrincipal,
  Rule as WrittenRule,
  Target as WrittenTarget,
  Trust as WrittenTrust,
} from "#schemas/trust";
import { durationOf, instantOf } from "../../model/value.ts";
import { didYouMean } from "../../yaml/nearest.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";
import { repeatedIndices, repeatedProblems } from "../kinds/fields.ts";
import { openPgpSubkeys, parseOpenPgpKey } from "./openpgp-key.ts";
import { type KeyResult, parseSshKey } from "./ssh-key.ts";

/** What rules of both kinds have in common: who approves. */
export type WrittenApprovers = Pick<WrittenRule, "principals" | "minimum" | "accept">;

type Spec = WrittenTrust["spec"];

/** Checks a trust file by its rules (`trust/README.md#the-trust-file`, `#b-66`, `yaml/README.md#b-67`). */
export function trustProblems({ spec }: WrittenTrust): FieldProblems {
  return [
    ...versionProblems(spec),
    ...rootProblems(spec),
    ...principalProblems(spec.principals),
    ...(spec.approvals ?? []).flatMap((it, i) => approvalRuleProblems(spec, it, ["spec", "approvals", i])),
    ...(spec.protectedTargets ?? []).flatMap((it, i) => targetProblems(spec, it, ["spec", "protectedTargets", i])),
    ...revocationProblems(spec),
  ];
}

function versionProblems({ version, previous, expires }: Spec): FieldProblems {
  const problems: FieldProblem[] = [];
  const at = ["spec", "previous"];
  if (version === 1 && previous !== undefined)
    problems.push(error("FLT1307", at, "must not be there in version 1", "remove it, or count the version up"));
  if (version > 1 && previous === undefined)
    problems.push(error("FLT1300", at, "is required after version 1", "add the SHA-256 of the version before"));
  if (previous !== undefined && !/^[0-9a-f]{64}$/.test(previous))
    problems.push(error("FLT1302", at, "is not a digest of 64 hexadecimal digits", "write the file's SHA-256"));
  if (instantOf(expires) === null)
    problems.push(
      error("FLT1224", ["spec", "expires"], "is not an RFC 3339 timestamp", "write it like 2027-10-01T00:00:00Z"),
    );
  return problems;
}

function rootProblems({ threshold, roots, principals }: Spec): FieldProblems {
  const at = ["spec", "threshold"];
  const fix = "lower it, or add roots";
  return [
    ...peopleProblems(principals, roots, ["spec", "roots"]),
    ...(threshold > roots.length ? [error("FLT1223", at, `is more than the ${roots.length} roots`, fix)] : []),
  ];
}

/** Each name has to be of a human principal, and occur once. */
function peopleProblems(principals: Spec["principals"], names: readonly string[], at: JsonPath): FieldProblems {
  return [
    ...repeatedProblems(names, (it) => it, [at, "occurs twice"]),
    ...names.flatMap((name, i) => {
      const principal = Object.hasOwn(principals, name) ? principals[name] : undefined;
      if (principal === undefined) return [unknownPrincipal(name, Object.keys(principals), [...at, i])];
      const fix = "name a human, or set human: true if a person signs with these keys";
      return principal.human ? [] : [error("FLT1231", [...at, i], "is not human; only humans can approve", fix)];
    }),
  ];
}

function unknownPrincipal(name: string, known: readonly string[], at: JsonPath): FieldProblem {
  if (name.includes("*"))
    return error("FLT1233", at, "must be a name; wildcards are not allowed", "list the names", JSON.stringify(name));
  const fix = didYouMean(name, known, "add this principal, with their keys");
  return error("FLT1230", at, "is not the name of a principal", fix, JSON.stringify(name));
}

function approverProblems({ principals }: Spec, rule: WrittenApprovers, at: JsonPath): FieldProblems {
  const { principals: names, minimum = 1, accept = [] } = rule;
  const tooMany = minimum > names.length;
  const fix = "lower it, or add principals";
  return [
    ...peopleProblems(principals, names, [...at, "principals"]),
    ...(tooMany ? [error("FLT1223", [...at, "minimum"], `is more than the ${names.length} named`, fix)] : []),
    ...repeatedProblems(accept, (it) => it, [[...at, "accept"], "occurs twice", "remove it"]),
  ];
}

function approvalRuleProblems(spec: Spec, rule: WrittenRule, at: JsonPath): FieldProblems {
  const { placements, stages, maxAge } = rule;
  const age = maxAge === undefined ? 1 : (durationOf(maxAge) ?? Infinity);
  const fix = "write a duration such as 24h, at most 168h";
  return [
    ...patternProblems(placements, /^(?:[a-z0-9-]+\/)?[a-z0-9-]+$/, [...at, "placements"]),
    ...patternProblems(stages, /^[A-Za-z0-9._-]+$/, [...at, "stages"]),
    ...approverProblems(spec, rule, at),
    ...(age > longestAge ? [error("FLT1302", [...at, "maxAge"], "is not a valid age", fix)] : []),
  ];
}

/** A week (`yaml/README.md#limits`): older requests have to be made again. */
const longestAge = 168 * 3_600_000;

const targetProblems = (spec: Spec, target: WrittenTarget, at: JsonPath): FieldProblems => [
  ...patternProblems(target.clusters, /^[a-z0-9-]+(?:@[a-z0-9-]+)?$/, [...at, "clusters"]),
  ...patternProblems(target.namespaces, /^[a-z0-9-]+$/, [...at, "namespaces"]),
  ...approverProblems(spec, target, at),
];

/** Names of a form, or prefixes of such names with a `*` behind them. */
function patternProblems(patterns: readonly string[], form: RegExp, at: JsonPath): FieldProblems {
  return patterns.flatMap((it, i) => {
    const start = it.endsWith("*") ? it.slice(0, -1) : null;
    // A prefix may end in the middle of a name.
    const isFine = start === null ? form.test(it) : start === "" || (form.test(`${start}x`) && !start.includes("@"));
    const fix = "write a name, or a prefix with a * behind it";
    return isFine ? [] : [error("FLT1302", [...at, i], "matches nothing", fix, JSON.stringify(it))];
  });
}

/** As printed, in full: two bits of the last base64 digit of 256 bits are unused, and never set. */
const fingerprintForm = /^(?:SHA256:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]|[0-9A-F]{40}|[0-9A-F]{64})$/;

function revocationProblems({ principals, revocations = [] }: Spec): FieldProblems {
  const at = (i: number): JsonPath => ["spec", "revocations", i, "key"];
  const keys = revocations.map(({ key }) => normalizedFingerprint(key));
  const subkeys = ownersOfSubkeys(principals);
  const fix = "write SHA256:… of an SSH key, or all 40 or 64 digits of an OpenPGP fingerprint";
  const whole = "revoke the primary key, whose fingerprint gpg prints first";
  return [
    ...keys.flatMap((key, i) =>
      fingerprintForm.test(key) ? [] : [error("FLT1227", at(i), "is not a full fingerprint", fix, JSON.stringify(key))],
    ),
    ...keys.flatMap((key, i) => {
      const owner = subkeys.get(key);
      return owner === undefined ? [] : [error("FLT1227", at(i), `is only a subkey of ${owner}'s`, whole)];
    }),
    ...repeatedIndices(keys, (it) => it).map((i) => error("FLT1308", at(i), "occurs twice", "remove one of the two")),
  ];
}

function ownersOfSubkeys(principals: Spec["principals"]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const [name, { openpgp = [] }] of Object.entries(principals))
    for (const key of openpgp.flatMap(openPgpSubkeys)) owners.set(key, name);
  return owners;
}

/** A key as revocations name it: the digits of an OpenPGP fingerprint are upper-case. */
export const normalizedFingerprint = (key: string): string => (key.startsWith("SHA256:") ? key : key.toUpperCase());

const maxPrincipals = 256;

/**
 * Checks that every key is valid, strong, and of one principal only (`trust/README.md#the-trust-file`). An authority,
 * whose certificates tell principals apart, may be listed by several; it cannot be a key of its own.
 */
function principalProblems(principals: Spec["principals"]): FieldProblems {
  const people = Object.entries(principals);
  const at = ["spec", "principals"];
  if (people.length > maxPrincipals)
    return [error("FLT1302", at, `have more than ${maxPrincipals} principals`, "remove old ones")];
  const keys = people.flatMap(([name, it]) => keysOf(name, it));
  return [
    ...people.flatMap(([name, it]) => [...nameProblems(name), ...emptyProblems(name, it), ...forgeProblems(name, it)]),
    ...keys.flatMap(({ at: place, key }) => (key.kind === "key" ? [] : [error(key.code, place, key.message, key.fix)])),
    ...repeatedKeyProblems(keys),
    ...repeatedAccountProblems(people),
  ];
}

/** Names are parts of file names and shown: lower-case, so that no two look alike (`trust/README.md#t-22`). */
function nameProblems(name: string): FieldProblems {
  if (/^[a-z0-9](?:[a-z0-9._@+-]{0,126}[a-z0-9])?$/.test(name)) return [];
  const code = name.includes("*") ? "FLT1233" : "FLT1309";
  const fix = "use lower-case letters, digits and . _ @ + -, at most 128 characters";
  const problem = error(code, ["spec", "principals", name], "is not a valid name", fix, JSON.stringify(name));
  return [{ ...problem, on: "key" }];
}

function emptyProblems(name: string, { keys = [], authorities = [], openpgp = [], forge = {} }: WrittenPrincipal) {
  const count = keys.length + authorities.length + openpgp.length + Object.keys(forge).length;
  const fix = "add keys, authorities, openpgp or forge, or remove this principal";
  return count > 0 ? [] : [error("FLT1232", ["spec", "principals", name], "has no keys", fix)];
}

function forgeProblems(name: string, { forge = {} }: WrittenPrincipal): FieldProblems {
  return Object.entries(forge)
    .filter(([, id]) => !/^[1-9][0-9]{0,19}$/.test(id))
    .map(([it]) => {
      const fix = "write the number of the account in quotes: names can change hands";
      return error("FLT1302", ["spec", "principals", name, "forge", it], "is not the number of an account", fix);
    });
}

interface OwnedKey {
  readonly at: JsonPath;
  readonly key: KeyResult;
  readonly isAuthority: boolean;
  readonly owner: string;
}

function keysOf(owner: string, { keys = [], authorities = [], openpgp = [] }: WrittenPrincipal): readonly OwnedKey[] {
  const at = (list: string, i: number): JsonPath => ["spec", "principals", owner, list, i];
  return [
    ...keys.map((it, i) => ({ at: at("keys", i), key: parseSshKey(it), isAuthority: false, owner })),
    ...authorities.map((it, i) => ({ at: at("authorities", i), key: parseSshKey(it), isAuthority: true, owner })),
    ...openpgp.map((it, i) => ({ at: at("openpgp", i), key: parseOpenPgpKey(it), isAuthority: false, owner })),
  ];
}

/** With one key for two principals, one person would count twice, or nobody would know who signed. */
function repeatedKeyProblems(keys: readonly OwnedKey[]): FieldProblems {
  const seen = new Map<string, OwnedKey>();
  return keys.flatMap((it) => {
    if (it.key.kind !== "key") return [];
    const first = seen.get(it.key.fingerprint);
    if (first === undefined) seen.set(it.key.fingerprint, it);
    if (first === undefined || (first.isAuthority && it.isAuthority && first.owner !== it.owner)) return [];
    const whose = first.owner === it.owner ? "occurs twice" : `is also listed for ${first.owner}`;
    return [error("FLT1228", it.at, whose, "keep it only for the owner of the key")];
  });
}

function repeatedAccountProblems(people: readonly (readonly [string, WrittenPrincipal])[]): FieldProblems {
  const seen = new Map<string, string>();
  return people.flatMap(([name, { forge = {} }]) =>
    Object.entries(forge).flatMap(([it, id]) => {
      const first = seen.get(`${it} ${id}`);
      seen.set(`${it} ${id}`, first ?? name);
      if (first === undefined) return [];
      const at = ["spec", "principals", name, "forge", it];
      return [error("FLT1228", at, `is also the account of ${first}`, "keep it only for the owner of the account")];
    }),
  );
}
