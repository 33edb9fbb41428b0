import { describe, expect, test } from "vitest";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { cycleBindings, fleet, now, policyOf, schedule, told } from "./notation.ts";

// Case of `schedule/README.md#cases`, with the ruling of where one changes it; fleet; bindings, and the policy snapshot
// in force if it is not 0; policy; outcome; outcome in the profile `kubefleet` where that differs.

const pickAll = `
A1      ; a b c                              ;                      ; all          ; +a +b +c | T3 a,b,c |
A2      ;                                    ;                      ; all          ; | T0 |
A3      ; a{env=prod} b{env=dev} c           ;                      ; all env=prod ; +a | T1 a | b:affinity c:affinity
A4      ; a{env=dev} b{env=prod}             ; a:B0                 ; all env=prod ; +b | T2 b,a |
A5      ; a{env=dev} b{env=prod} c{env=prod} ; a:B0 b:B0 @1         ; all env=prod ; +c =b:B -a | T2 c,b | a:affinity
A6      ; a b                                ; a:B0 gone:B0 b:U(B)0 ; all          ; =b:B -gone | T2 b,a |
A7      ; a b                                ; a:B0x                ; all          ; +a +b | T2 a,b |
A8, A 3 ; a                                  ; b:B0                 ; all          ; +a -b | T1 a |
A9      ; a[k=v]                             ; a:B0                 ; all          ; | T1 a |
A10     ; a[k=v] b                           ; a:B0 b:B0 @1         ; all          ; =b:B -a | T1 b | a:taint
`;

const pickFixed = `
F1            ; a b(6m) ;              ; fixed b,a,z ; +a | F1 a | b:eligibility z:unknown
F2            ; a b     ; a:B0 b:S0 @1 ; fixed b     ; =b:S -a | T1 b |
F3, A 36      ; a b(6m) ; a:B0 b:B0    ; fixed a,b   ; | T2 a,b | ; | F1 a | b:eligibility
F4, A 36      ; a b(6m) ; a:B0 b:B0 @1 ; fixed b,a   ; =a:B =b:B | T2 b,a | ; =a:B -b | F1 a | b:eligibility
F5            ; a[k=v]  ;              ; fixed a     ; +a | T1 a |
F6, A 37      ; a       ; a:B0 @1      ; fixed       ; -a | T0 | ; silent
F7            ; a b     ; a:U(S)0 @1   ; fixed a     ; =a:S | T1 a |
F8, A 45      ; a       ; a:U0 @1      ; fixed a     ; =a:S | T1 a |
dangling goes ; a       ; a:B0 z:B0    ; fixed a,z   ; -z | F1 a | z:unknown
`;

const pickN = `
N1          ; a b c                ;                   ; 2                ; +c +b | T2 c,b | a:fits
N2, A 39    ; a b c                ;                   ; 0                ; | T0 | a:fits b:fits c:fits ; | T0 |
N4          ; a b c                ;                   ; 5                ; +c +b +a | F3 c,b,a |
N10         ; a b c d              ; a:B0 d:B0         ; 3                ; +c | T3 c,a,d | b:fits
N11         ; a b c d              ; a:B0 b:B0 @1      ; 2                ; =a:B =b:B | T2 a,b | c:fits d:fits
N12         ; a b c{x=y} d         ; a:B0 b:S0 @1      ; 2 prefer 1:x=y   ; +c =b:S -a | T2 c,b | a:fits d:fits
N14, A 26   ; a b c                ; a:B0 b:U(B)0      ; 2               ; =b:B | T2 b,a | c:fits ; +c | T2 c,a | b:fits
N15         ; a b                  ; a:B0 b:U(B)0      ; 2                ; =b:B | T2 b,a |
N16, A 45   ; a b                  ; b:U0              ; 2                ; +a =b:S | T2 a,b |
N17         ; a b c                ; gone:B0 a:B0      ; 2                ; +c -gone | T2 c,a | b:fits
N18         ; a b c(10m)           ; c:B0              ; 2                ; +b | T2 b,c | a:fits
N19         ; a c(10m)             ; a:B0 c:B0         ; 2                ; | T2 a,c |
N20         ; a b                  ; b:B0x             ; 1                ; +b | T1 b | a:fits
N21         ; a b[m=1]             ; b:B0x             ; 1                ; +a | T1 a | b:taint
N22         ; a(60m) b c           ; a:B0 b:B0 @1      ; 2                ; +c =b:B -a | T2 c,b | a:eligibility
N23         ; a b c                ; a:B0 b:B0 c:B0 @1 ; 1                ; =c:B -a -b | T1 c | a:fits b:fits
N24         ; a b c d              ; a:B0 b:B0 c:B0 @1 ; 2                ; =b:B =c:B -a | T2 b,c | a:fits d:fits
N26         ; a{e=d} b{e=p}        ; a:B0 b:B0         ; 2 e=p            ; | T2 a,b |
N27         ; a{e=d} b{e=p} c{e=p} ; a:B0 b:B0 @1      ; 2 e=p tolerate k ; +c =b:B -a | T2 c,b | a:affinity
N28         ; a b c                ; a:B0 b:U(B)0 @1   ; 1                ; =a:B | T1 a | b:fits c:fits
waits, B 10 ; a b                  ; b:S0x             ; 1                ; | T1 b | a:fits ; | T1 b |
`;

