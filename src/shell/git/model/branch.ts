import { compareText } from "../../../core/model/value.ts";
import { repositoryFault } from "./repository-fault.ts";

/** The two branches of the hub, known to be names and not options or paths out of `refs/heads`. */
export interface Branches {
  readonly source: string;
  readonly state: string;
}

/** Checks both branches' names as `git check-ref-format` does, and that they differ (`git/README.md#b-39`). */
export function branchesOf(source: string, state: string): Branches {
  for (const name of [source, state]) {
    if (!isBranchName(name)) throw refused(`${JSON.stringify(name.slice(0, 80))} is not a valid branch name`);
  }
  if (source === state) throw refused(`the source branch and the state branch are both called ${source}`);
  return { source, state };
}

/** The full name of a branch's ref. */
export const refOf = (branch: string): string => `refs/heads/${branch}`;

/** Where a mirror remembers a branch of its remote, one level deep: no earlier folder of branches is in its way. */
export const trackingRef = (branch: string): string =>
  `refs/flotilla/heads/${branch.replaceAll("%", "%25").replaceAll("/", "%2F")}`;

function isBranchName(name: string): boolean {
  if (name.length === 0 || name.length > 200 || name.startsWith("-") || name === "@") return false;
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$/.test(name)) return false;
  return name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));
}

/** How many branches are listed: a repository may have thousands. */
const branchLimit = 100;

/** The branches among these refs, the default one first. `head`: the ref of `HEAD`; null where that is not known. */
export function branchNamesOf(refs: readonly string[], head: string | null): readonly string[] {
  const folder = "refs/heads/";
  const names = [...refs].filter((it) => it.startsWith(folder)).sort(compareText);
  const first = names.filter((it) => it === head);
  return [...first, ...names.filter((it) => it !== head)].slice(0, branchLimit).map((it) => it.slice(folder.length));
}

const refused = (why: string) =>
  repositoryFault("RepositoryUnsupported", "reading the names of the branches", why, {
    fix: "give --branch and --state-branch two different branch names, without refs/heads/",
  });
