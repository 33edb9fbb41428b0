// A fleet under attack: people push, sign, approve, reject and renew what is trusted, and some of them cheat.

import type { Ledger } from "../../../../src/core/model/ledger.ts";
import type {
  Approval,
  ApprovalFile,
  ProtectedTarget,
  Request,
  Revocation,
  Trust,
} from "../../../../src/core/model/trust.ts";
import { runKey } from "../../../../src/core/model/update-run.ts";
import { type BlobId, type ClusterName, type Digest, minutes, type RunKey } from "../../../../src/core/model/value.ts";
import { approvalNamespace } from "../../../../src/core/trust/judge-approval.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf, runOf, strategyOf } from "../../../intent.ts";
import { World, write } from "../../../world.ts";
import { random } from "../../schedule/random.ts";
import { digest, rule, somebody, ssh } from "../../trust/scene.ts";
import { Cheats } from "./trust-cheats.ts";
import { answerOf, by, push, trust, trustedBy, web } from "./trusted-world.ts";

const people = ["ann", "bob", "carol", "dave"] as const;
const maps = ["web/settings", "pay/keys"] as const;
const environments = ["env=canary", "env=prod"] as const;
const plans: readonly [readonly string[], ...(readonly string[])[]] = [
  ["canary:env=canary", "prod:env=prod/2/ask-before"],
  ["canary:env=canary/ask-before/ask-after", "prod:env=prod/ask-before"],
  ["all:/3"],
];

/**
 * People push, sign, approve, reject and renew what is trusted, over a placement of which a part is protected. Some of
 * them cheat: too few roots sign, versions are skipped, approvals are edited, or come with the key that makes them count.
 */
export class TrustStorm {
  readonly world = new World();
  private readonly dice: ReturnType<typeof random>;
  private readonly cheats: Cheats;
  private edits = 0;
  private version = 1;
  private roots = "1".repeat(64) as Digest;
  /** The rules of the newest version that anybody wrote. */
  private rules: Trust;
  /** How many gates were approved. */
  opened = 0;
  /** How many changes of what is protected were approved. */
  granted = 0;

  constructor(seed: number) {
    this.dice = random(seed);
    const { world } = this;
    this.cheats = new Cheats(world, this.dice);
    world.commit(() => {
      for (let at = 1; at <= 4; at++) this.join(`m${at}`);
    }, by("dave"));
    this.rules = this.freshRules();
    trustedBy(world, this.rules);
    // The operator vouches for another one, until he sees that it is not there.
    if (this.chance(15)) world.anchor = digest("f");
    world.commit(() => {
      for (const name of ["web", "pay"]) write(world, objectOf("Namespace", name, "0"));
      for (const path of maps) write(world, objectOf("ConfigMap", path, "0"));
      this.cheats.begin();
      this.place();
      this.strategise();
    }, by("dave"));
  }

  private get ledger(): Ledger {
    return this.world.news ?? this.world.head;
  }

  private chance(percent: number): boolean {
    return this.dice.below(100) < percent;
  }

  private join(name: string): void {
    this.world.join(clusterOf(name, [this.dice.pick(environments)]));
  }

  private freshRules(): Trust {
    const { dice } = this;
    const target = (): ProtectedTarget => ({
      clusters: [dice.pick(["m*", "m2", "m3", "m4@uid-4"])],
      namespaces: [dice.pick(["web", "pay", "p*", "shop"])],
      principals: dice.shuffled(people).slice(0, 3 + dice.below(2)),
      minimum: dice.pick([1, 1, 1, 2]),
      accept: ["commit", "detached"],
    });
    return trust({
      version: this.version,
      digest: this.roots,
      approvals: [
        rule({
          placements: ["*"],
          stages: ["*"],
          principals: dice.shuffled(people).slice(0, 3 + dice.below(2)),
          minimum: dice.pick([1, 1, 1, 2]),
          fourEyes: this.chance(30),
          unsignedChanges: dice.pick(["deny", "oneMore", "allow", "allow"]),
        }),
      ],
      protectedTargets: [target(), target(), target()].slice(dice.below(4)),
      roots: { principals: ["ann", "bob", "carol"], threshold: 2 },
      revocations: this.chance(15) ? [this.revocation()] : [],
    });
  }

  private revocation(): Revocation {
    return { key: "SHA256:bob", kind: this.dice.pick(["retired", "compromised"]) };
  }

