import { run } from "./run.ts";
import type { Violation } from "./simulation.ts";
import type { Step } from "./step.ts";

/** Worlds that are tried at most: enough for a script of a few lines, and a minute at most. */
const mostTries = 400;

/**
 * Makes a script that breaks a promise shorter, as long as it breaks the same one: steps go, halves first and then one
 * by one, then what goes wrong inside of passes.
 */
export async function shrink(steps: readonly Step[], broken: Violation): Promise<readonly Step[]> {
  let tries = 0;
  const breaks = async (candidate: readonly Step[]): Promise<boolean> => {
    if (tries >= mostTries) return false;
    tries++;
    const { violations } = await run(candidate);
    const [first] = violations;
    return first !== undefined && shapeOf(first) === shapeOf(broken);
  };
  let smallest = steps;
  for (let before = -1; before !== weightOf(smallest) && tries < mostTries; ) {
    before = weightOf(smallest);
    smallest = await withoutSteps(smallest, breaks);
    smallest = await withSimplerSteps(smallest, breaks);
  }
  return smallest;
}

/** What was broken and how, whatever names and numbers are in it. */
const shapeOf = ({ rule, message }: Violation): string =>
  `${rule} ${message.split("\n")[0]}`.replaceAll(
    /[0-9a-f]{7,}|\b(?:m?\d+|more\d+|their\d+|(?:broken|crash)-\d+)\b|\S*\/\S*|\b(?:web|shop|extra)\b/g,
    "#",
  );

type Breaks = (candidate: readonly Step[]) => Promise<boolean>;

const weightOf = (steps: readonly Step[]): number => JSON.stringify(steps).length;

async function withoutSteps(steps: readonly Step[], breaks: Breaks): Promise<readonly Step[]> {
  let rest = steps;
  for (let size = Math.ceil(rest.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = rest.length - size; at > -size; at -= size) {
      const candidate = [...rest.slice(0, Math.max(0, at)), ...rest.slice(at + size)];
      if (candidate.length < rest.length && (await breaks(candidate))) rest = candidate;
    }
  }
  return rest;
}

async function withSimplerSteps(steps: readonly Step[], breaks: Breaks): Promise<readonly Step[]> {
  let best = steps;
  for (let at = 0; at < best.length; at++) {
    for (const simpler of simplerThan(best[at] as Step)) {
      const candidate = best.with(at, simpler);
      if (await breaks(candidate)) best = candidate;
    }
  }
  return best;
}

/** The same step with less in it. */
function simplerThan(step: Step): readonly Step[] {
  if (step.do === "placement") {
    const words = step.options.split(" ");
    const without = words.map((it): Step => ({ ...step, options: words.filter((other) => other !== it).join(" ") }));
    return [...without, { ...step, policy: "PickAll" }];
  }
  if (step.do !== "pass" && step.do !== "start") return [];
  const faults = step.faults.split("; ").filter((it) => it !== "");
  return [
    ...(step.shuffle === 0 ? [] : [{ ...step, shuffle: 0 }]),
    ...(step.flush ? [{ ...step, flush: false }] : []),
    ...(step.patience === "none" ? [{ ...step, patience: "retryAt" as const }] : []),
    ...(step.crash === "" ? [] : [{ ...step, crash: "" }]),
    ...faults.map((it): Step => ({ ...step, faults: faults.filter((other) => other !== it).join("; ") })),
  ];
}
