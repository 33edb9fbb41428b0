import { expect, test } from "vitest";
import type { HeldDeletion } from "../../../src/core/model/deletion.ts";
import { emptyLedger } from "../../../src/core/model/ledger.ts";
import { objectIdOf } from "../../../src/core/model/manifest.ts";
import type { ClusterName, Commit, Digest, PlacementKey } from "../../../src/core/model/value.ts";
import { deletionHeading, deletionItems, deletionLines, deletionRows } from "../../../src/core/report/deletion-text.ts";
import { keyOf } from "../../intent.ts";

const web = "web" as PlacementKey;
const [m1, m2] = ["m1" as ClusterName, "m2" as ClusterName];
const space = objectIdOf(keyOf("Namespace", "shop"));
const digest = "d".repeat(64) as Digest;
const other = { ...objectIdOf(keyOf("Secret", "shop/theirs")), uid: "u-1" };
const set: HeldDeletion = {
  cause: "c".repeat(40) as Commit,
  because: "foreign",
  digest,
  confirmed: false,
  groups: [{ placement: web, clusters: [m1, m2], objects: [space] }],
  others: [{ placement: web, cluster: m2, id: space, objects: [other] }],
};

test("a set says how much goes, from where, why it waits, and what of others goes along", () => {
  expect(deletionHeading(set)).toBe(
    "2 deletions on 2 clusters of web: they hold objects of others, which would be deleted too",
  );
  expect(deletionLines(set, "all")).toEqual([
    "web on m1, m2:",
    "  Namespace shop",
    "    and, of others, on m2: Secret shop/theirs (uid u-1)",
  ]);
});

test("beside other things, a long list is cut, and says where the rest stands", () => {
  const objects = Array.from({ length: 50 }, (_, at) => objectIdOf(keyOf("ConfigMap", `shop/c-${at}`)));
  const long = { ...set, others: [], groups: [{ placement: web, clusters: [m1], objects }] };
  expect(deletionLines(long, "all")).toHaveLength(51);
  const short = deletionLines(long, "short");
  expect(short).toHaveLength(41);
  expect(short.at(-1)).toBe(`and 11 more lines: flotilla confirm ${digest} --dry-run`);
});

test("as a table and for programs, one or all", () => {
  const ledger = {
    ...emptyLedger.deletions,
    held: [set, { ...set, digest: "e".repeat(64) as Digest, confirmed: true }],
  };
  expect(deletionRows(ledger, null)[1].map((it) => it.slice(1))).toEqual([
    ["Waiting", "HoldsOthersObjects", "2", "2", "web"],
    ["Confirmed", "HoldsOthersObjects", "2", "2", "web"],
  ]);
  expect(deletionRows(ledger, digest)[1]).toHaveLength(1);
  expect(deletionItems(ledger, digest)).toEqual([
    {
      apiVersion: "flotilla.dev/v1alpha1",
      kind: "Deletion",
      metadata: { name: digest },
      spec: { because: "foreign", sourceCommit: set.cause, groups: set.groups, others: set.others },
      status: { confirmed: false },
    },
  ]);
});
