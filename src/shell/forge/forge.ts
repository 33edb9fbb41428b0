import type { ForgeFinding } from "../../core/model/history.ts";
import type { Forge } from "../reconcile/ports.ts";
import type { ForgeAddress } from "./address.ts";
import { ForgeUnavailable, forgeClient } from "./client.ts";
import { gitea } from "./gitea.ts";
import { gitHub } from "./github.ts";
import { findReviews, type ReviewTarget } from "./review.ts";

/** Which forge is asked, and about which branch. */
interface ForgeOptions {
  readonly address: ForgeAddress;
  /** The source branch: what is merged elsewhere was reviewed under other rules. */
  readonly branch: string;
  readonly token: string | null;
  /** How long one question may take; ten seconds when absent. */
  readonly deadlineMs?: number;
  /** How long a merge may be known to git and not yet to the forge; four seconds when absent. */
  readonly lagMs?: number;
}

/** A forge's API. Nothing is cached here. */
export function openForge({ address, branch, token, deadlineMs = 10_000, lagMs = 4_000 }: ForgeOptions): Forge {
  const { api, name, owner, repository } = address;
  const dialect = address.dialect === "github" ? gitHub : gitea;
  const authorization = token === null ? null : dialect.authorization(token);
  return {
    name,
    async review(question): Promise<ForgeFinding> {
      const ask = forgeClient({ api, name, authorization, signal: AbortSignal.timeout(deadlineMs) });
      const place: ReviewTarget = {
        name,
        path: `/repos/${owner}/${repository}`,
        full: `${owner}/${repository}`,
        branch,
      };
      try {
        return await findReviews(question, { ask, dialect, place, lagMs });
      } catch (error) {
        if (error instanceof ForgeUnavailable) return { kind: "unavailable", because: error.message };
        throw error;
      }
    },
  };
}