  /** What the next version changes: everything; whose key counts no more; or Eve's key becomes Ann's. */
  private nextRules(): Trust {
    const { rules, dice } = this;
    return dice.pick<() => Trust>([
      () => this.freshRules(),
      () => ({ ...rules, revocations: this.chance(70) ? [this.revocation()] : [] }),
      () => {
        const ann = somebody("ann", { sshKeys: ["SHA256:ann", "SHA256:eve"] });
        return { ...rules, principals: new Map([...rules.principals, ["ann", ann] as const]) };
      },
    ])();
  }

  /** A new version of the trust file, as it has to be or not quite; one that is not accepted is taken back. */
  private renew(): void {
    const { world, rules: before, dice } = this;
    const [previous, version] = [this.roots, this.version];
    // What comes in the same push is judged by the version before.
    if (this.chance(40)) this.answers();
    this.version += dice.pick([1, 1, 1, 1, 2]);
    this.roots = digest("abcdef0123456789"[this.version % 16] ?? "a");
    this.rules = { ...this.nextRules(), version: this.version, digest: this.roots, previous };
    if (this.chance(5)) this.rules = { ...this.rules, previous: digest("9") };
    const signers = dice.pick([
      ["ann", "carol"],
      ["ann", "carol"],
      ["carol", "ann"],
      ["ann", "ann2"],
      ["dave", "ann"],
    ]);
    world.history = {
      ...world.history,
      trustSignatures: signers.map((it) => ({ path: `trust/${it}.sig`, fact: ssh(it, "flotilla-trust-v1") })),
    };
    if (this.chance(8)) write(world, objectOf("ConfigMap", dice.pick(maps), `along ${this.version}`));
    trustedBy(world, this.rules);
    if (this.chance(50))
      for (const { digest: asked } of [...this.open()]) push(world, [answerOf("ann", asked)], by("eve"));
    world.pass();
    if (world.head.trust?.trust.version === this.version) return;
    const { trust: known, text = "" } = world.head.trust ?? {};
    [this.roots, this.version, this.rules] = [previous, version, before];
    world.commit(() => {
      world.trust = { blob: `back-${this.opened}-${this.edits}` as BlobId, text, trust: known ?? null };
    }, by("ann"));
  }

  /** Somebody breaks the trust file, and somebody puts it back. */
  private breakTrust(): void {
    const { world } = this;
    const { trust: file } = world;
    const put = (it: World["trust"]): void =>
      world.commit(() => {
        world.trust = it;
      }, by("ann"));
    put(file && { ...file, blob: `broken-${this.edits}` as BlobId, text: "?", trust: null });
    world.pass();
    put(file);
  }

  private place(): void {
    const ns = this.dice.pick(["web", "web,pay", "web,pay", "pay"]);
    const policy = this.dice.pick([
      policyOf("PickAll", undefined),
      policyOf("PickN", "2"),
      policyOf("PickAll", "env=prod"),
    ]);
    const options = [`ns=${ns}`, "unavailable=50%", ...(this.chance(70) ? ["external"] : [])];
    this.world.placements.set(web, placementOf({ name: "web", policy, options }));
  }

  private strategise(): void {
    const strategy = strategyOf("all", this.dice.pick(plans));
    this.world.strategies.set(strategy.key, strategy);
  }

  private *open(): Generator<Request> {
    for (const { end, stages } of this.ledger.runs.values())
      for (const { before, after } of stages)
        for (const gate of [before.Approval, after.Approval])
          if (gate !== null && gate.approval === null && end === null) yield gate;
    for (const { change } of this.ledger.placements.values())
      if (change?.request?.approval === null) yield change.request;
  }

  private answers(): void {
    for (const { digest: asked } of [...this.open()])
      for (const who of this.dice.shuffled(people).slice(0, 2 + this.dice.below(3))) {
        const decision: ApprovalFile["decision"] = this.chance(96) ? "Approve" : this.dice.pick(["Reject", "Revoke"]);
        const signer = this.chance(90) ? who : this.dice.pick(["eve", ...people]);
        const file = answerOf(who, asked, { decision, signature: this.chance(25) ? "signed inside" : null });
        if (file.signature !== null) this.know(file, signer);
        push(this.world, [file], by(file.signature === null ? signer : this.dice.pick(["eve", ...people])));
        if (this.chance(6)) this.rewrite(file);
      }
  }

