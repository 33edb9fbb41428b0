// Who may define what, through everything that reads a commit: files in, what is in force out.
import { describe, expect, it } from "vitest";
import { type AcceptedSource, readIntent } from "../../../../src/core/intent/intent.ts";
import type { Commit } from "../../../../src/core/model/value.ts";
import { problemText } from "../../../../src/core/yaml/problems.ts";
import {
  cluster,
  errorsOf,
  type Files,
  inForce,
  placement,
  read,
  readAll,
  readRepeatedly,
  sourceFiles,
} from "../reading.ts";

const fleet = (...tenants: readonly string[]): string =>
  `apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec:\n  tenants:\n${tenants.map((it) => `    - ${it}\n`).join("")}`;

const kinds = "ConfigMap, Deployment, ResourceEnvelope, ResourceOverride, ResourcePlacement, Widget.example.com";
const payments = `{path: teams/payments/**, namespaces: [payments, payments-*], kinds: [${kinds}]}`;
const shop = "{path: teams/shop/**, namespaces: [shop], kinds: [ConfigMap]}";
const fleetYaml = fleet(payments, shop);

const object = (kind: string, name: string, namespace = "", rest = ""): string =>
  `apiVersion: ${apiVersions[kind] ?? "v1"}\nkind: ${kind}\nmetadata: {name: ${name}${namespace === "" ? "" : `, namespace: ${namespace}`}}\n${rest}`;

const apiVersions: Readonly<Record<string, string>> = {
  Deployment: "apps/v1",
  ClusterRole: "rbac.authorization.k8s.io/v1",
  Widget: "example.com/v1",
  Gadget: "example.com/v1",
  ResourcePlacement: "placement.kubernetes-fleet.io/v1beta1",
  ClusterResourceOverride: "placement.kubernetes-fleet.io/v1beta1",
  ClusterResourcePlacement: "placement.kubernetes-fleet.io/v1beta1",
  ResourceOverride: "placement.kubernetes-fleet.io/v1beta1",
  ResourceEnvelope: "placement.kubernetes-fleet.io/v1beta1",
};

const map = (name: string, namespace: string): string => object("ConfigMap", name, namespace, "data: {a: b}\n");

const team = "teams/payments/a.yaml";
const granted = "which teams/payments/** is not granted (fleet.yaml:5:7)";

