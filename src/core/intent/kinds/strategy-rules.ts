import { error, type JsonPath, type Remark } from "../../yaml/remark.ts";
import { notYet } from "./not-yet.ts";
import { countOrPercent } from "./placement.ts";
import type { WrittenApplyStrategy, WrittenStrategy } from "./written.ts";

const at: JsonPath = ["spec", "strategy"];

/**
 * Checks how a placement rolls out and applies (`intent/README.md#v-pl-60`, `#v-pl-62` … `#v-pl-71`), and refuses what
 * does not work yet.
 */
export function strategyRemarks(strategy: WrittenStrategy): readonly Remark[] {
  return [
    ...rollingUpdateRemarks(strategy),
    ...applyStrategyRemarks(strategy.applyStrategy ?? {}),
    ...(strategy.reportBackStrategy?.type === "Mirror"
      ? [notYet([...at, "reportBackStrategy", "type"], "Mirror is")]
      : []),
  ];
}

function rollingUpdateRemarks({ type, rollingUpdate }: WrittenStrategy): readonly Remark[] {
  if (rollingUpdate === undefined) return [];
  const path: JsonPath = [...at, "rollingUpdate"];
  if (type === "External") return [error("FLT1307", path, "does not go with type External", "remove it")];
  const { maxUnavailable = "25%", maxSurge = "25%" } = rollingUpdate;
  const wrong = Object.entries({ maxUnavailable, maxSurge })
    .filter(([, it]) => countOrPercent(it) === null)
    .map(([field, it]) => ({
      ...error("FLT1303", [...path, field], amount, "write 3 or 25%"),
      got: JSON.stringify(it),
    }));
  const stalls = isNothing(maxUnavailable) && isNothing(maxSurge);
  return stalls ? [...wrong, error("FLT1303", path, stalled, "raise one of the two")] : wrong;
}

const amount = "must be a whole number from 0, or a percentage from 0% to 100%";
const stalled = "maxUnavailable and maxSurge are both 0, so that nothing could ever be updated";

function isNothing(written: number | string): boolean {
  const value = countOrPercent(written);
  return value !== null && ("count" in value ? value.count : value.percent) === 0;
}

function applyStrategyRemarks(strategy: WrittenApplyStrategy): readonly Remark[] {
  const path: JsonPath = [...at, "applyStrategy"];
  const { type = "ClientSideApply", comparisonOption, whenToApply, serverSideApplyConfig } = strategy;
  const remarks: Remark[] = [];
  if (type === "ReportDiff") remarks.push(notYet([...path, "type"], "ReportDiff is"));
  if (comparisonOption === "FullComparison") remarks.push(notYet([...path, "comparisonOption"], "FullComparison is"));
  if (whenToApply === "IfNotDrifted") remarks.push(notYet([...path, "whenToApply"], "IfNotDrifted is"));
  if (serverSideApplyConfig !== undefined && type !== "ServerSideApply")
    remarks.push(error("FLT1307", [...path, "serverSideApplyConfig"], `does not go with type ${type}`, useServerSide));
  return remarks;
}

const useServerSide = "remove it, or use type ServerSideApply";
