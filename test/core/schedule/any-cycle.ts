import { type Cycle, type CycleBinding, wantedState } from "../../../src/core/schedule/framework/cycle.ts";
import type { Profile } from "../../../src/core/schedule/profile.ts";
import type { Schedule } from "../../../src/core/schedule/schedule.ts";
import { cycleBindings, fleet, now, policyOf, schedule, someGrants } from "./notation.ts";
import { random } from "./random.ts";

const labels = ["", "{e=p}", "{e=q}", "{e=p,r=a}", "{e=p,r=b}", "{r=a,z=1}", "{r=b,z=2}", "{e=q,r=c,z=1}"] as const;
const properties = ["", "", "<np=4>", "<np=5>", "<np=500m,cost=1.5>", "<np=x>", "<cost=0.3,total-cpu=8>"] as const;

const namespaces = ["", "~x", "~x,y", "~y", "~y+", "~"] as const;

/** A fleet of up to 12 members with labels, taints, troubles and namespaces, bindings of every kind, and any policy. */
export function anyCycle(seed: number): Cycle {
  const { below, pick } = random(seed);
  const spaces = random(seed + 700_000);
  const members = Array.from({ length: below(13) }, (_, at) => `m${at}`);
  const fleetText = members.map((it) =>
    [
      it,
      pick(labels),
      pick(["", "", "[k=v]"]),
      pick(["", "", "(4m)", "(6m)"]),
      pick(properties),
      spaces.pick(namespaces),
    ].join(""),
  );
  const standing = [...members, "gone"].flatMap((it) =>
    below(2) === 0
      ? []
      : [`${it}:${pick(["S0", "B0", "B1", "U(B)0", "U(S)1", "B0x", "S0x", "U(B)0x"])}[0,${below(9)}]`],
  );
  const policy = pick([
    "all",
    "all e=p",
    `${below(8)}`,
    `${below(8)} e=p|e=q prefer 3:e=q tolerate k`,
    "all np:Ge:5|e=q&total-cpu:Gt:4",
    `${below(8)} np:Ne:4|e=q prefer 30:@np/Desc,-20:e=p@cost/Asc`,
    `${below(8)} prefer 7:@np/Asc spread r:1`,
    `${below(8)} spread r:2,z:1:any tolerate k`,
    `${below(8)} e=p spread z:1,r:1 tolerate k`,
    "fixed m1,m2,m9",
  ]);
  return {
    policy: policyOf(policy),
    candidates: fleet(fleetText.join(" ")),
    cycleBindings: cycleBindings(standing.join(" "), 1),
    namespace: spaces.pick([null, "x", "y"]),
    grants: random(seed + 800_000).pick(someGrants),
    recorded: [],
    now,
  };
}

/** The bindings once the schedule is carried out and removals that were under way have ended. */
export function carriedOut(before: readonly CycleBinding[], { create, keep, drop }: Schedule): readonly CycleBinding[] {
  const decided = new Map([...create, ...keep.map((it) => it.decision)].map((it) => [it.cluster, it]));
  const old = before.flatMap((it): readonly CycleBinding[] => {
    const decision = decided.get(it.cluster);
    if (decision === undefined && drop.some(({ cluster }) => cluster === it.cluster)) {
      return [{ ...it, state: "Unscheduled", previousState: wantedState(it), removing: false }];
    }
    if (decision === undefined) return it.removing && it.state !== "Scheduled" ? [] : [{ ...it, removing: false }];
    const isNew = create.includes(decision);
    const state = isNew ? "Scheduled" : wantedState(it);
    return [{ ...it, state, previousState: null, obsolete: false, removing: false, decision }];
  });
  const known = new Set(old.map((it) => it.cluster));
  const added = create
    .filter((it) => !known.has(it.cluster))
    .map(
      (decision): CycleBinding => ({
        name: decision.cluster,
        cluster: decision.cluster,
        state: "Scheduled",
        previousState: null,
        removing: false,
        obsolete: false,
        decision,
      }),
    );
  return [...old, ...added];
}

/** The cycle that runs again once all is carried out. */
export function settled(cycle: Cycle, profile: Profile): Cycle {
  let last = cycle;
  for (let round = 0; round < 2; round++) {
    const result = schedule(last, profile);
    last = { ...last, cycleBindings: carriedOut(last.cycleBindings, result), recorded: result.decisions };
  }
  return last;
}