describe("tenants in fleet.yaml", () => {
  const faults: readonly (readonly [what: string, tenants: readonly string[], want: readonly string[]])[] = [
    [
      "a file instead of a folder",
      ["{path: teams/a.yaml, namespaces: [a], kinds: [Secret]}"],
      ["5:14 FLT1302: spec.tenants[0].path: is not a folder with all that is below it"],
    ],
    [
      "the whole repository",
      ['{path: "**", namespaces: [a], kinds: [Secret]}'],
      ["5:14 FLT1302: spec.tenants[0].path: is not a folder with all that is below it"],
    ],
    ...["/teams/**", "teams//a/**", "../a/**", "teams/*/a/**", ".github/**"].map((path): (typeof faults)[number] => [
      `the folder ${path}`,
      [`{path: ${path}, namespaces: [a], kinds: [Secret]}`],
      ["5:14 FLT1302: spec.tenants[0].path: is not a folder with all that is below it"],
    ]),
    [
      "a folder that objects are not read from",
      ["{path: approvals/**, namespaces: [a], kinds: [Secret]}"],
      ["5:14 FLT1302: spec.tenants[0].path: no objects are read from approvals/"],
    ],
    [
      "a folder in another tenant's",
      [shop, "{path: teams/shop/b/**, namespaces: [a], kinds: [Secret]}"],
      ["6:14 FLT1307: spec.tenants[1].path: overlaps with tenants[0] (teams/shop/**): a file would be two tenants'"],
    ],
    [
      "another spelling of a tenant's folder",
      [shop, "{path: Teams/Shop/**, namespaces: [a], kinds: [Secret]}"],
      ["6:14 FLT1307: spec.tenants[1].path: overlaps with tenants[0] (teams/shop/**): a file would be two tenants'"],
    ],
    [
      "no namespaces",
      ["{path: a/**, namespaces: [], kinds: [Secret]}"],
      ["5:32 FLT1302: spec.tenants[0].namespaces: must have at least one entry"],
    ],
    [
      "no kinds",
      ["{path: a/**, namespaces: [a], kinds: []}"],
      ["5:44 FLT1302: spec.tenants[0].kinds: must have at least one entry"],
    ],
    [
      "nothing but a folder",
      ["{path: a/**}"],
      [
        "5:7 FLT1300: spec.tenants[0].kinds: is required and missing",
        "5:7 FLT1300: spec.tenants[0].namespaces: is required and missing",
      ],
    ],
    [
      "patterns that are none",
      ['{path: a/**, namespaces: ["*", a*b, A, "a b", a, a], kinds: [Secret]}'],
      [
        '5:33 FLT1302: spec.tenants[0].namespaces[0]: names no namespaces (got "*")',
        '5:38 FLT1302: spec.tenants[0].namespaces[1]: names no namespaces (got "a*b")',
        '5:43 FLT1302: spec.tenants[0].namespaces[2]: names no namespaces (got "A")',
        '5:46 FLT1302: spec.tenants[0].namespaces[3]: names no namespaces (got "a b")',
        "5:56 FLT1308: spec.tenants[0].namespaces[5]: this namespace occurs twice",
      ],
    ],
    [
      "kinds that are none",
      ["{path: a/**, namespaces: [a], kinds: [ConfigMop, Widget, Secret, Secret]}"],
      ["5:72 FLT1308: spec.tenants[0].kinds[3]: this kind occurs twice"],
    ],
    [
      "a kind of which nothing is known",
      ["{path: a/**, namespaces: [a], kinds: [ConfigMop, Widget, Deployment.app, Foo.apps]}"],
      [
        '5:45 FLT1301: spec.tenants[0].kinds[0]: is not a kind that is known (got "ConfigMop"); did you mean "ConfigMap"?',
        '5:56 FLT1301: spec.tenants[0].kinds[1]: is not a kind that is known (got "Widget"); write custom resources with their group, like Certificate.cert-manager.io',
        '5:64 FLT1301: spec.tenants[0].kinds[2]: is not a kind that is known (got "Deployment.app"); did you mean "Deployment.apps"?',
        '5:80 FLT1301: spec.tenants[0].kinds[3]: is not a kind that is known (got "Foo.apps"); write custom resources with their group, like Certificate.cert-manager.io',
      ],
    ],
    [
      "clusters that say nothing",
      ["{path: a/**, namespaces: [a], kinds: [Secret], clusters: {}}"],
      ["5:54 FLT1300: spec.tenants[0].clusters.labelSelector: is required and missing"],
    ],
    [
      "a selector that is none",
      ["{path: a/**, namespaces: [a], kinds: [Secret], clusters: {labelSelector: {matchLabels: {a b: c}}}}"],
      [
        '5:100 FLT1305: spec.tenants[0].clusters.labelSelector.matchLabels["a b"]: is not a valid label key (got "a b")',
      ],
    ],
    [
      "kinds with a place of their own",
      ["{path: a/**, namespaces: [a], kinds: [Fleet, Trust, Approval]}"],
      [
        '5:45 FLT1302: spec.tenants[0].kinds[0]: a Fleet is read from fleet.yaml at the top only (got "Fleet")',
        '5:52 FLT1302: spec.tenants[0].kinds[1]: a Trust is read from trust/root.yaml only (got "Trust")',
        '5:59 FLT1302: spec.tenants[0].kinds[2]: an approval is read from a file under approvals/ only (got "Approval")',
      ],
    ],
  ];

  it.each(faults)("refuses %s", (_, tenants, want) => {
    const intent = read({ "fleet.yaml": fleet(...tenants) });
    const said = intent.problems.map((it) => problemText(it).replace(/^fleet.yaml:(\S+): error /, "$1 "));
    const isWhole = want.some((it) => it.includes("; "));
    expect(isWhole ? said : said.map((it) => it.replace(/;.*/, ""))).toEqual(want);
    expect(intent.fleet.tenants).toEqual([]);
  });

  it("change nothing for whoever has none", () => {
    expect(read({ [team]: map("a", "shop") })).toMatchObject({ tenants: [], problems: [] });
  });

  it("limit what they limit although the rest of the file cannot be used", () => {
    const beside = { "trust/notes.txt": "", "fleet.yaml": fleetYaml, [team]: map("a", "shop") };
    expect(errorsOf(read(beside)).filter((it) => !it.startsWith("trust/"))).toEqual([
      "fleet.yaml:5:5: error FLT1901: spec.tenants: are not yet supported beside trust/root.yaml",
      `${team}:3:32: error FLT1404: metadata.namespace: defines ConfigMap shop/a, ${granted}`,
    ]);
  });
});

