import { Fault, type FaultCode } from "../../reconcile/fault.ts";

type RepositoryFaultCode = Extract<FaultCode, `Repository${string}`>;

/** A fault with the advice that fits its code; `fix` replaces the advice where more is known. */
export function repositoryFault(
  code: RepositoryFaultCode,
  during: string,
  message: string,
  more: { readonly fix?: string; readonly cause?: unknown } = {},
): Fault {
  return new Fault(code, during, message, more.fix ?? advice[code], more.cause);
}

/**
 * What git's error output amounts to.
 *
 * Git has one exit code for everything, so its words must do; they are asked for in the C locale. Words that are not
 * known mean that the other side refused, and are shown as they are. A lock of git in the way is named: whether its owner
 * is at work or died is for whoever owns the repository to find out.
 */
export function faultFromGitError(during: string, errorText: string): Fault {
  const code = errorPatterns.find(([, words]) => words.test(errorText))?.[0] ?? "RepositoryRefused";
  const lock = lockIn(errorText);
  const fix = `make sure that no git is at work in that repository, then remove ${lock} and try again`;
  const message = errorText === "" ? "git failed and gave no reason" : errorText;
  return repositoryFault(code, during, message, lock === null ? {} : { fix });
}

/** The lock file of this machine that git found in its way, or null; what a server says of its own is no business of ours. */
function lockIn(errorText: string): string | null {
  const lock = /^(?!remote: ).*Unable to create '(.+\.lock)': File exists/m.exec(errorText)?.[1];
  const config = /^(?!remote: ).*could not lock config file (.+): File exists/m.exec(errorText)?.[1];
  return lock ?? (config === undefined ? null : `${config}.lock`);
}

/** The fault that the status of an HTTP answer stands for. 429 and 5xx pass by themselves; so do time-outs. */
export function faultFromHttpStatus(during: string, status: number, text: string): Fault {
  const message = `the server answered ${status}${text === "" ? "" : `: ${text}`}`;
  if (status === 401 || status === 403) return repositoryFault("RepositoryForbidden", during, message);
  if (status === 404 || status === 410) return repositoryFault("RepositoryNotFound", during, message);
  if (status === 408 || status === 429 || status >= 500)
    return repositoryFault("RepositoryUnreachable", during, message);
  return repositoryFault("RepositoryRefused", during, message);
}

/** In this order: a refused login often also says that the repository might not exist. */
const errorPatterns: readonly (readonly [RepositoryFaultCode, RegExp])[] = [
  [
    "RepositoryUnsupported",
    anyOf("mismatched algorithms", "unknown repository extension", "object format", "transport '.*' not allowed"),
  ],
  [
    "RepositoryForbidden",
    anyOf(
      "Authentication failed|access denied|Permission denied",
      "could not read (Username|Password)|terminal prompts disabled",
      "returned error: 40[13]|dubious ownership|Host key verification failed",
    ),
  ],
  [
    "RepositoryUnreachable",
    anyOf(
      "Could not resolve host|Failed to connect|Couldn't connect|No route to host|Network is unreachable",
      "Connection (refused|reset|timed out|closed)|timed out|Empty reply|\\b(SSL|TLS|gnutls)",
      "early EOF|unexpected disconnect|hung up unexpectedly|RPC failed|returned error: (408|429|5\\d\\d)",
    ),
  ],
  [
    "RepositoryNotFound",
    anyOf(
      "not a git repository|does not appear to be a git repository|Repository not found",
      "repository '.*' not found|does not exist|No such file or directory|cannot change to",
    ),
  ],
  [
    "RepositoryCorrupt",
    anyOf(
      "bad (object|tree|sha1)|missing (blob|tree|commit)|not found:|Not a valid|not a tree object|not our ref",
      "corrupt|is empty$|inflate|unable to (read|parse|unpack)|unresolved",
      "could not read [0-9a-f]{40}|failed to traverse parents",
      "fsck error|index-pack failed",
    ),
  ],
];

const advice: Readonly<Record<RepositoryFaultCode, string>> = {
  RepositoryNotFound:
    "check the address and that the repository exists; a private one looks absent without credentials",
  RepositoryUnreachable: "check the address and the network, then try again",
  RepositoryForbidden:
    "set FLOTILLA_GIT_TOKEN or a Git credential that can read the repository and write the state branch",
  RepositoryRefused: "read the server's answer above; rules for the state branch must let Flotilla push to it",
  RepositoryCorrupt: "run git fsck in the repository; a cached mirror can be removed, it is fetched again",
  RepositoryUnsupported: "install git 2.31 or newer and use a SHA-1 repository at a path, or an https, ssh or file URL",
};

/** A declaration, since the table above is made while this file loads. */
function anyOf(...words: readonly string[]): RegExp {
  return new RegExp(words.join("|"), "im");
}
