// What moves what a cluster carries, or nothing at all, without a look at what is carried.

import { defaultFleet } from "../../../../src/core/model/fleet.ts";
import { builtInScopes, type Scope, type SourcedManifest } from "../../../../src/core/model/manifest.ts";
import type { Placement } from "../../../../src/core/model/placement.ts";
import type { ApprovalFile } from "../../../../src/core/model/trust.ts";
import type { BlobId, ClusterName, PlacementKey } from "../../../../src/core/model/value.ts";
import { clusterOf, keyOf, objectOf, overrideOf, placementOf, policyOf } from "../../../intent.ts";
import { Member } from "../../../member.ts";
import { type World, write } from "../../../world.ts";
import type { random } from "../../schedule/random.ts";
import { web } from "./trusted-world.ts";

/** Where objects of two placements, and an override, stand together. */
const sharedPath = "resources/shared.yaml";
/** The only file below its root. */
const farPath = "more/extra.yaml";
const narrow = ["resources", "placements", "clusters", "overrides", "strategies", "runs", "evictions"];

const shop = "shop" as PlacementKey;
const other = keyOf("ConfigMap", "shop/other");
const second = keyOf("ConfigMap", "web/second");
const extra = keyOf("ConfigMap", "web/extra");
const at = (it: SourcedManifest, path: string): SourcedManifest => ({ ...it, source: { ...it.source, path } });

/**
 * Edits that reach what is protected by another way than its own files: labels, overrides that sleep, files that several
 * share, what `fleet.yaml` says, scopes, what becomes of objects that go, approvals that come back. Each is
 * done inside of a commit.
 */
export class Cheats {
  private readonly world: World;
  private readonly dice: ReturnType<typeof random>;
  /** Approvals that were signed inside, and taken away again. */
  private readonly takenBack: ApprovalFile[] = [];

  constructor(world: World, dice: ReturnType<typeof random>) {
    this.world = world;
    this.dice = dice;
  }

  /** Another placement, of an object that stands beside one of the first. */
  begin(): void {
    const { world } = this;
    write(world, objectOf("Namespace", "shop", "0"));
    this.share("0");
    write(world, at(objectOf("ConfigMap", "web/extra", "0"), farPath));
    world.scopes = new Map([...builtInScopes, ["example.com/Widget", "Namespaced"]]);
    const policy = policyOf("PickAll", undefined);
    world.placements.set(shop, placementOf({ name: shop, policy, options: ["ns=shop", "unavailable=50%"] }));
  }

  private share(value: string): void {
    for (const path of ["shop/other", "web/second"])
      write(this.world, at(objectOf("ConfigMap", path, value), sharedPath));
  }

  /** One of them, for a cluster and with a value that nobody used. */
  of(name: ClusterName, value: string): (() => unknown) | undefined {
    const { dice } = this;
    const roundabout = [...this.labels(name), ...this.overrides(value), ...this.files(value), ...this.scopes(name)];
    return dice.shuffled([...roundabout, ...this.fleet(name)])[0];
  }

  private labels(name: ClusterName): readonly (() => unknown)[] {
    const { world, dice } = this;
    const environment = dice.pick(["env=canary", "env=prod"]);
    return [
      () => world.join(clusterOf(name, [environment, dice.pick(["tier=gold", "tier=tin", "team=a"])])),
      () => world.join(clusterOf(name, [environment, "tier=gold"])),
    ];
  }

  /** An override that matches nobody when it is written, and goes while its file stays. */
  private overrides(value: string): readonly (() => unknown)[] {
    const { world, dice } = this;
    const object = dice.pick([keyOf("ConfigMap", "web/settings"), keyOf("ConfigMap", "pay/keys"), other, second]);
    const sleeper = overrideOf("sleeper", object, "tier=gold", dice.pick([value, "delete"]));
    const asleep = { ...sleeper, source: { ...sleeper.source, path: sharedPath } };
    return [() => world.overrides.set("sleeper", asleep), () => world.overrides.delete("sleeper")];
  }

