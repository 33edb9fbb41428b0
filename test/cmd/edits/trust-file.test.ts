import { describe, expect, test } from "vitest";
import { firstTrustText, nextTrustText, type TrustChange, trustEdits } from "../../../src/cmd/edits/trust-file.ts";
import { readTrust } from "../../../src/core/intent/trust/trust-file.ts";
import { digestOfText } from "../../../src/core/model/json.ts";
import type { Trust } from "../../../src/core/model/trust.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { trustDifference, unsignable } from "../../../src/core/report/trust-text.ts";

// Public keys of nobody: 32 bytes of one value each.
const key = (byte: number): string => {
  const blob = Buffer.concat([
    Buffer.from([0, 0, 0, 11]),
    Buffer.from("ssh-ed25519"),
    Buffer.from([0, 0, 0, 32]),
    Buffer.alloc(32, byte),
  ]);
  return `ssh-ed25519 ${blob.toString("base64")} somebody@example.com`;
};
const [ada, bob, carol] = [key(1), key(2), key(3)];
const trustOf = (text: string): Trust => {
  const { trust, problems } = readTrust(text);
  expect(problems).toEqual([]);
  if (trust === null) throw new Error("unusable");
  return trust;
};
const fingerprint = (line: string): string =>
  trustOf(firstTrustText({ name: "x", keys: [line], openpgp: [], approves: [], expires: 0 as Instant })).principals.get(
    "x",
  )?.sshKeys[0] ?? "";

const text = `# Ours. Ask the platform team.
apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: 7   # counts up
  previous: ${"a".repeat(64)}
  expires: 2027-10-01T00:00:00Z
  threshold: 1
  roots: [ada] # for now

  principals:
    ada: # the boss
      human: true
      keys:
      - ${ada} # laptop
    bob:
      human: true
      keys: ["${bob}"]
      forge:
        github: "17"
    forge: {human: false, forge: {github: "19864447"}}

  approvals:
  # everything
  - placements: ["*"]
    stages: ["*"]
    principals:
      - bob
  - placements: [web]
    stages: [prod]
    principals: [bob]
    minimum: 1
`;

/** The text with version and digest counted on, and these lines in place of others. */
const expected = (...changes: readonly (readonly [from: string, to: string])[]): string =>
  [["version: 7 ", "version: 8 "] as const, ["a".repeat(64), `"${digestOfText(text)}"`] as const, ...changes].reduce(
    (all, [from, to]) => {
      expect(all.split(from)).toHaveLength(2);
      return all.replace(from, () => to);
    },
    text,
  );

const add = {
  kind: "add",
  isMachine: false,
  keys: [],
  openpgp: [],
  github: null,
  asRoot: false,
  asApprover: false,
} as const;
const end = "    minimum: 1\n";

describe("the next version counts up, names the one before, and keeps every other byte", () => {
  const rows: readonly (readonly [
    what: string,
    change: TrustChange,
    changes: readonly (readonly [string, string])[],
  ])[] = [
    [
      "a person, at the end of the people",
      { ...add, name: "carol", keys: [carol] },
      [
        [
          '    forge: {human: false, forge: {github: "19864447"}}\n',
          `    forge: {human: false, forge: {github: "19864447"}}\n    carol:\n      human: true\n      keys:\n        - ${carol}\n`,
        ],
      ],
    ],
    [
      "a machine with an account",
      { ...add, name: "robot", isMachine: true, github: "12" },
      [
        [
          '    forge: {human: false, forge: {github: "19864447"}}\n',
          '    forge: {human: false, forge: {github: "19864447"}}\n    robot:\n      human: false\n      forge:\n        github: "12"\n',
        ],
      ],
    ],
    [
      "another key in a block, and in brackets",
      { ...add, name: "ada", keys: [ada, carol] },
      [[` # laptop\n`, ` # laptop\n      - ${carol}\n`]],
    ],
    [
      "a root and approver who is there",
      { ...add, name: "ada", asRoot: true, asApprover: true },
      [
        ["      - bob\n", "      - bob\n      - ada\n"],
        ["principals: [bob]", "principals: [bob, ada]"],
      ],
    ],
    ["one more root in brackets", { ...add, name: "bob", asRoot: true }, [["[ada] #", "[ada, bob] #"]]],
    ["another account", { ...add, name: "bob", github: "18" }, [['"17"', '"18"']]],
    [
      "an account where there was none",
      { ...add, name: "ada", github: "18" },
      [[" # laptop\n", ' # laptop\n      forge:\n        github: "18"\n']],
    ],
    [
      "a key for another",
      { kind: "rotate", name: "ada", keys: [carol], openpgp: [], old: null, as: "retired" },
      [
        [`      - ${ada} # laptop\n`, `      - ${carol}\n`],
        [end, `${end}  revocations:\n    - key: ${fingerprint(ada)}\n      kind: retired\n`],
      ],
    ],
    [
      "a revocation by name",
      { kind: "revoke", what: "bob", as: "compromised" },
      [[end, `${end}  revocations:\n    - key: ${fingerprint(bob)}\n      kind: compromised\n`]],
    ],
  ];
  test.each(rows)("%s", (_, change, changes) => {
    const before = trustOf(text);
    const made = trustEdits(before, change);
    const next = made.kind === "edits" ? nextTrustText(text, before, made.edits, null) : null;
    expect(next).toBe(expected(...changes));
    expect(trustOf(next ?? "")).toMatchObject({ version: 8, previous: before.digest });
  });

  test("the second names the first right behind its own number", () => {
    const wish = { name: "ada", keys: [ada], openpgp: [], approves: [], expires: 1_800_000_000_000 as Instant };
    const first = firstTrustText(wish);
    const next = nextTrustText(first, trustOf(first), [], 1_810_000_000_000 as Instant);
    expect(next).toBe(
      first
        .replace("  version: 1\n", `  version: 2\n  previous: "${digestOfText(first)}"\n`)
        .replace("2027-01-15T08:00:00Z", "2027-05-11T01:46:40Z"),
    );
  });

  test("a key that is retired can become compromised, and not the other way round", () => {
    const retired = `${text}  revocations: [{key: "${fingerprint(bob)}", kind: retired}]\n`;
    const of = (as: "retired" | "compromised") =>
      trustEdits(trustOf(retired), { kind: "revoke", what: fingerprint(bob), as });
    expect(of("retired")).toEqual({ kind: "edits", edits: [] });
    const made = of("compromised");
    const next = made.kind === "edits" ? nextTrustText(retired, trustOf(retired), made.edits, null) : null;
    expect(next).toContain(`[{key: "${fingerprint(bob)}", kind: compromised}]\n`);
  });
});

