import type { AnswerWay, TrustChange, WithdrawalWay } from "./people/approvers.ts";
import type { Breakage } from "./people/document.ts";
import type { Decision, RunState } from "./people/rollout-document.ts";

/**
 * One thing that happens in a world. Plain data: a run is a list of these, and says everything that the run depends on.
 */
export type Step =
  // What people do to the working copy; it counts once it is pushed.
  | { readonly do: "manifest"; readonly object: string; readonly value: string }
  | { readonly do: "placement"; readonly name: string; readonly policy: string; readonly options: string }
  | { readonly do: "cluster"; readonly name: string; readonly words: string }
  | {
      readonly do: "override";
      readonly name: string;
      readonly object: string;
      readonly label: string;
      readonly value: string;
    }
  /** What `fleet.yaml` says. */
  | { readonly do: "guards"; readonly objects: number; readonly clusters: number; readonly profile?: "kubefleet" }
  | { readonly do: "strategy"; readonly name: string; readonly stages: string }
  | {
      readonly do: "run";
      readonly name: string;
      readonly placement: string;
      readonly strategy: string;
      readonly index: string;
      readonly state: RunState;
    }
  | { readonly do: "evict"; readonly name: string; readonly placement: string; readonly cluster: string }
  | { readonly do: "budget"; readonly name: string; readonly bound: string }
  /** Answers every approval request that is open; takes back what was said to every one that is there. */
  | { readonly do: "answer"; readonly how: Decision }
  | { readonly do: "erase"; readonly path: string }
  | { readonly do: "break"; readonly path: string; readonly how: Breakage }
  /** Confirms all deletions that wait, or just the set that waits first, or last. */
  | { readonly do: "confirm"; readonly only?: "first" | "last" }
  /** Writes every confirmation once more that anybody ever gave. */
  | { readonly do: "reconfirm" }
  /** Takes the working copy back to what was pushed so many commits ago. */
  | { readonly do: "revert"; readonly back: number }
  /** `by` signs the commit. */
  | { readonly do: "push"; readonly by?: string }
  /** Somebody founds, renews or breaks what is trusted: `min=2 four m1/web`. */
  | { readonly do: "trust"; readonly how: TrustChange; readonly words: string }
  /** Somebody answers every approval request that is open, and pushes that alone; nobody rejects a change. */
  | { readonly do: "vote"; readonly who: string; readonly how: Decision; readonly way: AnswerWay }
  /** What somebody approved last is taken back, or put back by a stranger; pushed alone. */
  | { readonly do: "recant"; readonly who: string; readonly how: WithdrawalWay }
  /** Pushes by force, on top of what was pushed so many commits ago. */
  | { readonly do: "rewrite"; readonly back: number }
  /** The operator accepts the source branch as it stands, whatever it was before. */
  | { readonly do: "accept" }
  /** Pushes a commit without any file. */
  | { readonly do: "empty" }
  /** The source branch is gone, until somebody pushes. */
  | { readonly do: "vanish" }
  // What happens to the hub and on members.
  | { readonly do: "hub"; readonly is: "well" | "unreachable" }
  | { readonly do: "member"; readonly name: string; readonly is: MemberState }
  /** How long workloads take to become available there, from now on. */
  | { readonly do: "pace"; readonly name: string; readonly ms: number }
  /** Nodes come and go, until there are so many. */
  | { readonly do: "nodes"; readonly name: string; readonly count: number }
  /** From here on it says something else of its nodes, its pods, its version and its platform. */
  | { readonly do: "lie"; readonly name: string; readonly how: Lie }
  | {
      readonly do: "meddle";
      readonly name: string;
      readonly how: ThirdPartyChange;
      readonly object: string;
      readonly value: string;
    }
  /** From here on a second controller puts its value into an object between all steps; with an empty one it is gone. */
  | { readonly do: "fight"; readonly name: string; readonly object: string; readonly value: string }
  /** The cluster is made anew: another identity, nothing left. */
  | { readonly do: "reset"; readonly name: string }
  /** The address of a member leads to another one's cluster. */
  | { readonly do: "readdress"; readonly name: string; readonly to: string }
  | { readonly do: "save"; readonly name: string }
  /** The cluster comes back as it was saved. */
  | { readonly do: "restore"; readonly name: string }
  | { readonly do: "wait"; readonly ms: number }
  /** The reconcilers' clocks jump, and stay where they land. */
  | { readonly do: "jump"; readonly ms: number }
  // What reconcilers do.
  | ({ readonly do: "pass"; readonly by: string } & PassOptions)
  /** Begins a pass, which stands still at a call: `before apply 2`. */
  | ({ readonly do: "start"; readonly by: string; readonly hold: string } & PassOptions)
  /** Lets a pass that stands still go on to its end. */
  | { readonly do: "resume"; readonly by: string }
  /** From here on plans that bring something to a placement have a defect; with an empty name no longer. */
  | { readonly do: "plant"; readonly placement: string }
  /** Processes end, and others begin that decide by other rules: what is in quarantine is looked at again. */
  | { readonly do: "release" }
  /** The process ends between passes, and another one begins. */
  | { readonly do: "restart"; readonly by: string }
  /** An invalid file is added and taken away again: nothing else may notice (I-18). */
  | { readonly do: "intrude"; readonly how: SourceAttack };

