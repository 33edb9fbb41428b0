// What the commands that only read say of placements in quarantine (D 10), those included that were never planned soundly.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import type { Quarantine } from "../../src/core/model/plan-defect.ts";
import type { Commit, Instant, PlacementKey } from "../../src/core/model/value.ts";
import { type Clone, clonesWith } from "../shell/git/clone.ts";
import { recordStateIn } from "./record-state.ts";
import { ledgerOf, memberRecord, on, web } from "./rollout-ledger.ts";

const clones = clonesWith({ "members.yaml": "# none yet\n" });
let place: Clone;
beforeEach(() => {
  place = clones();
});
afterEach(() => place.remove());

const quarantine = (placement: string): [PlacementKey, Quarantine] => [
  placement as PlacementKey,
  {
    placement: placement as PlacementKey,
    since: Date.UTC(2026, 10, 21, 9) as Instant,
    commit: "c".repeat(40) as Commit,
    decisionVersion: 1,
    violations: [{ code: "TargetSequenceWrong", message: `dates the target of ${placement} on east wrongly` }],
  },
];

/** `web` stands on east, and is in quarantine if it is named; of all others nothing is on record. */
function recorded(...names: readonly string[]): void {
  const ledger: Ledger = { ...ledgerOf([web([on("east", 3)])], []), quarantines: new Map(names.map(quarantine)) };
  recordStateIn(place, ledger);
  place.git("fetch", "--quiet");
}

async function flotilla(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  let out = "";
  const say = (text: string): void => {
    out += text;
  };
  const code = await main([...argv, "--repo", place.path], { out: say, err: () => {}, environment: {} });
  return { code, out };
}

const why = (placement: string, never = ""): string =>
  `${placement} is in quarantine since 2026-11-21T09:00:00Z: ${never}stays as recorded until the source changes, because of a ` +
  `defect in Flotilla: TargetSequenceWrong: the plan dates the target of ${placement} on east wrongly`;
const never = "was never placed, and ";

describe("D 10: a placement in quarantine of which nothing else is on record", () => {
  test("stands in the table with all others, with the violation", async () => {
    recorded("new", "shop/late");
    const { code, out } = await flotilla("get", "placements", "-A");
    const rows = out.split("\n").map((it) => it.trim().split(/ +/));
    expect(code).toBe(0);
    expect(rows.map(([namespace, name, , , , , , state]) => `${namespace} ${name} ${state}`).slice(1, 4)).toEqual([
      "- new Quarantined",
      "shop late Quarantined",
      expect.stringMatching(/^- web /),
    ]);
    expect(out).toContain(`\n${why("new", never)}\n`);
    expect(out).toContain(`\n${why("shop/late", never)}\n`);
    expect(out).not.toContain("web is in quarantine");
  });

  test.each([[["get", "placements", "new"]], [["explain", "new"]]])(
    "is known by its name: flotilla %j",
    async (argv) => {
      recorded("new");
      const { code, out } = await flotilla(...argv);
      expect(code).toBe(0);
      expect(out).toContain(why("new", never));
    },
  );

  test("is explained for a cluster that there is, and not for another one", async () => {
    const ledger = { ...ledgerOf([], [], [memberRecord("east")]), quarantines: new Map([quarantine("new")]) };
    recordStateIn(place, ledger);
    place.git("fetch", "--quiet");
    expect(await flotilla("explain", "new", "--cluster", "east")).toEqual({
      code: 0,
      out: expect.stringContaining(why("new", never)),
    });
    expect(await flotilla("explain", "new", "--cluster", "esat")).toEqual({ code: 64, out: "" });
  });

  test("is an object with a status for programs", async () => {
    recorded("shop/late");
    const condition = {
      type: "ResourcePlacementPlanned",
      status: "False",
      reason: "Quarantined",
      lastTransitionTime: "2026-11-21T09:00:00Z",
      message: expect.stringContaining("TargetSequenceWrong"),
    };
    const object = {
      apiVersion: "placement.kubernetes-fleet.io/v1beta1",
      kind: "ResourcePlacement",
      metadata: { name: "late", namespace: "shop" },
      status: { conditions: [condition] },
    };
    expect(JSON.parse((await flotilla("get", "placements", "shop/late", "-o", "json")).out).items).toEqual([object]);
    expect(JSON.parse((await flotilla("explain", "shop/late", "-o", "json")).out)).toEqual(object);
    expect((await flotilla("get", "placements", "shop/late", "-o", "name")).out).toMatch(/resourceplacement.*late/);
  });
});

test("D 10: of a placement in quarantine that is on record, the table names the violation", async () => {
  recorded("web");
  const { out } = await flotilla("get", "placements");
  expect(out).toContain(`\n${why("web")}\n`);
});
