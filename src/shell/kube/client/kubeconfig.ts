import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { type Connection, connectionOf, type FollowedConnection, stampOf } from "./connection.ts";
import { type ExecRunner, execRunner, type RunnerOptions } from "./exec-runner.ts";
import { contextOf, type KubeconfigFiles, loadKubeconfig } from "./kubeconfig-files.ts";

/** The operator's connections, by the name of their context. Never from the repository (`plan/README.md#d-11`). */
export interface Kubeconfig {
  /**
   * Null when there is no context of that name. The same one as before, unless the kubeconfig says something else about it
   * since; that the files behind it changed is noticed by the connection itself.
   */
  connection(context: string): Promise<Connection | null>;
  /** Ends the credential plugins that still run. */
  close(): void;
}

/** Plugins take seconds at most, and whoever waits for one gives up sooner or later. */
const usualRunner: RunnerOptions = { now: () => Date.now(), deadlineMs: 30_000 };

/**
 * Opens `file`, or what KUBECONFIG names, or `~/.kube/config`, as kubectl does: of those not given by hand, files that do
 * not exist are left out. Rejects with a Fault `KubeconfigUnreadable` when a file is none or was given and does not exist.
 */
export async function openKubeconfig(file: string | null, plugins: RunnerOptions = usualRunner): Promise<Kubeconfig> {
  const paths = file === null ? defaultPaths().filter((it) => existsSync(it)) : [file];
  const runner = execRunner(plugins);
  let seen = stampOf(paths);
  let loading = loadKubeconfig(paths);
  await loading;
  const known = new Map<string, Known>();
  return {
    async connection(context) {
      const now = stampOf(paths);
      if (now !== seen) {
        // Once for all members that ask at the same time.
        [seen, loading] = [now, loadKubeconfig(paths)];
        loading.catch(() => {
          seen = "";
        });
      }
      const files = await loading;
      let it = known.get(context);
      if (it?.files !== files) it = keptOrOpened(files, context, it ?? null, runner);
      known.set(context, it);
      it.connection?.look();
      return it.connection;
    },
    close: () => runner.close(),
  };
}

function defaultPaths(): readonly string[] {
  const listed = process.env["KUBECONFIG"] ?? "";
  if (listed !== "") return listed.split(path.delimiter).filter((it) => it !== "");
  return [path.join(homedir(), ".kube", "config")];
}

/** What a context led to. */
interface Known {
  /** As they were read when it was last looked up. */
  readonly files: KubeconfigFiles;
  /** What they said of it. */
  readonly definition: string;
  readonly connection: FollowedConnection | null;
}

/** Another kubeconfig may say the same of a context: what stands there goes on. */
function keptOrOpened(files: KubeconfigFiles, context: string, before: Known | null, plugins: ExecRunner): Known {
  const way = contextOf(files, context);
  const definition = JSON.stringify(way);
  if (before?.definition === definition) return { ...before, files };
  return { files, definition, connection: way === null ? null : connectionOf(way, files.empty(), plugins) };
}
