import { describe, expect, test } from "vitest";
import { formerNamesPath, ledgerPath } from "../../../src/core/ledger/layout.ts";
import { readLedger } from "../../../src/core/ledger/reader.ts";
import { stateEdits } from "../../../src/core/ledger/writer.ts";
import { emptyLedger, type Ledger } from "../../../src/core/model/ledger.ts";
import type { ClusterName, Sequence } from "../../../src/core/model/value.ts";

const shown = { rowsOf: () => [], indexOf: () => "", selectedOf: () => [] };
const former = (uid: string, ...names: readonly string[]) =>
  [uid, { uid, names: names as readonly ClusterName[], since: 7 as Sequence }] as const;
const base: Ledger = { ...emptyLedger, fleet: "f", sequence: 9 as Sequence };
const renamed: Ledger = { ...base, formerNames: new Map([former("u1", "live-1", "prod-1"), former("u2", "prod-2")]) };

const filesOf = (ledger: Ledger): ReadonlyMap<string, string> =>
  new Map(
    stateEdits(emptyLedger, ledger, shown).flatMap((it) => (it.kind === "write" ? [[it.path, it.text] as const] : [])),
  );

describe("the names that clusters had", () => {
  test("stand in one file, by the cluster's uid, and are read back", () => {
    expect([...filesOf(base).keys()]).toEqual([ledgerPath]);
    expect(filesOf(renamed).get(formerNamesPath)).toBe(`clusters:
- uid: u1
  names:
  - live-1
  - prod-1
  since: 7
- uid: u2
  names:
  - prod-2
  since: 7
`);
    expect(readLedger(filesOf(renamed))).toEqual({ kind: "read", ledger: renamed });
  });

  test("go with the last of them", () => {
    expect(stateEdits(renamed, base, shown)).toEqual([{ kind: "remove", path: formerNamesPath }]);
  });

  const file = filesOf(renamed).get(formerNamesPath) ?? "";
  test.each([
    ["of one cluster twice", file.replace("u2", "u1"), '1:1: "clusters" names one cluster twice'],
    ["of none", file.replace("uid: u2\n", "uid: null\n"), '7:3: "uid" is missing'],
  ])("cannot be read when they tell %s", (_, text, want) => {
    expect(text).not.toBe(file);
    const read = readLedger(new Map(filesOf(renamed)).set(formerNamesPath, text));
    expect(read).toEqual({ kind: "unreadable", message: `${formerNamesPath}:${want}` });
  });
});
