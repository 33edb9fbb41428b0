import { decodeBlob } from "../../core/intent/documents.ts";
import { approvalsIn } from "../../core/intent/special-files.ts";
import { defaultFleet } from "../../core/model/fleet.ts";
import type { Json } from "../../core/model/json.ts";
import { emptyLedger, type Ledger } from "../../core/model/ledger.ts";
import { isApprovalPath, type StandingAnswers } from "../../core/model/trust.ts";
import { type Commit, compareText, type DurationMs, type Instant, instantText } from "../../core/model/value.ts";
import { readYamlStream as readStateText } from "../../core/yaml/read-stream.ts";
import { Fault } from "../../shell/reconcile/fault.ts";
import type { State } from "../../shell/reconcile/memory.ts";
import type { Heads, Repository } from "../../shell/reconcile/ports.ts";
import { readStateBranch } from "../../shell/reconcile/state.ts";
import { commitBytes } from "../../shell/signature/commit-bytes.ts";
import type { TextFile } from "../edits/found-document.ts";
import type { ExitCode } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import {
  closing,
  type Environment,
  type HubOptions,
  now,
  openHub,
  openRecord,
  openWorkTree,
  readableHub,
} from "./wire.ts";

/** The paths of the objects of a kind, with their keys. */
const patterns = {
  placements: /^(?:namespaces\/(?<namespace>[^/]+)\/)?placements\/(?<name>[^/]+)\/placement\.yaml$/,
  clusters: /^clusters\/(?<name>[^/]+)\.yaml$/,
  bindings: /^(?:namespaces\/(?<namespace>[^/]+)\/)?placements\/(?<name>[^/]+)\/bindings\.yaml$/,
  runs: /^(?:namespaces\/(?<namespace>[^/]+)\/)?runs\/(?<name>[^/]+)\/run\.yaml$/,
  plans: /^(?:namespaces\/(?<namespace>[^/]+)\/)?runs\/(?<name>[^/]+)\/plan\.yaml$/,
  evictions: /^evictions\/(?<name>[^/]+)\.yaml$/,
  approvals: /^(?:namespaces\/(?<namespace>[^/]+)\/)?approvals\/(?<name>[^/]+)\.yaml$/,
} as const;

/** The state branch's objects of a kind; with a key (`name`, or `namespace/name`), only those of that one. */
export async function recordedObjects(
  repository: Repository,
  head: Commit,
  kind: keyof typeof patterns,
  key: string | null,
): Promise<readonly Json[]> {
  const files = (await repository.files(head)).filter(({ path }) => {
    const { namespace, name } = patterns[kind].exec(path)?.groups ?? {};
    if (name === undefined) return false;
    return key === null || key === (namespace === undefined ? name : `${namespace}/${name}`);
  });
  const blobs = await repository.blobs(files.map((it) => it.blob));
  const decoder = new TextDecoder();
  return files.flatMap((it) => {
    const read = readStateText(decoder.decode(blobs.get(it.blob)));
    return "documents" in read ? read.documents : [];
  });
}

/** The source's files as they were last read. */
export async function acceptedFiles(repository: Repository, { accepted }: State): Promise<readonly TextFile[]> {
  const blobs = await repository.blobs([...new Set(accepted.values())]);
  const decoder = new TextDecoder();
  return [...accepted].map(([path, blob]) => ({ path, text: decoder.decode(blobs.get(blob)) }));
}

/** The approvals among them, by path, without unreadable ones, and whether they count where nobody has to sign. */
export async function standingAnswers(
  repository: Repository,
  { accepted }: Pick<State, "accepted">,
): Promise<StandingAnswers> {
  const files = [...accepted].filter(([path]) => isApprovalPath(path)).sort(([a], [b]) => compareText(a, b));
  const fleet = accepted.get("fleet.yaml") ?? accepted.get("fleet.yml");
  if (fleet !== undefined) files.push(["fleet.yaml", fleet]);
  const blobs = await repository.blobs([...new Set(files.map(([, blob]) => blob))]);
  const read = files.flatMap(([path, blob]) => {
    const bytes = blobs.get(blob);
    return bytes === undefined ? [] : [{ path, blob, kind: "file" as const, decoded: decodeBlob(bytes) }];
  });
  const documents = read.flatMap((it) => (it.path === "fleet.yaml" ? it.decoded.documents : []));
  const contents = documents.flatMap((it) => (it.kind === "object" && it.content !== null ? [it.content] : []));
  const spec = contents.find((it) => it.kind === "fleet")?.fleet ?? defaultFleet;
  return { files: approvalsIn(read).approvals, unsigned: spec.unsignedApprovals };
}

