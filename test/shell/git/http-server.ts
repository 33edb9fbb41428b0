import { execFileSync, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";

export interface GitServer {
  /** Address of the repository `<root>/<name>`; with credentials in it when they are given as `user:password`. */
  url(name: string, userinfo?: string): string;
  /** What happens to the next request whose path and query hold `part`, once; others are served as ever. */
  failNext(part: string, fault: ServerFault): void;
  /** Requests so far: `GET /hub.git/info/refs?service=git-upload-pack`. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export type ServerFault =
  /** The connection breaks before anything is done. */
  | "drop"
  /** Git does what was asked, and the answer never arrives. */
  | "lose-answer"
  /** Git does what was asked, and the answer never comes, while the connection stays open. */
  | "keep-answer"
  /** Git does what was asked, and the connection breaks in the middle of the answer's body. */
  | "break-off"
  /** The connection stays open, and nothing comes. */
  | "silence"
  /** A status without git being asked. */
  | number;

/**
 * Serves every repository under `root` over HTTP through `git http-backend`, for reading and pushing.
 *
 * With a `token`, requests need basic auth with it as password, whatever the user; others get 401. `meanwhile` runs
 * before a matching request is served: the moment in which somebody else pushes.
 */
export async function serveGit(options: {
  readonly root: string;
  readonly token?: string;
  readonly meanwhile?: (request: string) => void;
}): Promise<GitServer> {
  const requests: string[] = [];
  const faults: { part: string; fault: ServerFault }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url}`;
    requests.push(line);
    const at = faults.findIndex((it) => line.includes(it.part));
    const fault = at < 0 ? null : (faults.splice(at, 1)[0]?.fault ?? null);
    if (fault === "drop") return void request.socket.destroy();
    if (fault === "silence") return;
    if (typeof fault === "number") return void response.writeHead(fault).end("the server says so\n");
    if (!isAuthorized(request, options.token)) {
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("who are you?\n");
    }
    options.meanwhile?.(line);
    backend(options.root, request, (cgi) => {
      if (fault === "lose-answer") request.socket.destroy();
      else if (fault !== "keep-answer") answer(response, cgi, fault === "break-off");
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (name, userinfo) => `http://${userinfo === undefined ? "" : `${userinfo}@`}127.0.0.1:${port}/${name}`,
    failNext: (part, fault) => void faults.push({ part, fault }),
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function isAuthorized(request: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return true;
  const encoded = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
  return Buffer.from(encoded, "base64").toString("utf8").split(":")[1] === token;
}

let program: string | null = null;

/** What `git http-backend` starts: the way there takes a process for every request. */
function backendProgram(): string {
  program ??= join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
  return program;
}

function backend(root: string, request: IncomingMessage, done: (cgi: Buffer) => void): void {
  const url = new URL(request.url ?? "/", "http://localhost");
  const child = spawn(backendProgram(), [], {
    env: {
      PATH: process.env["PATH"],
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      // Looking for garbage takes two processes for every push.
      ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "receive.autogc", GIT_CONFIG_VALUE_0: "false" },
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      REMOTE_USER: "somebody",
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const chunks: Buffer[] = [];
  child.stdin.on("error", () => {});
  request.pipe(child.stdin);
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.on("close", () => done(Buffer.concat(chunks)));
}

/** A CGI answer: headers, an empty line, the body. */
function answer(response: ServerResponse, cgi: Buffer, breaksOff: boolean): void {
  const end = cgi.indexOf("\r\n\r\n");
  if (end < 0) return void response.writeHead(500).end();
  for (const line of cgi.toString("latin1", 0, end).split("\r\n")) {
    const [name = "", value = ""] = line.split(/: (.*)/);
    if (name.toLowerCase() === "status") response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  const body = cgi.subarray(end + 4);
  if (!breaksOff) return void response.end(body);
  response.setHeader("content-length", body.length);
  response.write(body.subarray(0, body.length >> 1), () => response.destroy());
}