describe("I-46 T-24: a document in a tenant's folder", () => {
  const selecting = (kind: string, name = "web", group = ""): string =>
    `spec:\n  resourceSelectors: [{group: "${group}", version: v1, kind: ${kind}, name: ${name}}]\n`;
  const overriding = (kind: string): string =>
    `spec:\n  resourceSelectors: [{group: "", version: v1, kind: ${kind}, name: a}]\n  policy: {overrideRules: [{overrideType: Delete}]}\n`;
  const wrapping = (inside: string): string => `data:\n  a: ${inside}\n`;
  const envelope = "apiVersion: placement.kubernetes-fleet.io/v1beta1, kind: ResourceEnvelope";
  const secured = "{name: a, namespace: payments, labels: {pod-security.kubernetes.io/enforce: privileged}}";

  const cases: readonly (readonly [what: string, content: string, want: string | null])[] = [
    ["of a granted kind in a granted namespace", map("a", "payments"), null],
    ["in a namespace with a granted prefix", map("a", "payments-eu"), null],
    ["in another namespace", map("a", "shop"), "3:32: metadata.namespace: defines ConfigMap shop/a"],
    [
      "in a namespace that only begins alike",
      map("a", "payments2"),
      "3:32: metadata.namespace: defines ConfigMap payments2/a",
    ],
    ["of another kind", object("Secret", "a", "payments"), "2:7: kind: defines Secret payments/a"],
    ["of a cluster-scoped kind", object("Namespace", "payments"), "2:7: kind: defines Namespace payments"],
    [
      "of a kind of KubeFleet's",
      placement("web"),
      "2:7: kind: defines ClusterResourcePlacement.placement.kubernetes-fleet.io web",
    ],
    [
      "of a kind that is not read",
      object("Work", "a", "payments").replace("v1", "placement.kubernetes-fleet.io/v1"),
      "2:7: kind: defines Work.placement.kubernetes-fleet.io payments/a",
    ],
    ["of a custom kind", object("Widget", "a", "payments"), null],
    ["of another custom kind", object("Gadget", "a", "payments"), "2:7: kind: defines Gadget.example.com payments/a"],
    [
      "of a kind that is only called alike",
      object("ConfigMap", "a", "payments").replace("v1", "example.com/v1"),
      "2:7: kind: defines ConfigMap.example.com payments/a",
    ],
    ["that selects a granted kind", object("ResourcePlacement", "web", "payments", selecting("ConfigMap")), null],
    [
      "that selects another kind",
      object("ResourcePlacement", "web", "payments", selecting("Secret")),
      "5:54: spec.resourceSelectors[0].kind: selects the kind Secret",
    ],
    [
      "that overrides another kind",
      object("ResourceOverride", "web", "payments", overriding("ResourceQuota")),
      "5:54: spec.resourceSelectors[0].kind: selects the kind ResourceQuota",
    ],
    ["that overrides a granted kind", object("ResourceOverride", "web", "payments", overriding("ConfigMap")), null],
    [
      "that wraps what is granted",
      object(
        "ResourceEnvelope",
        "e",
        "payments",
        wrapping("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: payments}}"),
      ),
      null,
    ],
    [
      "that wraps another kind",
      object(
        "ResourceEnvelope",
        "e",
        "payments",
        wrapping("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: payments}}"),
      ),
      "5:3: data: wraps Secret payments/a",
    ],
    [
      "that wraps what is of another namespace",
      object(
        "ResourceEnvelope",
        "e",
        "payments",
        wrapping("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}"),
      ),
      "5:3: data: wraps ConfigMap shop/a",
    ],
    [
      "that wraps an envelope of a granted kind",
      object("ResourceEnvelope", "e", "payments", wrapping(`{${envelope}, metadata: {name: f, namespace: payments}}`)),
      "5:3: data: wraps ResourceEnvelope.placement.kubernetes-fleet.io payments/f",
    ],
    [
      "that wraps what has a label of pod security",
      object("ResourceEnvelope", "e", "payments", wrapping(`{apiVersion: v1, kind: ConfigMap, metadata: ${secured}}`)),
      '5:126: data.a.metadata.labels["pod-security.kubernetes.io/enforce"]: sets the label pod-security.kubernetes.io/enforce',
    ],
    [
      "that is an item of a list, in another namespace",
      `apiVersion: v1\nkind: List\nitems:\n- ${map("a", "shop").trimEnd().replaceAll("\n", "\n  ")}\n`,
      "6:34: metadata.namespace: defines ConfigMap shop/a",
    ],
    [
      "that cannot be used, in another namespace",
      `${map("a", "shop")}data: {a: c}\n`,
      "3:32: metadata.namespace: defines ConfigMap shop/a",
    ],
  ];

  it.each(cases)("%s", (_, content, want) => {
    const problems = read({ "fleet.yaml": fleetYaml, [team]: content }).problems.filter((it) => it.code === "FLT1404");
    const message = want === null ? [] : [`${team}:${want}, ${granted}`];
    expect(problems.map((it) => problemText(it).replace(/ error FLT1404:|;.*/g, ""))).toEqual(message);
  });

  const wideTenant =
    "{path: teams/payments/**, namespaces: [payments], kinds: [Namespace, ClusterRole, ClusterResourcePlacement, ClusterResourceOverride]}";
  const wide = "kinds: [Namespace, ClusterRole, ClusterResourcePlacement, ClusterResourceOverride]";
  const selectsNamespaces = (selector: string): string =>
    object(
      "ClusterResourcePlacement",
      "web",
      "",
      `spec:\n  resourceSelectors: [{group: "", version: v1, kind: Namespace, ${selector}}]\n`,
    );
  const patching = (path: string, value: string): string =>
    object(
      "ClusterResourceOverride",
      "o",
      "",
      `spec:\n  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: payments}]\n  policy:\n    overrideRules: [{clusterSelector: {clusterSelectorTerms: []}, jsonPatchOverrides: [{op: add, path: ${path}, value: ${value}}]}]\n`,
    );
  const enforce = "spec.policy.overrideRules: sets the label pod-security.kubernetes.io/enforce";
  const clusterScoped: readonly (readonly [what: string, content: string, want: string | null])[] = [
    ["its Namespace", object("Namespace", "payments"), null],
    ["a patch of its labels", patching("/metadata/labels/a", "b"), null],
    ["a patch that sets one", patching("/metadata/labels/pod-security.kubernetes.io~1enforce", "privileged"), enforce],
    [
      "a patch with a key of which a variable makes one",
      patching("/metadata/labels", '{"pod-${MEMBER-CLUSTER-LABEL-KEY-team}.kubernetes.io/enforce": privileged}'),
      "spec.policy.overrideRules: sets the label pod-${MEMBER-CLUSTER-LABEL-KEY-team}.kubernetes.io/enforce",
    ],
    ["a patch with a variable in a value", patching("/metadata/labels", '{a: "${MEMBER-CLUSTER-NAME}"}'), null],
    [
      "a patch that sets them all",
      patching("/metadata/labels", "{pod-security.kubernetes.io/enforce: privileged}"),
      enforce,
    ],
    ["another Namespace", object("Namespace", "shop"), "metadata.name: defines Namespace shop"],
    ["a placement of its Namespace", selectsNamespaces("name: payments"), null],
    [
      "a placement of another Namespace",
      selectsNamespaces("name: shop"),
      "spec.resourceSelectors[0].name: selects the Namespace shop",
    ],
    [
      "a placement of all Namespaces with a label",
      selectsNamespaces("labelSelector: {matchLabels: {a: b}}"),
      "spec.resourceSelectors[0]: selects Namespaces without naming them",
    ],
    [
      "a Namespace where pods may do anything",
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: payments, labels: {pod-security.kubernetes.io/enforce: privileged}}\n",
      'metadata.labels["pod-security.kubernetes.io/enforce"]: sets the label pod-security.kubernetes.io/enforce',
    ],
    [
      "a role that others' roles grow by",
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a, labels: {rbac.authorization.k8s.io/aggregate-to-admin: 'true'}}\nrules: []\n",
      'metadata.labels["rbac.authorization.k8s.io/aggregate-to-admin"]: sets the label rbac.authorization.k8s.io/aggregate-to-admin',
    ],
    ["a role", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules: []\n", null],
  ];

  it.each(clusterScoped)(`with ${wide}: %s`, (_, content, want) => {
    const problems = read({ "fleet.yaml": fleet(wideTenant), [team]: content }).problems.filter(
      (it) => it.code === "FLT1404",
    );
    const said = problems.map((it) => problemText(it).replace(/^\S+ error FLT1404: |, which.*/g, ""));
    expect(said).toEqual(want === null ? [] : [want]);
  });

  it.each([
    ["the folder of a tenant", team, true],
    ["a folder in it", "teams/payments/eu/x/a.yaml", true],
    ["another spelling of it", "Teams/PAYMENTS/a.yaml", true],
    ["a folder that only begins alike", "teams/payments2/a.yaml", false],
    ["a file that is called like it", "teams/payments.yaml", false],
    ["a folder of that name elsewhere", "apps/teams/payments/a.yaml", false],
  ])("in %s", (_, path, isRefused) => {
    const intent = read({ "fleet.yaml": fleetYaml, [path]: map("a", "shop") });
    expect(errorsOf(intent)).toHaveLength(isRefused ? 1 : 0);
    expect(inForce(intent)).toEqual(isRefused ? [] : ["ConfigMap shop/a"]);
  });
});

