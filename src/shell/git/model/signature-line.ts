import type { Instant } from "../../../core/model/value.ts";

/**
 * Author and committer of everything we write, as Git stores them: whole seconds, UTC.
 *
 * Constant, so that a proposal determines its commit id: both engines write the same commit.
 */
export const signatureLine = (at: Instant): string =>
  `flotilla <flotilla@localhost> ${Math.max(0, Math.floor(at / 1000))} +0000`;
