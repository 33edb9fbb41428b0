// The README's commands in the README's order, as somebody types them who reads it for the first time.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lateOptimization } from "../late-optimization.ts";
import { temporaryFolder } from "../shell/git/hub.ts";
import { bundle, projectFolder } from "./bundle.ts";
import { type Run, type Running, start } from "./program.ts";
import { type Command, commandsBetween } from "./readme-script.ts";

const commands = commandsBetween("## Try it on a fleet of your own", "## Approvals");

/** Where the README makes its fleet. */
const written = "/tmp/fleet";

let folder: ReturnType<typeof temporaryFolder>;
const background: Running[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  const bin = join(folder.path, "bin");
  mkdirSync(bin);
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const engine = lateOptimization.join(" ");
  // What npx runs in this folder, without its way to find that out.
  program("npx", `[ "$1" = flotilla ] && shift && exec "${process.execPath}" ${engine} "${await bundle()}" "$@"`);
  program("editor", 'sed -i "s#image: \\(.*/\\)search:.*#image: \\1$NEW_IMAGE#" "$1"');
});
afterAll(async () => {
  for (const it of background) it.signal("SIGTERM");
  await Promise.all(background.map((it) => it.ended));
  folder.remove();
});

const here = (text: string): string => text.replaceAll(written, join(folder.path, "fleet"));

/** Types a command. What serves or watches goes on in a terminal of its own. */
function typed({ text, comment }: Pick<Command, "text" | "comment">): Running {
  const identity = { NAME: "Ada", EMAIL: "ada@example.com" };
  const person = ["AUTHOR", "COMMITTER"].flatMap((it) =>
    Object.entries(identity).map(([key, value]) => [`GIT_${it}_${key}`, value] as const),
  );
  const environment = {
    ...Object.fromEntries(person),
    PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}`,
    EDITOR: "editor",
    NEW_IMAGE: /search:\S+/.exec(comment)?.[0] ?? "",
    XDG_CACHE_HOME: join(folder.path, "cache"),
  };
  // A shell that made way for the program passes no signal by.
  const line = / && /.test(text) ? text : `exec ${text}`;
  return start(["sh", "-c", here(line)], { cwd: projectFolder, environment, limitMs: 280_000 });
}

const isLasting = ({ text }: Command): boolean => / embedded | --watch/.test(text);

const ask = (text: string): Promise<Run> => typed({ text, comment: "" }).ended;

/** Asks until the answer is as the README says that it will be; fails by the test's own deadline. */
async function until(text: string, says: RegExp): Promise<void> {
  for (;;) {
    const { out } = await ask(text);
    if (says.test(out)) return;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
}

const flotilla = (...args: readonly string[]): string => `npx flotilla ${args.join(" ")} --repo ${written}`;

/** What the README says has happened by the time that it gives a command, as `get` and `describe` say it. */
const before: readonly (readonly [command: RegExp, () => Promise<void>])[] = [
  [
    /flotilla approve search-1 --dry-run/,
    () => until(flotilla("get", "approvals"), /^search-1-before-production .*Waiting/m),
  ],
  [/\$EDITOR/, () => until(flotilla("get", "runs"), /^search-1 .*Succeeded/m)],
  [/run stop search-2/, () => until(flotilla("get", "bindings", "search"), /^search +staging-\S+ +Bound +1 /m)],
  [/flotilla drain/, () => until(flotilla("get", "runs"), /^search-to-0 .*Succeeded/m)],
];

/** What the README says that a command does. */
const after: readonly (readonly [command: RegExp, says: RegExp])[] = [
  [/flotilla reconcile .*--wait/, /\nat rest after \d+ passes/],
  [/flotilla get placements/, /^web-shop .* Available\n/m],
  [/flotilla get placements/, /^search .* HeldBack\n/m],
  [/flotilla explain web-shop/, /^web-shop: Available; /],
  [/log fleet\/state/, /Ledger-Sequence: 1\n/],
  [/flotilla simulate search-1/, /approval/],
  [/flotilla run start search-1/, /Start run search-1\n {2}runs\/search-1\.yaml\n/],
  [/flotilla describe run search-1/, /stage staging/],
  [/flotilla approve search-1 --dry-run/, /kind: Approval\n/],
  [/flotilla approve search-1 --repo/, /that is enough: .* stage production may begin/],
  [/commit -am/, /1 file changed, 1 insertion/],
  [/flotilla run create search-2/, /Create run search-2: what it selects now of search by staging-first\n/],
  [/flotilla run stop search-2/, /Stop run search-2\n/],
  [/flotilla rollback search/, /Roll search back to resource snapshot 0\n/],
  [/flotilla get runs/, /^search-2 /m],
  [/flotilla drain/, /\nsearch leaves prod-eu-2: /],
  [/flotilla drain/, /to main: Confirm \d+ deletions on 1 cluster\n/],
  [/flotilla get evictions/, /^search-prod-eu-2 +search +prod-eu-2 +Executed /m],
  [/flotilla get clusters/, /^prod-eu-2 .*Healthy,SchedulingDisabled /m],
  [/flotilla uncordon/, /Uncordon prod-eu-2\n/],
  [/flotilla prune --dry-run/, /^# evictions\/\S+\n# removed\n/],
];

describe("the README's commands, one after the other", () => {
  test("are all there are, and what is said of them here is said of some", () => {
    const texts = commands.map((it) => it.text);
    for (const [command] of [...before, ...after])
      expect(
        texts.filter((it) => command.test(it)),
        `${command}`,
      ).not.toEqual([]);
    expect(texts.length).toBeGreaterThan(20);
  });

  test("all do what the text says", async () => {
    for (const command of commands) {
      const where = `README.md:${command.line}: ${command.text}`;
      for (const [at, happened] of before) if (at.test(command.text)) await happened();
      const running = typed(command);
      if (isLasting(command)) {
        background.push(running);
        if (command.text.includes(" embedded ")) await heard(running, /kubeconfig/);
        continue;
      }
      const run = await running.ended;
      expect(run.code, `${where}\n${run.out}${run.err}`).toBe(0);
      for (const [at, says] of after) if (at.test(command.text)) expect(run.out, `${where}\n${run.err}`).toMatch(says);
    }
    // Drained and called off: what is no run's is there again, and what is stays away until the next one.
    await until(flotilla("get", "bindings", "observability"), /^observability +prod-eu-2 +Bound .* True +True/m);
    const { out } = await ask(flotilla("get", "bindings", "search"));
    expect(out).not.toMatch(/prod-eu-2 +Bound/);
    for (const it of background) expect(it.err()).toBe("");
  });
});

async function heard(running: Running, says: RegExp): Promise<void> {
  while (!says.test(running.out())) await new Promise((resolve) => setTimeout(resolve, 50));
}
