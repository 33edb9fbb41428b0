import { parseArgs } from "node:util";
import { type CaseName, caseNames } from "./cases.ts";
import { type Part, parts } from "./parts.ts";

/** What the bench is to do. */
export interface Options {
  readonly members: number;
  readonly placements: number;
  readonly picks: number;
  readonly only: Part | null;
  readonly cases: ReadonlySet<CaseName>;
  readonly kubeconfig: string | null;
  readonly real: number | null;
  readonly json: boolean;
  readonly profile: string | null;
  readonly hurry: boolean;
  /** Signed ones, for `approval` and `verify`. */
  readonly commits: number;
  /** How long a soak goes on. */
  readonly minutes: number;
  readonly limitMs: number;
}

/** What `--help` says. */
export const help = `npm run bench -- [options]

  --members N      how many members (100; 1000 with --only schedule)
  --placements N   how many placements (100; 1000 with --only schedule)
  --picks N        members that each placement picks (20; 100 with --only schedule); as many as there are: PickAll
  --cases A,B      of ${caseNames.join(", ")} (all)
  --only PART      schedule: what placements with preferences and spread constraints cost to schedule
                   plan: deciding alone, members and repository in memory
                   git: deciding and the real repository, members in memory
                   apply: deciding and real or embedded members, repository in memory
                   approval: finding out who signed one approval, and 10,000 commits of a real repository
                   verify: auditing 10,000 signed commits of a state branch, which are made first
                   text: reading files of 1 MiB, hostile ones and large ones
                   collect: what nodes and pods of 100 members cost to list
                   soak: a daemon's memory, while somebody pushes one change a second
  --commits N      how many, instead of 10,000
  --minutes N      how long a soak goes on (60)
  --kubeconfig F   fresh clusters that run already, all contexts of F: Namespace and ConfigMap, PickAll; all of it stays there
  --real N         the same on N API servers that are started for it, each with an etcd
  --json           JSON instead of a table
  --profile DIR    write a CPU profile of the reconciler for each case to DIR, and say where the time went
  --hurry          leave out what the daemon records ten seconds later, and the growth of the history with it
  --limit SECONDS  longest wait for one case (1800)
`;

/** Reads a command line; a text says what is wrong with it. */
export function optionsOf(argv: readonly string[]): Options | string {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    args: [...argv],
    options: {
      members: text,
      placements: text,
      picks: text,
      only: text,
      cases: text,
      kubeconfig: text,
      real: text,
      commits: text,
      minutes: text,
      json: flag,
      profile: text,
      hurry: flag,
      limit: text,
      help: flag,
    },
  });
  if (values.help === true) return help;
  const wrong: string[] = [];
  const number = (
    name: "members" | "placements" | "picks" | "real" | "limit" | "commits" | "minutes",
    otherwise: number,
  ): number => {
    const value = Number(values[name] ?? otherwise);
    if (!Number.isInteger(value) || value < 1) wrong.push(`--${name} takes a number from 1 up`);
    return value;
  };
  const cases = (values.cases?.split(",") ?? caseNames) as readonly CaseName[];
  for (const it of cases)
    if (!caseNames.includes(it)) wrong.push(`${it} is no case; there are ${caseNames.join(", ")}`);
  const only = (values.only ?? null) as Part | null;
  if (only !== null && !parts.includes(only)) wrong.push(`--only takes ${parts.join(", ")}`);
  const options: Options = {
    members: number("members", only === "schedule" ? 1000 : 100),
    placements: number("placements", only === "schedule" ? 1000 : 100),
    picks: number("picks", only === "schedule" ? 100 : 20),
    only,
    cases: new Set(cases),
    kubeconfig: values.kubeconfig ?? null,
    real: values.real === undefined ? null : number("real", 1),
    json: values.json === true,
    profile: values.profile ?? null,
    hurry: values.hurry === true,
    commits: number("commits", 10_000),
    minutes: number("minutes", 60),
    limitMs: number("limit", 1800) * 1000,
  };
  if (only === "schedule" && options.members < 3) wrong.push("--only schedule takes 3 members or more");
  return wrong.length > 0 ? wrong.join("\n") : options;
}
