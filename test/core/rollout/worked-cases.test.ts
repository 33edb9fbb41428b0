import { expect, test } from "vitest";
import type { PlacementPolicy } from "../../../src/core/model/placement.ts";
import { type ClusterName, seconds } from "../../../src/core/model/value.ts";
import { budgetOf } from "../../../src/core/rollout/budget.ts";
import { decideRollout, type RolloutState } from "../../../src/core/rollout/rolling-update.ts";
import { bindings, bound, told } from "./notation.ts";

// Row of `rollout/README.md#cases-of-the-rolling-update`, with a B where we differ; policy; maxUnavailable/maxSurge;
// bindings; the budgets `rm` and `add`; what happens. D-15 and I-04: what only reports differences may still carry what
// it had before, and holds its place. R42 stands with the placements' status.

const rows = `
R1          ; 4   ; 25%/25% ; a:S b:S c:S d:S                 ; -3,5  ; +a +b +c +d
R2          ; 4   ; 25%/25% ; a:Bor b:Bor c:Bor d:Bor         ; 1,1   ; ^a | held b,c,d
R3          ; 4   ; 25%/25% ; a:Bnp b:Bor c:Bor d:Bor         ; 0,1   ; nothing | held b,c,d
R6          ; all ; 10%/10% ; a:Bor b:Bor c:Bor               ; 1,1   ; ^a | held b,c
R7          ; 5   ; 0/3     ; a:Bor b:Bor c:Bor d:Bor e:Bor   ; 0,3   ; nothing | held a,b,c,d,e
R8, B 11    ; 3   ; 25%/25% ; a:Bor b:Bor                     ; 0,2   ; ^a | held b
R9          ; 3   ; 25%/25% ; a:Bor b:Bor c:S                 ; 0,2   ; +c | held a,b
R9, later   ; 3   ; 25%/25% ; a:Bor b:Bor c:Bnr               ; 1,1   ; ^a | held b
R10, B 11   ; fix ; 25%/25% ; a:Bor b:Bor                     ; -1,3  ; ^a | held b
R11         ; 5   ; 20%/3   ; a:Bof b:Bof c:Bof d:Bor e:Bor   ; -2,6  ; ^a ^b ^c | held d,e
R12         ; 2   ; 25%/2   ; a:Ur b:Ur c:S d:S               ; 1,2   ; -a +c +d | pending b
R13         ; 2   ; 25%/25% ; a:Ur b:Ur c:S d:S               ; 1,1   ; -a +c | held d | pending b
R14         ; 2   ; 25%/25% ; a:Uxp b:Ur c:Bnp d:S            ; 0,0   ; nothing | held d | pending b
R14, a gone ; 2   ; 25%/25% ; b:Ur c:Bnp d:S                  ; 0,1   ; +d | pending b
R14, c well ; 2   ; 25%/25% ; b:Ur c:Bnr d:Bnp                ; 1,0   ; -b
R15         ; 2   ; 0/1     ; a:Ur b:Ur c:S d:S               ; 0,1   ; +c | held d | pending a,b
R16         ; 2   ; 0/1     ; a:Ur b:Ur c:Bnp d:S             ; 0,0   ; nothing | held d | pending a,b
R17         ; 2   ; 0/1     ; a:Ur b:Ur c:Bnr d:S             ; 1,0   ; -a | held d | pending b
R18         ; 2   ; 0/1     ; b:Ur c:Bnr d:S                  ; 0,1   ; +d | pending b
R19         ; 2   ; 2/0     ; a:Uxr b:Ur c:S d:S              ; 1,0   ; -b | held c,d
R20, B 3    ; 2   ; 0/1     ; a:Uf b:Uf c:Bnr d:Bnr           ; 0,1   ; -a -b
R21, B 3    ; 2   ; 1/1     ; a:Uf b:Uf c:Bnr d:Bnr           ; 1,1   ; -a -b
R22         ; 0   ; 25%/25% ; a:Ur b:Ur                       ; 2,-2  ; -a -b
R23, B 3    ; 0   ; 25%/25% ; a:Uf b:Uf                       ; 0,0   ; -a -b
R23, unheard; 0   ; 25%/25% ; a:Uy b:Ua                       ; 0,-2  ; -a -b
R24         ; 2   ; 25%/25% ; a:Bnr b:Bnr c:Ur d:Ur e:Ur      ; 4,-2  ; -c -d -e
R26         ; 2   ; 1/0     ; a:Bor b:Bor c:Uxr d:Ur          ; 2,-2  ; -d ^a | held b
R27         ; all ; 25%/25% ; a:Bor b:Bor c:Bor d:S e:S       ; 0,4   ; +d +e | held a,b,c
R28         ; 3   ; 1/50%   ; a:Ur b:Ur c:Ur d:S e:S f:S      ; 1,2   ; -a +d +e | held f | pending b,c
R28, p, B 3 ; 3   ; 1/100%  ; a:Up b:Up c:Up d:S e:S f:S      ; -2,3  ; -a -b -c +d +e +f
R28, unheard; 3   ; 1/100%  ; a:Uy b:Ua c:Uy d:S e:S f:S      ; -2,3  ; +d +e +f | pending a,b,c
R28, two up ; 3   ; 1/100%  ; a:Uy b:Ua c:Uy d:Bnr e:Bnr f:S  ; 0,1   ; -a -b -c +f
R29         ; 3   ; 20%/3   ; a:Bot25 b:Bop c:Bnr             ; -1,3  ; nothing | held a,b
R30         ; all ; 1/1     ; a:Bnt5 b:Bor c:Bor              ; 0,1   ; nothing | held b,c
R31         ; 3   ; 1/1     ; a:Bnf b:Bor c:Bor               ; 0,2   ; nothing | held b,c
R32         ; 3   ; 1/1     ; a:Bof b:Bor c:Bor               ; 0,2   ; ^a | held b,c
R33         ; 4   ; 100%/1  ; a:Bor b:Bor c:Bor d:Bor         ; 4,1   ; ^a ^b ^c ^d
R34, B 11   ; 4   ; 1/1     ; a:Bop b:Bor c:Bor d:Bor         ; 0,1   ; ^a | held b,c,d
R34, unheard; 4   ; 1/1     ; a:Boa b:Bor c:Bor d:Bor         ; 0,1   ; nothing | held a,b,c,d
R34, two    ; 4   ; 1/1     ; a:Bop b:Bop c:Bor d:Bor         ; -1,1  ; nothing | held a,b,c,d
R35, B 1    ; 4   ; 25%/25% ; a:Bor b:Bor c:Bor d:Bof         ; 0,2   ; ^d | held a,b,c
R36, I-04   ; 4   ; 1/1     ; a:Ur b:Ur c:S d:S e:S f:S       ; -1,3  ; +c +d +e | held f | pending a,b
R37         ; 3   ; 1/1     ; a:Bnr b:Bor c:Bnr               ; 1,1   ; ^b
R38, B 10   ; 3   ; 2/1     ; a:Sxp b:Bor c:Bor               ; 1,1   ; ^b | held c,a
R39, B 9    ; 4   ; 1/1     ; a:Bor b:Bor c:Bor d:Bor         ; 1,1   ; ^a | held b,c,d
R40, B 1    ; 4   ; 25%/1   ; a:Ur b:Ur c:Ur d:Ur e:Bnp f:S   ; 1,0   ; -a | held f | pending b,c,d
R41, B 10   ; 4   ; 25%/25% ; a:S b:Sxp c:S d:S               ; -3,4  ; +a +c +d | held b
D-15, hold  ; 2   ; 1/0     ; a:Bn? b:Bnr c:S                 ; 0,0   ; nothing | held c
D-15, ready ; 3   ; 1/1     ; a:Bn? b:Bor c:Bor               ; 0,1   ; nothing | held b,c
D-15, leave ; 2   ; 0/1     ; a:U? b:U? c:S d:S               ; -2,1  ; +c | held d | pending a,b
D-15, spare ; 2   ; 1/1     ; a:U? b:Bnr c:Bnr                ; 1,0   ; -a
B 11, free  ; 4   ; 2/1     ; a:Bop b:Bor c:Bor d:Bor         ; 1,1   ; ^a ^b | held c,d
B 11, last  ; 4   ; 2/1     ; a:Bor b:Bor c:Bor d:Bop         ; 1,1   ; ^a ^d | held b,c
B 11, one   ; all ; 25%/25% ; a:Bop                           ; 0,1   ; ^a
B 11, none  ; 2   ; 0/1     ; a:Bop b:Bor                     ; -1,1  ; nothing | held a,b
D-15, quiet ; 3   ; 1/1     ; a:Bo? b:Bor c:Bor               ; 0,1   ; nothing | held a,b,c
no version  ; 2   ; 0/1     ; a:Ur b:Ur c:Sn d:S              ; 0,1   ; +d | pending a,b
B 1, retry  ; 3   ; 0/1     ; a:Bor b:Bof c:Bor               ; -1,2  ; ^b | held a,c
evicted     ; 2   ; 1/1     ; a:Boxr b:Bor                    ; 0,1   ; nothing | held b
quiet       ; 2   ; 1/1     ; a:Bnr b:Bnr                     ; 1,1   ; nothing
`
  .split("\n")
  .filter((it) => it !== "")
  .map((it) => it.split(";").map((cell) => cell.trim()));

