import { repositoryFault } from "../model/repository-fault.ts";
import { type Git, runGit } from "./process.ts";

/**
 * Rejects when the repository is a shallow clone: what is not found there may still be
 * (`git/README.md#what-is-promised`). `during` is what failed.
 */
export async function refuseShallow(git: Git, during: string): Promise<void> {
  const shallow = await runGit(git, ["rev-parse", "--is-shallow-repository"], { during });
  if (shallow.output.toString("utf8").trim() !== "true") return;
  const fix = "run git fetch --unshallow there, or check out with full history (fetch-depth: 0)";
  throw repositoryFault("RepositoryUnsupported", during, "it is a shallow clone: its history is cut off", { fix });
}
