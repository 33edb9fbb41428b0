import type { ApprovalRule, Evidence, Principal, Proof, Trust } from "../model/trust.ts";
import { compareText } from "../model/value.ts";
import { protectionRule } from "./protected.ts";

/** A rule that leaves too little choice of approvers. */
interface QuorumFinding {
  /** The field of the trust file's `spec`. */
  readonly field: "approvals" | "protectedTargets";
  readonly index: number;
  /** The changes of some or all people can never be approved; false: all of the named people have to approve. */
  readonly isHopeless: boolean;
  /** What the rule is about, and the sentences. */
  readonly message: string;
}

/**
 * Rules that leave no choice of approvers, or that nobody can meet, in the order of the file. Each is judged by itself,
 * as approvals are counted: one answer may meet several rules.
 */
export function quorumFindings(trust: Trust): readonly QuorumFinding[] {
  const rules = [
    ...trust.approvals.map((rule, index) => ({ field: "approvals" as const, index, rule })),
    ...trust.protectedTargets.map((it, index) => ({
      field: "protectedTargets" as const,
      index,
      rule: protectionRule(it),
    })),
  ];
  return rules.flatMap(({ field, index, rule }) => {
    const found = sentencesOf(rule, trust);
    return found === null
      ? []
      : [{ field, index, isHopeless: found.isHopeless, message: `${subjectOf(rule)}: ${found.sentences.join("; ")}` }];
  });
}

/** At most so many people are listed one by one. */
const namedLimit = 4;

interface Found {
  readonly isHopeless: boolean;
  readonly sentences: readonly string[];
}

function sentencesOf(rule: ApprovalRule, trust: Trust): Found | null {
  const need = Math.max(1, rule.minimum);
  const able = rule.principals
    .filter((it) => {
      const principal = trust.principals.get(it);
      return principal !== undefined && isAble(principal, rule.accept, trust);
    })
    .sort(compareText);
  const spare = able.length - need;
  if (spare < 0) return { isHopeless: true, sentences: [impossible(rule, need, able)] };
  if (!rule.fourEyes) return spare > 0 ? null : { isHopeless: false, sentences: [only(able)] };
  if (spare > 1) return null;
  if (spare === 0) {
    const unsigned = rule.unsignedChanges === "oneMore" ? ", or if nobody signed a part of it" : "";
    const left = able.length === 1 ? "nobody may approve it" : `too few are left who may approve it: it takes ${need}`;
    return { isHopeless: true, sentences: [`if ${listed(able, "or")} ${starts(rule)}${unsigned}, ${left}`] };
  }
  const each = able.map((it) => `if ${it} ${starts(rule)}, ${only(able.filter((other) => other !== it))}`);
  const more = each.length > namedLimit ? [`and so on for ${each.length - namedLimit} others`] : [];
  return { isHopeless: false, sentences: [...each.slice(0, namedLimit), ...more] };
}

const starts = ({ target }: ApprovalRule): string =>
  target === undefined ? "starts the run or changed what it brings" : "makes the change";

function impossible({ principals, accept }: ApprovalRule, need: number, able: readonly string[]): string {
  const who = able.length === 0 ? "none of them" : `only ${listed(able, "and")}`;
  return `nothing of it can be approved: it takes ${need} of ${shortened(principals).join(", ")}, and ${who} can answer by ${accept.join(" or ")}`;
}

const only = (people: readonly string[]): string =>
  `${listed(people, "and")} ${people.length === 1 ? "has" : "have"} to approve; nobody else may`;

/** `ann`, `ann and bob`, `ann, bob and carol`; shortened when there are many. */
function listed(people: readonly string[], last: "and" | "or"): string {
  const names = shortened(people);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${last} ${names.at(-1)}`;
}

const shortened = (people: readonly string[]): readonly string[] => {
  const more = people.length - 2 * namedLimit;
  return more > 0 ? [...people.slice(0, 2 * namedLimit), `${more} others`] : people;
};

const subjectOf = ({ placements, stages, target }: ApprovalRule): string =>
  target === undefined
    ? `placements ${placements.join(" ")}, stages ${stages.join(" ")}`
    : `protected clusters ${target.clusters.join(" ")}, namespaces ${target.namespaces.join(" ")}`;

/** The ways in which a person could prove an answer by the trust file: keys that are not revoked, and accounts. */
export function possibleProofs(
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

/** Whether it is a person who could prove an answer in one of these ways. */
const isAble = (principal: Principal, accept: readonly Evidence[], trust: Pick<Trust, "revocations">): boolean =>
  principal.isHuman && possibleProofs(principal, trust).some((it) => accept.includes(it.evidence));