  private files(value: string): readonly (() => unknown)[] {
    const { world, dice } = this;
    const moved = world.objects.get(dice.pick([second, other]));
    return [
      // The file goes, and with it what another placement selects.
      () => [other, second].map((it) => world.objects.delete(it)),
      () => world.objects.delete(dice.pick([other, second])),
      () => this.share(value),
      () => moved && write(world, at(moved, dice.pick([sharedPath, "resources/alone.yaml"]))),
      () => world.others.set("docs/old.md", `old-${value}` as BlobId),
      () => world.others.delete("docs/old.md"),
    ];
  }

  private fleet(name: ClusterName): readonly (() => unknown)[] {
    const { world, dice } = this;
    const { fleet } = world;
    return [
      () => {
        world.fleet = { ...fleet, contexts: new Map([[name, dice.pick(["elsewhere", "m1", "m2"])]]) };
      },
      () => {
        world.fleet = { ...fleet, contexts: new Map() };
      },
      () => {
        world.fleet = { ...fleet, profile: fleet.profile === "default" ? "kubefleet" : "default" };
      },
      () => this.read(fleet.roots.length === 0 ? narrow : []),
      () => {
        this.read([]);
        world.fleet = defaultFleet;
      },
    ];
  }

  /** What the repository says of a kind, and what one member does. */
  private scopes(name: ClusterName): readonly (() => unknown)[] {
    const { world, dice } = this;
    const scope = dice.pick<Scope>(["Cluster", "Namespaced"]);
    return [
      () => {
        const member = world.members.get(name);
        if (member !== undefined) member.scopes = new Map([["example.com/Widget", scope]]);
      },
      () => write(world, objectOf("Widget", dice.pick(["web/w", "shop/w"]), dice.pick(["0", "1"]))),
    ];
  }

  /** Says which folders are read, and nothing else: files stay as they are. */
  private read(roots: readonly string[]): void {
    const { world } = this;
    const [to, from] = roots.length === 0 ? [world.objects, world.unread] : [world.unread, world.objects];
    const object = from.get(extra);
    if (object !== undefined) to.set(extra, object);
    from.delete(extra);
    world.fleet = { ...world.fleet, roots };
  }

  /** The context of a name that goes leads to the same cluster under another one, which is protected or not. */
  rename(from: string, to: string): void {
    const { members, clusters } = this.world;
    const [old, taken] = [members.get(from as ClusterName), members.has(to as ClusterName)];
    if (old === undefined || taken || !clusters.delete(from as ClusterName)) return;
    const joined = clusterOf(to, [this.dice.pick(["env=canary", "env=prod"])]);
    members.delete(from as ClusterName);
    const { inventory, objects, silence } = old;
    members.set(to as ClusterName, Object.assign(new Member(to, old.uid), { inventory, objects, silence }));
    this.world.join(joined);
  }

  /** Another fate for what goes, while all else stays as it was asked about. */
  otherFate(): void {
    const { world, dice } = this;
    const placement = world.placements.get(web);
    if (placement === undefined) return;
    const { strategy } = placement.spec;
    const fate = dice.pick<Partial<Placement["spec"]["strategy"]>>([
      { propagationPolicy: strategy.propagationPolicy === "Delete" ? "Abandon" : "Delete" },
      { deleteAdopted: !strategy.deleteAdopted },
    ]);
    world.placements.set(web, { ...placement, spec: { ...placement.spec, strategy: { ...strategy, ...fate } } });
  }

  /** Takes an approval away; somebody may put one back that was signed inside, where it was or elsewhere. */
  takeBack(): void {
    const { world, dice } = this;
    const [gone] = world.approvals.splice(dice.below(1 + world.approvals.length), 1);
    if (gone !== undefined && gone.signature !== null) this.takenBack.push(gone);
  }

  putBack(value: string): void {
    const { world, dice } = this;
    const taken = dice.pick<ApprovalFile | null>([null, ...this.takenBack]);
    if (taken === null) return;
    // Word for word, or the same signature in a file that looks otherwise.
    const again = dice.below(2) === 0 ? taken : { ...taken, blob: `again-${value}` as BlobId };
    const { detached = new Map() } = world.history;
    const signature = detached.get(taken.blob);
    if (signature !== undefined)
      world.history = { ...world.history, detached: new Map([...detached, [again.blob, signature]]) };
    const path = dice.below(3) === 0 ? again.path : `approvals/again-${value}.yaml`;
    if (world.approvals.every((it) => it.path !== path)) world.approvals.push({ ...again, path });
  }
}
