import { describe, expect, test } from "vitest";
import type { ClusterName, LabelSelector } from "../../../src/core/model/value.ts";
import type { Plugin } from "../../../src/core/schedule/framework/plugin.ts";
import { type Profile, profiles } from "../../../src/core/schedule/profile.ts";
import type { Schedule } from "../../../src/core/schedule/schedule.ts";
import { all, cycleBindings, fixed, fleet, now, pick, schedule, secondsFromNow, told } from "./notation.ts";

const numbered = (count: number, suffix: (at: number) => string = () => ""): string =>
  Array.from({ length: count }, (_, at) => `m${String(at).padStart(count > 100 ? 4 : 2, "0")}${suffix(at)}`).join(" ");

const reasons = ({ decisions }: Schedule): readonly string[] => decisions.map((it) => it.reason);

describe("decisions", () => {
  test("D1: explain twenty clusters that fit and are not needed, best first", () => {
    const { decisions } = schedule(
      { policy: pick(1), candidates: fleet(numbered(26)), cycleBindings: [], now },
      profiles.default,
    );
    expect(decisions.map((it) => it.cluster)).toEqual(
      Array.from({ length: 21 }, (_, at) => `m${String(25 - at).padStart(2, "0")}`),
    );
  });

  test("D2: explain surplus clusters first, then refused ones by name", () => {
    const candidates = fleet(numbered(40, (at) => (at < 15 ? "{e=p}" : "")));
    const { decisions } = schedule({ policy: pick(2, "e=p"), candidates, cycleBindings: [], now }, profiles.default);
    expect(decisions).toHaveLength(22);
    expect(decisions.slice(14).map((it) => it.cluster)).toEqual([
      "m00",
      "m15",
      "m16",
      "m17",
      "m18",
      "m19",
      "m20",
      "m21",
    ]);
  });

  test("D3 with A 39: selected clusters use up no explanation", () => {
    const standing = cycleBindings("m00:B0 m01:B0 m25:B0", 0);
    const cycle = { policy: all("e=p"), candidates: fleet(numbered(26)), cycleBindings: standing, now };
    const { decisions } = schedule(cycle, profiles.default);
    expect(decisions.filter((it) => it.selected)).toHaveLength(3);
    expect(
      decisions
        .filter((it) => !it.selected)
        .map((it) => it.cluster)
        .at(-1),
    ).toBe("m21");
  });

  test("D4 with A 38: at most a thousand are recorded, and the rest is counted", () => {
    const names = numbered(1005).split(" ");
    const standing = cycleBindings(
      names
        .slice(0, 1003)
        .map((it) => `${it}:B0`)
        .join(" "),
      0,
    );
    const cycle = { policy: pick(1004), candidates: fleet(names.join(" ")), cycleBindings: standing, now };
    const { create, decisions, unlisted, found } = schedule(cycle, profiles.default);
    expect({ create: create.map((it) => it.cluster), listed: decisions.length, unlisted, found }).toEqual({
      create: ["m1004"],
      listed: 1000,
      unlisted: 4,
      found: 1004,
    });
  });
});

