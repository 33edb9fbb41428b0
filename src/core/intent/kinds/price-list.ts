import type { PriceList as WrittenPrices } from "#schemas/price-list";
import schema from "../../../../schemas/price-list.json" with { type: "json" };
import type { PriceList } from "../../model/fleet.ts";
import { flotillaGroup } from "../../model/names.ts";
import { quantityOf } from "../../model/quantity.ts";
import { error, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";
import { commonProblems } from "./metadata.ts";

/** What machines cost. */
export const priceListKind: ReadKind<WrittenPrices, ContentOf<"prices">> = {
  names: [{ group: flotillaGroup, kind: "PriceList", scope: "Cluster", versions: ["v1alpha1"] }],
  schema,
  ownPlace: null,
  rules: (it) => priceProblems(it),
  content: (it) => ({ kind: "prices", prices: pricesFrom(it) }),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};

const pricesFrom = ({ metadata, spec }: WrittenPrices): Omit<PriceList, "source"> => ({
  name: metadata.name,
  perHour: Object.fromEntries(
    Object.entries(spec.perHour).map(([type, regions]) => [
      type,
      Object.fromEntries(Object.entries(regions).map(([region, price]) => [region, String(price)])),
    ]),
  ),
});

/** A price is a quantity of at least 0 (`members/README.md#costs`). */
function priceProblems(list: WrittenPrices): FieldProblems {
  const at: JsonPath = ["spec", "perHour"];
  return [
    ...commonProblems(list),
    ...Object.entries(list.spec.perHour).flatMap(([type, regions]) =>
      Object.entries(regions).flatMap(([region, price]) => {
        const read = quantityOf(String(price));
        if (read === null) return [error("FLT1302", [...at, type, region], "is not a price", "write 0.192")];
        if (read.nanos >= 0n) return [];
        return [error("FLT1302", [...at, type, region], "is negative", "write a price per hour of at least 0")];
      }),
    ),
  ];
}
