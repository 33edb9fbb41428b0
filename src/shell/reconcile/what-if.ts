import { type Decided, decide } from "../../core/decide/decide.ts";
import { ledgerPath, placementFolder } from "../../core/ledger/layout.ts";
import { restlessIn } from "../../core/ledger/ledger-file.ts";
import type { Intent, Problem } from "../../core/model/intent.ts";
import type { Ledger } from "../../core/model/ledger.ts";
import type { Plan, World } from "../../core/model/plan.ts";
import type { PlanDefect } from "../../core/model/plan-defect.ts";
import type { Reason } from "../../core/model/reason.ts";
import type { UpdateRun } from "../../core/model/update-run.ts";
import type { Commit, PlacementKey, RunKey } from "../../core/model/value.ts";
import { affected, standsAlone } from "../../core/plan/affected.ts";
import { indexRequests } from "../../core/plan/approval/request-index.ts";
import { currentProblems } from "../../core/report/current-problems.ts";
import { readArchive } from "./archive.ts";
import { readHistory } from "./history.ts";
import { type Memory, newMemory, type State } from "./memory.ts";
import { observe } from "./observe.ts";
import type { Ports, Repository, Settings } from "./ports.ts";
import { acceptedIntent, readSource } from "./source.ts";
import { isRecordFolder, stateOf } from "./state.ts";

/** What the next pass would decide, and its world. */
export interface WhatIfResult {
  readonly world: World;
  readonly plan: Plan;
  /** Of a plan that is not sound: no pass would follow it. */
  readonly faults: readonly PlanDefect[];
  /** What is wrong in the files, history apart: see {@link currentProblems}. */
  readonly problems: readonly Problem[];
}

/**
 * Plans what the head of the source branch asks for.
 *
 * When no member is asked, only that part of the state is read on which the plan can depend: the members, and the
 * placements that the edit concerns or that are on their way (`cmd/README.md#exit-codes`); the world of the answer
 * holds no others. Wherever that might not say what the whole state would, the whole state is read.
 */
export async function whatIf(ports: Ports, settings: Settings): Promise<WhatIfResult> {
  const part = settings.members === "record" ? await planOfPart(ports, settings) : null;
  if (part !== null) return part;
  const { world, reasons } = await observe(ports, settings, newMemory());
  const decided = decide(world);
  return {
    world,
    plan: withReasons(decided.plan, reasons),
    faults: faultsIn(decided),
    problems: currentProblems(world.intent, world.ledger),
  };
}

const faultsIn = (decided: Decided): readonly PlanDefect[] => (decided.kind === "unsound" ? decided.faults : []);

const withReasons = (decided: Plan, known: readonly Reason[]): Plan => ({
  ...decided,
  reasons: [...known, ...decided.reasons],
});

async function planOfPart(ports: Ports, settings: Settings): Promise<WhatIfResult | null> {
  const { repository, clock } = ports;
  const { source, state } = await repository.heads();
  const outline = source === null || state === null ? null : await readOutline(repository, state);
  if (source === null || outline === null) return null;
  const memory = newMemory();
  const read = await readSource(repository, source, outline.state, { memory, settings });
  const { intent, reasons } = read;
  const keys = reasons.length > 0 ? null : await concerned(repository, outline, { intent, memory });
  if (keys === null) return null;
  const whole = await readPlacements(repository, outline, keys);
  const ledger = { ...whole, runs: runsOn(keys, whole.runs) };
  const { trustAnchor } = settings;
  const now = clock.now();
  const world: World = {
    intent: {
      ...intent,
      placements: new Map([...intent.placements].filter(([key]) => keys.has(key))),
      runs: runsOn(keys, intent.runs),
    },
    ledger,
    observed: new Map(),
    unsound: new Map(),
    archive: await readArchive(repository, ledger, intent, memory),
    history: await readHistory(ports, memory, { source: read, ledger, anchor: trustAnchor, now }),
    trustAnchor,
    now,
    entropy: ports.entropy(),
    clockOffset: null,
    patience: settings.patience,
  };
  const decision = decide(world);
  const { plan: decided } = decision;
  if (!standsAlone(ledger, decided.ledger, intent)) return null;
  const told = decided.reasons.filter((it) => !isSettled(it, intent, whole));
  const faults = faultsIn(decision);
  return { world, plan: { ...decided, reasons: told }, faults, problems: currentProblems(intent, whole) };
}

