import { isDnsLabel, isDnsSubdomain } from "../../../core/intent/kinds/metadata.ts";
import type { Ledger } from "../../../core/model/ledger.ts";
import { placementKey } from "../../../core/model/placement.ts";
import { type RunRecord, runKey, type UpdateRunSpec } from "../../../core/model/update-run.ts";
import { oneLine, type PlacementKey, partsOfKey } from "../../../core/model/value.ts";
import { chooseRollback, indexObjection, type Objection } from "../../../core/report/rollback-choice.ts";
import { editedText } from "../../edits/edited-text.ts";
import { valueIn } from "../../edits/found-document.ts";
import { alsoTry, freeName, runFile, runKind, runObjection, undefinedObject } from "../../edits/new-object.ts";
import { type CommitOptions, commitFiles, usageError } from "../../hub/commit-files.ts";
import { readRecordedLedger } from "../../hub/record.ts";
import { loadWorkTree } from "../../hub/work-tree.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { keyNamed } from "../../terminal/namespaces.ts";
import { unknownText } from "../../terminal/outcome.ts";
import type { Terminal } from "../../terminal/terminal.ts";

export interface RunCreateOptions extends CommitOptions {
  readonly name: string;
  readonly namespace?: string;
  readonly placement: string;
  readonly strategy: string;
  readonly index?: string;
  readonly state: UpdateRunSpec["state"];
}

/** Writes the file of a new run; its placement and strategy are in files here, its version is recorded. */
export async function createRun(options: RunCreateOptions, terminal: Terminal): Promise<ExitCode> {
  const named = ownNames(options);
  const { name, namespace = null, placement, strategy, index = null, state } = named;
  const objection = objectionTo(named);
  if (objection !== null) return usageError(...objection, terminal);
  const workTree = await loadWorkTree(options);
  const { author, root, find } = workTree;
  const [there] = find({ kind: runKind(namespace), namespace, name });
  if (there !== undefined)
    return usageError(`run ${name} already exists in ${there.path}`, "choose another name", terminal);
  const wrong =
    runObjection(workTree, { namespace, placement, strategy }) ??
    (index === null ? null : await unrecorded(named, index, terminal));
  if (wrong !== null) return usageError(wrong.message, wrong.fix, terminal);
  const file = runFile({ namespace, name, placement, strategy, index, state }, root);
  const version = index === null ? "what it selects now" : `resource snapshot ${index}`;
  const subject = `Create run ${runKey(namespace, name)}: ${version} of ${placement} by ${strategy}`;
  const written = { files: [{ ...file, before: null }], subject, slug: runSlug(namespace, name) };
  return commitFiles(author, written, options, terminal);
}

/** A run is of one namespace with its placement and its strategy: the run is named with it, or else its placement is. */
function ownNames(options: RunCreateOptions): RunCreateOptions {
  const [ofRun, name] = partsOfKey(keyNamed(options.name, options));
  const namespace = ofRun ?? partsOfKey(options.placement)[0];
  if (namespace === null) return options;
  const own = (it: string): string => (it.startsWith(`${namespace}/`) ? it.slice(namespace.length + 1) : it);
  return { ...options, namespace, name, placement: own(options.placement), strategy: own(options.strategy) };
}

async function unrecorded(
  options: RunCreateOptions,
  index: string,
  { environment }: Terminal,
): Promise<Objection | null> {
  const { placement, namespace = null } = options;
  const key = placementKey(namespace, placement);
  return indexObjection(key, (await readRecordedLedger(options, environment)).placements.get(key), index);
}

function objectionTo({ name, namespace, placement, strategy, index }: RunCreateOptions): [string, string] | null {
  const labels = [namespace ?? "x", placement].filter((it) => !isDnsLabel(it));
  const [wrong] = [...(isDnsSubdomain(name) && name.length <= 63 ? [] : [name]), ...labels];
  if (wrong !== undefined)
    return [`${JSON.stringify(wrong)} is not a valid name`, "use lower-case letters, digits and -, at most 63"];
  if (!isDnsSubdomain(strategy))
    return [`${JSON.stringify(strategy)} is not a valid name`, "use lower-case letters, digits, - and ."];
  if (index === undefined || /^(?:0|[1-9]\d*)$/.test(index)) return null;
  return [
    `${JSON.stringify(index)} is not the index of a resource snapshot`,
    "--index takes a number, as flotilla get placements shows it",
  ];
}

/** What `flotilla run start` and `flotilla run stop` are given. */
export interface RunStateOptions extends CommitOptions {
  /** `name`, or `namespace/name`. */
  readonly name: string;
  readonly namespace?: string;
}

