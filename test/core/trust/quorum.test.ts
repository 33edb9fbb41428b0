// What the rules of a trust file come to with the people who are there.
import { describe, expect, test } from "vitest";
import { quorumFindings } from "../../../src/core/trust/quorum.ts";
import { rule, somebody, trust } from "./scene.ts";

const people = (names: readonly string[]) => new Map(names.map((it) => [it, somebody(it)]));
const four = ["ann", "bob", "carol", "dora"];
const bobsKeys = ["SHA256:bob", "SHA256:bob2", "SHA256:ca"].map((key) => ({ key, kind: "retired" as const }));
const machine = new Map([...people(["ann"]), ["bob", somebody("bob", { isHuman: false })]]);
const accounts = new Map([...people(["ann"]), ["bob", somebody("bob", { forgeIds: new Map([["github", "2"]]) })]]);

type Given = Parameters<typeof trust>[0];
const rules = (more: Parameters<typeof rule>[0], rest: Given = {}): Given => ({
  principals: people(four),
  approvals: [rule(more)],
  protectedTargets: [],
  revocations: [],
  ...rest,
});
const found = (given: Given): readonly string[] =>
  quorumFindings(trust(given)).map((it) => `${it.isHopeless ? "warning" : "note"}: ${it.message}`);

describe("a rule says whom it leaves no choice", () => {
  const subject = "placements web, stages prod";
  const starts = "starts the run or changed what it brings";
  test.each<readonly [string, Given, readonly string[]]>([
    [
      "two, one of whom is enough, and nobody approves their own: the other one has to",
      rules({ principals: ["ann", "bob"] }),
      [
        `note: ${subject}: if ann ${starts}, bob has to approve; nobody else may; ` +
          `if bob ${starts}, ann has to approve; nobody else may`,
      ],
    ],
    [
      "three, two of whom it takes: the two others have to",
      rules({ principals: ["ann", "bob", "carol"], minimum: 2 }),
      [
        `note: ${subject}: if ann ${starts}, bob and carol have to approve; nobody else may; ` +
          `if bob ${starts}, ann and carol have to approve; nobody else may; ` +
          `if carol ${starts}, ann and bob have to approve; nobody else may`,
      ],
    ],
    ["three, one of whom is enough: there is a choice", rules({ principals: ["ann", "bob", "carol"] }), []],
    [
      "one alone: what they change, and what nobody signed, nobody may approve",
      rules({ principals: ["ann"] }),
      [`warning: ${subject}: if ann ${starts}, or if nobody signed a part of it, nobody may approve it`],
    ],
    [
      "unsigned changes count as signed: only their own",
      rules({ principals: ["ann"], unsignedChanges: "allow" }),
      [`warning: ${subject}: if ann ${starts}, nobody may approve it`],
    ],
    [
      "two, both of whom it takes",
      rules({ principals: ["ann", "bob"], minimum: 2 }),
      [
        `warning: ${subject}: if ann or bob ${starts}, or if nobody signed a part of it, too few are left who may approve it: it takes 2`,
      ],
    ],
    [
      "one's own changes as well: whoever is named, and no more than that",
      rules({ principals: ["ann", "bob"], minimum: 2, fourEyes: false }),
      [`note: ${subject}: ann and bob have to approve; nobody else may`],
    ],
    ["one's own changes as well, and a choice", rules({ principals: ["ann", "bob"], minimum: 1, fourEyes: false }), []],
    [
      "keys that are revoked answer nothing",
      rules({ principals: ["ann", "bob"], minimum: 2 }, { revocations: bobsKeys }),
      [
        `warning: ${subject}: nothing of it can be approved: it takes 2 of ann, bob, and only ann can answer by commit or detached`,
      ],
    ],
    [
      "a machine never does",
      rules({ principals: ["ann", "bob"] }, { principals: machine }),
      [`warning: ${subject}: if ann ${starts}, or if nobody signed a part of it, nobody may approve it`],
    ],
    [
      "a review takes an account",
      rules({ principals: ["ann", "bob"], accept: ["forge"], fourEyes: false }, { principals: accounts }),
      [`note: ${subject}: bob has to approve; nobody else may`],
    ],
    [
      "nobody at all",
      rules({ principals: ["ann"], accept: ["forge"] }),
      [`warning: ${subject}: nothing of it can be approved: it takes 1 of ann, and none of them can answer by forge`],
    ],
    [
      "a protected target, in its own words",
      rules(
        {},
        {
          approvals: [],
          protectedTargets: [
            {
              clusters: ["prod-*"],
              namespaces: ["pay"],
              principals: ["ann", "bob"],
              minimum: 1,
              accept: ["commit"],
            },
          ],
        },
      ),
      [
        "note: protected clusters prod-*, namespaces pay: if ann makes the change, bob has to approve; nobody else may; " +
          "if bob makes the change, ann has to approve; nobody else may",
      ],
    ],
  ])("%s", (_, given, want) => {
    expect(found(given)).toEqual(want);
  });
});

test("of many people and of many rules, as much is said as anybody reads", () => {
  const names = Array.from({ length: 200 }, (_, at) => `p${String(at).padStart(3, "0")}`);
  const all = { principals: people(names) };
  const [message = ""] = found(rules({ principals: names, minimum: 199 }, all));
  expect(message).toMatch(/if p003 starts [^;]*; nobody else may; and so on for 196 others$/);
  expect(message).toContain("p000, p001, p002, p004, p005, p006, p007, p008 and 191 others have to approve");
  expect(message.length).toBeLessThan(1024);
  const hopeless = found(rules({ principals: names, minimum: 200, unsignedChanges: "deny" }, all));
  expect(hopeless[0]?.length).toBeLessThan(1024);
});
