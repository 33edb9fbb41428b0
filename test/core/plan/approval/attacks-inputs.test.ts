// Somebody moves what a protected cluster carries without touching what it carries (`trust/README.md#step-8`; T-38 to
// T-40).
import { describe, expect, test } from "vitest";
import type { CommitFact } from "../../../../src/core/model/commit.ts";
import { defaultFleet } from "../../../../src/core/model/fleet.ts";
import { runKey } from "../../../../src/core/model/update-run.ts";
import type { BlobId, ClusterName, Commit } from "../../../../src/core/model/value.ts";
import {
  clusterOf,
  envelopeOf,
  keyOf,
  objectOf,
  overrideOf,
  placementOf,
  policyOf,
  runOf,
  strategyOf,
} from "../../../intent.ts";
import { World, write } from "../../../world.ts";
import { grant, guarded, standing, target } from "../guard/guarded-world.ts";
import {
  answer,
  by,
  changeOf,
  edit,
  everything,
  gateOf,
  pass,
  run,
  settle,
  trust,
  trustedBy,
  verdictOf,
  web,
} from "./trusted-world.ts";

const config = keyOf("ConfigMap", "web/settings");

/** Somebody joins a cluster again, under other labels. */
const relabel = (world: World, name: string, ...words: readonly string[]): void => world.join(clusterOf(name, words));

const put = (world: World, label: string, value = "x", at = "overrides/o.yaml"): void => {
  const override = overrideOf("o", config, label, value);
  world.overrides.set("o", { ...override, source: { ...override.source, path: at } });
};

/** What a commit did, with only some of its files changed as far as git can see. */
function commitOnly(world: World, edit: () => void, path: string, fact: Partial<CommitFact>): void {
  world.commit(edit, fact);
  const { commit } = world.intent();
  const made = world.facts.get(commit);
  if (made === undefined) throw new Error("no commit");
  world.facts.set(commit, { ...made, changes: made.changes.filter((it) => it.path === path) });
}

/** Who is an author of the change that waits. */
function authors(world: World): readonly string[] {
  settle(world);
  const { principals, unknown } = changeOf(world).authors;
  return [...principals, ...(unknown > 0 ? [`${unknown} unsigned`] : [])];
}

/** Who approved what was asked, once somebody answered it. */
function approvers(world: World, who: string): readonly string[] {
  answer(world, who, changeOf(world).digest);
  pass(world);
  return changeOf(world).approval?.by.map((it) => it.principal) ?? [];
}

/** Bob may not approve it alone, and Ann may. */
function keepsBobOut(world: World): void {
  const file = answer(world, "bob", changeOf(world).digest);
  settle(world);
  expect(verdictOf(world, file)).toMatch(/^FLT1205: /);
  expect(approvers(world, "ann")).toEqual(["ann"]);
}

/** Bob has no part in it: his word is enough. */
const letsBobIn = (world: World): void => expect(approvers(world, "bob")).toEqual(["bob"]);

interface Row {
  readonly what: string;
  readonly before?: (world: World) => void;
  readonly bob: (world: World) => void;
  /** What Dave does besides. */
  readonly dave?: (world: World) => void;
  readonly also?: readonly string[];
}

const other = objectOf("ConfigMap", "shop/other", "one");
const shared = (world: World, path = "resources/shared.yaml"): void => {
  write(world, objectOf("Namespace", "shop", "one"));
  write(world, { ...other, source: { ...other.source, path } });
};

