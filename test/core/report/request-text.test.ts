import { describe, expect, test } from "vitest";
import { known } from "../../../src/core/model/assert.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { Ledger, PlacementRecord, ResourceSnapshot } from "../../../src/core/model/ledger.ts";
import type { OverrideSnapshot } from "../../../src/core/model/override.ts";
import { isApprovalPath } from "../../../src/core/model/trust.ts";
import type { RunRecord } from "../../../src/core/model/update-run.ts";
import type { BlobId, ClusterName, Commit, Digest, Instant, PlacementKey } from "../../../src/core/model/value.ts";
import {
  type ApprovalRequest,
  changeRequestOf,
  gateRequestsOf,
  isGenuine,
} from "../../../src/core/plan/approval/approval-request.ts";
import { changeDigest } from "../../../src/core/plan/approval/request-digest.ts";
import { approvalFileText, newApprovalPath } from "../../../src/core/report/approval-files.ts";
import { approvalContext } from "../../../src/core/report/approval-status.ts";
import { requestLines, ruleLines } from "../../../src/core/report/request-text.ts";
import { approvalRows } from "../../../src/core/report/tables.ts";
import { askingRun, trusting } from "../../cmd/asked-ledger.ts";
import { approval, at, ledgerOf, on, planOf, run, stage, web } from "../../cmd/rollout-ledger.ts";
import { gateOf } from "../../gate.ts";
import { ed25519 } from "../intent/trust/public-keys.ts";
import { target } from "../status/record.ts";

const snapshot = (index: number, objects: Readonly<Record<string, string>>): ResourceSnapshot => ({
  index,
  hash: "9".repeat(64) as Digest,
  commit: `c${index}` as Commit,
  resources: Object.entries(objects).map(([key, letter], document) => {
    const [kind = "", name = ""] = key.split(" ");
    return {
      id: { group: kind === "Deployment" ? "apps" : "", version: "v1", kind, namespace: "shop", name },
      digest: letter.repeat(64) as Digest,
      path: "resources/shop.yaml",
      document,
      blob: "b10b" as BlobId,
    };
  }),
});

const resourceSnapshots = [
  snapshot(2, { "Deployment web": "a", "Secret key": "b", "ConfigMap old": "c" }),
  snapshot(3, { "Deployment web": "d", "Secret key": "b", "ConfigMap new": "e" }),
];
const same: Partial<Binding> = { target: target(2, { digest: "c".repeat(64) as Digest }) };
const placed = web([on("a", 2), on("b", 2), on("c", 1), on("d", 2, same)], { resourceSnapshots });
const clusters = ["b", "a", "c", "d", "new"];
const planned = stage("canary", clusters, { before: [approval], after: [approval] });
const overridden = {
  ...planned,
  clusters: planned.clusters.map((it) => (it.cluster === "a" ? { ...it, clusterOverrides: ["dim-0"] } : it)),
};
const rest = stage("rest", ["z"]);
const of = (when: "before" | "after", placement: PlacementRecord = placed): readonly [ApprovalRequest, Ledger] => {
  const requestedAt = at("09:00:00");
  const authors = { principals: ["ann", "bob"], unknown: 1 };
  const its = askingRun("r", [[overridden, { [when]: { requestedAt, authors } }], [rest]]);
  return [known(gateRequestsOf(its)[0], "it asks"), ledgerOf([placement], [its])];
};

