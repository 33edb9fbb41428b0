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
  /** A member settles as it was pushed last. */
  const settles = async (name: string): Promise<void> => {
    const has = async () =>
      memberAt(await objectAt(stage.member(name), settings), "data", "SETTLEMENT") === settlement ? true : null;
    await eventually(`${name} settles ${settlement}`, has);
  };
  const pushAndWait = async (to: string): Promise<void> => {
    await push(to);
    await settles("prod-eu-1");
    await settles("prod-us-1");
  };

  /** It has looked, and has nothing left to do. */
  const atRest = (run: Running) =>
    eventually("it is at rest", async () => (run.out().endsWith("at rest\n") ? true : null));

  // Polling and resync are further away than the end of any test: only the watcher can be what wakes it.
  const patient = ["--watch", "--poll", "1h", "--resync", "1h"];

  test("acts at once on a push to a local repository, also after git gc, and ends cleanly", async () => {
    const run = await stage.startReconcile(patient);
    await atRest(run);
    for (const to of ["weekly", "monthly"]) await pushAndWait(to);
    gitIn(stage.hub.repo, ["gc", "--quiet", "--prune=now"]);
    for (const to of ["yearly", "never"]) await pushAndWait(to);
    run.signal("SIGTERM");
    const { code, out, err } = await run.ended;
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("payments moves to resource snapshot 4 on prod-eu-1, prod-us-1\n");
  });

  test("says what is wrong in a file, and goes on with the next commit", async () => {
    const run = await stage.startReconcile(patient);
    await atRest(run);
    const good = await stage.hub.read("placements/payments.yaml");
    await stage.hub.edit("placements/payments.yaml", "placementType", "placementTyp");
    stage.hub.push("A mistake");
    await eventually("it is said", async () => (run.err().includes("FLT1301") ? true : null));
    expect(run.err()).toMatch(/^placements\/payments\.yaml:13:5: error FLT1301: .*\n$/);
    await stage.hub.write("placements/payments.yaml", good);
    await pushAndWait("again");
    run.signal("SIGINT");
    expect((await run.ended).code).toBe(0);
  });

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
      await eventually("it says so", async () => (run.err().includes("trying again in ") ? true : null));
      expect(run.err()).toMatch(/^error: \S.*127\.0\.0\.1.*; trying again in 1 s\n/);
      await pushAndWait("afterwards");
      run.signal("SIGTERM");
      expect((await run.ended).code).toBe(0);
    } finally {
      await server.close();
    }
  });

  test("is told to stop while a member hangs, and stops", async () => {
    const run = await stage.startReconcile([...patient, "--deadline", "500ms"]);
    await atRest(run);
    await stage.member("prod-us-1").control({ faults: { hang: true } });
    await stage.hub.edit("resources/payments/config.yaml", `SETTLEMENT: ${settlement}`, "SETTLEMENT: late");
    settlement = "late";
    stage.hub.push("Settle late");
    await eventually("it has looked", async () => (/stuck: prod-us-1/.test(run.out()) ? true : null));
    run.signal("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
    await stage.member("prod-us-1").control({ faults: { hang: false } });
  });

  test("reaches the others while a member hangs, before that is given up, and that one once it answers again", async () => {
    const run = await stage.startReconcile(["--watch", "--poll", "1h", "--resync", "5s", "--deadline", "5s"]);
    const isGivenUp = () => /stuck: prod-us-1/.test(run.out());
    await atRest(run);
    await stage.member("prod-us-1").control({ faults: { hang: true } });
    for (const to of ["first", "second"]) {
      await push(to);
      await settles("prod-eu-1");
    }
    expect(isGivenUp()).toBe(false);
    await eventually("it is said", async () => (isGivenUp() ? true : null));
    await push("third");
    await settles("prod-eu-1");
    await stage.member("prod-us-1").control({ faults: { hang: false } });
    await settles("prod-us-1");
    run.signal("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
  });

  test("repairs at once what somebody changed on a member, and writes and commits nothing else", async () => {
    // What members have come to since the process before was told to stop is news, and recorded first.
    expect((await stage.reconcile("--wait", "5m")).code).toBe(0);
    const run = await stage.startReconcile(patient);
    await atRest(run);
    await stage.mutations();
    const commits = stage.hub.stateCommits();
    const path = "/api/v1/namespaces/platform/configmaps/certificates";
    for (const name of ["prod-eu-1", "prod-us-1"]) {
      const member = stage.member(name);
      const wanted = memberAt(await objectAt(member, path), "data", "RENEW_BEFORE");
      await member.request("PATCH", path, { data: { RENEW_BEFORE: "1h" } }, "application/merge-patch+json");
      await eventually("it is repaired", async () =>
        memberAt(await objectAt(member, path), "data", "RENEW_BEFORE") === wanted ? true : null,
      );
    }
    run.signal("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
    // On each: the edit, the claim, the repair, the result.
    expect(await stage.mutations()).toBe(8);
    expect(stage.hub.stateLog(stage.hub.stateCommits() - commits)).toBe("");
  });

  test("ends soon after it was told to while its repository hangs", async () => {
    const server = await serveGit({ root: stage.folder });
    const cache = ["--cache", `${stage.folder}/cache-of-hanging`];
    const args = ["reconcile", "--repo", server.url("hub.git"), "--kubeconfig", stage.kubeconfig, "--watch"];
    const run = await startFlotilla([...args, "--poll", "200ms", ...cache]);
    try {
      await atRest(run);
      server.failNext("/hub.git/", "silence");
      const asked = server.requests.length;
      await eventually("it fetches", async () => (server.requests.length > asked ? true : null));
      run.signal("SIGTERM");
      expect(await run.ended).toMatchObject({ code: 0, err: "" });
    } finally {
      await server.close();
    }
  });
});
