// Command lines as they are given, run in this process: what is printed, where, and the exit code.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "flotilla-cmd-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(...argv: readonly string[]) {
  const said = { out: "", err: "" };
  const code = await main(argv, {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    environment: {},
  });
  return { code, ...said };
}

describe("a command line that is wrong", () => {
  const wrong: readonly (readonly [argv: readonly string[], says: RegExp])[] = [
    [["reconcile", "--watch", "-o", "json"], /--watch does not end/],
    [["reconcile", "--watch", "--wait", "1m"], /'--wait <duration>' cannot be used with option '--watch'/],
    [["reconcile", "--poll", "0s"], /more than nothing/],
    [["reconcile", "--deadline", "1000h"], /at most 24 days/],
    [["reconcile", "--wait", "5"], /a duration such as 500ms/],
    [["reconcile", "--wait", "5s later"], /a duration such as 500ms/],
    [["reconcile", "--accept-rewrite", "main..other"], /two full commit ids/],
    [["reconcile", "--forge", "http://git.example/team/fleet"], /--forge is invalid: only https URLs are supported/],
    [["reconcile", "--forge", "https://git.example/fleet"], /--forge is invalid: it names no repository/],
    [["plan", "--trust-anchor", "c0de"], /'c0de' is invalid. expected a SHA-256: 64 hexadecimal digits/],
    [["plan", "--git", "svn"], /Allowed choices are auto, iso, program/],
    [["embedded", "--clusters", "a,B", "--kubeconfig", "FILE"], /"B" is not a cluster name/],
    [["embedded", "--clusters", "a,,b", "--kubeconfig", "FILE"], /"" is not a cluster name/],
    [["embedded", "--clusters", "a,a", "--kubeconfig", "FILE"], /the cluster a is named twice/],
    [["embedded", "--clusters", "a", "--kubeconfig", "FILE", "--port", "99999"], /a number from 0 to 65535/],
    [["embedded", "--clusters", "a", "--kubeconfig", "FILE/in/nowhere"], /cannot be written to .*\(ENOENT\)/],
  ];
  test.each(wrong)("%j is said to be so, and nothing is done", async (argv, says) => {
    const file = join(folder, "file");
    const { code, out, err } = await run(...argv.map((it) => it.replace("FILE", file)));
    expect({ code, out }).toEqual({ code: 64, out: "" });
    expect(err).toMatch(says);
    expect(existsSync(file)).toBe(false);
  });
});

describe("embedded", () => {
  test("does not write over a kubeconfig that leads to real clusters", async () => {
    const kubeconfig = join(folder, "config");
    const real = "clusters:\n- cluster:\n    server: https://prod.example:6443\n";
    await writeFile(kubeconfig, real);
    const { code, err } = await run("embedded", "--clusters", "a", "--kubeconfig", kubeconfig);
    expect([code, err]).toEqual([64, expect.stringContaining("give another file")]);
    expect(await readFile(kubeconfig, "utf8")).toBe(real);
  });

  test("writes over its own, serves until it is told to stop, and says when a port is taken", async () => {
    const kubeconfig = join(folder, "config");
    for (let time = 0; time < 2; time++) {
      const before = process.listenerCount("SIGTERM");
      const ended = run("embedded", "--clusters", "a, b", "--kubeconfig", kubeconfig);
      await expect.poll(() => process.listenerCount("SIGTERM"), { timeout: 5000 }).toBeGreaterThan(before);
      process.emit("SIGTERM");
      expect(await ended).toEqual({ code: 0, out: `serving 2 clusters; kubeconfig: ${kubeconfig}\n`, err: "" });
    }
    const other = createServer().listen(0, "127.0.0.1");
    await expect.poll(() => other.address()).not.toBeNull();
    const { port } = other.address() as { port: number };
    const taken = await run("embedded", "--clusters", "a", "--kubeconfig", kubeconfig, "--port", String(port));
    other.close();
    expect(taken).toEqual({
      code: 64,
      out: "",
      err: `error: port ${port} of 127.0.0.1 cannot be used (EADDRINUSE); 0 takes a free one\n`,
    });
  });
});

