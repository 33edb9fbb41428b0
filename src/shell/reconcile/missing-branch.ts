import { names } from "../../core/report/phrases.ts";
import { Fault } from "./fault.ts";
import type { Repository } from "./ports.ts";

/**
 * That the source branch is not there, by its name, with the branch that it could be instead. `otherwise`: what to do
 * where no branch is.
 */
export async function sourceBranchMissing(repository: Repository, otherwise: string): Promise<Fault> {
  // It is said what is missing even where nobody can say what else there is.
  const known = await repository.branches?.().catch(() => null);
  const there = (known?.there ?? []).filter((it) => it !== known?.state);
  const [first, ...more] = there;
  const what = known == null ? "the source branch" : `the source branch ${known.source}`;
  const others = more.length === 0 ? "" : `, or another of its branches: ${names(more)}`;
  const fix = first === undefined ? otherwise : `the repository has ${first}: give --branch ${first}${others}`;
  return new Fault("SourceBranchMissing", `reading ${repository.name}`, `${what} does not exist`, fix);
}
