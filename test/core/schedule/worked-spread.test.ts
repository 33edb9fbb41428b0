import { describe, expect, test } from "vitest";
import { type CycleBinding, membershipOf, placesOf } from "../../../src/core/schedule/framework/cycle.ts";
import { type Profile, profiles } from "../../../src/core/schedule/profile.ts";
import type { Schedule } from "../../../src/core/schedule/schedule.ts";
import { cycleBindings, fleet, policyOf, schedule } from "./notation.ts";
import { random } from "./random.ts";

// Case of `schedule/README.md#cases-of-the-filters-and-scores`, with the ruling of where one changes it; fleet;
// bindings, and the policy snapshot in force if it is not 0; policy; picks with their topology score in the order in
// which they are picked, "=" where there is a binding, what is dropped, and the condition; the same in the profile
// `kubefleet` where that differs.
const cases = `
G1        ; bravelion{r=e} smartfish{r=e} jumpingcat{r=w} flyingpenguin{r=w} ; ; 2 spread r:1 ; +smartfish -1, +jumpingcat 1 | T2
G2        ; bravelion{r=e} smartfish{r=e} jumpingcat{r=w} flyingpenguin{r=w} ; ; 4 spread r:1 ; +smartfish -1, +jumpingcat 1, +flyingpenguin -1, +bravelion 1 | T4
G3        ; a1{r=a} a2{r=a} a3{r=a} b1{r=b} ; ; 4 spread r:1     ; +b1 -1, +a3 1, +a2 -1 | F3
G4        ; a1{r=a} a2{r=a} a3{r=a} b1{r=b} ; ; 4 spread r:1:any ; +b1 -1, +a3 1, +a2 -1, +a1 -1000 | T4
G5, A 6   ; a1{r=a} a2{r=a} n1              ; ; 3 spread r:1     ; +n1 0, +a2 0, +a1 0 | T3 ; +n1 0, +a2 -1, +a1 -1 | T3
G6, A 22  ; a1{r=a} a2{r=a} b1{r=b}(60m) n1 ; ; 3 spread r:1     ; +n1 0, +a2 0, +a1 0 | T3 ; +n1 0, +a2 -1 | F2
G7, A 20  ; a1{r=a} a2{r=a} a3{r=a} a4{r=a} b1{r=b} b2{r=b} ; a1:B0 a2:B0 a3:B0 ; 4 spread r:1 ; +b2 1 | T4 ; | F3
G8        ; a1{r=a} a2{r=a} b1{r=b} b2{r=b} ; a1:B0 a2:B0 ; 3 spread r:1 ; +b2 1 | T3
G9        ; a1{r=a} b1{r=b} c1{r=c} c2{r=c} ; c1:B0 ; 2 spread r:1 ; +b1 0 | T2
G10       ; a1{r=a,z=1} a2{r=a,z=2} b1{r=b,z=1} b2{r=b,z=2} ; a1:B0 ; 2 spread r:1,z:1:any ; +b2 2 | T2
G11       ; a1{r=a} a2{r=a,p=1} b1{r=b} ; a1:B0 ; 2 prefer 100:p=1 spread r:2:any ; +b1 1 | T2
G12, A 23 ; a1{r=a} a2{r=a} b1{r=b} b2{r=b} ; a1:B0 b1:B0 @1 ; 2 spread r:1 ; =a1 1, =b1 -1 | T2 ; +a2 1, =b1 -1, -a1 | T2
G13, A 6  ; a{r=x} b{r=x} ; ; 2 spread r:1 ; +b 0, +a 0 | T2 ; +b -1, +a -1 | T2
G14       ; a1{r=a} a2{r=a} b1{r=b} ; a1:B0 ; 3 spread r:1:any ; +b1 1, +a2 -1 | T3
G15       ; a b{z=1} c{z=2} d{z=3} ; a:B0 c:B0 d:B0 ; 4 spread z:1 ; +b 1 | T4
G16       ; e1{r=e} e2{r=e} w1{r=w} w2{r=w} n1{r=n} ; ; 5 spread r:2 ; +w2 -1, +n1 0, +e2 1, +w1 -1, +e1 0 | T5
G17       ; e1{r=e,u=mon} e2{r=e,u=tue} w1{r=w,u=mon} w2{r=w,u=tue} ; ; 3 spread r:2,u:2:any ; +w2 -2, +e1 2, +w1 -2 | T3
G18, A 22 ; e1{r=e} e2{r=e} w1{r=w}[k=v] ; ; 2 spread r:1 ; +e2 0, +e1 0 | T2 ; +e2 -1 | F1
G19       ; e1{r=e} e2{r=e} w1{r=} ; e1:B0 ; 2 spread r:1 ; +w1 1 | T2
G20       ; e1{r=e} e2{r=e} w1{r=w} ; e1:B0 w1:U(B)0 ; 2 spread r:1 ; =w1 1 | T2
no key at all ; a b ; ; 2 spread r:1 ; +b 0, +a 0 | T2
`;

