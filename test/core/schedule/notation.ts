// The notation of `schedule/README.md#cases`, so that a worked case is one line here as well.
import type { Tenant } from "../../../src/core/model/fleet.ts";
import { type ContactFailure, type NamespacesRecord, nothingCollected } from "../../../src/core/model/ledger.ts";
import { memberNameLabel } from "../../../src/core/model/names.ts";
import type {
  ClusterTerm,
  PlacementPolicy,
  PreferredTerm,
  PropertyRequirement,
  SpreadConstraint,
  Toleration,
} from "../../../src/core/model/placement.ts";
import { type ClusterName, type Instant, type LabelSelector, later, seconds } from "../../../src/core/model/value.ts";
import {
  type Candidate,
  type Cycle,
  type CycleBinding,
  candidateOf,
} from "../../../src/core/schedule/framework/cycle.ts";
import type { Profile } from "../../../src/core/schedule/profile.ts";
import { type Schedule, schedule as scheduleCycle } from "../../../src/core/schedule/schedule.ts";

export const now = Date.UTC(2026, 10, 21, 12) as Instant;

/** What tenants are granted of the clusters: mostly nothing says so. The same lists for every cycle. */
export const someGrants: readonly [readonly Tenant[], ...(readonly Tenant[])[]] = [
  [],
  [],
  [granted({ matchLabels: { e: "p" } })],
  [granted({ matchExpressions: [{ key: "r", operator: "Exists" }] }), granted({ matchLabels: { e: "p" } })],
];

/** A tenant with these clusters. */
export function granted(clusters: LabelSelector): Tenant {
  return { folder: "teams/web/", namespaces: ["web"], kinds: ["ConfigMap"], clusters, place: "fleet.yaml:5:7" };
}

/** One cycle of a ClusterResourcePlacement, for which nothing is on record unless that is said. */
export const schedule = (
  parts: Pick<Cycle, "policy" | "candidates" | "cycleBindings"> & Partial<Cycle>,
  profile: Profile,
): Schedule => scheduleCycle({ namespace: null, grants: [], recorded: [], now, ...parts }, profile);

/**
 * `a b{env=prod} c[k=v,q=] d(6m)`: labels, taints, and for how long it has been out of contact.
 * `<np=4,total-cpu=8>`: properties, and capacities under short names. `~x,y` and, where there are more, `~x,y+`:
 * namespaces.
 */
export const fleet = (text: string): readonly Candidate[] => words(text).map(candidate);

function candidate(text: string): Candidate {
  const [, name = "", labels = "", taints = "", silence = "", facts = "", namespaces] =
    /^([a-z0-9-]+)(?:\{(.*)\})?(?:\[(.*)\])?(?:\((.*)\))?(?:<(.*)>)?(?:~(.*))?$/.exec(text) ?? [];
  const amounts = pairs(facts).filter(([key]) => isAmount.test(key));
  const amountsOf = (kind: string) =>
    Object.fromEntries(
      amounts.filter(([key]) => key.startsWith(`${kind}-`)).map(([key, value]) => [key.slice(kind.length + 1), value]),
    );
  return candidateOf(
    {
      name: name as ClusterName,
      labels: { ...Object.fromEntries(pairs(labels)), [memberNameLabel]: name },
      taints: pairs(taints).map(([key, value]) => ({ key, value, effect: "NoSchedule" })),
      properties: Object.fromEntries(
        pairs(facts)
          .filter(([key]) => !isAmount.test(key))
          .map(([key, value]) => [key, { value, observedAt: null }]),
      ),
      resourceUsage: {
        capacity: amountsOf("total"),
        allocatable: amountsOf("allocatable"),
        available: amountsOf("available"),
        observedAt: null,
      },
      spec: {},
      source: { path: `clusters/${name}.yaml`, document: 0, line: 1, column: 1 },
    },
    {
      contactFailure: silence === "" ? null : outOfContact(silence),
      properties: new Map(),
      collection: nothingCollected,
      namespaces: namespaces === undefined ? null : namespacesIn(namespaces),
    },
  );
}