const attacks: readonly Row[] = [
  {
    what: "a cluster's label, by which an override begins to match",
    before: (it) => it.commit(() => put(it, "tier=gold"), by("dave")),
    bob: (it) => it.commit(() => relabel(it, "m2", "env=prod", "tier=gold"), by("bob")),
  },
  {
    what: "the folders that are read, so that a file is read no more",
    bob: (it) =>
      commitOnly(
        it,
        () => {
          it.fleet = { ...defaultFleet, roots: ["placements", "clusters", "overrides"] };
          it.objects.delete(config);
        },
        "fleet.yaml",
        by("bob"),
      ),
  },
  {
    what: "which member stands behind a protected cluster's name",
    bob: (it) =>
      it.commit(() => {
        it.fleet = { ...defaultFleet, contexts: new Map([["m2" as ClusterName, "elsewhere"]]) };
      }, by("bob")),
    dave: (it) => edit(it, "one"),
  },
  {
    what: "the profile by which clusters are picked, where one is picked newly",
    bob: (it) =>
      it.commit(() => {
        it.fleet = { ...defaultFleet, profile: "kubefleet" };
      }, by("bob")),
    dave: (it) => it.commit(() => relabel(it, "prod-1", "env=prod"), by("dave")),
  },
  {
    what: "an override, whose document goes while its file stays",
    before: (it) => {
      it.commit(() => shared(it), by("dave"));
      it.commit(() => put(it, "env=prod", "x", "resources/shared.yaml"), by("dave"));
      grant(it);
    },
    bob: (it) => it.commit(() => it.overrides.delete("o"), by("bob")),
  },
  {
    what: "a file that also held what another placement selects",
    before: (it) => {
      it.commit(() => {
        shared(it);
        write(it, {
          ...objectOf("ConfigMap", "web/second", "one"),
          source: { ...other.source, path: "resources/shared.yaml" },
        });
        it.placements.set(
          "shop" as typeof web,
          placementOf({ name: "shop", policy: policyOf("PickAll", "env=canary"), options: ["ns=shop"] }),
        );
      }, by("dave"));
      grant(it);
    },
    bob: (it) =>
      it.commit(() => {
        it.objects.delete(keyOf("ConfigMap", "web/second"));
        it.objects.delete(keyOf("ConfigMap", "shop/other"));
      }, by("bob")),
  },
  {
    what: "an override that came and went, with what Dave changes",
    bob: (it) => {
      it.commit(() => put(it, "env=prod"), by("bob"));
      it.commit(() => it.overrides.delete("o"), by("bob"));
    },
    dave: (it) => edit(it, "one"),
  },
];

describe("T-38: whoever changes what a decision reads has a part in it", () => {
  test.each(attacks)("$what", ({ before, bob, dave, also = [] }) => {
    const world = standing();
    before?.(world);
    settle(world);
    bob(world);
    dave?.(world);
    expect(authors(world)).toEqual(expect.arrayContaining(["bob", ...also]));
    keepsBobOut(world);
  });
});

const honest: readonly Row[] = [
  {
    what: "a label that nothing looks at",
    bob: (it) => it.commit(() => relabel(it, "m2", "env=prod", "team=a"), by("bob")),
  },
  {
    what: "another cluster's label, and an override of that cluster alone",
    bob: (it) => {
      it.commit(() => relabel(it, "m1", "env=canary", "tier=gold"), by("bob"));
      it.commit(() => put(it, "env=canary"), by("bob"));
    },
  },
  {
    what: "folders in which nothing stands",
    bob: (it) =>
      it.commit(() => {
        it.fleet = { ...defaultFleet, roots: ["resources", "placements", "clusters", "strategies", "nothing"] };
      }, by("bob")),
  },
  {
    what: "the context of a cluster that is not protected, and how much may be deleted",
    bob: (it) =>
      it.commit(() => {
        const guards = { ...defaultFleet.guards, clusters: 9 };
        it.fleet = { ...defaultFleet, guards, contexts: new Map([["m1" as ClusterName, "elsewhere"]]) };
      }, by("bob")),
  },
  {
    what: "an object that the placement does not select, which is gone again",
    bob: (it) => {
      it.commit(() => shared(it), by("bob"));
      it.commit(() => it.objects.delete(keyOf("ConfigMap", "shop/other")), by("bob"));
    },
  },
  {
    what: "an object of another placement in the same file",
    before: (it) => it.commit(() => shared(it, "resources/ConfigMap-web-settings.yaml"), by("dave")),
    bob: (it) =>
      it.commit(() => {
        const made = objectOf("ConfigMap", "shop/other", "two");
        write(it, { ...made, source: { ...made.source, path: "resources/ConfigMap-web-settings.yaml" } });
      }, by("bob")),
  },
  {
    what: "a file that defines nothing, which goes",
    before: (it) => it.commit(() => it.others.set("docs/old.md", "old" as BlobId), by("dave")),
    bob: (it) => it.commit(() => it.others.delete("docs/old.md"), by("bob")),
  },
  {
    what: "the file in which an object stands, but not a word of it",
    bob: (it) =>
      it.commit(() => {
        const standing = it.objects.get(config);
        if (standing !== undefined)
          write(it, { ...standing, source: { ...standing.source, path: "resources/moved.yaml" } });
      }, by("bob")),
  },
  {
    what: "a merge whose only conflict was in a file that defines nothing",
    bob: (it) => it.commit(() => it.others.set("docs/notes.md", "both" as BlobId), { ...by("bob"), merge: "unclean" }),
  },
];

