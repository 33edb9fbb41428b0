import { describe, expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { RunKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { describeChanges } from "../../../src/core/report/commit-message.ts";
import { currentProblems } from "../../../src/core/report/current-problems.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { observe } from "../../../src/shell/reconcile/observe.ts";
import type { Ports } from "../../../src/shell/reconcile/ports.ts";
import { type WhatIfResult, whatIf } from "../../../src/shell/reconcile/what-if.ts";
import { type EditedFleet, editedFleet } from "./edited-fleet.ts";
import { hubRepository, listingRepository } from "./hub-repository.ts";

const record = { members: "record", patience: "none", acceptRewrite: null, trustAnchor: null } as const;

/** Everything of a plan that is ever shown. */
const shown = ({ world, plan: decided, problems }: WhatIfResult) => ({
  refusal: decided.refusal,
  decides: decided.decides,
  changes: describeChanges(world.ledger, decided.ledger),
  reasons: decided.reasons,
  problems,
  faults: check(decided, world),
});

/** What the whole state says. */
async function inFull(ports: Ports): Promise<WhatIfResult> {
  const { world, reasons } = await observe(ports, record, newMemory());
  const decided = plan(world);
  const problems = currentProblems(world.intent, world.ledger);
  return { world, plan: { ...decided, reasons: [...reasons, ...decided.reasons] }, faults: [], problems };
}

const isPart = ({ world }: WhatIfResult, whole: WhatIfResult): boolean =>
  world.ledger.placements.size < whole.world.ledger.placements.size;

/** Edits, passes and troubles by turns; after each edit somebody asks, before the reconciler sees it. */
async function live(fleet: EditedFleet, ask: (what: string) => Promise<void>): Promise<void> {
  const { random, members } = fleet;
  const passes = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) await fleet.pass();
  };
  fleet.push();
  await passes(random.below(8));
  for (let at = 0; at < 10; at++) {
    const member = random.pick([...members.values()]);
    if (random.below(12) === 0) member.silence = { code: "Unreachable", message: "no answer" };
    else if (random.below(2) === 0) for (const it of members.values()) it.silence = null;
    await passes(random.below(6));
    const what = fleet.edit();
    fleet.push();
    await ask(what);
  }
}

test("a plan that reads a part of the state says what one that reads all of it says", async () => {
  let parts = 0;
  let all = 0;
  for (let seed = 1; seed <= 8; seed++) {
    const fleet = editedFleet(seed);
    await live(fleet, async (what) => {
      const [part, whole] = [await whatIf(fleet.ports, record), await inFull(fleet.ports)];
      expect({ seed, what, ...shown(part) }).toEqual({ seed, what, ...shown(whole) });
      all++;
      if (isPart(part, whole)) parts++;
    });
  }
  // Where it always read everything, this would prove nothing. Most placements here share objects with others, and those
  // are read along.
  expect(parts).toBeGreaterThan(all / 12);
}, 120_000);

describe("the edit of one policy in a fleet at rest", () => {
  const begin = async (): Promise<EditedFleet> => {
    const fleet = editedFleet(3);
    const { files, members } = fleet;
    for (const it of members.values()) it.fresh = { phase: "available" };
    const change = (app: string, pattern: RegExp, instead: string): void => {
      const path = `placements/${app}.yaml`;
      files.set(path, (files.get(path) ?? "").replace(pattern, instead));
    };
    // Each its own objects: two that want the same one never come to rest.
    for (const it of ["red", "green", "blue", "grey", "pink"]) change(it, /labelSelector: .*?\}\}/, `name: ${it}`);
    fleet.push();
    for (let at = 0; at < 6; at++) await fleet.pass();
    change("green", /(?<=numberOfClusters: )\d/, "2");
    fleet.push();
    return fleet;
  };

  test("reads the record of its placement and of no other", async () => {
    const { hub, ports } = await begin();
    const repository = hubRepository(hub);
    const { world } = await whatIf({ ...ports, repository }, record);
    expect([...world.ledger.placements.keys()]).toEqual(["green"]);
    const tree = hub.treeAt(hub.state);
    const records = [...tree].filter(([, blob]) => repository.read.includes(blob)).map(([path]) => path);
    // Below files/ stand source files, which are read for the intent.
    const folders = records
      .filter((it) => it.startsWith("placements/") && !it.includes("/files/"))
      .map((it) => it.split("/")[1]);
    expect([...new Set(folders)]).toEqual(["green"]);
  });

  test("reads everything where the repository can only be listed, and says the same", async () => {
    const { hub, ports } = await begin();
    const part = await whatIf(ports, record);
    const whole = await whatIf({ ...ports, repository: listingRepository(hub) }, record);
    expect([...whole.world.ledger.placements.keys()]).toEqual(["blue", "green", "grey", "pink", "red"]);
    expect(shown(part)).toEqual(shown(whole));
  });

  test("says nothing of the answer to a run that is over", async () => {
    const fleet = await begin();
    const { files, hub, ports } = fleet;
    const at = (await inFull(ports)).world.ledger.placements.size;
    files.set("fleet.yaml", unsignedFleet);
    files.set("placements/jade.yaml", stagedPlacement);
    files.set("apps/jade/space.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: jade}\n");
    files.set("staged.yaml", stagedRun);
    fleet.push();
    for (let count = 0; count < 3; count++) await fleet.pass();
    const asked =
      (await inFull(ports)).world.ledger.runs.get("jade-1" as RunKey)?.stages[0]?.before.Approval?.digest ?? "";
    files.set("approvals/yes.yaml", answerText(asked));
    fleet.push();
    for (let count = 0; count < 6; count++) await fleet.pass();
    files.set("apps/green/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: green}\n");
    fleet.push();
    const [part, whole] = [await whatIf({ ...ports, repository: hubRepository(hub) }, record), await inFull(ports)];
    expect(whole.world.ledger.placements.size).toBe(at + 1);
    expect(whole.world.ledger.runs.get("jade-1" as RunKey)?.end?.kind).toBe("succeeded");
    expect(isPart(part, whole)).toBe(true);
    expect(shown(part)).toEqual(shown(whole));
    expect(shown(part).reasons).not.toContainEqual(expect.objectContaining({ kind: "answerDenied" }));
  });
});

const unsignedFleet = `apiVersion: flotilla.dev/v1alpha1
kind: Fleet
metadata: {name: fleet}
spec: {approvals: {unsigned: allow}}
`;

const stagedPlacement = `apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: jade}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: jade}]
  policy: {placementType: PickFixed, clusterNames: [a-1]}
  strategy: {type: External}
`;

const stagedRun = `apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateStrategy
metadata: {name: gated}
spec:
  stages: [{name: all, labelSelector: {matchLabels: {}}, beforeStageTasks: [{type: Approval}]}]
---
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterStagedUpdateRun
metadata: {name: jade-1}
spec: {placementName: jade, stagedRolloutStrategyName: gated, state: Run}
`;

const answerText = (digest: string): string => `apiVersion: flotilla.dev/v1alpha1
kind: Approval
metadata: {name: granted}
spec: {requestDigest: "${digest}", decision: Approve, principal: ann}
`;
