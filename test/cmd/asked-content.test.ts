// What an approver sees before they approve: a real reconciler asks, on real Git, and `flotilla approve` shows it.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";
import { type AuditedHub, auditedHub } from "../shell/reconcile/audited-hub.ts";

let hub: AuditedHub;

beforeEach(async () => {
  hub = await auditedHub({ guarded: true, signed: false });
});
afterEach(() => hub.close());

const api = "apiVersion: placement.kubernetes-fleet.io/v1beta1";

const placement = (more = "", cluster = "m1"): string => `${api}
kind: ClusterResourcePlacement
metadata: {name: web}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  policy: {placementType: PickFixed, clusterNames: [${cluster}]}
  strategy: {type: RollingUpdate${more}}
`;

const deployment = (image: string, replicas: number): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: web}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: ${image}}]}
`;

const secret = (password: string, more = ""): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: web}\nstringData: {password: ${password}, user: web${more}}\n`;

const override = `${api}
kind: ClusterResourceOverride
metadata: {name: loud}
spec:
  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  policy:
    overrideRules:
      - clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {env: canary}}}]}
        overrideType: JSONPatch
        jsonPatchOverrides: [{op: add, path: /metadata/labels, value: {loud: "yes"}}]
`;

const runFile = `${api}
kind: ClusterStagedUpdateRun
metadata: {name: second}
spec: {placementName: web, stagedRolloutStrategyName: rings, state: Run}
`;

/** The protected member carries the Deployment, a ConfigMap and a Secret, by Bob's word. */
async function standing(more = ""): Promise<void> {
  hub.push(hub.ann, {
    "runs/first.yaml": null,
    "placements/web.yaml": placement(more),
    "web/app.yaml": deployment("nginx:1.4", 2),
    "web/key.yaml": secret("one"),
  });
  await granted();
}

let answers = 0;

async function granted(): Promise<void> {
  await hub.settle();
  const [text = ""] = Object.values(await hub.answerChange("bob"));
  answers += 1;
  hub.push(hub.bob, { [`approvals/bob-${answers}.yaml`]: text });
  await hub.settle();
}

async function run(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  let out = "";
  const say = (text: string): void => {
    out += text;
  };
  const repo = hub.workshop.repository;
  const state = ["--state-branch", "fleet/state"];
  const code = await main([...argv, "--repo", repo, ...state], { out: say, err: say, environment: {} });
  return { code, out };
}

/** What `flotilla approve` shows of what would happen, without what only the moment decides. */
async function shown(...argv: readonly string[]): Promise<readonly string[]> {
  const { out } = await run("approve", ...argv, "--as", "bob", "--dry-run");
  const lines = out
    .split("\n")
    .map((it) => it.replace(/\b[0-9a-f]{64}\b/g, "DIGEST").replace(/\b[0-9a-f]{12}\b/g, "COMMIT"));
  const rules = lines.findIndex((it) => it.startsWith("rules"));
  const from = lines.findIndex((it) => it.startsWith("1 cluster"));
  const to = lines.findIndex((it, at) => at > rules && !it.startsWith(" ") && it !== "" && !it.startsWith("what "));
  return [...lines.slice(from, rules), ...lines.slice(rules + 1, to)].filter(
    (it) => !/^ {2}(?:m1: content|placements|protected) /.test(it),
  );
}

const brought = ["from commits:", "  COMMIT signed (Anna Łęcka <anna@example.com>)"];

const folder = "rendered/.asked/web-change";
const listed = (): readonly string[] =>
  hub.workshop.git("ls-tree", "-r", "--name-only", "fleet/state", "rendered/.asked/").split("\n").filter(Boolean);

