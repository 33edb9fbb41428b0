import { describe, expect, test } from "vitest";
import { profiles } from "../../../src/core/schedule/profile.ts";
import { cycleBindings, fleet, policyOf, schedule, told } from "./notation.ts";

// Case of `schedule/README.md#cases-of-the-filters-and-scores`, with the ruling of where one changes it; fleet; policy;
// clusters in the order in which they are picked, with scores where those matter; the same in the profile `kubefleet`
// where that differs.

const required = `
Q1       ; a<np=4> b<np=5> c                       ; all np:Ge:5                        ; b
Q2       ; a<np=4> c                               ; all np:Ne:5                        ; a
Q3       ; a<available-memory=1Gi> b<available-memory=1024Mi> c<available-memory=1G> ; all available-memory:Eq:1073741824 ; a b
Q4       ; a{r=east}<np=3> b{r=west}<np=9> c{r=east}<np=9> ; all r=east&np:Ge:5|r=nowhere ; c
Q5, A 32 ; a<total-ephemeral-storage=9> b          ; all total-ephemeral-storage:Ge:5   ; a
Q6       ; a{e=x}<np=bad> b{e=y}<np=9>             ; all e=y&np:Ge:5                    ; b
Q7       ; a<np=9,bad=zz> b<np=1,bad=zz>           ; all np:Gt:100&bad:Gt:1             ;
Q11      ; a<np=5> b<np=5Ki> c<np=5k> d<np=5e3> e<np=1.5Gi> ; all np:Gt:5000            ; b e
Q12      ; a<np=5> c<np=5k> d<np=5e3>              ; all np:Eq:5000                     ; c d
Q13      ; a<np=5>                                 ; all np:Gt:                         ;
Lt and Le ; a<np=4> b<np=5> c<np=6>                ; all np:Lt:5|np:Le:5                ; a b
A 29, a bad value is a missing one ; a<np=bad> b<np=9> ; all np:Ne:5                    ; b
negative ; a<np=-5> b<np=5>                        ; all np:Lt:-4500m                   ; a
`;

const scores = `
S1       ; bravelion<np=100> smartfish<np=20> jumpingcat<np=10> ; 9 prefer 100:@np/Desc  ; bravelion 100, smartfish 11, jumpingcat 0
S2       ; bravelion<np=100> smartfish<np=20> jumpingcat<np=10> ; 9 prefer 100:@np/Asc   ; jumpingcat 100, smartfish 89, bravelion 0
S3       ; bravelion<np=100> smartfish<np=20> jumpingcat<np=10> ; 9 prefer -100:@np/Desc ; jumpingcat 0, smartfish -11, bravelion -100
S4       ; a<np=0> b<np=1> c<np=2>                 ; 9 prefer 5:@np/Desc                ; c 5, b 3, a 0
S5       ; a<np=0> b<np=1> c<np=2>                 ; 9 prefer -5:@np/Desc               ; a 0, b -3, c -5
S6       ; a<np=2> b<np=4> c<np=7>                 ; 9 prefer 7:@np/Desc                ; c 7, b 3, a 0
S7       ; a<np=2> b<np=4> c<np=7>                 ; 9 prefer 7:@np/Asc                 ; a 7, b 4, c 0
S8       ; a<np=1> b<np=4> c<np=7>                 ; 9 prefer 1:@np/Desc                ; c 1, b 1, a 0
S9       ; a<np=4> b<np=4> c                       ; 9 prefer 50:@np/Desc               ; c 0, b 0, a 0
S10      ; a b                                     ; 9 prefer 50:@np/Desc               ; b 0, a 0
S11      ; a<np=10> b<np=20> z(60m)<np=1000>       ; 1 prefer 100:@np/Desc              ; b 1
S12      ; a{env=prod}<np=10> b{env=prod}<np=30> c<np=50> ; 9 prefer 100:env=prod@np/Desc ; b 50, c 0, a 0
S13      ; a<available-cpu=100m> b<available-cpu=1> c<available-cpu=2500m> ; 9 prefer 20:@available-cpu/Desc ; c 20, b 8, a 0
S14      ; a<cost=1> b<cost=0.2> c<cost=0.1>       ; 9 prefer 100:@cost/Asc             ; c 100, b 89, a 0
S15      ; a<np=1> b<np=2> c<np=4> d               ; 9 prefer -30:@np/Asc               ; d 0, c 0, b -20, a -30
S16      ; a<np=0.1> b<np=0.3> c<np=0.5>           ; 9 prefer 5:@np/Desc                ; c 5, b 3, a 0
S17, A 31 ; a<np=100m> b<np=300m> c<np=500m>       ; 9 prefer 5:@np/Desc                ; c 5, b 3, a 0 ; c 5, b 2, a 0
S18, A 31 ; a<np=300m> b<np=0.3> c<np=0.1>         ; 9 prefer 100:@np/Desc              ; b 100, a 100, c 0 ; failure
S18, swapped ; a<np=0.3> b<np=300m> c<np=0.1>      ; 9 prefer 100:@np/Desc              ; b 100, a 100, c 0
S19, A 29 ; a<np=10> b<np=v1.28>                   ; 9 prefer 100:@np/Desc              ; b 0, a 0
S20, A 29 ; a(60m)<np=1> b<np=bad>                 ; 9 prefer 10:@np/Desc               ; b 0
S21      ; a{region=west,env=prod} b{region=west} c ; 9 prefer 20:region=west,-20:env=prod ; b 20, c 0, a 0
S22      ; a b                                     ; 9 prefer 7:*,0:*                   ; b 7, a 7
S23      ; a{e=p}<np=10,c=1> b<np=20,c=3> c<np=40,c=2> ; 9 prefer 30:@np/Desc,20:@c/Asc,5:e=p ; c 40, a 25, b 10
A 34, a sorter of weight 0 is skipped ; a<np=1> b<np=x> ; 9 prefer 0:@np/Desc         ; b 0, a 0
a negative weight ranks last ; a b c{x=y}          ; 9 prefer -1:x=y                    ; b 0, a 0, c -1
no finite range, A 31 ; a<np=1e400> b<np=1>        ; 9 prefer 5:@np/Desc                ; a 5, b 0 ; failure
`;

