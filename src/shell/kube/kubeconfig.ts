import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { homedir } from "node:os";
import path from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { parse } from "yaml";
import { isObject } from "../../core/model/json.ts";
import { Fault } from "../reconcile/fault.ts";
import { Lost } from "./lost.ts";

/** How to reach one member: where it is and how it knows us. */
export interface Connection {
  readonly server: URL;
  /** Keeps connections open between requests; carries CA, client certificate or proxy. */
  readonly agent: http.Agent;
  /** Headers that identify us, such as a bearer token; asked for again when the member does not accept them. */
  credentials(): Promise<Readonly<Record<string, string>>>;
}

/** The operator's connections, by the name of their context. Never from the repository (`security.md` D-11). */
export interface Kubeconfig {
  /** Null when there is no context of that name; rejects with {@link Lost} when its credentials fail. The same one as before, unless the files changed since. */
  connection(context: string): Promise<Connection | null>;
}

/** Requests that one member is sent at once (see `openClient`), and sockets that are kept for them. */
export const socketsPerMember = 16;

/**
 * Opens `file`, or what KUBECONFIG names, or `~/.kube/config`, as kubectl does: of those not given by hand, files that do
 * not exist are left out. Rejects with a Fault `KubeconfigUnreadable` when a file is none or was given and does not exist.
 */
export async function openKubeconfig(file: string | null): Promise<Kubeconfig> {
  const paths = file === null ? defaultPaths().filter((it) => existsSync(it)) : [file];
  let seen = stamp(paths);
  let loading = load(paths);
  await loading;
  const connections = new Map<string, Promise<Connection | null>>();
  return {
    async connection(context) {
      const now = stamp(paths);
      if (now !== seen) {
        // Once for all members that ask at the same time.
        [seen, loading] = [now, load(paths)];
        connections.clear();
        loading.catch(() => {
          seen = "";
        });
      }
      const all = await loading;
      const known = connections.get(context) ?? connect(all, context);
      connections.set(context, known);
      known.catch(() => connections.delete(context));
      return known;
    },
  };
}

function defaultPaths(): readonly string[] {
  const listed = process.env["KUBECONFIG"] ?? "";
  if (listed !== "") return listed.split(path.delimiter).filter((it) => it !== "");
  return [path.join(homedir(), ".kube", "config")];
}

/** Changes whenever one of the files does. */
const stamp = (paths: readonly string[]): string =>
  paths.map((it) => statSync(it, { throwIfNoEntry: false })?.mtimeMs ?? 0).join();

async function load(paths: readonly string[]): Promise<KubeConfig> {
  // Loaded late: it takes a quarter of a second, which commands that contact no member should not pay.
  const library = await import("@kubernetes/client-node/dist/config.js");
  const all = new library.KubeConfig();
  all.loadFromOptions({ clusters: [], users: [], contexts: [], currentContext: "" });
  for (const file of paths) {
    try {
      assertKubeconfig(await readFile(file, "utf8"));
      const one = new library.KubeConfig();
      one.loadFromFile(file);
      mergeInto(all, one);
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
  return all;
}

function assertKubeconfig(text: string): void {
  const config: unknown = parse(text, { logLevel: "silent" });
  if (!isObject(config)) throw new TypeError("no mapping");
  const lists = [config["contexts"], config["clusters"], config["users"]];
  if (!lists.every((it) => it === undefined || it === null || Array.isArray(it))) throw new TypeError("no lists");
  if (config["kind"] !== "Config" && !Array.isArray(config["contexts"])) throw new TypeError("no kubeconfig");
}

/** As kubectl merges: what is named first wins. */
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

/** One member's view of the kubeconfig: contexts are chosen per object, and members are asked at the same time. */
async function viewOf(all: KubeConfig, context: string): Promise<KubeConfig | null> {
  const chosen = all.getContextObject(context);
  const cluster = chosen === null ? null : all.getCluster(chosen.cluster);
  if (chosen === null || cluster === null) return null;
  const { KubeConfig: Config } = await import("@kubernetes/client-node/dist/config.js");
  const view = new Config();
  // Without a user the library would leave out the CA; with http it would refuse, which embedded members need.
  const user = all.getUser(chosen.user ?? "") ?? { name: "nobody" };
  const isPlain = cluster.server.startsWith("http:");
  view.loadFromOptions({
    clusters: [isPlain ? { ...cluster, skipTLSVerify: true } : cluster],
    users: [user],
    contexts: [{ ...chosen, user: user.name }],
    currentContext: context,
  });
  return view;
}

async function connect(all: KubeConfig, context: string): Promise<Connection | null> {
  const view = await viewOf(all, context);
  const cluster = view?.getCurrentCluster();
  if (view === null || cluster === null || cluster === undefined || !URL.canParse(cluster.server)) return null;
  const server = new URL(cluster.server);
  const options = await optionsOf(view);
  const agent = cluster.proxyUrl === undefined ? agentFor(server, options) : (options.agent as http.Agent);
  // Finding out how to connect has given credentials already; a plugin need not run twice for them.
  let fresh: https.RequestOptions | null = options;
  return {
    server,
    agent,
    async credentials() {
      const headers = headersOf(fresh ?? (await optionsOf(view)));
      fresh = null;
      return headers;
    },
  };
}

async function optionsOf(view: KubeConfig): Promise<https.RequestOptions> {
  const options: https.RequestOptions = { headers: {} };
  try {
    await view.applyToHTTPSOptions(options);
  } catch {
    // What a credential plugin prints may hold secrets; it stays out.
    throw new Lost("Unauthorized", "the credentials of its context could not be obtained");
  }
  return options;
}

function agentFor(server: URL, options: https.RequestOptions): http.Agent {
  // No limit here: the client's lanes are one, and watches, which take a socket each for good, must not use them up.
  const shared = { keepAlive: true, maxFreeSockets: socketsPerMember, scheduling: "lifo" as const };
  if (server.protocol === "http:") return new http.Agent(shared);
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
  const tls = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
  const given = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
  return new https.Agent({ ...shared, ...given });
}

function headersOf({ auth, headers }: https.RequestOptions): Readonly<Record<string, string>> {
  const basic = typeof auth === "string" ? { Authorization: `Basic ${Buffer.from(auth).toString("base64")}` } : {};
  return { ...(headers as Record<string, string>), ...basic };
}