describe("who changes what a decision does not read has no part in it", () => {
  test.each(honest)("$what", ({ before, bob }) => {
    const world = standing();
    before?.(world);
    settle(world);
    bob(world);
    edit(world, "one");
    expect(authors(world)).toEqual(["dave"]);
    letsBobIn(world);
  });

  test("everything else, when the placement itself goes", () => {
    const world = standing();
    world.commit(() => shared(world), by("bob"));
    edit(world, "two", by("bob"));
    world.commit(() => world.placements.delete(web), by("dave"));
    expect(authors(world)).toEqual(["dave"]);
    letsBobIn(world);
  });
});

test("who changed an override that was approved, and is carried since, has no part in what comes after", () => {
  const world = standing();
  world.commit(() => put(world, "env=prod"), by("bob"));
  grant(world);
  edit(world, "one");
  expect(authors(world)).toEqual(["dave"]);
  letsBobIn(world);
});

describe("T-38: whoever merges two sides by hand", () => {
  /** Carol changes the object on a branch of her own; Bob merges it, and nobody sees more than what he lists. */
  function merged(value: string): World {
    const world = standing();
    const path = "resources/ConfigMap-web-settings.yaml";
    const before = world.blobAt(path);
    const { commit: fork } = world.intent();
    edit(world, "hardened", by("carol"));
    const { commit: made } = world.intent();
    const side = "carols" as Commit;
    const fact = world.facts.get(made);
    if (fact === undefined) throw new Error("no commit");
    // What Carol did, as if on a branch: main goes on without it.
    world.facts.set(side, { ...fact, commit: side, parents: [fork] });
    world.facts.set(made, { ...fact, changes: [], ...by("dave") });
    expect(before).not.toBeNull();
    const notes = [{ path: "docs/notes.md", before: null, after: "both" as BlobId }];
    const parents = [made, side];
    world.commit(() => write(world, objectOf("ConfigMap", "web/settings", value)), {
      ...by("bob"),
      ...{ parents, merge: "unclean", changes: notes },
    });
    world.commit(() => put(world, "env=prod"), by("dave"));
    return world;
  }

  test("and leaves out what one of them did has a part in that", () => {
    expect(authors(merged("zero"))).toEqual(["bob", "carol", "dave"]);
  });

  test("and takes it over as it is has none", () => {
    expect(authors(merged("hardened"))).toEqual(["carol", "dave"]);
  });
});

