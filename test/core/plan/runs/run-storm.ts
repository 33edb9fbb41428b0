import type { Ledger } from "../../../../src/core/model/ledger.ts";
import { runKey, strategyKey, type UpdateRunSpec } from "../../../../src/core/model/update-run.ts";
import {
  type BlobId,
  type ClusterName,
  type DurationMs,
  minutes,
  type PlacementKey,
  type RunKey,
  seconds,
} from "../../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import type { Member } from "../../../member.ts";
import { type Fate, type Passed, World, write } from "../../../world.ts";
import { random } from "../../schedule/random.ts";

const web = "web" as PlacementKey;
const objects = ["Namespace web", "ConfigMap web/config", "Deployment web/app"] as const;
const split = (line: string): readonly [string, string] => line.split(" ") as [string, string];
const stages: readonly [readonly string[], ...(readonly string[])[]] = [
  ["canary:env=canary", "prod:env=prod/50%", "dev:env=dev/2"],
  ["canary:env=canary/ask-before/wait=7", "prod:env=prod/2/ask-after", "dev:env=dev/100%/fail=1"],
  ["dev:env=dev/wait=3/sort=order", "canary:env=canary/ask-after", "prod:env=prod/ask-before"],
  ["all"],
];
const environments = ["env=canary", "env=prod", "env=dev"] as const;

/** A storm over one External placement: people create, stop, answer and remove runs, and members do as they like. */
export class RunStorm {
  readonly world = new World();
  private readonly dice: ReturnType<typeof random>;
  private edits = 0;

  constructor(seed: number) {
    this.dice = random(seed);
    const { world } = this;
    world.commit(() => {
      for (let at = 1; at <= 4 + this.dice.below(5); at++) this.join(`m${at}`);
      for (const line of objects) write(world, objectOf(...split(line), "0"));
      this.place();
      this.strategise("rings");
      this.strategise("waves");
      world.fleet = { ...world.fleet, unsignedApprovals: "allow" };
    });
  }

  get ledger(): Ledger {
    return this.world.news ?? this.world.head;
  }

  private chance(percent: number): boolean {
    return this.dice.below(100) < percent;
  }

  private get names(): readonly [string, ...string[]] {
    const [first, ...rest] = [...this.world.members.keys()];
    return [first ?? "m1", ...rest];
  }

  private join(name: string): void {
    const order = this.chance(90) ? [`order=${this.dice.below(5)}`] : [];
    this.world.join(clusterOf(name, [this.dice.pick(environments), ...order]));
  }

  private place(): void {
    const policy = this.dice.pick([
      policyOf("PickAll", undefined),
      policyOf("PickAll", undefined),
      policyOf("PickN", String(2 + this.dice.below(4))),
      policyOf("PickFixed", this.dice.shuffled(this.names).slice(0, 3).join(",")),
    ]);
    const options = ["deadline=4", "never-take-over", "abandon", "history=2"].filter(() => this.chance(15));
    this.world.placements.set(web, placementOf({ name: "web", policy, options: ["external", ...options] }));
  }

  private strategise(name: string): void {
    const strategy = strategyOf(name, this.dice.pick(stages));
    this.world.strategies.set(strategy.key, strategy);
  }

  private create(state: UpdateRunSpec["state"]): void {
    const { world, dice } = this;
    const key = runKey(null, `r${this.edits}`);
    const kept = this.ledger.placements.get(web)?.resourceSnapshots.map((it) => it.index) ?? [];
    const resourceIndex = this.chance(30) ? String(dice.pick([0, ...kept])) : null;
    const strategy = strategyKey(null, dice.pick(["rings", "waves", "rings", "rings"]));
    world.runs.set(key, runOf(key, { placement: web, strategy, resourceIndex, state }));
  }

  /** Everybody who is asked answers. */
  private answer(decision: "Approve" | "Reject"): void {
    for (const { digest, name } of this.open())
      this.world.approvals.push({
        path: `approvals/${name}.yaml`,
        blob: `blob-${digest.slice(0, 8)}` as BlobId,
        digest,
        decision,
        principal: "ann",
        comment: "",
        signature: null,
      });
  }

  private *open() {
    for (const [key, { stages: progress }] of this.ledger.runs)
      for (const [at, it] of progress.entries())
        for (const gate of [it.before.Approval, it.after.Approval])
          if (gate !== null && gate.approval === null) yield { digest: gate.digest, name: `${key}/${at}` };
  }