describe("reasons", () => {
  const term = (labelSelector: LabelSelector) =>
    ({ kind: "PickAll", required: [{ labelSelector, properties: [] }], tolerations: [] }) as const;
  const rows = [
    { fleet: "a[edge=true]", policy: all(), want: "TaintToleration: taint edge=true:NoSchedule is not tolerated" },
    { fleet: "a[edge=]", policy: all(), want: "TaintToleration: taint edge:NoSchedule is not tolerated" },
    { fleet: "a(6m)", policy: all(), want: "ClusterEligibility: no contact since 2026-11-21T11:54:00Z (Unreachable)" },
    {
      fleet: "a{env=dev}",
      policy: all("env=prod"),
      want: "ClusterAffinity: no required term matches: env=prod (it has env=dev)",
    },
    {
      fleet: "a",
      policy: all("env=prod|x=y"),
      want: "ClusterAffinity: no required term matches: env=prod (it has no env) or x=y (it has no x)",
    },
    {
      fleet: "a{r=w}",
      policy: term({ matchExpressions: [{ key: "r", operator: "NotIn", values: ["w"] }] }),
      want: "ClusterAffinity: no required term matches: r!=w (it has r=w)",
    },
    {
      fleet: "a",
      policy: term({ matchExpressions: [{ key: "r", operator: "In", values: ["a", "b", "c", "d"] }] }),
      want: "ClusterAffinity: no required term matches: r in (a, b, c, …) (it has no r)",
    },
    {
      fleet: "a",
      policy: term({ matchExpressions: [{ key: "r", operator: "Exists" }] }),
      want: "ClusterAffinity: no required term matches: r (it has no r)",
    },
    {
      fleet: "a{r=w}",
      policy: term({ matchExpressions: [{ key: "r", operator: "DoesNotExist" }] }),
      want: "ClusterAffinity: no required term matches: !r (it has r=w)",
    },
    { fleet: "a", policy: fixed("z"), want: "PickFixed: no member cluster has this name" },
    { fleet: "a", policy: fixed("a"), want: "picked a by name" },
    { fleet: "a", policy: all(), want: "picked a: affinity score 0, topology score 0" },
    { fleet: "a", policy: pick(0), want: "a fits and is not needed: affinity score 0, topology score 0" },
  ];

  test.each(rows)("read: $want", ({ fleet: members, policy, want }) => {
    expect(reasons(schedule({ policy, candidates: fleet(members), cycleBindings: [], now }, profiles.default))).toEqual(
      [want],
    );
  });

  test("an ineligible PickFixed target that stays is warned of, by absolute time", () => {
    const cycle = { policy: fixed("a"), candidates: fleet("a(6m)"), cycleBindings: cycleBindings("a:B0", 0), now };
    const { warnings, decisions } = schedule(cycle, profiles.default);
    const because = "no contact since 2026-11-21T11:54:00Z (Unreachable)";
    expect(warnings).toEqual([`a stays selected although it is not eligible: ${because}`]);
    expect(decisions.map((it) => it.reason)).toEqual([`picked a by name; it is not eligible: ${because}`]);
  });

  test("a member whose address answers for another cluster is ineligible at once", () => {
    const [a] = fleet("a(1s)");
    const contactFailure = { code: "IdentityChanged", message: "another kube-system", since: now } as const;
    const cycle = {
      policy: all(),
      candidates: a === undefined ? [] : [{ ...a, contactFailure }],
      cycleBindings: [],
      now,
    };
    expect(told(schedule(cycle, profiles.default))).toBe("| T0 | a:eligibility");
  });
});

describe("wakeAt is the moment at which an eligible member in trouble", () => {
  const rows = [
    { name: "would be refused for another reason", fleet: "a[k=v](4m)", policy: all(), want: 61 },
    { name: "would stop to be a spare one", fleet: "a(4m) b(3m) c", policy: pick(1), want: 61 },
    { name: "would be warned of", fleet: "a(4m)", policy: fixed("a"), want: 61 },
    { name: "would matter; one that was picked does not", fleet: "a(4m) b(3m)", policy: all(), want: null },
    { name: "would matter; one refused for its labels does not", fleet: "a(4m)", policy: all("e=p"), want: null },
    { name: "would turn; one that has turned does not", fleet: "a(6m)", policy: all(), want: null },
    { name: "would turn; after exactly five minutes it has not", fleet: "a(5m)", policy: pick(0), want: 1 },
  ];

  test.each(rows)("$name", ({ fleet: members, policy, want }) => {
    const { wakeAt } = schedule({ policy, candidates: fleet(members), cycleBindings: [], now }, profiles.default);
    expect(wakeAt).toBe(want === null ? null : secondsFromNow(want));
  });
});

test("A 23: a batch that is limited costs obsolete bindings their place in KubeFleet, and not by default", () => {
  const oneByOne: Plugin = { name: "OneByOne", changesWithPicks: false, prepare: () => ({ batchLimit: 1 }) };
  const limited = (profile: Profile): Profile => ({ ...profile, plugins: [oneByOne, ...profile.plugins] });
  const cycle = { policy: pick(2), candidates: fleet("a b c d"), cycleBindings: cycleBindings("a:B0 b:B0", 1), now };
  expect(told(schedule(cycle, limited(profiles.default)))).toBe("=a:B =b:B | T2 a,b | c:fits d:fits");
  expect(told(schedule(cycle, limited(profiles.kubefleet)))).toBe("+d =b:B -a | T2 d,b | a:fits c:fits");
});

test("a plugin that limits the batch sees what earlier batches picked", () => {
  const spread: Plugin = {
    name: "Spread",
    changesWithPicks: true,
    prepare: ({ candidates, holders }) => {
      const used = new Set(candidates.filter((it) => holders.has(it.cluster.name)).map((it) => it.cluster.labels["r"]));
      return { batchLimit: 1, score: ({ cluster }) => ({ topology: used.has(cluster.labels["r"]) ? -1 : 0 }) };
    },
  };
  const profile = { ...profiles.default, plugins: [...profiles.default.plugins, spread] };
  const cycle = { policy: pick(2), candidates: fleet("a{r=x} b{r=y} c{r=y}"), cycleBindings: [], now };
  expect(schedule(cycle, profile).create.map((it) => it.cluster)).toEqual<ClusterName[]>(["c", "a"] as ClusterName[]);
});