describe("T-40: what slept for long and wakes", () => {
  test("an override that matched nothing when it was written", () => {
    const world = standing();
    world.commit(() => put(world, "tier=gold"), by("bob"));
    settle(world);
    edit(world, "one");
    grant(world);
    world.commit(() => relabel(world, "m2", "env=prod", "tier=gold"), by("dave"));
    expect(authors(world)).toEqual(["bob", "dave"]);
    keepsBobOut(world);
  });

  test("a rule of an override that acted already", () => {
    const world = standing();
    const rules = (word: string) => overrideOf("o", config, word, word).spec.rules;
    const two = overrideOf("o", config, "env=prod", "x");
    world.commit(() => world.overrides.set("o", two), by("dave"));
    grant(world);
    const spec = { ...two.spec, rules: [...two.spec.rules, ...rules("tier=gold")] };
    world.commit(() => world.overrides.set("o", { ...two, spec }), by("bob"));
    settle(world);
    edit(world, "one");
    grant(world, "carol");
    world.commit(() => relabel(world, "m2", "env=prod", "tier=gold"), by("dave"));
    expect(authors(world)).toEqual(["bob", "dave"]);
    keepsBobOut(world);
  });

  test("a label that nothing looked at", () => {
    const world = standing();
    world.commit(() => relabel(world, "m2", "env=prod", "tier=gold"), by("bob"));
    edit(world, "one");
    grant(world, "carol");
    world.commit(() => put(world, "tier=gold"), by("dave"));
    expect(authors(world)).toEqual(["bob", "dave"]);
    keepsBobOut(world);
  });

  test("a label that nothing looked at, on one of two clusters that change alike", () => {
    const world = standing();
    world.commit(() => relabel(world, "m2", "env=prod", "tier=gold"), by("dave"));
    world.commit(() => relabel(world, "m3", "env=prod", "tier=gold"), by("bob"));
    edit(world, "one");
    grant(world, "carol");
    world.commit(() => put(world, "tier=gold"), by("dave"));
    expect(authors(world)).toEqual(["bob", "dave"]);
    keepsBobOut(world);
  });

  test("an override that matched nothing, where a run goes back to what was approved before it matched", () => {
    const world = standing(["external"], trust({ approvals: [everything()] }), ["prod/3/ask-before"]);
    world.commit(() => put(world, "tier=gold"), by("bob"));
    settle(world);
    edit(world, "one");
    run(world, "second");
    grant(world);
    edit(world, "two");
    run(world, "third");
    grant(world);
    world.commit(() => relabel(world, "m2", "env=prod", "tier=gold"), by("dave"));
    run(world, "back", by("carol"), "1");
    settle(world);
    const { authors: found, digest } = gateOf(world, "back", 0);
    expect(found).toEqual({ principals: ["bob", "carol", "dave"], unknown: 0 });
    const file = answer(world, "bob", digest);
    settle(world);
    expect(verdictOf(world, file)).toMatch(/^FLT1205: /);
  });

  test("an object that nothing selected, and the selector by which it is selected", () => {
    const world = standing();
    const wide = placementOf({
      name: "web",
      policy: policyOf("PickAll", undefined),
      options: ["ns=web,shop", "unavailable=3"],
    });
    world.commit(() => world.placements.set(web, wide), by("carol"));
    settle(world);
    edit(world, "one");
    grant(world);
    world.commit(() => shared(world), by("bob"));
    expect(authors(world)).toEqual(["bob", "carol"]);
    keepsBobOut(world);
  });

  test("an envelope that nothing selected", () => {
    const world = standing();
    const wrapped = objectOf("ConfigMap", "shop/wrapped", "one");
    world.commit(() => write(world, objectOf("Namespace", "shop", "one")), by("dave"));
    world.commit(() => write(world, envelopeOf("shop/box", [wrapped])), by("bob"));
    edit(world, "one");
    grant(world, "carol");
    const wide = placementOf({
      name: "web",
      policy: policyOf("PickAll", undefined),
      options: ["ns=web,shop", "unavailable=3"],
    });
    world.commit(() => world.placements.set(web, wide), by("dave"));
    expect(authors(world)).toEqual(["bob", "dave"]);
    keepsBobOut(world);
  });

  test("and who wrote what was carried all along does not wake with it", () => {
    const world = standing();
    edit(world, "one", by("bob"));
    grant(world);
    world.commit(() => put(world, "tier=gold"), by("dave"));
    world.commit(() => relabel(world, "m2", "env=prod", "tier=gold"), by("dave"));
    expect(authors(world)).toEqual(["dave"]);
    letsBobIn(world);
  });
});

describe("T-39: what one cluster carries is not rolled out for another one", () => {
  const stages = ["canary:env=canary/3", "prod:env=prod/3/ask-before"];
  /** A fleet of one canary, on which Bob's content went without anybody being asked; then production joins. */
  function joined(file = trust({ approvals: [everything()] })): World {
    const world = new World();
    world.commit(() => relabel(world, "m1", "env=canary"), by("dave"));
    trustedBy(world, file);
    settle(world);
    world.commit(() => {
      write(world, objectOf("Namespace", "web", "zero"));
      write(world, objectOf("ConfigMap", "web/settings", "zero"));
      const options = ["external"];
      world.placements.set(web, placementOf({ name: "web", policy: policyOf("PickAll", undefined), options }));
      const all = strategyOf("all", stages);
      world.strategies.set(all.key, all);
    }, by("dave"));
    edit(world, "malice", by("bob"));
    run(world, "first");
    settle(world);
    expect(world.head.runs.get(runKey(null, "first"))?.end?.kind).toBe("succeeded");
    world.commit(() => relabel(world, "m2", "env=prod"), by("dave"));
    world.commit(() => {
      const spec = { placement: web, strategy: strategyOf("all", []).key, resourceIndex: null, state: "Run" } as const;
      world.runs.set(runKey(null, "second"), runOf("second", spec));
    }, by("dave"));
    settle(world);
    return world;
  }

  test("a gate counts who wrote what is new to its clusters", () => {
    const world = joined();
    const { authors: found, digest } = gateOf(world, "second", 1);
    expect(found).toEqual({ principals: ["bob", "dave"], unknown: 0 });
    const file = answer(world, "bob", digest);
    settle(world);
    expect(verdictOf(world, file)).toMatch(/^FLT1205: /);
    expect(world.carried("m2")).toEqual([]);
    answer(world, "ann", digest);
    settle(world);
    expect(world.carried("m2")).toContain("ConfigMap web/settings malice");
  });

  test("and so does the change of what is protected", () => {
    const world = standing(["unavailable=3"], guarded, ["all"]);
    edit(world, "malice", by("bob"));
    grant(world, "carol");
    world.commit(() => relabel(world, "prod-1", "env=prod"), by("dave"));
    expect(authors(world)).toEqual(expect.arrayContaining(["bob", "dave"]));
    keepsBobOut(world);
  });

  test("while a run of what all of them carry has no authors but its own", () => {
    const world = joined(trust({ approvals: [everything()], protectedTargets: [target({ clusters: ["m9"] })] }));
    answer(world, "ann", gateOf(world, "second", 1).digest);
    settle(world);
    edit(world, "better", by("dave"));
    run(world, "third", by("carol"));
    settle(world);
    expect(gateOf(world, "third", 1).authors.principals).toEqual(["carol", "dave"]);
  });
});