describe("what cannot be done is said, with what to do", () => {
  const rotate = { kind: "rotate", name: "ada", keys: [carol], openpgp: [], old: null, as: "retired" } as const;
  const rows: readonly (readonly [what: string, change: TrustChange, message: RegExp, fix: RegExp])[] = [
    ["a person as a machine", { ...add, name: "ada", isMachine: true }, /ada is a person/, /--machine/],
    ["somebody without a key", { ...add, name: "carol" }, /nothing to sign with/, /--key/],
    ["a key of nobody", { ...rotate, name: "eve" }, /eve is not in the trust file/, /ada, bob, forge/],
    ["another's key", { ...rotate, old: fingerprint(bob) }, /is not a key of ada/, /theirs are SHA256:/],
    ["the same key again", { ...rotate, keys: [ada] }, /already has the new key/, /trust revoke SHA256:/],
    ["one without keys", { kind: "revoke", what: "forge", as: "retired" }, /no key of their own/, /by hand/],
    ["neither key nor name", { kind: "revoke", what: "SHA256:x", as: "retired" }, /neither a full fingerprint/, /ada/],
  ];
  test.each(rows)("%s", (_, change, message, fix) => {
    expect(trustEdits(trustOf(text), change)).toEqual({
      kind: "declined",
      message: expect.stringMatching(message),
      fix: expect.stringMatching(fix),
    });
  });

  test("a version that revokes the last root's key can be signed by nobody (T-09)", () => {
    const before = trustOf(text);
    const made = trustEdits(before, { kind: "revoke", what: "ada", as: "retired" });
    const next = trustOf((made.kind === "edits" && nextTrustText(text, before, made.edits, null)) || "");
    expect(unsignable(before, next)).toBe("1 root of version 7 must sign this, and it leaves only 0 with a valid key");
    expect(unsignable(before, before)).toBeNull();
  });
});

test("what a version changes is told line by line", () => {
  const before = trustOf(text);
  const change: TrustChange = { kind: "rotate", name: "ada", keys: [carol], openpgp: [], old: null, as: "compromised" };
  const made = trustEdits(before, change);
  const after = trustOf((made.kind === "edits" && nextTrustText(text, before, made.edits, null)) || "");
  expect(trustDifference(before, after)).toEqual([
    `- ada: ssh ${fingerprint(ada)}`,
    `+ ada: ssh ${fingerprint(carol)}`,
    `+ revoked: ${fingerprint(ada)}, compromised`,
  ]);
  expect(trustDifference(before, before)).toEqual(["only its text"]);
});

test("several lines of text stand as they are, in a block", () => {
  const openpgp = ["-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxjME\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----"];
  const first = firstTrustText({ name: "ada", keys: [], openpgp, approves: [], expires: 0 as Instant });
  expect(first).toContain(
    "        - |-\n          -----BEGIN PGP PUBLIC KEY BLOCK-----\n\n          xjME\n          =abcd\n          -----END",
  );
});
