import { describe, expect, test } from "vitest";
import type { ClusterResourcePlacementDisruptionBudget as WrittenBudget } from "#schemas/cluster-resource-placement-disruption-budget";
import { disruptionBudgetKind } from "../../../src/core/intent/kinds/disruption-budget.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { SourcePosition } from "../../../src/core/model/manifest.ts";
import type { DisruptionBudget, PlacementPolicy } from "../../../src/core/model/placement.ts";
import type { ClusterName, Commit, PlacementKey, RunKey } from "../../../src/core/model/value.ts";
import { type EvictionInput, type EvictionVerdict, judgeEviction } from "../../../src/core/rollout/eviction.ts";
import { clientSide } from "../../strategy.ts";
import { binding, facts, noon, pickAll, pickN, record, removal, target } from "../status/record.ts";
import { bound, readinessOf } from "./notation.ts";

// Row of `rollout/README.md#cases-of-evictions`, with a B where we differ; policy; budget; bindings, the
// first of which is to go; what becomes of that.
//
// A binding: `B`ound, `S`cheduled, or no longer wanted and before that bound (`U`), scheduled (`V`), unknown (`W`);
// `n` when it comes there just now; `x` while being removed; `d` when it only reports differences; then as in
// `notation.ts`.

const rows = `
E1            ; 3   ; maxUnavailable 1    ; a:Br b:Br c:Br                 ; executed: 3 of 3, needed 2, allowance 1
E2            ; 3   ; maxUnavailable 1    ; a:Br b:Br c:Bp                 ; refused: 2 of 3, needed 2, allowance 0
E3            ; 5   ; maxUnavailable 1    ; a:Br b:Br c:Br                 ; executed: 3 of 3, needed 2, allowance 1
E4            ; 4   ; maxUnavailable 40%  ; a:Br b:Br c:Bp d:Bp            ; refused: 2 of 4, needed 2, allowance 0
E5            ; 4   ; maxUnavailable 40%  ; a:Br b:Br c:Br d:Bp            ; executed: 3 of 4, needed 2, allowance 1
E6            ; 10  ; maxUnavailable 10%  ; ${ten(9)}                      ; refused: 9 of 10, needed 9, allowance 0
E7            ; 10  ; minAvailable 75%    ; ${ten(8)}                      ; refused: 8 of 10, needed 8, allowance 0
E8            ; 10  ; minAvailable 75%    ; ${ten(9)}                      ; executed: 9 of 10, needed 8, allowance 1
E9, 33%       ; 3   ; minAvailable 33%    ; a:Br b:Br c:Bp                 ; executed: 2 of 3, needed 1, allowance 1
E9, 34%       ; 3   ; minAvailable 34%    ; a:Br b:Br c:Bp                 ; refused: 2 of 3, needed 2, allowance 0
E10           ; all ; minAvailable 2      ; a:Br b:Br c:Br                 ; executed: 3 of 3, needed 2, allowance 1
E11           ; all ; minAvailable 2      ; a:Br b:Br                      ; refused: 2 of 2, needed 2, allowance 0
E12           ; all ; maxUnavailable 1    ; a:Br b:Br                      ; refused: misconfigured
E12, percent  ; all ; minAvailable 50%    ; a:Br b:Br                      ; refused: misconfigured
E13           ; all ; maxUnavailable 1    ; a:Bf b:Br                      ; executed: no budget applies
E14, B 12     ; 1   ; minAvailable 0      ; a:Bp                           ; executed: 0 of 1, needed 0, allowance 0
E14, B 12 bad ; 2   ; minAvailable 1      ; a:Bp b:Bp                      ; refused: 0 of 2, needed 1, allowance -1
E14, failed   ; 1   ; minAvailable 0      ; a:Bf                           ; executed: no budget applies
E15, B 12     ; 4   ; maxUnavailable 100% ; a:Bp b:Bp c:Bp d:Bp            ; executed: 0 of 4, needed 0, allowance 0
E16           ; 2   ; maxUnavailable 1    ; a:Ur b:Br c:Br                 ; executed: 3 of 3, needed 2, allowance 1
E17, first    ; 3   ; maxUnavailable 1    ; a:Br b:Br c:Br                 ; executed: 3 of 3, needed 2, allowance 1
E17, second   ; 3   ; maxUnavailable 1    ; b:Br a:Bxr c:Br                ; refused: 2 of 3, needed 2, allowance 0
E19           ; 3   ; none                ; a:Sp b:Br                      ; refused: not placed
E19, unknown  ; 3   ; none                ; a:Wr b:Br                      ; refused: not placed
E19, never    ; 3   ; none                ; a:Vr b:Br                      ; refused: not placed
E19, new      ; 3   ; none                ; a:Bnp b:Br                     ; refused: not placed
E20           ; 3   ; minAvailable 3      ; a:Bxr b:Br                     ; nothing to do
E21, fixed    ; fix ; none                ; a:Br b:Br                      ; invalid
E21, unbound  ; 3   ; none                ; zz                             ; invalid
E21, two      ; 3   ; none                ; a:Sxr b:Br                     ; invalid
E22           ; 3   ; minAvailable 100%   ; a:Bdr b:Bdr c:Bdr              ; executed: no budget applies
no budget     ; 3   ; none                ; a:Br                           ; executed: no budget
untrackable   ; 2   ; minAvailable 1      ; a:Bt25 b:Bt25                  ; executed: 2 of 2, needed 1, allowance 1
D-15, others  ; 2   ; minAvailable 1      ; a:Br b:B?                      ; refused: 1 of 2, needed 1, allowance 0
D-15, target  ; 2   ; minAvailable 1      ; a:B? b:Br                      ; executed: 1 of 2, needed 1, allowance 0
B 12, others  ; 4   ; minAvailable 2      ; a:Bp b:Br c:Br                 ; executed: 2 of 3, needed 2, allowance 0
half reported ; 2   ; minAvailable 1      ; a:Br b:Bdr                     ; refused: 1 of 2, needed 1, allowance 0
`
  .split("\n")
  .filter((it) => it !== "")
  .map((it) => it.split(";").map((cell) => cell.trim()));