it("T-24: a PickFixed names what its tenant is granted", () => {
  const limited = payments.replace("]}", "], clusters: {labelSelector: {matchLabels: {env: dev}}}}");
  const fixed = object(
    "ResourcePlacement",
    "web",
    "payments",
    'spec:\n  resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: a}]\n  policy: {placementType: PickFixed, clusterNames: [m1, m2]}\n',
  );
  const files: Files = {
    "fleet.yaml": fleet(limited),
    "m1.yaml": cluster("m1", "env: dev"),
    "m2.yaml": cluster("m2", "env: prod"),
    "a.yaml": map("a", "payments"),
  };
  expect(errorsOf(read({ ...files, [team]: fixed }))).toEqual([
    `${team}:6:57: error FLT1404: spec.policy.clusterNames[1]: names the cluster m2, ${granted}`,
  ]);
  expect(errorsOf(read({ ...files, "web.yaml": fixed }))).toEqual([]);
});

describe("a document beyond its grant", () => {
  const own: Files = { "fleet.yaml": fleetYaml, "teams/shop/a.yaml": map("a", "shop") };

  it("duplicates nothing and shadows nothing", () => {
    const intent = read({ ...own, [team]: map("a", "shop") });
    expect(inForce(intent)).toEqual(["ConfigMap shop/a"]);
    expect(errorsOf(intent)).toEqual([
      `${team}:3:32: error FLT1404: metadata.namespace: defines ConfigMap shop/a, ${granted}`,
    ]);
    expect(intent.unusable).toEqual(new Set());
  });

  it("holds nothing of anybody else's", () => {
    const others: Files = { "fleet.yaml": fleetYaml, [team]: map("a", "shop") };
    expect(inForce(readAll(own, others))).toEqual([]);
    expect(inForce(readAll({ ...own, "b.yaml": map("b", "other") }, { ...own, [team]: map("b", "other") }))).toEqual([
      "ConfigMap shop/a",
    ]);
  });

  it("leaves its tenant what stood in its file, and what has its name", () => {
    const before: Files = {
      "fleet.yaml": fleetYaml,
      [team]: map("a", "payments"),
      "teams/payments/b.yaml": map("b", "payments"),
    };
    const typo = map("a", "payment");
    const inOneFile = readAll(before, { ...before, [team]: typo });
    expect(inForce(inOneFile)).toEqual([`ConfigMap payments/a (held c1 ${team}#0)`, "ConfigMap payments/b"]);
    expect([...inOneFile.suspects.values()]).toEqual([
      `${team}:1 might be it, and is beyond what its folder is granted`,
    ]);
    const kind = object("Secret", "b", "payments");
    const { "teams/payments/b.yaml": _, ...rest } = before;
    expect(inForce(readAll(before, { ...rest, "teams/payments/c.yaml": kind }))).toEqual([
      "ConfigMap payments/a",
      "ConfigMap payments/b (held c1 teams/payments/b.yaml#0)",
    ]);
  });

  it.each([
    ["broken text", "a: [\n"],
    ["no name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: payments}\n"],
    ["no namespace", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: z}\n"],
  ])("with %s holds what its tenant may define, and nothing else", (_, broken) => {
    const before: Files = {
      ...own,
      "teams/payments/b.yaml": map("b", "payments"),
      "c.yaml": map("c", "payments"),
      "d.yaml": object("Secret", "d", "payments"),
    };
    const after = readAll(before, { "fleet.yaml": fleetYaml, "teams/payments/x.yaml": broken });
    expect(inForce(after)).toEqual([
      "ConfigMap payments/b (held c1 teams/payments/b.yaml#0)",
      "ConfigMap payments/c (held c1 c.yaml#0)",
    ]);
    const platform = readAll(before, { "fleet.yaml": fleetYaml, "x.yaml": broken });
    expect(inForce(platform)).toHaveLength(4);
  });

  it("with an unknown kind holds what has its name, as far as its tenant may define that", () => {
    const before: Files = {
      "fleet.yaml": fleetYaml,
      [team]: map("a", "payments"),
      "r.yaml": object("ClusterRole", "a"),
    };
    const after = readAll(before, { "fleet.yaml": fleetYaml, "teams/payments/x.yaml": object("Widget", "a") });
    expect(inForce(after)).toEqual([]);
  });

  it("in a root of its own that is empty now holds what its tenant may define, and nothing else", () => {
    const rooted = fleetYaml.replace("  tenants:", "  roots: [teams/payments, apps]\n  tenants:");
    const before: Files = {
      "fleet.yaml": rooted,
      [team]: map("a", "payments"),
      "apps/a.yaml": map("a", "apps"),
      "apps/b.yaml": map("b", "apps"),
    };
    expect(inForce(readAll(before, { "fleet.yaml": rooted, "apps/a.yaml": map("a", "apps") }))).toEqual([
      "ConfigMap apps/a",
      `ConfigMap payments/a (held c1 ${team}#0)`,
    ]);
  });
});