const scaleDown = `
N3, A 39  ; a b c   ; a:B0 b:S0                       ; 0 ; -a -b | T0 | a:fits b:fits c:fits ; -a -b | T0 |
N5, A 39  ; a b c d ; a:B0[0,10] b:B0[0,5] c:S0[0,50] ; 2 ; -c | T2 a,b | c:fits d:fits ; -c | T2 a,b |
N6, A 39  ; a b c d ; a:B0[0,10] b:B0[0,5] c:S0[0,50] ; 1 ; -b -c | T1 a | b:fits c:fits d:fits ; -b -c | T1 a |
N7, A 39  ; a b c   ; a:B0 b:B0 c:B0                  ; 2 ; -a | T2 b,c | a:fits ; -a | T2 b,c |
N8, A 39  ; a b c   ; a:B0[1,0] b:B0[-1,90] c:B0[-]   ; 1 ; -b -c | T1 a | b:fits c:fits ; -b -c | T1 a |
N9, A 39  ; a b c   ; a:S0[0,3] b:S0[0,9] c:B0[0,1]   ; 2 ; -a | T2 b,c | a:fits ; -a | T2 b,c |
N13, A 39 ; a b c   ; a:B1 b:B1 c:B0 @1               ; 2 ; -c | T2 a,b | c:fits ; -c | T2 a,b |
N25, A 39 ; a b     ; a:B0 b:B0 @1                    ; 0 ; -a -b | T0 | a:fits b:fits ; -a -b | T0 |
`;

const filters = `
A11 ; a{e=d}[k=v](60m) b{e=p}[k=v](60m) c{e=p}[k=v,z=1] ; ; all e=p ; | T0 | a:affinity b:eligibility c:taint
E1, A 48 ; a c(298s) d(302s) e(4m) f(6m) g(5m) ; ; all ; +a +c +e +g | T4 a,c,e,g | d:eligibility f:eligibility
Q8         ; a b                          ; ; all *             ; +a +b | T2 a,b |
Q9         ; a b                          ; ; all               ; +a +b | T2 a,b |
T1         ; a[k=v] b[k=w] c[k=v,q=] d    ; ; all tolerate k=v  ; +a +d | T2 a,d | b:taint c:taint
T2         ; a[k=v] c[k=v,q=] d           ; ; all tolerate *    ; +a +c +d | T3 a,c,d |
T3         ; a[k=v] c[q=]                 ; ; all tolerate k,q= ; +a +c | T2 a,c |
`;

const rows = `${pickAll}${pickFixed}${pickN}${scaleDown}${filters}`
  .split("\n")
  .filter((it) => it !== "")
  .map((it) => it.split(";").map((cell) => cell.trim()));

describe.each(Object.values(profiles))("the profile $name schedules as the worked cases say", (profile) => {
  test.each(rows)("%s", (_, members = "", on = "", policy = "", want = "", kubefleet = want) => {
    const [bindings = "", snapshot = "0"] = on.split("@");
    const cycle = {
      policy: policyOf(policy),
      candidates: fleet(members),
      cycleBindings: cycleBindings(bindings, Number(snapshot)),
      now,
    };
    expect(told(schedule(cycle, profile))).toBe(profile.name === "kubefleet" ? kubefleet : want);
  });
});

test.each([
  { id: "S21", fleet: "a{r=west,e=p} b{r=west} c", policy: "9 prefer 20:r=west,-20:e=p", want: "b 20, c 0, a 0" },
  { id: "S22", fleet: "a b", policy: "9 prefer 7:*,0:*", want: "b 7, a 7" },
  { id: "a negative weight ranks last", fleet: "a b c{x=y}", policy: "9 prefer -1:x=y", want: "b 0, a 0, c -1" },
])("preferred terms rank and score: $id", ({ fleet: members, policy, want }) => {
  const cycle = { policy: policyOf(policy), candidates: fleet(members), cycleBindings: [], now };
  const { create } = schedule(cycle, profiles.kubefleet);
  expect(create.map((it) => `${it.cluster} ${it.score?.affinity}`).join(", ")).toBe(want);
});