describe("validate", () => {
  const broken = "apiVersion: v1\nkind: [ConfigMap\n";

  test.each(["", "clusters", "clusters/bad.yaml"])("names a file in %j as it is seen from here", async (path) => {
    await mkdir(join(folder, "clusters"));
    await writeFile(join(folder, "clusters", "bad.yaml"), broken);
    const { code, out, err } = await run("validate", join(folder, path));
    expect({ code, out }).toEqual({
      code: 1,
      out: "0 clusters, 0 placements, 0 objects: 1 error, 0 warnings, 0 notes\n",
    });
    expect(err.slice(0, err.indexOf(":"))).toBe(join(folder, "clusters", "bad.yaml"));
  });

  test("with -v it lists what no placement selects", async () => {
    await writeFile(join(folder, "a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\n");
    const { code, out } = await run("validate", "-v", folder);
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toBe(`${join(folder, "a.yaml")}:1: no placement selects ConfigMap b/a`);
    expect((await run("validate", folder)).out).not.toContain("no placement selects");
    const { unselected } = JSON.parse((await run("validate", "-v", "-o", "json", folder)).out) as {
      unselected: unknown;
    };
    expect(unselected).toEqual([{ path: join(folder, "a.yaml"), line: 1, object: "ConfigMap b/a" }]);
  });

  test("Secrets in plain text are one note", async () => {
    const secret = (name: string): string =>
      `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: b}\nstringData: {pin: hunter2}\n`;
    await writeFile(join(folder, "a.yaml"), `${secret("a")}---\n${secret("b")}`);
    const { code, out, err } = await run("validate", folder);
    expect({ code, out }).toEqual({
      code: 0,
      out: "0 clusters, 0 placements, 2 objects: 0 errors, 0 warnings, 1 note\n",
    });
    expect(err).toMatch(/a\.yaml:1:1: note FLT1510: 2 Secrets, [^\n]+\n$/);
    expect(err).not.toContain("hunter2");
  });

  test("an override that fails on a cluster is an error at its place, with the cluster and the placement", async () => {
    await writeFile(
      join(folder, "a.yaml"),
      `apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: c1}
spec: {identity: {kind: User, name: c1}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata: {name: web}
spec: {resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourceOverride
metadata: {name: team}
spec:
  placement: {name: web}
  clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy:
    overrideRules:
      - clusterSelector: {clusterSelectorTerms: []}
        jsonPatchOverrides:
          - {op: add, path: /metadata/labels/team, value: shop}
`,
    );
    const { code, err } = await run("validate", folder);
    expect([code, err]).toEqual([
      1,
      `${join(folder, "a.yaml")}:23:13: error FLT1343: spec.policy.overrideRules[0].jsonPatchOverrides[0]: fails on the cluster c1 (placement web), for Namespace shop: /metadata/labels does not exist; correct the operation, or the clusterSelector of its rule: until then nothing new of the placement reaches such a cluster\n`,
    ]);
  });

  test("an envelope that is not sound is an error where it is wrong, and at the placement that it stops", async () => {
    await writeFile(
      join(folder, "a.yaml"),
      `{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata: {name: web}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceEnvelope
metadata: {name: wrap, namespace: shop}
data:
  q.yaml: {apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: web}}
`,
    );
    const { code, err } = await run("validate", folder);
    expect([code, err.replaceAll(`${folder}/`, "").split("\n")]).toEqual([
      1,
      [
        'a.yaml:7:22: error FLT1345: spec.resourceSelectors: ResourceEnvelope shop/wrap (a.yaml:9) cannot be unwrapped: data["q.yaml"].metadata.namespace: must be the envelope\'s, shop; correct it: until then nothing new of this placement reaches any cluster',
        'a.yaml:13:80: error FLT1416: data["q.yaml"].metadata.namespace: must be the envelope\'s, shop (got web); use an envelope in that namespace',
        "",
      ],
    ]);
  });

  test("an object that stands in an envelope and by itself is an error at the placement", async () => {
    const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}";
    await writeFile(
      join(folder, "a.yaml"),
      `{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
${configMap}
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata: {name: web}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ResourceEnvelope
metadata: {name: wrap, namespace: shop}
data:
  c.yaml: ${configMap}
`,
    );
    const { code, err } = await run("validate", folder);
    expect([code, err.replaceAll(`${folder}/`, "")]).toEqual([
      1,
      "a.yaml:9:22: error FLT1345: spec.resourceSelectors: ConfigMap shop/c (a.yaml:3) is also selected wrapped (a.yaml:11); keep one of them; correct it: until then nothing new of this placement reaches any cluster\n",
    ]);
  });

  test("one object is one object", async () => {
    await writeFile(join(folder, "a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\n");
    expect((await run("validate", folder)).out).toMatch(/^0 clusters, 0 placements, 1 object: 0 errors, /);
  });
});
