import { describe, expect, it } from "vitest";
import { manifestAt } from "../../../src/core/intent/intent.ts";
import {
  cluster,
  configMap,
  errorsOf,
  type Files,
  inForce,
  override,
  placement,
  read,
  readAll,
  sourceFiles,
} from "./reading.ts";

const web = configMap("web");
const api = configMap("api");

describe("unreadable is never deleted (D 2)", () => {
  const cases: readonly [ref: string, commits: readonly Files[], want: readonly string[]][] = [
    ["a removed file is a deletion", [{ "a.yaml": web, "b.yaml": api }, { "b.yaml": api }], ["ConfigMap web/api"]],
    [
      "an invalid document holds its own object and no other",
      [
        { "a.yaml": web, "b.yaml": api, "c.yaml": cluster("eu") },
        { "a.yaml": web.replace("a: b", "a: *x"), "c.yaml": cluster("eu") },
      ],
      ["MemberCluster eu", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "an invalid document of a new object defines nothing",
      [{ "b.yaml": api }, { "a.yaml": web.replace("a: b", "a: *x"), "b.yaml": api }],
      ["ConfigMap web/api"],
    ],
    [
      "a broken text behind its metadata holds its own object only",
      [{ "a.yaml": web, "b.yaml": api }, { "a.yaml": web.replace("{a: b}", "{a: b") }],
      ["ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "a broken text in its metadata might be anything: nothing is deleted",
      [{ "a.yaml": web, "b.yaml": api }, { "a.yaml": web.replace("namespace: web}", "namespace: web") }],
      ["ConfigMap web/api (held c1 b.yaml#0)", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "a document without a name might be any object",
      [{ "a.yaml": web, "b.yaml": api }, { "a.yaml": web.replace("name: web, ", "") }],
      ["ConfigMap web/api (held c1 b.yaml#0)", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "a lost namespace is a lost identity",
      [{ "a.yaml": web, "b.yaml": api }, { "a.yaml": web.replace(", namespace: web", "") }],
      ["ConfigMap web/api (held c1 b.yaml#0)", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "a misspelt kind holds what had the name, and nothing else",
      [
        { "a.yaml": web, "b.yaml": api, "c.yaml": cluster("eu") },
        {
          "a.yaml": web.replace("ConfigMap", "ConfigMpa"),
          "c.yaml": cluster("eu").replace("kind: Member", "kind: Menber"),
        },
      ],
      ["MemberCluster eu (held c1 c.yaml#0)", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "a duplicate key behind the metadata holds its own object",
      [{ "a.yaml": web, "b.yaml": api }, { "a.yaml": `${web}data: {}\n` }],
      ["ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "a duplicate name is a lost identity",
      [{ "a.yaml": web, "b.yaml": api }, { "a.yaml": web.replace("name: web", "name: web, name: x") }],
      ["ConfigMap web/api (held c1 b.yaml#0)", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "what one broken document does not touch in its file is read",
      [
        { "a.yaml": `${web}---\n${api}` },
        { "a.yaml": `${web.replace("{a: b}", "{a: b")}---\n${api.replace("a: b", "a: c")}` },
      ],
      ["ConfigMap web/api", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "a text that is no object holds nothing",
      [
        { "a.yaml": web, "b.yaml": api },
        { "a.yaml": "title: x\n", "b.yaml": api },
      ],
      ["ConfigMap web/api"],
    ],
    [
      "B-13 an emptied file holds what it defined",
      [
        { "a.yaml": web, "b.yaml": api },
        { "a.yaml": "# gone\n", "b.yaml": api },
      ],
      ["ConfigMap web/api", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "B-30 a file that became a link holds what it defined",
      [
        { "a.yaml": web, "b.yaml": api },
        { "a.yaml": "link", "b.yaml": api },
      ],
      ["ConfigMap web/api", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "B-31 so does a folder that became a submodule",
      [
        { "x/a.yaml": web, "b.yaml": api },
        { x: "submodule", "b.yaml": api },
      ],
      ["ConfigMap web/api", "ConfigMap web/web (held c1 x/a.yaml#0)"],
    ],
    ["an empty commit deletes nothing", [{ "a.yaml": web }, {}], ["ConfigMap web/web (held c1 a.yaml#0)"]],
    [
      "bytes that are no text might be anything",
      [{ "a.yaml": web, "b.yaml": api }, { "a.yaml": new Uint8Array([0xff]) }],
      ["ConfigMap web/api (held c1 b.yaml#0)", "ConfigMap web/web (held c1 a.yaml#0)"],
    ],
    [
      "a folder whose name begins with a dot is not read",
      [{ "a.yaml": web, ".github/b.yaml": api, "x/.y/c.yaml": "{{" }],
      ["ConfigMap web/web"],
    ],
  ];
  for (const [ref, commits, want] of cases)
    it(ref, () => {
      expect(inForce(readAll(...commits))).toEqual(want);
    });

  it("what is held stays held, with its own commit, until it can be read again", () => {
    const broken = web.replace("a: b", "a: *x");
    const files: Files = { "a.yaml": web, "b.yaml": api };
    const still = readAll(
      files,
      { "a.yaml": broken, "b.yaml": api },
      { "moved.yaml": broken, "b.yaml": api },
      { "moved.yaml": broken, "b.yaml": api },
    );
    expect(inForce(still)).toEqual(["ConfigMap web/api", "ConfigMap web/web (held c1 a.yaml#0)"]);
    expect(still.objects.get("/ConfigMap/web/web" as never)?.source).toEqual({
      path: "a.yaml",
      document: 0,
      line: 1,
      column: 1,
    });
    expect(inForce(readAll(files, { "a.yaml": broken }, { "a.yaml": web }))).toEqual(["ConfigMap web/web"]);
    expect(inForce(readAll(files, { "a.yaml": broken, "b.yaml": api }, { "b.yaml": api }))).toEqual([
      "ConfigMap web/api",
    ]);
  });

  it("what an unreadable document held is deleted once everything can be read", () => {
    const lost = readAll({ "a.yaml": web, "b.yaml": api }, { "a.yaml": web, "c.yaml": "kind: X\n" }, { "a.yaml": web });
    expect(inForce(lost)).toEqual(["ConfigMap web/web"]);
  });

  it("reading an accepted commit again changes nothing", () => {
    const commits: readonly Files[] = [
      { "a.yaml": web, "b.yaml": api, "p.yaml": placement("p"), "o.yaml": override("o", "web") },
      {
        "a.yaml": `${web}---\n${web}`,
        "c.yaml": "kind: X\n",
        "p.yaml": placement("p", "  policy: {placementType: PickFixed}\n"),
        "o.yaml": override("o", "web"),
        "o2.yaml": override("o2", "web"),
      },
    ];
    const [once, again] = [readAll(...commits), readAll(...commits, commits[1] ?? {})];
    expect({ ...again, commit: once.commit }).toEqual(once);
  });
});

describe("what has a document that cannot be used is not absent (D 2)", () => {
  const broken = web.replace("a: b", "a: *x");
  const cases: readonly [ref: string, commits: readonly Files[], want: readonly string[]][] = [
    ["nobody knows an earlier version", [{ "a.yaml": broken, "b.yaml": api }], ["/ConfigMap/web/web"]],
    ["a kind that nobody serves", [{ "a.yaml": web.replace("ConfigMap", "ConfigMpa") }], ["/ConfigMpa/web/web"]],
    ["a member's", [{ "c.yaml": cluster("eu", "env: [x]") }], ["cluster.kubernetes-fleet.io/MemberCluster//eu"]],
    [
      "two documents of one object, of several",
      [
        {
          "a.yaml": web,
          "p.yaml": placement("p", "  policy: {}\n"),
          "q.yaml": placement("p"),
          "z.yaml": `${api}---\n${api}`,
        },
      ],
      ["/ConfigMap/web/api", "placement.kubernetes-fleet.io/ClusterResourcePlacement//p"],
    ],
    ["an earlier version is in force", [{ "a.yaml": web }, { "a.yaml": broken }], []],
    ["the document is gone", [{ "a.yaml": broken, "b.yaml": api }, { "b.yaml": api }], []],
  ];
  for (const [ref, commits, want] of cases)
    it(ref, () => {
      expect([...readAll(...commits).unusable]).toEqual(want);
    });
});

describe("two documents of one object", () => {
  it("B-82 neither counts, both are named, the accepted version stays", () => {
    const intent = readAll({ "a.yaml": web }, { "a.yaml": web, "b.yaml": `${api}---\n${web}` });
    expect(inForce(intent)).toEqual(["ConfigMap web/api", "ConfigMap web/web (held c1 a.yaml#0)"]);
    expect(errorsOf(intent)).toEqual([
      "a.yaml:3:18: error FLT1316: metadata.name: ConfigMap web/web is also defined at b.yaml:6",
      "b.yaml:8:18: error FLT1316: metadata.name: ConfigMap web/web is also defined at a.yaml:1",
    ]);
  });

  it("another version of the kind is the same object", () => {
    const older = placement("p").replace("v1beta1", "v1");
    expect(errorsOf(read({ "a.yaml": placement("p"), "b.yaml": older })).length).toBe(2);
  });
});

describe("a change that a hub would refuse keeps what was accepted", () => {
  const cases: readonly [id: string, before: string, after: string, want: string | null][] = [
    ["V-PL-21", placement("p", "  policy: {placementType: PickN, numberOfClusters: 2}\n"), placement("p"), "FLT1315"],
    ["V-CRP-07", placement("p"), placement("p", "  policy: {placementType: PickFixed}\n"), "FLT1315"],
    ["V-CRP-02", placement("p", "  policy: {placementType: PickAll}\n"), placement("p"), null],
    ["V-PL-56", placement("p", "  policy: {tolerations: [{key: a}]}\n"), placement("p"), "FLT1315"],
    [
      "V-PL-56",
      placement("p", "  policy: {tolerations: [{key: a}]}\n"),
      placement("p", "  policy: {tolerations: [{key: b}, {key: a, operator: Equal}]}\n"),
      null,
    ],
    ["V-CRO-02", override("p", "web", "x"), override("p", "web"), "FLT1315"],
    ["V-CRO-02", override("p", "web"), override("p", "web", "x"), "FLT1315"],
  ];
  for (const [id, before, after, want] of cases)
    it(`${id} ${want ?? "allowed"}`, () => {
      const intent = readAll({ "a.yaml": before }, { "a.yaml": after });
      expect(intent.problems.filter((it) => it.severity === "error").map((it) => it.code)).toEqual(
        want === null ? [] : [want],
      );
      expect(intent.holds.length).toBe(want === null ? 0 : 1);
    });
});

describe("custom resources", () => {
  const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.com}
spec: {group: example.com, names: {kind: Gizmo}, scope: Namespaced}
`;
  const gizmo = "apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: g, namespace: web}\n";

  it("are known by the definition of the same commit, wherever it stands", () => {
    const intent = read({ "a.yaml": gizmo, "z.yaml": definition });
    expect(errorsOf(intent)).toEqual([]);
    expect(intent.scopes.get("example.com/Gizmo")).toBe("Namespaced");
    expect(errorsOf(read({ "a.yaml": gizmo }))).toEqual([
      "a.yaml:2:7: error FLT1301: kind: Gizmo of group example.com is not known",
    ]);
  });

  it("stay in force when their definition goes", () => {
    const intent = readAll({ "a.yaml": gizmo, "z.yaml": definition }, { "a.yaml": gizmo });
    expect(inForce(intent)).toEqual(["Gizmo.example.com web/g (held c1 a.yaml#0)"]);
  });
});

it("a List is read item by item, and each is found again by its number", () => {
  const list = `apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Namespace, metadata: {name: a}}
  - {apiVersion: v1, kind: Namespace, metadata: {name: b, labels: {x: 1}}}
  - {apiVersion: v1, kind: Namespace, metadata: {name: c, labels: {x: z}}}
`;
  const files: Files = { "a.yaml": `# first\n---\n${list}` };
  const intent = read(files);
  expect(inForce(intent)).toEqual(["Namespace a", "Namespace c"]);
  expect(errorsOf(intent)).toEqual(["a.yaml:7:71: error FLT1302: metadata.labels.x: must be a string"]);
  const [file] = sourceFiles(files);
  const at = (digest: string | undefined) =>
    file?.decoded == null ? null : manifestAt(file.decoded, 2, digest as never);
  expect(at(intent.objects.get("/Namespace//c" as never)?.digest)).toMatchObject({ metadata: { name: "c" } });
  expect(at(intent.objects.get("/Namespace//a" as never)?.digest)).toBeNull();
});

it("integers beyond 2⁵³ keep every digit", () => {
  const intent = read({ "a.yaml": configMap("a").replace("data: {a: b}", "immutable: 9007199254740993") });
  expect(intent.objects.get("/ConfigMap/web/a" as never)?.manifest["immutable"]).toBe(9007199254740993n);
});
