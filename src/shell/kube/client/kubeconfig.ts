import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import type { KubeConfig, User } from "@kubernetes/client-node";
import { parse } from "yaml";
import { isObject, type Json, type JsonObject, listAt, memberAt, textOf } from "../../../core/model/json.ts";
import { isBounded } from "../../../core/yaml/compose.ts";
import { Fault } from "../../reconcile/fault.ts";
import {
  type Connection,
  connectionOf,
  type KubeconfigContext,
  type ReloadingConnection,
  stampOf,
} from "./connection.ts";
import { type ExecRunner, execRunner, type RunnerOptions } from "./exec-runner.ts";

/** Connections by context name, from the operator's kubeconfig and never from the repository (`plan/README.md#d-11`). */
export interface Kubeconfig {
  /** Null without such a context; the same connection unless the context changed, whose files it follows by itself. */
  connection(context: string): Promise<Connection | null>;
  /** Kills the exec plugins that still run. */
  close(): void;
}

/** Plugins should take a few seconds at most. */
const usualRunner: RunnerOptions = { now: () => Date.now(), deadlineMs: 30_000 };

/**
 * Opens `file`, or what KUBECONFIG names, or `~/.kube/config`, as kubectl does: files that do not exist are skipped
 * unless `file` names one. Rejects with a Fault `KubeconfigUnreadable` when a file is none or was given and does not exist.
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

interface Known {
  /** As they were read when it was last looked up. */
  readonly files: KubeconfigFiles;
  /** What they said of it. */
  readonly definition: string;
  readonly connection: ReloadingConnection | null;
}

/** Keeps the connection when the kubeconfig changed but the context did not. */
function keptOrOpened(files: KubeconfigFiles, context: string, before: Known | null, plugins: ExecRunner): Known {
  const way = contextOf(files, context);
  const definition = JSON.stringify(way);
  if (before?.definition === definition) return { ...before, files };
  return { files, definition, connection: way === null ? null : connectionOf(way, files.empty(), plugins) };
}

interface KubeconfigFiles {
  readonly config: KubeConfig;
  /** By cluster: its extension `client.authentication.k8s.io/exec`, which the library leaves out. */
  readonly execConfigs: ReadonlyMap<string, Json>;
  empty(): KubeConfig;
}

/** Loads and merges kubeconfig files as kubectl does. Rejects with a Fault `KubeconfigUnreadable`. */
async function loadKubeconfig(paths: readonly string[]): Promise<KubeconfigFiles> {
  // Loaded on demand: it takes a quarter of a second, which commands that contact no member should not pay.
  const library = await import("@kubernetes/client-node/dist/config.js");
  const empty = (): KubeConfig => {
    const none = new library.KubeConfig();
    none.loadFromOptions({ clusters: [], users: [], contexts: [], currentContext: "" });
    return none;
  };
  const config = empty();
  const execConfigs = new Map<string, Json>();
  for (const file of paths) {
    try {
      const text = await readFile(file, "utf8");
      const raw = asKubeconfig(text);
      const one = new library.KubeConfig();
      one.loadFromString(text);
      one.makePathsAbsolute(path.dirname(file));
      one.users = one.users.map((it) => asKubectlReads(it, path.dirname(file), named(raw["users"], it.name)));
      for (const { name } of one.clusters)
        if (!execConfigs.has(name)) execConfigs.set(name, execConfigOf(named(raw["clusters"], name)));
      mergeInto(config, one);
    } catch (cause) {
      // The cause's own message may quote the file, and with it a token.
      const code = isObject(cause) && typeof cause["code"] === "string" ? cause["code"] : "not a valid kubeconfig";
      throw new Fault(
        "KubeconfigUnreadable",
        `reading the kubeconfig ${file}`,
        `the kubeconfig ${file} cannot be read (${code})`,
        "check the path and the file with `kubectl --kubeconfig FILE config get-contexts`",
      );
    }
  }
  return { config, execConfigs, empty };
}

/** A kubeconfig with a thousand contexts has half as many. */
const maxTokens = 200_000;

function asKubeconfig(text: string): JsonObject {
  if (!isBounded(text, maxTokens)) throw new TypeError("too long");
  const config: unknown = parse(text, { logLevel: "silent" });
  if (!isObject(config)) throw new TypeError("no mapping");
  const lists = [config["contexts"], config["clusters"], config["users"]];
  if (!lists.every((it) => it === undefined || it === null || Array.isArray(it))) throw new TypeError("no lists");
  if (config["kind"] !== "Config" && !Array.isArray(config["contexts"])) throw new TypeError("no kubeconfig");
  return config;
}

const named = (list: Json | undefined, name: string): Json =>
  listAt(list).find((it) => memberAt(it, "name") === name) ?? null;

/** `tokenFile`, and a plugin's path beside the kubeconfig: the library knows neither. */
function asKubectlReads(user: User, folder: string, raw: Json): User {
  const tokenFile = textOf(memberAt(raw, "user", "tokenFile")) ?? "";
  const command = textOf(memberAt(raw, "user", "exec", "command")) ?? "";
  const token =
    tokenFile === ""
      ? {}
      : { authProvider: { name: "tokenFile", config: { tokenFile: path.resolve(folder, tokenFile) } } };
  const exec = command.includes(path.sep) ? { exec: { ...user.exec, command: path.resolve(folder, command) } } : {};
  return { ...user, ...token, ...exec };
}

function execConfigOf(cluster: Json): Json {
  const extensions = memberAt(cluster, "cluster", "extensions");
  return memberAt(named(extensions, "client.authentication.k8s.io/exec"), "extension");
}

/** As kubectl merges: the first of a name wins. */
function mergeInto(all: KubeConfig, one: KubeConfig): void {
  const added = <T extends { readonly name: string }>(to: readonly T[], from: readonly T[]): T[] => [
    ...to,
    ...from.filter((it) => !to.some((old) => old.name === it.name)),
  ];
  all.loadFromOptions({
    clusters: added(all.clusters, one.clusters),
    users: added(all.users, one.users),
    contexts: added(all.contexts, one.contexts),
    currentContext: "",
  });
}

/** Finds a context with everything it names; null when something of it is missing or its server is no URL. */
function contextOf({ config, execConfigs }: KubeconfigFiles, name: string): KubeconfigContext | null {
  const chosen = config.getContextObject(name);
  const cluster = chosen === null ? null : config.getCluster(chosen.cluster);
  if (chosen === null || cluster === null || !URL.canParse(cluster.server)) return null;
  // Without a user the library would leave out the CA.
  const user = config.getUser(chosen.user ?? "") ?? { name: "nobody" };
  return { cluster, user, execConfig: execConfigs.get(cluster.name) ?? null };
}
