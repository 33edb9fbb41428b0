import { maxFileBytes } from "../../../src/core/yaml/text.ts";

/** A text of 1 MiB: a beginning, one piece over and over, and an end. */
function filled(head: string, piece: string, end = ""): string {
  const room = maxFileBytes - head.length - end.length;
  return head + piece.repeat(Math.floor(room / Buffer.byteLength(piece))) + end;
}

const headed = (kind: string, rest: string): string => `${kind}\nmetadata: {name: x}\n${rest}`;
const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\ndata:\n";
const placement = headed("apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourcePlacement", "spec:\n");
const fleet = "apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec:\n";

/** As controller-gen writes them. */
const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.16.5
  name: prometheuses.monitoring.coreos.com
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: Prometheus, plural: prometheuses}
  versions:
`;

/** `count` lines, each with its number. */
const numbered = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

/** Texts of up to 1 MiB that some reader pays dearly for, by what they are: all of them are refused. */
export const heavyTexts: ReadonlyMap<string, string> = new Map([
  ["commas in a bracket", filled(`${configMap}  a: [`, ",", "]")],
  ["brackets side by side", filled(configMap, "{}")],
  ["brackets that close nothing", filled(`${configMap}  a: `, "]")],
  ["lists in a list", filled(`${configMap}  a: [`, "[],", "]")],
  ["brackets in brackets", filled(`${configMap}  a: `, "[")],
  ["dashes", filled("a: ", "- ")],
  ["items", filled("", "- a\n")],
  ["question marks", filled("", "? ")],
  ["colons", filled("a", ": ")],
  ["escapes that do not exist", filled('a: "', "\\q", '"')],
  ["texts without a comma", filled("a: [", '"a" ', "]")],
  ["anchors", filled("a: ", "&a ")],
  ["aliases", filled("a: [", "*a,", "]")],
  ["tags", filled("a: ", "!a ")],
  ["directives", filled("", "%a\n")],
  ["documents that end", filled("", "...\n")],
  ["documents on the lines of their dashes", filled("", "--- a\n")],
  ["documents of one word", filled("", "---\n&a\n")],
  ["lines below a broken one", filled("a: @\n", "\n")],
  ["comments below a broken line", filled("a: @\n", "#\n")],
  ["tabs", filled("a:\n", "\tb\n")],
  ["carriage returns", filled("a: b", "\r")],
  ["block scalars of nothing", filled("a: b\n", "|\n")],
  ["templates", filled("a:\n", "{{ x }}\n")],
  ["merge keys", filled("", "<<: a\n")],
  ["duplicate keys", filled("", "a: b\n")],
  ["ambiguous numbers", filled("", "- {a: 010}\n")],
  ["quotes", filled("a: ", '"')],
  ["a ConfigMap with too many keys", configMap + numbered(60_000, (at) => `  k${at}: v\n`)],
  [
    "a Secret that is no base64",
    configMap.replace("ConfigMap", "Secret") + numbered(40_000, (at) => `  k${at}: "!"\n`),
  ],
  ["a List of what is no object", filled("apiVersion: v1\nkind: List\nitems:\n", "- apiVersion: v1\n  kind: Pod\n")],
  ["a placement with unknown fields", placement + numbered(40_000, (at) => `  k${at}: v\n`)],
  [
    "a placement with too many selectors",
    filled(`${placement}  resourceSelectors:\n`, '  - {version: v1, kind: "Pod"}\n'),
  ],
  ["roots that are none", `${fleet}  roots:\n${numbered(40_000, (at) => `  - ../${at}\n`)}`],
  ["manifests with an anchor at the end", filled("", ordinary(), `${ordinary()}  x: &a b\n`)],
  ["one manifest with an anchor at the end", filled(configMap, "  a:\n  - b: 'c'\n    d: [e, f]\n", "  x: &a b\n")],
  ["manifests that nobody writes plainly", filled("", `---\n${ordinary()}  x: *a\n`)],
]);

/** The same for texts that are accepted: 1 MiB of what people really keep in a file. */
export const largeTexts: ReadonlyMap<string, string> = new Map([
  ["a ConfigMap with a large file", filled(`${configMap}  a: |\n`, "    some: [words, that, look, like]\n")],
  ["a definition with descriptions", filled(definition, definedField())],
  ["a ConfigMap of many short lines", filled(`${configMap}  a: |\n`, "   b\n")],
  ["a List as kubectl prints it", filled("apiVersion: v1\nkind: List\nitems:\n", listItem(), "")],
  ["blank lines", filled(`${configMap}  a: b\n`, "\n")],
  ["comments", filled(`${configMap}  a: b\n`, "# c\n")],
  [
    "manifests with ambiguous words",
    numbered(400, (at) => `---\n${ordinary().replace("name: x", `name: x${at}`)}    x: on\n`),
  ],
]);

function definedField(): string {
  return `  - name: v1
    schema:
      openAPIV3Schema:
        description: |-
          What this is about, in Markdown:

              with: an example
        properties:
          port:
            description: "Of match: a number\\nor a name, e.g. the following:\\n\\n\\tmatch:\\n\\t\\
              \\ headers:\\n\\t\\  - name: \\"version\\"\\n\\nand *no* more."
            anyOf:
            - type: integer
            - type: string
            pattern: ^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$
            x-kubernetes-validations:
            - message: 'must be one of: a, b'
              rule: '!has(self.a) || self.all(it, it != "b")'
            enum: [on, off]
            x-kubernetes-int-or-string: true
`;
}

function ordinary(): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: x, namespace: a}
spec:
  template:
    spec:
      containers:
        - name: web
          image: "nginx:1.27"
          args: [--verbose, '--level=3']
`;
}

function listItem(): string {
  const lines = `${ordinary()}    note: some words that go on
      and on over several lines
`.trimEnd();
  return `- ${lines.replaceAll("\n", "\n  ")}\n${" ".repeat(2)}x:\n${numbered(20, (at) => `  - name: n${at}\n    value: "${"some words ".repeat(8)}"\n`)}`;
}
