import type { PriceList } from "../model/fleet.ts";
import { coreCostProperty, resourcePrefix } from "../model/names.ts";
import { type Collected, type MemberProperties, noProperties } from "../model/observation.ts";
import { quantityOf } from "../model/quantity.ts";

/** What a cluster costs, or why nobody knows. */
interface Costs {
  readonly properties: MemberProperties;
  /** Null where all is known, and where nothing was asked. */
  readonly unknown: string | null;
}

const noCosts: Costs = { properties: noProperties, unknown: null };

/** Per core and per GiB, by KubeFleet's names and to its three decimals (`members/README.md#costs`). */
export function costsOf({ machines, properties }: Collected, prices: PriceList | null): Costs {
  if (prices === null || !properties.has(totalCpu)) return noCosts;
  let sum = 0n;
  for (const { type, region, count } of machines) {
    const price = priceOf(prices, type, region);
    if (price === null) return { properties: noProperties, unknown: noPrice(prices, type, region) };
    sum += price * BigInt(count);
  }
  const cores = quantityOf(properties.get(totalCpu) ?? "")?.nanos ?? 0n;
  const bytes = quantityOf(properties.get(totalMemory) ?? "")?.nanos ?? 0n;
  if (cores === 0n || bytes === 0n) return { properties: noProperties, unknown: "costs are unknown: it has no nodes" };
  return {
    properties: new Map([
      [coreCostProperty, threeDecimals(sum, cores)],
      ["kubernetes.azure.com/per-gb-memory-cost", threeDecimals(sum * gibibyte, bytes)],
    ]),
    unknown: null,
  };
}

const totalCpu = `${resourcePrefix}total-cpu`;
const totalMemory = `${resourcePrefix}total-memory`;
const gibibyte = 1024n ** 3n;

/** In billionths per hour; null where the list has none. */
function priceOf({ perHour }: PriceList, type: string | null, region: string | null): bigint | null {
  const regions = type === null || !Object.hasOwn(perHour, type) ? undefined : perHour[type];
  const key = [region ?? "*", "*"].find((it) => regions !== undefined && Object.hasOwn(regions, it));
  return key === undefined ? null : (quantityOf(regions?.[key] ?? "")?.nanos ?? null);
}

const noPrice = ({ name }: PriceList, type: string | null, region: string | null): string =>
  type === null
    ? "costs are unknown: a node has no label node.kubernetes.io/instance-type"
    : `costs are unknown: PriceList ${name} has no price of ${type} in ${region ?? "a region that nobody names"}`;

/** A quotient to three decimals, halves up: nothing here is negative. */
function threeDecimals(value: bigint, by: bigint): string {
  const thousandths = (value * 2000n + by) / (by * 2n);
  return `${thousandths / 1000n}.${String(thousandths % 1000n).padStart(3, "0")}`;
}
