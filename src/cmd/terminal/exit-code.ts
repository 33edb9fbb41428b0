/**
 * How a command ends (`cmd/README.md#exit-codes`). Stable: scripts and the Action rely on it. Of several that apply,
 * the most serious one: 70 before 69 before 3 before 1. What was asked with `--expect-no-change` is answered unless
 * that cannot be told: 2 comes after 69.
 */
export const exitCodes = {
  /** Everything that can be done now is done. Waiting for a gate, a timer or health is normal, and printed. */
  done: 0,
  /** Problems in files; everything else was still done. */
  problems: 1,
  /** There is a change, where none was expected. */
  changed: 2,
  /** Something is stuck: a member unreachable or refusing, a rollout halted, the limit of `--wait` ran out. */
  stuck: 3,
  usage: 64,
  /** The repository cannot be read or written. */
  repository: 69,
  /** A defect of ours. */
  defect: 70,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The most serious of several. */
export const worst = (...codes: readonly ExitCode[]): ExitCode =>
  order.find((it) => codes.includes(it)) ?? exitCodes.done;

const { defect, repository, usage, changed, stuck, problems } = exitCodes;
const order = [defect, repository, usage, changed, stuck, problems];