const rows = cases
  .split("\n")
  .filter((it) => it !== "")
  .map((it) => it.split(";").map((cell) => cell.trim()));

function spreadTold({ create, keep, drop, fulfilled, found }: Schedule): string {
  const picks = [
    ...create.map((it) => `+${it.cluster} ${it.score?.topology}`),
    ...keep.map(({ decision }) => `=${decision.cluster} ${decision.score?.topology}`),
    ...drop.map((it) => `-${it.cluster}`),
  ];
  return `${picks.join(", ")} | ${fulfilled ? "T" : "F"}${found}`.trim();
}

const cycleOf = (members: string, on: string, policy: string) => {
  const [bindings = "", snapshot = "0"] = on.split("@");
  return {
    policy: policyOf(policy),
    candidates: fleet(members),
    cycleBindings: cycleBindings(bindings, Number(snapshot)),
  };
};

describe.each(Object.values(profiles))("the profile $name spreads as the worked cases say", (profile) => {
  test.each(rows)("%s", (_, members = "", on = "", policy = "", want = "", kubefleet = want) => {
    expect(spreadTold(schedule(cycleOf(members, on, policy), profile))).toBe(
      profile.name === "kubefleet" ? kubefleet : want,
    );
  });
});

describe("G21: six, then three, then four", () => {
  const members = "e1{r=e} e2{r=e} e3{r=e} w1{r=w} w2{r=w} w3{r=w}";
  const bound = (schedule: Schedule): string =>
    schedule.decisions
      .filter((it) => it.selected)
      .map((it) => `${it.cluster}:B0[${it.score?.topology},0]`)
      .join(" ");
  const course = (profile: Profile): readonly string[] => {
    const six = schedule(cycleOf(members, "", "6 spread r:1"), profile);
    const three = schedule(cycleOf(members, bound(six), "3 spread r:1"), profile);
    const four = schedule(cycleOf(members, bound(three), "4 spread r:1"), profile);
    return [six, three, four].map(spreadTold);
  };
  const six = "+w3 -1, +e3 1, +w2 -1, +e2 1, +w1 -1, +e1 1 | T6";

  test("KubeFleet empties a domain, and finds no fourth one", () => {
    expect(course(profiles.kubefleet)).toEqual([six, "-w1, -w2, -w3 | T3", "| F3"]);
  });

  test("A 21 with A 20: by default the fullest domain gives first, and the fourth one is found", () => {
    expect(course(profiles.default)).toEqual([six, "-e1, -w1, -w2 | T3", "+w2 1 | T4"]);
  });
});

test("G1: those that are not needed are explained as KubeFleet saw them before the last pick, or after it by default", () => {
  const [, members = "", , policy = ""] = rows[0] ?? [];
  const others = (profile: Profile) =>
    schedule(cycleOf(members, "", policy), profile)
      .decisions.filter((it) => !it.selected)
      .map((it) => `${it.cluster} ${it.score?.topology ?? it.reason}`);
  expect(others(profiles.kubefleet)).toEqual([
    "flyingpenguin 1",
    "bravelion TopologySpreadConstraints: r=e has 1 cluster of it, and the fewest is 0: one more exceeds maxSkew 1",
  ]);
  expect(others(profiles.default)).toEqual(["flyingpenguin -1", "bravelion -1"]);
});

