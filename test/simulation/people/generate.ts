import { random } from "../../core/schedule/random.ts";
import type { Lie, PassOptions, Step } from "../step.ts";
import { HandOverGenerator } from "./generate-hand-overs.ts";
import { RemovalGenerator } from "./generate-removals.ts";
import { RunGenerator } from "./generate-runs.ts";
import { TrustGenerator } from "./generate-trust.ts";

/** The objects of every world. */
const objects = [
  "Namespace web",
  "ConfigMap web/config",
  "Deployment web/app",
  "Secret web/keys",
  "Namespace shop",
  "ConfigMap shop/config",
  "Deployment shop/app",
  "Namespace extra",
  "ConfigMap extra/config",
] as const;

/** A team's placement of what is in `web`. */
const team = "web/team";

/** Small fleets have one. */
const inventory = "ConfigMap flotilla-system/flotilla-inventory-0";

/** Prefers members with many nodes, which they tell themselves. */
const byNodes = "sort:kubernetes-fleet.io/node-count";

const effectKinds = ["commit", "note", "apply", "delete", "patch", "effect"] as const;

type Dice = ReturnType<typeof random>;

/** A storm as data: the steps of a world in which anything may happen, from a number. */
export function generate(seed: number): readonly Step[] {
  // Lies, envelopes, teams and profiles have dice of their own: all else goes on as it would without them.
  const others = (at: number): Dice => random(seed + at * 1_000_000);
  const dice = { dice: random(seed), lies: others(1), wraps: others(2), teams: others(3), profiles: others(4) };
  return new Author({ ...dice, homes: others(5) }).write();
}

type AllDice = Readonly<Record<"dice" | "lies" | "wraps" | "teams" | "profiles" | "homes", Dice>>;

class Author {
  readonly #dice: Dice;
  readonly #lies: Dice;
  /** Null in worlds without envelopes. */
  readonly #wraps: Dice | null;
  /** Null in worlds in which nobody overrides single objects of a namespace. */
  readonly #teams: Dice | null;
  /** Null in worlds in which the scheduler decides by default alone. */
  readonly #profiles: Dice | null;
  /** Null in worlds in which no team places anything in its namespace. */
  readonly #homes: Dice | null;
  readonly #steps: Step[] = [];
  readonly #members: readonly [string, ...string[]];
  /** A placement's type cannot be edited. */
  readonly #types: Readonly<Record<string, "PickAll" | "PickN" | "PickFixed">>;
  /** Null in worlds without staged runs. */
  readonly #runs: RunGenerator | null;
  /** Null in worlds in which nobody signs. */
  readonly #trust: TrustGenerator | null;
  readonly #leaving: RemovalGenerator;
  readonly #moving: HandOverGenerator;
  #value = 0;
  #isHeld = false;

  constructor({ dice, lies, wraps, teams, profiles, homes }: AllDice) {
    this.#dice = dice;
    this.#lies = lies;
    this.#wraps = wraps.below(3) === 0 ? wraps : null;
    this.#teams = teams.below(3) === 0 ? teams : null;
    this.#profiles = profiles.below(3) === 0 ? profiles : null;
    const type = () => dice.pick(["PickAll", "PickAll", "PickN", "PickFixed"] as const);
    this.#types = { web: type(), shop: type() };
    const count = 2 + dice.below(3);
    this.#members = ["m1", ...Array.from({ length: count - 1 }, (_, at) => `m${at + 2}`)];
    const external = dice.pick([["web"], ["web"], ["web", "shop"]] as const);
    this.#runs = this.#chance(33) ? new RunGenerator(dice, this.#members, external) : null;
    // A team can be wherever its namespace is only where no run has to bring that first, to clusters that it picked before.
    this.#homes = this.#runs === null && this.#types["web"] === "PickAll" ? homes : null;
    this.#trust = this.#chance(33) ? new TrustGenerator(dice, this.#members) : null;
    const scene = {
      pass: () => this.#pass("a", true),
      place: (name: string, extras: readonly string[]) => this.#placed(name, extras),
      member: () => this.#member,
    };
    this.#leaving = new RemovalGenerator(dice, scene);
    this.#moving = new HandOverGenerator(dice, scene);
  }

