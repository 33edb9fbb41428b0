import { emptyLedger } from "../src/core/model/ledger.ts";
import { objectIdOf, objectText } from "../src/core/model/manifest.ts";
import type { DisruptionBudget } from "../src/core/model/placement.ts";
import type { ObjectRemoval, PlacementActions } from "../src/core/model/plan.ts";
import type { ApprovalFile } from "../src/core/model/trust.ts";
import { runKey, strategyKey, type UpdateRunSpec } from "../src/core/model/update-run.ts";
import {
  type BlobId,
  type ClusterName,
  type Digest,
  instantText,
  minutes,
  type PlacementKey,
  seconds,
} from "../src/core/model/value.ts";
import { describeChanges } from "../src/core/report/commit-message.ts";
import { reasonText } from "../src/core/report/reason-text.ts";
import { boundOf, clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf, runOf, strategyOf } from "./intent.ts";
import type { Death } from "./member.ts";
import { type Fate, holdOf, type Passed, World, write } from "./world.ts";

/** Plays a script, line by line, and gives back what a person would read. */
export function play(script: string): string {
  const world = new World();
  const out: string[] = [];
  for (const line of script.trimEnd().split("\n")) {
    const isCommand = line !== "" && !line.startsWith("#");
    out.push(isCommand ? `> ${line}` : line);
    if (isCommand) out.push(...carryOut(world, line.split(" ")));
  }
  return `${out.join("\n")}\n`.replaceAll(/[0-9a-f]{64}/g, (it) => it.slice(0, 12));
}

/** Gives lines for the transcript, or anything else for none. */
type Command = (world: World, words: readonly string[]) => unknown;

function carryOut(world: World, [verb = "", ...words]: readonly string[]): readonly string[] {
  const edit = edits[verb];
  if (edit !== undefined) {
    world.commit(() => edit(world, words));
    return [];
  }
  const command = commands[verb];
  if (command === undefined) throw new Error(`no such command: ${verb}`);
  const said = command(world, words);
  return Array.isArray(said) ? said : [];
}

