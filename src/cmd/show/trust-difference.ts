import { digestOfText } from "../../core/model/json.ts";
import type { Principal, Trust } from "../../core/model/trust.ts";
import { instantText } from "../../core/model/value.ts";
import { ruleText, targetText } from "./trust-text.ts";

/** What one version of a trust file changes in what another says, a line each: `+` comes, `-` goes. */
export function trustDifference(before: Trust, after: Trust): readonly string[] {
  const lines = (of: (trust: Trust) => readonly string[]): readonly string[] => differing(of(before), of(after));
  const all = [
    ...lines(({ expires }) => [`expires ${instantText(expires)}`]),
    ...lines(({ roots }) => [`threshold ${roots.threshold}`]),
    ...lines(({ roots }) => roots.principals.map((it) => `root ${it}`)),
    ...lines(({ principals }) => [...principals.values()].flatMap(principalLines)),
    ...lines(({ approvals }) => approvals.map((it) => `approval: ${ruleText(it)}`)),
    ...lines(({ protectedTargets }) => protectedTargets.map((it) => `protected: ${targetText(it)}`)),
    ...lines(({ revocations }) => revocations.map((it) => `revoked: ${it.key}, ${it.kind}`)),
  ];
  return all.length === 0 ? ["nothing but its text"] : all;
}

function principalLines({ name, isHuman, sshKeys, sshAuthorities, openPgp, forgeIds }: Principal): readonly string[] {
  return [
    `${name}: ${isHuman ? "a person" : "a machine"}`,
    ...sshKeys.map((it) => `${name}: ssh ${it}`),
    ...sshAuthorities.map((it) => `${name}: ssh authority ${it}`),
    // The same key may come with other subkeys, or another time to expire.
    ...[...openPgp].map(([key, armored]) => `${name}: openpgp ${key} (${digestOfText(armored).slice(0, 12)})`),
    ...[...forgeIds].map(([forge, id]) => `${name}: ${forge} ${id}`),
  ];
}

const differing = (before: readonly string[], after: readonly string[]): readonly string[] => [
  ...before.filter((it) => !after.includes(it)).map((it) => `- ${it}`),
  ...after.filter((it) => !before.includes(it)).map((it) => `+ ${it}`),
];
