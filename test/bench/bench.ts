import { fork } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeScratch, type Scratch } from "../kubernetes/supervise.ts";
import { measureApprovals } from "./approval.ts";
import { measureAudit } from "./audit.ts";
import type { BareOrders, BareOutcome } from "./bare.ts";
import { type Bench, runCases } from "./cases.ts";
import { measureCollecting } from "./collect.ts";
import { makeHub } from "./hub.ts";
import { embeddedMembers, givenMembers, type Members, noMembers, realMembers } from "./members.ts";
import { help, type Options, optionsOf } from "./options.ts";
import type { Outcome } from "./outcome.ts";
import { hotspotsOf, nameSources } from "./profile.ts";
import type { ScheduleOutcome } from "./schedule.ts";
import { soak } from "./soak.ts";
import {
  approvalTable,
  auditTable,
  bareTable,
  collectTable,
  headOf,
  hotspotTable,
  type Machine,
  machine,
  outcomeTables,
  scheduleTable,
  soakTable,
  textTable,
} from "./table.ts";
import { measureTexts } from "./text.ts";
import { memberNames, type Size } from "./workload.ts";

// Measures Flotilla with KubeFleet's published workload at any size (`test/README.md#speed`).

const bundle = process.argv[1]?.replace(/bench\.js$/, "") ?? "";

async function main(argv: readonly string[]): Promise<number> {
  const options = optionsOf(argv);
  if (typeof options === "string") {
    process.stderr.write(`${options}\n`);
    return options === help ? 0 : 64;
  }
  const here = machine();
  const scratch = await makeScratch();
  if (options.only === "text") return measureReading(options, here).finally(() => scratch.stop());
  if (options.only === "collect") return measureProperties(options, here).finally(() => scratch.stop());
  if (options.only === "approval") return measureSigners(options, here, scratch).finally(() => scratch.stop());
  if (options.only === "verify") return measureRecord(options, here, scratch).finally(() => scratch.stop());
  const members = await membersFor(options, scratch.path);
  try {
    const { only } = options;
    const size = sizeOf(options, members);
    if (!options.json) process.stdout.write(`${headOf(here)}\n${titleOf(size, members, only)}\n\n`);
    if (only === "soak") await measureMemory(options, { here, size, members, folder: scratch.path });
    else if (only === null || only === "git") await measureAll(options, { here, size, members, folder: scratch.path });
    else await measurePart(options, { here, size, members, part: only });
    tellProfiles(options);
    return 0;
  } finally {
    await members.stop();
    await scratch.stop();
  }
}

const profilesOf = ({ profile }: Options): string | null => (profile === null ? null : resolve(profile));

async function membersFor(options: Options, folder: string): Promise<Members> {
  const { only, kubeconfig, real } = options;
  const names = memberNames(real ?? options.members);
  if (only !== null && only !== "apply" && only !== "soak") return noMembers(names);
  if (kubeconfig !== null) return givenMembers(kubeconfig);
  return real === null ? embeddedMembers(folder, join(bundle, "flotilla.js"), names) : realMembers(folder, names);
}

/** On real members there is no Deployment, and every member is picked. */
function sizeOf({ placements, picks, kubeconfig, real }: Options, { names: members }: Members): Size {
  const isReal = kubeconfig !== null || real !== null;
  return { members, placements, picks: isReal ? members.length : picks, objects: isReal ? "config" : "all" };
}

function titleOf({ members, placements, picks, objects }: Size, { what }: Members, only: Options["only"]): string {
  const title = `${what}; ${placements} placements × ${Math.min(picks, members.length)} picks`;
  if (only === "schedule") return title;
  return `${title}, each a Namespace, a 1 KB ConfigMap${objects === "all" ? " and a Deployment" : ""}`;
}

interface Place {
  readonly here: Machine;
  readonly size: Size;
  readonly members: Members;
}

async function measureAll(
  options: Options,
  { here, size, members, folder }: Place & { readonly folder: string },
): Promise<void> {
  const hub = makeHub(folder);
  const say = (text: string): void => void process.stderr.write(`… ${text}\n`);
  const bench: Bench = {
    size,
    hub,
    members,
    bundle,
    profiles: profilesOf(options),
    limitMs: options.limitMs,
    hurry: options.hurry,
    say,
  };
  const outcomes: Outcome[] = [];
  try {
    await runCases(bench, options.cases, (it) => void outcomes.push(it));
  } finally {
    // What was measured before a case failed is worth seeing.
    const state = { tipBytes: hub.state() === null ? 0 : hub.tipBytes(), commits: hub.commitsSince(null) };
    if (options.json) process.stdout.write(`${JSON.stringify({ machine: here, size, outcomes, state }, null, 2)}\n`);
    else {
      const tip = `the state branch: ${state.commits} commits, its tip ${(state.tipBytes / 1e6).toFixed(2)} MB packed`;
      process.stdout.write(`${outcomeTables(outcomes)}\n\n${tip}\n`);
    }
  }
}

