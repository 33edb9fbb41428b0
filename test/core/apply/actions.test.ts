import { describe, expect, test } from "vitest";
import { type LiveComparison, placementActions } from "../../../src/core/apply/actions.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { Inventory, InventoryEntry, Outcome } from "../../../src/core/model/inventory.ts";
import { type ObjectKey, objectIdOf, objectKey } from "../../../src/core/model/manifest.ts";
import type { LiveObject, Observation } from "../../../src/core/model/observation.ts";
import type { PlacementActions, RenderedManifest } from "../../../src/core/model/plan.ts";
import type { Commit, Digest, Epoch, Instant, PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import { keyOf, objectOf, placementOf, policyOf } from "../../intent.ts";

type Reached = Extract<Observation, { kind: "reached" }>;

const web = "web" as PlacementKey;
const now = 60_000 as Instant;
const [space, config, app] = [
  keyOf("Namespace", "web"),
  keyOf("ConfigMap", "web/config"),
  keyOf("Deployment", "web/app"),
];
const names: Readonly<Record<string, ObjectKey>> = { space, config, app };
const { applyStrategy } = placementOf({ name: "web", policy: policyOf("PickAll", undefined), options: [] }).spec
  .strategy;

const rendered = (name: string, value = "one"): RenderedManifest => {
  const [kind = "", path = ""] =
    { space: "Namespace web", config: "ConfigMap web/config", app: "Deployment web/app" }[name]?.split(" ") ?? [];
  const { id, manifest, digest } = objectOf(kind, path, value);
  return { id, key: objectKey(id), manifest, digest };
};

const retryLater = {
  kind: "failed",
  code: "ManifestApplyFailed",
  message: "",
  attempts: 1,
  retryAt: (now + 1) as Instant,
} as const;
const theirs = [{ ...objectIdOf(keyOf("Secret", "web/theirs")), uid: "their-uid" }];
const outcomes: Readonly<Record<string, Outcome>> = {
  claimed: { kind: "claimed" },
  failing: retryLater,
  due: { ...retryLater, retryAt: now },
  ahead: { ...retryLater, retryAt: (now + 3 * 3_600_000) as Instant },
  notEmpty: { kind: "lingering", code: "NamespaceNotEmpty", message: "", others: { count: 1, objects: theirs } },
  unlisted: { kind: "lingering", code: "NamespaceNotEmpty", message: "" },
  denied: { kind: "lingering", code: "DeletionRefused", message: "" },
  terminating: { kind: "lingering", code: "Terminating", message: "" },
};

/**
 * One object of a member in words: `config`, `config:old` (another digest), `config:failing`, `config:gone`,
 * `config:drifted`, `config:another` (made anew), `config:rewritten` (made anew by us), `config:adopted`, `config:nouid`.
 */
function memberOf(words: readonly string[], sequence: number): Reached {
  const entries = new Map<ObjectKey, InventoryEntry>();
  const objects = new Map<ObjectKey, LiveObject>();
  for (const word of words) {
    const [name = "", ...marks] = word.split(":");
    const key = names[name] ?? keyOf("Secret", `web/${name}`);
    const is = (mark: string): boolean => marks.includes(mark);
    const [said] = marks.flatMap((it) => outcomes[it] ?? []);
    entries.set(key, {
      version: is("oldVersion") ? "v1beta1" : "v1",
      digest: is("old") || names[name] === undefined ? ("old" as Digest) : rendered(name).digest,
      uid: is("nouid") ? null : `uid-${name}`,
      adopted: is("adopted"),
      sequence: sequence as Sequence,
      fingerprint: "f" as Digest,
      outcome: said ?? { kind: "applied" },
    });
    if (is("gone")) continue;
    objects.set(key, {
      uid: is("another") || is("rewritten") ? "uid-another" : `uid-${name}`,
      generation: 1,
      fingerprint: (is("drifted") ? "g" : "f") as Digest,
      health: { phase: "available" },
      terminating: is("dying"),
      mark: is("another") ? null : `fleet/0/${sequence}`,
    });
  }
  const placements: Inventory["placements"] =
    words.length === 0
      ? new Map()
      : new Map([[web, { sequence: sequence as Sequence, digest: "d" as Digest, entries }]]);
  const inventory: Inventory = { fleet: "fleet", epoch: 0 as Epoch, placements };
  return {
    kind: "reached",
    clusterUid: "uid",
    properties: new Map([["k8s.io/k8s-version", "v1.36.3"]]),
    inventory,
    objects,
    unlisted: new Set(),
  };
}

function bindingOf(change: Partial<Binding>): Binding {
  return {
    cluster: "m1" as Binding["cluster"],
    name: "web-m1",
    uid: "uid",
    generation: 1,
    state: "Bound",
    previousState: null,
    policySnapshot: 0,
    decision: { cluster: "m1" as Binding["cluster"], selected: true, score: null, reason: "" },
    target: {
      resourceIndex: 0,
      clusterOverrides: [],
      resourceOverrides: [],
      labels: {},
      applyStrategy,
      digest: "d" as Digest,
      sequence: 5 as Sequence,
      startedAt: now,
    },
    removal: null,
    leaving: [],
    facts: null,
    conditions: [],
    ...change,
  };
}

const leaving = (...keys: readonly ObjectKey[]): Binding["leaving"] =>
  keys.map((it) => ({ id: objectIdOf(it), cause: "c" as Commit, released: false, evenAdopted: false }));

const removing = (...keys: readonly ObjectKey[]): Partial<Binding> => ({
  removal: { sequence: 6 as Sequence, since: now, cause: "c" as Commit, propagation: "Delete" },
  leaving: leaving(...keys),
});

interface Case {
  readonly name: string;
  /** What the member has, and under which sequence: 5 is the target's. */
  readonly has: readonly string[];
  readonly under?: number;
  readonly binding?: Partial<Binding>;
  readonly wants?: readonly RenderedManifest[] | null;
  readonly more?: Partial<LiveComparison>;
  readonly unlisted?: string;
  readonly want: string;
}

const everything = [rendered("space"), rendered("config"), rendered("app")];
const allThere = ["space", "config", "app"];

/** What is to be looked for is told only where the inventory knows nothing: every action names it. */
function toldOf(it: Case): string {
  const actions = actionsIn(it);
  if (actions === null) return "nothing";
  return textOf(it.has.length === 0 ? actions : { ...actions, recover: [] });
}

function actionsIn({ has, under = 5, binding = {}, wants = everything, more = {}, unlisted }: Case) {
  const member = { ...memberOf(has, under), unlisted: new Set(unlisted === undefined ? [] : [unlisted]) };
  return placementActions({
    placement: web,
    binding: bindingOf(binding),
    render: () => wants,
    member,
    isHeld: () => false,
    confirmedOthers: () => null,
    applyStrategy,
    stay: () => null,
    renderKept: () => [],
    sourcesOf: () => [],
    now,
    patience: "retryAt",
    ...more,
  });
}

function textOf({ sequence, digest, apply, remove, forget, recover }: PlacementActions): string {
  const short = (key: ObjectKey): string => key.split("/").at(-1) ?? "";
  return [
    `@${sequence}${digest === null ? " goes" : ""}`,
    ...apply.map((it) => `+${short(it.key)}`),
    ...remove.map(
      (it) => `${it.how} ${short(it.key)}${it.uid === null ? "?" : ""}${it.cascadesTo.length > 0 ? "!" : ""}`,
    ),
    ...forget.map((it) => `forget ${short(it)}`),
    ...recover.map((it) => `find ${it.name}`),
  ].join(" ");
}

const check = (cases: readonly Case[]): void => {
  test.each(cases)("$name", (it) => {
    expect(toldOf(it)).toBe(it.want);
  });
};

describe("writing a target", () => {
  check([
    { name: "everything is written where nothing is", has: [], want: "@5 +web +config +app" },
    { name: "nothing is where everything is", has: allThere, want: "nothing" },
    { name: "only what changed is written", has: ["space", "config:old", "app"], under: 4, want: "@5 +config" },
    { name: "the API version counts", has: ["space", "config:oldVersion", "app"], under: 4, want: "@5 +config" },
    { name: "a target that changes nothing is claimed all the same", has: allThere, under: 4, want: "@5" },
    { name: "a member with a later claim is left alone", has: ["config:old"], under: 6, want: "nothing" },
    { name: "nothing is written before it is admitted", has: [], binding: { state: "Scheduled" }, want: "nothing" },
    { name: "nothing without a target", has: [], binding: { target: null }, want: "nothing" },
    { name: "nothing that cannot be rendered", has: [], wants: null, want: "nothing" },
  ]);
});

describe("keeping what was written", () => {
  check([
    { name: "a lost result is written again", has: ["space", "config:claimed", "app"], want: "@5 +config" },
    { name: "what somebody deleted", has: ["space", "config:gone", "app"], want: "@5 +config" },
    { name: "what somebody changed", has: ["space", "config:drifted", "app"], want: "@5 +config" },
    { name: "what somebody made anew", has: ["space", "config:another", "app"], want: "@5 +config" },
    { name: "what is being deleted is not written (A-20)", has: ["space", "config:dying", "app"], want: "nothing" },
    { name: "nor in another version", has: ["space", "config:dying:old", "app"], under: 4, want: "@5" },
    { name: "nor when we deleted it", has: ["space", "config:dying:terminating", "app"], want: "nothing" },
    { name: "but once it is gone", has: ["space", "config:gone:terminating", "app"], want: "@5 +config" },
    {
      name: "absence in a list that failed proves nothing",
      has: ["space", "config", "app:gone"],
      unlisted: "apps/Deployment",
      want: "nothing",
    },
    { name: "a failure waits for its time", has: ["space", "config:failing", "app"], want: "nothing" },
    {
      name: "but not for one that a clock set hours ago has moved away",
      has: ["space", "config:ahead", "app"],
      want: "@5 +config",
    },
    { name: "and is tried again then", has: ["space", "config:due", "app"], want: "@5 +config" },
    {
      name: "at once for somebody who waits",
      has: ["space", "config:failing", "app"],
      more: { patience: "none" },
      want: "@5 +config",
    },
  ]);
});

describe("taking away what the target has no more", () => {
  const binding = { leaving: leaving(app) };
  const wants = [rendered("space"), rendered("config")];
  check([
    { name: "goes last, once the target is claimed", has: allThere, under: 4, binding, wants, want: "@5" },
    { name: "and applied", has: ["space", "config:claimed", "app"], binding, wants, want: "@5 +config" },
    { name: "then it is deleted", has: allThere, binding, wants, want: "@5 delete app" },
    {
      name: "not before what is being deleted is there again",
      has: ["space", "config:dying", "app"],
      binding,
      wants,
      want: "nothing",
    },
    { name: "a failure holds it back", has: ["space", "config:failing", "app"], binding, wants, want: "nothing" },
    { name: "what is gone is forgotten", has: ["space", "config", "app:gone"], binding, wants, want: "@5 forget app" },
    {
      name: "what may be gone is deleted",
      has: ["space", "config", "app:gone"],
      unlisted: "apps/Deployment",
      binding,
      wants,
      want: "@5 delete app",
    },
    {
      name: "what waits for a confirmation stays",
      has: allThere,
      binding,
      wants,
      more: { isHeld: () => true },
      want: "nothing",
    },
    {
      name: "and goes with it",
      has: allThere,
      binding,
      wants,
      more: { confirmedOthers: () => theirs },
      want: "@5 delete app!",
    },
    {
      name: "what was there before us is let go",
      has: ["space", "config", "app:adopted"],
      binding,
      wants,
      want: "@5 release app",
    },
    {
      name: "what was decided to be let go is let go, whatever the inventory says",
      has: ["space", "config", "app"],
      binding: { ...binding, leaving: binding.leaving.map((it) => ({ ...it, released: true, evenAdopted: true })) },
      wants,
      want: "@5 release app",
    },
    {
      name: "unless the placement said otherwise when that was decided",
      has: ["space", "config", "app:adopted"],
      binding: { ...binding, leaving: binding.leaving.map((it) => ({ ...it, evenAdopted: true })) },
      wants,
      want: "@5 delete app",
    },
    {
      name: "a deletion under way needs no second one",
      has: ["space", "config", "app:dying"],
      binding,
      wants,
      want: "nothing",
    },
    {
      name: "a uid that was never recorded is looked up first",
      has: ["space", "config", "app:claimed:nouid"],
      binding,
      wants,
      want: "@5 delete app?",
    },
    {
      name: "so is that of an object that we made anew",
      has: ["space", "config", "app:claimed:rewritten"],
      binding,
      wants,
      want: "@5 delete app?",
    },
    {
      name: "what somebody made anew is theirs (D 1)",
      has: ["space", "config", "app:another"],
      binding,
      wants,
      want: "@5 forget app",
    },
    { name: "what no decision explains stays (D 7)", has: [...allThere, "old"], binding, wants, want: "@5 delete app" },
    {
      name: "is looked for with the first claim where the inventory knows nothing (F-43)",
      has: [],
      binding,
      wants,
      want: "@5 +web +config find app",
    },
    { name: "until its object is gone", has: ["space", "config", "old:gone"], wants, want: "@5 forget old" },
  ]);
});

const losses: readonly Pick<Case, "name" | "has" | "under" | "binding" | "wants">[] = [
  { name: "a new target", has: allThere, under: 4, binding: { leaving: leaving(app) }, wants: [rendered("config")] },
  { name: "a deletion", has: allThere, binding: { leaving: leaving(app) }, wants: everything.slice(0, 2) },
  { name: "a removal", has: ["app"], binding: removing(app) },
];
test.each(losses)("$name names all that leaves: its inventory may be lost before it is claimed (F-43)", (it) => {
  expect(actionsIn({ ...it, want: "" })?.recover).toEqual([objectIdOf(app)]);
});

describe("withdrawing a placement", () => {
  const binding = removing(space, config);
  check([
    {
      name: "deletes what leaves, under the removal's sequence",
      has: ["space", "config"],
      binding,
      want: "@6 goes delete web delete config",
    },
    { name: "writes nothing", has: ["config:drifted"], binding, want: "@6 goes delete config" },
    {
      name: "looks first where the inventory knows nothing (F-43)",
      has: [],
      binding,
      want: "@6 goes find web find config",
    },
    {
      name: "also for what is held: looking takes nothing away",
      has: [],
      binding,
      more: { isHeld: () => true },
      want: "@6 goes find web find config",
    },
    { name: "is refused by a later claim", has: ["config"], under: 7, binding, want: "nothing" },
    { name: "leaves what it does not explain", has: ["config", "app"], binding, want: "@6 goes delete config" },
    {
      name: "lets everything go when it is abandoned",
      has: ["space", "config"],
      binding: {
        ...binding,
        removal: { sequence: 6 as Sequence, since: now, cause: "c" as Commit, propagation: "Abandon" },
      },
      want: "@6 goes release web release config",
    },
    {
      name: "waits for what is held",
      has: ["space", "config"],
      binding,
      more: { isHeld: (key) => key === space },
      want: "@6 goes delete config",
    },
    {
      name: "a namespace with objects of others waits for a person",
      has: ["space:notEmpty"],
      binding,
      want: "nothing",
    },
    {
      name: "and is released by nobody's word where everything is abandoned",
      has: ["space:notEmpty"],
      binding: {
        ...binding,
        removal: { sequence: 6 as Sequence, since: now, cause: "c" as Commit, propagation: "Abandon" },
      },
      want: "@6 goes release web",
    },
    {
      name: "what an earlier release did not list is looked into again",
      has: ["space:unlisted"],
      binding,
      want: "@6 goes delete web",
    },
    {
      name: "and goes when one says so",
      has: ["space:notEmpty"],
      binding,
      more: { confirmedOthers: () => theirs },
      want: "@6 goes delete web!",
    },
    { name: "a refused deletion is not repeated for ever", has: ["config:denied"], binding, want: "nothing" },
    {
      name: "but by somebody who waits",
      has: ["config:denied"],
      binding,
      more: { patience: "none" },
      want: "@6 goes delete config",
    },
    {
      name: "a namespace that lost its finalizers and is still there",
      has: ["space:terminating"],
      binding,
      want: "@6 goes delete web",
    },
  ]);
});