test("who edits an object after the version that a run brings has no part in the run", () => {
  const stages = ["canary:env=canary/3", "prod:env=prod/3/ask-before"];
  const world = standing(["external"], trust({ approvals: [everything()] }), stages);
  world.commit(() => write(world, objectOf("ConfigMap", "web/fresh", "one")), by("dave"));
  run(world, "second", by("carol"));
  pass(world);
  world.commit(() => write(world, objectOf("ConfigMap", "web/fresh", "two")), by("bob"));
  settle(world);
  const { authors: found, digest } = gateOf(world, "second", 1);
  expect(found).toEqual({ principals: ["carol", "dave"], unknown: 0 });
  answer(world, "bob", digest);
  settle(world);
  expect(world.carried("m2")).toContain("ConfigMap web/fresh one");
});

test("T-39: what a run brought of a placement that is gone was not approved of another one of its name", () => {
  const stages = ["canary:env=canary/3", "prod:env=prod/3/ask-before"];
  const world = standing(["external"], trust({ approvals: [everything()] }), stages);
  const placement = world.placements.get(web);
  world.commit(() => world.placements.delete(web), by("dave"));
  settle(world);
  expect(world.head.placements.has(web)).toBe(false);
  edit(world, "malice", by("bob"));
  world.commit(() => world.placements.set(web, placement as NonNullable<typeof placement>), by("dave"));
  run(world, "second");
  settle(world);
  edit(world, "good");
  run(world, "third");
  settle(world);
  answer(world, "ann", gateOf(world, "third", 1).digest);
  settle(world);
  expect(world.carried("m2")).toContain("ConfigMap web/settings good");
  const [malice] = world.head.placements.get(web)?.resourceSnapshots ?? [];
  run(world, "back", by("carol"), String(malice?.index));
  settle(world);
  expect(gateOf(world, "back", 1).authors).toEqual({ principals: ["bob", "carol", "dave"], unknown: 0 });
});

test("a relabelled cluster counts in a run as well", () => {
  const world = standing(["external"], trust({ approvals: [everything()] }), ["prod/3/ask-before"]);
  world.commit(() => put(world, "tier=gold"), by("dave"));
  world.commit(() => relabel(world, "m2", "env=prod", "tier=gold"), by("bob"));
  run(world, "second");
  settle(world);
  const { authors: found, digest } = gateOf(world, "second", 0);
  expect(found.principals).toEqual(["bob", "dave"]);
  const file = answer(world, "bob", digest);
  settle(world);
  expect(verdictOf(world, file)).toMatch(/^FLT1205: /);
});

test("where the beginning cannot be seen any more, what slept there counts as nobody's", () => {
  const world = standing();
  world.commit(() => put(world, "tier=gold"), by("bob"));
  settle(world);
  edit(world, "one");
  grant(world);
  const first = world.head.trust?.first as Commit;
  world.commit(() => relabel(world, "m2", "env=prod", "tier=gold"), by("dave"));
  // As if there were too many commits to look at.
  world.outOfSight = first;
  expect(authors(world)).toEqual(["dave", "1 unsigned"]);
});