const namespacesIn = (text: string): NamespacesRecord => ({
  names: new Map(pairs(text.replace("+", "")).map(([it]) => [it, ""])),
  isCut: text.endsWith("+"),
  recordedAt: now,
});

const isAmount = /^(?:total|allocatable|available)-/;

function outOfContact(silence: string): ContactFailure {
  const [, count = "", unit = ""] = /^(\d+)([ms])$/.exec(silence) ?? [];
  const length = seconds(Number(count) * (unit === "m" ? 60 : 1));
  return { code: "Unreachable", message: "connection refused", since: (now - length) as Instant };
}

/**
 * `a:B0 b:S0[0,5] c:U(B)0 d:B0x`: state, index of the policy snapshot, stored topology and affinity score (`[-]`:
 * none), `x` while it is being removed. `latest` is the index of the snapshot in force.
 */
export const cycleBindings = (text: string, latest: number): readonly CycleBinding[] =>
  words(text).map((it) => standing(it, latest));

const states = { S: "Scheduled", B: "Bound", U: "Unscheduled" } as const;

function standing(text: string, latest: number): CycleBinding {
  const [, name = "", state = "", previous, index = "", removing, score = "0,0"] =
    /^([a-z0-9-]+):([SBU])(?:\(([SB])\))?(\d)(x)?(?:\[(.*)\])?$/.exec(text) ?? [];
  const [topology = 0, affinity = 0] = score.split(",").map(Number);
  return {
    name,
    cluster: name as ClusterName,
    state: states[state as keyof typeof states],
    previousState: previous === undefined ? null : states[previous as "S" | "B"],
    removing: removing !== undefined,
    obsolete: Number(index) !== latest,
    decision: {
      cluster: name as ClusterName,
      selected: true,
      score: score === "-" ? null : { topology, affinity },
      reason: "picked earlier",
    },
  };
}

/** `+c =b:B -a | T2 c,b | a:taint d:fits`: new, kept with its state, dropped; condition and selected; the others. */
export function told(schedule: Schedule): string {
  const moves = [
    ...schedule.create.map((it) => `+${it.cluster}`),
    ...schedule.keep.map((it) => `=${it.decision.cluster}:${it.state.slice(0, 1)}`),
    ...schedule.drop.map((it) => `-${it.cluster}`),
  ];
  if (schedule.silent) return [...moves, "silent"].join(" ");
  const selected = schedule.decisions.filter((it) => it.selected).map((it) => it.cluster);
  const others = schedule.decisions
    .filter((it) => !it.selected)
    .map((it) => `${it.cluster}:${why(it.reason)}`)
    .sort();
  const condition = `${schedule.fulfilled ? "T" : "F"}${schedule.found} ${selected.join(",")}`.trim();
  return [moves.join(" "), condition, others.join(" ")].join(" | ").trim();
}

/**
 * Terms: `env=prod&region=west` is one term, `|` separates alternatives, `*` has no selector at all; `np:Ge:5` compares
 * a property.
 */
export const terms = (text: string): readonly ClusterTerm[] =>
  text === ""
    ? []
    : text.split("|").map((it) => {
        const parts = it.split("&");
        return {
          labelSelector: selector(parts.filter((part) => !part.includes(":") && part !== "*")),
          properties: parts.filter((part) => part.includes(":")).map(requirement),
        };
      });

const selector = (labels: readonly string[]): LabelSelector | null =>
  labels.length === 0
    ? null
    : { matchLabels: Object.fromEntries(labels.map((it) => it.split("=") as [string, string])) };

function requirement(text: string): PropertyRequirement {
  const [name = "", operator = "", value = ""] = text.split(":");
  return { name: propertyName(name), operator: operator as PropertyRequirement["operator"], value };
}

const propertyName = (short: string): string =>
  isAmount.test(short) ? `resources.kubernetes-fleet.io/${short}` : short;

