import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Built, buildPrograms } from "../kubernetes/go-programs.ts";

const run = promisify(execFile);
const project = fileURLToPath(new URL("../..", import.meta.url));

/** Finds act, which runs workflows as GitHub's runner does, in the cache folder, or builds it there. */
export function findAct(): Promise<Built> {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const packages = { act: "github.com/nektos/act" };
  return buildPrograms({ folder, packages, linkerFlags: [], companions: async () => ({}) }, ["act"]);
}

/** Copies this project as it stands in the working tree, its workflows and what Git ignores aside. */
export async function copyProject(path: string): Promise<void> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await run("git", args, { cwd: project });
  for (const file of stdout.split("\0").filter((it) => it !== "" && !it.startsWith(".github/"))) {
    // A file may be listed and already deleted.
    if (existsSync(join(project, file))) await cp(join(project, file), join(path, file));
  }
}

/** Makes a folder that holds `files`, and maybe others already, a Git repository. */
export async function makeRepository(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), text);
  }
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
  for (const command of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    [...identity, "commit", "-q", "-m", "all"],
  ]) {
    await run("git", command, { cwd: path });
  }
}

/** A workflow that uses the Action once per step and prints `STEP ended with OUTCOME CODE` after each. */
export function workflowOf(steps: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  const texts = Object.entries(steps).map(
    ([id, inputs]) => `
      - id: ${id}
        uses: ./
        continue-on-error: true
        with: ${JSON.stringify(inputs)}
      - env:
          OUTCOME: \${{ steps.${id}.outcome }}
          CODE: \${{ steps.${id}.outputs.exit-code }}
        run: echo "${id} ended with $OUTCOME $CODE"`,
  );
  const checkout = "      - uses: actions/checkout@v4";
  return ["on: pull_request", "jobs:", "  all:", "    runs-on: ubuntu-latest", "    steps:", checkout, ...texts].join(
    "\n",
  );
}

/**
 * Runs a repository's only workflow for a pull request, on this machine and without network but npm's; gives what its steps
 * printed. They are heard through their shell: act itself loses what a step that fails prints last, if it has not read that
 * by the time that the step has ended.
 */
export async function runPullRequest(act: string, repository: string, home: string, event: unknown): Promise<string> {
  const events = join(home, "event.json");
  const printed = join(home, "printed");
  await mkdir(home, { recursive: true });
  await writeFile(events, JSON.stringify({ pull_request: event }));
  await writeFile(printed, "");
  const { stdout: cache } = await run("npm", ["config", "get", "cache"], { cwd: project });
  const path = `${await shellThatIsHeard(home, printed)}:${process.env["PATH"]}`;
  const env = {
    ...process.env,
    HOME: home,
    XDG_CACHE_HOME: join(home, "cache"),
    npm_config_cache: cache.trim(),
    PATH: path,
  };
  const args = ["pull_request", "-e", events, "-P", "ubuntu-latest=-self-hosted", "--action-offline-mode"];
  const options = { cwd: repository, env, maxBuffer: 64 << 20 };
  const said = await new Promise<string>((resolve) => {
    execFile(act, args, options, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
  const text = await readFile(printed, "utf8");
  if (text === "") throw new Error(`no step printed anything; act said: ${said}`);
  return text;
}

/** A folder with a `bash` in it that adds to a file what it prints. */
async function shellThatIsHeard(home: string, printed: string): Promise<string> {
  const folder = join(home, "bin");
  const { stdout: bash } = await run("sh", ["-c", "command -v bash"]);
  const lines = [
    "#!/bin/sh",
    `[ -z "$IS_HEARD" ] || exec ${bash.trim()} "$@"`,
    `IS_HEARD=yes ${bash.trim()} "$@" >> "${printed}" 2>&1`,
    "",
  ];
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "bash"), lines.join("\n"), { mode: 0o755 });
  return folder;
}