/** Commands that change the repository: one commit each. */
const edits: Readonly<Record<string, Command>> = {
  cluster: (world, [name = "", ...words]) => world.join(clusterOf(name, words)),
  clusters(world, [count = "", ...words]) {
    for (let at = 1; at <= Number(count); at++) world.join(clusterOf(`m${at}`, words));
  },
  relabel(world, [name = "", ...words]) {
    world.clusters.set(name as ClusterName, clusterOf(name, words));
  },
  leave: (world, [name = ""]) => void world.clusters.delete(name as ClusterName),
  write(world, words) {
    for (let at = 0; at < words.length; at += 3) {
      const [kind = "", path = "", value = ""] = words.slice(at, at + 3);
      write(world, objectOf(kind, path, value));
    }
  },
  erase: (world, [kind = "", path = ""]) => void world.objects.delete(keyOf(kind, path)),
  place(world, [name = "", kind = "", ...rest]) {
    // PickAll may do without an argument: `PickAll env=prod unavailable=1`, `PickAll unavailable=1`.
    const hasArgument = kind !== "PickAll" || (rest[0] ?? "").startsWith("env=");
    const policy = policyOf(kind, hasArgument ? rest[0] : undefined);
    world.placements.set(name as PlacementKey, placementOf({ name, policy, options: rest.slice(hasArgument ? 1 : 0) }));
  },
  displace: (world, [name = ""]) => void world.placements.delete(name as PlacementKey),
  override: (world, [name = "", kind = "", path = "", label = "", value = ""]) =>
    void world.overrides.set(name, overrideOf(name, keyOf(kind, path), label, value)),
  "drop-override": (world, [name = ""]) => void world.overrides.delete(name),
  confirm(world, given) {
    for (const digest of given) world.confirmations.add(digest.repeat(64) as Digest);
    for (const { digest } of given.length > 0 ? [] : (world.news ?? world.head).deletions.held)
      world.confirmations.add(digest);
  },
  unconfirm: (world) => world.confirmations.clear(),
  strategy: (world, [name = "", ...stages]) => {
    const strategy = strategyOf(name, stages);
    world.strategies.set(strategy.key, strategy);
  },
  run(world, [name = "", placement = "", strategy = "", state = "Run", index]) {
    const resourceIndex = index ?? null;
    const spec = { placement: placement as PlacementKey, strategy: strategyKey(null, strategy), resourceIndex };
    world.runs.set(runKey(null, name), runOf(name, { ...spec, state: state as UpdateRunSpec["state"] }));
  },
  set(world, [name = "", state = ""]) {
    const run = world.runs.get(runKey(null, name));
    if (run === undefined) throw new Error(`there is no run ${name}`);
    world.runs.set(run.key, { ...run, spec: { ...run.spec, state: state as UpdateRunSpec["state"] } });
  },
  "drop-run": (world, [name = ""]) => void world.runs.delete(runKey(null, name)),
  "allow-unsigned": (world) => {
    world.fleet = { ...world.fleet, unsignedApprovals: "allow" };
  },
  reply(world, [run = "", stage = "", when = "", decision = "Approve", principal = "ann"]) {
    const record = (world.news ?? world.head).runs.get(runKey(null, run));
    const at = record?.plan?.stages.findIndex((it) => it.name === stage) ?? -1;
    const digest = record?.stages[at]?.[when === "before" ? "before" : "after"].Approval?.digest;
    if (digest === undefined) throw new Error(`${run} asks for nothing ${when} ${stage}`);
    const path = `approvals/${run}/${stage}-${when}-${principal}-${decision}.yaml`;
    const comment = "looks good";
    world.approvals.push({
      path,
      blob: `blob-${path}` as BlobId,
      digest,
      decision: decision as ApprovalFile["decision"],
      principal,
      comment,
      signature: null,
    });
  },
  evict: (world, [name = "", placement = "", cluster = ""]) =>
    void world.evictions.set(name, {
      name,
      placement: placement as PlacementKey,
      cluster: cluster as ClusterName,
      source: { path: `evictions/${name}.yaml`, document: 0, line: 1, column: 1 },
    }),
  budget: (world, [placement = "", bound = "", limit = ""]) =>
    void world.budgets.set(placement as PlacementKey, {
      placement: placement as PlacementKey,
      bound: bound as DisruptionBudget["bound"],
      limit: boundOf(limit),
      source: { path: `budgets/${placement}.yaml`, document: 0, line: 1, column: 1 },
    }),
  hold(world, [kind = "", path = ""]) {
    const group = kind === "ClusterResourcePlacement" ? "placement.kubernetes-fleet.io" : "";
    world.holds = [holdOf({ ...objectIdOf(keyOf(kind, path)), group }, "c1")];
  },
  readable: (world) => {
    world.holds = [];
  },
  touch: () => undefined,
};

/** Everything else: the weather, the clock, and passes. */
const commands: Readonly<Record<string, Command>> = {
  pass: (world, words) => told(world.pass(fateOf(words))),
  settle,
  flush: (world) => world.flush(),
  restart: (world) => world.restart(),
  late: (world) => world.late.splice(0).flatMap((it) => world.act(it).map((said) => `  ! ${said}`)),
  wait: (world, [count = ""]) => world.wait(minutes(Number(count))),
  skew(world, [ahead = ""]) {
    world.clockOffset = seconds(Number(ahead));
  },
  show: (world, names) =>
    names.flatMap((name) => world.carried(name).map((it, at) => `${at === 0 ? `  ${name}: ` : "      "}${it}`)),
  ready(world, names) {
    const members = names.length === 0 ? [...world.members.values()] : names.map((it) => world.member(it));
    for (const it of members) it.turn({ phase: "available" });
  },
  sick(world, names) {
    for (const name of names) world.member(name).turn({ phase: "failed", message: "CrashLoopBackOff" });
  },
  silence(world, names) {
    for (const name of names) world.member(name).silence = { code: "Unreachable", message: "connection refused" };
  },
  answer(world, names) {
    for (const name of names) world.member(name).silence = null;
  },
  impostor(world, [name = ""]) {
    world.member(name).uid = "uid-of-another";
  },
  refuse: (world, [name = "", kind = "", path = "", ...words]) =>
    void world.member(name).refuses.set(keyOf(kind, path), words.join(" ")),
  relent: (world, [name = ""]) => world.member(name).refuses.clear(),
  drift: (world, [name = "", kind = "", path = ""]) => world.member(name).drift(keyOf(kind, path)),
  destroy: (world, [name = "", kind = "", path = ""]) => void world.member(name).delete(keyOf(kind, path)),
  make: (world, [name = "", kind = "", path = ""]) => world.member(name).make(keyOf(kind, path)),
  finalizer: (world, [name = "", kind = "", path = ""]) => void world.member(name).finalizers.add(keyOf(kind, path)),
  unlist: (world, [name = "", kind = ""]) => void world.member(name).unlisted.add(kind),
  list: (world, [name = ""]) => world.member(name).unlisted.clear(),
  rewind(world) {
    world.head = emptyLedger;
    world.news = null;
  },
  finish: (world, [name = "", kind = "", path = ""]) => world.member(name).finish(keyOf(kind, path)),
};

