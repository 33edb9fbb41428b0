import { describe, expect, test } from "vitest";
import { selectDeletion } from "../../src/cmd/commands/approvals/request-selection.ts";
import type { HeldDeletion } from "../../src/core/model/deletion.ts";
import { emptyLedger } from "../../src/core/model/ledger.ts";
import type { ClusterName, Commit, Digest, PlacementKey } from "../../src/core/model/value.ts";

const digest = (letter: string): Digest => letter.repeat(64) as Digest;
const commit = "c".repeat(40) as Commit;
const set = (letter: string, confirmed = false): HeldDeletion => ({
  cause: commit,
  because: "bounds",
  digest: digest(letter),
  confirmed,
  groups: [],
  others: [],
});
const judged = (letter: string, outcome: "used" | "void") =>
  [digest(letter), { digest: digest(letter), outcome, commit, basis: null }] as const;

/** What somebody means, in a few words. */
function meant(held: readonly HeldDeletion[], wish: string | null): string {
  const confirmations = new Map([judged("d", "used"), judged("e", "void")]);
  const chosen = selectDeletion({ ...emptyLedger.deletions, held, confirmations }, wish);
  switch (chosen.kind) {
    case "chosen":
      return chosen.set.digest.slice(0, 1);
    case "several":
      return chosen.sets.map((it) => it.digest.slice(0, 1)).join(" or ");
    case "unknown":
      return "unknown";
    case "refused":
      return `${chosen.message}; ${chosen.fix}`.replaceAll(/[0-9a-f]{64}/g, "DIGEST");
  }
}

describe("which deletions somebody confirms", () => {
  test("D 3: none that takes along what others have in a protected place", () => {
    const groups = [{ placement: "web" as PlacementKey, clusters: ["m1" as ClusterName], objects: [] }];
    const along: HeldDeletion = { ...set("a"), because: "protected", groups };
    expect([meant([along], null), meant([along, set("b")], null)]).toEqual(["unknown", "b"]);
    expect(meant([along], "a".repeat(64))).toBe(
      "the deletions of DIGEST take along objects of others in a protected place, which no confirmation covers; " +
        "approve the change instead: flotilla approve --change web",
    );
  });

  test.each([
    ["the only ones that wait need not be named", [set("a"), set("b", true)], null, "a"],
    ["of several, one has to be named", [set("a"), set("b")], null, "a or b"],
    ["by the whole digest", [set("a"), set("b")], "b".repeat(64), "b"],
    ["or its beginning", [set("a"), set("b")], "bbbbbb", "b"],
    ["nothing waits", [], null, "unknown"],
    ["nothing waits under that digest", [set("a")], "b".repeat(64), "unknown"],
    [
      "what is no digest",
      [set("a")],
      "observability",
      "observability is not a digest of deletions; give at least the first six of its 64 hexadecimal digits",
    ],
    [
      "what is confirmed already",
      [set("b", true)],
      "bbbbbb",
      "the deletions of bbbbbb are already confirmed; the rest of them will be deleted",
    ],
    [
      "a confirmation that was used",
      [],
      "dddddd",
      "approvals/deletions/DIGEST.yaml was used: it counts once; flotilla get deletions lists what waits now, under other digests",
    ],
    [
      "one that came too early",
      [],
      "eeeeee",
      "approvals/deletions/DIGEST.yaml was void when it was read: nothing waited for it; remove it; flotilla get deletions lists what waits now",
    ],
  ])("%s", (_, held, wish, want) => {
    expect(meant(held, wish)).toBe(want);
  });
});