describe("what is approved is shown as it will be", () => {
  test("before a stage: from where each cluster comes, and what that does to its objects; never a value", () => {
    const [ask, ledger] = of("before");
    expect(requestLines(ask, ledger).slice(6)).toEqual([
      "5 clusters, in this order: b, a, c, d, new",
      "resource snapshot 2 to 3: b, a",
      "  changed       apps/v1 Deployment shop/web aaaaaaaaaaaa to dddddddddddd",
      "  created       v1 ConfigMap shop/new eeeeeeeeeeee",
      "  deleted       v1 ConfigMap shop/old",
      "resource snapshot 1 to 3: c",
      "  what they run now is no longer on record: all of it counts as new",
      "  created       apps/v1 Deployment shop/web dddddddddddd",
      "  created       v1 Secret shop/key bbbbbbbbbbbb",
      "  created       v1 ConfigMap shop/new eeeeeeeeeeee",
      "resource snapshot 2 to 3: d (the manifests are the same)",
      "new, to resource snapshot 3: new",
      "  created       apps/v1 Deployment shop/web dddddddddddd",
      "  created       v1 Secret shop/key bbbbbbbbbbbb",
      "  created       v1 ConfigMap shop/new eeeeeeeeeeee",
      "overrides dim-0: a",
      "changed by: ann, bob, 1 change without a signature",
    ]);
  });

  test("before a stage: what another placement has, or is to have, is handed over to it there", () => {
    const [ask] = of("before");
    if (ask.kind !== "gate") throw new Error("it is a gate");
    const next = { ...web([on("b", 2)], { resourceSnapshots: resourceSnapshots.filter((it) => it.index === 2) }) };
    const placement = { ...next, key: "next" as PlacementKey, name: "next" };
    const ledger = ledgerOf([placed, placement], [ask.run]);
    expect(requestLines(ask, ledger).slice(7, 15)).toEqual([
      "resource snapshot 2 to 3: b",
      "  changed       apps/v1 Deployment shop/web aaaaaaaaaaaa to dddddddddddd",
      "  created       v1 ConfigMap shop/new eeeeeeeeeeee",
      "  handed over   v1 ConfigMap shop/old to placement next",
      "resource snapshot 2 to 3: a",
      "  changed       apps/v1 Deployment shop/web aaaaaaaaaaaa to dddddddddddd",
      "  created       v1 ConfigMap shop/new eeeeeeeeeeee",
      "  deleted       v1 ConfigMap shop/old",
    ]);
    const going = ledgerOf(
      [placed, { ...placement, deleting: { since: at("09:00:00"), cause: "c" as Commit } }],
      [ask.run],
    );
    expect(requestLines(ask, going)).not.toContain("  handed over   v1 ConfigMap shop/old to placement next");
  });

  test("before a stage: what a run of another placement brings there is handed over to it, until that run is over", () => {
    const [ask] = of("before");
    if (ask.kind !== "gate") throw new Error("it is a gate");
    // Its newest snapshot has it no more, and the cluster has nothing of it yet.
    const next = { ...web([on("b", 2, { target: null })], { resourceSnapshots }), key: "next" as PlacementKey };
    const bringing = run("back", 8, { plan: planOf(2, []) });
    const isHandedOver = (more: Partial<RunRecord>): boolean => {
      const other = { ...bringing, ...more, spec: { ...bringing.spec, placement: next.key } };
      return requestLines(ask, ledgerOf([placed, next], [ask.run, other])).includes(
        "  handed over   v1 ConfigMap shop/old to placement next",
      );
    };
    expect([
      isHandedOver({}),
      isHandedOver({ plan: planOf(3, []) }),
      isHandedOver({ plan: null }),
      isHandedOver({ end: { kind: "succeeded", at: at("10:00:00") } }),
    ]).toEqual([true, false, false, false]);
  });

  test("before a stage: nobody is told of a hand-over to a placement whose override may delete it", () => {
    const [ask] = of("before");
    if (ask.kind !== "gate") throw new Error("it is a gate");
    const next = { ...placed, key: "next" as PlacementKey, name: "next" };
    const deleting = (kind: string, name: string, of: string | null): OverrideSnapshot => ({
      name: "less-0",
      namespace: null,
      override: "less",
      index: 0,
      spec: {
        placement: of as PlacementKey | null,
        selectors: [{ group: "", version: "v1", kind, name }],
        rules: [{ clusters: [], action: { kind: "Delete" } }],
      },
    });
    const isHandedOver = (override: OverrideSnapshot): boolean =>
      requestLines(ask, { ...ledgerOf([placed, next], [ask.run]), overrides: [override] }).includes(
        "  handed over   v1 ConfigMap shop/old to placement next",
      );
    expect([
      isHandedOver(deleting("ConfigMap", "old", null)),
      isHandedOver(deleting("Namespace", "shop", "next")),
      isHandedOver(deleting("ConfigMap", "old", "web")),
      isHandedOver(deleting("ConfigMap", "other", null)),
    ]).toEqual([false, false, true, true]);
  });

  test("once it has happened, a cluster carries it already", () => {
    const [ask] = of("before");
    if (ask.kind !== "gate") throw new Error("it is a gate");
    const { digest } = ask.stage.clusters[0] ?? { digest: "" as Digest };
    const there = (name: string) => on(name, 3, { target: target(3, { digest }) });
    const ledger = ledgerOf([web(clusters.map(there), { resourceSnapshots })], [ask.run]);
    expect(requestLines(ask, ledger).slice(6, 8)).toEqual([
      "5 clusters, in this order: b, a, c, d, new",
      "resource snapshot 3, which they run already: b, a, c, d, new",
    ]);
  });

  test("after a stage: what comes next", () => {
    expect(requestLines(...of("after")).slice(6, 8)).toEqual([
      "5 clusters, in this order: b, a, c, d, new",
      "what they run stays; after it comes stage rest: z",
    ]);
  });
});

