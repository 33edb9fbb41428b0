// Somebody hides that he wrote what he approves (`trust/README.md#step-8`; `#threats`, T-07, T-12).
import { describe, expect, test } from "vitest";
import type { CommitFact } from "../../../../src/core/model/commit.ts";
import { keyOf, objectOf } from "../../../intent.ts";
import { morning, World } from "../../../world.ts";
import { certified, day, openpgp } from "../../trust/scene.ts";
import { target } from "../guard/guarded-world.ts";
import { asked, gated, honestly, outcome, waiting } from "../runs/one-run.ts";
import {
  answer,
  by,
  byNobody,
  carries,
  edit,
  everything,
  fleet,
  gateOf,
  run,
  settle,
  trust,
  verdictOf,
  web,
} from "./trusted-world.ts";

const settings = "resources/ConfigMap-web-settings.yaml";

describe("T-07: nobody hides that he wrote it", () => {
  const hidden: readonly (readonly [string, Partial<CommitFact>])[] = [
    ["unsigned", byNobody],
    ["unsigned and in somebody else's name", { ...byNobody, claimedAuthor: "Dave <dave@example.com>" }],
    ["with a key that is nobody's", by("stranger")],
    ["with a signature that does not verify", { signature: { kind: "rejected", code: "Mismatch", message: "no" } }],
    ["with a machine's signature", { signature: openpgp("5DE3") }],
    ["in an unclean merge", { ...byNobody, merge: "unclean" }],
  ];

  test.each(hidden)("a change pushed %s takes one approval more", (_, fact) => {
    const world = waiting({}, (it) => {
      edit(it, "draft", fact);
      edit(it, "zero");
    });
    expect(gateOf(world, "first", 0).authors).toEqual({ principals: ["dave"], unknown: 1 });
    expect(outcome(world, answer(world, "bob", asked(world)))).toMatch(/FLT1206: 1 of 2 approvals .* ann, carol/);
    honestly(world);
  });

  test("where nobody may change anything unsigned, nobody may approve it", () => {
    const world = waiting({ unsignedChanges: "deny" }, (it) => edit(it, "draft", byNobody));
    const file = answer(world, "bob", asked(world));
    expect(outcome(world, file)).toMatch(/^FLT1205: four eyes: 1 of the changes are signed by nobody/);
  });

  test.each([
    ["is over by the time that it is asked about", -2 * day, -day],
    ["has not begun by our clock", day, 2 * day],
  ])("who signed with a certificate whose time %s is the author, and nobody's name is missing", (_, from, until) => {
    const zero = morning - 1_800_000_000_000;
    const signature = certified("short-lived", ["bob"], zero + from, zero + until);
    const world = waiting({ unsignedChanges: "deny" }, (it) => edit(it, "draft", { signature }));
    expect(gateOf(world, "first", 0).authors).toEqual({ principals: ["bob", "dave"], unknown: 0 });
    expect(outcome(world, answer(world, "bob", asked(world)))).toMatch(/^FLT1205: four eyes: bob signed a change/);
    answer(world, "ann", asked(world));
    expect(outcome(world)).toBe("open");
  });

  test("who signs in somebody else's name is the author", () => {
    const world = waiting({}, (it) => edit(it, "draft", { ...by("bob"), claimedAuthor: "Dave <dave@example.com>" }));
    expect(outcome(world, answer(world, "bob", asked(world)))).toMatch(/^FLT1205: /);
    answer(world, "ann", asked(world));
    expect(outcome(world)).toBe("open");
  });

  test("who resolves a merge their own way is the author of what is in none of its parents, and of nothing else", () => {
    const resolved = (value: string) =>
      waiting({}, (it) =>
        edit(it, value, { ...by("bob"), merge: "unclean", ...(value === "zero" ? { changes: [] } : {}) }),
      );
    const [other, same] = [resolved("resolved"), resolved("zero")];
    expect(outcome(other, answer(other, "bob", asked(other)))).toMatch(/^FLT1205: /);
    answer(same, "bob", asked(same));
    expect(outcome(same)).toBe("open");
  });

  test("who wrote a file that somebody else moved is the author", () => {
    const world = waiting({}, (it) => {
      it.commit(() => {
        it.fleet = { ...it.fleet, roots: ["resources", "placements", "clusters", "strategies", "runs"] };
      }, by("dave"));
      const before = it.blobAt(settings);
      edit(it, "draft", by("dave"));
      const after = it.blobAt(settings);
      edit(it, "zero", by("dave"));
      it.commit(() => {}, { ...by("bob"), changes: [{ path: "drafts/settings.yaml", before: null, after }] });
      const moved = [
        { path: "drafts/settings.yaml", before: after, after: null },
        { path: settings, before, after },
      ];
      it.commit(() => {}, { ...by("dave"), changes: moved });
    });
    expect(gateOf(world, "first", 0).authors).toEqual({ principals: ["bob", "dave"], unknown: 0 });
    expect(outcome(world, answer(world, "bob", asked(world)))).toMatch(/^FLT1205: /);
    honestly(world);
  });

  test("who edited a file where it was never read is the author once somebody else moves it back", () => {
    const world = fleet(gated, trust({ approvals: [everything()] }), ["external"], readingSome());
    const put = (value: string, folder: string, who: string): void =>
      world.commit(() => {
        const made = objectOf("ConfigMap", "web/settings", value);
        const at = { ...made, source: { ...made.source, path: `${folder}/settings.yaml` } };
        const isRead = folder === "resources";
        for (const all of [world.objects, world.unread]) all.delete(keyOf("ConfigMap", "web/settings"));
        (isRead ? world.objects : world.unread).set(keyOf("ConfigMap", "web/settings"), at);
      }, by(who));
    put("draft", "drafts", "dave");
    put("zero", "drafts", "bob");
    put("zero", "resources", "dave");
    run(world, "first");
    settle(world);
    expect(gateOf(world, "first", 0).authors).toEqual({ principals: ["bob", "dave"], unknown: 0 });
    expect(outcome(world, answer(world, "bob", asked(world)))).toMatch(/^FLT1205: /);
    honestly(world);
  });
});

