import type { Ledger } from "../../core/model/ledger.ts";
import { type RunRecord, runKey } from "../../core/model/update-run.ts";
import type { PlacementKey } from "../../core/model/value.ts";
import { type DeliveryOptions, declined, deliver } from "../deliver.ts";
import { valueIn } from "../edits/found-document.ts";
import { alsoTry, runObjection } from "../edits/named-objects.ts";
import { freeName, runFile, runKind } from "../edits/new-file.ts";
import { chooseRollback } from "../edits/rollback-choice.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { nothingOf } from "../report.ts";
import type { Terminal } from "../terminal.ts";
import { openWorkplace, readRecord } from "../workplace.ts";

/** What `flotilla rollback` is given. */
export interface RollbackOptions extends DeliveryOptions {
  readonly placement: string;
  readonly to?: string;
  readonly strategy?: string;
}

/** Writes a run that rolls an older version out. */
export async function rollback(options: RollbackOptions, terminal: Terminal): Promise<ExitCode> {
  const workplace = await openWorkplace(options);
  const { author, root, find } = workplace;
  const ledger = await readRecord(options, terminal.environment);
  const record = ledger.placements.get(options.placement as PlacementKey);
  if (record === undefined) {
    terminal.err(nothingOf(`placement ${options.placement}`, [...ledger.placements.keys()]));
    return exitCodes.usage;
  }
  const wish = { index: options.to ?? null, strategy: options.strategy ?? null };
  const choice = chooseRollback(ledger, record, wish);
  if (choice.kind === "refused") return declined(choice.message, choice.fix, terminal);
  const { namespace } = record;
  const wrong = runObjection(workplace, { namespace, placement: record.name, strategy: choice.strategy });
  if (wrong !== null) return declined(wrong.message, elsewhere(wrong.fix, options), terminal);
  const isTaken = (name: string): boolean =>
    ledger.runs.has(runKey(namespace, name)) || find({ kind: runKind(namespace), namespace, name }).length > 0;
  const { index, strategy } = choice;
  const name = freeName(runName(record.name, index), isTaken);
  const run = { namespace, name, placement: record.name, strategy, index: String(index), state: "Run" } as const;
  const subject = `Roll ${record.key} back to resource snapshot ${index}`;
  const files = [{ ...runFile(run, root), before: null }];
  const code = await deliver(author, { files, subject, slug: `rollback-${name}` }, options, terminal);
  const isStopped = (it: RunRecord): boolean =>
    find({ kind: runKind(namespace), namespace, name: it.name }).some(
      (file) => valueIn(file, "spec", "state") === "Stop",
    );
  const others = runsUnderWay(ledger, record.key).filter((it) => !isStopped(it));
  if (options.dryRun !== true) for (const it of others) terminal.out(stopHint(it));
  return code;
}

/** The strategy of the last run may be gone since. */
const elsewhere = (fix: string, { strategy }: RollbackOptions): string =>
  strategy === undefined ? alsoTry(fix, "--strategy names another one than that of the last run") : fix;

/** Runs of the placement that may still move clusters which the new one has not come to yet. */
const runsUnderWay = ({ runs }: Ledger, placement: PlacementKey): readonly RunRecord[] =>
  [...runs.values()].filter((it) => it.spec.placement === placement && it.end === null && it.spec.state === "Run");

const stopHint = ({ key }: RunRecord): string =>
  `run ${key} is still under way; what keeps it from going on: flotilla run stop ${key}\n`;

/** A run's name has at most 63 characters, with room for a number behind it (`intent/README.md#v-ur-01`). */
const runName = (placement: string, index: number): string => {
  const end = `-to-${index}`;
  return `${placement.slice(0, 60 - end.length).replace(/-+$/, "")}${end}`;
};
