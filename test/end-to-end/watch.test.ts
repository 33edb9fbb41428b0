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
  /** Somebody pushes a change. */
  const push = async (to: string): Promise<void> => {
    await stage.hub.edit("resources/payments/config.yaml", `SETTLEMENT: ${settlement}`, `SETTLEMENT: ${to}`);
    settlement = to;
    stage.hub.push(`Settle ${to}`);
  };
  /** How long it takes a member to settle as it was pushed last. */
  const settles = async (name: string, limitMs = 20_000): Promise<number> => {
    const since = Date.now();
    const has = async () =>
      memberAt(await objectAt(stage.member(name), settings), "data", "SETTLEMENT") === settlement ? true : null;
    await eventually(`${name} settles ${settlement}`, has, limitMs);
    return Date.now() - since;
  };
  const pushAndWait = async (to: string): Promise<number> => {
    await push(to);
    const took = await settles("prod-eu-1");
    await settles("prod-us-1");
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
    await stage.member("prod-us-1").control({ faults: { hang: true } });
    await stage.hub.edit("resources/payments/config.yaml", `SETTLEMENT: ${settlement}`, "SETTLEMENT: late");
    settlement = "late";
    stage.hub.push("Settle late");
    await eventually("it has looked", async () => (/stuck: prod-us-1/.test(run.out()) ? true : null), 20_000);
    run.signal("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
    await stage.member("prod-us-1").control({ faults: { hang: false } });
  }, 60_000);

  test("reaches the others within two seconds while a member hangs, and that one once it answers again", async () => {
    const run = await stage.startReconcile(["--watch", "--poll", "10m", "--resync", "5s", "--deadline", "5s"]);
    await atRest(run);
    await stage.member("prod-us-1").control({ faults: { hang: true } });
    for (const to of ["first", "second"]) {
      await push(to);
      expect(await settles("prod-eu-1")).toBeLessThan(2000);
    }
    await eventually("it is said", async () => (/stuck: prod-us-1/.test(run.out()) ? true : null), 20_000);
    await push("third");
    expect(await settles("prod-eu-1")).toBeLessThan(2000);
    await stage.member("prod-us-1").control({ faults: { hang: false } });
    await settles("prod-us-1");
    run.signal("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
  }, 60_000);

  test("repairs within two seconds what somebody changed on a member, and writes and commits nothing else", async () => {
    const run = await stage.startReconcile(patient);
    await atRest(run);
    // That a member answers again is news, which is committed once.
    await eventually("it is recorded that everybody answers", async () =>
      stage.hub.stateFile("clusters/prod-us-1.yaml")?.includes("flotilla.dev/trouble") ? null : true,
    );
    await stage.mutations();
    const commits = stage.hub.stateCommits();
    const path = "/api/v1/namespaces/platform/configmaps/certificates";
    for (const name of ["prod-eu-1", "prod-us-1"]) {
      const member = stage.member(name);
      const wanted = memberAt(await objectAt(member, path), "data", "RENEW_BEFORE");
      const changed = Date.now();
      await member.request("PATCH", path, { data: { RENEW_BEFORE: "1h" } }, "application/merge-patch+json");
      await eventually("it is repaired", async () =>
        memberAt(await objectAt(member, path), "data", "RENEW_BEFORE") === wanted ? true : null,
      );
      expect(Date.now() - changed).toBeLessThan(2000);
    }
    run.signal("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
    // On each: the edit, the claim, the repair, the result.
    expect(await stage.mutations()).toBe(8);
    expect(stage.hub.stateCommits()).toBe(commits);
  }, 60_000);

  test("ends within five seconds of being told to while its repository hangs", async () => {
    const server = await serveGit({ root: stage.folder });
    const cache = ["--cache", `${stage.folder}/cache-of-hanging`];
    const args = ["reconcile", "--repo", server.url("hub.git"), "--kubeconfig", stage.kubeconfig, "--watch"];
    const run = await startFlotilla([...args, "--poll", "200ms", ...cache]);
    try {
      await atRest(run);
      server.failNext("/hub.git/", "silence");
      const asked = server.requests.length;
      await eventually("it fetches", async () => (server.requests.length > asked ? true : null), 10_000);
      const told = Date.now();
      run.signal("SIGTERM");
      expect(await run.ended).toMatchObject({ code: 0, err: "" });
      expect(Date.now() - told).toBeLessThan(5_500);
    } finally {
      await server.close();
    }
  }, 60_000);
});
