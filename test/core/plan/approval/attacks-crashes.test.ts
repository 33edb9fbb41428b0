// Whoever is killed between two passes comes to the same end (I-15), and asks for nothing twice.
import { describe, expect, test } from "vitest";
import { minutes } from "../../../../src/core/model/value.ts";
import { World } from "../../../world.ts";
import { isReproducible } from "../any-weather.ts";
import { everywhere, guarded } from "../guard/guarded-world.ts";
import {
  afterPasses,
  answer,
  by,
  byNobody,
  changeOf,
  edit,
  everything,
  fleet,
  gateOf,
  nextOf,
  push,
  rootsSign,
  run,
  settle,
  take,
  trust,
  trustedBy,
} from "./trusted-world.ts";

/** What remains of a story. */
const endOf = (world: World) => ({
  carried: everywhere(world),
  trust: world.head.trust?.trust.version,
  answers: [...world.head.answers.values()].map(
    ({ file, judgement }) =>
      `${file.decision} of ${file.principal}: ${judgement.kind === "denied" ? judgement.code : judgement.kind}`,
  ),
  gates: [...world.head.runs.values()].flatMap(({ key, end, stages }) => [
    `${key}: ${end?.kind ?? "goes on"}`,
    ...stages.map(({ before }) => before.Approval?.approval?.by.map((it) => it.principal).join() ?? "unasked"),
  ]),
  change: [...world.head.placements.values()].map((it) => it.change),
});

type Story = (world: World) => void;

const stories: Readonly<Record<string, Story>> = {
  "T-05: an approval that was taken away and put back": (world) => {
    fleet(["prod/3/ask-before"], trust({ approvals: [everything({ minimum: 2 })] }), ["external"], world);
    run(world, "first");
    settle(world);
    const { digest } = gateOf(world, "first", 0);
    const file = answer(world, "ann", digest);
    settle(world);
    take(world, file);
    settle(world);
    push(world, [file], byNobody);
    answer(world, "bob", digest);
    settle(world);
    answer(world, "carol", digest);
    settle(world);
  },
  "T-34: a protected change under a budget, and trust that moves on meanwhile": (world) => {
    fleet([], guarded, ["unavailable=1"], world);
    settle(world);
    answer(world, "ann", changeOf(world).digest);
    for (let turn = 0; turn < 3; turn++) {
      settle(world);
      world.wait(minutes(2));
    }
    edit(world, "one");
    settle(world);
    answer(world, "bob", changeOf(world).digest);
    settle(world);
    trustedBy(world, nextOf(guarded, { approvals: [] }), by("ann"));
    rootsSign(world, "ann", "bob");
    for (let turn = 0; turn < 3; turn++) {
      settle(world);
      world.wait(minutes(2));
    }
  },
  "a key that is compromised while a run goes on": (world) => {
    const file = trust();
    fleet(["prod/1/ask-before"], file, ["external"], world);
    run(world, "first");
    settle(world);
    world.member("m2").silence = { code: "Unreachable", message: "no answer" };
    answer(world, "carol", gateOf(world, "first", 0).digest);
    settle(world);
    trustedBy(world, nextOf(file, { revocations: [{ key: "SHA256:carol", kind: "compromised" }] }), by("ann"));
    rootsSign(world, "ann", "bob");
    settle(world);
    world.member("m2").silence = null;
    settle(world);
    run(world, "second");
    settle(world);
    answer(world, "ann", gateOf(world, "second", 0).digest);
    settle(world);
  },
};

describe.each(Object.entries(stories))("%s", (_, story) => {
  let passes = 0;
  const calm = new World();
  afterPasses(calm, ({ seen, plan }, count) => {
    passes = count;
    isReproducible(seen, plan, `pass ${count}`);
  });

  test("ends well, and every plan of it is reproducible", () => {
    story(calm);
    expect(new Set(Object.values(everywhere(calm))).size).toBe(1);
    expect(passes).toBeGreaterThan(8);
  });

  test("ends so wherever the process does", () => {
    for (let at = 1; at <= passes; at++) {
      const world = new World();
      afterPasses(world, (_passed, count) => {
        if (count === at) world.restart();
      });
      story(world);
      expect(endOf(world), `ends after pass ${at}`).toEqual(endOf(calm));
    }
  });
});
