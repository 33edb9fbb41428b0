import { describe, expect, it } from "vitest";
import type { ApprovalFile, Evidence, Judgement } from "../../../src/core/model/trust.ts";
import type { DurationMs } from "../../../src/core/model/value.ts";
import { type GateInput, gateVerdict, type JudgedAnswer } from "../../../src/core/trust/count.ts";
import { stageRules } from "../../../src/core/trust/rules.ts";
import { approval, at, blob, day, digest, hour, path, rule, trust } from "./scene.ts";

interface Told {
  readonly key?: string;
  readonly evidence?: Evidence;
  readonly at?: number;
  readonly order?: number;
  readonly file?: Partial<ApprovalFile>;
}

/** `ann`, `ann!` rejects, `ann~` revokes. */
const answer = (word: string, told: Told = {}): JudgedAnswer => {
  const name = word.replace(/[!~]$/, "");
  const decision = word.endsWith("!") ? "Reject" : word.endsWith("~") ? "Revoke" : "Approve";
  const proofs = [{ evidence: told.evidence ?? "commit", key: told.key ?? `SHA256:${name}` }] as const;
  const judgement: Judgement = { kind: "counts", principal: name, proofs, at: at(told.at ?? hour) };
  const file = approval({ path: path(word), blob: blob("a"), principal: name, decision, comment: word, ...told.file });
  return { file, judgement, order: told.order ?? 0 };
};

const context = (more: Partial<GateInput> = {}, ...words: readonly string[]): GateInput => ({
  digest: digest("d"),
  requestedAt: at(0),
  authors: { principals: [], unknown: 0 },
  rules: [rule({ minimum: 2 })],
  answers: words.map((it) => answer(it)),
  trust: trust(),
  now: at(2 * hour),
  ...more,
});

/** `approved ann bob`, `rejected carol`, `waiting 1/2 (ann): bob carol`. */
function told(at: GateInput): string {
  const verdict = gateVerdict(at);
  switch (verdict.kind) {
    case "approved":
      return `approved ${verdict.approvals.map((it) => it.principal).join(" ")}`;
    case "rejected":
      return `rejected ${verdict.by}`;
    case "waiting": {
      const each = verdict.missing.map(
        ({ have, need, mayApprove }) => `${have.length}/${need} (${have.join(" ")}): ${mayApprove.join(" ")}`,
      );
      return ["waiting", verdict.code, ...each].join(" ");
    }
  }
}

const denied = { kind: "denied", code: "FLT1202", because: "nobody's" } as const;
const unsigned = (unsignedChanges: "deny" | "oneMore" | "allow", minimum = 1) => ({
  authors: { principals: [], unknown: 1 },
  rules: [rule({ minimum, unsignedChanges })],
});