test.each(rows)("%s", (_, policy = "", budget = "", text = "", want = "") => {
  expect(told(judgeEviction(context(policy, budget, text)))).toBe(want);
});

describe("an eviction is invalid, with the reason,", () => {
  const fine = context("3", "none", "a:Br b:Br");
  const placement = fine.placement as PlacementRecord;
  test.each<{ claim: string; change: Partial<EvictionInput>; want: string }>([
    {
      claim: "E21: when there is no such placement",
      change: { placement: null },
      want: "there is no ClusterResourcePlacement web",
    },
    {
      claim: "when the placement is being removed",
      change: { placement: { ...placement, deleting: { since: noon, cause: "c0ffee" as Commit } } },
      want: "web is being removed from every cluster",
    },
    {
      claim: "E21: when the placement names its clusters",
      change: { placement: context("fix", "none", "a:Br").placement },
      want: "web names its clusters (PickFixed); take a off its clusterNames instead",
    },
    {
      claim: "E21: when the placement is not on the cluster",
      change: { placement: context("3", "none", "b:Br").placement },
      want: "web is not on a, nor is it to be",
    },
    {
      claim: "E21: when the placement leaves the cluster and is to come back",
      change: { placement: context("3", "none", "a:Sxr").placement },
      want: "a was picked again while web is leaving it",
    },
    {
      claim: "B 17: when an unfinished run has the cluster in its plan",
      change: { runOn: (cluster) => (cluster === "a" ? ("web-2" as RunKey) : null) },
      want: "a is in the plan of the update run web-2; evict it when that has ended",
    },
  ])("$claim", ({ change, want }) => {
    expect(judgeEviction({ ...fine, ...change })).toEqual({ kind: "invalid", message: want });
  });
});

const outOf = (available: number, allowance: number): string =>
  `available ${available} of 3, needed 2 (maxUnavailable 25% = 1), allowance ${allowance}`;

test.each([
  { id: "E1", text: "a:Br b:Br c:Br", want: `${outOf(3, 1)}; a is one of the available` },
  {
    id: "E2",
    text: "a:Br b:Br c:Bp",
    want: `${outOf(2, 0)}; a is one of the available; create the eviction again when more are`,
  },
  { id: "B 12", text: "a:Bp b:Br c:Br", want: `${outOf(2, 0)}; a is not one of the available` },
  {
    id: "B 12, too few",
    text: "a:Bp b:Bp c:Br",
    want: `${outOf(1, -1)}; a is not one of the available; create the eviction again when more are`,
  },
])("$id: the message carries the arithmetic", ({ text, want }) => {
  expect(judgeEviction(context("3", "maxUnavailable 25%", text)).message).toBe(want);
});

test("E12: the message of a budget that means nothing says what to write", () => {
  expect(judgeEviction(context("all", "maxUnavailable 1", "a:Br")).message).toBe(
    "the disruption budget's maxUnavailable 1 means nothing for PickAll; give it minAvailable as a number",
  );
});

test("E18, B 12: a budget without a bound is refused where it is read", () => {
  const remarks = disruptionBudgetKind.rules({
    apiVersion: "placement.kubernetes-fleet.io/v1beta1",
    kind: "ClusterResourcePlacementDisruptionBudget",
    metadata: { name: "web" },
    spec: {},
  } as WrittenBudget);
  expect(remarks.map((it) => [it.severity, it.message])).toEqual([
    ["error", "has neither maxUnavailable nor minAvailable"],
  ]);
});

test("E18, I-54: a budget that cannot be read protects all there is, what has failed apart", () => {
  const at = (text: string): EvictionVerdict => judgeEviction({ ...context("3", "none", text), budget: "unusable" });
  expect(at("a:Bp b:Br")).toEqual({
    kind: "refused",
    message: "the disruption budget of web cannot be read; repair it first",
  });
  expect(at("a:Bf b:Br").kind).toBe("executed");
});

