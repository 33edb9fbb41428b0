// A fleet in which people approve by signature: who they are, what they push, and what a pass says of it.
import type { CommitFact, SignatureFact } from "../../../../src/core/model/commit.ts";
import type { Gate } from "../../../../src/core/model/stage-task.ts";
import type { ApprovalFile, ApprovalRule, Request, Trust } from "../../../../src/core/model/trust.ts";
import { type RunRecord, runKey } from "../../../../src/core/model/update-run.ts";
import {
  type BlobId,
  type ClusterName,
  type Digest,
  type Instant,
  later,
  minutes,
  type PlacementKey,
} from "../../../../src/core/model/value.ts";
import { reasonText } from "../../../../src/core/report/reason-text.ts";
import { trustNamespace } from "../../../../src/core/trust/trust-chain.ts";
import { clusterOf, objectOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { morning, type Passed, World, write } from "../../../world.ts";
import { day, digest, rule, ssh, trust as trustOf } from "../../trust/scene.ts";

export const web = "web" as PlacementKey;

/** Ann's, Bob's or somebody's key, on a commit. */
export const by = (name: string): Pick<CommitFact, "signature"> => ({ signature: ssh(name) });
export const byNobody: { readonly signature: SignatureFact } = { signature: { kind: "unsigned" } };

/** The rules that hold unless a test says otherwise: Ann, Bob and Carol may approve everything. */
export const trust = (more: Partial<Trust> = {}): Trust =>
  trustOf({ expires: later(morning, minutes(300 * 24 * 60)), approvals: [everything()], ...more });
export const everything = (more: Partial<ApprovalRule> = {}): ApprovalRule =>
  rule({ placements: ["*"], stages: ["*"], ...more });

let texts = 0;

/** Puts a trust file there; the operator vouches for the first. */
export function trustedBy(world: World, file: Trust, fact: Partial<CommitFact> = by("ann")): void {
  if (world.trust === null) world.anchor = file.digest;
  texts += 1;
  const blob = `trust-${texts}` as BlobId;
  world.commit(() => {
    world.trust = { blob, text: `version ${file.version}`, trust: file };
  }, fact);
}

/** Two clusters, an External placement of one namespace and one ConfigMap, whatever stages; trust from the first commit. */
export function fleet(
  stages: readonly string[],
  file: Trust | null = trust(),
  options: readonly string[] = ["external"],
  world = new World(),
): World {
  world.commit(() => {
    for (const name of ["m1", "m2", "m3"]) world.join(clusterOf(name, [name === "m1" ? "env=canary" : "env=prod"]));
  }, by("dave"));
  if (file !== null) trustedBy(world, file);
  for (let pass = 0; pass < 3; pass++) world.pass();
  world.commit(() => {
    write(world, objectOf("Namespace", "web", "zero"));
    write(world, objectOf("ConfigMap", "web/settings", "zero"));
    world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options }));
    const all = strategyOf("all", stages);
    world.strategies.set(all.key, all);
  }, by("dave"));
  return world;
}

export const edit = (world: World, value: string, fact: Partial<CommitFact> = by("dave")): void =>
  world.commit(() => write(world, objectOf("ConfigMap", "web/settings", value)), fact);

export function run(
  world: World,
  name: string,
  fact: Partial<CommitFact> = by("dave"),
  index: string | null = null,
): void {
  const spec = { placement: web, strategy: strategyOf("all", []).key, resourceIndex: index, state: "Run" } as const;
  world.commit(() => world.runs.set(runKey(null, name), runOf(name, spec)), fact);
}

export const recordOf = (world: World, name: string): RunRecord => {
  const found = world.head.runs.get(runKey(null, name));
  if (found === undefined) throw new Error(`no run ${name}`);
  return found;
};

export function gateOf(world: World, name: string, stage: number, when: "before" | "after" = "before"): Gate {
  const gate = recordOf(world, name).stages[stage]?.[when].Approval;
  if (gate == null) throw new Error(`nobody is asked ${when} stage ${stage} of ${name}`);
  return gate;
}

/** The request of the placement's change, as it stands. */
export function changeOf(world: World): Request {
  const request = world.head.placements.get(web)?.change?.request;
  if (request == null) throw new Error("nobody is asked about a change");
  return request;
}

/** An approval as its file says it. */
export function answerOf(who: string, asked: Digest, more: Partial<ApprovalFile> = {}): ApprovalFile {
  texts += 1;
  const path = `approvals/${who}-${texts}.yaml`;
  const blob = `answer-${texts}` as BlobId;
  return { path, blob, digest: asked, decision: "Approve", principal: who, comment: "", signature: null, ...more };
}

/** Pushes answers, signed by `who`; a change of the commit says otherwise. */
export function push(world: World, answers: readonly ApprovalFile[], fact: Partial<CommitFact>): void {
  world.commit(() => world.approvals.push(...answers), fact);
}

export function answer(world: World, who: string, asked: Digest, more: Partial<ApprovalFile> = {}): ApprovalFile {
  const file = answerOf(who, asked, more);
  push(world, [file], by(who));
  return file;
}

/** One pass, with entropy that no other pass of the world has. */
export function pass(world: World): Passed {
  const count = (passes.get(world) ?? 0) + 1;
  passes.set(world, count);
  world.entropy = digest("e").slice(0, 60) + String(count).padStart(4, "0");
  const passed = world.pass();
  hooks.get(world)?.(passed, count);
  return passed;
}
const passes = new WeakMap<World, number>();

/** Lets something happen after every pass of a world, such as that the process ends; the passes have numbers from 1. */
export const afterPasses = (world: World, hook: (passed: Passed, count: number) => void): void =>
  void hooks.set(world, hook);
const hooks = new WeakMap<World, (passed: Passed, count: number) => void>();

/** Passes until nothing is decided any more; what the last one said. */
export function settle(world: World, most = 30): readonly string[] {
  for (let count = 0; count < most; count++) {
    const passed = pass(world);
    if (!passed.isCommitted && passed.plan.actions.length === 0) return passed.plan.reasons.map(reasonText);
  }
  throw new Error(`not settled after ${most} passes`);
}

/** What became of an answer: `counts`, or why it does not. */
export function verdictOf(world: World, { path }: ApprovalFile): string {
  const judgement = world.head.answers.get(path)?.judgement ?? null;
  if (judgement === null) return "was not judged";
  return judgement.kind === "counts" ? "counts" : `${judgement.code}: ${judgement.because}`;
}

/** Takes an answer away, or puts one there again. */
export const take = (world: World, { path }: ApprovalFile, fact: Partial<CommitFact> = byNobody): void =>
  world.commit(() => {
    const left = world.approvals.filter((it) => it.path !== path);
    world.approvals.splice(0, world.approvals.length, ...left);
  }, fact);

/** The version after another one. */
export const nextOf = (file: Trust, more: Partial<Trust> = {}): Trust => {
  const version = file.version + 1;
  return { ...file, version, digest: digest(String(version % 10)), previous: file.digest, ...more };
};

/** Signs whatever stands in `trust/root.yaml` by these people's keys. */
export function rootsSign(world: World, ...names: readonly string[]): void {
  const trustSignatures = names.map((it) => ({ path: `trust/sigs/${it}.sig`, fact: ssh(it, trustNamespace) }));
  world.history = { ...world.history, trustSignatures };
}

export const carries = (world: World): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ["m1", "m2", "m3"].map((it) => [
      it,
      world.carried(it as ClusterName).find((line) => line.startsWith("ConfigMap")) ?? "-",
    ]),
  );

export const inDays = (world: World, days: number): Instant => later(world.now, minutes((days * day) / 60_000));
