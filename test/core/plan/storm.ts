import { type ObjectKey, objectIdOf, objectKey } from "../../../src/core/model/manifest.ts";
import { clusterGroup, placementGroup } from "../../../src/core/model/names.ts";
import type { Collected } from "../../../src/core/model/observation.ts";
import {
  type Placement,
  type PlacementPolicy,
  placementKey,
  type ResourceSelector,
} from "../../../src/core/model/placement.ts";
import { type ClusterName, type Digest, minutes, type PlacementKey, seconds } from "../../../src/core/model/value.ts";
import { clusterOf, envelopeOf, keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../intent.ts";
import type { Death, Member } from "../../member.ts";
import { type Fate, type Passed, World, write } from "../../world.ts";
import { policyOf as noted } from "../schedule/notation.ts";
import { random } from "../schedule/random.ts";

type Random = ReturnType<typeof random>;

const kinds = ["ConfigMap web/config", "ConfigMap web/extra", "Deployment web/app", "Widget web/thing"] as const;
const others = ["Namespace extra", "ConfigMap extra/config", "Namespace shop", "Deployment shop/app"] as const;
const objects = ["Namespace web", ...kinds, ...others] as const;
const split = (line: string): readonly [string, string] => line.split(" ") as [string, string];
const wrappable = ["ConfigMap web/config", "ConfigMap web/extra"] as const;
const around = objectKey(envelopeOf("web/around", []).id);
const keys: readonly ObjectKey[] = objects.map((it) => keyOf(...split(it)));

/** A storm: a seeded world in which anything may happen, one step at a time. */
export class Storm {
  readonly world = new World();
  private readonly dice: Random;
  /** Envelopes have dice of their own: all else goes on as it would without them. Null where there are none. */
  private readonly wraps: Random | null;
  /** So have teams, which place objects of their namespaces themselves. Null where there are none. */
  private readonly teams: Random | null;
  private edits = 0;
  /** Every digest that was confirmed once. */
  private readonly given = new Set<Digest>();

  constructor(seed: number) {
    this.dice = random(seed);
    this.wraps = seed % 3 === 0 ? random(seed + 1_000_000) : null;
    this.teams = seed % 3 === 1 ? random(seed + 2_000_000) : null;
    const { world } = this;
    world.commit(() => {
      for (let at = 1; at <= 3 + this.dice.below(6); at++) world.join(clusterOf(`m${at}`, ["env=dev"]));
      for (const line of objects) write(world, objectOf(...split(line), "0"));
      this.place("web", "ns=web,extra");
      this.place("shop", "ns=shop");
    });
  }

  private chance(percent: number): boolean {
    return this.dice.below(100) < percent;
  }

  private get names(): readonly [string, ...string[]] {
    const [first, ...rest] = [...this.world.members.keys()];
    return [first ?? "m1", ...rest];
  }

  private place(name: string, ...options: readonly string[]): void {
    const policy = this.dice.pick([
      policyOf("PickAll", undefined),
      policyOf("PickAll", this.dice.pick(["env=prod", "env=dev"])),
      policyOf("PickN", String(this.dice.below(6))),
      noted(this.dice.pick(["all np:Ge:3", "2 np:Lt:3", "1 prefer 10:env=prod@np/Desc", "2 loc=eu prefer 10:@np/Asc"])),
      policyOf("PickFixed", this.dice.shuffled(this.names).slice(0, 3).join(",")),
    ]);
    const extras = [
      "abandon",
      "delete-adopted",
      "never-take-over",
      "unavailable=2",
      "surge=1",
      "deadline=4",
      "history=1",
    ];
    const chosen = extras.filter(() => this.chance(15));
    this.world.placements.set(name as PlacementKey, placementOf({ name, policy, options: [...options, ...chosen] }));
  }

  /** Something changes in the repository. */
  private edit(): void {
    const { world, dice } = this;
    const [kind, path] = split(dice.pick(objects));
    const name = dice.pick(this.names);
    this.edits += 1;
    const value = String(this.edits);
    world.commit(() =>
      dice.pick<() => unknown>([
        () => write(world, objectOf(kind, path, value)),
        () => write(world, objectOf(kind, path, "0")),
        () => void world.objects.delete(keyOf(kind, path)),
        () => this.place("web", this.chance(70) ? "ns=web,extra" : "ns=web"),
        () => this.place("shop", this.chance(80) ? "ns=shop" : "ns=shop,extra"),
        () => this.place("web", "ns=kube-system"),
        () => void world.placements.delete(dice.pick(["web", "shop"]) as PlacementKey),
        () => {
          const object = keyOf(...split(dice.pick(kinds)));
          const effect = this.chance(20) ? "delete" : value;
          world.overrides.set("loud", overrideOf("loud", object, dice.pick(["env=prod", "env=dev"]), effect));
        },
        () => {
          const object = keyOf(...split(dice.pick(kinds)));
          const effect = dice.pick(["on ${MEMBER-CLUSTER-NAME}", "in ${MEMBER-CLUSTER-LABEL-KEY-env}", "broken"]);
          world.overrides.set("quiet", overrideOf("quiet", object, dice.pick(["env=prod", "env=dev"]), effect));
        },
        () => void world.overrides.delete(dice.pick(["loud", "quiet"])),
        () => void this.breakDocument(),
        () => {
          world.unusable = new Set();
        },
        () =>
          world.join(clusterOf(name, [dice.pick(["env=prod", "env=dev"]), ...(this.chance(20) ? ["taint:gpu"] : [])])),
        () => void world.clusters.delete(name as ClusterName),
        () => this.confirmAll(),
        () => world.confirmations.clear(),
        () => this.confirmAgain(),
        () => {
          world.fleet = {
            ...world.fleet,
            guards: { ...world.fleet.guards, clusters: dice.below(4), objectsPerCluster: dice.below(12) },
          };
        },
        () => this.evict("web", name),
        () => this.evict("shop", name),
        () => this.budget(dice.pick(["web", "shop"])),
      ])(),
    );
    if (this.wraps !== null && this.wraps.below(3) === 0) this.wrap(this.wraps);
    if (this.teams !== null && this.teams.below(2) === 0) this.placeInside(this.teams);
    this.repair();
  }

  /** A team places something of its namespace by itself, whoever else places that, or does so no more. */
  private placeInside(dice: Random): void {
    const { world } = this;
    const key = dice.pick(teamKeys);
    const policy = dice.pick([
      policyOf("PickAll", undefined),
      policyOf("PickN", String(dice.below(4))),
      policyOf("PickFixed", dice.shuffled(this.names).slice(0, 2).join(",")),
    ]);
    const options = ["abandon", "never-take-over", "unavailable=2", "history=1"].filter(() => dice.below(6) === 0);
    const inside = objects.filter((it) => split(it)[1].startsWith(key.slice(0, key.indexOf("/") + 1)));
    const chosen = dice.shuffled(inside).slice(0, 1 + dice.below(2));
    world.commit(() => {
      if (dice.below(4) === 0) world.placements.delete(key);
      else world.placements.set(key, teamPlacement(key, policy, chosen, options));
    });
  }

  /** Somebody wraps objects, takes them out again, or leaves them there beside the envelope. */
  private wrap(dice: Random): void {
    const { world } = this;
    const wrapped = dice.shuffled(wrappable).slice(0, 1 + dice.below(2));
    const value = String(this.edits);
    const put = (line: string): void => write(world, objectOf(...split(line), value));
    world.commit(() => {
      const isAgain = !world.objects.delete(around) || dice.below(2) === 0;
      const defect = dice.below(6) === 0 ? "something in it is wrong" : null;
      if (isAgain) {
        const contents = wrapped.map((it) => objectOf(...split(it), value));
        write(world, envelopeOf("web/around", contents, defect));
      }
      for (const line of wrappable)
        if (!isAgain || !wrapped.includes(line)) put(line);
        else if (dice.below(6) > 0) world.objects.delete(keyOf(...split(line)));
    });
  }

  /** A cluster is to lose a placement, and often two people write that down. */
  private evict(placement: string, cluster: string): void {
    for (let at = this.dice.below(2); at >= 0; at--) {
      const name = `e${this.world.evictions.size}`;
      this.world.evictions.set(name, {
        name,
        placement: placement as PlacementKey,
        cluster: cluster as ClusterName,
        source: { path: `evictions/${name}.yaml`, document: 0, line: 1, column: 1 },
      });
    }
    // Beside a rollout, and beside another eviction.
    if (this.chance(30)) write(this.world, objectOf("Deployment", `${placement}/app`, String(this.edits)));
    if (this.chance(30)) this.budget(placement);
    if (this.chance(20)) this.evict(placement, this.dice.pick(this.names));
  }

  private budget(name: string): void {
    const placement = name as PlacementKey;
    const bound = this.dice.pick(["minAvailable", "maxUnavailable"] as const);
    const source = { path: `budgets/${name}.yaml`, document: 0, line: 1, column: 1 };
    this.world.budgets.set(placement, { placement, bound, limit: { count: this.dice.below(4) }, source });
  }

  /** A document comes that cannot be used, and nobody knows an earlier version of it. */
  private breakDocument(): void {
    const { world, dice } = this;
    const key = dice.pick([
      keyOf(...split(dice.pick(objects))),
      objectKey({ group: clusterGroup, kind: "MemberCluster", namespace: null, name: dice.pick(this.names) }),
      objectKey({
        group: placementGroup,
        kind: "ClusterResourcePlacement",
        namespace: null,
        name: dice.pick(["web", "shop"]),
      }),
    ]);
    const { kind, name } = objectIdOf(key);
    world.unusable = new Set([...world.unusable, key]);
    if (kind === "MemberCluster") world.clusters.delete(name as ClusterName);
    else if (kind === "ClusterResourcePlacement") world.placements.delete(name as PlacementKey);
    else world.objects.delete(key);
  }

  /** What there is a document of that can be used is usable. */
  private repair(): void {
    const { world } = this;
    const isThere = (key: ObjectKey): boolean => {
      const { kind, name } = objectIdOf(key);
      if (kind === "MemberCluster") return world.clusters.has(name as ClusterName);
      return world.objects.has(key) || (kind.endsWith("Placement") && world.placements.has(name as PlacementKey));
    };
    if ([...world.unusable].some(isThere))
      world.commit(() => {
        world.unusable = new Set([...world.unusable].filter((it) => !isThere(it)));
      });
  }

  private confirmAll(): void {
    for (const { digest } of (this.world.news ?? this.world.head).deletions.held) {
      this.world.confirmations.add(digest);
      this.given.add(digest);
    }
  }

  /** Old files come back. */
  private confirmAgain(): void {
    for (const digest of this.given) this.world.confirmations.add(digest);
  }

  /** Something happens on a member. */
  private weather(): void {
    const { dice, world } = this;
    const member = world.member(dice.pick(this.names));
    const key = keys[dice.below(keys.length)] ?? keyOf("Namespace", "web");
    dice.pick<() => unknown>([
      () => silence(member, true),
      () => silence(member, false),
      () => silence(member, false),
      () => void member.refuses.set(key, "denied"),
      () => member.refuses.clear(),
      () => member.drift(key),
      () => void member.delete(key),
      () => member.make(keyOf("ConfigMap", dice.pick(["web/config", "web/theirs", "extra/theirs"]))),
      () => member.turn({ phase: "available" }),
      () => member.turn({ phase: "available" }),
      () => member.turn({ phase: "failed", message: "CrashLoopBackOff" }),
      () => start(member, this.chance(50)),
      () => void member.finalizers.add(key),
      () => member.finish(key),
      () => void member.unlisted.add("apps/Deployment"),
      () => member.unlisted.clear(),
      () => identify(member, this.chance(30)),
      () => this.tell(member),
      () => this.tell(member),
    ])();
  }

  /** What a member says of itself changes, by little or by much, or cannot be read. */
  private tell(member: Member): void {
    const { dice } = this;
    const value = dice.pick(["1", "2", "2950m", "3", "3050m", "4", "many"]);
    const cpu = dice.pick(["9", "10", "10400m", "11"]);
    const nodes: Collected["properties"] = new Map([
      ["np", value],
      ["resources.kubernetes-fleet.io/available-cpu", cpu],
      ["resources.kubernetes-fleet.io/total-cpu", "12"],
    ]);
    const isUnread = this.chance(20);
    member.collected = {
      properties: isUnread ? new Map() : nodes,
      provided: new Map(this.chance(30) ? [["np", dice.pick(["1", "5"])]] : []),
      machines: [],
      labels: new Map(this.chance(50) && !isUnread ? [["loc", dice.pick(["eu", "us"])]] : []),
      missing: isUnread ? [{ source: "nodes", code: "TimedOut", message: "nodes were not read within 10 s" }] : [],
    };
    const missing = { source: "namespaces", code: "Forbidden", message: "namespaces may not be read" } as const;
    if (this.teams !== null)
      member.namespaces = this.teams.pick(["listed", "listed", { kind: "missing", missing }, null]);
  }

  private fate(): Fate {
    if (this.chance(70)) return {};
    return this.dice.pick<Fate>([
      { isRefused: true },
      { diesAfterCommit: true },
      { isLate: true },
      { death: this.dice.pick<Death>(["before the claim", "after the claim", "before the result"]) },
    ]);
  }

  /** One step, ending in a pass. */
  step(): Passed {
    const { world, dice } = this;
    if (this.chance(35)) this.edit();
    for (let at = dice.below(3); at > 0; at--) this.weather();
    if (this.chance(50)) world.wait(this.chance(30) ? minutes(dice.below(6)) : seconds(dice.below(40)));
    if (this.chance(10)) world.restart();
    if (this.chance(10)) world.flush();
    if (this.chance(40)) for (const it of world.late.splice(0, 2)) world.act(it);
    return world.pass(this.fate());
  }

  /** The weather clears, and people do their part. */
  calm(): void {
    const { world } = this;
    for (const it of world.late.splice(0)) world.act(it);
    const { clusters } = world.news ?? world.head;
    for (const [name, member] of world.members) {
      member.silence = null;
      // Who joined first as a cluster that others turned out to be keeps it; the others are themselves again.
      member.uid = clusters.get(name)?.kubeSystemUid ?? `uid-of-${name}`;
      member.refuses.clear();
      member.unlisted.clear();
      if (member.namespaces !== null) member.namespaces = "listed";
      member.fresh = { phase: "available" };
      for (const key of [...member.finalizers]) member.finish(key);
      member.turn({ phase: "available" });
    }
    world.commit(() => {
      for (const line of objects) write(world, objectOf(...split(line), "last"));
      world.objects.delete(around);
      for (const name of this.names) world.join(clusterOf(name, ["env=dev"]));
      world.overrides.clear();
      world.unusable = new Set();
      // What two want at once is tried again and again: that never rests. What any team ever had somewhere goes there.
      if (this.teams !== null)
        for (const key of teamKeys) world.placements.set(key, teamPlacement(key, policyOf("PickAll", undefined), []));
      for (const [name, spaces] of [
        ["web", "ns=web,extra"],
        ["shop", "ns=shop"],
      ] as const) {
        const policy = policyOf("PickAll", undefined);
        world.placements.set(name as PlacementKey, placementOf({ name, policy, options: [spaces] }));
      }
    });
  }

  /** Passes, confirming whatever waits, until nothing moves. Gives how many it took; null when it never ends. */
  settle(): number | null {
    const { world } = this;
    for (let passes = 1; passes <= 60; passes++) {
      const { plan, isCommitted } = world.pass();
      if (!isCommitted && plan.actions.length === 0 && plan.wakeAt === null) return passes;
      const isWaiting = world.head.deletions.held.some((it) => !it.confirmed);
      if (isWaiting) world.commit(() => this.confirmAll());
      for (const it of plan.reasons) if (it.kind === "orphans") removeOrphans(world.member(it.cluster), it.placement);
      for (const member of world.members.values()) member.turn({ phase: "available" });
      world.wait(minutes(1));
    }
    return null;
  }
}

/** What somebody does who reads of orphans: of a team, whose placement selects nothing by then, whatever it has. */
function removeOrphans(member: Member, placement: PlacementKey): void {
  if (!placement.includes("/")) member.delete(keyOf("Namespace", "extra"));
  for (const [key, { uid }] of member.inventory.placements.get(placement)?.entries ?? [])
    if (placement.includes("/") && member.objects.get(key)?.uid === uid) member.delete(key);
}

const namespaces = ["web", "shop", "extra"] as const;
const teamKeys = namespaces.flatMap((it) => [placementKey(it, "web"), placementKey(it, "app")]) as unknown as readonly [
  PlacementKey,
  ...PlacementKey[],
];

/** A placement inside of a namespace, of some of the objects there. */
function teamPlacement(
  key: PlacementKey,
  policy: PlacementPolicy,
  chosen: readonly string[],
  options: readonly string[] = [],
): Placement {
  const [namespace = "", name = ""] = key.split("/");
  const made = placementOf({ name, policy, options });
  const source = { ...made.source, path: `teams/${namespace}-${name}.yaml` };
  const resourceSelectors = (chosen.length === 0 ? [`ConfigMap ${namespace}/none`] : chosen).map(selectorOf);
  return { ...made, key, scope: "Namespaced", namespace, source, spec: { ...made.spec, resourceSelectors } };
}

function selectorOf(object: string): ResourceSelector {
  const { group, version, kind, name } = objectOf(...split(object), "").id;
  return { group, version, kind, name, labelSelector: null, selectionScope: "NamespaceWithResources" };
}

function silence(member: Member, isSilent: boolean): void {
  member.silence = isSilent ? { code: "Unreachable", message: "connection refused" } : null;
}

function start(member: Member, isQuick: boolean): void {
  member.fresh = isQuick ? { phase: "available" } : { phase: "progressing", message: "0 of 1" };
}

function identify(member: Member, isAnother: boolean): void {
  member.uid = isAnother ? "uid-of-another" : `uid-of-${member.name}`;
}
