import { error, type JsonPath, type Remark } from "../../yaml/remark.ts";
import type { WrittenPrincipal } from "../kinds/written.ts";
import { openPgpKeyOf } from "./openpgp-key.ts";
import { type KeyReading, sshKeyOf } from "./ssh-key.ts";

type Principals = Readonly<Record<string, WrittenPrincipal>>;

/** How many principals a trust file may hold. */
const maxPrincipals = 256;

/**
 * Checks who is listed and what they sign with: every key usable, strong, and one person's alone
 * (`trust/README.md#the-trust-file`).
 *
 * An authority may stand with several people, as their certificates tell them apart; it is nobody's own key.
 */
export function principalRemarks(principals: Principals): readonly Remark[] {
  const people = Object.entries(principals);
  const at = ["spec", "principals"];
  const crowd = error("FLT1302", at, `hold more than ${maxPrincipals} principals`, "remove those who left");
  if (people.length > maxPrincipals) return [crowd];
  const keys = people.flatMap(([name, it]) => keysOf(name, it));
  return [
    ...people.flatMap(([name, it]) => [...nameRemarks(name), ...emptyRemarks(name, it), ...forgeRemarks(name, it)]),
    ...keys.flatMap(({ at: place, key }) => (key.kind === "key" ? [] : [error(key.code, place, key.message, key.fix)])),
    ...repeatedKeyRemarks(keys),
    ...repeatedAccountRemarks(people),
  ];
}

/** A name stands in file names and on screens: lower-case, so that no two look alike (`trust/README.md#t-22`). */
function nameRemarks(name: string): readonly Remark[] {
  if (/^[a-z0-9](?:[a-z0-9._@+-]{0,126}[a-z0-9])?$/.test(name)) return [];
  const code = name.includes("*") ? "FLT1233" : "FLT1309";
  const fix = "use lower-case letters, digits and . _ @ + -, at most 128 characters";
  const at = ["spec", "principals", name];
  return [{ ...error(code, at, "is not a usable name", fix), on: "key", got: JSON.stringify(name) }];
}

function emptyRemarks(name: string, { keys = [], authorities = [], openpgp = [], forge = {} }: WrittenPrincipal) {
  const count = keys.length + authorities.length + openpgp.length + Object.keys(forge).length;
  const fix = "add keys, authorities, openpgp or forge, or remove this principal";
  return count > 0 ? [] : [error("FLT1232", ["spec", "principals", name], "has nothing to sign with", fix)];
}

function forgeRemarks(name: string, { forge = {} }: WrittenPrincipal): readonly Remark[] {
  return Object.entries(forge)
    .filter(([, id]) => !/^[1-9][0-9]{0,19}$/.test(id))
    .map(([it]) => {
      const fix = "write the number of the account in quotes: names change hands";
      return error("FLT1302", ["spec", "principals", name, "forge", it], "is not the number of an account", fix);
    });
}

interface PlacedKey {
  readonly at: JsonPath;
  readonly key: KeyReading;
  readonly isAuthority: boolean;
  readonly owner: string;
}

function keysOf(owner: string, { keys = [], authorities = [], openpgp = [] }: WrittenPrincipal): readonly PlacedKey[] {
  const at = (list: string, i: number): JsonPath => ["spec", "principals", owner, list, i];
  return [
    ...keys.map((it, i) => ({ at: at("keys", i), key: sshKeyOf(it), isAuthority: false, owner })),
    ...authorities.map((it, i) => ({ at: at("authorities", i), key: sshKeyOf(it), isAuthority: true, owner })),
    ...openpgp.map((it, i) => ({ at: at("openpgp", i), key: openPgpKeyOf(it), isAuthority: false, owner })),
  ];
}

/** Two people with one key are one voice that would count twice, or nobody knows whose. */
function repeatedKeyRemarks(keys: readonly PlacedKey[]): readonly Remark[] {
  const seen = new Map<string, PlacedKey>();
  return keys.flatMap((it) => {
    if (it.key.kind !== "key") return [];
    const first = seen.get(it.key.fingerprint);
    if (first === undefined) seen.set(it.key.fingerprint, it);
    if (first === undefined || (first.isAuthority && it.isAuthority && first.owner !== it.owner)) return [];
    const whose = first.owner === it.owner ? "occurs twice" : `is listed for ${first.owner} as well`;
    return [error("FLT1228", it.at, whose, "leave it with the one whose key it is")];
  });
}

function repeatedAccountRemarks(people: readonly (readonly [string, WrittenPrincipal])[]): readonly Remark[] {
  const seen = new Map<string, string>();
  return people.flatMap(([name, { forge = {} }]) =>
    Object.entries(forge).flatMap(([it, id]) => {
      const first = seen.get(`${it} ${id}`);
      seen.set(`${it} ${id}`, first ?? name);
      if (first === undefined) return [];
      const at = ["spec", "principals", name, "forge", it];
      return [error("FLT1228", at, `is the account of ${first} as well`, "leave it with the one whose account it is")];
    }),
  );
}