/** A repository of which not everything is read, from its first commit on. */
function readingSome(): World {
  const world = new World();
  world.fleet = { ...world.fleet, roots: ["resources", "placements", "clusters", "strategies", "runs"] };
  return world;
}

test("T-12: who wrote what nobody approved is its author when a run goes back to it", () => {
  for (const protectedTargets of [[], [target({ clusters: ["m*"] })]]) {
    const stages = protectedTargets.length === 0 ? gated : ["prod/3"];
    const world = fleet(stages, trust({ protectedTargets }));
    const open = () => (protectedTargets.length === 0 ? null : world.head.placements.get(web)?.change?.request);
    const asks = (name: string) => open() ?? gateOf(world, name, 0);
    const carriedOut = (name: string, value: string, who: string) => {
      if (value !== "") edit(world, value, by(who));
      run(world, name);
      settle(world);
    };
    carriedOut("first", "", "dave");
    answer(world, "ann", asks("first").digest);
    settle(world);
    // Bob's is rejected; what Dave makes of it is rolled out.
    carriedOut("second", "malice", "bob");
    answer(world, "ann", asks("second").digest, { decision: "Reject" });
    settle(world);
    carriedOut("third", "better", "dave");
    answer(world, "ann", asks("third").digest);
    settle(world);
    expect(carries(world)["m3"]).toBe("ConfigMap web/settings better");
    run(world, "fourth", by("dave"), "1");
    settle(world);
    const file = answer(world, "bob", asks("fourth").digest);
    settle(world);
    expect(verdictOf(world, file)).toMatch(/^FLT1205: /);
    expect(carries(world)["m3"]).toBe("ConfigMap web/settings better");
    answer(world, "carol", asks("fourth").digest);
    settle(world);
    expect(carries(world)["m3"]).toBe("ConfigMap web/settings malice");
  }
});

test("T-12: who wrote what somebody else reverted is an author all the same", () => {
  const world = waiting({}, (it) => {
    edit(it, "malice", by("bob"));
    edit(it, "zero", by("dave"));
  });
  expect(gateOf(world, "first", 0).authors).toEqual({ principals: ["bob", "dave"], unknown: 0 });
  expect(outcome(world, answer(world, "bob", asked(world)))).toMatch(/^FLT1205: /);
  honestly(world);
});
