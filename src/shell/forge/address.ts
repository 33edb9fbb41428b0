/** Where a repository stands on a forge, and which of the two APIs is spoken there. */
export interface ForgeAddress {
  readonly dialect: "github" | "gitea";
  /** For messages: `github.com/team/fleet`. */
  readonly name: string;
  /** Of the API, without a slash at the end. */
  readonly api: string;
  readonly owner: string;
  readonly repository: string;
}

/**
 * Reads the address of the repository's page that `--forge` was given, or says what is wrong with it: https only, or
 * http to this machine, since a token goes along. github.com and `github+https://…` (GitHub Enterprise Server) speak
 * GitHub's API, all others Gitea's and Forgejo's.
 */
export function forgeAddressOf(text: string): ForgeAddress | string {
  const isGitHub = text.startsWith("github+");
  const url = urlOf(isGitHub ? text.slice("github+".length) : text);
  if (url === null) return "it is not a URL; give the URL of the repository's page";
  if (url.username !== "" || url.password !== "") return "it contains credentials; set FLOTILLA_FORGE_TOKEN instead";
  if (url.search !== "" || url.hash !== "") return "it contains ? or #; give the URL of the repository's page";
  const isHere = loopback.has(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isHere)) return "only https URLs are supported";
  return addressIn(url, isGitHub);
}

/** GitHub's address of a remote repository, as git calls it; null for what is not on github.com. */
export function gitHubOf(remote: string): ForgeAddress | null {
  const https = /^https:\/\/(?:[^/@]*@)?github\.com\/([^?#]+)$/i.exec(remote)?.[1];
  const ssh = /^(?:ssh:\/\/)?git@github\.com[:/]([^?#]+)$/i.exec(remote)?.[1];
  const path = https ?? ssh;
  const found = path === undefined ? null : forgeAddressOf(`https://github.com/${path}`);
  return found === null || typeof found === "string" ? null : found;
}

function addressIn(url: URL, isGitHub: boolean): ForgeAddress | string {
  const segments = url.pathname.split("/").filter((it) => it !== "");
  const owner = segments.at(-2);
  const repository = segments.at(-1)?.replace(/\.git$/, "");
  if (owner === undefined || repository === undefined || ![owner, repository].every(isName))
    return "it names no repository; give the URL of the repository's page";
  const prefix = segments
    .slice(0, -2)
    .map((it) => `/${it}`)
    .join("");
  const name = `${url.host}${prefix}/${owner}/${repository}`;
  if (url.host === "github.com") return { dialect: "github", name, api: "https://api.github.com", owner, repository };
  const dialect = isGitHub ? "github" : "gitea";
  return { dialect, name, api: `${url.origin}${prefix}/api/${isGitHub ? "v3" : "v1"}`, owner, repository };
}

const isName = (it: string): boolean => /^[\w.-]{1,100}$/.test(it) && !/^\.+$/.test(it);

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
