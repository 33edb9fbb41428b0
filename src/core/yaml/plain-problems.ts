import type { Json } from "../model/json.ts";
import { tooManyProblems } from "./compose.ts";
import type { DuplicateKey } from "./plain-lines.ts";
import type { PlainPositions } from "./plain-yaml.ts";
import { ambiguityProblem, duplicateKey, maxTextProblems, type ProblemText } from "./problem-text.ts";
import { type JsonPath, maxProblems, type TextProblem } from "./problems.ts";
import { plainScalar } from "./scalar.ts";
import type { PositionOf } from "./text.ts";

/** What is doubtful in a plain document, in the order of the text and in the words of `kyaml.ts`. */
export function plainProblems(read: PlainPositions, positionOf: PositionOf): readonly TextProblem[] {
  const repeated = new Map<Json, DuplicateKey[]>();
  for (const it of read.duplicates) {
    const keys = repeated.get(it.mapping);
    if (keys === undefined) repeated.set(it.mapping, [it]);
    else keys.push(it);
  }
  const duplicates: Doubt[] = [];
  const ambiguous: Doubt[] = [];
  visit({ read, repeated, positionOf, duplicates, ambiguous }, read.value, []);
  const doubts = [...duplicates, ...ambiguous.sort(byOffset).slice(0, maxProblems)].sort(byOffset);
  const listed = doubts.slice(0, maxTextProblems).map(({ offset, at, problem }) => {
    const base = { severity: "error", got: null } as const;
    return { ...base, ...problem(), offset: read.offsetOf(offset), at };
  });
  return doubts.length > maxTextProblems ? [...listed, tooManyProblems] : listed;
}

interface Doubt {
  readonly offset: number;
  readonly at: JsonPath;
  /** Made for those that are listed. */
  readonly problem: () => ProblemText;
}

interface Visit {
  readonly read: PlainPositions;
  readonly repeated: ReadonlyMap<Json, readonly DuplicateKey[]>;
  readonly positionOf: PositionOf;
  readonly duplicates: Doubt[];
  readonly ambiguous: Doubt[];
}

function visit(of: Visit, value: Json, path: (string | number)[]): void {
  const { read, repeated, positionOf, duplicates } = of;
  const entries = read.positions.get(value);
  for (const { key, offset } of repeated.get(value) ?? []) {
    const first = read.offsetOf(entries?.get(key)?.[0] ?? 0);
    duplicates.push({ offset, at: [...path, key], problem: () => duplicateKey(positionOf(first).line) });
  }
  for (const [step, [, offset, is]] of entries ?? []) {
    path.push(step);
    if (read.ambiguous.has(offset)) noteAmbiguous(of, offset, path);
    visit(of, is, path);
    path.pop();
  }
}

function noteAmbiguous({ read, ambiguous }: Visit, offset: number, path: JsonPath): void {
  const text = read.ambiguous.get(offset) ?? "";
  const scalar = plainScalar(text);
  const problem = scalar.kind === "value" ? ambiguityProblem(text, scalar.value) : null;
  if (problem !== null) ambiguous.push({ offset, at: [...path], problem: () => problem });
}

const byOffset = (a: Doubt, b: Doubt): number => a.offset - b.offset;
