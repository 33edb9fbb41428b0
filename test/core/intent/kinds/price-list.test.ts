import { describe, expect, it } from "vitest";
import { errorsOf, read, readAll } from "../reading.ts";

const list = (perHour: string): string =>
  `apiVersion: flotilla.dev/v1alpha1\nkind: PriceList\nmetadata: {name: azure}\nspec:\n  perHour:\n${perHour}`;
const fleet = (name: string): string => `apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {prices: ${name}}\n`;
const prices = list("    D4: {eu: 0.23, us: '192m'}\n    D8: {'*': 1}\n");

describe("a PriceList", () => {
  it("counts where fleet.yaml names it", () => {
    expect(read({ "fleet.yaml": fleet("azure"), "prices.yaml": prices }).prices).toMatchObject({
      name: "azure",
      perHour: { D4: { eu: "0.23", us: "192m" }, D8: { "*": "1" } },
      source: { path: "prices.yaml" },
    });
    expect(read({ "prices.yaml": prices }).prices).toBeNull();
  });

  it("that fleet.yaml names and that is not there is warned of", () => {
    const { problems, prices: found } = read({ "fleet.yaml": fleet("gcp"), "prices.yaml": prices });
    expect(found).toBeNull();
    expect(problems.map((it) => [it.code, it.path, it.message])).toEqual([
      ["FLT1335", "fleet.yaml", expect.stringContaining("there is no PriceList gcp")],
    ]);
  });

  const cases: readonly [name: string, perHour: string, problem: string][] = [
    ["negative", "    D4: {eu: -0.23}\n", "prices.yaml:6:14: error FLT1302: spec.perHour.D4.eu: is negative"],
    ["no quantity", "    D4: {eu: cheap}\n", "prices.yaml:6:14: error FLT1302: spec.perHour.D4.eu: is not a price"],
    ["a list", "    D4: [1]\n", "prices.yaml:6:9: error FLT1302: spec.perHour.D4: must be a mapping"],
  ];
  it.each(cases)(
    "with a price that is %s is refused with its place, and the accepted one stays in force",
    (_, text, problem) => {
      const files = { "fleet.yaml": fleet("azure"), "prices.yaml": list(text) };
      expect(errorsOf(read(files))).toEqual([expect.stringContaining(problem)]);
      const after = readAll({ "fleet.yaml": fleet("azure"), "prices.yaml": prices }, files);
      expect(after.prices?.perHour["D4"]).toEqual({ eu: "0.23", us: "192m" });
    },
  );
});