const rowsOf = (text: string): readonly string[][] =>
  text
    .split("\n")
    .filter((it) => it !== "")
    .map((it) => it.split(";").map((cell) => cell.trim()));

describe.each(Object.values(profiles))("by properties, the profile $name", (profile) => {
  test.each(rowsOf(required))("picks what the case says: %s", (_, members = "", policy = "", want = "") => {
    const { create } = schedule({ policy: policyOf(policy), candidates: fleet(members), cycleBindings: [] }, profile);
    expect(create.map((it) => it.cluster).join(" ")).toBe(want);
  });

  test.each(rowsOf(scores))("scores as the case says: %s", (_, members = "", policy = "", want = "", other = want) => {
    const { create, failure } = schedule(
      { policy: policyOf(policy), candidates: fleet(members), cycleBindings: [] },
      profile,
    );
    const found = create.map((it) => `${it.cluster} ${it.score?.affinity}`).join(", ");
    expect(failure === null ? found : "failure").toBe(profile.name === "kubefleet" ? other : want);
  });

  test("S24: a cluster that is bound is part of the range", () => {
    const cycle = {
      policy: policyOf("2 prefer 10:@np/Desc"),
      candidates: fleet("a<np=1> b<np=2> c<np=4>"),
      cycleBindings: cycleBindings("c:B0", 0),
    };
    const { create, decisions } = schedule(cycle, profile);
    expect(create.map((it) => `${it.cluster} ${it.score?.affinity}`)).toEqual(["b 3"]);
    expect(decisions.find((it) => it.cluster === "a")?.score?.affinity).toBe(0);
  });

  test("A 29: a value that is no quantity is warned of, where the policy looks at it", () => {
    const candidates = fleet("a<np=10,other=x> b<np=v1.28>");
    const { warnings } = schedule({ policy: policyOf("2 prefer 9:@np/Desc"), candidates, cycleBindings: [] }, profile);
    expect(warnings).toEqual(['np of b counts as missing: "v1.28" is no quantity']);
  });
});

test("S18: where doubles contradict each other, KubeFleet's cycle comes to no end, and what stands stays", () => {
  const cycle = {
    policy: policyOf("2 prefer 100:@np/Desc"),
    candidates: fleet("a<np=300m> b<np=0.3> c<np=0.1>"),
    cycleBindings: cycleBindings("c:B0 gone:B0", 1),
  };
  const { failure, create, keep, drop } = schedule(cycle, profiles.kubefleet);
  expect(failure).toBe("b cannot be ranked by np: as doubles, 0.30000000000000004 is not between 0.1 and 0.3");
  expect([create, keep, drop.map((it) => it.cluster)]).toEqual([[], [], ["gone"]]);
  expect(told(schedule(cycle, profiles.default))).toBe("+b +a -c -gone | T2 b,a | c:fits");
});

test("Q10: NotIn holds for a cluster without the label", () => {
  const labelSelector = { matchExpressions: [{ key: "region", operator: "NotIn", values: ["w"] }] } as const;
  const policy = { kind: "PickAll", required: [{ labelSelector, properties: [] }], tolerations: [] } as const;
  const { create } = schedule({ policy, candidates: fleet("a{region=w} b"), cycleBindings: [] }, profiles.default);
  expect(create.map((it) => it.cluster)).toEqual(["b"]);
});

test("what a property lacks is said with what the cluster has", () => {
  const because = (members: string, policy: string): string | undefined =>
    schedule({ policy: policyOf(policy), candidates: fleet(members), cycleBindings: [] }, profiles.default).decisions[0]
      ?.reason;
  expect(because("a<np=4>", "all np:Ge:5|x=y")).toBe(
    "ClusterAffinity: no required term matches: np >= 5 (it has 4) or x=y (it has no x)",
  );
  expect(because("a", "all np:Lt:5Ki")).toBe(
    "ClusterAffinity: no required term matches: np < 5Ki (it has no such property)",
  );
});
