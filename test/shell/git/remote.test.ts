import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Commit, Instant } from "../../../src/core/model/value.ts";
import { openRepository, type RepositoryOptions } from "../../../src/shell/git/open.ts";
import type { Proposal, Repository } from "../../../src/shell/reconcile/ports.ts";
import { type GitServer, serveGit } from "./http-server.ts";
import { type Hub, hubWithSource, refusePushes, repositoriesUnder } from "./hub.ts";

const secret = "s3cr3t/tok3n";
const stateRef = "refs/heads/fleet/state";

function truncate(path: string): void {
  rmSync(path);
  writeFileSync(path, "");
}

/** The first answer that is no fault, of at most ten. */
async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  for (let at = 1; at < 10; at++) {
    try {
      return await ask();
    } catch {
      // Not yet.
    }
  }
  return ask();
}

const proposal = (parent: Commit | null): Proposal => ({
  parent,
  edits: [{ kind: "write", path: "ledger.yaml", text: "sequence: 1\n" }],
  message: "a decision\n",
  at: 0 as Instant,
});

describe.each(["program", "iso"] as const)("a server, through %s", (engine) => {
  let hub: Hub;
  let server: GitServer;
  let during: (request: string) => void = () => {};
  const opened: Repository[] = [];

  beforeEach(async () => {
    hub = hubWithSource();
    during = () => {};
    server = await serveGit({ root: hub.folder, token: secret, meanwhile: (request) => during(request) });
  });
  afterEach(async () => {
    for (const repository of opened.splice(0)) await repository.close();
    await server.close();
    hub.remove();
  });

  const open = async (more: Partial<RepositoryOptions> = {}): Promise<Repository> => {
    const fixed = { branch: "main", stateBranch: "fleet/state", engine, cacheFolder: `${hub.folder}/cache` };
    const repository = await openRepository({ repo: server.url("hub.git"), token: secret, ...fixed, ...more });
    opened.push(repository);
    return repository;
  };
  const textOf = (error: unknown): string => {
    const { message, during, fix, stack, cause } = error as Error & { during: string; fix: string };
    return [message, during, fix, stack, cause instanceof Error ? `${cause.message}${cause.stack}` : ""].join("\n");
  };

  test("a token is enough, as an option and in the URL, and a URL's password wins", async () => {
    const want = { source: hub.git("rev-parse", "main"), state: null };
    const inUrl = server.url("hub.git", `ada:${encodeURIComponent(secret)}`);
    for (const more of [{}, { repo: inUrl, token: null }, { repo: inUrl, token: "wrong" }]) {
      const repository = await open(more);
      expect(repository.name).toBe(server.url("hub.git"));
      expect(await repository.heads()).toEqual(want);
      await repository.close();
    }
  });

  test("the token goes with the first request", async () => {
    await (await open()).heads();
    const discoveries = server.requests.filter((it) => it.includes("info/refs?service=git-upload-pack"));
    expect(discoveries.length).toBeLessThanOrEqual(engine === "program" ? 3 : 2);
  });

  test.each([
    ["a wrong token", { token: "wr0ng" }, "RepositoryForbidden"],
    ["no token", { token: null }, "RepositoryForbidden"],
    ["a repository that does not exist", { repo: "/nothing.git" }, "RepositoryNotFound"],
  ] as const)("%s is a fault that shows no secret", async (_, more, code) => {
    const repo = server
      .url("repo" in more ? more.repo.slice(1) : "hub.git", "ada:url-s3cr3t")
      .replace(":url-s3cr3t@", "repo" in more ? `:${encodeURIComponent(secret)}@` : "@");
    const repository = await open({ ...more, repo });
    const error: unknown = await repository.heads().then(
      () => null,
      (it: unknown) => it,
    );
    expect(error).toMatchObject({ code });
    for (const hidden of [
      secret,
      encodeURIComponent(secret),
      "wr0ng",
      Buffer.from(`ada:${secret}`).toString("base64"),
    ]) {
      expect(textOf(error)).not.toContain(hidden);
    }
  });

  test.each([
    ["drop", "RepositoryUnreachable"],
    [503, "RepositoryUnreachable"],
    [429, "RepositoryUnreachable"],
    [403, "RepositoryForbidden"],
  ] as const)("a server that answers %s is a fault, and the next look succeeds", async (fault, code) => {
    const repository = await open();
    // The program asks a second time, to learn whether a branch is missing.
    for (let at = 0; at < 3; at++) server.failNext("info/refs", fault);
    const failure = repository.heads();
    await expect(failure).rejects.toMatchObject({ code });
    expect((await eventually(() => repository.heads())).source).toBe(hub.git("rev-parse", "main"));
  });

  test("a server that is gone is unreachable", async () => {
    const repository = await open();
    await server.close();
    await expect(repository.heads()).rejects.toMatchObject({ code: "RepositoryUnreachable" });
  });

  test("a server that says nothing is unreachable at the deadline", async () => {
    const repository = await open({ deadlineMs: 400 });
    server.failNext("info/refs", "silence");
    await expect(repository.heads()).rejects.toMatchObject({
      code: "RepositoryUnreachable",
      message: "no answer within 1 s",
    });
  });

  test("a pack that breaks off leaves nothing that misleads the next look", async () => {
    const repository = await open();
    let breaks = 2;
    during = (request) => {
      // The second exchange and on: the first one only asks where the branches are.
      if (!request.startsWith("POST /hub.git/git-upload-pack") || breaks === 0) return;
      breaks -= 1;
      server.failNext("POST /hub.git/git-upload-pack", "break-off");
    };
    await expect(repository.heads()).rejects.toMatchObject({ code: "RepositoryUnreachable" });
    breaks = 0;
    const { source } = await eventually(() => repository.heads());
    expect((await repository.files(source as Commit)).length).toBe(9);
  });

  test("a hook that refuses is a fault with the hook's words, and moves nothing (F-20)", async () => {
    refusePushes(hub, "Permission denied: only on working days");
    const repository = await open();
    const { state } = await repository.heads();
    await expect(repository.commit(proposal(state))).rejects.toMatchObject({
      code: "RepositoryRefused",
      message: expect.stringContaining("Permission denied: only on working days") as unknown,
    });
    expect(hub.git("for-each-ref", stateRef)).toBe("");
  });

  test("a push whose answer is lost counts, and is not made again (F-12)", async () => {
    const repository = await open();
    const { state } = await repository.heads();
    server.failNext("POST /hub.git/git-receive-pack", "lose-answer");
    const done = await repository.commit(proposal(state));
    expect(done).toEqual({ kind: "committed", commit: hub.git("rev-parse", stateRef) });
    expect(hub.git("rev-list", "--count", stateRef)).toBe("1");
  });

  test("a push whose answer is lost counts although somebody has built on it already", async () => {
    const repository = await open();
    await repository.heads();
    server.failNext("POST /hub.git/git-receive-pack", "lose-answer");
    let ours = "";
    let looks = 0;
    during = (request) => {
      if (!request.includes("info/refs?service=git-upload-pack") || hub.git("for-each-ref", stateRef) === "") return;
      if (looks++ > 0) return;
      ours = hub.git("rev-parse", stateRef);
      hub.git("update-ref", stateRef, hub.git("commit-tree", "-p", ours, "-m", "theirs", `${ours}^{tree}`));
    };
    expect(await repository.commit(proposal(null))).toEqual({ kind: "committed", commit: ours });
  });

  test("a push whose answer does not come by the deadline counts when it arrived", async () => {
    const repository = await open({ deadlineMs: 2500 });
    await repository.heads();
    server.failNext("POST /hub.git/git-receive-pack", "keep-answer");
    const done = await repository.commit(proposal(null));
    expect(done).toEqual({ kind: "committed", commit: hub.git("rev-parse", stateRef) });
  });

  test("a push that never arrived is a fault, and moves nothing", async () => {
    const repository = await open();
    await repository.heads();
    // More than once, since curl tries again by itself on a connection that it had used before.
    for (let at = 0; at < 3; at++) server.failNext("POST /hub.git/git-receive-pack", "drop");
    await expect(repository.commit(proposal(null))).rejects.toMatchObject({ code: "RepositoryUnreachable" });
    expect(hub.git("for-each-ref", stateRef)).toBe("");
  });

  test("somebody who pushes between our look at the branch and our pack wins (F-10)", async () => {
    const repository = await open();
    await repository.heads();
    during = (request) => {
      if (request.startsWith("POST") && request.includes("git-receive-pack")) hub.git("update-ref", stateRef, "main");
    };
    expect(await repository.commit(proposal(null))).toEqual({ kind: "superseded" });
    expect(hub.git("rev-parse", stateRef)).toBe(hub.git("rev-parse", "main"));
  });

  test("a mirror is for nobody else on this machine", async () => {
    await (await open()).heads();
    const [mirror = ""] = repositoriesUnder(`${hub.folder}/cache`);
    expect(mirror).not.toBe("");
    expect(statSync(`${hub.folder}/cache`).mode & 0o077).toBe(0);
  });

  test("a second process starts from the mirror that the first one left", async () => {
    const first = await open();
    const { source } = await first.heads();
    await first.close();
    const before = server.requests.filter((it) => it.startsWith("POST /hub.git/git-upload-pack")).length;
    const second = await open();
    expect((await second.heads()).source).toBe(source);
    expect((await second.files(source as Commit)).length).toBe(9);
    const after = server.requests.filter((it) => it.startsWith("POST /hub.git/git-upload-pack")).length;
    // Asking where the branches are takes one in protocol 2; the program asks twice while one is missing.
    expect(after - before).toBeLessThanOrEqual(engine === "program" ? 3 : 1);
    expect(repositoriesUnder(`${hub.folder}/cache`).length).toBe(1);
  });

  test("two at once on one cache read and write each their own", async () => {
    const [one, other] = [await open(), await open()];
    const [a, b] = await Promise.all([one.heads(), other.heads()]);
    expect(a).toEqual(b);
    const outcomes = await Promise.all([
      one.commit(proposal(null)),
      other.commit({ ...proposal(null), message: "another decision\n" }),
    ]);
    expect(outcomes.map((it) => it.kind).sort()).toEqual(["committed", "superseded"]);
  });

  test("a damaged mirror is fetched anew (F-05)", async () => {
    const repository = await open();
    const { source } = await repository.heads();
    for (const mirror of repositoriesUnder(`${hub.folder}/cache`)) {
      const objects = readdirSync(`${mirror}/objects`, { recursive: true, withFileTypes: true });
      for (const it of objects.filter((it) => it.isFile())) truncate(`${it.parentPath}/${it.name}`);
    }
    await expect(repository.heads()).resolves.toEqual({ source, state: null });
    expect((await repository.files(source as Commit)).length).toBe(9);
  });
});