/** Whether it is about an answer to what is over: a plan of a part knows no other runs, and takes it for a stray. */
function isSettled(reason: Reason, { approvals }: Intent, whole: Ledger): boolean {
  const file = reason.kind === "answerDenied" ? approvals.find((it) => it.path === reason.path) : undefined;
  return file !== undefined && indexRequests(whole).digests.get(file.digest)?.isOpen === false;
}

/** Of runs, those whose placement is among `keys`. */
const runsOn = <T extends Pick<UpdateRun, "spec">>(
  keys: ReadonlySet<PlacementKey>,
  runs: ReadonlyMap<RunKey, T>,
): ReadonlyMap<RunKey, T> => new Map([...runs].filter(([, { spec }]) => keys.has(spec.placement)));

/** The placements whose records the plan needs; null: possibly all. */
async function concerned(
  repository: Repository,
  { state, restless }: Outline,
  { intent, memory }: { readonly intent: Intent; readonly memory: Memory },
): Promise<ReadonlySet<PlacementKey> | null> {
  // Another trust file, or none where there was one, concerns everything that waits for an approval.
  const inForce = state.ledger.trust?.trust.digest;
  if (restless === null || intent.trust?.trust?.digest !== inForce) return null;
  // Which request a new answer is about, if any, is looked for among all.
  const { answers } = state.ledger;
  if (inForce !== undefined && intent.approvals.some((it) => answers.get(it.path)?.file.blob !== it.blob)) return null;
  const edited = affected(await acceptedIntent(repository, state, memory), intent);
  if (edited === null) return null;
  const waiting = state.ledger.deletions.held.flatMap((it) => it.groups.map((group) => group.placement));
  return new Set([...edited, ...restless, ...waiting]);
}

/** A state without its placements, which are nearly all of it. */
interface Outline {
  readonly state: State & { readonly commit: Commit };
  /** Placements that the last plan had something to say about; null: not known. */
  readonly restless: readonly PlacementKey[] | null;
}

/** Reads all of a state but the records of its placements; null where the repository can only be listed as a whole. */
async function readOutline(repository: Repository, commit: Commit): Promise<Outline | null> {
  const changes = await repository.changes?.(null, commit, (it) => isRecordFolder(it) && !isPlacements(it));
  if (changes === undefined) return null;
  const head = changes.find((it) => it.path === ledgerPath)?.file?.blob;
  const text = head === undefined ? undefined : (await repository.blobs([head])).get(head);
  return {
    state: { ...(await stateOf(repository, null, { commit, changes })), commit },
    restless: text === undefined ? null : restlessIn(new TextDecoder().decode(text)),
  };
}

/** The ledger of an outline with the records of these placements, as far as there are any. */
async function readPlacements(
  repository: Repository,
  { state }: Outline,
  keys: ReadonlySet<PlacementKey>,
): Promise<Ledger> {
  const folders = new Set<string>();
  for (const key of keys) for (const it of withParents(placementFolder(key))) folders.add(it);
  const isWanted = (folder: string): boolean =>
    folders.has(folder) || (isRecordFolder(folder) && folders.has(placementIn(folder)));
  const changes = (await repository.changes?.(null, state.commit, isWanted)) ?? [];
  const inside = changes.filter((it) => folders.has(placementIn(it.path)));
  return (await stateOf(repository, state, { commit: state.commit, changes: inside })).ledger;
}

const isPlacements = (folder: string): boolean => /^(?:namespaces\/[^/]+\/)?placements\/$/.test(folder);

/** The placement's folder that a path lies in; empty for any other path. */
const placementIn = (path: string): string => /^(?:namespaces\/[^/]+\/)?placements\/[^/]+\//.exec(path)?.[0] ?? "";

function withParents(folder: string): readonly string[] {
  const parents: string[] = [];
  for (let at = folder.indexOf("/"); at >= 0; at = folder.indexOf("/", at + 1)) parents.push(folder.slice(0, at + 1));
  return parents;
}