describe("what is asked for", () => {
  test("stands on the state branch, beside what clusters carry, as long as it is asked for", async () => {
    await standing();
    expect(listed()).toEqual([]);
    hub.push(hub.ann, { "web/config.yaml": config("two") });
    await hub.settle();
    expect(listed()).toEqual([`${folder}/README.md`, `${folder}/commits.txt`, `${folder}/m1/web.yaml`]);
    const { git } = hub.workshop;
    expect(hub.stateFile(`${folder}/commits.txt`)).toBe(`${git("rev-parse", "main")}\n`);
    expect(hub.stateFile(`${folder}/README.md`).replace(/[0-9a-f]{40,64}/g, "ID")).toBe(`# web-change

What approvers are asked about placement web. Nothing is deployed from here.

Request digest: \`ID\`

| Clusters | Would run | Run now |
|---|---|---|
| m1 | [m1/web.yaml](m1/web.yaml) | [m1](../../m1/web.yaml) |

From these commits (\`git show\`):

* ID
`);
    const [was, is] = ["rendered/m1/web.yaml", `${folder}/m1/web.yaml`].map((it) => hub.stateFile(it));
    expect([was?.includes("value: one"), is]).toEqual([true, was?.replace("value: one", "value: two")]);
    hub.push(hub.ann, { "web/config.yaml": config("three") });
    await hub.settle();
    expect(hub.stateFile(`${folder}/m1/web.yaml`)).toContain("value: three");
    expect(hub.stateFile(`${folder}/commits.txt`).split("\n").length).toBe(3);
    await granted();
    expect(listed()).toEqual([]);
    expect(hub.stateFile("rendered/m1/web.yaml")).toContain("value: three");
  });

  test("is not shown where somebody put something else there (T-21), and verify says so", async () => {
    await standing();
    hub.push(hub.ann, { "web/config.yaml": config("two") });
    await hub.settle();
    hub.forge({ files: { [`${folder}/m1/web.yaml`]: (it) => it.replace("value: two", "value: harmless") } });
    const lines = await shown("--change", "web");
    expect(lines.join("\n")).not.toContain("harmless");
    expect(lines).toContain(
      `what m1 would get is not shown: ${folder}/ on fleet/state does not match the request's digest;`,
    );
    expect(JSON.stringify(await hub.verify())).toContain("differs from what people are asked to approve");
  });

  test("is not shown against something else than what clusters carry", async () => {
    await standing();
    hub.push(hub.ann, { "web/config.yaml": config("two") });
    await hub.settle();
    hub.forge({ files: { "rendered/m1/web.yaml": (it) => it.replace("value: one", "value: two") } });
    expect((await shown("--change", "web")).join("\n")).toContain("what m1 would get is not shown");
  });
});

