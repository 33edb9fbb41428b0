import { readFileSync, statSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import { canonicalJson, type Json } from "../../../core/model/json.ts";
import { socketsPerMember } from "./concurrency.ts";
import {
  credentialFailure,
  type ExecCluster,
  type ExecCredential,
  type ExecPlugin,
  execPluginOf,
} from "./exec-credential.ts";
import type { ExecRunner } from "./exec-runner.ts";
import { MemberUnreachable } from "./member-unreachable.ts";

/** How one member is spoken to at one time: connections that carry CA, client certificate or proxy, and headers that identify us. */
export interface Access {
  /** Keeps connections open between requests. */
  readonly agent: http.Agent;
  /** Such as a bearer token. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Why an access was of no use: the member does not accept our credentials (401), or no TLS connection stands with it. */
export type AccessFailure = "credentials" | "handshake";

/** How to reach one member: where it is and how it knows us, whatever rotates. */
export interface Connection {
  readonly server: URL;
  /** The access of this moment: the same one as long as it serves. Rejects with {@link MemberUnreachable} `Unauthorized`. */
  access(): Promise<Access>;
  /** Another one than that which was of no use, made from what files and plugin say now; the same one when they say the same. */
  renewed(used: Access, why: AccessFailure): Promise<Access>;
  /** Keeps so many connections at most that nothing is under way on. */
  trim(idle: number): void;
  close(): void;
}

/** One context of a kubeconfig, with everything it names. */
export interface KubeconfigContext {
  readonly cluster: Cluster;
  readonly user: User;
  /** Settings of the cluster for its credential plugin. */
  readonly execConfig: Json;
}

/** A {@link Connection} that notices when the files behind it change, once it is told to look. */
export interface ReloadingConnection extends Connection {
  /** Looks at the files' stamps; the next access is a new one if they changed. */
  look(): void;
}

/** An access, and what it was made from. */
interface CurrentAccess {
  readonly access: Access;
  readonly stamp: string;
  readonly credential: ExecCredential | null;
  /** What its connections are made of; with the same, they go on. */
  readonly tls: string;
}

/**
 * Connects one context. Credentials are asked for with the first access. Client certificate, CA and token files are read
 * again when they changed and whenever an access was refused; connections that carry what was replaced end with what is
 * under way on them.
 */
export function connectionOf(way: KubeconfigContext, view: KubeConfig, plugins: ExecRunner): ReloadingConnection {
  const server = new URL(way.cluster.server);
  const files = filesOf(way);
  let made: CurrentAccess | null = null;
  let making: Promise<CurrentAccess> | null = null;
  let isStale = false;

  const renew = async (refused: ExecCredential | null): Promise<CurrentAccess> => {
    isStale = false;
    // Before they are read: what changes meanwhile is read once more.
    const stamp = stampOf(files);
    const credential = await credentialOf(way, plugins, refused);
    const options = await optionsOf(view, way, credential);
    const tls = tlsText(options);
    const headers = headersOf(options);
    const before = made;
    const isSame = before !== null && before.tls === tls;
    const agent = isSame ? before.access.agent : agentFor(server, way, options);
    const isKept = isSame && canonicalJson(before.access.headers) === canonicalJson(headers);
    made = { access: isKept ? before.access : { agent, headers }, stamp, credential, tls };
    if (before !== null && !isSame) retire(before.access.agent);
    return made;
  };
  const renewal = (refused: ExecCredential | null): Promise<CurrentAccess> => {
    making ??= renew(refused).finally(() => {
      making = null;
    });
    return making;
  };
  return {
    server,
    async access() {
      if (made === null || plugins.hasExpired(made.credential)) return accessOf(await renewal(null));
      // What cannot be read right now may be in the middle of being replaced; what it replaces may still serve.
      return isStale ? renewal(null).then(accessOf, () => (made as CurrentAccess).access) : made.access;
    },
    async renewed(used, why) {
      // Others may have renewed it while this request was on its way.
      if (making === null && made !== null && made.access !== used) return made.access;
      const isItsOwn = why === "credentials" || made?.credential?.certificate != null;
      return accessOf(await renewal(isItsOwn ? (made?.credential ?? null) : null));
    },
    look() {
      if (made !== null && files.length > 0 && made.stamp !== stampOf(files)) isStale = true;
    },
    trim: (idle) => closeIdle(made?.access.agent, idle),
    close: () => made?.access.agent.destroy(),
  };
}

const accessOf = ({ access }: CurrentAccess): Access => access;

/** Ends the connections of an agent: idle ones at once, the others when they become idle. */
function retire(agent: http.Agent): void {
  agent.keepSocketAlive = () => false;
  closeIdle(agent, 0);
}

/** An action leaves as many sockets behind as it had requests at once; the most recently used are kept. */
function closeIdle(agent: http.Agent | undefined, kept: number): void {
  for (const sockets of Object.values(agent?.freeSockets ?? {})) {
    for (const socket of sockets?.slice(0, sockets.length - kept) ?? []) socket.destroy();
  }
}

const tokenFileOf = ({ authProvider }: User): string | null => {
  const file: unknown = authProvider?.config?.tokenFile;
  return typeof file === "string" && file !== "" ? file : null;
};

function filesOf({ cluster, user }: KubeconfigContext): readonly string[] {
  const all = [cluster.caFile, user.certFile, user.keyFile, tokenFileOf(user)];
  return all.filter((it): it is string => typeof it === "string" && it !== "");
}

/** Changes whenever one of the files does, also when a link leads to another one. */
export const stampOf = (files: readonly string[]): string =>
  files
    .map((it) => {
      const found = statSync(it, { throwIfNoEntry: false });
      return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
    })
    .join();

/** The plugin of a user; the library's own place for it, which kubectl does not know, counts too. */
const execOf = ({ exec, authProvider }: User): Json => (exec ?? authProvider?.config?.exec ?? null) as Json;

async function credentialOf(
  { cluster, user, execConfig }: KubeconfigContext,
  plugins: ExecRunner,
  refused: ExecCredential | null,
): Promise<ExecCredential | null> {
  const exec = execOf(user);
  if (exec === null) return null;
  const plugin: ExecPlugin = execPluginOf(exec);
  const told: ExecCluster = {
    server: cluster.server,
    tlsServerName: cluster.tlsServerName ?? null,
    skipsVerification: cluster.skipTLSVerify,
    authority: plugin.provideClusterInfo ? authorityOf(cluster) : null,
    proxyUrl: cluster.proxyUrl ?? null,
    config: execConfig,
  };
  return plugins.credential(plugin, told, refused);
}

function authorityOf({ caFile, caData }: Cluster): Buffer | null {
  if (caFile !== undefined && caFile !== "") return reading(() => readFileSync(caFile));
  return caData === undefined || caData === "" ? null : Buffer.from(caData, "base64");
}

/** What the library makes of it. It is not shown plugins, which it would run itself. */
async function optionsOf(
  view: KubeConfig,
  way: KubeconfigContext,
  credential: ExecCredential | null,
): Promise<https.RequestOptions> {
  const { exec, authProvider, ...user } = way.user;
  const isOurs = authProvider?.config?.exec !== undefined || tokenFileOf(way.user) !== null;
  view.loadFromOptions({
    // With http the library would refuse, which embedded members need.
    clusters: [way.cluster.server.startsWith("http:") ? { ...way.cluster, skipTLSVerify: true } : way.cluster],
    users: [{ ...user, ...(isOurs ? {} : { authProvider }), ...identityOf(way.user, credential) }],
    contexts: [{ name: "member", cluster: way.cluster.name, user: way.user.name }],
    currentContext: "member",
  });
  const options: https.RequestOptions = { headers: {} };
  await view.applyToHTTPSOptions(options).catch(throwCredentialFailure);
  return options;
}

function identityOf(user: User, credential: ExecCredential | null): Partial<User> {
  const file = tokenFileOf(user);
  const token = file === null ? (user.token ?? credential?.token) : reading(() => readFileSync(file, "utf8").trim());
  const pem = credential?.certificate ?? null;
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return {
    ...(typeof token === "string" ? { token } : {}),
    ...(pem === null ? {} : { certFile: "", keyFile: "", certData: base64(pem.chain), keyData: base64(pem.key) }),
  };
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return throwCredentialFailure(error);
  }
}

/** Of what went wrong only a file's name and a code are told: messages may quote secrets. */
function throwCredentialFailure(error: unknown): never {
  const { code, path } = error as NodeJS.ErrnoException;
  throw credentialFailure(path === undefined ? "see `kubectl --context` with it" : `${path} cannot be read (${code})`);
}

/** What connections are made of. */
const tlsText = ({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }: https.RequestOptions): string =>
  [ca, cert, key, pfx, passphrase, rejectUnauthorized, servername].map((it) => String(it)).join("\n");

function agentFor(server: URL, { cluster }: KubeconfigContext, options: https.RequestOptions): http.Agent {
  if (cluster.proxyUrl !== undefined) return options.agent as http.Agent;
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
