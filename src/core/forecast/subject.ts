import type { World } from "../model/plan.ts";
import { runKey, strategyKey, type UpdateRun } from "../model/update-run.ts";
import { type ClusterName, compareText, type PlacementKey, type RunKey, type StrategyKey } from "../model/value.ts";
import { someNames } from "../report/phrases.ts";
import type { RolloutFocus } from "./events.ts";

interface ForecastRequest {
  /** `name`, or `namespace/name`. */
  readonly name: string;
  /** Null: whichever there is. */
  readonly kind: "run" | "placement" | null;
  /** The strategy of a run to be created now; null: no new run. */
  readonly strategy: string | null;
  /** Members with assumptions: all of them must exist. */
  readonly clusters: readonly ClusterName[];
}

/** The subject of a forecast, and the world with its assumptions; or why there is none. */
export type ForecastSubject =
  | {
      readonly kind: "chosen";
      readonly world: World;
      readonly focus: RolloutFocus;
      /** Assumptions beyond what the files say. */
      readonly notes: readonly string[];
    }
  | { readonly kind: "refused"; readonly message: string; readonly fix: string };

/**
 * Finds the rollout that is meant. A run that is not set to Run is assumed to be; an External placement is rolled out by
 * its newest run that has not ended, or by one that is assumed to be created now.
 */
export function forecastSubject(world: World, request: ForecastRequest): ForecastSubject {
  const { intent, ledger } = world;
  const stranger = request.clusters.find((it) => !intent.clusters.has(it));
  if (stranger !== undefined)
    return refused(`there is no member ${stranger}`, `members are: ${listed(intent.clusters.keys())}`);
  const run = request.kind === "placement" ? undefined : intent.runs.get(request.name as RunKey);
  const key = request.name as PlacementKey;
  const isPlacement = request.kind !== "run" && (intent.placements.has(key) || ledger.placements.has(key));
  if (run !== undefined && isPlacement)
    return refused(`${request.name} is a run and a placement`, "choose with --kind run or --kind placement");
  if (run !== undefined && request.strategy !== null)
    return refused(`run ${run.key} already names its strategy`, "leave --strategy out, or name the placement");
  if (run !== undefined) return withRun(world, run, []);
  if (isPlacement) return withPlacement(world, key, request.strategy);
  const known = [...intent.runs.keys(), ...intent.placements.keys()];
  return refused(
    `no file defines a ${request.kind ?? "run or placement"} ${request.name}`,
    `there are: ${listed(known)}`,
  );
}

const refused = (message: string, fix: string): ForecastSubject => ({ kind: "refused", message, fix });

const listed = (all: Iterable<string>): string => someNames([...all]) || "none";

function withPlacement(world: World, key: PlacementKey, strategy: string | null): ForecastSubject {
  const { intent, ledger } = world;
  const placement = intent.placements.get(key) ?? null;
  const isMoved = placement?.spec.strategy.type === "External";
  if (!isMoved && strategy !== null)
    return refused(`${key} is rolled out by its own strategy, not by runs`, "leave --strategy out");
  if (!isMoved) return { kind: "chosen", world, focus: { placement: key, run: null }, notes: [] };
  if (strategy !== null) return withNewRun(world, placement, strategy);
  const age = (it: UpdateRun): number => ledger.runs.get(it.key)?.since ?? Number.POSITIVE_INFINITY;
  const [newest] = [...intent.runs.values()]
    .filter((it) => it.spec.placement === key && (ledger.runs.get(it.key)?.end ?? null) === null)
    .sort((a, b) => (age(a) === age(b) ? compareText(b.key, a.key) : age(b) - age(a)));
  if (newest !== undefined) return withRun(world, newest, [`run ${newest.key} is the newest that has not ended`]);
  return refused(`${key} is of type External and has no run in progress`, "give --strategy to forecast a new run");
}

function withRun(world: World, run: UpdateRun, notes: readonly string[]): ForecastSubject {
  const { key, spec } = run;
  const end = world.ledger.runs.get(key)?.end ?? null;
  if (end !== null) return refused(`run ${key} has ended: it ${end.kind}`, "choose another run, or its placement");
  const focus = { placement: spec.placement, run: key };
  if (spec.state === "Run") return { kind: "chosen", world, focus, notes };
  const supposed = withRunInIt(world, { ...run, spec: { ...spec, state: "Run" } });
  return {
    kind: "chosen",
    world: supposed,
    focus,
    notes: [...notes, `run ${key} is set to Run, not to ${spec.state}`],
  };
}

function withNewRun(
  world: World,
  { key, scope, namespace }: { readonly key: PlacementKey } & Pick<UpdateRun, "scope" | "namespace">,
  strategy: string,
): ForecastSubject {
  const { intent, ledger } = world;
  const stages: StrategyKey = strategyKey(namespace, strategy);
  if (!intent.strategies.has(stages))
    return refused(`no file defines a strategy ${stages}`, `there are: ${listed(intent.strategies.keys())}`);
  const isTaken = (name: string): boolean =>
    intent.runs.has(runKey(namespace, name)) || ledger.runs.has(runKey(namespace, name));
  let name = "forecast";
  for (let number = 2; isTaken(name); number++) name = `forecast-${number}`;
  const run: UpdateRun = {
    key: runKey(namespace, name),
    scope,
    namespace,
    name,
    spec: { placement: key, resourceIndex: null, strategy: stages, state: "Run" },
    source: { path: "", document: 0, line: 1, column: 1 },
  };
  const notes = [`a run of ${key} by ${stages} is created now`];
  return { kind: "chosen", world: withRunInIt(world, run), focus: { placement: key, run: run.key }, notes };
}

function withRunInIt(world: World, run: UpdateRun): World {
  const runs = new Map([...world.intent.runs, [run.key, run] as const].sort(([a], [b]) => compareText(a, b)));
  return { ...world, intent: { ...world.intent, runs } };
}
