import { rememberedPair } from "../../src/core/model/identity.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import type { Plan, World } from "../../src/core/model/plan.ts";
import type { Quarantine } from "../../src/core/model/plan-defect.ts";
import type { PlacementKey } from "../../src/core/model/value.ts";
import { decisionVersion } from "../../src/core/plan/decision.ts";

/** What reconcilers run: it plans as ours does, and says that it decides by rules of this version. */
export interface Release {
  readonly decisionVersion: number;
}

/** What the first reconcilers run. */
export const ourRelease: Release = { decisionVersion };

type Quarantines = ReadonlyMap<PlacementKey, Quarantine>;

/** Gives the plan that a release makes: placements that another one put into quarantine it looks at again. */
export function planByRelease(world: World, release: Release, planner: (world: World) => Plan): Plan {
  const { ledger } = world;
  const read = readBy(ledger.quarantines, release);
  const seen = { ...ledger, quarantines: read };
  const decided = planner({ ...world, ledger: seen });
  if (decided.ledger === seen) return { ...decided, ledger };
  const { quarantines } = decided.ledger;
  return { ...decided, ledger: { ...decided.ledger, quarantines: written(quarantines, ledger.quarantines, release) } };
}

/** The version of no release. */
const others = -1;

/** What a release reads, as ours would read it. */
const readBy = rememberedPair(
  (quarantines: Quarantines, release: Release): Quarantines =>
    new Map([...quarantines].map(([key, it]) => [key, { ...it, decisionVersion: ownOf(it, release) }])),
);

const ownOf = (it: Quarantine, release: Release): number =>
  it.decisionVersion === release.decisionVersion ? decisionVersion : others;

/** What ours would write, as a release writes it. What it leaves alone stays the same object. */
function written(quarantines: Quarantines, before: Quarantines, release: Release): Quarantines {
  const read = readBy(before, release);
  if (quarantines === read) return before;
  return new Map(
    [...quarantines].map(([key, it]) => {
      const was = before.get(key);
      return [key, was !== undefined && read.get(key) === it ? was : { ...it, ...release }];
    }),
  );
}

/** D 10: what stays in quarantine failed under the commit that was read last, and by the rules of who decides. */
export function* outlived({ quarantines, sourceCommit }: Ledger, release: Release): Generator<string> {
  for (const { placement, commit, decisionVersion: version } of quarantines.values())
    if (commit !== sourceCommit || version !== release.decisionVersion)
      yield `${placement} stays in quarantine since ${commit} and version ${version}`;
}
