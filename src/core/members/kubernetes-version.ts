import { textOf } from "../model/json.ts";
import { kubernetesVersionProperty } from "../model/names.ts";
import type { PropertyProvider } from "./provider.ts";

/** Versions of API servers have far fewer characters. */
const longest = 128;

/** The version of the member's API server, `v1.36.3`; empty where it gives none. Every change is recorded. */
export const kubernetesVersion: PropertyProvider = {
  path: "/version",
  properties(response) {
    const version = textOf(response["gitVersion"]) ?? "";
    return [[kubernetesVersionProperty, version.length > longest ? "" : version]];
  },
  gives: (name) => name === kubernetesVersionProperty,
  isNews: () => true,
};
