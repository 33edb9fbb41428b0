import { describe, expect, it } from "vitest";
import { withoutServerFields } from "../../../../src/core/intent/kinds/manifest.ts";
import type { Manifest } from "../../../../src/core/model/manifest.ts";
import { codesOf, problemsOf } from "../reading.ts";

const plain: Manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } };

const sanitising: readonly [ref: string, before: Manifest, after: Manifest][] = [
  [
    "what a server adds to metadata goes",
    {
      ...plain,
      metadata: {
        name: "a",
        labels: { app: "web" },
        uid: "u",
        resourceVersion: "1",
        generation: 3,
        selfLink: "/x",
        creationTimestamp: null,
        deletionTimestamp: "t",
        managedFields: [],
        ownerReferences: [{}],
        finalizers: ["x"],
        deletionGracePeriodSeconds: 30,
      },
      status: { phase: "Active" },
    },
    { ...plain, metadata: { name: "a", labels: { app: "web" }, deletionGracePeriodSeconds: 30 } },
  ],
  [
    "annotations of kubectl and the deployment controller go, others stay",
    {
      ...plain,
      metadata: { name: "a", annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", note: "n" } },
    },
    { ...plain, metadata: { name: "a", annotations: { note: "n" } } },
  ],
  [
    "annotations that become empty go as a whole",
    { ...plain, metadata: { name: "a", annotations: { "deployment.kubernetes.io/revision": "3" } } },
    { ...plain, metadata: { name: "a" } },
  ],
  [
    "a Service loses what one cluster handed out",
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a" },
      spec: {
        clusterIP: "10.0.0.1",
        clusterIPs: ["10.0.0.1"],
        healthCheckNodePort: 30001,
        externalIPs: ["1.2.3.4"],
        ports: [{ port: 80, nodePort: 30000 }, { port: 81 }],
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a" },
      spec: { externalIPs: ["1.2.3.4"], ports: [{ port: 80 }, { port: 81 }] },
    },
  ],
  [
    "a headless Service stays headless",
    { apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: { clusterIP: "None", clusterIPs: ["None"] } },
    { apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: { clusterIP: "None", clusterIPs: ["None"] } },
  ],
  [
    "a Job loses its generated selector",
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "a" },
      spec: {
        selector: { matchLabels: { "controller-uid": "u", "batch.kubernetes.io/controller-uid": "u", app: "x" } },
        template: { metadata: { creationTimestamp: null, labels: { "controller-uid": "u", app: "x" } }, spec: {} },
      },
    },
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "a" },
      spec: { selector: { matchLabels: { app: "x" } }, template: { metadata: { labels: { app: "x" } }, spec: {} } },
    },
  ],
  [
    "a Job with a selector of its own keeps it",
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "a" },
      spec: { manualSelector: true, selector: { matchLabels: { "controller-uid": "u" } } },
    },
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "a" },
      spec: { manualSelector: true, selector: { matchLabels: { "controller-uid": "u" } } },
    },
  ],
];

describe("a manifest is read without what belongs to one cluster (C 24)", () => {
  for (const [ref, before, after] of sanitising)
    it(ref, () => {
      expect(withoutServerFields(before)).toEqual(after);
    });

  it("a manifest with nothing to take out is given back itself", () => {
    expect(withoutServerFields(plain)).toBe(plain);
  });
});

