import { describe, expect, test } from "vitest";
import { recordedNamespaces } from "../../../src/core/members/namespaces.ts";
import type { NamespacesRecord } from "../../../src/core/model/ledger.ts";
import type { NamespacesSeen } from "../../../src/core/model/observation.ts";
import { placedNamespaces } from "../../../src/core/model/placement.ts";
import { type Instant, later, minutes, type PlacementKey } from "../../../src/core/model/value.ts";

const now = Date.parse("2026-11-02T08:00:00Z") as Instant;

/** `a b=web`: names with the labels of our mark. */
const named = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split(" ")
      .filter((it) => it !== "")
      .map((it) => it.split("=") as [string, string?])
      .map(([name, mark = ""]) => [name, mark]),
  );

const listed = (text: string): NamespacesSeen => ({ kind: "listed", names: named(text) });
const missing: NamespacesSeen = {
  kind: "missing",
  missing: { source: "namespaces", code: "Forbidden", message: "namespaces may not be read" },
};

const words = (it: NamespacesRecord | null): string | null =>
  it === null
    ? null
    : `${[...it.names].map(([name, mark]) => (mark === "" ? name : `${name}=${mark}`)).join(" ")}${it.isCut ? " …" : ""}`;

const record = (before: NamespacesRecord | null, seen: NamespacesSeen | undefined, at: Instant, placed = "team") =>
  recordedNamespaces(before, seen, { placed: new Set(placed.split(" ").filter((it) => it !== "")), now: at });

describe("what is recorded of the namespaces of a member", () => {
  const first = record(null, listed("default kube-system"), now).namespaces;
  const [soon, due] = [later(now, minutes(14)), later(now, minutes(15))];
  const cases: readonly [
    name: string,
    at: Instant,
    seen: NamespacesSeen | undefined,
    recorded: string | null,
    until: Instant | null,
  ][] = [
    ["the same is nothing new, ever", later(now, minutes(999)), listed("default kube-system"), null, null],
    ["the same in another order is nothing new", due, listed("kube-system default"), null, null],
    [
      "one that a placement lives in counts at once",
      soon,
      listed("default kube-system team"),
      "default kube-system team",
      null,
    ],
    ["another one waits for 15 minutes", soon, listed("default kube-system x"), null, due],
    ["one that goes waits as well", soon, listed("default"), null, due],
    ["another owner waits", soon, listed("default=web kube-system"), null, due],
    ["what waited comes along with what counts", soon, listed("default=web team x"), "default=web team x", null],
    ["what waited is recorded then", due, listed("default x"), "default x", null],
    ["none at all are recorded as none", due, listed(""), "", null],
    ["what may not be listed stays as recorded", due, missing, null, null],
    ["what nobody asked for stays as recorded", due, undefined, null, null],
  ];
  test.each(cases)("%s", (_, at, seen, recorded, until) => {
    const found = record(first, seen, at);
    if (recorded === null) expect(found.namespaces).toBe(first);
    else {
      expect(words(found.namespaces)).toBe(recorded);
      expect(found.namespaces?.recordedAt).toBe(at);
      expect(record(found.namespaces, seen, at).namespaces).toBe(found.namespaces);
    }
    expect(found.until).toBe(until);
  });

  test("one that goes, and that a placement lives in, counts at once", () => {
    const { namespaces } = record(null, listed("default team"), now);
    expect(words(record(namespaces, listed("default"), soon).namespaces)).toBe("default");
  });

  test("whoever asks about one that is there already changes nothing", () => {
    expect(record(first, listed("default kube-system"), soon, "default team").namespaces).toBe(first);
  });

  test("nothing is recorded of a member that never let them be listed", () => {
    expect(record(null, missing, now)).toEqual({ namespaces: null, until: null });
    expect(record(null, undefined, now)).toEqual({ namespaces: null, until: null });
  });

  test("none are recorded where no placement lives in any", () => {
    expect(record(first, listed("default"), soon, "")).toEqual({ namespaces: null, until: null });
  });

  const many = Array.from({ length: 250 }, (_, at) => `n${String(at).padStart(3, "0")}`).join(" ");

  test("of more than 200 the first by name, and first those that placements live in", () => {
    const { namespaces } = record(null, listed(`${many} team zoo`), now, "team absent zoo");
    expect(namespaces?.isCut).toBe(true);
    expect([...(namespaces?.names.keys() ?? [])]).toEqual([...many.split(" ").slice(0, 198), "team", "zoo"]);
  });

  test("beyond 200, one that somebody begins to ask about is recorded at once", () => {
    const { namespaces } = record(null, listed(`${many} team zoo`), now);
    expect(namespaces?.names.has("zoo")).toBe(false);
    expect(record(namespaces, listed(`${many} team zoo`), soon, "team zoo").namespaces?.names.has("zoo")).toBe(true);
    expect(record(namespaces, listed(`${many} team zoo`), soon).namespaces).toBe(namespaces);
  });

  test("exactly 200 are not cut", () => {
    const { namespaces } = record(null, listed(many.split(" ").slice(0, 200).join(" ")), now);
    expect([namespaces?.names.size, namespaces?.isCut]).toEqual([200, false]);
  });
});

test("placements live in the namespaces of those of teams, each once", () => {
  const placements = ["b", null, "a", "b"].map((namespace, at) => [`p${at}` as PlacementKey, { namespace }] as const);
  expect([...placedNamespaces(new Map(placements))]).toEqual(["a", "b"]);
  expect(placedNamespaces(new Map()).size).toBe(0);
});