  /** Whose signature stands in a file. */
  private know({ blob }: ApprovalFile, signer: string): void {
    const { history } = this.world;
    const detached = new Map([...(history.detached ?? []), [blob, ssh(signer, approvalNamespace)] as const]);
    this.world.history = { ...history, detached };
  }

  /** Says something else in a file that is there. */
  private rewrite(file: ApprovalFile): void {
    const { world } = this;
    const { blob } = answerOf(file.principal, file.digest);
    world.commit(
      () => void world.approvals.splice(world.approvals.indexOf(file), 1, { ...file, blob }),
      by(file.principal),
    );
  }

  private edit(): void {
    const { world, dice } = this;
    const name = dice.pick(["m1", "m2", "m3", "m4"]);
    const run = dice.pick([runKey(null, "none"), ...world.runs.keys()]) as RunKey;
    this.edits += 1;
    const eviction = `e${this.edits}`;
    const source = { path: `evictions/${eviction}.yaml`, document: 0, line: 1, column: 1 };
    const spec = { placement: web, strategy: strategyOf("all", []).key, resourceIndex: this.chance(20) ? "0" : null };
    const make = () =>
      void world.runs.set(runKey(null, `r${this.edits}`), runOf(`r${this.edits}`, { ...spec, state: "Run" }));
    const change = dice.pick<() => unknown>([
      () => write(world, objectOf("ConfigMap", dice.pick(maps), String(this.edits))),
      () => write(world, objectOf("ConfigMap", dice.pick(maps), String(this.edits))),
      ...[1, 2, 3, 4, 5, 6].map(() => make),
      () => world.runs.delete(run),
      () => this.strategise(),
      () => this.join(name),
      () => (this.chance(30) ? world.clusters.delete(name as ClusterName) : undefined),
      () => this.place(),
      () => (this.chance(20) ? world.placements.delete(web) : undefined),
      () =>
        world.overrides.set(
          "o",
          overrideOf("o", keyOf("ConfigMap", dice.pick(maps)), dice.pick(environments), dice.pick(["delete", "x"])),
        ),
      () => world.overrides.delete("o"),
      ...[1, 2, 3].map(() => () => this.cheats.of(name as ClusterName, String(this.edits))?.()),
      () => this.cheats.otherFate(),
      () => (this.chance(70) ? this.cheats.rename(name, "x1") : this.cheats.rename("x1", name)),
      () => world.evictions.set(eviction, { name: eviction, placement: web, cluster: name as ClusterName, source }),
      () => {
        for (const { digest: held } of this.ledger.deletions.held) world.confirmations.add(held);
      },
      () => (this.chance(50) ? this.cheats.takeBack() : undefined),
      () => this.cheats.putBack(String(this.edits)),
    ]);
    world.commit(change, this.chance(95) ? by(this.chance(60) ? "dave" : dice.pick(people)) : {});
  }

  step(): void {
    const { world, dice } = this;
    if (this.chance(25)) this.edit();
    if (this.chance(50)) this.answers();
    if (this.chance(3)) this.renew();
    if (this.chance(3)) this.breakTrust();
    if (world.head.trust === null && this.chance(25)) world.anchor = this.roots;
    for (const member of world.members.values()) {
      if (this.chance(60)) member.turn({ phase: "available" });
      if (this.chance(5)) member.silence = member.silence === null ? { code: "Unreachable", message: "refused" } : null;
    }
    if (this.chance(60)) world.wait(minutes(dice.below(8)));
    if (this.chance(2)) world.wait(minutes(25 * 60));
    if (this.chance(8)) world.restart();
    world.entropy = digest("e").slice(0, 56) + String(10_000_000 + this.edits++);
    const { plan, before } = world.pass(
      this.chance(85) ? {} : dice.pick([{ isRefused: true }, { diesAfterCommit: true }]),
    );
    this.opened += fresh(gatesIn(plan.ledger), gatesIn(before));
    this.granted += fresh(changesIn(plan.ledger), changesIn(before));
  }
}

const gatesIn = ({ runs }: Ledger): readonly Approval[] =>
  [...runs.values()].flatMap(({ stages }) =>
    stages.flatMap((it) => [it.before.Approval?.approval ?? [], it.after.Approval?.approval ?? []].flat()),
  );
const changesIn = ({ placements }: Ledger): readonly Approval[] =>
  [...placements.values()].flatMap((it) => it.change?.request?.approval ?? []);
const fresh = (now: readonly Approval[], was: readonly Approval[]): number =>
  now.filter((it) => !was.includes(it)).length;