test.each(rows)("%s", (_, policy = "", bounds = "", text = "", budgets = "", want = "") => {
  const state = stateOf(policy, bounds, text);
  const { removals, additions } = budgetOf(state.policy, state.rollingUpdate, state.bindings);
  expect([`${removals},${additions}`, told(decideRollout(state))]).toEqual([budgets, want]);
});

test.each([
  { id: "R4", bounds: "25%/25%", text: "0:or 1:or 2:or 3:or 4:or 5:or 6:or 7:or 8:or 9:or", want: ["c0", "c1", "c2"] },
  {
    id: "R5: sliding, not in batches",
    bounds: "25%/25%",
    text: "0:nr 1:np 2:np 3:or 4:or 5:or 6:or 7:or 8:or 9:or",
    want: ["c3"],
  },
])("$id", ({ bounds, text, want }) => {
  const ten = text.split(" ").map((it) => `c${it.replace(":", ":B")}`);
  expect(decideRollout(stateOf("all", bounds, ten.join(" "))).update).toEqual(want);
});

test("R25: clusters that no longer match leave in one pass when enough others are ready", () => {
  const text = "a:Bnr b:Bnr c:Bnr d:Bnr e:Bnr f:Ur g:Ur h:Ur";
  expect(decideRollout(stateOf("all", "25%/25%", text)).remove).toEqual(["f", "g", "h"]);
});

function stateOf(policy: string, bounds: string, text: string): RolloutState {
  const [maxUnavailable = "", maxSurge = ""] = bounds.split("/");
  return {
    policy: policyOf(policy),
    rollingUpdate: { maxUnavailable: bound(maxUnavailable), maxSurge: bound(maxSurge), unavailablePeriod: seconds(60) },
    bindings: bindings(text),
  };
}

function policyOf(text: string): PlacementPolicy {
  if (text === "all") return { kind: "PickAll", required: [], tolerations: [] };
  if (text === "fix") return { kind: "PickFixed", clusterNames: ["a", "b", "y", "z"] as ClusterName[] };
  return { kind: "PickN", numberOfClusters: Number(text), required: [], preferred: [], spread: [], tolerations: [] };
}
