import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { memberAt } from "../../src/core/model/json.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { type Desk, deskAt, memberNames, type Stage, setStage } from "./fleet.ts";
import { makeHub } from "./hub.ts";
import { lossOf, objectAt, objectsIn } from "./member.ts";

/** What one run leaves, in whatever way it got there: what members hold, what they remember, what is recorded. */
interface Outcome {
  readonly objects: Readonly<Record<string, readonly string[]>>;
  readonly unsettled: readonly string[];
  readonly placements: string;
}

describe("a reconcile that is killed and run again ends like one that was not", () => {
  let stage: Stage;
  let folders = 0;
  beforeAll(async () => {
    stage = await setStage({ availableAfter: "0ms" });
  });
  afterAll(() => stage?.stop());
  afterEach(() => slow(0));

  /** Slow members keep a run in each of its steps for a while. */
  const slow = (latencyMs: number) =>
    Promise.all(memberNames.map((it) => stage.member(it).control({ faults: { latencyMs } })));

  /** The same members, new and empty, and a hub of which nobody has decided anything. */
  const startAgain = async (): Promise<Desk> => {
    await Promise.all(memberNames.map((it) => stage.member(it).control({ reset: true, resetCounters: true })));
    const folder = join(stage.folder, `again-${folders++}`);
    return deskAt(await makeHub(folder), folder, stage.kubeconfig);
  };

  const outcomeOf = async (desk: Desk): Promise<Outcome> => {
    const remembered = await Promise.all(
      memberNames.map((it) =>
        objectAt(stage.member(it), "/api/v1/namespaces/flotilla-system/configmaps/flotilla-inventory-0"),
      ),
    );
    return {
      objects: objectsIn(await stage.contents()),
      unsettled: remembered.flatMap((it, at) =>
        /claimed|failed|lingering/.test(JSON.stringify(memberAt(it, "data"))) ? [memberNames[at] ?? ""] : [],
      ),
      placements: (await desk.run("get", "placements")).out,
    };
  };

  /** Changing requests that members have taken so far, without asking anew. */
  const taken = async (): Promise<number> => {
    const counts = await Promise.all(memberNames.map((it) => stage.member(it).mutationsSoFar()));
    return counts.reduce((sum, it) => sum + it, 0);
  };

  /** Kills a run once so many changing requests have arrived; before any, once its decision is committed. */
  const killAt = async (desk: Desk, requests: number, commits: number): Promise<void> => {
    await slow(40);
    const run = await desk.startReconcile(["--wait", "5m"]);
    let hasEnded = false;
    void run.ended.then(() => {
      hasEnded = true;
    });
    await eventually(`${requests} changing requests`, async () => {
      if (hasEnded) throw new Error(`it ended before that: ${run.out()}${run.err()}`);
      return desk.hub.stateCommits() >= commits && (await taken()) >= requests ? true : null;
    });
    run.signal("SIGKILL");
    expect(await run.ended).toMatchObject({ code: null });
    await slow(0);
  };

  const settle = async (desk: Desk): Promise<Outcome> => {
    expect(await desk.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    return outcomeOf(desk);
  };

  let want: Outcome;
  test("not killed at all", async () => {
    const desk = await startAgain();
    want = await settle(desk);
    expect(want.unsettled).toEqual([]);
    expect(want.placements.match(/ Available$/gm)).toHaveLength(5);
    await stage.mutations();
    expect((await desk.reconcile()).out).toBe("at rest after 1 pass, 0 commits\n");
    expect(await stage.mutations()).toBe(0);
  });

  test.each([0, 20, 110])("killed after %i changing requests", async (requests) => {
    const desk = await startAgain();
    await killAt(desk, requests, 1);
    expect(await settle(desk)).toEqual(want);
  });

  test("two at once", async () => {
    const desk = await startAgain();
    await slow(5);
    const runs = await Promise.all([1, 2].map(async () => (await desk.startReconcile(["--wait", "5m"])).ended));
    expect(runs.map(({ code, err }) => ({ code, err }))).toEqual([1, 2].map(() => ({ code: 0, err: "" })));
    await slow(0);
    expect(await settle(desk)).toEqual(want);
  });

  test("killed in the midst of the removal of a placement", async () => {
    const desk = await startAgain();
    await settle(desk);
    for (const requests of [0, 6]) {
      const before = await stage.contents();
      const held = await stage.contents("payments");
      await stage.mutations();
      await desk.hub.remove("placements/payments.yaml");
      desk.hub.push("Payments go");
      await killAt(desk, requests, desk.hub.stateCommits() + 1);
      expect((await settle(desk)).unsettled).toEqual([]);
      expect(await stage.differences(before)).toEqual(lossOf(held));
      desk.hub.revert();
      expect(await settle(desk)).toEqual(want);
    }
  });
});
