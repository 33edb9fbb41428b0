import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../kubernetes/eventually.ts";
import { type GitServer, serveGit } from "../shell/git/http-server.ts";
import { type Stage, setStage } from "./fleet.ts";
import { type Barrier, holdInHook, observeGit } from "./observed-git.ts";
import { flotilla, startFlotilla } from "./program.ts";

/** It ends within 4.5 seconds; on a busy machine it takes longer, and without the push it would never end. */
const patienceMs = 60_000;

describe("reconcile --watch that is told to stop while its push hangs", () => {
  let stage: Stage;
  let server: GitServer;
  beforeAll(async () => {
    stage = await setStage({ availableAfter: "0ms" });
    server = await serveGit({ root: stage.folder });
  });
  afterAll(async () => {
    await server?.close();
    await stage?.stop();
  });

  test.each(["at the server", "in the git program"])(
    "%s ends soon, and whatever becomes of the push, the next run does what is left",
    async (where) => {
      const folder = join(stage.folder, where.replaceAll(" ", "-"));
      await mkdir(folder);
      const git = await observeGit(folder);
      const isRemote = where === "at the server";
      const barrier: Barrier = isRemote ? await holdInHook(stage.hub.repo, folder) : git.barrier;
      await barrier.close();
      const repo = isRemote ? server.url("hub.git") : stage.hub.repo;
      const args = ["--repo", repo, "--kubeconfig", stage.kubeconfig, "--cache", join(folder, "cache")];
      await stage.hub.edit("resources/payments/config.yaml", "SETTLEMENT: ", "SETTLEMENT: very-");
      stage.hub.push("Settle otherwise");
      const run = await startFlotilla(["reconcile", "--watch", ...args], { environment: { PATH: git.path } });
      await eventually("its push hangs", async () => (barrier.isWaiting() ? true : null));
      const told = performance.now();
      run.signal("SIGTERM");
      const { code } = await run.ended;
      const tookMs = performance.now() - told;
      await barrier.open();
      expect(await flotilla(["reconcile", "--wait", "5m", ...args])).toMatchObject({ code: 0, err: "" });
      expect((await flotilla(["reconcile", ...args])).out).toBe("at rest after 1 pass, 0 commits\n");
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(patienceMs);
    },
  );
});