/** What a daemon keeps that it should not. */
async function measureMemory(
  options: Options,
  { here, size, members, folder }: Place & { readonly folder: string },
): Promise<void> {
  const say = (text: string): void => void process.stderr.write(`… ${text}\n`);
  const { limitMs, minutes, json } = options;
  const bench: Bench = { size, hub: makeHub(folder), members, bundle, profiles: null, limitMs, hurry: false, say };
  const outcome = await soak(bench, minutes);
  process.stdout.write(
    json ? `${JSON.stringify({ machine: here, size, ...outcome }, null, 2)}\n` : `${soakTable(outcome)}\n`,
  );
}

/** Who signed what: members, placements and picks have nothing to do with it. */
async function measureSigners({ commits, json }: Options, here: Machine, { path }: Scratch): Promise<number> {
  const say = (text: string): void => void process.stderr.write(`… ${text}\n`);
  const outcomes = await measureApprovals(path, commits, say);
  if (json) process.stdout.write(`${JSON.stringify({ machine: here, outcomes }, null, 2)}\n`);
  else process.stdout.write(`${headOf(here)}\n\n${approvalTable(outcomes)}\n`);
  return 0;
}

/** What it takes to audit the record of a fleet. */
async function measureRecord(options: Options, here: Machine, { path }: Scratch): Promise<number> {
  const { commits, members, placements, picks, json } = options;
  const size: Size = { members: memberNames(members), placements, picks, objects: "all" };
  const say = (text: string): void => void process.stderr.write(`… ${text}\n`);
  const outcome = await measureAudit(path, { size, commits, profiles: profilesOf(options), say });
  if (json) process.stdout.write(`${JSON.stringify({ machine: here, size, outcome }, null, 2)}\n`);
  else process.stdout.write(`${headOf(here)}\n\n${auditTable(outcome)}\n`);
  tellProfiles(options);
  return 0;
}

/** What one file costs, hostile or large: each in a process of its own. */
async function measureReading({ json }: Options, here: Machine): Promise<number> {
  const outcomes = await measureTexts(join(bundle, "decode.js"));
  if (json) process.stdout.write(`${JSON.stringify({ machine: here, outcomes }, null, 2)}\n`);
  else process.stdout.write(`${headOf(here)}\n\n${textTable(outcomes)}\n`);
  return 0;
}

async function measureProperties({ json }: Options, here: Machine): Promise<number> {
  const outcomes = await measureCollecting();
  if (json) process.stdout.write(`${JSON.stringify({ machine: here, outcomes }, null, 2)}\n`);
  else process.stdout.write(`${headOf(here)}\n\n${collectTable(outcomes)}\n`);
  return 0;
}

async function measurePart(
  options: Options,
  { here, size, members, part }: Place & Pick<BareOrders, "part">,
): Promise<void> {
  const orders: BareOrders = { part, size, kubeconfig: members.kubeconfig, profiles: profilesOf(options) };
  const child = fork(join(bundle, "bare.js"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send(orders);
  const outcomes: unknown[] = [];
  child.on("message", (it) => void outcomes.push(it));
  const code = await new Promise((ended) => child.once("close", ended));
  if (code !== 0) throw new Error(`measuring ${part} ended with ${code}`);
  if (options.json) process.stdout.write(`${JSON.stringify({ machine: here, part, size, outcomes }, null, 2)}\n`);
  else if (part === "schedule") process.stdout.write(`${scheduleTable(outcomes as readonly ScheduleOutcome[])}\n`);
  else process.stdout.write(`${bareTable(outcomes as readonly BareOutcome[])}\n`);
}

function tellProfiles(options: Options): void {
  const folder = profilesOf(options);
  if (folder === null) return;
  for (const name of readdirSync(folder).filter((it) => it.endsWith(".cpuprofile"))) {
    const file = join(folder, name);
    nameSources(file);
    if (!options.json) process.stdout.write(`\n${file}\n${hotspotTable(hotspotsOf(file))}\n`);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
