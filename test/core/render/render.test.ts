import { describe, expect, it } from "vitest";
import { digestOf, type Json, type JsonObject, memberAt } from "../../../src/core/model/json.ts";
import { objectText, type ScopeTable, type SourcedManifest } from "../../../src/core/model/manifest.ts";
import type { OverrideSnapshot } from "../../../src/core/model/override.ts";
import type { ClusterName, Labels } from "../../../src/core/model/value.ts";
import { type RenderInput, render } from "../../../src/core/render/render.ts";
import {
  c1,
  devLabels,
  everywhere,
  inProd,
  object,
  override,
  patch,
  prodLabels,
  remove,
  scopes,
} from "./repository.ts";

const app = object("v1 Namespace app");
const template = { spec: { containers: [{ name: "web", image: "nginx:1.0" }] } };
const web = object("apps/v1 Deployment app/web", {
  metadata: { labels: { app: "web" } },
  spec: { replicas: 2, template },
});
const resources = [app, web];
const imagePath = "/spec/template/spec/containers/0/image";

const input = (overrides: readonly OverrideSnapshot[], more: Partial<RenderInput> = {}): RenderInput => ({
  resources,
  overrides,
  cluster: c1,
  labels: prodLabels,
  scopes,
  ...more,
});

/** The rendered manifests by name, or the failure's message. */
function outcome(
  overrides: readonly OverrideSnapshot[],
  more: Partial<RenderInput> = {},
): Record<string, Json> | string {
  const rendering = render(input(overrides, more));
  if (rendering.kind === "failed") return rendering.message;
  return Object.fromEntries(rendering.manifests.map((it) => [objectText(it.id), it.manifest]));
}

const ro = (...rules: OverrideSnapshot["spec"]["rules"]): OverrideSnapshot =>
  override("app/ro1-0", "apps/v1 Deployment web", rules);
const cro = (...rules: OverrideSnapshot["spec"]["rules"]): OverrideSnapshot =>
  override("cro-0", "v1 Namespace app", rules);

const image = (manifests: Record<string, Json> | string): Json =>
  memberAt(
    typeof manifests === "string" ? null : manifests["Deployment app/web"],
    "spec",
    "template",
    "spec",
    "containers",
  );
const labelsOf = (manifests: Record<string, Json> | string, name: string): Json =>
  typeof manifests === "string" ? manifests : memberAt(manifests[name], "metadata", "labels");

