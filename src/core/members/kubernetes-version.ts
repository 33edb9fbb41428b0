import { textOf } from "../model/json.ts";
import { kubernetesVersionProperty } from "../model/names.ts";
import type { PropertyProvider } from "./provider.ts";

/** The version of the member's API server, `v1.36.3`; empty where it does not say. Every change is recorded. */
export const kubernetesVersion: PropertyProvider = {
  path: "/version",
  properties: (response) => [[kubernetesVersionProperty, textOf(response["gitVersion"]) ?? ""]],
  gives: (name) => name === kubernetesVersionProperty,
  isNews: () => true,
};
