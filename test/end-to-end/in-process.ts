import { isDeepStrictEqual } from "node:util";
import { main } from "../../src/cmd/main.ts";

/** Where a command is typed. */
export interface Place {
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Where the commands are that run in this process; it can be in one place at a time. */
let here: { readonly place: Place; readonly leave: () => void; commands: number } | null = null;

/**
 * Runs one command line in this process, where its modules are loaded and compiled already. Null where that is impossible,
 * because a command of another place is not done yet.
 */
export async function runInProcess(
  args: readonly string[],
  place: Place,
): Promise<{ code: number; out: string; err: string } | null> {
  if (here !== null && !isDeepStrictEqual(here.place, place)) return null;
  here ??= { place, leave: enter(place), commands: 0 };
  here.commands += 1;
  const said = { out: "", err: "" };
  const terminal = {
    out: (text: string): void => {
      said.out += text;
    },
    err: (text: string): void => {
      said.err += text;
    },
    environment: place.environment,
  };
  try {
    return { code: await main(args, terminal), ...said };
  } finally {
    here.commands -= 1;
    if (here.commands === 0) {
      here.leave();
      here = null;
    }
  }
}

/** Makes this process be in a place; gives how it comes back. */
function enter({ cwd, environment }: Place): () => void {
  const [home, own] = [process.cwd(), { ...process.env }];
  process.chdir(cwd);
  setEnvironment(environment);
  return () => {
    process.chdir(home);
    setEnvironment(own);
  };
}

function setEnvironment(wanted: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (wanted[name] === undefined) delete process.env[name];
  Object.assign(process.env, wanted);
}
