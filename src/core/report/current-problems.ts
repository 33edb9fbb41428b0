import { conditionOf } from "../model/condition.ts";
import type { Intent, Problem } from "../model/intent.ts";
import type { Ledger } from "../model/ledger.ts";
import type { SourcePosition } from "../model/manifest.ts";

/** Codes of problems with names that an object refers to. */
const aboutNames: ReadonlySet<string> = new Set(["FLT1314", "FLT1317", "FLT1335"]);

type Recorded = Pick<Ledger, "runs" | "evictions">;

/** The problems but those of history: what ended runs and processed evictions refer to may be gone. */
export function currentProblems(intent: Intent, recorded: Recorded): readonly Problem[] {
  const { problems } = intent;
  if (!problems.some((it) => aboutNames.has(it.code))) return problems;
  const past = pastSources(intent, recorded);
  if (past.length === 0) return problems;
  const lines = new Map(past.map(({ path }) => [path, [] as number[]]));
  for (const { path, line } of sourcesIn(intent)) lines.get(path)?.push(line);
  const isPast = ({ code, path, line }: Problem): boolean => {
    if (!aboutNames.has(code)) return false;
    const begins = Math.max(0, ...(lines.get(path) ?? []).filter((it) => it <= line));
    return past.some((it) => it.path === path && it.line === begins);
  };
  return problems.filter((it) => !isPast(it));
}

function pastSources({ runs, evictions }: Intent, recorded: Recorded): readonly SourcePosition[] {
  const ended = [...runs].filter(([key]) => {
    const record = recorded.runs.get(key);
    return record != null && record.end !== null && record.plan !== null;
  });
  const judged = [...evictions].filter(([name]) => {
    const record = recorded.evictions.get(name);
    return record !== undefined && conditionOf(record.conditions, "Valid")?.status === "True";
  });
  return [...ended, ...judged].map(([, it]) => it.source);
}

/** The sources of all objects, to find the one that a line belongs to. */
function* sourcesIn(intent: Intent): Iterable<SourcePosition> {
  for (const part of Object.keys(sourcedParts) as SourcedPart[])
    for (const it of intent[part].values()) yield it.source;
}

interface Sourced {
  values(): Iterable<{ readonly source: SourcePosition }>;
}

/** What of an intent stands in the source branch object by object. */
type SourcedPart = { [Part in keyof Intent]: Intent[Part] extends Sourced ? Part : never }[keyof Intent];

/** All of them: one that is missing does not compile. */
const sourcedParts: Readonly<Record<SourcedPart, true>> = {
  clusters: true,
  placements: true,
  overrides: true,
  strategies: true,
  runs: true,
  evictions: true,
  budgets: true,
  objects: true,
};
