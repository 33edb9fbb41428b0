import { setMaxListeners } from "node:events";
import path from "node:path";
import { canonicalJson } from "../../../core/model/json.ts";
import { inSlotWithin, type Limiter, limiter } from "./concurrency.ts";
import {
  credentialFailure,
  type ExecCluster,
  type ExecCredential,
  type ExecPlugin,
  execInfo,
  readExecCredential,
} from "./exec-credential.ts";
import { runProgram } from "./run-program.ts";

export interface RunnerOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A plugin that takes longer is killed together with its children. */
  readonly deadlineMs: number;
}

/** The exec plugins of a kubeconfig. Members with the same plugin and the same input share its credential. */
export interface ExecRunner {
  /**
   * The plugin's credential, cached until it expires; `refused` is one that a member rejected, and is not given
   * again. Rejects with {@link MemberUnreachable} `Unauthorized` when there is none by the deadline; the next call runs it again.
   */
  credential(plugin: ExecPlugin, cluster: ExecCluster, refused: ExecCredential | null): Promise<ExecCredential>;
  /** Whether its expiry has passed. */
  hasExpired(credential: ExecCredential | null): boolean;
  /** Kills what still runs. */
  close(): void;
}

/** Concurrent processes. Plugins that failed last time have a few slots of their own: they may hang again. */
const maxConcurrent = 12;
const maxConcurrentSuspects = 4;

const maxCachedAnswers = 10_000;

/** Runs exec plugins ourselves: the library has no deadline for them, and keeps rejected credentials. */
export function execRunner(options: RunnerOptions): ExecRunner {
  const answers = new Map<string, Kept>();
  const closing = new AbortController();
  // Any number of plugins may listen to it.
  setMaxListeners(0, closing.signal);
  const [sound, suspect] = [limiter(maxConcurrent), limiter(maxConcurrentSuspects)];
  const run = async (kept: Kept, call: PluginCall): Promise<ExecCredential> => {
    try {
      const slots = kept.hasFailed ? suspect : sound;
      const text = await inSlotUntil(slots, call, options.deadlineMs, closing.signal);
      const credential = readExecCredential(text, call.plugin);
      [kept.credential, kept.hasFailed] = [credential, false];
      return credential;
    } catch (error) {
      [kept.credential, kept.hasFailed] = [null, true];
      throw error;
    } finally {
      kept.asking = null;
    }
  };
  const hasExpired = (it: ExecCredential | null): boolean => it?.expiresAt != null && it.expiresAt <= options.now();
  return {
    hasExpired,
    credential(plugin, cluster, refused) {
      const call: PluginCall = { plugin, info: execInfo(plugin, cluster) };
      const { command, args, env } = plugin;
      const key = canonicalJson([call.info, command, args, env]);
      const kept = answers.get(key) ?? { credential: null, asking: null, hasFailed: false };
      answers.set(key, kept);
      // In case the kubeconfig keeps changing; what is forgotten is run again.
      if (answers.size > maxCachedAnswers) answers.delete([...answers.keys()][0] ?? "");
      const { credential } = kept;
      if (credential !== null && credential !== refused && !hasExpired(credential)) return Promise.resolve(credential);
      kept.asking ??= run(kept, call);
      return kept.asking;
    },
    close: () => closing.abort(),
  };
}

interface Kept {
  credential: ExecCredential | null;
  asking: Promise<ExecCredential> | null;
  hasFailed: boolean;
}

interface PluginCall {
  readonly plugin: ExecPlugin;
  readonly info: string;
}

/** Waits for a slot until the deadline. */
async function inSlotUntil(
  slots: Limiter,
  call: PluginCall,
  deadlineMs: number,
  closing: AbortSignal,
): Promise<string> {
  const output = await inSlotWithin(slots, deadlineMs, () => runPlugin(call, deadlineMs, closing));
  if (output !== null) return output;
  throw credentialFailure(`its plugin waited longer than ${inSeconds(deadlineMs)} for other plugins`);
}

/** Runs a plugin once and gives its output. */
async function runPlugin({ plugin, info }: PluginCall, deadlineMs: number, closing: AbortSignal): Promise<string> {
  const { command: program, args } = plugin;
  const env = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: info };
  const end = await runProgram({ program, args, env, input: "" }, deadlineMs, closing);
  if (end.kind === "printed") return end.text;
  const name = path.basename(program).slice(0, 60);
  // What cannot be run may be called by what must not be shown.
  throw credentialFailure(`its plugin ${end.why.startsWith("cannot be run with") ? "" : `${name} `}${end.why}`);
}

const inSeconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;
