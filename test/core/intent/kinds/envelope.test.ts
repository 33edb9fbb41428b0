import { describe, expect, it } from "vitest";
import type { Intent } from "../../../../src/core/model/intent.ts";
import { objectText } from "../../../../src/core/model/manifest.ts";
import { cluster, codesOf, errorsOf, type Files, override, placement, problemsOf, read, readAll } from "../reading.ts";

const envelope = (kind: "ClusterResourceEnvelope" | "ResourceEnvelope", data: string, name = "e"): string =>
  `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ${kind}
metadata: {name: ${name}${kind === "ResourceEnvelope" ? ", namespace: web" : ""}}
data:
${data
  .split("\n")
  .map((it) => `  ${it}`)
  .join("\n")}
`;

const inCluster = (data: string): string => envelope("ClusterResourceEnvelope", data);
const inWeb = (data: string): string => envelope("ResourceEnvelope", data);

const priorityClass = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}";
const quota = (name = "q", namespace = "web"): string =>
  `{apiVersion: v1, kind: ResourceQuota, metadata: {name: ${name}${namespace === "" ? "" : `, namespace: ${namespace}`}}}`;

describe("what an envelope wraps is checked when it is read", () => {
  const cases: readonly [name: string, text: string, want: readonly string[]][] = [
    ["V-ENV-01 1 to 50 entries", inCluster(`pc.yaml: ${priorityClass}`), []],
    ["V-ENV-01 none", inCluster("{}"), ["5:3: error FLT1302: data: must have 1 to 50 entries, not 0; split it"]],
    [
      "V-ENV-01 fifty-one",
      inWeb(Array.from({ length: 51 }, (_, at) => `k${at}: ${quota(`q${at}`)}`).join("\n")),
      ["5:3: error FLT1302: data: must have 1 to 50 entries, not 51; split it"],
    ],
    [
      "V-ENV-01 a text is no manifest",
      inCluster("pc.yaml: 'kind: PriorityClass'"),
      ['5:12: error FLT1416: data["pc.yaml"]: must be a whole manifest; write it as a mapping, not as a text'],
    ],
    [
      "V-ENV-02 each is an object with apiVersion and kind",
      inCluster("pc: {value: 1000}"),
      ["5:3: error FLT1416: data.pc.apiVersion: is missing or malformed; add the apiVersion of the object"],
    ],
    [
      "V-ENV-02 and with a name; A-30 generateName gives none",
      inCluster("pc: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {generateName: x-}}"),
      [
        "5:63: error FLT1416: data.pc.metadata.name: is missing; name the object; generateName would make a new one each time",
      ],
    ],
    [
      "V-ENV-03 of a ClusterResourceEnvelope without namespace",
      inCluster(`q: ${quota()}`),
      [
        "5:29: error FLT1416: data.q.kind: ResourceQuota is namespaced, and a ClusterResourceEnvelope wraps cluster-scoped objects; use the other kind of envelope",
        "5:75: error FLT1416: data.q.metadata.namespace: does not go into a ClusterResourceEnvelope (got web); use a ResourceEnvelope",
      ],
    ],
    [
      "V-ENV-04 of a ResourceEnvelope with one",
      inWeb(`q: ${quota("q", "")}`),
      ["5:44: error FLT1416: data.q.metadata.namespace: is missing; add web"],
    ],
    ["V-ENV-05 which is the envelope's", inWeb(`q: ${quota()}`), []],
    [
      "V-ENV-05 and no other",
      inWeb(`q: ${quota("q", "db")}`),
      [
        "5:75: error FLT1416: data.q.metadata.namespace: must be the envelope's, web (got db); use an envelope in that namespace",
      ],
    ],
    [
      "a cluster-scoped object in a ResourceEnvelope",
      inWeb("pc: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high, namespace: web}}"),
      [
        "5:48: error FLT1416: data.pc.kind: PriorityClass of group scheduling.k8s.io is cluster-scoped, and a ResourceEnvelope wraps objects of its namespace; use the other kind of envelope",
      ],
    ],
    [
      "A-31 one object twice",
      inWeb(`a: ${quota()}\nb: ${quota()}`),
      ["6:6: error FLT1308: data.b: ResourceQuota web/q is wrapped as a already; keep one of them"],
    ],
    [
      "a kind that nobody knows",
      inCluster("g: {apiVersion: example.com/v1, kind: Gizmo, metadata: {name: g}}"),
      ["5:41: error FLT1416: data.g.kind: Gizmo of group example.com is not known; add its CustomResourceDefinition"],
    ],
    [
      "what is never placed, as an envelope in an envelope",
      inWeb(
        "e: {apiVersion: placement.kubernetes-fleet.io/v1beta1, kind: ResourceEnvelope, metadata: {name: x, namespace: web}}",
      ),
      ["5:64: error FLT1416: data.e.kind: objects of kind ResourceEnvelope are never placed; remove it"],
    ],
    [
      "what is never placed, as an Event of the core group: A 58",
      inWeb("e: {apiVersion: v1, kind: Event, metadata: {name: x, namespace: web}}"),
      ["5:29: error FLT1416: data.e.kind: objects of kind Event are never placed; remove it"],
    ],
    [
      "D 5 a reserved namespace",
      inCluster("ns: {apiVersion: v1, kind: Namespace, metadata: {name: kube-public}}"),
      [
        "5:58: error FLT1403: data.ns.metadata.name: namespace kube-public is reserved and never placed; choose another",
      ],
    ],
    [
      "our marks",
      inCluster("ns: {apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {flotilla.dev/placement: web}}}"),
      [
        expect.stringContaining(
          'error FLT1414: data.ns.metadata.labels["flotilla.dev/placement"]',
        ) as unknown as string,
      ],
    ],
    [
      "B-94 a malformed label",
      inCluster("ns: {apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {x y: web}}}"),
      [expect.stringContaining('error FLT1305: data.ns.metadata.labels["x y"]') as unknown as string],
    ],
    [
      "finalizers and owners do not travel, with a warning: C 24",
      inCluster("ns: {apiVersion: v1, kind: Namespace, metadata: {name: a, finalizers: [x/y]}}"),
      ["5:73: warning FLT1405: data.ns.metadata.finalizers: finalizers in a file are ignored; remove them"],
    ],
  ];
  for (const [name, text, want] of cases) it(name, () => expect(problemsOf(text)).toEqual(want));

  it("problems are bounded", () => {
    const data = Array.from({ length: 50 }, (_, at) => `k${at}: {value: 1}`).join("\n");
    expect(codesOf(inCluster(data))).toHaveLength(21);
  });

  it("nothing of a Secret is shown", () => {
    const text = inWeb(
      "s: {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: web, labels: {a: hunter 2}}, data: {pin: hunter2}, stringData: {x: 0123456}}",
    );
    expect(errorsOf(read({ "a.yaml": text })).length).toBeGreaterThan(1);
    expect(problemsOf(text).join("\n")).not.toMatch(/hunter|0123456/);
  });
});

