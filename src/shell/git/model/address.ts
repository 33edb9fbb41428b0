import { createHash } from "node:crypto";
import type { Branches } from "./branch.ts";
import type { SignCommit } from "./commits.ts";
import { repositoryFault } from "./repository-fault.ts";

/** Where a repository is. Neither `name` nor `url` carries a password or a token: messages show both. */
type Address = PathAddress | HttpAddress | SshAddress;

/** A repository on this machine. */
export interface PathAddress {
  readonly kind: "path";
  readonly name: string;
  readonly path: string;
}

/** A repository behind an http(s) server. */
export interface HttpAddress {
  readonly kind: "http";
  readonly name: string;
  readonly url: string;
  /** Value of the `Authorization` header; null leaves it to the user's own git setup. */
  readonly authorization: string | null;
  /** The account that the URL names without a password, for credential helpers; null when it names none. */
  readonly username: string | null;
  /** Texts that must never be shown. */
  readonly secrets: readonly string[];
}

/** What only the git program can reach: ssh in both spellings, and `file://`. */
export interface SshAddress {
  readonly kind: "remote";
  readonly name: string;
  readonly url: string;
}

/**
 * Reads what `--repo` was given: a path, an http(s), ssh or file URL, or `git@host:path`; never an option or a command
 * to git (`git/README.md#b-40`). Credentials of the URL win over `token`: they are said of this repository.
 */
export function addressOf(repo: string, token: string | null): Address {
  if (repo === "" || repo.startsWith("-") || repo.includes("\0"))
    throw refused("it looks like an option, not an address");
  if (/^[A-Za-z0-9+.-]+::/.test(repo)) throw refused("remote helpers such as ext:: run commands");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(repo)?.[1]?.toLowerCase();
  if (scheme === undefined) return isScpLike(repo) ? scpAddress(repo) : { kind: "path", name: repo, path: repo };
  if (/[\s\x00-\x1f\x7f]/.test(repo)) throw refused("the URL contains blanks or control characters");
  if (scheme === "http" || scheme === "https") return httpAddress(parsed(repo), token);
  if (scheme === "ssh" || scheme === "file") return remoteAddress(parsed(repo));
  throw refused(`${scheme} is not supported; use http, https, ssh or file`);
}

/** Removes passwords from every URL in a text, and replaces the given secrets. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text.replace(/\/\/[^/\s]*@/g, "//");
  for (const secret of secrets) if (secret !== "") clean = clean.replaceAll(secret, "***");
  return clean;
}

/** Git's own rule: a colon before the first slash. One letter before it is a drive of Windows. */
const isScpLike = (repo: string): boolean => /^[^/:]{2,}:/.test(repo);

function scpAddress(repo: string): SshAddress {
  if (/[\s\x00-\x1f\x7f]/.test(repo)) throw refused("the address contains blanks or control characters");
  if (/(^|@)-/.test(repo.slice(0, repo.indexOf(":")))) throw refused("the host looks like an option");
  return { kind: "remote", name: repo, url: repo };
}

function remoteAddress(url: URL): SshAddress {
  if (/^(-|%2d)/i.test(url.hostname) || /^(-|%2d)/i.test(url.username)) throw refused("the host looks like an option");
  url.password = "";
  return { kind: "remote", name: url.href, url: url.href };
}

function httpAddress(url: URL, token: string | null): HttpAddress {
  // Git uses neither, and a secret in them would show on its command line.
  if (url.search !== "" || url.hash !== "") throw refused("a Git URL has neither ? nor #");
  const username = decodeURIComponent(url.username);
  const password = url.password === "" ? (token ?? "") : decodeURIComponent(url.password);
  const encoded = Buffer.from(`${username === "" ? "x-access-token" : username}:${password}`).toString("base64");
  const secrets = password === "" ? [] : [password, encodeURIComponent(password), encoded];
  url.username = "";
  url.password = "";
  return {
    kind: "http",
    name: url.href,
    url: url.href,
    authorization: password === "" ? null : `Basic ${encoded}`,
    username: username === "" ? null : username,
    secrets,
  };
}

function parsed(repo: string): URL {
  try {
    return new URL(repo);
  } catch {
    // The cause would quote the URL, which may contain a password.
    throw refused("the URL cannot be read");
  }
}

const refused = (why: string) =>
  repositoryFault("RepositoryUnsupported", "reading the repository's address", `the address is refused: ${why}`);

/** How a hub behind a URL is opened. */
export interface RemoteOptions {
  readonly branches: Branches;
  /** Mirrors live here, one per URL. Losing it costs a fetch and nothing else. */
  readonly cacheFolder: string;
  /** Longest wait for one exchange with the server. */
  readonly deadlineMs?: number;
  /** Signs our commits; absent: they are unsigned. */
  readonly sign?: SignCommit;
}

export const exchangeDeadlineMs = 120_000;

/** A folder name for what is cached about a URL, which carries no credentials. */
export const cacheNameOf = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 24);