describe("a commit that changes what is granted", () => {
  const wider = fleet(payments.replace("payments-*", "shop"), shop.replace("shop]", "shop, books]"));
  const use: Files = { [team]: map("a", "shop") };

  it("is judged by what was granted before, and what it grants: whoever widens a grant uses it in the next commit", () => {
    const before: Files = { "fleet.yaml": fleetYaml };
    const both: Files = { "fleet.yaml": wider, ...use };
    expect(inForce(readAll(before, both))).toEqual([]);
    const refused = `${team}:3:32: error FLT1404: metadata.namespace: defines ConfigMap shop/a, ${granted}`;
    expect(errorsOf(readAll(before, both))).toEqual([refused.replace(")", " before this commit)")]);
    expect(inForce(readAll(before, both, { ...both, "z.yaml": map("z", "z") }))).toEqual([
      "ConfigMap shop/a",
      "ConfigMap z/z",
    ]);
    expect(inForce(readAll(before, { ...before, "fleet.yaml": wider }, both))).toEqual(["ConfigMap shop/a"]);
  });

  it("counts as it counted when it is read again, until another one comes", () => {
    const before: Files = { "fleet.yaml": fleetYaml };
    const both: Files = { "fleet.yaml": wider, ...use };
    const again = readAgain(before, both);
    expect(again.first.holds).toMatchObject([{ id: { kind: "Fleet" }, commit: "c1", path: "fleet.yaml" }]);
    for (const it of again.all) {
      expect(inForce(it)).toEqual([]);
      expect(it.holds).toEqual(again.first.holds);
      expect(it.problems).toEqual(again.first.problems);
      expect(it.fleet.tenants).toHaveLength(2);
      expect(it.tenants).toHaveLength(4);
    }
  });

  it.each([
    ["takes the tenants away", "apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {}\n"],
    ["takes fleet.yaml away", null],
  ])("%s: not for itself", (_, text) => {
    const after: Files = text === null ? use : { "fleet.yaml": text, ...use };
    const again = readAgain(
      { "fleet.yaml": fleetYaml, "z.yaml": map("z", "z") },
      { ...after, "z.yaml": map("z", "z") },
    );
    for (const it of again.all) expect(inForce(it)).toEqual(["ConfigMap z/z"]);
    const next: Files = { ...after, "q.yaml": map("q", "q") };
    expect(inForce(readAll({ "fleet.yaml": fleetYaml }, after, next))).toEqual(["ConfigMap q/q", "ConfigMap shop/a"]);
  });

  it("and leaves the grants as they are leaves the list of them the same", () => {
    const files = sourceFiles({ "fleet.yaml": fleetYaml, ...use });
    const first = readIntent({ commit: "c1" as Commit, files, accepted: null });
    const accepted: AcceptedSource = { commit: first.commit, files, holds: [], heldFiles: new Map() };
    expect(readIntent({ commit: "c2" as Commit, files, accepted }).tenants).toBe(first.tenants);
  });

  it("to less counts at once, and keeps what was accepted", () => {
    const tight = fleet(payments.replace("payments, payments-*", "payments-*"), shop);
    const before: Files = {
      "fleet.yaml": fleetYaml,
      [team]: map("a", "payments"),
      "teams/payments/b.yaml": map("b", "payments"),
    };
    const after: Files = {
      ...before,
      "fleet.yaml": tight,
      "teams/payments/b.yaml": map("b", "payments").replace("a: b", "a: c"),
    };
    for (const it of readAgain(before, after).all) {
      expect(inForce(it)).toEqual([
        `ConfigMap payments/a (held c1 ${team}#0)`,
        "ConfigMap payments/b (held c1 teams/payments/b.yaml#0)",
      ]);
      expect(errorsOf(it)).toHaveLength(2);
    }
    const { [team]: _, ...less } = after;
    expect(inForce(readAll(before, after, less))).toEqual(["ConfigMap payments/b (held c1 teams/payments/b.yaml#0)"]);
  });

  it("and cannot be used leaves in force what was granted", () => {
    const broken: Files = { "fleet.yaml": fleet("{path: a}"), ...use };
    for (const it of readAgain({ "fleet.yaml": fleetYaml }, broken).all) {
      expect(inForce(it)).toEqual([]);
      expect(it.tenants.map((tenant) => tenant.folder)).toEqual(["teams/payments/", "teams/shop/"]);
    }
  });
});

/** The last commit read when it came, and again and again after it was accepted. */
function readAgain(...commits: readonly Files[]) {
  const all = [1, 2, 3].map((times) => readRepeatedly(times, ...commits));
  return { first: readAll(...commits), all };
}