const wrapsIn = (intent: Intent): readonly string[] =>
  [...intent.objects.values()].flatMap(({ id, wraps }) =>
    wraps === undefined
      ? []
      : [`${objectText(id)}: ${wraps.objects.map((it) => objectText(it.id)).join(", ")}; ${wraps.defect ?? "sound"}`],
  );

describe("an envelope that is wrong inside is in force as what it is, and no earlier version in its place", () => {
  const name = "ResourceEnvelope.placement.kubernetes-fleet.io web/e";

  it("so that nothing of a new version can move", () => {
    const intent = readAll(
      { "a.yaml": inWeb(`a: ${quota("a")}`) },
      { "a.yaml": inWeb(`a: ${quota("a")}\nb: ${quota("b", "db")}`) },
    );
    expect(wrapsIn(intent)).toEqual([
      `${name}: ResourceQuota web/a, ResourceQuota db/b; data.b.metadata.namespace: must be the envelope's, web`,
    ]);
    expect(intent.holds).toEqual([]);
    expect([...intent.unusable]).toEqual([]);
  });

  it.each([
    ["a slash in its name", quota("x/y"), "metadata.name: is not a valid name"],
    ["a slash in its namespace", quota("x", "web/x"), "metadata.namespace: is not a valid namespace"],
    ["a number for its namespace", quota("x", "5"), "metadata.namespace: must be a string"],
    ["a slash in its kind", quota().replace("Quota", "/Quota"), "kind: is missing or malformed"],
  ])("and what has %s stands for no other object", (_, object, why) =>
    expect(wrapsIn(read({ "a.yaml": inWeb(`a: ${quota("a")}\nb: ${object}`) }))).toEqual([
      `${name}: ResourceQuota web/a; data.b.${why}`,
    ]),
  );

  const isUnread = "this is what was accepted last, and its document, or one that may be it, cannot be used now";

  it.each([
    ["has no data", (text: string) => text.replace("data:", "dta:")],
    ["has a text for its data", (text: string) => text.replace(/data:.*/s, "data: none\n")],
    ["is no YAML", () => "kind: [unclosed\n"],
    ["names nothing", (text: string) => text.replace("name: e, ", "")],
    ["is there twice", (text: string) => `${text}---\n${text}`],
  ])("one whose document %s holds the version before, which may not be placed until it is mended", (_, broken) => {
    const before = { "a.yaml": inWeb(`a: ${quota("a")}`) };
    const after = { "a.yaml": broken(before["a.yaml"]) };
    expect(wrapsIn(readAll(before, after))).toEqual([`${name}: ResourceQuota web/a; ${isUnread}`]);
    expect(readAll(before, after).holds).toHaveLength(1);
    expect(wrapsIn(readAll(before, after, after))).toEqual([`${name}: ResourceQuota web/a; ${isUnread}`]);
    expect(wrapsIn(readAll(before, after, before))).toEqual([`${name}: ResourceQuota web/a; sound`]);
  });

  it("D 2 one that is gone is held while a document cannot be named, beside what left it", () => {
    const left = `apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a, namespace: web}\n`;
    const nameless = "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n";
    const intent = readAll({ "e.yaml": inWeb(`a: ${quota("a")}`) }, { "a.yaml": left, "b.yaml": nameless });
    expect(wrapsIn(intent)).toEqual([`${name}: ResourceQuota web/a; ${isUnread}`]);
    expect([...intent.objects.values()].map((it) => objectText(it.id))).toContain("ResourceQuota web/a");
  });

  it("without its namespace it might be any of its kind: nothing is deleted", () => {
    const files = { "a.yaml": inWeb(`a: ${quota("a")}`), "b.yaml": placement("p") };
    const intent = readAll(files, { "a.yaml": files["a.yaml"].replace(", namespace: web}\ndata", "}\ndata") });
    expect(errorsOf(intent)[0]).toContain("error FLT1412");
    expect(intent.placements.size).toBe(1);
  });
});