/** Sets a run's desired state in its file, wherever that is. */
export async function setRunState(options: RunStateOptions, to: "Run" | "Stop", terminal: Terminal): Promise<ExitCode> {
  const [namespace, name] = partsOfKey(keyNamed(options.name, options));
  const workTree = await loadWorkTree(options);
  const { author, find } = workTree;
  const wanted = { kind: runKind(namespace), namespace, name };
  const found = find(wanted);
  const [file] = found;
  if (file === undefined) {
    const { message, fix } = undefinedObject(workTree, wanted);
    return usageError(message, alsoTry(fix, "flotilla run create writes one; -n gives a namespace"), terminal);
  }
  if (found.length > 1)
    return usageError(
      `several files define it: ${found.map((it) => it.path).join(", ")}`,
      "remove all but one",
      terminal,
    );
  const before = valueIn(file, "spec", "state");
  if (before === to) {
    terminal.out(`${oneLine(file.path)} already says ${to}\n`);
    return exitCodes.done;
  }
  // `intent/README.md#v-ur-06`: what has not started cannot be stopped.
  if (to === "Stop" && before !== "Run")
    return usageError(
      `the run ${name} has not been started`,
      "there is nothing to stop; remove its file to cancel it",
      terminal,
    );
  const text = editedText(file.text, file.document, { kind: "set", under: ["spec"], key: "state", value: to });
  if (text === null)
    return usageError(`${file.path} cannot be edited`, `set spec.state to ${to} in it by hand`, terminal);
  const subject = `${to === "Run" ? "Start" : "Stop"} run ${runKey(namespace, name)}`;
  const files = [{ path: file.path, text, before: file.text }];
  const slug = `${runSlug(namespace, name)}-${to.toLowerCase()}`;
  return commitFiles(author, { files, subject, slug }, options, terminal);
}

/** Names the branch of a pull request: runs of one name in two namespaces have two. */
const runSlug = (namespace: string | null, name: string): string =>
  `run-${namespace === null ? "" : `${namespace}_`}${name}`;

export interface RollbackOptions extends CommitOptions {
  readonly placement: string;
  readonly to?: string;
  readonly strategy?: string;
}

/** Writes a run that rolls an older version out. */
export async function rollback(options: RollbackOptions, terminal: Terminal): Promise<ExitCode> {
  const workTree = await loadWorkTree(options);
  const { author, root, find } = workTree;
  const ledger = await readRecordedLedger(options, terminal.environment);
  const record = ledger.placements.get(options.placement as PlacementKey);
  if (record === undefined) {
    terminal.err(unknownText(`placement ${options.placement}`, [...ledger.placements.keys()]));
    return exitCodes.usage;
  }
  const request = { index: options.to ?? null, strategy: options.strategy ?? null };
  const choice = chooseRollback(ledger, record, request);
  if (choice.kind === "refused") return usageError(choice.message, choice.fix, terminal);
  const { namespace } = record;
  const wrong = runObjection(workTree, { namespace, placement: record.name, strategy: choice.strategy });
  if (wrong !== null) return usageError(wrong.message, elsewhere(wrong.fix, options), terminal);
  const isTaken = (name: string): boolean =>
    ledger.runs.has(runKey(namespace, name)) || find({ kind: runKind(namespace), namespace, name }).length > 0;
  const { index, strategy } = choice;
  const name = freeName(runName(record.name, index), isTaken);
  const run = { namespace, name, placement: record.name, strategy, index: String(index), state: "Run" } as const;
  const subject = `Roll ${record.key} back to resource snapshot ${index}`;
  const files = [{ ...runFile(run, root), before: null }];
  const code = await commitFiles(author, { files, subject, slug: `rollback-${name}` }, options, terminal);
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
  strategy === undefined ? alsoTry(fix, "--strategy chooses another one than the last run's") : fix;

/** Runs of the placement in progress, which may still update clusters before the new one does. */
const runsUnderWay = ({ runs }: Ledger, placement: PlacementKey): readonly RunRecord[] =>
  [...runs.values()].filter((it) => it.spec.placement === placement && it.end === null && it.spec.state === "Run");

const stopHint = ({ key }: RunRecord): string =>
  `run ${key} is still in progress; to stop it: flotilla run stop ${key}\n`;

/** A run's name has at most 63 characters, with room for a number behind it (`intent/README.md#v-ur-01`). */
const runName = (placement: string, index: number): string => {
  const end = `-to-${index}`;
  return `${placement.slice(0, 60 - end.length).replace(/-+$/, "")}${end}`;
};
