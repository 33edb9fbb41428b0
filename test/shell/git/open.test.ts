import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Commit, Instant } from "../../../src/core/model/value.ts";
import { localGitDir, openRepository, originOf, type RepositoryOptions } from "../../../src/shell/git/open.ts";
import type { Repository } from "../../../src/shell/reconcile/ports.ts";
import { type GitServer, serveGit } from "./http-server.ts";
import { gitIn, type Hub, hubWithSource } from "./hub.ts";

let hub: Hub;
let path: string;
const opened: Repository[] = [];

beforeEach(() => {
  hub = hubWithSource("hub");
  path = `${hub.folder}/hub`;
});
afterEach(async () => {
  for (const repository of opened.splice(0)) await repository.close();
  vi.unstubAllEnvs();
  hub.remove();
});

async function open(repo: string, more: Partial<RepositoryOptions> = {}): Promise<Repository> {
  const fixed = { branch: "main", stateBranch: "fleet/state", engine: "auto", token: null } as const;
  const repository = await openRepository({ repo, cacheFolder: `${hub.folder}/cache`, ...fixed, ...more });
  opened.push(repository);
  return repository;
}

const found = (repository: Repository) =>
  repository.commit({
    parent: null,
    edits: [{ kind: "write", path: "a", text: "a\n" }],
    message: "m\n",
    at: 0 as Instant,
  });

const executable = (file: string, text: string): string => {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
};

describe("a hub at a path", () => {
  test("index and files of a work tree stay as they are", async () => {
    writeFileSync(`${path}/a.yaml`, "edited by hand\n");
    const before = [hub.git("status", "--porcelain"), hub.git("rev-parse", "HEAD", "main")];
    await found(await open(path));
    expect([hub.git("status", "--porcelain"), hub.git("rev-parse", "HEAD", "main")]).toEqual(before);
    expect(hub.git("fsck", "--strict")).toBe("");
  });

  test("hooks of the repository do not run", async () => {
    mkdirSync(`${path}/.git/hooks`, { recursive: true });
    executable(`${path}/.git/hooks/reference-transaction`, "#!/bin/sh\nexit 1\n");
    expect((await found(await open(path))).kind).toBe("committed");
  });

  test("a linked work tree leads to the repository it belongs to", async () => {
    hub.git("worktree", "add", "--quiet", "--detach", `${hub.folder}/linked`);
    expect((await found(await open(`${hub.folder}/linked`))).kind).toBe("committed");
    expect(hub.git("rev-parse", "--verify", "fleet/state")).toMatch(/^[0-9a-f]{40}$/);
    expect(await localGitDir(`${hub.folder}/linked`)).toBe(await localGitDir(path));
  });

  test("a symbolic link to it is followed", async () => {
    symlinkSync(path, `${hub.folder}/alias`);
    expect((await (await open(`${hub.folder}/alias`)).heads()).source).toBe(hub.git("rev-parse", "main"));
  });

  test.each([
    ["a folder that does not exist", "nowhere"],
    ["a folder inside a repository", "hub/clusters"],
    ["a file", "hub/a.yaml"],
    ["a folder without a repository", "."],
  ])("%s is not found", async (_, place) => {
    await expect(open(`${hub.folder}/${place}`)).rejects.toMatchObject({ code: "RepositoryNotFound" });
  });

  test("a repository that names objects by SHA-256 is not supported", async () => {
    gitIn(hub.folder, ["init", "--quiet", "--object-format=sha256", "large"]);
    await expect(open(`${hub.folder}/large`)).rejects.toMatchObject({ code: "RepositoryUnsupported" });
  });

  test("what a shallow clone cannot know is refused, what it knows is told", async () => {
    gitIn(hub.folder, ["clone", "--quiet", "--depth=1", "--bare", `file://${path}`, "shallow.git"]);
    const repository = await open(`${hub.folder}/shallow.git`);
    const head = hub.git("rev-parse", "main") as Commit;
    const first = hub.git("rev-parse", "main~1") as Commit;
    expect(await repository.descends(head, head)).toBe(true);
    await expect(repository.descends(head, first)).rejects.toMatchObject({
      code: "RepositoryUnsupported",
      fix: expect.stringContaining("git fetch --unshallow") as unknown,
    });
  });

  test("the history that a shallow clone has is told, and one that is cut off is refused", async () => {
    const base = hub.git("rev-parse", "main") as Commit;
    const head = hub.git("commit-tree", "-p", "main", "-m", "next", "main~1^{tree}") as Commit;
    hub.git("update-ref", "refs/heads/main", head);
    gitIn(hub.folder, ["clone", "--quiet", "--depth=2", "--bare", `file://${path}`, "shallow.git"]);
    const repository = await open(`${hub.folder}/shallow.git`);
    const whole = await open(path);
    expect(await repository.history(head, base, 9)).toEqual(await whole.history(head, base, 9));
    for (const [to, from] of [
      [head, null],
      [base, null],
      [head, hub.git("rev-parse", `${base}~1`) as Commit],
    ] as const)
      await expect(repository.history(to, from, 9)).rejects.toMatchObject({
        code: "RepositoryUnsupported",
        fix: expect.stringContaining("git fetch --unshallow") as unknown,
      });
  });

  test("refs of writers that died are swept away, those of the living are not", async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const name of [`${now - 200_000}-1-dead`, `${now}-2-alive`])
      hub.git("update-ref", `refs/flotilla/write/${name}`, "main");
    await open(path);
    expect(hub.git("for-each-ref", "--format=%(refname)", "refs/flotilla")).toBe(`refs/flotilla/write/${now}-2-alive`);
  });

  test("a git that calls us from a hook does not lead us elsewhere", async () => {
    vi.stubEnv("GIT_DIR", `${hub.folder}/nowhere`);
    vi.stubEnv("GIT_INDEX_FILE", `${hub.folder}/nowhere/index`);
    expect((await (await open(path)).heads()).source).toBe(hub.git("rev-parse", "main"));
  });
});

