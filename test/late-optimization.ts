/**
 * Arguments with which Node optimizes a function after ten times the usual use. What runs for seconds, and runs much
 * code once, as tests and storms do, spends a fifth of its time on optimizing what is hardly used again.
 */
export const lateOptimization: readonly string[] = ["--interrupt-budget=700000"];