  write(): readonly Step[] {
    this.#found();
    const length = 5 + this.#dice.below(11);
    for (let at = 0; at < length; at++) this.#turn();
    return this.#steps;
  }

  #add(...steps: readonly Step[]): void {
    this.#steps.push(...steps.map((it) => this.#trust?.signed(it) ?? it));
  }

  #chance(percent: number): boolean {
    return this.#dice.below(100) < percent;
  }

  /** Some of the members, and perhaps all of them. */
  get #some(): string {
    return this.#dice
      .shuffled(this.#members)
      .slice(0, 1 + this.#dice.below(this.#members.length))
      .join(",");
  }

  get #member(): string {
    return this.#dice.pick(this.#members);
  }

  #found(): void {
    for (const name of this.#members) this.#add({ do: "cluster", name, words: this.#labels() });
    for (const object of objects) this.#add({ do: "manifest", object, value: "0" });
    this.#place("web");
    if (this.#chance(80)) this.#place("shop");
    if (this.#homes !== null) this.#add(this.#placedByTeam(this.#homes));
    if (this.#runs !== null || this.#chance(50)) this.#guards();
    else if (this.#profiles !== null)
      this.#writeFleet({ objects: this.#profiles.below(8), clusters: this.#profiles.below(4) });
    if (this.#runs !== null) this.#add(...this.#runs.found());
    if (this.#trust !== null) this.#add(this.#trust.found());
    this.#add({ do: "push" });
    if (this.#chance(10)) this.#disown();
    for (let at = this.#dice.below(4); at > 0; at--) this.#add(this.#pass("a", true));
  }

  /** The answer to a creation is lost, and what is asked for next is refused. */
  #disown(): void {
    const { pick, below } = this.#dice;
    const lost = `${pick(["lost", "lost", "late", "504"])} apply ${1 + below(6)}`;
    const refused = `${pick(["403", "403", "500", "lost"])} ${pick(["read", "apply", "apply"])}`;
    this.#add({ ...this.#pass("a", true), faults: lost });
    if (this.#chance(70)) {
      this.#change();
      this.#add({ do: "push" });
    }
    this.#add({
      ...this.#pass("a", true),
      patience: "none",
      faults: `${refused} ${1 + below(8)}; ${refused} ${1 + below(3)}`,
    });
    if (this.#chance(30)) this.#leave();
  }

  #labels(): string {
    const order = this.#runs === null ? "" : ` order=${this.#dice.below(4)}`;
    const place = this.#dice.pick([" r=a", " r=b", " r=b", ""]) + this.#dice.pick([" np:2", " np:4", ""]);
    return this.#dice.pick(["env=dev", "env=dev", "env=prod"]) + order + place;
  }

  #guards(): void {
    this.#writeFleet({ objects: this.#dice.below(8), clusters: this.#dice.below(4) });
  }

  /** In worlds of both profiles, `fleet.yaml` asks for the one or the other. */
  #writeFleet(guards: { readonly objects: number; readonly clusters: number }): void {
    const isKubeFleet = this.#profiles !== null && this.#profiles.below(3) > 0;
    this.#add({ do: "guards", ...guards, ...(isKubeFleet ? { profile: "kubefleet" as const } : {}) });
  }

  /** Somebody decides by the other profile from here on. */
  #reprofile(): void {
    const dice = this.#profiles;
    if (dice === null || dice.below(5) > 0) return;
    this.#writeFleet({ objects: dice.below(8), clusters: dice.below(4) });
    this.#add({ do: "push" });
  }

  #place(name: string): void {
    this.#add(this.#placed(name, []));
  }

  /** Where a team places what is in `web`, the platform's placement leaves that to it most of the time. */
  #placed(name: string, extras: readonly string[]): Step {
    const step = this.#placedByPlatform(name, extras);
    const isAlone = name === "web" && this.#homes !== null && this.#homes.below(4) > 0;
    return isAlone ? { ...step, options: `${step.options} only=web` } : step;
  }

  #placedByTeam({ pick, below }: Dice): Extract<Step, { do: "placement" }> {
    const options = ["abandon", "delete-adopted", "never", "deadline=4"].filter(() => below(8) === 0);
    const pace = pick(["unavailable=1", "unavailable=2", "unavailable=100%"]);
    const policy = pick(["PickAll", "PickAll", "PickAll env=dev"]);
    return { do: "placement", name: team, policy, options: [pace, ...options].join(" ") };
  }

  /** A team edits its placement, takes it away or puts it back, or its namespace comes and goes around it. */
  #settleIn(): void {
    const dice = this.#homes;
    if (dice === null || dice.below(3) > 0) return;
    const again = () => this.#add(this.#placedByTeam(dice), { do: "push" });
    dice.pick<() => void>([
      again,
      again,
      () => this.#add({ do: "erase", path: `placements/${team}.yaml` }, { do: "push" }),
      () => {
        this.#add({ do: "erase", path: "placements/web.yaml" }, { do: "push" }, this.#pass("a", true));
        if (dice.below(2) === 0) this.#add(this.#placed("web", []), { do: "push" });
      },
      () => {
        this.#add({ do: "erase", path: `placements/${team}.yaml` }, this.#placed("web", []), { do: "push" });
        if (dice.below(2) === 0) again();
      },
    ])();
  }

  #placedByPlatform(name: string, extras: readonly string[]): Extract<Step, { do: "placement" }> {
    const { pick, below, shuffled } = this.#dice;
    const isSpecial = this.#chance(20);
    const policy = {
      PickAll: () => (isSpecial ? "PickAll need:np:3" : pick(["PickAll", "PickAll", "PickAll env=dev"])),
      PickN: () =>
        isSpecial
          ? `PickN ${1 + below(3)} ${pick(["spread:r", "spread:r:any sort:np", "need:np:2 sort:np", "spread:r need:np:2", byNodes])}`
          : pick([`PickN ${below(4)}`, `PickN ${1 + below(2)} env=dev`]),
      PickFixed: () => `PickFixed ${shuffled(this.#members).slice(0, 2).join(",")}`,
    }[this.#types[name] ?? "PickAll"]();
    const spaces = name === "web" ? pick(["web,extra", "web,extra", "web"]) : pick(["shop", "shop", "shop,extra"]);
    const all = ["abandon", "delete-adopted", "never", "if-no-diff", "deadline=4", "history=1", "server-side"];
    const chosen = all.filter((it) => this.#chance(12) || extras.includes(it));
    const pace = pick(["unavailable=1", "unavailable=2", "unavailable=25% surge=1", "unavailable=100%"]);
    const way = this.#runs?.isExternal(name) === true ? "external" : pace;
    return { do: "placement", name, policy, options: [`ns=${spaces}`, way, ...chosen].join(" ") };
  }

  /** A little of everything, ending in a pass. */
  #turn(): void {
    if (this.#chance(8)) this.#leave();
    if (this.#chance(10)) this.#add(...this.#leaving.story());
    if (this.#chance(4)) this.#add(...this.#leaving.twice());
    if (this.#chance(10)) this.#add(...this.#moving.story());
    if (this.#chance(5)) this.#add(...this.#moving.broken());
    if (this.#chance(4)) this.#overtake();
    if (this.#chance(5)) this.#falter();
    if (this.#chance(4)) this.#sabotage();
    if (this.#chance(45)) this.#edit();
    if (this.#chance(6)) this.#expel();
    if (this.#chance(5)) this.#replace();
    this.#roll();
    this.#approve();
    for (let at = this.#dice.below(3); at > 0; at--) this.#weather();
    this.#lie();
    this.#reprofile();
    this.#settleIn();
    if (this.#chance(50)) this.#add({ do: "wait", ms: this.#dice.pick([500, 7_000, 61_000, 400_000]) });
    if (this.#chance(8)) this.#add({ do: "restart", by: "a" });
    this.#reconcile();
  }

  /** Staged runs, where there are any: a whole story, or a few edits. */
  #roll(): void {
    const runs = this.#runs;
    if (runs === null) return;
    if (this.#chance(15)) {
      this.#change();
      this.#add(...runs.story(() => this.#pass("a", true)));
    }
    if (this.#chance(45)) this.#add(runs.edit(), ...(this.#chance(30) ? [runs.edit()] : []), { do: "push" });
    if (this.#chance(30)) this.#add(this.#pass("a", true), { do: "answer", how: "Approve" }, { do: "push" });
  }

  /** Who may approve changes, and people approve what is asked for in between, where anybody signs. */
  #approve(): void {
    const trust = this.#trust;
    if (trust === null) return;
    if (this.#chance(15)) this.#add(...trust.change());
    if (this.#chance(12)) this.#add(...this.#leaving.approved(() => trust.votes()));
    if (this.#chance(15)) this.#add(this.#pass("a", true), trust.restore());
    if (this.#chance(65)) this.#add(this.#pass("a", true), this.#pass("a", true), ...trust.votes());
    const pass = () => this.#pass("a", true);
    if (this.#chance(12)) {
      this.#ask();
      this.#add(...trust.takeBack(pass));
    }
    if (this.#chance(10)) {
      this.#ask();
      this.#add(...trust.theft(pass));
    }
  }

  /** Something is asked for, as far as there is anything; where there are runs, often by one that has a way to go. */
  #ask(): void {
    if (this.#runs !== null && this.#chance(70)) {
      this.#change("ConfigMap web/config");
      this.#change();
      this.#add(...this.#runs.gated());
    }
    this.#add(this.#pass("a", true), this.#pass("a", true));
  }

  /** A placement goes, with the trouble where its objects do. */
  #leave(): void {
    const { pick, below } = this.#dice;
    if (this.#chance(15)) this.#add({ do: "meddle", name: this.#member, how: "delete", object: inventory, value: "" });
    this.#add({ do: "erase", path: `placements/${pick(["web", "shop"])}.yaml` }, { do: "push" });
    if (this.#chance(50)) this.#add(this.#pass("a", true), { do: "confirm" }, { do: "push" });
    const spot = `delete ${1 + below(3)}`;
    const moment = `${pick(["before", "after"])} ${spot}`;
    const plain = this.#pass("a", true);
    pick<() => void>([
      // The first lists are those of the inventories; then come the kinds that are in them, member by member.
      () => this.#add({ ...plain, faults: `403 list ${1 + below(5 * this.#members.length)}` }),
      () => this.#add({ ...plain, faults: `${pick(memberFaults)} ${spot}` }),
      () => this.#add({ ...plain, faults: `${pick(memberFaults)} ${spot}` }),
      () => this.#add({ ...plain, crash: moment }),
      () => {
        this.#hold(moment);
      },
    ])();
  }

  /** A placement goes elsewhere as soon as it is there, or was changed, before its members were heard of again. */
  #replace(): void {
    const name = this.#dice.pick(["web", "shop"]);
    const push: Step = { do: "push" };
    if (this.#chance(50)) this.#change();
    else this.#place(name);
    this.#add(push, this.#pass("a", true));
    if (this.#chance(50)) this.#add({ do: "wait", ms: 7_000 });
    this.#place(name);
    this.#add(push, { ...this.#pass("a", true), late: this.#some });
  }

  /** A cluster is to lose a placement: said twice, beside an update, or while the placement leaves it or another one. */
  #expel(): void {
    const { pick, below } = this.#dice;
    const placement = pick(["web", "shop"]);
    const cluster = this.#member;
    const evict = (from = cluster): Step => ({ do: "evict", name: `out${++this.#value}`, placement, cluster: from });
    const push: Step = { do: "push" };
    const bound = `${pick(["minAvailable", "maxUnavailable"])}=${1 + below(2)}`;
    if (this.#chance(60)) this.#add({ do: "budget", name: placement, bound });
    pick<() => void>([
      () => this.#add(evict(), evict(), push),
      () => this.#add(evict(), evict(this.#member), push),
      () => {
        this.#change();
        this.#add(evict(), push);
      },
      () => {
        this.#place(placement);
        this.#add(evict(), push);
      },
      () => {
        this.#place(placement);
        this.#add(push, this.#pass("a", true), evict(this.#member), push);
      },
      () => this.#add(evict(), push, this.#pass("a", true), evict(this.#member), evict(), push),
    ])();
  }

  /** Who decided stands still before its claim, or right after it, while another one decides anew and does it. */
  #overtake(): void {
    const { pick } = this.#dice;
    if (this.#isHeld) return;
    const object = pick(objects);
    this.#change(object);
    this.#add({ do: "push" });
    this.#hold(pick(["after commit 1", "before note 1", "before apply 1"]));
    pick<() => void>([() => this.#change(object), () => this.#change(object), () => this.#place("web")])();
    this.#add({ do: "push" }, this.#pass("a", true), this.#pass("a", true), { do: "resume", by: "b" });
    this.#isHeld = false;
  }

  /** An edit, with the trouble where it is written. */
  #falter(): void {
    const { pick, below } = this.#dice;
    this.#change();
    const faults = `${pick(memberFaults)} ${pick(["note", "apply"])} ${1 + below(2)}`;
    this.#add({ do: "push" }, { ...this.#pass("a", true), faults });
  }

  /** The plans of a placement have a defect for a while, in which everything else goes on. */
  #sabotage(): void {
    const { pick } = this.#dice;
    const placement = pick(["web", "shop"]);
    this.#add({ do: "plant", placement });
    pick<() => void>([
      () => this.#change(),
      () => this.#place(placement),
      () => this.#add({ do: "erase", path: `placements/${placement}.yaml` }),
    ])();
    this.#add({ do: "push" }, this.#pass("a", true), this.#pass("a"));
    if (this.#chance(50)) this.#edit();
    if (this.#chance(50)) this.#add({ do: "push" }, this.#pass("a"));
    if (this.#chance(60)) this.#add({ do: "plant", placement: "" });
    if (this.#chance(60)) this.#add({ do: "release" }, this.#pass("a", true), this.#pass("a"));
  }

  #edit(): void {
    const { pick } = this.#dice;
    for (let at = this.#dice.below(3); at >= 0; at--) {
      pick<() => void>([
        () => this.#change(),
        () => this.#change(),
        () => this.#change(),
        () => this.#add({ do: "erase", path: this.#path(pick(objects)) }),
        () => this.#place("web"),
        () => this.#place("shop"),
        () => this.#add({ do: "erase", path: `placements/${pick(["web", "shop"])}.yaml` }),
        () => this.#relabel(),
        () => this.#add({ do: "erase", path: `clusters/${this.#member}.yaml` }),
        () => this.#override(),
        () => this.#add({ do: "erase", path: "overrides/loud.yaml" }),
        () => this.#guards(),
        () => this.#add({ do: "revert", back: this.#dice.below(4) }),
        () => this.#break(),
        () => this.#add({ do: "confirm" }),
        () => this.#add(...this.#leaving.answer()),
      ])();
    }
    this.#adjust();
    const way = this.#dice.below(40);
    if (way === 0) this.#add({ do: "rewrite", back: 1 + this.#dice.below(2) });
    else if (way === 1) this.#add({ do: "empty" });
    else if (way === 2) this.#add({ do: "vanish" });
    else this.#add({ do: "push" });
    if (this.#chance(10)) this.#add({ do: "accept" });
  }

  #path(object: string): string {
    return `resources/${object.replaceAll(/[ /]/g, "-").toLowerCase()}.yaml`;
  }

  #change(object: string = this.#dice.pick(objects)): void {
    this.#value++;
    const fate = object.startsWith("Deployment") ? this.#dice.pick(["", "", "", "broken-", "crash-"]) : "";
    const place = /^(ConfigMap|Secret)/.test(object) && this.#wraps?.below(2) === 0 ? "w" : "";
    this.#add({ do: "manifest", object, value: `${fate}${this.#value}${place}` });
  }

  #relabel(): void {
    const taint = this.#chance(20) ? " taint:gpu" : "";
    this.#add({ do: "cluster", name: this.#member, words: this.#labels() + taint });
  }

  #override(): void {
    const isDelete = this.#chance(25);
    const object = this.#dice.pick(["Namespace web", "Namespace shop", "Namespace extra"]);
    const label = this.#dice.pick(["env=dev", "env=prod"]);
    const value = isDelete ? "delete" : `more${++this.#value}`;
    this.#add({ do: "override", name: "loud", object, label, value });
  }

  /** What a team says of one object in its namespace. */
  #adjust(): void {
    const teams = this.#teams;
    if (teams === null || teams.below(2) === 0) return;
    const [name, objects] = teams.pick([
      ["soft", ["ConfigMap web/config", "Deployment web/app"]],
      ["quiet", ["Secret web/keys", "ConfigMap shop/config"]],
    ] as const);
    const [object, label] = [teams.pick(objects), teams.pick(["env=dev", "env=prod"])];
    const value = teams.below(4) === 0 ? "delete" : `${name}${teams.below(1000)}`;
    if (teams.below(3) === 0) this.#add({ do: "erase", path: `overrides/${name}.yaml` });
    else this.#add({ do: "override", name, object, label, value });
  }

  #break(): void {
    const { pick } = this.#dice;
    const path = pick([
      `placements/${pick(["web", "shop"])}.yaml`,
      this.#path(pick(objects)),
      `clusters/${this.#member}.yaml`,
    ]);
    const how = pick(["yaml", "identity", "object"] as const);
    const isWrapped = how === "object" && this.#wraps !== null && /^resources\/(configmap|secret)-/.test(path);
    this.#add({ do: "break", path, how: isWrapped ? this.#wraps.pick(["either", "unsound"] as const) : how });
  }

  #weather(): void {
    const { pick } = this.#dice;
    const name = this.#member;
    pick<() => void>([
      () =>
        this.#add({
          do: "member",
          name,
          is: pick(["down", "hangs", "busy", "broken", "unauthorized", "read-only", "frozen"]),
        }),
      () => this.#add({ do: "member", name, is: "well" }),
      () => this.#add({ do: "member", name, is: "well" }),
      () => this.#add({ do: "pace", name, ms: pick([0, 2_000, 90_000, 900_000]) }),
      () => this.#add({ do: "nodes", name, count: 1 + this.#dice.below(4) }),
      () => this.#meddle(name),
      () => this.#meddle(name),
      () => this.#meddle(name),
      () => this.#fight(name),
      () => this.#add({ do: "save", name }),
      () => this.#add(this.#chance(50) ? { do: "restore", name } : { do: "save", name }),
      () => (this.#chance(30) ? this.#add({ do: "reset", name }) : undefined),
      () => this.#add({ do: "readdress", name, to: this.#chance(30) ? pick([this.#member, "stranger"]) : name }),
      () => this.#add({ do: "hub", is: this.#chance(30) ? "unreachable" : "well" }),
      () => this.#add({ do: "jump", ms: pick([-3_600_000, -5_000, 5_000, 600_000]) }),
      () => this.#add({ do: "intrude", how: pick(["placement", "override", "manifest", "cluster"]) }),
    ])();
  }

  /** A member makes up what it says of itself, or begins to tell the truth. */
  #lie(): void {
    const { below, pick } = this.#lies;
    if (below(100) >= 12) return;
    const how = pick<Lie>(["none", "negative", "huge", "nonsense", "changing", "forbidden", "cut"]);
    this.#add({ do: "lie", name: pick(this.#members), how });
  }

  #meddle(name: string): void {
    if (this.#chance(12)) {
      this.#add({ do: "meddle", name, how: "delete", object: inventory, value: "" });
      return;
    }
    const how = this.#dice.pick([
      "create",
      "create",
      "edit",
      "delete",
      "unmark",
      "finalize",
      "release",
      "copy",
    ] as const);
    const own = ["ConfigMap web/theirs", "ConfigMap shop/theirs"] as const;
    const object = how === "create" && this.#chance(50) ? this.#dice.pick(own) : this.#dice.pick(objects);
    this.#add({ do: "meddle", name, how, object, value: `their${++this.#value}` });
  }

  /** A second controller comes, and stays or goes after a while in which there are many passes. */
  #fight(name: string): void {
    const object = this.#dice.pick(objects);
    this.#add({ do: "fight", name, object, value: `their${++this.#value}` });
    const rounds = this.#chance(40) ? 20 : 4;
    for (let round = 0; round < rounds; round++) {
      this.#add(this.#pass("a"));
      if (this.#chance(30)) this.#add({ do: "wait", ms: this.#dice.pick([1_000, 5_000, 30_000]) });
      if (this.#chance(5)) this.#add({ do: "restart", by: "a" });
    }
    if (this.#chance(70)) this.#add({ do: "fight", name, object, value: "" });
  }

  #reconcile(): void {
    if (this.#isHeld && this.#chance(60)) {
      this.#add(this.#pass("a", true), { do: "resume", by: "b" });
      this.#isHeld = false;
    } else if (!this.#isHeld && this.#chance(20)) {
      const hold = `${this.#dice.pick(["before", "after"])} ${this.#dice.pick(effectKinds)} ${1 + this.#dice.below(3)}`;
      this.#hold(hold);
    }
    this.#add(this.#pass(this.#chance(20) ? "b" : "a"));
    if (this.#chance(30)) this.#add(this.#pass("a", true));
  }

  /** Another process begins a pass, and stands still in it. */
  #hold(hold: string): void {
    if (!this.#isHeld) this.#add({ ...this.#pass("b", true), do: "start", hold });
    this.#isHeld = true;
  }

  #pass(by: string, isPlain = false): Extract<Step, { do: "pass" }> {
    const words: PassOptions = {
      patience: this.#chance(20) ? "none" : "retryAt",
      flush: this.#chance(20),
      faults: isPlain ? "" : this.#faults(),
      crash: isPlain || this.#chance(75) ? "" : this.#crash(),
      late: isPlain || this.#chance(85) ? "" : this.#some,
      shuffle: this.#chance(30) ? 1 + this.#dice.below(1000) : 0,
    };
    return { do: "pass", by, ...words };
  }

  #crash(): string {
    const { pick, below } = this.#dice;
    return `${pick(["before", "after"])} ${pick(effectKinds)} ${1 + below(pick([2, 6]))}`;
  }

  #faults(): string {
    const { pick, below } = this.#dice;
    if (this.#chance(60)) return "";
    const one = (): string => {
      const kind = pick(["heads", "files", "blobs", "descends", "history", "commit", "commit", ...memberKinds]);
      const fault =
        kind === "commit" ? pick(["hook", "lost", "refused"]) : hubKinds.has(kind) ? "refused" : pick(memberFaults);
      return `${fault} ${kind} ${1 + below(pick([1, 2, 6]))}`;
    };
    return Array.from({ length: 1 + below(3) }, one).join("; ");
  }
}

const hubKinds = new Set(["heads", "files", "blobs", "descends", "history"]);
const memberKinds = [
  "read",
  "list",
  "discover",
  "try",
  "note",
  "note",
  "note",
  "apply",
  "apply",
  "apply",
  "patch",
  "delete",
  "delete",
  "delete",
] as const;
const memberFaults = [
  "refused",
  "hangs",
  "lost",
  "torn",
  "late",
  "403",
  "429",
  "500",
  "503",
  "504",
] as const satisfies readonly string[];