describe("a gate", () => {
  const rows: readonly (readonly [name: string, context: GateInput, want: string])[] = [
    ["waits for the first", context(), "waiting FLT1206 0/2 (): ann bob carol"],
    ["waits for one more", context({}, "bob"), "waiting FLT1206 1/2 (bob): ann carol"],
    ["opens by two people, in the order of their names", context({}, "carol", "ann"), "approved ann carol"],
    ["opens by three, and names them all", context({}, "carol", "ann", "bob"), "approved ann bob carol"],
    [
      "B-57, T-06: counts two keys of one person once",
      context({ answers: [answer("ann"), answer("ann", { key: "SHA256:ann2", file: { path: path("again") } })] }),
      "waiting FLT1206 1/2 (ann): bob carol",
    ],
    ["does not count who may not approve", context({}, "ann", "dave"), "waiting FLT1206 1/2 (ann): bob carol"],
    [
      "does not count what was denied",
      context({ answers: [answer("ann"), { ...answer("bob"), judgement: denied }] }),
      "waiting FLT1206 1/2 (ann): bob carol",
    ],
    [
      "does not count answers to another request",
      context({ answers: [answer("ann"), answer("bob", { file: { digest: digest("e") } })] }),
      "waiting FLT1206 1/2 (ann): bob carol",
    ],
    [
      "does not count a name that was not proven",
      context({ answers: [answer("ann"), answer("bob", { file: { principal: "carol" } })] }),
      "waiting FLT1206 1/2 (ann): bob carol",
    ],
    ["T-20: is closed by one rejection among approvals", context({}, "ann", "bob", "carol!"), "rejected carol"],
    ["T-20: is closed by who approved as well", context({}, "ann", "ann!", "bob"), "rejected ann"],
    [
      "is closed by an author's rejection",
      context({ authors: { principals: ["carol"], unknown: 0 } }, "ann", "bob", "carol!"),
      "rejected carol",
    ],
    ["is not closed by somebody who may not approve", context({}, "ann", "bob", "dave!"), "approved ann bob"],
    [
      "is not closed by a rejection that was denied",
      context({ answers: [answer("ann"), answer("bob"), { ...answer("carol!"), judgement: denied }] }),
      "approved ann bob",
    ],
    ["loses what is revoked", context({}, "ann", "bob", "bob~"), "waiting FLT1206 1/2 (ann): bob carol"],
    [
      "counts what is approved anew after it was revoked",
      context({
        answers: [
          answer("ann"),
          ...["bob", "bob~", "bob"].map((it, order) => answer(it, { order, file: { path: path(`${order}`) } })),
        ],
      }),
      "approved ann bob",
    ],
    [
      "loses what is revoked once more",
      context({
        answers: [
          answer("ann"),
          ...["bob~", "bob", "bob~"].map((it, order) => answer(it, { order, file: { path: path(`${order}`) } })),
        ],
      }),
      "waiting FLT1206 1/2 (ann): bob carol",
    ],
    [
      "takes nobody's word back by another's",
      context({ answers: [answer("ann"), answer("bob~", { order: 1 }), answer("carol", { order: 2 })] }),
      "approved ann carol",
    ],
    ["loses what is revoked by who gave it alone", context({}, "ann", "bob", "carol~"), "approved ann bob"],
    [
      "does not count an author (four eyes)",
      context({ authors: { principals: ["ann"], unknown: 0 } }, "ann", "bob"),
      "waiting FLT1206 1/2 (bob): carol",
    ],
    [
      "counts an author where four eyes are not asked for",
      context(
        { authors: { principals: ["ann"], unknown: 0 }, rules: [rule({ minimum: 2, fourEyes: false })] },
        "ann",
        "bob",
      ),
      "approved ann bob",
    ],
    [
      "T-07: asks for one more where something is unsigned",
      context(unsigned("oneMore"), "ann"),
      "waiting FLT1206 1/2 (ann): bob carol",
    ],
    [
      "T-07: opens by one more where something is unsigned",
      context(unsigned("oneMore"), "ann", "bob"),
      "approved ann bob",
    ],
    [
      "T-07: stays closed where unsigned changes deny",
      context(unsigned("deny"), "ann", "bob", "carol"),
      "waiting FLT1206 0/1 (): ",
    ],
    ["T-07: opens where unsigned changes are allowed", context(unsigned("allow"), "ann"), "approved ann"],
    [
      "T-07: asks for no more where four eyes are not asked for",
      context({ ...unsigned("oneMore"), rules: [rule({ fourEyes: false })] }, "ann"),
      "approved ann",
    ],
    [
      "counts in time",
      context({ answers: [answer("ann", { at: day }), answer("bob")], now: at(9 * day) }),
      "approved ann bob",
    ],
    [
      "does not count what came too late for the rule",
      context({ answers: [answer("ann", { at: day + 1 }), answer("bob")] }),
      "waiting FLT1206 1/2 (bob): ann carol",
    ],
    [
      "does not count evidence that the rule does not accept",
      context({ answers: [answer("ann", { evidence: "forge" }), answer("bob")] }),
      "waiting FLT1206 1/2 (bob): ann carol",
    ],
    [
      "has to meet every rule",
      context({ rules: [rule(), rule({ principals: ["dave"] })] }, "ann"),
      "waiting FLT1206 0/1 (): dave",
    ],
    [
      "has to meet every rule, and may",
      context({ rules: [rule(), rule({ principals: ["dave", "ann"], minimum: 2 })] }, "ann", "dave"),
      "approved ann dave",
    ],
    [
      "names every rule that is not met",
      context({ rules: [rule(), rule({ principals: ["dave"] })] }),
      "waiting FLT1206 0/1 (): ann bob carol 0/1 (): dave",
    ],
    [
      "each rule has its own time",
      context({ rules: [rule(), rule({ maxAge: 1 as DurationMs })] }, "ann"),
      "waiting FLT1206 0/1 (): ann bob carol",
    ],
    ["stays closed when no rule matches", context({ rules: [] }, "ann", "bob", "carol"), "waiting FLT1214"],
    ["stays closed when trust has expired", context({ now: at(300 * day) }, "ann", "bob"), "waiting FLT1216"],
    [
      "loses what a compromised key gave",
      context({ trust: trust({ revocations: [{ key: "SHA256:ann", kind: "compromised" }] }) }, "ann", "bob"),
      "waiting FLT1206 1/2 (bob): ann carol",
    ],
    [
      "loses what a compromised authority vouched for, though the key was merely retired",
      context({
        answers: [answer("ann", { key: "SHA256:new by SHA256:ca" }), answer("bob")],
        trust: trust({
          revocations: [
            { key: "SHA256:new", kind: "retired" },
            { key: "SHA256:ca", kind: "compromised" },
          ],
        }),
      }),
      "waiting FLT1206 1/2 (bob): ann carol",
    ],
    [
      "keeps the no of a compromised key: revoking one opens nothing",
      context({
        answers: [answer("ann"), answer("bob"), answer("carol!", { key: "SHA256:old" })],
        trust: trust({ revocations: [{ key: "SHA256:old", kind: "compromised" }] }),
      }),
      "rejected carol",
    ],
    [
      "keeps what a compromised key took back",
      context({
        answers: [answer("ann"), answer("bob"), answer("bob~", { key: "SHA256:old" })],
        trust: trust({ revocations: [{ key: "SHA256:old", kind: "compromised" }] }),
      }),
      "waiting FLT1206 1/2 (ann): bob carol",
    ],
    [
      "keeps what a retired key gave before",
      context({ trust: trust({ revocations: [{ key: "SHA256:ann", kind: "retired" }] }) }, "ann", "bob"),
      "approved ann bob",
    ],
  ];
  for (const [name, at, want] of rows)
    it(name, () => {
      expect(told(at)).toBe(want);
    });

  it("says who opened it, by what, and when", () => {
    const given = answer("ann");
    expect(gateVerdict(context({ rules: [rule()], answers: [given] }))).toEqual({
      kind: "approved",
      approvals: [
        { file: given.file, principal: "ann", proofs: [{ evidence: "commit", key: "SHA256:ann" }], at: at(hour) },
      ],
    });
  });

  it("says who rejected it, and why", () => {
    expect(gateVerdict(context({}, "bob!"))).toEqual({
      kind: "rejected",
      by: "bob",
      comment: "bob!",
      path: path("bob!"),
    });
  });

  it("says in words what is missing, and when it cannot be had", () => {
    const because = (at: GateInput) => {
      const verdict = gateVerdict(at);
      return verdict.kind === "waiting" ? verdict.because : "";
    };
    expect(because(context({}, "ann"))).toBe("1 of 2 approvals for web / prod; bob, carol may approve");
    expect(because(context({ authors: { principals: ["ann", "bob"], unknown: 0 } }))).toMatch(/too few are left/);
  });

  it("does not depend on the order of the answers", () => {
    const words = ["carol", "ann", "bob~", "bob"];
    expect(gateVerdict(context({}, ...words))).toEqual(gateVerdict(context({}, ...[...words].reverse())));
  });
});

it("rules are those that match both placement and stage", () => {
  const approvals = [rule(), rule({ stages: ["*"] }), rule({ placements: ["team/*"] }), rule({ stages: ["pro"] })];
  const found = (placement: string, stage: string) =>
    stageRules(trust({ approvals }), placement, stage).map((it) => approvals.indexOf(it));
  expect([found("web", "prod"), found("web", "canary"), found("team/web", "prod"), found("shop", "prod")]).toEqual([
    [0, 1],
    [1],
    [2],
    [],
  ]);
});

it("a pattern without a slash opens no gate of a placement in a namespace, and none with one opens any other", () => {
  const approvals = ["*", "te*", "team/*", "team/web", "*/web"].map((it) => rule({ placements: [it] }));
  const found = (placement: string) =>
    stageRules(trust({ approvals }), placement, "prod").map((it) => it.placements.join());
  expect([found("team/web"), found("team"), found("other/web")]).toEqual([["team/*", "team/web"], ["*", "te*"], []]);
});