describe("overrides on a manifest", () => {
  const to = (value: string): string => `replace ${imagePath} "${value}"`;

  it("O-01: a matching rule replaces the image", () =>
    expect(image(outcome([ro(patch(inProd, to("nginx:2.0")))]))).toEqual([{ name: "web", image: "nginx:2.0" }]));

  it("O-02: a rule that does not match changes nothing", () =>
    expect(outcome([ro(patch(inProd, to("nginx:2.0")))], { labels: devLabels })).toEqual(outcome([])));

  it("O-03: an override of a Namespace rewrites everything inside", () => {
    const manifests = outcome([cro(patch(everywhere, 'add /metadata/labels {"team":"x"}'))]);
    expect([labelsOf(manifests, "Namespace app"), labelsOf(manifests, "Deployment app/web")]).toEqual([
      { team: "x" },
      { team: "x" },
    ]);
    expect(image(manifests)).toEqual([{ name: "web", image: "nginx:1.0" }]);
  });

  it("O-04, C 23: what does not fit every object fails as a whole, and says what, where and why", () =>
    expect(outcome([cro(patch(everywhere, "replace /spec/replicas 5"))])).toBe(
      "Namespace app cannot be overridden: override cro-0, rule 1, operation 1 (replace /spec/replicas): " +
        "/spec does not exist",
    ));

  it("O-05: namespaced overrides run last and win", () => {
    const objects = [object("v1 Namespace app", { metadata: { labels: { a: "b" } } }), web];
    const overrides = [
      cro(patch(everywhere, 'add /metadata/labels/tier "cro"')),
      ro(patch(everywhere, 'add /metadata/labels/tier "ro"')),
    ];
    const manifests = outcome(overrides, { resources: objects });
    expect([labelsOf(manifests, "Namespace app"), labelsOf(manifests, "Deployment app/web")]).toEqual([
      { a: "b", tier: "cro" },
      { app: "web", tier: "ro" },
    ]);
  });

  it("O-06: a rule without selector never acts, beside one that does", () =>
    expect(image(outcome([ro(patch(null, to("never")), patch([], to("b")))]))).toEqual([{ name: "web", image: "b" }]));

  it("O-07: the last rule wins", () =>
    expect(image(outcome([ro(patch(everywhere, to("a")), patch(everywhere, to("b")))]))).toEqual([
      { name: "web", image: "b" },
    ]));

  it("O-08: an earlier rule can break a later one", () =>
    expect(
      outcome([
        ro(patch(everywhere, "remove /metadata/labels/app"), patch(everywhere, 'replace /metadata/labels/app "y"')),
      ]),
    ).toBe(
      "Deployment app/web cannot be overridden: override app/ro1-0, rule 2, " +
        "operation 1 (replace /metadata/labels/app): /metadata/labels/app does not exist",
    ));

  it("O-09: the first label needs the whole map", () => {
    const bare = { resources: [object("apps/v1 Deployment app/web")] };
    expect(outcome([ro(patch(everywhere, 'add /metadata/labels/k "v"'))], bare)).toMatch(
      /\/metadata\/labels does not exist$/,
    );
    expect(
      labelsOf(outcome([ro(patch(everywhere, 'add /metadata/labels {"k":"v"}'))], bare), "Deployment app/web"),
    ).toEqual({ k: "v" });
  });

  it("an override of a namespaced kind leaves others of the namespace alone", () =>
    expect(outcome([ro(patch(everywhere, 'add /metadata/labels/x "y"'))])).toMatchObject({
      "Namespace app": app.manifest,
    }));

  it("a message is bounded, however long the path", () =>
    expect(outcome([ro(patch(everywhere, `remove /${"x".repeat(3000)}`))])).toHaveLength(1024));

  it("a rendering never turns an object into another one", () =>
    expect(outcome([ro(patch(everywhere, 'replace /metadata/name "other"'))])).toBe(
      "Deployment app/web cannot be overridden: override app/ro1-0, rule 1: it changes which object this is",
    ));
});

describe("variables", () => {
  const annotated = (value: string, more: Partial<RenderInput> = {}): Json => {
    const manifests = outcome([ro(patch(everywhere, `add /metadata/annotations ${value}`))], more);
    return typeof manifests === "string"
      ? manifests.replace(/^.*\): /, "")
      : memberAt(manifests["Deployment app/web"], "metadata", "annotations");
  };
  const key = "${MEMBER-CLUSTER-LABEL-KEY-";
  const cases: readonly { id: string; value: string; want: Json }[] = [
    { id: "O-10", value: `{"where":"\${MEMBER-CLUSTER-NAME}/${key}region}"}`, want: { where: "c1/eu" } },
    {
      id: "O-10",
      value: `{"${key}region}":["\${MEMBER-CLUSTER-NAME}\${MEMBER-CLUSTER-NAME}"]}`,
      want: { eu: ["c1c1"] },
    },
    {
      id: "O-11",
      value: '{"a":"$MEMBER-CLUSTER-NAME ${CLUSTER-NAME} ${member-cluster-name}"}',
      want: { a: "$MEMBER-CLUSTER-NAME ${CLUSTER-NAME} ${member-cluster-name}" },
    },
    { id: "O-12", value: `{"a":"${key}zone}"}`, want: "the member cluster has no label zone" },
    { id: "O-12", value: `{"a":"${key}REGION}"}`, want: "the member cluster has no label REGION" },
    { id: "O-12", value: `{"a":"${key}region"}`, want: "a label variable is not closed with }" },
    { id: "O-12", value: `{"a":"${key}}"}`, want: "a label variable names no label" },
    { id: "also", value: `{"a":"[${key}empty}]"}`, want: { a: "[]" } },
    { id: "O-25", value: `{"replicas":"${key}replicas}"}`, want: { replicas: "3" } },
  ];
  const labels: Labels = { ...prodLabels, empty: "", replicas: "3" };
  for (const { id, value, want } of cases)
    it(`${id}: ${value}`, () => expect(annotated(value, { labels })).toEqual(want));

  it("O-13: paths are literal", () =>
    expect(
      labelsOf(
        outcome([ro(patch(everywhere, 'add /metadata/labels/${MEMBER-CLUSTER-NAME} "x"'))]),
        "Deployment app/web",
      ),
    ).toEqual({
      app: "web",
      "${MEMBER-CLUSTER-NAME}": "x",
    }));

  it("a label's value is taken as it stands, dollar signs included", () =>
    expect(annotated(`{"a":"${key}odd}"}`, { labels: { odd: "$&$1" } })).toEqual({ a: "$&$1" }));
});