describe("a hub behind a URL", () => {
  let server: GitServer;
  const secret = "t0k3n";
  beforeEach(async () => {
    server = await serveGit({ root: hub.folder, token: secret });
    vi.stubEnv("GIT_CONFIG_NOSYSTEM", "1");
    vi.stubEnv("GIT_CONFIG_GLOBAL", `${hub.folder}/gitconfig`);
    hub.git("config", "receive.denyCurrentBranch", "refuse");
  });
  afterEach(() => server.close());

  const url = (): string => server.url("hub/.git");

  test.each([
    ["a credential helper", `[credential]\n\thelper = "!f() { echo username=ada; echo password=${secret}; }; f"\n`],
    ["a configured header", `[http]\n\textraHeader = "Authorization: Basic ${btoa(`ada:${secret}`)}"\n`],
  ])("%s of the user's own git setup lets us in", async (_, config) => {
    writeFileSync(`${hub.folder}/gitconfig`, config);
    expect((await found(await open(url()))).kind).toBe("committed");
  });

  test("a program that GIT_ASKPASS names lets us in", async () => {
    vi.stubEnv("GIT_ASKPASS", executable(`${hub.folder}/askpass`, `#!/bin/sh\necho ${secret}\n`));
    expect((await (await open(url())).heads()).source).toBe(hub.git("rev-parse", "main"));
  });

  test("a token that is given replaces a header that is configured", async () => {
    writeFileSync(`${hub.folder}/gitconfig`, `[http]\n\textraHeader = "Authorization: Basic ${btoa("ada:old")}"\n`);
    expect((await (await open(url(), { token: secret })).heads()).source).toBe(hub.git("rev-parse", "main"));
  });

  test("settings that the environment brings along stay in force", async () => {
    vi.stubEnv("GIT_CONFIG_COUNT", "1");
    vi.stubEnv("GIT_CONFIG_KEY_0", "http.extraHeader");
    vi.stubEnv("GIT_CONFIG_VALUE_0", `Authorization: Basic ${btoa(`ada:${secret}`)}`);
    expect((await (await open(url())).heads()).source).toBe(hub.git("rev-parse", "main"));
  });

  test("no command line and no file of the mirror shows the token", async () => {
    const real = `${gitIn(hub.folder, ["--exec-path"])}/git`;
    executable(`${hub.folder}/git`, `#!/bin/sh\necho "$@" >> ${hub.folder}/seen\nexec ${real} "$@"\n`);
    vi.stubEnv("PATH", `${hub.folder}:${process.env["PATH"]}`);
    expect((await found(await open(url().replace("://", `://ada:${secret}@`)))).kind).toBe("committed");
    vi.unstubAllEnvs();
    for (const hidden of [secret, btoa(`ada:${secret}`)]) {
      const search = spawnSync("grep", ["-rlF", hidden, `${hub.folder}/seen`, `${hub.folder}/cache`], {
        encoding: "utf8",
      });
      expect([search.status, search.stdout]).toEqual([1, ""]);
    }
    expect(readFileSync(`${hub.folder}/seen`, "utf8")).toContain("push --porcelain");
  });

  test("ssh runs the user's own ssh command", async () => {
    const ssh = executable(
      `${hub.folder}/ssh`,
      '#!/bin/sh\nwhile [ "$1" != hub.example ]; do shift; done\nshift\nexec sh -c "$*"\n',
    );
    vi.stubEnv("GIT_SSH_COMMAND", ssh);
    vi.stubEnv("GIT_SSH_VARIANT", "simple");
    const repository = await open(`hub.example:${path}`);
    expect((await found(repository)).kind).toBe("committed");
    expect(repository.name).toBe(`hub.example:${path}`);
  });

  test("a file URL works, and a shallow one is not taken for the whole", async () => {
    expect((await found(await open(`file://${path}`))).kind).toBe("committed");
    gitIn(hub.folder, ["clone", "--quiet", "--depth=1", "--bare", `file://${path}`, "shallow.git"]);
    await expect((await open(`file://${hub.folder}/shallow.git`)).heads()).rejects.toMatchObject({
      code: "RepositoryUnsupported",
    });
  });

  test("a repository that names objects by SHA-256 is not supported", async () => {
    gitIn(hub.folder, ["init", "--quiet", "--bare", "--object-format=sha256", "--initial-branch=main", "large.git"]);
    const tree = gitIn(`${hub.folder}/large.git`, ["write-tree"]);
    gitIn(`${hub.folder}/large.git`, [
      "update-ref",
      "refs/heads/main",
      gitIn(`${hub.folder}/large.git`, ["commit-tree", "-m", "m", tree]),
    ]);
    await expect((await open(`file://${hub.folder}/large.git`)).heads()).rejects.toMatchObject({
      code: "RepositoryUnsupported",
    });
  });
});

