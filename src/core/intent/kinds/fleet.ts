import type { Fleet as WrittenFleet, Tenant as WrittenTenant } from "#schemas/fleet";
import schema from "../../../../schemas/fleet.json" with { type: "json" };
import { defaultFleet, type FleetSpec, foldedPath, type TenantGrant } from "../../model/fleet.ts";
import { flotillaGroup } from "../../model/names.ts";
import { type ClusterName, compareText } from "../../model/value.ts";
import { error, type FieldProblem, type FieldProblems, type JsonPath } from "../../yaml/problems.ts";
import { repeatedProblems } from "./fields.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";
import { labelSelectorProblems } from "./metadata.ts";

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
    tenants: spec.tenants === undefined ? defaultFleet.tenants : tenantGrantsOf(spec.tenants),
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
    ...tenantProblems(spec.tenants ?? [], ["spec", "tenants"]),
    ...Object.entries(spec.contexts ?? {})
      .filter(([, context]) => context === "")
      .map(([name]) => error("FLT1302", ["spec", "contexts", name], "must not be empty", "name a kubeconfig context")),
  ];
}

/** `./apps/` → `apps`; the whole repository is the empty root. */
const rootOf = (written: string): string => written.replace(/^(?:\.\/+)+|^\.$/, "").replace(/\/+$/, "");

const isFolder = (root: string): boolean =>
  root === "" || root.split("/").every((it) => it !== "" && !it.startsWith(".") && !it.includes("\\"));

/** Checks `tenants` as far as they can be judged by themselves (`intent/README.md#tenants`). */
function tenantProblems(tenants: readonly WrittenTenant[], at: JsonPath): FieldProblems {
  const folders = tenants.map((it) => folderOf(it.path));
  return tenants.flatMap((it, i) => [
    ...folderProblems(folders, i, [...at, i, "path"]),
    ...namespacePatternProblems(it.namespaces, [...at, i, "namespaces"]),
    ...labelSelectorProblems(it.clusters?.labelSelector, [...at, i, "clusters", "labelSelector"]),
    ...repeatedProblems(it.kinds, (kind) => kind, [[...at, i, "kinds"], "this kind occurs twice"]),
  ]);
}

/** What tenants are granted; of what {@link tenantProblems} passes. */
const tenantGrantsOf = (tenants: readonly WrittenTenant[]): readonly TenantGrant[] =>
  tenants.map(({ path, namespaces, kinds, clusters }) => ({
    folder: folderOf(path) ?? path,
    namespaces,
    kinds,
    clusters: clusters?.labelSelector ?? null,
  }));

/** `teams/payments/**` → `teams/payments/`; null where it is not a folder with all that is below it. */
function folderOf(path: string): string | null {
  const folder = path.endsWith("/**") ? path.slice(0, -3) : "";
  const isFolder = folder.split("/").every((it) => /^[^.*?\\[\]{}\u0000-\u001f][^*?\\[\]{}\u0000-\u001f]*$/.test(it));
  return isFolder ? `${folder}/` : null;
}

function folderProblems(folders: readonly (string | null)[], i: number, at: JsonPath): FieldProblems {
  const folder = folders[i] ?? null;
  if (folder === null)
    return [error("FLT1302", at, "is not a folder with all that is below it", "write it like teams/payments/**")];
  if (/^(?:approvals|trust)\/$/.test(foldedPath(folder)))
    return [error("FLT1302", at, `no objects are read from ${folder}`, "name a folder of the tenant's")];
  const isOver = (it: string | null): boolean =>
    it !== null && (foldedPath(folder).startsWith(foldedPath(it)) || foldedPath(it).startsWith(foldedPath(folder)));
  const other = folders.findIndex((it, earlier) => earlier < i && isOver(it));
  if (other < 0) return [];
  const message = `overlaps with tenants[${other}] (${folders[other]}**): a file would be two tenants'`;
  return [error("FLT1307", at, message, "give each tenant a folder of its own")];
}

/** Names of namespaces, or prefixes of such names with a `*` behind them; never all of them. */
function namespacePatternProblems(patterns: readonly string[], at: JsonPath): FieldProblems {
  const malformed = patterns.flatMap((it, i): readonly FieldProblem[] => {
    const isFine = it.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(it);
    const isPrefix = it.length <= 64 && /^[a-z0-9][-a-z0-9]*\*$/.test(it);
    const fix = "write a namespace, or a prefix with a * behind it";
    return isFine || isPrefix ? [] : [error("FLT1302", [...at, i], "names no namespaces", fix, JSON.stringify(it))];
  });
  return [...malformed, ...repeatedProblems(patterns, (it) => it, [at, "this namespace occurs twice"])];
}