describe("deleting", () => {
  const cases: readonly {
    id: string;
    claim: string;
    overrides: readonly OverrideSnapshot[];
    want: readonly string[];
  }[] = [
    { id: "O-16", claim: "one object", overrides: [ro(remove(inProd))], want: ["Namespace app"] },
    { id: "O-17", claim: "a Namespace and all it holds", overrides: [cro(remove(everywhere))], want: [] },
    {
      id: "O-18",
      claim: "is final: a patch after it neither acts nor fails",
      overrides: [cro(remove(everywhere)), ro(patch(everywhere, 'add /none/x "v"'))],
      want: [],
    },
    {
      id: "O-19",
      claim: "after a patch in the same override",
      overrides: [ro(patch(everywhere, "replace /spec/replicas 1"), remove(everywhere))],
      want: ["Namespace app"],
    },
    {
      id: "also",
      claim: "ends its override",
      overrides: [ro(remove(everywhere), patch(everywhere, "remove /none"))],
      want: ["Namespace app"],
    },
    {
      id: "O-02",
      claim: "only where the rule matches",
      overrides: [ro(remove([{ matchLabels: { env: "dev" } }]))],
      want: ["Namespace app", "Deployment app/web"],
    },
  ];
  for (const { id, claim, overrides, want } of cases)
    it(`${id}: ${claim}`, () => expect(Object.keys(outcome(overrides))).toEqual(want));

  it("O-19: a patch that fails before it fails the rendering", () =>
    expect(outcome([ro(patch(everywhere, "remove /none"), remove(everywhere))])).toMatch(/\/none does not exist/));
});

describe("secrets (C 16)", () => {
  const secret = (more: JsonObject): SourcedManifest => object("v1 Secret app/s", more);
  const rendered = (content: SourcedManifest, overrides: readonly OverrideSnapshot[] = []): Json | undefined => {
    const manifests = outcome(overrides, { resources: [content] });
    return typeof manifests === "string" ? manifests : manifests["Secret app/s"];
  };

  it("stringData becomes data, in base64 of UTF-8, and wins over it", () => {
    const { manifest } = secret({ data: { a: "b2xk", b: "Yg==" } });
    expect(rendered(secret({ data: { a: "b2xk", b: "Yg==" }, stringData: { a: "grün" } }))).toEqual({
      ...manifest,
      data: { a: "Z3LDvG4=", b: "Yg==" },
    });
  });

  it("also where an override put it there", () => {
    const own = override("app/ro-0", "v1 Secret s", [
      patch(everywhere, 'add /stringData {"where":"${MEMBER-CLUSTER-NAME}"}'),
    ]);
    expect(rendered(secret({}), [own])).toEqual(secret({ data: { where: "YzE=" } }).manifest);
  });

  it("values that are no texts stay for the server to refuse", () => {
    const odd = secret({ stringData: { a: 1 } });
    expect(rendered(odd)).toBe(odd.manifest);
  });

  it("a failing override says nothing of what the Secret or the patch holds", () => {
    const own = override("app/ro-0", "v1 Secret s", [patch(everywhere, 'add /none/password "hunter2"')]);
    const message = rendered(secret({ stringData: { password: "correct horse" } }), [own]);
    expect(message).toBe(
      "Secret app/s cannot be overridden: override app/ro-0, rule 1, operation 1 (add /none/password): " +
        "/none does not exist",
    );
  });

  it("nor does a variable whose brace comes too late", () => {
    const value = '{"a":"${MEMBER-CLUSTER-LABEL-KEY-region, hunter2}"}';
    const own = override("app/ro-0", "v1 Secret s", [patch(everywhere, `add /stringData ${value}`)]);
    expect(rendered(secret({}), [own])).toMatch(/the member cluster has no label of such a name$/);
  });
});

