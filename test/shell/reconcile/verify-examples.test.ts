// The examples, brought to real members and edited: what the reconciler wrote down on the way holds when it is judged again.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Instant, seconds } from "../../../src/core/model/value.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { pass } from "../../../src/shell/reconcile/pass.ts";
import { auditState } from "../../../src/shell/reconcile/verify/verify.ts";
import { once, type Stage, setStage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.close());

test("everything that was written down on the way to rest, and after edits, follows from what was there", async () => {
  const ports = await stage.reconciler();
  const memory = newMemory();
  const settle = async (): Promise<void> => {
    for (let at = 0; at < 25; at++) {
      const result = await pass(ports, once, memory, true);
      if (result.kind !== "passed") throw new Error(JSON.stringify(result));
      stage.now = (stage.now + seconds(30)) as Instant;
      if (result.committed === null && result.receipts.length === 0) return;
    }
  };
  await settle();
  const { hub } = stage;
  const edits: readonly (() => Promise<void>)[] = [
    () => hub.write("resources/extra.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n"),
    () => hub.write("placements/broken.yaml", "kind: [\n"),
    () => hub.remove("placements/broken.yaml"),
    () => hub.remove("placements"),
    () => hub.restore(),
  ];
  for (const edit of edits) {
    await edit();
    hub.push("edit");
    await settle();
  }
  const audit = await auditState(ports, { full: true, anchor: null });
  expect(audit.faults).toEqual([]);
  expect(audit.commits).toBeGreaterThan(5);
  expect(audit.looked.rendered).toBeGreaterThan(3);
});
