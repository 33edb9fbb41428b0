// Commands that only read, in a clone that never had the state branch as one of its own.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readableHub } from "../../src/cmd/hub/wire.ts";
import { main } from "../../src/cmd/main.ts";
import { type Clone, clonesWith } from "../shell/git/clone.ts";
import { recordStateIn } from "./record-state.ts";
import { ledgerOf, on, succeeded, web } from "./rollout-ledger.ts";

const clones = clonesWith({ "members.yaml": "# none yet\n" });
let place: Clone;
beforeEach(() => {
  place = clones();
  recordStateIn(place, ledgerOf([web([on("east", 3)])], [succeeded("a", 1, 3)]));
});
afterEach(() => place.remove());

async function flotilla(...argv: readonly string[]) {
  const said = { out: "", err: "" };
  const code = await main([...argv, "--repo", place.path], {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    environment: {},
  });
  return { code, ...said };
}

/** The same, whenever it was said. */
const ageless = (it: { readonly code: number; readonly out: string; readonly err: string }) => ({
  ...it,
  err: it.err.replace(/recorded \d+ \S+ ago/, "recorded some time ago"),
});

const note = "note: fleet/state is read from origin/fleet/state, as of the last git fetch\n";

describe("what was fetched will do", () => {
  test.each([
    ["get", "runs"],
    ["get", "placements", "-o", "name"],
    ["describe", "run", "a"],
    ["explain", "web"],
    ["plan", "-o", "json"],
  ])("for flotilla %s %s, which says as of when that is", async (...argv) => {
    place.git("fetch", "--quiet");
    const fetched = await flotilla(...argv);
    place.git("branch", "--quiet", "--no-track", "fleet/state", "origin/fleet/state");
    const own = await flotilla(...argv);
    expect(ageless(fetched)).toEqual(ageless({ ...own, err: note + own.err }));
  });

  test("for verify", async () => {
    expect(await flotilla("verify")).toMatchObject({ code: 69, out: "" });
    place.git("fetch", "--quiet");
    const { out, err } = await flotilla("verify");
    expect([err.startsWith(note), out]).toEqual([true, expect.stringMatching(/^chain +1 commit\b/)]);
  });
});

test("the branch itself comes before what was fetched of it, and then nothing is said of that", async () => {
  place.git("fetch", "--quiet");
  place.git("branch", "--quiet", "--no-track", "fleet/state", "main");
  const { code, err } = await flotilla("get", "runs");
  expect([code, err]).toEqual([
    69,
    expect.stringMatching(/^error: reading the state branch of .*: ledger.yaml is missing/),
  ]);
});

test.each([
  ["the default", () => null],
  ["a hub without a clone's branches", () => join(place.hub.folder, place.hub.name)],
  ["a URL", () => "https://git.invalid/fleet.git"],
])("nothing is looked for at %s", async (_, repo) => {
  const hub = { repo: repo(), branch: "main", stateBranch: "fleet/state", git: "auto", cache: null } as const;
  let said = "";
  const err = (text: string): void => {
    said += text;
  };
  expect([await readableHub(hub, { err }), said]).toEqual([hub, ""]);
});
