import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memberAt } from "../../src/core/model/json.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { serveGit } from "../shell/git/http-server.ts";
import { gitIn } from "../shell/git/hub.ts";
import { type Stage, setPlacedStage } from "./fleet.ts";
import { objectAt } from "./member.ts";
import { type Running, startFlotilla } from "./program.ts";

const settings = "/api/v1/namespaces/payments/configmaps/ledger";

describe("reconcile --watch", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setPlacedStage();
  });
  afterAll(() => stage?.stop());

  let settlement = "daily";
  /** Somebody pushes a change, and it is measured how long the members take to have it. */
  const pushAndWait = async (to: string, limitMs = 20_000): Promise<number> => {
    await stage.hub.edit("resources/payments/config.yaml", `SETTLEMENT: ${settlement}`, `SETTLEMENT: ${to}`);
    settlement = to;
    stage.hub.push(`Settle ${to}`);
    const pushed = Date.now();
    const has = async (name: string) =>
      memberAt(await objectAt(stage.member(name), settings), "data", "SETTLEMENT") === to;
    await eventually(`the first member settles ${to}`, async () => ((await has("prod-eu-1")) ? true : null), limitMs);
    const took = Date.now() - pushed;
    await eventually(`all settle ${to}`, async () => ((await has("prod-us-1")) ? true : null), limitMs);
    return took;
  };

  /** It has looked, and has nothing left to do. */
  const atRest = (run: Running) =>
    eventually("it is at rest", async () => (run.out().endsWith("at rest\n") ? true : null), 20_000);

  // Polling and resync are far away: only the watcher can be what wakes it.
  const patient = ["--watch", "--poll", "10m", "--resync", "10m"];

  test("acts within two seconds of a push to a local repository, also after git gc, and ends cleanly", async () => {
    const run = await stage.startReconcile(patient);
    await atRest(run);
    for (const to of ["weekly", "monthly"]) expect(await pushAndWait(to)).toBeLessThan(2000);
    gitIn(stage.hub.repo, ["gc", "--quiet", "--prune=now"]);
    for (const to of ["yearly", "never"]) expect(await pushAndWait(to)).toBeLessThan(2000);
    run.signal("SIGTERM");
    const { code, out, err } = await run.ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("payments moves to resource snapshot 4 on prod-eu-1, prod-us-1\n");
  }, 60_000);

  test("says what is wrong in a file, and goes on with the next commit", async () => {
    const run = await stage.startReconcile(patient);
    await atRest(run);
    const good = await stage.hub.read("placements/payments.yaml");
    await stage.hub.edit("placements/payments.yaml", "placementType", "placementTyp");
    stage.hub.push("A mistake");
    await eventually("it is said", async () => (run.err().includes("FLT1301") ? true : null), 10_000);
    expect(run.err()).toMatch(/^placements\/payments\.yaml:13:5: error FLT1301: .*\n$/);
    await stage.hub.write("placements/payments.yaml", good);
    expect(await pushAndWait("again")).toBeLessThan(2000);
    run.signal("SIGINT");
    expect((await run.ended).code).toBe(0);
  }, 60_000);

  test("tries again when the remote goes away, and goes on when it is back", async () => {
    const server = await serveGit({ root: stage.folder });
    const cache = ["--cache", `${stage.folder}/cache`];
    const often = ["--watch", "--poll", "200ms", ...cache];
    const args = ["reconcile", "--repo", server.url("hub.git"), "--kubeconfig", stage.kubeconfig, ...often];
    const run = await startFlotilla(args);
    try {
      await atRest(run);
      await pushAndWait("remotely");
      for (let requests = 0; requests < 3; requests++) server.failNext("/hub.git/", "drop");
      await eventually("it says so", async () => (run.err().includes("trying again in ") ? true : null), 20_000);
      expect(run.err()).toMatch(/^error: \S.*127\.0\.0\.1.*; trying again in 1 s\n/);
      await pushAndWait("afterwards");
      run.signal("SIGTERM");
      expect((await run.ended).code).toBe(0);
    } finally {
      await server.close();
    }
  }, 60_000);

  test("is told to stop while a member hangs, and stops", async () => {
    const run = await stage.startReconcile([...patient, "--deadline", "500ms"]);
    await atRest(run);
    await stage.member("prod-us-1").control({ trouble: { hang: true } });
    await stage.hub.edit("resources/payments/config.yaml", `SETTLEMENT: ${settlement}`, "SETTLEMENT: late");
    settlement = "late";
    stage.hub.push("Settle late");
    await eventually("it has looked", async () => (/stuck: prod-us-1/.test(run.out()) ? true : null), 20_000);
    run.signal("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
  }, 60_000);
});
