import type { Trust } from "../model/trust.ts";

/** Whether any rule takes the word of a forge: only then a forge is asked anything (`trust/README.md#d-04`). */
export const acceptsForge = ({ approvals, protectedTargets }: Pick<Trust, "approvals" | "protectedTargets">): boolean =>
  [...approvals, ...protectedTargets].some((it) => it.accept.includes("forge"));
