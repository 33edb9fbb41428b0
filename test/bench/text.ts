import { fork } from "node:child_process";
import { heavyTexts, largeTexts } from "../core/yaml/heavy-texts.ts";

/** What reading one file cost. */
export interface TextOutcome {
  readonly name: string;
  readonly refused: boolean;
  /** Milliseconds by the clock, and of the thread on a core: what it takes where nothing else runs. */
  readonly took: number;
  readonly cpu: number;
  /** By how many MiB the resident memory grew, at its peak. */
  readonly memory: number;
  /** How many the library was handed. */
  readonly tokens: number;
}

/** Has every text read by a process of its own, one after the other. `program` is the bundled `decode.ts`. */
export async function measureTexts(program: string): Promise<readonly TextOutcome[]> {
  const outcomes: TextOutcome[] = [];
  for (const name of [...heavyTexts.keys(), ...largeTexts.keys()])
    outcomes.push(
      await new Promise((resolve, reject) => {
        const child = fork(program);
        child.once("message", (it) => {
          resolve(it as TextOutcome);
          child.disconnect();
        });
        child.once("close", (code) => reject(new Error(`reading ${name} ended with ${code}`)));
        child.send(name);
      }),
    );
  return outcomes;
}
