/** A branch that was pushed in order to be merged. */
export interface PushedBranch {
  /** Where it was pushed to; may carry credentials, which go nowhere. */
  readonly url: string;
  readonly base: string;
  readonly branch: string;
  /** What the server said to the push. */
  readonly said: string;
}

/**
 * The page on which a pull request for the branch is opened; null when nobody can tell.
 *
 * Forges name it themselves in their answer to a push, whatever they are and wherever they run. Those that did not are
 * known by the names of their hosts.
 */
export function pullRequestPage({ url, base, branch, said }: PushedBranch): string | null {
  const named = said.split("\n").flatMap((line) => /^remote: .*?(https?:\/\/\S+)\s*$/.exec(line)?.[1] ?? []);
  return named.find((it) => pages.test(it)) ?? knownPage(url, base, branch);
}

const pages = /\/(?:pull|pulls|compare|merge_requests)\//;

function knownPage(url: string, base: string, branch: string): string | null {
  const [, host, path] = /^(?:\w+:\/\/)?(?:[^/@]*@)?([^/:]+)(?::\d+(?=\/))?[:/]\/?(.+?)(?:\.git)?\/?$/.exec(url) ?? [];
  if (host === undefined || path === undefined || !/^[\w.~/-]+$/.test(path)) return null;
  const [from, to] = [escaped(branch), escaped(base)];
  if (/^(?:github\.com$|github\.)/.test(host)) return `https://${host}/${path}/compare/${to}...${from}?expand=1`;
  if (/^(?:codeberg\.org$|gitea\.|forgejo\.)/.test(host)) return `https://${host}/${path}/compare/${to}...${from}`;
  if (!/^gitlab\./.test(host)) return null;
  const wish = `merge_request%5Bsource_branch%5D=${from}&merge_request%5Btarget_branch%5D=${to}`;
  return `https://${host}/${path}/-/merge_requests/new?${wish}`;
}

/** A branch's name in a URL: its slashes stay. */
const escaped = (branch: string): string => branch.split("/").map(encodeURIComponent).join("/");
