import { describe, expect, it } from "vitest";
import { secretsNote } from "../../../src/core/intent/advice.ts";
import { problemText } from "../../../src/core/yaml/problems.ts";
import { problemsOf, read, readAll } from "./reading.ts";

const secret = (name: string, rest: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: web}\n${rest}`;

const encrypted = "ENC[AES256_GCM,data:p673w==,iv:YY=,tag:UQ==,type:str]";
const sops = "sops:\n  kms: []\n  mac: x\n  version: 3.9.0\n";
const refused =
  "1:1: error FLT1905: this is encrypted with SOPS, which is not supported yet: it is neither decrypted nor placed; let something in the clusters create the Secret, such as the External Secrets operator";

describe("what is encrypted with SOPS is called that, and not bad base64", () => {
  const cases: readonly (readonly [ref: string, text: string])[] = [
    ["a Secret", secret("a", `data:\n  password: ${encrypted}\n${sops}`)],
    ["a Secret of texts", secret("a", `stringData:\n  password: ${encrypted}\n${sops}`)],
    ["one that lost what SOPS says of itself", secret("a", `data: {password: "${encrypted}"}\n`)],
    ["a ConfigMap", secret("a", `data:\n  a: ${encrypted}\n${sops}`).replace("Secret", "ConfigMap")],
    [
      "everything, the kind as well",
      `apiVersion: ${encrypted}\nkind: ${encrypted}\nmetadata:\n  name: ${encrypted}\n${sops}`,
    ],
  ];
  it.each(cases)("%s", (_, text) => {
    expect(problemsOf(text)).toEqual([refused]);
  });

  it("costs its own object only, as long as it says which one that is", () => {
    const before = { "a.yaml": secret("a", ""), "b.yaml": secret("b", "") };
    const after = readAll(before, { "a.yaml": secret("a", `data: {x: "${encrypted}"}\n${sops}`) });
    expect(after.holds.map((it) => it.id.name)).toEqual(["a"]);
    const hidden = readAll(before, { "a.yaml": `apiVersion: v1\nkind: ${encrypted}\n${sops}` });
    expect(hidden.holds.map((it) => it.id.name)).toEqual(["a", "b"]);
    expect([...hidden.suspects.values()][0]).toContain("a document encrypted with SOPS in a.yaml:1");
  });
});

describe("Secrets in plain text get one note", () => {
  it("however many there are, at the first of them, and without a value", () => {
    const files = {
      "b.yaml": secret("b", "stringData: {pin: hunter2}\n"),
      "a.yaml": `${secret("empty", "")}---\n${secret("a", "data: {x: aHVudGVyMg==}\n")}`,
    };
    const note = secretsNote(read(files));
    expect(note === null ? null : problemText(note)).toBe(
      "a.yaml:5:1: note FLT1510: 2 Secrets, this one first, are here in plain text; the state branch copies them under accepted/ and rendered/, and keeps them in its history; restrict who can read both branches, or have something in the clusters create them",
    );
  });

  it("none where there is none, or none with anything in it", () => {
    expect(secretsNote(read({ "a.yaml": secret("a", "type: Opaque\ndata: {}\n") }))).toBe(null);
  });
});
