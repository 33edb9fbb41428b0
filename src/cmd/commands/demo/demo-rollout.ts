import { assert, known } from "../../../core/model/assert.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import type { RunRecord } from "../../../core/model/update-run.ts";
import { type DurationMs, type Instant, type RunKey, seconds } from "../../../core/model/value.ts";
import { approvalFile, openGateRequests } from "../../../core/report/approval-files.ts";
import { runTree, treeLines } from "../../../core/report/run-tree.ts";
import type { HubOptions } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { requestTexts } from "../record/describe.ts";
import { createRun, rollback, setRunState } from "../runs/run.ts";

/** What the demo's rollout works with: a clone, its hub, and a reconciler. */
export interface DemoEnvironment {
  /** The clone, for commands that write files. */
  readonly work: HubOptions;
  /** Who commits in it. */
  readonly person: string;
  say(text: string): void;
  /** Changes a file of the clone, or writes it, without committing it. */
  edit(path: string, change: (text: string) => string): Promise<void>;
  push(message: string): Promise<void>;
  /** Reconciles until nothing is left to do, waiting at most this long. */
  reconcile(wait: DurationMs): Promise<void>;
  ledger(): Promise<Ledger>;
}

/** Long enough for every wait of the stages, and for what is new to become available. */
const patience = seconds(20);

/** Rolls out a good version through all stages, and a broken one that is rolled back, by the commands people type. */
export async function demoStagedRollout(demo: DemoEnvironment, terminal: Terminal): Promise<void> {
  await goodVersion(demo, terminal);
  await badVersion(demo, terminal);
  await rollBack(demo, terminal);
}

async function goodVersion(demo: DemoEnvironment, terminal: Terminal): Promise<void> {
  demo.say(
    "Search is rolled out by update runs only. Its run starts: staging, five seconds to look at it, the quiet region.",
  );
  typed(terminal, "run start search-1 --push");
  mustBeDone(await setRunState({ ...demo.work, name: "search-1", push: true }, "Run", terminal));
  await demo.reconcile(patience);

  demo.say("Production needs an approval. The run shows what is done, what waits, and which file lets it continue.");
  await describeRun(demo, "search-1", terminal);

  demo.say("Somebody commits that file. The rest of production follows, half of it at a time.");
  await approve(demo, "search-1", "Let search go to production");
  await demo.reconcile(patience);
}

async function badVersion(demo: DemoEnvironment, terminal: Terminal): Promise<void> {
  demo.say("The next version of search never starts. The first cluster shows it, and no other cluster gets it.");
  await demo.edit("resources/search/search.yaml", (it) =>
    // Two minutes is realistic, but too long for a demo.
    it
      .replace("search:4.2.0", "search:4.3.0-crash")
      .replace("progressDeadlineSeconds: 120", "progressDeadlineSeconds: 2"),
  );
  await demo.push("Search 4.3.0");
  typed(terminal, "run create search-2 --placement search --strategy staging-first --state Run --push");
  const run = { name: "search-2", placement: "search", strategy: "staging-first", state: "Run" } as const;
  mustBeDone(await createRun({ ...demo.work, ...run, push: true }, terminal));
  await demo.reconcile(patience);
  await describeRun(demo, "search-2", terminal);
}

async function rollBack(demo: DemoEnvironment, terminal: Terminal): Promise<void> {
  demo.say("Back to the previous version. Stages that never got the broken one are passed over without an approval.");
  typed(terminal, "run stop search-2 --push");
  mustBeDone(await setRunState({ ...demo.work, name: "search-2", push: true }, "Stop", terminal));
  typed(terminal, "rollback search --push");
  mustBeDone(await rollback({ ...demo.work, placement: "search", push: true }, terminal));
  await demo.reconcile(patience);
}

const typed = (terminal: Terminal, command: string): void => terminal.out(`$ flotilla ${command}\n`);

/** The commands say what is wrong themselves. */
const mustBeDone = (code: ExitCode): void => assert(code === exitCodes.done, "a command of the demo does nothing");

async function describeRun(demo: DemoEnvironment, name: string, terminal: Terminal): Promise<void> {
  typed(terminal, `describe run ${name}`);
  const ledger = await demo.ledger();
  const run = runNamed(ledger, name);
  for (const line of treeLines(runTree({ run, ledger, now: Date.now() as Instant }))) terminal.out(`${line}\n`);
  terminal.out(requestTexts(run, demo.work.branch, { context: null, principal: demo.person }));
}

/** Commits the approvals that a run needs, as `describe run` shows them. */
async function approve(demo: DemoEnvironment, name: string, message: string): Promise<void> {
  const requests = openGateRequests(runNamed(await demo.ledger(), name));
  for (const it of requests) {
    const { path, text } = approvalFile(it, it.gate, demo.person);
    await demo.edit(path, () => text);
  }
  await demo.push(message);
}

const runNamed = ({ runs }: Ledger, name: string): RunRecord =>
  known(runs.get(name as RunKey), `the demo's run ${name} is not on record`);