describe("the engine", () => {
  test.each(["/srv/fleet", "git@git.example:fleet", "ssh://git.example/fleet", "file:///srv/fleet"])(
    "isomorphic-git does not reach %s, and says what to do",
    async (repo) => {
      await expect(open(repo, { engine: "iso" })).rejects.toMatchObject({
        code: "RepositoryUnsupported",
        fix: expect.stringContaining("git 2.31") as unknown,
      });
    },
  );

  test.each([
    ["git version 2.31.0", "the program"],
    ["git version 2.39.5 (Apple Git-154)", "the program"],
    ["git version 2.30.2", "isomorphic-git"],
    ["git version 1.8.3", "isomorphic-git"],
    [null, "isomorphic-git"],
  ])("with %s over http it is %s", async (version, want) => {
    const bin = `${hub.folder}/bin`;
    mkdirSync(bin);
    if (version !== null) executable(`${bin}/git`, `#!/bin/sh\necho '${version}'\n`);
    vi.stubEnv("PATH", bin);
    const repository = await open("http://127.0.0.1:1/fleet");
    expect(repository.constructor.name).toBe(want === "the program" ? "ProgramRepository" : "IsoRepository");
  });

  test("without any git a path is not supported, and the fault says what to do", async () => {
    vi.stubEnv("PATH", hub.folder);
    await expect(open(path)).rejects.toMatchObject({
      code: "RepositoryUnsupported",
      message: "no git program was found",
    });
    await expect(open(path, { engine: "program" })).rejects.toMatchObject({ code: "RepositoryUnsupported" });
  });
});

describe("the remote origin", () => {
  test.each([
    ["https://git.example/fleet", "https://git.example/fleet"],
    ["git@git.example:fleet", "git@git.example:fleet"],
    ["../other.git", "/other.git"],
    [null, null],
  ])("%s is %s", async (url, want) => {
    if (url !== null) hub.git("remote", "add", "origin", url);
    const origin = await originOf(`${path}/clusters`);
    expect(origin?.replace(hub.folder, "") ?? null).toBe(want);
  });

  test("one that cannot be the hub is a fault, and no other repository takes its place", async () => {
    hub.git("remote", "add", "origin", "git://git.example/fleet");
    await expect(originOf(path)).rejects.toMatchObject({ code: "RepositoryUnsupported" });
  });

  test("outside of a repository there is none", async () => {
    expect(await originOf(hub.folder)).toBeNull();
  });
});