describe("the digest and what is shared", () => {
  const digest = (own: Partial<RenderInput>): string => {
    const rendering = render(input([], own));
    return rendering.kind === "rendered" ? rendering.digest : rendering.message;
  };

  it("covers the manifests and their order, and nothing else", () => {
    expect(digest({ resources: [app, web] })).toBe(digest({ resources: [...resources], cluster: "c9" as ClusterName }));
    expect(digest({ resources: [web, app] })).not.toBe(digest({}));
    expect(digest({ overrides: [ro(patch(everywhere, "replace /spec/replicas 3"))] })).not.toBe(digest({}));
  });

  it("every manifest has the digest of what is applied, not of what was written", () => {
    const rendering = render(input([ro(patch(everywhere, "replace /spec/replicas 3"))]));
    const manifests = rendering.kind === "rendered" ? rendering.manifests : [];
    expect(manifests.map((it) => it.digest)).toEqual(manifests.map((it) => digestOf(it.manifest)));
  });

  it("a hundred clusters without overrides share one rendering", () =>
    expect(render(input([], { cluster: "c100" as ClusterName, labels: devLabels }))).toBe(render(input([]))));

  it("an override that changes nothing gives that rendering as well", () =>
    expect(render(input([ro(patch([{ matchLabels: { env: "qa" } }], "remove /spec"))]))).toBe(render(input([]))));

  it("clusters with the same consulted labels share one overridden rendering", () => {
    const own = [ro(patch(inProd, 'add /metadata/labels/r "${MEMBER-CLUSTER-LABEL-KEY-region}"'))];
    const first = render(input(own));
    expect(render(input(own, { cluster: "c7" as ClusterName, labels: { ...prodLabels, tier: "1" } }))).toBe(first);
    expect(render(input(own, { labels: { ...prodLabels, region: "us" } }))).not.toEqual(first);
  });

  it("clusters whose names are asked for share nothing", () => {
    const own = [ro(patch(everywhere, 'add /metadata/labels/c "${MEMBER-CLUSTER-NAME}"'))];
    expect(labelsOf(outcome(own, { cluster: "c7" as ClusterName }), "Deployment app/web")).toEqual({
      app: "web",
      c: "c7",
    });
    expect(labelsOf(outcome(own), "Deployment app/web")).toEqual({ app: "web", c: "c1" });
  });

  it("a kind whose scope becomes another is rendered anew", () => {
    const own = [cro(patch(everywhere, 'add /metadata/labels {"team":"x"}'))];
    const foo = [object("example.com/v1 Foo app/f")];
    const labelsIn = (table: ScopeTable): Json =>
      labelsOf(outcome(own, { resources: foo, scopes: table }), "Foo.example.com app/f");
    expect(labelsIn(scopes)).toBeNull();
    expect(labelsIn(new Map([["example.com/Foo", "Namespaced"]]))).toEqual({ team: "x" });
  });

  it("an override of the same name and another content is another override", () => {
    const image1 = outcome([ro(patch(everywhere, `replace ${imagePath} "a"`))]);
    const image2 = outcome([ro(patch(everywhere, `replace ${imagePath} "b"`))]);
    expect([image(image1), image(image2)]).toEqual([[{ name: "web", image: "a" }], [{ name: "web", image: "b" }]]);
  });

  it("what no override touches is the very same manifest on every cluster", () => {
    const rendering = render(input([ro(patch(everywhere, "replace /spec/replicas 3"))]));
    const plain = render(input([]));
    const first = [rendering, plain].map((it) => (it.kind === "rendered" ? it.manifests[0] : null));
    expect(first[0]).toBe(first[1]);
  });

  it("integers beyond 2^53 survive", () => {
    const own = object("example.com/v1 Foo f", { spec: { n: 9_223_372_036_854_775_807n } });
    const overrides = [override("cro-0", "example.com/v1 Foo f", [patch(everywhere, "add /spec/m 1")])];
    expect(outcome(overrides, { resources: [own] })).toMatchObject({
      "Foo.example.com f": { spec: { n: 9_223_372_036_854_775_807n, m: 1 } },
    });
  });
});