  private edit(): void {
    const { world, dice } = this;
    const [kind, path] = split(dice.pick(objects));
    const name = dice.pick(this.names);
    const run = dice.pick([runKey(null, "none"), ...world.runs.keys()]);
    this.edits += 1;
    world.commit(() =>
      dice.pick<() => unknown>([
        () => write(world, objectOf(kind, path, String(this.edits))),
        () => write(world, objectOf(kind, path, "0")),
        () => this.create("Run"),
        () => this.create("Run"),
        () => this.create("Run"),
        () => this.create(dice.pick(["Initialize", "Stop"])),
        () => this.set(run, "Stop"),
        () => this.set(run, "Run"),
        () => this.set(run, "Run"),
        () => void world.runs.delete(run),
        () => this.answer("Approve"),
        () => this.answer("Approve"),
        () => this.answer(this.chance(20) ? "Reject" : "Approve"),
        () => this.strategise(dice.pick(["rings", "waves"])),
        () => this.join(name),
        () => void world.clusters.delete(name as ClusterName),
        () => (this.chance(30) ? this.place() : undefined),
        () => (this.chance(10) ? world.placements.delete(web) : undefined),
        () => world.overrides.set("loud", overrideOf("loud", keyOf(kind, path), dice.pick(environments), "loud")),
        () => world.overrides.delete("loud"),
        () =>
          world.evictions.set(`e${this.edits}`, {
            name: `e${this.edits}`,
            placement: web,
            cluster: name as ClusterName,
            source: { path: `evictions/e${this.edits}.yaml`, document: 0, line: 1, column: 1 },
          }),
        () => this.confirmAll(),
      ])(),
    );
  }

  private set(key: RunKey, state: UpdateRunSpec["state"]): void {
    const run = this.world.runs.get(key);
    if (run !== undefined) this.world.runs.set(key, { ...run, spec: { ...run.spec, state } });
  }

  private confirmAll(): void {
    for (const { digest } of this.ledger.deletions.held) this.world.confirmations.add(digest);
  }

  private weather(): void {
    const { dice, world } = this;
    const member = world.member(dice.pick(this.names));
    const key = keyOf(...split(dice.pick(objects)));
    dice.pick<() => unknown>([
      () => silence(member, this.chance(30)),
      () => member.refuses.set(key, "denied"),
      () => member.refuses.clear(),
      () => member.drift(key),
      () => member.turn({ phase: "available" }),
      () => member.turn({ phase: "available" }),
      () => member.turn({ phase: "available" }),
      () => member.turn({ phase: "failed", message: "CrashLoopBackOff" }),
      () => {
        member.fresh = this.chance(70) ? { phase: "available" } : { phase: "progressing", message: "0 of 1" };
      },
      () => {
        world.clockOffset = dice.pick([null, 0, 59_000, 61_000, -7_200_000]) as DurationMs | null;
      },
    ])();
  }

  private fate(): Fate {
    if (this.chance(75)) return {};
    return this.dice.pick<Fate>([{ isRefused: true }, { diesAfterCommit: true }, { isLate: true }]);
  }

  /** One step, ending in a pass. */
  step(): Passed {
    const { world, dice } = this;
    if (this.chance(40)) this.edit();
    for (let at = dice.below(3); at > 0; at--) this.weather();
    if (this.chance(60)) world.wait(this.chance(50) ? minutes(dice.below(8)) : seconds(dice.below(40)));
    if (this.chance(10)) world.restart();
    if (this.chance(40)) for (const it of world.late.splice(0, 2)) world.act(it);
    return world.pass(this.fate());
  }

  /** The weather clears, old runs are put away, and one more run is to bring the latest version everywhere. */
  calm(): void {
    const { world } = this;
    for (const it of world.late.splice(0)) world.act(it);
    world.clockOffset = null;
    for (const member of world.members.values()) {
      member.silence = null;
      member.refuses.clear();
      member.fresh = { phase: "available" };
      member.turn({ phase: "available" });
    }
    world.commit(() => {
      for (const line of objects) write(world, objectOf(...split(line), "last"));
      for (const name of this.names) this.join(name);
      world.overrides.clear();
      world.runs.clear();
      const policy = policyOf("PickAll", undefined);
      world.placements.set(web, placementOf({ name: "web", policy, options: ["external"] }));
      const waves = strategyOf("last", ["canary:env=canary/ask-before", "prod:env=prod/wait=5", "dev:env=dev/2"]);
      world.strategies.set(waves.key, waves);
      const key = runKey(null, "last");
      const spec = { placement: web, strategy: waves.key, resourceIndex: null, state: "Run" } as const;
      world.runs.set(key, runOf(key, spec));
    });
  }

  /** Passes, with everybody answering and confirming, until nothing moves. Null when it never ends. */
  settle(): number | null {
    const { world } = this;
    for (let passes = 1; passes <= 80; passes++) {
      const { plan, isCommitted } = world.pass();
      if (!isCommitted && plan.actions.length === 0 && plan.wakeAt === null && [...this.open()].length === 0)
        return passes;
      const isHeld = this.ledger.deletions.held.some((it) => !it.confirmed);
      if (isHeld || [...this.open()].length > 0)
        world.commit(() => {
          this.confirmAll();
          this.answer("Approve");
        });
      for (const member of world.members.values()) member.turn({ phase: "available" });
      world.wait(minutes(1));
    }
    return null;
  }
}

function silence(member: Member, isSilent: boolean): void {
  member.silence = isSilent ? { code: "Unreachable", message: "connection refused" } : null;
}