/** A change of `web`, in the shape in which the planner asks for it. */
function changing(): readonly [ApprovalRequest, Ledger] {
  const content = new Map([
    ["a" as ClusterName, "f".repeat(64) as Digest],
    ["b" as ClusterName, null],
  ]);
  const bare = gateOf({ requestedAt: at("09:00:00"), digest: "" as Digest });
  const empty = ledgerOf([placed], []);
  const request = {
    ...bare,
    digest: changeDigest(empty, { record: placed, clusters: content, leaves: new Map(), others: [] }, bare),
  };
  const record = { ...placed, change: { clusters: content, leaves: new Map(), others: [], since: [], request } };
  return [known(changeRequestOf(record), "it asks"), ledgerOf([record], [])];
}

describe("a change of what is protected", () => {
  test("says which clusters change, and which the placement leaves", () => {
    const [ask, ledger] = changing();
    expect(requestLines(ask, ledger).slice(1)).toEqual([
      "placement web: a change to something protected",
      "requested at 2026-11-21T09:00:00Z",
      `digest ${ask.request.digest}`,
      `nonce ${"0".repeat(32)}`,
      "2 clusters: a, b",
      "resource snapshot 2 to 3: a",
      "  changed       apps/v1 Deployment shop/web aaaaaaaaaaaa to dddddddddddd",
      "  created       v1 ConfigMap shop/new eeeeeeeeeeee",
      "  deleted       v1 ConfigMap shop/old",
      "removed, from resource snapshot 2: b",
      "  deleted       apps/v1 Deployment shop/web",
      "  deleted       v1 Secret shop/key",
      "  deleted       v1 ConfigMap shop/old",
      `  a: content ${"f".repeat(64)}`,
      "changed by: nobody on record",
    ]);
  });

  test("is listed among the approvals", () => {
    const [ask, ledger] = changing();
    expect(approvalRows(ledger, null, true)[1]).toEqual([
      [
        ...["web-change", "-", "-", "change", "Waiting", "2026-11-21T09:00:00Z", "-"],
        ask.request.digest,
        "flotilla approve --change web",
      ],
    ]);
  });
});

