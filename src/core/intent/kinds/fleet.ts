import type { Fleet as WrittenFleet } from "#schemas/fleet";
import schema from "../../../../schemas/fleet.json" with { type: "json" };
import { defaultFleet, type FleetSpec } from "../../model/fleet.ts";
import { flotillaGroup } from "../../model/names.ts";
import { type ClusterName, compareText } from "../../model/value.ts";
import { error, type FieldProblems } from "../../yaml/problems.ts";
import { repeatedProblems } from "./fields.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";

/** The settings of a fleet. */
export const fleetKind: ReadKind<WrittenFleet, ContentOf<"fleet">> = {
  names: [{ group: flotillaGroup, kind: "Fleet", scope: "Cluster", versions: ["v1alpha1"] }],
  schema,
  ownPlace: "a Fleet is read from fleet.yaml at the top",
  rules: (it) => fleetProblems(it),
  content: (it) => ({ kind: "fleet", fleet: fleetFrom(it) }),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};

/** The only file that settings are read from: they say where to look for everything else. */
export const isFleetPath = (path: string): boolean => path === "fleet.yaml" || path === "fleet.yml";

/** The fleet's settings after defaults. */
function fleetFrom({ spec = {} }: WrittenFleet): FleetSpec {
  const contexts = Object.entries(spec.contexts ?? {}).sort(([a], [b]) => compareText(a, b)) as [ClusterName, string][];
  const roots = (spec.roots ?? []).map(rootOf);
  return {
    roots: roots.includes("") ? [] : roots,
    profile: spec.profile ?? defaultFleet.profile,
    contexts: new Map(contexts),
    guards: { ...defaultFleet.guards, ...spec.guards },
    prices: spec.prices ?? defaultFleet.prices,
    collect: spec.collect ?? defaultFleet.collect,
    unsignedApprovals: spec.approvals?.unsigned ?? defaultFleet.unsignedApprovals,
  };
}

function fleetProblems({ spec = {} }: WrittenFleet): FieldProblems {
  const roots = spec.roots ?? [];
  return [
    ...roots.flatMap((root, i) =>
      isFolder(rootOf(root))
        ? []
        : [error("FLT1302", ["spec", "roots", i], "is not a folder", "write apps or teams/a")],
    ),
    ...repeatedProblems(roots, rootOf, [["spec", "roots"], "this root occurs twice"]),
    ...repeatedProblems(spec.collect ?? [], (it) => it, [["spec", "collect"], "this property occurs twice"]),
    ...Object.entries(spec.contexts ?? {})
      .filter(([, context]) => context === "")
      .map(([name]) => error("FLT1302", ["spec", "contexts", name], "must not be empty", "name a kubeconfig context")),
  ];
}

/** `./apps/` → `apps`; the whole repository is the empty root. */
const rootOf = (written: string): string => written.replace(/^(?:\.\/+)+|^\.$/, "").replace(/\/+$/, "");

const isFolder = (root: string): boolean =>
  root === "" || root.split("/").every((it) => it !== "" && !it.startsWith(".") && !it.includes("\\"));
