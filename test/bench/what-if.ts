import { spawn } from "node:child_process";
import { join } from "node:path";
import { exitCodes } from "../../src/cmd/terminal/exit-code.ts";
import type { Bench } from "./cases.ts";
import type { Outcome } from "./outcome.ts";
import { instant } from "./protocol.ts";
import { cpuOfEndedChildren, peakMemoryOf } from "./usage.ts";
import { changeOf } from "./workload.ts";

/**
 * What would the edit of one policy do? `flotilla plan` on a branch that holds it, from a cold start: the program as people
 * run it, which contacts no member.
 */
export async function whatIf({ bundle, hub, size, profiles, say }: Bench): Promise<Outcome> {
  const what = "what-if of one policy edit: flotilla plan";
  say(what);
  hub.branch("what-if", "main");
  hub.push("what-if", changeOf("policy", size));
  const profile =
    profiles === null ? [] : ["--cpu-prof", "--cpu-prof-dir", profiles, "--cpu-prof-name", "what-if.cpuprofile"];
  const args = [...profile, join(bundle, "flotilla.js"), "plan", "--repo", hub.path, "--branch", "what-if"];
  const cpuBefore = cpuOfEndedChildren();
  const from = instant();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const out: Buffer[] = [];
  child.stdout.on("data", (it: Buffer) => void out.push(it));
  let peakMemory = 0;
  const timer = setInterval(() => {
    peakMemory = Math.max(peakMemory, peakMemoryOf(child.pid ?? 0) ?? 0);
  }, 20);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(timer);
  const took = (instant() - from) / 1000;
  const text = Buffer.concat(out).toString("utf8");
  if ((code !== exitCodes.done && code !== exitCodes.stuck) || text.startsWith("nothing"))
    throw new Error(`flotilla plan ended with ${code}: ${text}`);
  return {
    case: "what-if",
    what,
    when: { decided: took, pushed: null, applied: null, available: took, recorded: null },
    passes: 1,
    commits: 0,
    first: null,
    all: null,
    requests: { read: 0, write: 0 },
    cpu: { reconciler: cpuOfEndedChildren() - cpuBefore, git: 0, members: null },
    peakMemory,
    historyBytes: null,
  };
}