test("a record that says something else than the digest was made over is not genuine (T-21)", () => {
  const [gate, ledger] = of("before");
  const [change, its] = changing();
  expect([isGenuine(gate, ledger), isGenuine(change, its)]).toEqual([true, true]);
  if (gate.kind !== "gate" || change.kind !== "change") throw new Error("one of each");
  const { plan, run, request } = gate;
  const forged: readonly ApprovalRequest[] = [
    { ...gate, plan: { ...plan, resourceIndex: 2 } },
    { ...gate, plan: { ...plan, stages: plan.stages.slice(0, 1) } },
    { ...gate, run: { ...run, uid: "another" } },
    { ...gate, when: "after" },
    { ...gate, request: { ...request, authors: { principals: ["ann"], unknown: 1 } } },
    { ...gate, request: { ...request, rules: "0".repeat(64) as Digest } },
  ];
  expect(forged.map((it) => isGenuine(it, ledger))).toEqual(forged.map(() => false));
  expect(isGenuine(gate, { ...ledger, fleet: "another" })).toBe(false);
  const clusters = new Map([...change.change.clusters, ["c" as ClusterName, null]]);
  expect(isGenuine({ ...change, change: { ...change.change, clusters } }, its)).toBe(false);
  const object = { group: "", kind: "Namespace", namespace: null, name: "web" };
  const leaves = new Map([["a" as ClusterName, [{ object, fate: "release" } as const]]]);
  expect(isGenuine({ ...change, change: { ...change.change, leaves } }, its)).toBe(false);
});

const trustText = (targets: string): string => `apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: 1
  expires: "2027-10-01T00:00:00Z"
  threshold: 1
  roots: [ann]
  principals:
    ann: {human: true, keys: ["${ed25519(1)}"]}
    bob: {human: true, keys: ["${ed25519(2)}"]}
  approvals:
    - {placements: [web], stages: [canary], principals: [ann]}
  protectedTargets:
    - {${targets}, principals: [bob]}
`;

// The planner knows what overrides drop and the record does not: then one rule more is shown, and never one less.
test.each([
  ["its namespace", "clusters: [a], namespaces: [shop]", "before", 2],
  ["another namespace", "clusters: [a], namespaces: [other]", "before", 1],
  ["another cluster", "clusters: [z], namespaces: [shop]", "before", 1],
  ["nothing changes behind a stage", "clusters: [a], namespaces: [shop]", "after", 1],
] as const)("rules are those of the stage, and of what is protected there: %s", (_, targets, when, rules) => {
  const [ask, ledger] = of(when);
  const outlook = approvalContext(trusting(ledger, trustText(targets)), 0 as Instant);
  const terms = "by commit or detached; four eyes, unsigned changes: one more approval; within 24h";
  const ownRule = `  placements web, stages canary: 1 of ann; ${terms}`;
  const protection = `  protected clusters a, namespaces shop: 1 of bob; ${terms}`;
  expect(ruleLines(ask, outlook).slice(1)).toEqual([ownRule, protection].slice(0, rules));
});

test.each([
  ["ann", [], "approvals/r/canary-before.ann.yaml"],
  ["ann", ["approvals/r/canary-before.ann.yaml"], "approvals/r/canary-before.ann.2.yaml"],
  ["ann@example.com", [], "approvals/r/canary-before.ann@example.com.yaml"],
  ["../../x\u202ey z", [], "approvals/r/canary-before...-..-x-y-z.yaml"],
] as const)("an answer of %s stands in a file of its own", (principal, taken, want) => {
  const [ask] = of("before");
  const path = newApprovalPath(ask, principal, (it) => (taken as readonly string[]).includes(it));
  expect([path, isApprovalPath(path)]).toEqual([want, true]);
});

test.each([
  [null, "web", "approvals/web/change.ann.yaml"],
  ["shop", "web", "approvals/namespaces/shop/web/change.ann.yaml"],
  [null, "deletions", "approvals/runs/deletions/change.ann.yaml"],
] as const)("an answer to a change of %s/%s stands where answers are read", (namespace, name, want) => {
  const [ask] = changing();
  if (ask.kind !== "change") throw new Error("it is a change");
  const key = (namespace === null ? name : `${namespace}/${name}`) as PlacementKey;
  const path = newApprovalPath({ ...ask, record: { ...placed, namespace, name, key } }, "ann", () => false);
  expect([path, isApprovalPath(path)]).toEqual([want, true]);
});

test("an answer without a signature has no field for it", () => {
  const digest = "ab".repeat(32) as Digest;
  const bare = { digest, decision: "Revoke", principal: "ann", comment: "two\nlines", signature: null } as const;
  expect(approvalFileText("r-before-canary", bare)).not.toContain("signature");
});
