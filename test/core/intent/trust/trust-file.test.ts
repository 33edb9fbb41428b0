import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readTrust } from "../../../../src/core/intent/trust/trust-file.ts";
import { digestOfText } from "../../../../src/core/model/json.ts";
import { instantOf } from "../../../../src/core/model/value.ts";
import { problemText } from "../../../../src/core/yaml/problems.ts";
import { configMap, read } from "../reading.ts";
import { armor, armored, ed25519, sshKeys } from "./public-keys.ts";

const previous = "cd".repeat(32);
const indented = (text: string): string => text.replaceAll("\n", "\n          ");

const whole = `apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata:
  name: root
spec:
  version: 2
  previous: ${previous}
  expires: "2027-10-01T00:00:00Z"
  threshold: 2
  roots: [ann, bob]
  principals:
    bob:
      human: true
      keys:
        - ${ed25519(2)}
      authorities:
        - ${ed25519(9)}
    ann:
      human: true
      keys:
        - ${sshKeys.ed25519.line} ann@laptop
        - ${ed25519(1)}
      authorities:
        - ${ed25519(9)}
      forge:
        github: "8928778"
    web-flow:
      human: false
      openpgp:
        - |
          ${indented(armored(4, 1))}
  approvals:
    - placements: ["*"]
      stages: [prod]
      principals: [ann, bob]
    - placements: [shop-*, team/web]
      stages: [canary]
      principals: [ann]
      minimum: 1
      fourEyes: false
      unsignedChanges: allow
      accept: [forge]
      maxAge: 48h
  protectedTargets:
    - clusters: [prod-*, edge@0a1b2c]
      namespaces: [payments]
      principals: [ann, bob]
      minimum: 2
      released: [9f8e7d]
  revocations:
    - key: ${sshKeys.rsa3072.fingerprint}
      kind: compromised
    - key: ${"ab".repeat(20)}
      kind: retired
`;

const changed = (from: string | RegExp, to: string): string => {
  const text = whole.replace(from, to);
  expect(text).not.toBe(whole);
  return text;
};

describe("a trust file", () => {
  it("says who may approve what, with every default filled in", () => {
    const { trust, problems } = readTrust(whole);
    expect(problems.map(problemText)).toEqual([]);
    const fingerprints = [...(trust?.principals.values() ?? [])].map((it) => [
      it.name,
      it.isHuman,
      it.sshKeys.length,
      it.sshAuthorities.length,
      [...it.openPgp.keys()].map((key) => key.length),
      [...it.forgeIds],
    ]);
    expect(fingerprints).toEqual([
      ["ann", true, 2, 1, [], [["github", "8928778"]]],
      ["bob", true, 1, 1, [], []],
      ["web-flow", false, 0, 0, [40], []],
    ]);
    expect(trust?.principals.get("ann")?.sshKeys[0]).toBe(sshKeys.ed25519.fingerprint);
    const { principals: _, ...rest } = trust ?? {};
    expect(rest).toEqual({
      version: 2,
      digest: digestOfText(whole),
      previous,
      expires: instantOf("2027-10-01T00:00:00Z"),
      roots: { principals: ["ann", "bob"], threshold: 2 },
      approvals: [
        {
          placements: ["*"],
          stages: ["prod"],
          principals: ["ann", "bob"],
          minimum: 1,
          fourEyes: true,
          unsignedChanges: "oneMore",
          accept: ["commit", "detached"],
          maxAge: 86_400_000,
        },
        {
          placements: ["shop-*", "team/web"],
          stages: ["canary"],
          principals: ["ann"],
          minimum: 1,
          fourEyes: false,
          unsignedChanges: "allow",
          accept: ["forge"],
          maxAge: 172_800_000,
        },
      ],
      protectedTargets: [
        {
          clusters: ["prod-*", "edge@0a1b2c"],
          namespaces: ["payments"],
          principals: ["ann", "bob"],
          minimum: 2,
          accept: ["commit", "detached"],
          released: ["9f8e7d"],
        },
      ],
      revocations: [
        { key: sshKeys.rsa3072.fingerprint, kind: "compromised" },
        { key: "AB".repeat(20), kind: "retired" },
      ],
    });
  });

  it("is another one with every byte that changes", () => {
    expect(readTrust(`${whole}# a note\n`).trust?.digest).not.toBe(readTrust(whole).trust?.digest);
  });

  it("may begin with a document's mark", () => {
    expect(readTrust(`---\n${whole}`).trust).not.toBeNull();
  });
});

const many = (count: number): string =>
  Array.from({ length: count }, (_, at) => `    p${at}: {human: true, forge: {github: "${at + 1}"}}\n`).join("");

const { fingerprint } = sshKeys.rsa3072;
/** Beside a primary key, a subkey of the same form, and that one is revoked. */
const [primary, second] = [armored(4, 1), armored(4, 1, 3072, 14)].map((it) =>
  Buffer.from(it.split("\n").slice(2, -1).join(""), "base64"),
);
const keyBody = second!.subarray(6); // Made above.
const subkey = createHash("sha1")
  .update(Buffer.from([0x99, keyBody.length >> 8, keyBody.length & 255]))
  .update(keyBody)
  .digest("hex");