/** `env=prod`, `@np/Desc`, `env=prod@np/Asc`, `*`. */
export function preferring(weight: number, text: string): PreferredTerm {
  const [labels = "", sorter] = text.split("@");
  const [name = "", order = ""] = sorter?.split("/") ?? [];
  return {
    weight,
    preference: {
      labelSelector: selector(labels.split("&").filter((it) => it !== "" && it !== "*")),
      sorter:
        sorter === undefined ? null : { name: propertyName(name), order: order === "Asc" ? "Ascending" : "Descending" },
    },
  };
}

export const exists = (key: string): Toleration => ({ key, operator: "Exists", value: "", effect: "" });

export const equal = (key: string, value: string): Toleration => ({
  key,
  operator: "Equal",
  value,
  effect: "NoSchedule",
});

export const all = (required = "", tolerations: readonly Toleration[] = []): PlacementPolicy => ({
  kind: "PickAll",
  required: terms(required),
  tolerations,
});

export const pick = (
  numberOfClusters: number,
  required = "",
  preferred: readonly PreferredTerm[] = [],
  tolerations: readonly Toleration[] = [],
  spread: readonly SpreadConstraint[] = [],
): PlacementPolicy => ({
  kind: "PickN",
  numberOfClusters,
  required: terms(required),
  preferred,
  spread,
  tolerations,
});

export const fixed = (names: string): PlacementPolicy => ({
  kind: "PickFixed",
  clusterNames: names.split(",").filter((it) => it !== "") as ClusterName[],
});

/**
 * `all env=prod tolerate k=v,z`, `2 r=east|r=west prefer 5:x=y spread r:1,z:2:any`, `fixed b,a`. `tolerate z` without a
 * value: Exists. `any`: ScheduleAnyway.
 */
export function policyOf(text: string): PlacementPolicy {
  const [, kind = "", rest = ""] = /^(\S+) ?(.*)$/.exec(text) ?? [];
  if (kind === "fixed") return fixed(rest);
  const [, required = "", preferred = "", spread = "", tolerated = ""] =
    /^(\S*) ?(?:prefer (\S+))? ?(?:spread (\S+))? ?(?:tolerate (\S+))?$/.exec(
      rest.replace(/^(?=prefer|spread|tolerate)/, " "),
    ) ?? [];
  const tolerations = listed(tolerated).map(toleration);
  if (kind === "all") return all(required, tolerations);
  return pick(Number(kind), required, listed(preferred).map(preference), tolerations, listed(spread).map(constraint));
}

const listed = (text: string): readonly string[] => (text === "" ? [] : text.split(","));

function preference(text: string): PreferredTerm {
  const [weight = "", term = ""] = text.split(":");
  return preferring(Number(weight), term);
}

function constraint(text: string): SpreadConstraint {
  const [topologyKey = "", maxSkew = "", any] = text.split(":");
  const whenUnsatisfiable = any === "any" ? "ScheduleAnyway" : "DoNotSchedule";
  return { topologyKey, maxSkew: Number(maxSkew), whenUnsatisfiable };
}

function toleration(text: string): Toleration {
  const [key = "", value] = text === "*" ? [""] : text.split("=");
  return value === undefined ? exists(key) : equal(key, value);
}

function why(reason: string): string {
  const plugin = reason.split(":")[0] ?? "";
  const short = {
    ClusterAffinity: "affinity",
    ClusterEligibility: "eligibility",
    NamespaceAffinity: "namespace",
    TaintToleration: "taint",
    TopologySpreadConstraints: "spread",
  };
  return reason.includes(" fits ") ? "fits" : (short[plugin as keyof typeof short] ?? "unknown");
}

export const secondsFromNow = (count: number): Instant => later(now, seconds(count));

const words = (text: string): readonly string[] => text.split(" ").filter((it) => it !== "");

const pairs = (text: string): readonly [string, string][] =>
  text === "" ? [] : text.split(",").map((it) => it.split("=") as [string, string]);