describe("the rest of the repository knows what envelopes wrap", () => {
  const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gizmos.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Gizmo, plural: gizmos}}}`;

  it("a definition in an envelope makes its kind known, to documents and to other envelopes", () => {
    const files: Files = {
      "a.yaml": inCluster(`crd: ${definition}`),
      "b.yaml": envelope(
        "ResourceEnvelope",
        "g: {apiVersion: example.com/v1, kind: Gizmo, metadata: {name: g, namespace: web}}",
      ),
      "c.yaml": "apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: h, namespace: web}\n",
    };
    expect(read(files).problems).toEqual([]);
    const { "a.yaml": _, ...rest } = files;
    expect(errorsOf(read(rest))).toHaveLength(2);
  });

  it("an override of what is wrapped has an effect, and one of an envelope has none", () => {
    const files: Files = {
      "c.yaml": cluster("c1"),
      "p.yaml": placement("p").replace(
        'group: "", version: v1, kind: Namespace, name: web',
        "group: placement.kubernetes-fleet.io, version: v1beta1, kind: ClusterResourceEnvelope, name: e",
      ),
      "e.yaml": inCluster("ns: {apiVersion: v1, kind: Namespace, metadata: {name: web, labels: {x: y}}}"),
    };
    const said = (text: string) =>
      read({ ...files, "o.yaml": text })
        .problems.filter((it) => it.path === "o.yaml")
        .map((it) => `${it.severity} ${it.message}`);
    expect(said(override("o", "web"))).toEqual(["note spec: applies to p"]);
    const ofEnvelope = override("o", "e").replace(
      'group: "", version: v1, kind: Namespace',
      "group: placement.kubernetes-fleet.io, version: v1beta1, kind: ClusterResourceEnvelope",
    );
    expect(said(ofEnvelope)).toContain(
      "warning spec.clusterResourceSelectors[0]: an envelope is never overridden: this selector has no effect",
    );
  });

  it("a selector of an envelope that is not there selects nothing, with a warning", () => {
    const text = placement("p").replace(
      'group: "", version: v1, kind: Namespace, name: web',
      "group: placement.kubernetes-fleet.io, version: v1beta1, kind: ClusterResourceEnvelope, name: x",
    );
    expect(
      read({ "p.yaml": text, "e.yaml": inCluster(`pc: ${priorityClass}`) }).problems.map((it) => it.message),
    ).toEqual(["spec.resourceSelectors[0].name: selects nothing: there is no ClusterResourceEnvelope x"]);
  });

  it("a ResourceEnvelope by itself is selected by no ClusterResourcePlacement: L8", () => {
    const text = placement("p").replace(
      'group: "", version: v1, kind: Namespace, name: web',
      "group: placement.kubernetes-fleet.io, version: v1beta1, kind: ResourceEnvelope, name: e",
    );
    expect(errorsOf(read({ "p.yaml": text }))).toEqual([
      expect.stringContaining("error FLT1311: spec.resourceSelectors[0]: ResourceEnvelope is namespaced"),
    ]);
  });
});
