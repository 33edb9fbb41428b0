import { mkdirSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Instant } from "../../../src/core/model/value.ts";
import { localGitDir, openRepository } from "../../../src/shell/git/open.ts";
import { watchRepository } from "../../../src/shell/git/watch.ts";
import { type Hub, hubWithSource } from "./hub.ts";

describe.each(["hub.git", "hub"])("watching %s", (name) => {
  let hub: Hub;
  let gitDir: string;
  let changes = 0;
  let wake: () => void = () => {};
  let abort: AbortController;

  beforeEach(async () => {
    hub = hubWithSource(name);
    gitDir = (await localGitDir(`${hub.folder}/${name}`)) ?? "";
    abort = new AbortController();
    changes = 0;
    const onChange = (): void => {
      changes += 1;
      wake();
    };
    await watchRepository(gitDir, onChange, abort.signal);
  });
  afterEach(() => {
    abort.abort();
    hub.remove();
  });

  const changeAfter = async (act: () => unknown): Promise<void> => {
    const told = new Promise<void>((resolve, reject) => {
      const deadline = setTimeout(() => reject(new Error(`nothing was told of ${act}`)), 120_000);
      wake = () => {
        clearTimeout(deadline);
        resolve();
      };
    });
    await act();
    await told;
  };

  // Once in a thousand moves, on a busy machine, chokidar misses one; callers poll slowly besides.
  test("a branch that moves, appears or goes is told, also after pack-refs and gc", { retry: 1 }, async () => {
    await changeAfter(() => hub.git("update-ref", "refs/heads/main", "main~1"));
    await changeAfter(() => hub.git("pack-refs", "--all"));
    await changeAfter(() => hub.git("update-ref", "refs/heads/fleet/state", "main"));
    await changeAfter(() => hub.git("gc", "--quiet", "--prune=now"));
    await changeAfter(() =>
      hub.git("update-ref", "refs/heads/fleet/state", hub.git("commit-tree", "-m", "m", "main^{tree}")),
    );
    await changeAfter(() => hub.git("update-ref", "-d", "refs/heads/fleet/state"));
    await changeAfter(() => hub.git("pack-refs", "--all"));
    await changeAfter(() => hub.git("update-ref", "-d", "refs/heads/main"));
  });

  test("our own commit is told", async () => {
    const options = {
      branch: "main",
      stateBranch: "fleet/state",
      cacheFolder: "",
      token: null,
      engine: "program",
    } as const;
    const repository = await openRepository({ repo: `${hub.folder}/${name}`, ...options });
    await changeAfter(() => repository.commit({ parent: null, edits: [], message: "m\n", at: 0 as Instant }));
    await repository.close();
  });

  test("objects, logs, locks and our scratch refs are not told; nothing is after the end", async () => {
    hub.feed("some bytes", "hash-object", "-w", "--stdin");
    hub.git("update-ref", "refs/flotilla/write/x", "main");
    mkdirSync(`${gitDir}/logs`, { recursive: true });
    writeFileSync(`${gitDir}/logs/HEAD`, "");
    writeFileSync(`${gitDir}/refs/heads/main.lock`, "");
    await changeAfter(() => hub.git("update-ref", "refs/heads/other", "main"));
    expect(changes).toBe(1);
    abort.abort();
    hub.git("update-ref", "refs/heads/another", "main");
    expect(changes).toBe(1);
  });
});