/** The record that a command shows, and what it says of its age. */
interface ShownRecord {
  readonly repository: Repository;
  readonly state: State;
  readonly ledger: Ledger;
  readonly printAge: () => Promise<void>;
}

/** Reads the record for a command that shows it. */
export const withRecord = async (
  options: HubOptions,
  terminal: Terminal,
  show: (record: ShownRecord) => Promise<ExitCode>,
): Promise<ExitCode> =>
  closing(await openHub(await readableHub(options, terminal), terminal.environment), async (repository) => {
    const heads = await repository.heads();
    const state = await readStateBranch(repository, heads.state);
    const { ledger } = state;
    const { sourceCommit } = ledger;
    const printAge = (): Promise<void> =>
      printRecordAge(repository, { ...heads, ...branchNames(options), sourceCommit, now: now() }, terminal);
    return show({ repository, state, ledger, printAge });
  });

/** The record at `state`, made from `sourceCommit`, while the source branch is at `source`. */
interface RecordPosition extends Heads {
  readonly sourceCommit: Commit | null;
  /** The names of the source branch, and of the state branch. */
  readonly branch: string;
  readonly stateBranch: string;
  readonly now: Instant;
}

/** The names of both branches. */
export const branchNames = ({ branch, stateBranch }: HubOptions): Pick<RecordPosition, "branch" | "stateBranch"> => ({
  branch,
  stateBranch,
});

/** Prints the record's age, by the state commit's time, and whether the source branch moved on; or that there is none. */
export async function printRecordAge(
  repository: Pick<Repository, "firstParents">,
  seen: RecordPosition,
  { err }: Pick<Terminal, "err">,
): Promise<void> {
  if (seen.state === null)
    return err(`note: nothing is recorded: there is no branch ${seen.stateBranch}; flotilla reconcile makes it\n`);
  const [head] = (await repository.firstParents?.(seen.state, 1)) ?? [];
  const read = head === undefined ? null : commitBytes(head.raw);
  err(`note: ${recordAgeText(seen, read?.kind === "commit" ? ((read.committer.seconds * 1000) as Instant) : null)}\n`);
}

/** The age of a record in words; `at` null: when it was written is not known. */
export function recordAgeText({ source, sourceCommit, branch, now }: RecordPosition, at: Instant | null): string {
  const from = sourceCommit === null ? "before any source commit" : `at source commit ${short(sourceCommit)}`;
  const when = at === null ? "recorded" : `recorded ${agoText((now - at) as DurationMs)} (${instantText(at)})`;
  const isBehind = source !== null && source !== sourceCommit;
  return `${when} ${from}${isBehind ? `; ${branch} is at ${short(source)}, which no pass has recorded yet` : ""}`;
}

/** In the largest unit of which there are two; what seems to come is now, since commits carry whole seconds. */
function agoText(age: DurationMs): string {
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
  ] as const;
  const [length, name] = units.find(([it]) => age >= 2 * it) ?? [1000, "s"];
  return `${Math.max(Math.round(age / length), 0)} ${name} ago`;
}

const short = (commit: Commit): string => commit.slice(0, 7);

/** The recorded ledger of the work tree's fleet. */
export const readRecordedLedger = async (options: HubOptions, environment: Environment): Promise<Ledger> =>
  (await readRecordedState(options, environment)).ledger;

/** The same with the files that were read last. */
export const readRecordedState = async (options: HubOptions, environment: Environment): Promise<State> =>
  closing(await openRecord(options, environment), stateIn);

/** What is recorded now. */
export const stateIn = async (repository: Repository): Promise<State> =>
  readStateBranch(repository, (await repository.heads()).state);

/** The ledger of the fleet in a folder: the state branch there, or as last fetched; empty if it cannot be read. */
export async function findLedgerNear(folder: string, environment: Environment): Promise<Ledger> {
  try {
    const { name: repo } = await openWorkTree({ repo: folder });
    const hub = { repo, branch: "main", stateBranch: "fleet/state", git: "auto", cache: null, tracked: true } as const;
    return (await closing(await openHub(hub, environment), stateIn)).ledger;
  } catch (error) {
    if (error instanceof Fault) return emptyLedger;
    throw error;
  }
}