test("with several batches, KubeFleet lists what the last one picked before what stands", () => {
  const [, members = "", , policy = ""] = rows[1] ?? [];
  const listed = (profile: Profile) =>
    schedule(cycleOf(members, "", policy), profile).decisions.map((it) => it.cluster);
  expect(listed(profiles.kubefleet)).toEqual(["bravelion", "flyingpenguin", "jumpingcat", "smartfish"]);
});

test("A 25: with two bindings to one cluster, KubeFleet counts bindings and ends early", () => {
  const twice = cycleBindings("a:B0 a:U(B)0", 1).map((it, at) => ({ ...it, name: `a-${at}` }));
  const cycle = { ...cycleOf("a{r=a} b{r=b} c{r=c}", "", "3 spread r:1"), cycleBindings: twice };
  const { decisions, found, fulfilled, keep, create } = schedule(cycle, profiles.kubefleet);
  expect(found).toBe(2);
  expect(fulfilled).toBe(false);
  expect([keep.length, create.length, decisions.filter((it) => it.selected).length]).toEqual([2, 0, 2]);
  expect(schedule(cycle, profiles.default).create.map((it) => it.cluster)).toEqual(["c", "b"]);
});

describe("A 20: by default a spread can always be repaired", () => {
  /** Every binding that counts, as it stands after the schedule was carried out. */
  const standing = (outcome: Schedule): readonly CycleBinding[] =>
    outcome.decisions
      .filter((it) => it.selected)
      .map((decision) => ({
        name: decision.cluster,
        cluster: decision.cluster,
        state: "Bound",
        previousState: null,
        removing: false,
        obsolete: false,
        decision,
      }));

  test("whatever clusters and numbers do: who is left out would make it worse, or does not fit", () => {
    let repaired = 0;
    for (let seed = 0; seed < 60; seed++) {
      const { below, pick } = random(seed);
      let bindings: readonly CycleBinding[] = [];
      for (let step = 0; step < 8; step++) {
        const names = Array.from({ length: 12 }, (_, at) => `m${at}`).filter(() => below(4) > 0);
        const members = fleet(
          names.map((it) => `${it}${pick(["{r=a}", "{r=b}", "{r=c}", ""])}${pick(["", "", "(6m)"])}`).join(" "),
        );
        const skew = 1 + below(2);
        const count = below(10);
        const cycle = { policy: policyOf(`${count} spread r:${skew}`), candidates: members, cycleBindings: bindings };
        const outcome = schedule(cycle, profiles.default);
        if (!outcome.fulfilled) {
          const left = outcome.decisions.filter((it) => !it.selected);
          expect(
            left.filter((it) => it.score !== null),
            `seed ${seed}, step ${step}`,
          ).toEqual([]);
          for (const { reason } of left) {
            const [, has, fewest] = / has (\d+) clusters? of it, and the fewest is (\d+)/.exec(reason) ?? [];
            if (has !== undefined) expect(Number(has) + 1 - Number(fewest), `seed ${seed}`).toBeGreaterThan(skew);
          }
        } else if (outcome.create.length > 0 && bindings.length > 0) repaired += 1;
        bindings = standing(outcome);
      }
    }
    expect(repaired).toBeGreaterThan(50);
  });

  test("no cluster that fails a required term is ever picked, whatever it would repair", () => {
    const cycle = cycleOf("a1{r=a,e=p} a2{r=a,e=p} b1{r=b}", "a1:B0", "2 e=p spread r:1");
    expect(spreadTold(schedule(cycle, profiles.kubefleet))).toBe("| F1");
    expect(spreadTold(schedule(cycle, profiles.default))).toBe("+a2 0 | T2");
  });
});

test("who was picked into a set that was asked about before is found at the next question", () => {
  const candidates = fleet("a b c");
  const holders = new Set(candidates.slice(0, 1).map((it) => it.cluster.name));
  const membership = membershipOf(candidates);
  expect(placesOf(holders, membership)).toEqual([0]);
  for (const it of candidates.slice(2)) holders.add(it.cluster.name);
  expect(placesOf(holders, membership)).toEqual([0, 2]);
});
