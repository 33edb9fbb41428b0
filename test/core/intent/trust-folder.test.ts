import { describe, expect, it } from "vitest";
import { readIntent } from "../../../src/core/intent/intent.ts";
import { maxTrustSignatures } from "../../../src/core/intent/source-file.ts";
import { reuseIntent } from "../../../src/core/ledger/identity.ts";
import { digestOfText } from "../../../src/core/model/json.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import { trustText } from "../ledger/trust-records.ts";
import { configMap, type Files, inForce, read, readAll, sourceFiles } from "./reading.ts";

const root = trustText(1);
const web = configMap("web");
const fleet = "apiVersion: flotilla.dev/v1alpha1\nkind: Fleet\nspec: {roots: [apps]}\n";
const found = (files: Files): readonly string[] =>
  read(files).problems.map((it) => `${it.path} ${it.severity} ${it.code}`);

describe("trust/root.yaml of a commit", () => {
  it("is there with its exact text and what it says, whatever the roots are", () => {
    const { trust, hasTrust, problems } = read({ "trust/root.yaml": root, "fleet.yaml": fleet, "apps/web.yaml": web });
    expect([trust?.text, trust?.trust?.digest, trust?.trust?.version]).toEqual([root, digestOfText(root), 1]);
    expect(hasTrust).toBe(true);
    expect(problems).toEqual([]);
  });

  it("is null where there is none, and nothing is said of it", () => {
    const intent = read({ "web.yaml": web });
    expect([intent.trust, intent.hasTrust, intent.problems]).toEqual([null, false, []]);
  });

  const broken: readonly [ref: string, content: Files[string], want: string][] = [
    ["a link", "link", "trust/root.yaml error FLT1101"],
    ["a submodule", "submodule", "trust/root.yaml error FLT1102"],
    ["no UTF-8, or too large", new Uint8Array([0xff, 0xfe]), "trust/root.yaml error FLT1234"],
    ["text that is no YAML", "spec: [", "trust/root.yaml error FLT1022"],
    ["a field that nobody knows", `${root}  more: 1\n`, "trust/root.yaml error FLT1301"],
    ["empty", "", "trust/root.yaml error FLT1234"],
  ];
  it.each(broken)("is there and opens nothing when it is %s", (_, content, want) => {
    const files = { "trust/root.yaml": content, "web.yaml": web };
    const { trust, hasTrust } = read(files);
    expect([trust?.text, trust?.trust, hasTrust]).toEqual(["", null, true]);
    expect(found(files)).toEqual([want]);
  });

  it("never stays in force at an earlier version: that is not for the files to say", () => {
    const intent = readAll({ "trust/root.yaml": root, "web.yaml": web }, { "trust/root.yaml": "[", "web.yaml": web });
    expect(intent.trust?.trust).toBe(null);
    expect(intent.holds).toEqual([]);
  });

  it("is missed where something else stands in trust/: every gate is closed, and the problem says what to do", () => {
    const { trust, problems } = read({ "trust/sigs/1.ann.sig": "x", "web.yaml": web });
    expect(trust).toBe(null);
    expect(problems).toEqual([
      expect.objectContaining({
        code: "FLT1237",
        severity: "error",
        path: "trust/",
        message: expect.stringContaining("every gate is closed"),
        fix: expect.stringContaining("flotilla trust init"),
      }),
    ]);
  });

  it("counts at no other place", () => {
    for (const path of ["TRUST/root.yaml", "apps/trust/root.yaml", "root.yaml"]) {
      expect(read({ [path]: root, "web.yaml": web }).trust).toBe(null);
      expect(found({ [path]: root, "web.yaml": web })).toEqual([`${path} error FLT1350`]);
    }
  });

  it("is the same object from commit to commit as long as its text is the same", () => {
    const first = readIntent({
      commit: "c1" as Commit,
      files: sourceFiles({ "trust/root.yaml": root }),
      accepted: null,
    });
    const files = sourceFiles({ "trust/root.yaml": root, "web.yaml": web });
    const again = readIntent({ commit: "c2" as Commit, files, accepted: null });
    const third = readIntent({ commit: "c3" as Commit, files, accepted: null });
    expect(third.trust).toBe(again.trust);
    expect(reuseIntent(first, again).trust).toBe(first.trust);
    expect(reuseIntent(first, read({ "trust/root.yaml": trustText(2) })).trust?.trust?.version).toBe(2);
  });
});

describe("files under trust/", () => {
  it("are kept for whoever verifies again, and never read as objects", () => {
    const intent = read({
      "fleet.yaml": fleet,
      "trust/allowed_signers": "ann ssh-ed25519 AAAA\n",
      "trust/more.yaml": web,
      "trust/root.yaml": root,
      "trust/sigs/1.ann.sig": "x",
      "trust/sigs/2/bob.yaml": web,
      "trust/sigs/link.sig": "link",
    });
    expect([...intent.files.keys()]).toEqual([
      "fleet.yaml",
      "trust/root.yaml",
      "trust/sigs/1.ann.sig",
      "trust/sigs/2/bob.yaml",
    ]);
    expect(inForce(intent)).toEqual([]);
    expect(intent.problems.map((it) => it.path)).not.toContain("trust/more.yaml");
  });

  it("are kept when they cannot be used, too: whoever mends them makes a new commit", () => {
    expect([...read({ "trust/root.yaml": "[" }).files.keys()]).toEqual(["trust/root.yaml"]);
  });

  it("are bounded: signatures beyond that do not count, and somebody hears of it", () => {
    const signatures = Array.from({ length: maxTrustSignatures + 1 }, (_, at) => `trust/sigs/1.${at + 1000}.sig`);
    const all = (paths: readonly string[]): Files => ({
      "trust/root.yaml": root,
      ...Object.fromEntries(paths.map((it) => [it, "x"])),
    });
    const files = all(signatures);
    const intent = read(files);
    expect([...intent.files.keys()]).toEqual(["trust/root.yaml", ...signatures.slice(0, -1)]);
    expect(found(files)).toEqual(["trust/sigs/ error FLT1238"]);
    expect(found(all(signatures.slice(1)))).toEqual([]);
  });
});