/** `pass`, `pass refused`, `pass dies`, `pass late`, `pass dies after the claim`. */
function fateOf(words: readonly string[]): Fate {
  const text = words.join(" ");
  if (text === "refused") return { isRefused: true };
  if (text === "dies") return { diesAfterCommit: true };
  if (text === "late") return { isLate: true };
  return text.startsWith("dies ") ? { death: text.slice("dies ".length) as Death } : {};
}

/** Passes, with workloads becoming available in between, until nothing moves; then what the last one said. */
function settle(world: World): readonly string[] {
  for (let passes = 1; passes <= 50; passes++) {
    for (const it of world.members.values()) it.turn({ phase: "available" });
    const passed = world.pass();
    const isBusy = passed.isCommitted || passed.plan.actions.length > 0;
    if (!isBusy) return [`  settled in ${passes} passes`, ...told(passed)];
  }
  return ["  does not settle"];
}

/** A pass in words: what was written down, what was done, why not more, when to look again. */
function told({ plan, before, isCommitted, refusals }: Passed): readonly string[] {
  if (plan.refusal !== null) return [`  refused: ${plan.refusal.code}: ${plan.refusal.message}`];
  const lines = isCommitted ? describeChanges(before, plan.ledger) : [];
  const actions = plan.actions.flatMap(({ cluster, placements }) => placements.map((it) => actionText(cluster, it)));
  const isStill = !isCommitted && actions.length === 0;
  return [
    ...(isStill ? ["  nothing is decided, nothing is done"] : []),
    ...lines.map((it) => `  = ${it}`),
    ...actions.map((it) => `  + ${it}`),
    ...refusals.map((it) => `  ! ${it}`),
    ...plan.reasons.map((it) => `  ? ${reasonText(it)}`),
    ...(plan.wakeAt === null ? [] : [`  look again at ${instantText(plan.wakeAt).slice(11, 19)}`]),
  ];
}

function actionText(cluster: string, { placement, sequence, apply, remove, forget }: PlacementActions): string {
  const parts = [
    ...(apply.length === 0 ? [] : [`apply ${apply.map((it) => objectText(it.id)).join(", ")}`]),
    ...(remove.length === 0 ? [] : [remove.map(departureText).join(", ")]),
    ...(forget.length === 0 ? [] : [`forget ${forget.map((it) => objectText(objectIdOf(it))).join(", ")}`]),
  ];
  return `${cluster} ${placement}@${sequence}: ${parts.length === 0 ? "claim" : parts.join("; ")}`;
}

const alongText = (all: ObjectRemoval["cascadesTo"]): string =>
  all.length === 0 ? "" : ` (along with ${all.map(objectText).join(", ")})`;

const departureText = ({ id, how, uid, cascadesTo }: ObjectRemoval): string =>
  `${how} ${objectText(id)}${uid === null ? " (uid unknown)" : ""}${alongText(cascadesTo)}`;
