import { type Condition, settleConditions } from "../model/condition.ts";
import { revised, sameMap } from "../model/identity.ts";
import type { Ledger, PlacementRecord } from "../model/ledger.ts";
import type { World } from "../model/plan.ts";
import { maxViolations, type Quarantine } from "../model/plan-defect.ts";
import { compareText, type PlacementKey } from "../model/value.ts";
import { isQuarantineType, quarantineVerdict } from "../status/quarantine.ts";
import { decisionVersion } from "./decision.ts";
import { nothing, type PlacementResult } from "./placement/result.ts";
import { recordsOf } from "./runs/runs-of.ts";

/**
 * The placements that stay as recorded in this pass: those whose plan failed just now, and those whose plan failed under
 * this very commit and by these rules. All others are planned (`plan/README.md#d-10`).
 */
export function quarantinesIn({ ledger, unsound, intent, now }: World): Ledger["quarantines"] {
  const before = ledger.quarantines;
  const kept = [...before.values()].filter(
    (it) => it.commit === intent.commit && it.decisionVersion === decisionVersion && !unsound.has(it.placement),
  );
  const fresh = [...unsound].map(([placement, violations]): Quarantine => {
    const since = before.get(placement)?.since ?? now;
    return {
      placement,
      since,
      commit: intent.commit,
      decisionVersion,
      violations: violations.slice(0, maxViolations),
    };
  });
  const all = [...kept, ...fresh].sort((a, b) => compareText(a.placement, b.placement));
  const after = new Map(all.map((it) => [it.placement, it]));
  return sameMap(after, before) ? before : after;
}

/** A placement in quarantine: what is recorded of it stays, and its status says why. */
export function keptAsRecorded(key: PlacementKey, quarantine: Quarantine, { ledger, now }: World): PlacementResult {
  const before = ledger.placements.get(key) ?? null;
  const record = before === null ? null : withVerdict(before, quarantine, now);
  return { ...nothing, record, runs: recordsOf(ledger, key) };
}

function withVerdict(record: PlacementRecord, quarantine: Quarantine, now: World["now"]): PlacementRecord {
  const others = record.conditions.filter((it: Condition) => !isQuarantineType(it.type));
  const verdicts = [quarantineVerdict(record, quarantine), ...others.map(({ lastTransitionTime: _, ...it }) => it)];
  return revised(record, { conditions: settleConditions(record.conditions, verdicts, now) });
}