const withSubkey = changed(indented(armored(4, 1)), indented(armor(Buffer.concat([primary!, second!])))).replace(
  "ab".repeat(20),
  subkey,
);

/** One row, one thing wrong (B-66, B-67). */
const broken: readonly (readonly [name: string, text: string, code: string, place: string])[] = [
  ["an unknown field", changed("threshold:", "treshold: 1\n  threshold:"), "FLT1301", "9:3"],
  ["an unknown field of a principal", changed("human: false", "human: false\n      role: root"), "FLT1301", "29:7"],
  ["a principal that is neither person nor machine", changed("human: false\n", "keys: []\n"), "FLT1300", ""],
  ["a boolean that kubectl alone reads as one", changed("human: false", "human: no"), "FLT1011", "28:14"],
  ["another name", changed("name: root", "name: roots"), "FLT1302", "4:9"],
  ["no expiry", changed(/ {2}expires.*\n/, ""), "FLT1300", ""],
  ["an expiry that is no moment", changed("2027-10-01T", "2027-13-01T"), "FLT1224", "8:12"],
  ["version 0", changed("version: 2", "version: 0"), "FLT1302", "6:12"],
  ["no previous version", changed(/ {2}previous.*\n/, ""), "FLT1300", ""],
  ["a previous version before the first", changed("version: 2", "version: 1"), "FLT1307", "7:13"],
  ["a digest that is none", changed(previous, "cdcd"), "FLT1302", "7:13"],
  ["threshold 0", changed("threshold: 2", "threshold: 0"), "FLT1302", "9:14"],
  ["a threshold above the roots", changed("threshold: 2", "threshold: 3"), "FLT1223", "9:14"],
  ["no roots", changed("roots: [ann, bob]", "roots: []"), "FLT1302", "10:10"],
  ["a root twice", changed("roots: [ann, bob]", "roots: [ann, ann]"), "FLT1308", "10:16"],
  ["a root that is nobody", changed("roots: [ann, bob]", "roots: [ann, bobb]"), "FLT1230", "10:16"],
  ["a root named as an object's own field", changed("roots: [ann, bob]", "roots: [ann, toString]"), "FLT1230", "10:16"],
  ["a machine as root", changed("roots: [ann, bob]", "roots: [ann, web-flow]"), "FLT1231", "10:16"],
  [
    "a machine as approver",
    changed("stages: [prod]\n      principals: [ann, bob]", "stages: [prod]\n      principals: [web-flow]"),
    "FLT1231",
    "46:20",
  ],
  [
    "everybody as approver",
    changed("stages: [prod]\n      principals: [ann, bob]", 'stages: [prod]\n      principals: ["*"]'),
    "FLT1233",
    "46:20",
  ],
  [
    "no approvers",
    changed("stages: [prod]\n      principals: [ann, bob]", "stages: [prod]\n      principals: []"),
    "FLT1302",
    "46:19",
  ],
  ["more approvals than approvers", changed("minimum: 1", "minimum: 2"), "FLT1223", "50:16"],
  [
    "a machine under protected targets",
    changed(
      "namespaces: [payments]\n      principals: [ann, bob]",
      "namespaces: [payments]\n      principals: [ann, web-flow]",
    ),
    "FLT1231",
    "",
  ],
  ["an evidence twice", changed("accept: [forge]", "accept: [forge, forge]"), "FLT1308", "53:23"],
  ["an unknown evidence", changed("accept: [forge]", "accept: [email]"), "FLT1302", "53:16"],
  ["an age beyond a week", changed("maxAge: 48h", "maxAge: 169h"), "FLT1302", "54:15"],
  ["an age that is none", changed("maxAge: 48h", "maxAge: 2d"), "FLT1302", "54:15"],
  ["a wildcard in the middle", changed("shop-*,", "sh*op,"), "FLT1302", "47:20"],
  ["a cluster's UID as a prefix", changed("edge@0a1b2c", "edge@0a1b*"), "FLT1302", "56:26"],
  ["a name with a wildcard", changed("    web-flow:\n", '    "web-*":\n'), "FLT1233", "27:5"],
  ["a name that looks like another", changed("    web-flow:\n", "    Ann:\n"), "FLT1309", "27:5"],
  ["a principal twice", changed("    web-flow:\n", "    ann:\n"), "FLT1005", "27:5"],
  ["a principal without keys", changed(/ {6}openpgp:\n {8}- \|\n(?: {10}.*\n| *\n)+/, ""), "FLT1232", "28:7"],
  ["a key of two people", changed(ed25519(2), ed25519(1)), "FLT1228", ""],
  ["a key twice", changed(`- ${ed25519(1)}`, `- ${sshKeys.ed25519.line}`), "FLT1228", ""],
  ["an authority that is somebody's own key", changed(ed25519(9), ed25519(1)), "FLT1228", ""],
  [
    "an account of two people",
    changed(
      "human: true\n      keys:\n        - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAIC",
      'human: true\n      forge: {github: "8928778"}\n      keys:\n        - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAIC',
    ),
    "FLT1228",
    "",
  ],
  ["an account by name", changed('"8928778"', "octocat"), "FLT1302", "26:17"],
  ["RSA of 2048 bits", changed(ed25519(2), sshKeys.rsa2048.line), "FLT1226", "15:11"],
  ["an authority with an option", changed(ed25519(9), `cert-authority ${ed25519(9)}`), "FLT1233", "17:11"],
  ["a 64-bit key id", changed("AB".repeat(20).toLowerCase(), '"DEADBEEFDEADBEEF"'), "FLT1227", ""],
  ["a fingerprint that nothing has", changed(fingerprint, `${fingerprint.slice(0, -1)}5`), "FLT1227", ""],
  ["a subkey revoked, which revokes nothing", withSubkey, "FLT1227", ""],
  ["a subkey revoked in capitals", withSubkey.replace(subkey, subkey.toUpperCase()), "FLT1227", ""],
  ["a revocation twice", changed("ab".repeat(20), sshKeys.rsa3072.fingerprint), "FLT1308", ""],
  ["a revocation without its kind", changed("      kind: retired\n", ""), "FLT1300", ""],
  ["257 principals", changed("  principals:\n", `  principals:\n${many(254)}`), "FLT1302", "12:5"],
  ["more than 64 KiB", `${whole}# ${"x".repeat(65_536)}\n`, "FLT1234", ""],
  ["two documents", `${whole}---\n${whole}`, "FLT1234", ""],
  ["a text that is cut off", whole.slice(0, -200), "", ""],
  ["nothing", "", "FLT1234", ""],
  ["comments alone", "# later\n", "FLT1234", ""],
  ["a list", "- a\n", "FLT1234", ""],
  ["another kind", changed("kind: Trust", "kind: Fleet"), "FLT1302", "2:7"],
  ["an anchor", changed("roots: [ann, bob]", "roots: &r [ann, bob]"), "FLT1006", "10:13"],
  ["an invisible character", changed("roots: [ann, bob]", 'roots: [ann, "bob\u200b"]'), "FLT1003", "10:16"],
  ["a byte order mark", `\ufeff${whole}`, "FLT1021", ""],
  ["a merge conflict", changed("  threshold: 2", "<<<<<<< HEAD\n  threshold: 2"), "", ""],
];

