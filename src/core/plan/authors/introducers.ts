import type { CommitFact } from "../../model/commit.ts";
import type { History } from "../../model/history.ts";
import { rememberedPair } from "../../model/memo.ts";
import type { World } from "../../model/plan.ts";
import type { TrustRecord } from "../../model/trust.ts";
import type { BlobId, Commit } from "../../model/value.ts";
import { acceptsForge } from "../../trust/rules.ts";
import { introducersOf } from "../approval/consent.ts";
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
    const old = settledBy(history.commits, trust);
    return found.filter((it) => !old.has(it.commit));
  }
  const news = new Set<Commit>(history.news);
  return found.filter((it) => news.has(it.commit));
}

/** What was there when a trust file came into force. */
const settledBy = rememberedPair(
  (commits: History["commits"], { from }: TrustRecord): ReadonlySet<Commit> => reachable([from], commits, new Set()),
);