const object = (kind: string, metadata: string, rest = ""): string =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: {${metadata}}\n${rest}`;

const cases: readonly [id: string, ref: string, text: string, want: readonly string[]][] = [
  ["B-90", "no kind", "apiVersion: v1\nmetadata: {name: a}\n", ["1:1 error FLT1401"]],
  ["B-90", "no apiVersion", "kind: ConfigMap\nmetadata: {name: a}\n", ["1:1 error FLT1401"]],
  ["B-90", "no name", object("ConfigMap", "namespace: b"), ["3:1 error FLT1401"]],
  ["B-90, A-30", "a generated name", object("ConfigMap", "generateName: b-"), ["3:1 error FLT1401"]],
  ["B-90", "a name that is a number", object("ConfigMap", "name: 1, namespace: b"), ["3:18 error FLT1401"]],
  ["B-90", "an upper-case name", object("ConfigMap", "name: A, namespace: b"), ["3:18 error FLT1401"]],
  ["B-90", "a long name", object("ConfigMap", `name: ${"a".repeat(254)}, namespace: b`), ["3:18 error FLT1401"]],
  [
    "B-90",
    "a role may be called nearly anything",
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'system:Reader'}\n",
    [],
  ],
  ["B-74", "a label that is none", object("Namespace", "name: a, labels: {app: 'a b'}"), ["3:35 error FLT1305"]],
  ["B-74", "a label that is a number", object("Namespace", "name: a, labels: {app: 1}"), ["3:35 error FLT1302"]],
  ["B-94", "finalizers", object("Namespace", "name: a, finalizers: [x]"), ["3:33 warning FLT1405"]],
  ["B-94", "owners", object("Namespace", "name: a, ownerReferences: [{}]"), ["3:38 warning FLT1405"]],
  ["B-94", "status and uid go silently", object("Namespace", "name: a, uid: u", "status: {phase: Active}\n"), []],
  ["B-94", "our own mark", object("Namespace", "name: a, labels: {flotilla.dev/placement: x}"), ["3:54 error FLT1414"]],
  [
    "B-95",
    "a Secret that is not base64",
    object("Secret", "name: a, namespace: b", "data: {k: 'no base64!'}\n"),
    ["4:11 error FLT1406"],
  ],
  [
    "B-95",
    "a Secret in several lines of base64",
    object("Secret", "name: a, namespace: b", "data:\n  k: |\n    YQ==\n"),
    [],
  ],
  [
    "B-96",
    "annotations beyond 256 KiB",
    object("Namespace", `name: a, annotations: {k: ${"x".repeat(262_145)}}`),
    ["3:34 error FLT1407"],
  ],
  [
    "B-100",
    "a hook of Helm",
    object("Namespace", "name: a, annotations: {helm.sh/hook: pre-install}"),
    ["3:49 warning FLT1411"],
  ],
  [
    "A 9",
    "an envelope of the old kind",
    object("ConfigMap", 'name: a, namespace: b, annotations: {kubernetes-fleet.io/envelope-configmap: "true"}'),
    ["3:89 error FLT1904"],
  ],
  ["", "a namespaced kind without namespace", object("ConfigMap", "name: a"), ["3:1 error FLT1412"]],
  ["", "a cluster-scoped kind with namespace", object("Namespace", "name: a, namespace: b"), ["3:32 error FLT1413"]],
  ["", "a kind nobody knows", "apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: a}\n", ["2:7 error FLT1301"]],
  [
    "",
    "a definition without scope",
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec: {group: b}\n",
    ["4:7 error FLT1415"],
  ],
  [
    "B-111",
    "a kubeconfig",
    "apiVersion: v1\nkind: Config\nclusters: []\nusers: [{name: a, user: {token: t}}]\n",
    ["1:1 error FLT1509"],
  ],
  [
    "",
    "a kustomization",
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    ["1:1 warning FLT1903"],
  ],
  ["", "a Helm chart", "apiVersion: v2\nname: web\nversion: 1.0.0\n", ["1:1 warning FLT1903"]],
  ["", "the values of one, with anchors", "image: &image {tag: v1}\nsidecar: *image\n", ["1:1 note FLT1023"]],
];

describe("an object that no API server would take, or that would surprise its author, is named", () => {
  for (const [id, ref, text, want] of cases)
    it(`${id} ${ref}`, () => {
      expect(codesOf(text)).toEqual(want);
    });

  it("the kind of another group is suggested", () => {
    const text = "apiVersion: fleet.io/v1\nkind: MemberCluster\nmetadata: {name: a}\n";
    expect(problemsOf(text)).toEqual([
      "2:7: error FLT1301: kind: MemberCluster of group fleet.io is not known; did you mean apiVersion cluster.kubernetes-fleet.io/v1?",
    ]);
  });
});
