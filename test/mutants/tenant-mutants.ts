import type { Mutant } from "./mutant.ts";

const reading = ["test/core/intent/tenants/tenants.test.ts"];
const opinion = ["test/core/check/check-tenants.test.ts"];

/** Breaks of what keeps tenants to their grants. */
export const tenantMutants: readonly Mutant[] = [
  {
    breaks: "lets a tenant define what is in others' namespaces",
    file: "src/core/intent/tenants/grants.ts",
    find: "if (!covers(grant, id)) {",
    replace: "if (!isGrantedKind(grant, id)) {",
    caughtBy: reading,
  },
  {
    breaks: "takes a granted prefix for a grant of what begins alike",
    file: "src/core/intent/tenants/grants.ts",
    find: '(it.endsWith("*") ? namespace.startsWith(it.slice(0, -1)) : namespace === it)',
    replace: 'namespace.startsWith(it.replace("*", ""))',
    caughtBy: reading,
  },
  {
    breaks: "lets an envelope bring what its tenant may not define",
    file: "src/core/intent/tenants/grants.ts",
    find: "return beyondInside(content.manifest, grant);",
    replace: "return null;",
    caughtBy: reading,
  },
  {
    breaks: "lets a commit widen what it is judged by",
    file: "src/core/intent/fleet-in-force.ts",
    find: "const tenants = granting === null ? now : distinct([...now, ...tenantsIn(granting)]);",
    replace: "const tenants = now;",
    caughtBy: [...reading, "test/shell/reconcile/tenants.test.ts"],
  },
  {
    breaks: "judges a commit that widens grants more mildly when it is read again",
    file: "src/core/intent/intent.ts",
    find: "commit === accepted.commit && granting !== null",
    replace: "commit !== accepted.commit && granting !== null",
    caughtBy: [...reading, "test/shell/reconcile/tenants.test.ts"],
  },
  {
    breaks: "lets another spelling of a folder lead around its grant",
    file: "src/core/model/fleet.ts",
    find: 'path.normalize("NFC").toLowerCase()',
    replace: "path",
    caughtBy: reading,
  },
  {
    breaks: "lets a document beyond its grant hold what is anybody's",
    file: "src/core/intent/absence.ts",
    find: "?.find(isOfItsTenant)",
    replace: "?.[0]",
    caughtBy: reading,
  },
  {
    breaks: "deletes what was accepted when its grant becomes tighter",
    file: "src/core/intent/in-force.ts",
    find: "firstDoubt(absenceDoubts(index, tenants), refusedDoubt(refused, tenants))",
    replace: "absenceDoubts(index, tenants)",
    caughtBy: reading,
  },
  {
    breaks: "lets an unreadable document of a tenant hold the whole fleet",
    file: "src/core/intent/absence.ts",
    find: "doubts.find(({ grants }) => mayDefine(grants, version))",
    replace: "doubts.find(() => true)",
    caughtBy: reading,
  },
  {
    breaks: "picks clusters that a tenant is not granted",
    file: "src/core/schedule/plugins/tenant-clusters.ts",
    find: 'filter: ({ cluster }) => (exceededOn(cluster, grants) === null ? "fits" : "unschedulable"),',
    replace: 'filter: () => "fits",',
    caughtBy: ["test/core/schedule/tenant-clusters.test.ts", "test/core/plan/tenants.test.ts"],
  },
  {
    breaks: "picks what a tenant's PickFixed names, granted or not",
    file: "src/core/schedule/pick.ts",
    find: "const beyond = isCarried ? null : notGranted(candidate.cluster, grants);",
    replace: "const beyond: string | null = null;",
    caughtBy: ["test/core/schedule/tenant-clusters.test.ts", "test/core/plan/tenants.test.ts"],
  },
  {
    breaks: "takes away what a PickFixed names where a grant became tighter",
    file: "src/core/schedule/pick.ts",
    find: "const beyond = isCarried ? null : notGranted(candidate.cluster, grants);",
    replace: "const beyond = notGranted(candidate.cluster, grants);",
    caughtBy: ["test/core/schedule/tenant-clusters.test.ts"],
  },
  {
    breaks: "looks past a label that a grant looks at",
    file: "src/core/schedule/plugins/tenant-clusters.ts",
    find: "looksAt: (_, { grants }) => labelsOfGrants(grants),",
    replace: "looksAt: () => [],",
    caughtBy: ["test/core/schedule/tenant-clusters.test.ts"],
  },
  {
    breaks: "brings new versions to clusters that a tenant is no longer granted",
    file: "src/core/plan/guard/protection.ts",
    find: "const beyond = moves.filter((it) => isBeyondGrant(it, context));",
    replace: "const beyond: typeof moves = [];",
    caughtBy: ["test/core/plan/tenants.test.ts"],
  },
  {
    breaks: "goes on with a decision that was remembered although a grant changed",
    file: "src/core/plan/decision-basis.ts",
    find: "sameList(basis.grants, clusterGrantsOf(placement.source, world.intent.tenants))",
    replace: "basis.grants.length >= 0 && placement.source !== null && world !== null",
    caughtBy: ["test/core/plan/incremental.test.ts"],
  },
  {
    breaks: "has no second opinion on the clusters of a tenant's placement",
    file: "src/core/check/check-tenants.ts",
    find: "if (exceeded === undefined || !(isPicked || isBrought)) continue;",
    replace: "if (exceeded === undefined || !isPicked) continue;",
    caughtBy: ["test/core/plan/tenants.test.ts"],
  },
  {
    breaks: "has no second opinion on the namespaces of a tenant's placement",
    file: "src/core/check/check-tenants.ts",
    find: "asking.find((it) => (space === null ? !namesKind(it, id) : !namesSpace(it, space))) ??",
    replace: "",
    caughtBy: opinion,
  },
  {
    breaks: "has no second opinion on what a tenant's files define",
    file: "src/core/check/check-tenants.ts",
    find: "const defining = source === undefined ? [] : tenantsAt({ source }, intent);",
    replace: "const defining = source === undefined ? [] : asking;",
    caughtBy: opinion,
  },
];
