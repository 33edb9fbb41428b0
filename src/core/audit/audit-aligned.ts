import { type Json, sameJson } from "../model/json.ts";
import type { ChangeRequest, Ledger } from "../model/ledger.ts";
import type { World } from "../model/plan.ts";
import type { Request } from "../model/trust.ts";
import type { StageProgress } from "../model/update-run.ts";

/**
 * A ledger that was read from files, with what is the same as in the world it was made from also being the same (`===`):
 * as the planner would have left it. The checks of a plan go by identity.
 */
export function aligned(after: Ledger, world: World): Ledger {
  const [trust, answers] = [trustIn(after, world), answersIn(after, world)];
  return { ...after, trust, answers, runs: runsIn(after, world), placements: placementsIn(after, world) };
}

function trustIn({ trust: record }: Ledger, { intent, ledger }: World): Ledger["trust"] {
  const { trust: file } = intent;
  if (record === null || record === ledger.trust) return record;
  if (file?.trust == null || file.text !== record.text) return record;
  return { ...record, trust: file.trust };
}

function answersIn({ answers }: Ledger, { intent, ledger }: World): Ledger["answers"] {
  if (answers === ledger.answers) return answers;
  const files = new Map(intent.approvals.map((it) => [it.path, it]));
  return new Map(
    [...answers].map(([path, it]) => {
      const file = files.get(path);
      const isSame = file !== undefined && it !== ledger.answers.get(path) && same(file, it.file);
      return [path, isSame ? { ...it, file } : it];
    }),
  );
}

function runsIn({ runs }: Ledger, { ledger }: World): Ledger["runs"] {
  return new Map(
    [...runs].map(([key, run]) => {
      const before = ledger.runs.get(key);
      if (before === undefined || before === run) return [key, run];
      return [key, { ...run, stages: run.stages.map((it, at) => stageIn(it, before.stages[at])) }];
    }),
  );
}

function placementsIn({ placements }: Ledger, { ledger }: World): Ledger["placements"] {
  return new Map(
    [...placements].map(([key, record]) => {
      const before = ledger.placements.get(key);
      if (record === before || record.change === null || before?.change == null) return [key, record];
      return [key, { ...record, change: changeIn(record.change, before.change) }];
    }),
  );
}

function changeIn(change: ChangeRequest, before: ChangeRequest): ChangeRequest {
  if (change === before) return change;
  const isSame = same([...change.clusters], [...before.clusters]);
  const clusters = isSame ? before.clusters : change.clusters;
  const leaves = same([...change.leaves], [...before.leaves]) ? before.leaves : change.leaves;
  return { ...change, clusters, leaves, request: requestIn(change.request, before.request) };
}

function stageIn(stage: StageProgress, before: StageProgress | undefined): StageProgress {
  if (before === undefined || before === stage) return stage;
  return { ...stage, before: requestIn(stage.before, before.before), after: requestIn(stage.after, before.after) };
}

const requestIn = (request: Request | null, before: Request | null): Request | null =>
  request === null || before === null || request === before || !same(request.authors, before.authors)
    ? request
    : { ...request, authors: before.authors };

const same = (a: object, b: object): boolean => sameJson(a as Json, b as Json);
