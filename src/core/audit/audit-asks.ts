import type { Ask } from "../plan/approval/ask.ts";

/** Names a request as the second opinion does: `the gate before stage canary of run web-2`. */
export const whatOf = (ask: Ask): string =>
  ask.kind === "gate"
    ? `the gate ${ask.when} stage ${ask.stage.name} of run ${ask.run.key}`
    : `the change of ${ask.record.key}`;
