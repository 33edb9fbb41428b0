import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { compareText } from "../../src/core/model/value.ts";
import type { random } from "../core/schedule/random.ts";
import type { Hub } from "./hub.ts";
import {
  configMap,
  deployment,
  file,
  labelOverride,
  memberCluster,
  namespace,
  openFleet,
  placement,
} from "./small-fleet.ts";

/** What a small fleet's repository asks for. */
export interface Asked {
  /** Which ring each member belongs to: an override labels all namespaces with it. */
  readonly members: ReadonlyMap<string, string>;
  readonly placements: ReadonlyMap<string, { readonly on: readonly string[]; readonly value: number }>;
}

const rings = ["blue", "green"] as const;
const names = ["a", "b", "c", "d", "e", "f"].map((it) => `member-${it}`);
const mostPlacements = 5;

/** Six members in two rings, and two placements. */
export const firstAsked: Asked = {
  members: new Map(names.map((name, at) => [name, rings[at % 2] ?? ""])),
  placements: new Map([
    ["app-0", { on: names.slice(0, 4), value: 0 }],
    ["app-1", { on: names.slice(2), value: 0 }],
  ]),
};

/** What members are to hold when nothing is left to do: `member-a app-0 is 3 in blue`. */
export const wantedBy = ({ members, placements }: Asked): readonly string[] =>
  [...placements]
    .flatMap(([name, { on, value }]) => on.map((it) => `${it} ${name} is ${value} in ${members.get(it)}`))
    .sort(compareText);

/** Somebody who edits the repository, and knows what it asks for. */
export interface Editor {
  /** Pushes one change, drawn by lot. */
  push(): Promise<void>;
  asked(): Asked;
  /** How often it was which. */
  readonly pushes: ReadonlyMap<string, number>;
}

export async function editorOf(hub: Hub, choice: ReturnType<typeof random>): Promise<Editor> {
  const versions: Asked[] = [firstAsked];
  const pushes = new Map<string, number>();
  await writeAll(hub, firstAsked);
  await commit(hub, "Ask for little");
  return {
    asked: () => versions.at(-1) ?? firstAsked,
    pushes,
    push: async () => {
      const [what, version] = changeOf(versions, choice);
      versions.push(version);
      await writeAll(hub, version);
      await commit(hub, what);
      pushes.set(what, (pushes.get(what) ?? 0) + 1);
    },
  };
}

/**
 * A change of the last version, in words, and what it makes of it. Names that were given up come back with a revert only, and
 * no ring is ever empty: an override for nobody is worth a warning.
 */
function changeOf(
  versions: readonly Asked[],
  { below, pick, shuffled }: ReturnType<typeof random>,
): readonly [string, Asked] {
  const asked = versions.at(-1) ?? firstAsked;
  const [name, found] = [...asked.placements][below(asked.placements.size)] ?? ["", { on: [], value: 0 }];
  const [mover, on] = [names[2 + below(names.length - 2)] ?? "", shuffled(names).slice(below(names.length))];
  const placed = (it: string, as: typeof found): Asked => ({
    ...asked,
    placements: new Map([...asked.placements, [it, as]]),
  });
  const kind = asked.placements.size === 0 ? 0 : below(10);
  if (kind === 0 && asked.placements.size < mostPlacements)
    return ["a new placement", placed(`app-${versions.length + 1}`, { on, value: 0 })];
  if (kind <= 1)
    return ["a placement goes", { ...asked, placements: new Map([...asked.placements].filter(([it]) => it !== name)) }];
  if (kind === 2) return ["a revert", versions.at(-2) ?? firstAsked];
  if (kind === 3) return ["other clusters", placed(name, { ...found, on })];
  if (kind <= 5) return ["other labels", { ...asked, members: new Map([...asked.members, [mover, pick(rings)]]) }];
  return ["an edit", placed(name, { ...found, value: found.value + 1 })];
}

const run = promisify(execFile);

/** Without holding up whoever else lives in this process. */
async function commit({ clone }: Hub, message: string): Promise<void> {
  const person = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
  const env = { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const git = (...args: readonly string[]) => run("git", [...person, ...args], { cwd: clone, env });
  await git("add", "--all");
  await git("commit", "--quiet", "--allow-empty", "-m", message);
  await git("push", "--quiet", "origin", "main");
}

async function writeAll(hub: Hub, { members, placements }: Asked): Promise<void> {
  await hub.clear();
  await hub.write("fleet.yaml", file(openFleet));
  for (const [name, ring] of members) await hub.write(`clusters/${name}.yaml`, file(memberCluster(name, { ring })));
  for (const [name, { on, value }] of placements) {
    await hub.write(`placements/${name}.yaml`, file(placement(name, { on })));
    await hub.write(`overrides/${name}.yaml`, file(labelOverride(name, "ring", rings)));
    const objects = [
      namespace(name),
      configMap(`${name}/app`, { value: `${value}` }),
      deployment(`${name}/app`, `app:${value}`),
    ];
    await hub.write(`resources/${name}.yaml`, file(...objects));
  }
}
