/** How far a walk goes: a piece of it in `npm test`, and all of it where there is time. */
export interface WalkLengths {
  readonly short: number;
  readonly full: number;
}

/** Whether walks go all the way: `WALKS=full`, as in `.ci/run`. */
export const walksAreFull = process.env["WALKS"] === "full";

/**
 * How far a test goes that could go on for as long as anybody likes, over random seeds for instance: as far as its variable
 * says, else all the way with `WALKS=full`, as in `.ci/run`, else a short way, so that `npm test` stays quick.
 */
export function walkLength(variable: string, { short, full }: WalkLengths): number {
  const asked = process.env[variable] ?? "";
  if (asked !== "") return Number(asked);
  return walksAreFull ? full : short;
}
