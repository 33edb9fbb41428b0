import { approvedRules } from "./approved.ts";
import { confirmationCommitRules, confirmationWriteRules } from "./confirmations.ts";
import { deletionRules } from "./deletions.ts";
import { evictionRules } from "./evictions.ts";
import { factRules } from "./facts.ts";
import { fateCommitRules, fateWriteRules } from "./fates.ts";
import { historyRules } from "./history.ts";
import { rollingRules } from "./rolling.ts";
import { runRules } from "./runs.ts";
import { trustCommitRules, trustWriteRules } from "./trust.ts";
import { wantedRules } from "./wanted.ts";
import { writeRules } from "./writes.ts";

/** What every request that changes a member keeps to. */
export const memberWriteRules = [
  ...deletionRules,
  ...confirmationWriteRules,
  ...writeRules,
  ...approvedRules,
  ...trustWriteRules,
  ...fateWriteRules,
  ...wantedRules,
];

/** What every commit of the state branch keeps to. */
export const stateCommitRules = [
  ...historyRules,
  ...confirmationCommitRules,
  ...rollingRules,
  ...runRules,
  ...evictionRules,
  ...trustCommitRules,
  ...fateCommitRules,
  ...factRules,
];