describe("a trust file with one thing wrong is of no use at all (D 6)", () => {
  for (const [name, text, code, place] of broken)
    it(name, () => {
      const { trust, problems } = readTrust(text);
      expect(trust).toBeNull();
      expect(problems.map(problemText)).not.toEqual([]);
      expect(problems.every((it) => it.severity === "error" && it.path === "trust/root.yaml")).toBe(true);
      if (code !== "") expect(problems.map((it) => it.code)).toContain(code);
      if (place !== "") expect(problems.map((it) => `${it.line}:${it.column}`)).toContain(place);
    });

  it("and says whose subkey was revoked for nothing, and nothing else", () => {
    expect(readTrust(withSubkey).problems.map((it) => it.message)).toEqual([
      expect.stringMatching(/only a subkey of web-flow's/),
    ]);
  });

  it("and a private key is told without a part of it being shown", () => {
    const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----";
    const { trust, problems } = readTrust(changed(`- ${ed25519(1)}`, `- |\n          ${indented(key)}`));
    expect(trust).toBeNull();
    expect(problems.map((it) => it.code)).toEqual(["FLT1229"]);
    expect(JSON.stringify(problems)).not.toContain("b3Blbn");
  });
});

it("nothing can be left out of it unseen but what is optional", () => {
  const lines = whole.split("\n");
  const usable = lines.filter((line, at) => {
    const { trust } = readTrust(lines.filter((_, i) => i !== at).join("\n"));
    return trust !== null && line.trim() !== "";
  });
  expect(usable.map((it) => it.trim().replace(/AAAA\S*/, "…"))).toEqual([
    "- ssh-ed25519 … ann@laptop",
    "- ssh-ed25519 … key-1",
    "minimum: 1",
    "fourEyes: false",
    "unsignedChanges: allow",
    "accept: [forge]",
    "maxAge: 48h",
    "minimum: 2",
    "released: [9f8e7d]",
  ]);
});

describe("a Trust in another place", () => {
  it("is an error, and nothing else", () => {
    const { problems } = read({ "people.yaml": whole, "web.yaml": configMap("web") });
    expect(problems.map((it) => `${it.path} ${it.severity} ${it.code}`)).toEqual(["people.yaml error FLT1350"]);
  });

  it("is none where it belongs: nobody reads it as an object", () => {
    const { problems } = read({ "trust/root.yaml": whole, "web.yaml": configMap("web") });
    expect(problems.filter((it) => it.severity === "error")).toEqual([]);
  });
});
