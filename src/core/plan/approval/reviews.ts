import type { ReviewQuestion } from "../../model/history.ts";
import type { World } from "../../model/plan.ts";
import type { Digest } from "../../model/value.ts";
import { type ApprovalInput, judgeApproval, type OpenRequest } from "../../trust/judge-approval.ts";
import { acceptsForge } from "../../trust/rules.ts";
import { arrivalsIn } from "../authors/ancestry.ts";
import { approvalInput } from "./answers.ts";
import { requestState, requestSubject, requestsIn } from "./approval-request.ts";

/**
 * Says about which approval files a forge has to be asked: new ones, that nothing else proves, and that would count
 * with a review by an account of the one whom they name (`trust/README.md#merged-pull-requests`, `#d-04`). In the order
 * of the intent.
 *
 * What a stage reaches of protected targets is taken as the record tells it: one question too many is no harm.
 */
export function reviewsToAsk(world: World): readonly ReviewQuestion[] {
  const { intent, ledger, history } = world;
  const trust = ledger.trust?.trust;
  if (trust === undefined || !acceptsForge(trust)) return [];
  const fresh = intent.approvals.filter((it) => !ledger.answers.has(it.path));
  if (fresh.length === 0) return [];
  const open = openOn(world);
  const arrivals = arrivalsIn(history);
  return fresh.flatMap((file): readonly ReviewQuestion[] => {
    const scene = approvalInput(file, world, { trust, open });
    const introducer = scene.introducers[0]?.commit;
    if (introducer === undefined || !wouldHelp(scene)) return [];
    const arrival = arrivals.get(introducer);
    return arrival === undefined ? [] : [{ path: file.path, blob: file.blob, introducer, arrival }];
  });
}

/** A review as good as one can be makes the difference between an approval that counts and one that does not. */
function wouldHelp(scene: ApprovalInput): boolean {
  const { file, trust } = scene;
  if (judgeApproval({ ...scene, review: null }).kind === "counts") return false;
  const accounts = [...(trust.principals.get(file.principal)?.forgeIds ?? [])];
  const reviews = accounts.map(([forge, account]) => ({ forge, account, blob: file.blob, source: "" }));
  return judgeApproval({ ...scene, review: { kind: "reviewed", reviews } }).kind === "counts";
}

function openOn({ ledger }: World): ReadonlyMap<Digest, OpenRequest> {
  const trust = ledger.trust?.trust ?? { protectedTargets: [] };
  return new Map(
    requestsIn(ledger).flatMap((ask): readonly (readonly [Digest, OpenRequest])[] => {
      if (requestState(ask) !== "open") return [];
      const { digest, requestedAt, authors } = ask.request;
      return [[digest, { digest, requestedAt, authors, ...requestSubject(ask, ledger, trust) }]];
    }),
  );
}
