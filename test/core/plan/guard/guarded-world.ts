// A fleet of which two clusters are protected (D-17).
import { expect } from "vitest";
import type { ProtectedTarget } from "../../../../src/core/model/trust.ts";
import type { PlacementKey } from "../../../../src/core/model/value.ts";
import type { World } from "../../../world.ts";
import { answer, fleet, run, settle, trust } from "../approval/trusted-world.ts";

export const target = (more: Partial<ProtectedTarget> = {}): ProtectedTarget => ({
  clusters: ["m2@uid-of-m2", "m3", "prod-*"],
  namespaces: ["web", "shop"],
  principals: ["ann", "bob", "carol"],
  minimum: 1,
  accept: ["commit"],
  ...more,
});

export const guarded = trust({ protectedTargets: [target()] });

/** Everything that a member carries of the fleet. */
export const on = (world: World, name: string): string =>
  world
    .carried(name)
    .filter((it) => it.startsWith("ConfigMap"))
    .map((it) => it.replace("ConfigMap ", ""))
    .join(", ");
export const everywhere = (world: World): Readonly<Record<string, string>> =>
  Object.fromEntries([...world.members.keys()].map((it) => [it, on(world, it)]));

export const requestOf = (world: World, key: PlacementKey) => {
  const request = world.head.placements.get(key)?.change?.request ?? null;
  if (request === null) throw new Error(`nobody is asked about a change of ${key}`);
  return request;
};

/** Says yes to whatever anything waits for, until nothing does. */
export function grant(world: World, who = "ann"): void {
  for (let round = 0; round < 5; round++) {
    settle(world);
    const changes = [...world.head.placements.values()].flatMap(({ change }) => change?.request ?? []);
    const gates = [...world.head.runs.values()].flatMap(({ stages }) =>
      stages.flatMap((it) => it.before.Approval ?? []),
    );
    const waiting = [...gates, ...changes].filter((it) => it.approval === null);
    if (waiting.length === 0) return;
    for (const { digest } of waiting) answer(world, who, digest);
  }
  throw new Error("asks for ever");
}

/** Everything stands everywhere, as it was approved. */
export function standing(options: readonly string[] = ["unavailable=3"], file = guarded, stages = ["all"]): World {
  const world = fleet(stages, file, options);
  if (options.includes("external")) run(world, "first");
  grant(world);
  expect(everywhere(world)).toEqual({ m1: "web/settings zero", m2: "web/settings zero", m3: "web/settings zero" });
  return world;
}
