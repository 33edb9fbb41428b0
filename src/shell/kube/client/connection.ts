import { readFileSync, statSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import { canonicalJson, isObject, type Json } from "../../../core/model/json.ts";
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
import type { StreamingResponse, WireResponse } from "./transport.ts";

/** Current access to one member: an agent with CA, client certificate or proxy, and the headers that identify us. */
export interface Access {
  /** Keeps connections open between requests. */
  readonly agent: http.Agent;
  /** Such as a bearer token. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Why an access failed: the member rejects our credentials (401), or the TLS handshake fails. */
type AccessFailure = "credentials" | "handshake";

/** How to reach one member: its address and our credentials, which may rotate. */
export interface Connection {
  readonly server: URL;
  /** The certificates by which the member is known, as PEM; null where the kubeconfig names none, or none that can be read. */
  authority(): string | null;
  /** The current access: the same one as long as it is valid. Rejects with {@link MemberUnreachable} `Unauthorized`. */
  access(): Promise<Access>;
  /** A new access instead of one that failed, from the current files and plugin; the same one when they have not changed. */
  renewed(used: Access, why: AccessFailure): Promise<Access>;
  /** Keeps at most so many idle connections. */
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

/** A {@link Connection} that is made anew when the files behind it change. */
export interface ReloadingConnection extends Connection {
  /** Checks whether the files changed; if so, the next access is a new one. */
  look(): void;
}

/** The current access, and what it was made from. */
interface CurrentAccess {
  readonly access: Access;
  readonly stamp: string;
  readonly credential: ExecCredential | null;
  /** Its TLS options as text; while they stay the same, so do the connections. */
  readonly tls: string;
}

/** Connects one context. Credentials and files are read on first access, when they change, and when an access fails. */
export function connectionOf(way: KubeconfigContext, view: KubeConfig, plugins: ExecRunner): ReloadingConnection {
  const server = new URL(way.cluster.server);
  const files = filesOf(way);
  let made: CurrentAccess | null = null;
  let making: Promise<CurrentAccess> | null = null;
  let isStale = false;

  const renew = async (refused: ExecCredential | null): Promise<CurrentAccess> => {
    isStale = false;
    // Taken before the files are read: a change in between is noticed next time.
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
    authority: () => readableAuthority(way.cluster),
    async access() {
      if (made === null || plugins.hasExpired(made.credential)) return accessOf(await renewal(null));
      // A file that cannot be read now may be about to be replaced; the previous access may still be valid.
      return isStale ? renewal(null).then(accessOf, () => (made as CurrentAccess).access) : made.access;
    },
    async renewed(used, why) {
      // Another request may have renewed it already.
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

/** Closes idle sockets, which an action leaves behind, but the most recently used. */
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

/** Changes whenever one of the files does, or a link points to another one. */
export const stampOf = (files: readonly string[]): string =>
  files
    .map((it) => {
      const found = statSync(it, { throwIfNoEntry: false });
      return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
    })
    .join();

/** The exec plugin of a user, also where the library alone looks for it (`authProvider.config.exec`). */
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

/** One that cannot be read is not reached either: whoever connects says so. */
function readableAuthority(cluster: Cluster): string | null {
  try {
    return authorityOf(cluster)?.toString("latin1") ?? null;
  } catch {
    return null;
  }
}

/** The library's request options. Exec plugins are hidden from it: it would run them itself. */
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

/** Tells only a file's name and an error code: messages may quote secrets. */
function throwCredentialFailure(error: unknown): never {
  const { code, path } = error as NodeJS.ErrnoException;
  throw credentialFailure(path === undefined ? "see `kubectl --context` with it" : `${path} cannot be read (${code})`);
}

/** The TLS options of a connection, as text. */
const tlsText = ({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }: https.RequestOptions): string =>
  [ca, cert, key, pfx, passphrase, rejectUnauthorized, servername].map((it) => String(it)).join("\n");

function agentFor(server: URL, { cluster }: KubeconfigContext, options: https.RequestOptions): http.Agent {
  if (cluster.proxyUrl !== undefined) return options.agent as http.Agent;
  // No limit here: the client limits requests, and watches, which each hold a socket for good, must not use it up.
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

/** One exchange with our credentials, which are renewed once if the member rejects them (401, or a failed TLS handshake). */
export async function authorized<T extends WireResponse | StreamingResponse>(
  connection: Connection,
  signal: AbortSignal | null,
  send: (access: Access) => Promise<T>,
): Promise<T> {
  // It is over before anybody asks for credentials: those would seem to be at fault.
  if (signal?.aborted === true) throw new MemberUnreachable("Unreachable", "timed out");
  const used = await inTime(connection.access(), signal);
  const first = await send(used).catch((error: unknown) => {
    if (!isHandshake(error)) throw error;
    return error;
  });
  const refusal: AccessFailure | null =
    first instanceof MemberUnreachable ? "handshake" : isUnauthorized(first) ? "credentials" : null;
  if (refusal === null) return first as T;
  const access = await inTime(connection.renewed(used, refusal), signal);
  if (access === used && first instanceof MemberUnreachable) throw first;
  const second = access === used ? (first as T) : await send(access);
  if (isUnauthorized(second))
    throw new MemberUnreachable("Unauthorized", "unauthorized (401): the credentials of its context are not accepted");
  return second;
}

const isUnauthorized = (answer: WireResponse | StreamingResponse): boolean =>
  "status" in answer && answer.status === 401;

/** OpenSSL's error codes, and Node's about certificates; an alert of TLS 1.2 is EPROTO. The request was not received. */
const isHandshake = (error: unknown): error is MemberUnreachable =>
  error instanceof MemberUnreachable &&
  isObject(error.cause) &&
  /^EPROTO$|^ERR_(SSL|TLS|OSSL)_|CERT|SIGNATURE|ISSUER/.test(String(error.cause["code"]));

/** Stops waiting for credentials at the deadline; others that wait for the same plugin go on waiting. */
function inTime<T>(asked: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return asked;
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new MemberUnreachable("Unauthorized", "getting its credentials timed out"));
    if (signal.aborted) late();
    signal.addEventListener("abort", late, { once: true });
    asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", late));
  });
}
