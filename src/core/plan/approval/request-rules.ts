import { digestOf, type Json } from "../../model/json.ts";
import type { Approval, Trust } from "../../model/trust.ts";
import type { Digest } from "../../model/value.ts";
import { stageRules } from "../../trust/rules.ts";
import { revokedBy } from "../../trust/signer.ts";

/** What decides which rules a request has to meet. */
export interface RequestScope {
  /** Null together with `stage` for what no run does. */
  readonly placement: string | null;
  readonly stage: string | null;
  /** An approval lets protected targets change. */
  readonly isProtected: boolean;
}

/**
 * Names the rules that a request has to meet. When this is another one, so is the request (`rollout/README.md#b-22`).
 *
 * All that is protected goes in, whether it is reached or not: what a rollout reaches shrinks while it goes on.
 */
export const rulesDigest = (trust: Trust, { placement, stage, isProtected }: RequestScope): Digest =>
  digestOf({
    rules: (placement === null || stage === null ? [] : stageRules(trust, placement, stage)) as unknown as Json,
    targets: (isProtected ? trust.protectedTargets : []) as unknown as Json,
  });

/**
 * Whether an approval rests on a key that turned out to be somebody else's (`trust/README.md#expiry-and-revocation`):
 * what it opened goes no further, and what it let happen stays.
 */
export const isCompromised = ({ by }: Approval, { revocations }: Pick<Trust, "revocations">): boolean =>
  by.some(
    ({ proofs }) => proofs.length > 0 && proofs.every((it) => revokedBy(revocations, it.key)?.kind === "compromised"),
  );