describe("flotilla approve shows", () => {
  test("another image and number of replicas first, then all that differs, and the commit that brought it", async () => {
    await standing();
    hub.push(hub.ann, { "web/app.yaml": deployment("nginx:1.5", 3), "web/config.yaml": config("two") });
    await hub.settle();
    expect(await shown("--change", "web")).toEqual([
      "1 cluster: m1",
      "resource snapshot 0 to 1: m1",
      "  changed       v1 ConfigMap web/web",
      "  changed       apps/v1 Deployment web/web",
      "  same          2 objects",
      "changed by: ann",
      ...brought,
      "",
      "what changes on m1:",
      "  Deployment web/web, changed; image of web nginx:1.4 to nginx:1.5; replicas 2 to 3",
      "    @@ -4,7 +4,7 @@",
      "       name: web",
      "       namespace: web",
      "     spec:",
      "    -  replicas: 2",
      "    +  replicas: 3",
      "       selector:",
      "         matchLabels:",
      "           app: web",
      "    @@ -15,4 +15,4 @@",
      "         spec:",
      "           containers:",
      "           - name: web",
      "    -        image: nginx:1.4",
      "    +        image: nginx:1.5",
      "  ConfigMap web/web, changed",
      "    @@ -4,4 +4,4 @@",
      "       name: web",
      "       namespace: web",
      "     data:",
      "    -  value: one",
      "    +  value: two",
    ]);
  });

  test("what an override changes, although the objects are of the same version", async () => {
    await standing();
    hub.push(hub.ann, { "overrides/loud.yaml": override });
    await hub.settle();
    expect((await shown("--change", "web")).slice(0, 18)).toEqual([
      "1 cluster: m1",
      "resource snapshot 0, with another override or strategy: m1",
      "  changed       v1 Namespace web",
      "  changed       v1 Secret web/key",
      "  changed       v1 ConfigMap web/web",
      "  changed       apps/v1 Deployment web/web",
      "changed by: ann",
      ...brought,
      "",
      "what changes on m1:",
      "  Namespace web, changed",
      "    @@ -2,3 +2,5 @@",
      "     kind: Namespace",
      "     metadata:",
      "       name: web",
      "    +  labels:",
      '    +    loud: "yes"',
    ]);
  });

  test("what would be left in place", async () => {
    await standing(", deleteStrategy: {propagationPolicy: Abandon}");
    hub.push(hub.ann, { "placements/web.yaml": null });
    await hub.settle();
    expect(await shown("--change", "web")).toEqual([
      "1 cluster: m1",
      "removed, from resource snapshot 0: m1",
      "  left in place v1 Namespace web",
      "  left in place v1 Secret web/key",
      "  left in place v1 ConfigMap web/web",
      "  left in place apps/v1 Deployment web/web",
      "changed by: ann",
      ...brought,
    ]);
  });

  test("what would be handed over, and to which placement", async () => {
    await standing();
    hub.push(hub.ann, {
      "placements/web.yaml": null,
      "placements/site.yaml": placement().replace("{name: web}", "{name: site}"),
      "web/key.yaml": null,
    });
    await hub.settle();
    expect(await shown("--change", "web")).toEqual([
      "1 cluster: m1",
      "removed, from resource snapshot 0: m1",
      "  handed over   v1 Namespace web to placement site",
      "  deleted       v1 Secret web/key",
      "  handed over   v1 ConfigMap web/web to placement site",
      "  handed over   apps/v1 Deployment web/web to placement site",
      "changed by: ann",
      ...brought,
    ]);
    const page = hub.stateFile("rendered/.asked/web-change/README.md");
    expect(page).toContain("handed over to placement site: ConfigMap web/web");
    expect(page).toContain("deleted: Secret web/key");
  });

  test("what would be deleted", async () => {
    await standing();
    hub.push(hub.ann, { "placements/web.yaml": null });
    await hub.settle();
    expect(await shown("--change", "web")).toEqual([
      "1 cluster: m1",
      "removed, from resource snapshot 0: m1",
      "  deleted       v1 Namespace web",
      "  deleted       v1 Secret web/key",
      "  deleted       v1 ConfigMap web/web",
      "  deleted       apps/v1 Deployment web/web",
      "changed by: ann",
      ...brought,
    ]);
  });

  test("what a run would bring to a stage, and take away there", async () => {
    await hub.settle();
    hub.push(hub.bob, await hub.answer("bob"));
    await hub.settle();
    hub.push(hub.ann, {
      "web/config.yaml": null,
      "web/app.yaml": deployment("nginx:1.4", 2),
      "runs/second.yaml": runFile,
    });
    await hub.settle();
    expect(listed()).toEqual(
      ["README.md", "commits.txt", "m1/web.yaml"].map((it) => `rendered/.asked/second-before-canary/${it}`),
    );
    expect((await shown("second")).slice(0, 12)).toEqual([
      "1 cluster, in this order: m1",
      "resource snapshot 0 to 1: m1",
      "  created       apps/v1 Deployment web/web",
      "  deleted       v1 ConfigMap web/web",
      "  same          1 object",
      "changed by: ann",
      ...brought,
      "",
      "what changes on m1:",
      "  Deployment web/web, created",
      "    @@ -0,0 +1,18 @@",
    ]);
  });

  test("that a value of a Secret changes, and never the value", async () => {
    await standing();
    hub.push(hub.ann, { "web/key.yaml": secret("correct-horse", ", more: battery-staple") });
    await hub.settle();
    const lines = await shown("--change", "web");
    expect(lines).toEqual([
      "1 cluster: m1",
      "resource snapshot 0 to 1: m1",
      "  changed       v1 Secret web/key",
      "  same          3 objects",
      "changed by: ann",
      ...brought,
      "",
      "what changes on m1:",
      "  Secret web/key, changed",
      "    @@ -4,5 +4,6 @@",
      "       name: key",
      "       namespace: web",
      "     data:",
      '    -  password: "(secret)"',
      '    +  password: "(another secret)"',
      '       user: "(secret)"',
      '    +  more: "(secret)"',
    ]);
    expect(lines.join()).not.toMatch(/correct-horse|battery-staple|Y29ycmVjdC1ob3JzZQ/);
  });
});

const config = (value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: web}\ndata: {value: ${value}}\n`;