test("B 17: a run on another cluster is in nobody's way", () => {
  const { kind } = judgeEviction({
    ...context("3", "none", "a:Br b:Br"),
    runOn: (cluster) => (cluster === "b" ? ("web-2" as RunKey) : null),
  });
  expect(kind).toBe("executed");
});

test("I-54: with any budget, an eviction of an available cluster leaves as many as the budget asks for", () => {
  const kinds = ["Br", "Bp", "B?", "Bt9", "Ur", "Bxr"];
  for (const first of ["Br", "Bt9", "Ur"])
    for (const second of kinds)
      for (const third of kinds)
        for (let least = 0; least <= 3; least += 1) {
          const text = `a:${first} b:${second} c:${third}`;
          const verdict = judgeEviction(context("3", `minAvailable ${least}`, text));
          const others = [second, third].filter((it) => /^[BU](r|t9)$/.test(it)).length;
          expect(verdict.kind, text).toBe(others >= least ? "executed" : "refused");
        }
});

function context(policy: string, budget: string, text: string): EvictionInput {
  const parsed = text === "zz" ? [] : text.split(" ").map(parse);
  const readiness = new Map(parsed.map((it) => [it.binding.cluster, readinessOf(it.readiness)]));
  return {
    eviction: {
      name: "out",
      placement: "web" as PlacementKey,
      cluster: (parsed[0]?.binding.cluster ?? "zz") as ClusterName,
      source: sourceAt("evictions/out.yaml"),
    },
    placement: record(
      parsed.map((it) => it.binding),
      { policy: policyOf(policy) },
    ),
    budget: budgetOf(budget),
    readinessOf: (cluster) => readiness.get(cluster) ?? { kind: "unknown" },
    isNew: (cluster) => parsed.find((it) => it.binding.cluster === cluster)?.isNew === true,
    runOn: () => null,
  };
}

const states: Readonly<Record<string, Pick<Binding, "state" | "previousState">>> = {
  S: { state: "Scheduled", previousState: null },
  B: { state: "Bound", previousState: null },
  U: { state: "Unscheduled", previousState: "Bound" },
  V: { state: "Unscheduled", previousState: "Scheduled" },
  W: { state: "Unscheduled", previousState: null },
};

interface Parsed {
  readonly binding: Binding;
  readonly isNew: boolean;
  readonly readiness: string;
}

function parse(text: string): Parsed {
  const [, cluster = "", state = "", fresh = "", leaving = "", reports = "", readiness = ""] =
    /^([a-z0-9]+):([SBUVW])(n?)(x?)(d?)(.+)$/.exec(text) ?? [];
  const applyStrategy = { ...clientSide, type: reports === "d" ? "ReportDiff" : "ClientSideApply" } as const;
  const placed = { target: target(0, { applyStrategy }), facts: facts() };
  return {
    binding: binding(cluster, {
      ...states[state],
      ...(state === "S" ? { target: null, facts: null } : placed),
      removal: leaving === "x" ? removal : null,
    }),
    isNew: fresh === "n",
    readiness,
  };
}

function budgetOf(text: string): DisruptionBudget | null {
  if (text === "none") return null;
  const [which = "", limit = ""] = text.split(" ");
  return {
    placement: "web" as PlacementKey,
    bound: which as DisruptionBudget["bound"],
    limit: bound(limit),
    source: sourceAt("budgets/web.yaml"),
  };
}

function policyOf(text: string): PlacementPolicy {
  if (text === "all") return pickAll;
  if (text === "fix") return { kind: "PickFixed", clusterNames: ["a", "b"] as ClusterName[] };
  return pickN(Number(text));
}

const sourceAt = (path: string): SourcePosition => ({ path, document: 0, line: 1, column: 1 });

/** So many of ten are available. */
function ten(available: number): string {
  return Array.from({ length: 10 }, (_, at) => `c${at}:B${at < available ? "r" : "p"}`).join(" ");
}

/** `executed: 3 of 3, needed 2, allowance 1`, or what stands for the message where nothing was counted. */
function told(verdict: EvictionVerdict): string {
  const { kind, message } = verdict;
  if (kind === "invalid") return kind;
  if (kind === "executed" && !verdict.evict) return "nothing to do";
  const counted = /^available (\d+ of \d+, needed \d+) \(.+?\), (allowance -?\d+)/.exec(message);
  if (counted !== null) return `${kind}: ${counted[1]}, ${counted[2]}`;
  const words = {
    "no budget applies": /no budget applies$/,
    "no budget": /has no disruption/,
    "not placed": /^nothing/,
  };
  const known = Object.entries(words).find(([, it]) => it.test(message))?.[0];
  return `${kind}: ${known ?? "misconfigured"}`;
}
