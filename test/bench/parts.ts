/** Parts of a reconcile that can be measured alone. */
export const parts = ["schedule", "plan", "git", "apply", "approval", "verify", "text", "collect", "soak"] as const;
/** One of {@link parts}. */
export type Part = (typeof parts)[number];