/** How a pass goes, and what goes wrong in it. */
export interface PassOptions {
  readonly patience: "none" | "retryAt";
  /** Commits news that decides nothing, too. */
  readonly flush: boolean;
  /** `lost apply 2; hook commit 1`, empty for none. */
  readonly faults: string;
  /** Where the process dies: `before apply 2`, `after commit 1`; empty for nowhere. */
  readonly crash: string;
  /** Members whose answers come after the grace, `m1,m2`: this pass goes on without them. Empty for none. */
  readonly late: string;
  /** Above zero, calls that run at once reach the world in an order that this number shuffles. */
  readonly shuffle: number;
}

/** What may be wrong with a member for a while. */
export type MemberState = "well" | "down" | "hangs" | "busy" | "broken" | "unauthorized" | "read-only" | "frozen";

/** What a member makes up about itself; `none`: it tells the truth. */
export type Lie = "none" | "negative" | "huge" | "nonsense" | "changing" | "forbidden" | "cut";

/** What others do to objects on a member. */
export type ThirdPartyChange = "create" | "edit" | "delete" | "unmark" | "finalize" | "release" | "copy";

/** Invalid documents that name nothing that exists. */
export type SourceAttack = "placement" | "override" | "manifest" | "cluster";

/** A step as a line: `pass by=a crash="after apply 2"`. Members that say nothing are left out. */
export function lineOf(step: Step): string {
  const { do: verb, ...rest } = step;
  const words = Object.entries(rest).flatMap(([key, value]) =>
    isSilent(key, value) ? [] : [`${key}=${quoted(value)}`],
  );
  return [verb, ...words].join(" ");
}

/** A pass of a daemon in which nothing goes wrong. */
export const defaultPass: PassOptions = {
  patience: "retryAt",
  flush: false,
  faults: "",
  crash: "",
  late: "",
  shuffle: 0,
};

const usual = new Map<string, unknown>(Object.entries(defaultPass));

const isSilent = (key: string, value: unknown): boolean => usual.has(key) && usual.get(key) === value;

const quoted = (value: unknown): string =>
  /^[\w.:,/%-]+$/.test(String(value)) ? String(value) : JSON.stringify(value);

const numbers = new Set(["ms", "back", "objects", "clusters", "shuffle", "count"]);
const passes = new Set(["pass", "start"]);

/** Reads a line of {@link lineOf} back. */
export function stepOf(line: string): Step {
  const [verb = ""] = line.split(" ");
  const step: Record<string, unknown> = { do: verb, ...(passes.has(verb) ? defaultPass : {}) };
  for (const [, key = "", bare, text] of line.matchAll(/ (\w+)=(?:([^\s"]+)|("(?:[^"\\]|\\.)*"))/g)) {
    const value = bare ?? String(JSON.parse(text ?? '""'));
    step[key] = numbers.has(key) ? Number(value) : key === "flush" ? value === "true" : value;
  }
  return step as unknown as Step;
}

/** Steps as a text to be kept: one line each. Lines that begin with `#` are for people. */
export const scriptOf = (steps: readonly Step[]): string => `${steps.map(lineOf).join("\n")}\n`;

/** Reads a text of {@link scriptOf} back. */
export const stepsOf = (script: string): readonly Step[] =>
  script
    .split("\n")
    .map((it) => it.trim())
    .filter((it) => it !== "" && !it.startsWith("#"))
    .map(stepOf);
