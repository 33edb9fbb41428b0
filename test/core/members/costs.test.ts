import { expect, test } from "vitest";
import { costsOf } from "../../../src/core/members/costs.ts";
import type { PriceList } from "../../../src/core/model/fleet.ts";
import type { Collected, MachineCount } from "../../../src/core/model/observation.ts";

const prices: PriceList = {
  name: "azure",
  perHour: {
    Standard_D4s_v5: { westeurope: "0.230", eastus: "0.192" },
    "m7i.large": { "*": "100800u", "eu-west-1": "0.1124" },
    free: { "*": "0" },
  },
  source: { path: "prices.yaml", document: 0, line: 1, column: 1 },
};

/** `3 Standard_D4s_v5 eastus`: how many of which type where; `-` where a node does not say. */
const machine = (text: string): MachineCount => {
  const [count, type = "-", region = "-"] = text.split(" ");
  return { count: Number(count), type: type === "-" ? null : type, region: region === "-" ? null : region };
};

const collected = (machines: readonly string[], cpu: string, memory: string): Collected => ({
  properties: new Map([
    ["resources.kubernetes-fleet.io/total-cpu", cpu],
    ["resources.kubernetes-fleet.io/total-memory", memory],
  ]),
  provided: new Map(),
  machines: machines.map(machine),
  labels: new Map(),
  missing: [],
});

const cases: readonly [name: string, costs: string | readonly string[], ...Parameters<typeof collected>][] = [
  ["per core and per GiB, to three decimals", ["0.058", "0.014"], ["2 Standard_D4s_v5 westeurope"], "8", "32Gi"],
  ["each in its region", ["0.053", "0.013"], ["1 Standard_D4s_v5 westeurope", "1 Standard_D4s_v5 eastus"], "8", "32Gi"],
  ["by the price of every other region", ["0.050", "0.013"], ["1 m7i.large us-east-1"], "2", "8Gi"],
  ["by the region's own price before that", ["0.056", "0.014"], ["1 m7i.large eu-west-1"], "2", "8Gi"],
  ["without a region by that price as well", ["0.050", "0.013"], ["1 m7i.large"], "2", "8Gi"],
  ["nothing where nothing is paid", ["0.000", "0.000"], ["4 free here"], "16", "64Gi"],
  [
    "unknown where one type has no price there",
    "costs are unknown: PriceList azure has no price of Standard_D4s_v5 in norwayeast",
    ["9 free here", "1 Standard_D4s_v5 norwayeast"],
    "40",
    "160Gi",
  ],
  [
    "unknown where one type has none at all",
    "costs are unknown: PriceList azure has no price of toString in a region that nobody names",
    ["1 toString"],
    "4",
    "16Gi",
  ],
  [
    "unknown where a node does not say its type",
    "costs are unknown: a node has no label node.kubernetes.io/instance-type",
    ["1 - westeurope"],
    "4",
    "16Gi",
  ],
  ["unknown without nodes", "costs are unknown: it has no nodes", [], "0", "0"],
];

test.each(cases)("a cluster costs: %s", (_, expected, ...found) => {
  const { properties, unknown } = costsOf(collected(...found), prices);
  expect(unknown ?? [...properties.values()]).toEqual(expected);
});

test("nothing is computed where no list is named, or nodes are unknown", () => {
  const nothing = { properties: new Map(), unknown: null };
  expect(costsOf(collected(["1 free here"], "4", "16Gi"), null)).toEqual(nothing);
  expect(costsOf({ ...collected([], "4", "16Gi"), properties: new Map() }, prices)).toEqual(nothing);
});
