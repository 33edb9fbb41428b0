import type { Judge } from "../judge.ts";
import type { StateCommit, StateCommitRule } from "../state-commit.ts";

/** Promises about what is recorded of what members say of themselves. */
export const factRules: readonly (readonly [string, StateCommitRule])[] = [
  ["I-23", isNotKeptBusy],
  ["I-23", recordsWithinBounds],
];

/** A process believes ten changes of what a member says within ten minutes; people's edits may have a part in some more. */
const mostCommits = 16;
const withinMs = 600_000;

/** I-23: a member that says something else each time costs a bounded number of commits. */
function* isNotKeptBusy({ facts, before, after }: StateCommit, judge: Judge): Generator<string> {
  const now = judge.simulation.now();
  for (const [name, { properties, collection }] of after.clusters) {
    const was = before?.clusters.get(name);
    if (was === undefined || (was.properties === properties && was.collection === collection)) continue;
    if (JSON.stringify([...was.properties]) === JSON.stringify([...properties])) continue;
    const key = `${facts.attempt.writer} ${name}`;
    const times = [...(judge.factChanges.get(key) ?? []).filter((it) => Math.abs(now - it) < withinMs), now];
    judge.factChanges.set(key, times);
    if (times.length > mostCommits)
      yield `${facts.attempt.writer} recorded what ${name} says of itself ${times.length} times within ten minutes`;
  }
}

/** Whatever a member makes up, what is on record of it is small, and no amount is negative. */
function* recordsWithinBounds({ after }: StateCommit): Generator<string> {
  for (const [name, { properties, conditions }] of after.clusters) {
    if (properties.size > 400) yield `${properties.size} properties of ${name} are on record`;
    for (const [property, value] of properties) {
      if (property.length > 253 || value.length > 1024) yield `${property.slice(0, 60)} of ${name} is long`;
      if (property.startsWith("resources.") && value.startsWith("-")) yield `${property} of ${name} is ${value}`;
    }
    for (const { message } of conditions)
      if (message.length > 32_768) yield `a condition of ${name} has ${message.length} characters`;
  }
}
