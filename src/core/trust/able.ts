import type { Evidence, Principal, Proof, Trust } from "../model/trust.ts";

/** What somebody could prove an answer with, by the trust file alone: keys that are not revoked, and accounts. */
export function provable(
  { sshKeys, sshAuthorities, openPgp, forgeIds }: Principal,
  { revocations }: Pick<Trust, "revocations">,
): readonly Proof[] {
  const revoked = new Set(revocations.map((it) => it.key));
  const key = [...sshKeys, ...sshAuthorities, ...openPgp.keys()].find((it) => !revoked.has(it));
  const [account] = forgeIds;
  return [
    ...(key === undefined ? [] : (["commit", "detached"] as const).map((evidence) => ({ evidence, key }))),
    ...(account === undefined ? [] : [{ evidence: "forge" as const, key: account.join(" ") }]),
  ];
}

/** Whether somebody is a person, and could prove an answer in one of these ways. */
export const isAble = (principal: Principal, accept: readonly Evidence[], trust: Pick<Trust, "revocations">): boolean =>
  principal.isHuman && provable(principal, trust).some((it) => accept.includes(it.evidence));
