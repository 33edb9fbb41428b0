import type { CommitFact } from "../../model/commit.ts";
import type { History } from "../../model/history.ts";
import { remembered, rememberedPair } from "../../model/identity.ts";
import type { World } from "../../model/plan.ts";
import type { ApprovalFile, TrustRecord } from "../../model/trust.ts";
import type { BlobId, Commit } from "../../model/value.ts";
import { acceptsForge } from "../../trust/rules.ts";
import { reachable } from "./ancestry.ts";

/**
 * The commits that brought an approval file that is not judged yet, under the trust file in force.
 *
 * Usually those are among what is new in this pass. A file for which the forge could not be asked was new in an earlier
 * one: where a rule takes a forge's word, they are looked for in all that came since the trust file came into force,
 * and not before, so that whoever came with a trust file is not judged by it (`trust/README.md#t-08`). That finds more
 * of them, never fewer: a file that was taken away and put back meanwhile has two (`#t-05`).
 */
export function newIntroducersOf(
  path: string,
  blob: BlobId,
  world: Pick<World, "history" | "ledger">,
): readonly CommitFact[] {
  const { history, ledger } = world;
  const found = introducersOf(path, blob, world);
  const { trust } = ledger;
  if (found.length > 0 && trust !== null && acceptsForge(trust.trust)) {
    const old = commitsBefore(history.commits, trust);
    return found.filter((it) => !old.has(it.commit));
  }
  const news = new Set<Commit>(history.news);
  return found.filter((it) => news.has(it.commit));
}

/** What was there when a trust file came into force. */
const commitsBefore = rememberedPair(
  (commits: History["commits"], { from }: TrustRecord): ReadonlySet<Commit> => reachable([from], commits, new Set()),
);

/** The commits that brought a file as it is: they have it so, and none of their parents has. */
export const introducersOf = (
  path: string,
  blob: ApprovalFile["blob"],
  { history }: Pick<World, "history">,
): readonly CommitFact[] =>
  (commitsByPath(history.commits).get(path) ?? []).filter(({ changes }) =>
    changes.some((it) => it.path === path && it.after === blob && it.before !== blob),
  );

/** Somebody may push thousands of files at once: each of them is looked for among its own commits only. */
const commitsByPath = remembered((commits: History["commits"]): ReadonlyMap<string, readonly CommitFact[]> => {
  const found = new Map<string, CommitFact[]>();
  for (const fact of commits.values())
    for (const path of new Set(fact.changes.map((it) => it.path))) {
      const others = found.get(path);
      if (others === undefined) found.set(path, [fact]);
      else others.push(fact);
    }
  return found;
});
