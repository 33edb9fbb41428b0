import { readLedger } from "../../src/core/ledger/reader.ts";
import type { Ledger } from "../../src/core/model/ledger.ts";
import { gitIn } from "../shell/git/hub.ts";

const branch = "fleet/state";

/** One commit of the state branch. */
export interface Decision {
  readonly commit: string;
  readonly parents: readonly string[];
  /** What its trailer says. */
  readonly sequence: number;
  readonly ledger: Ledger;
}

/** Everything that stands on the state branch, oldest first. */
export function historyOf(repo: string): readonly Decision[] {
  const format = "%H|%P|%(trailers:key=Ledger-Sequence,valueonly,separator=%x2C)";
  const rows = gitIn(repo, ["log", "--reverse", "--topo-order", `--format=${format}`, branch]).split("\n");
  const known = new Map<string, string>();
  return rows.map((row) => {
    const [commit = "", parents = "", sequence] = row.split("|");
    const files = [...filesAt(repo, commit, known)].filter(
      ([path]) => !/^(README\.md$|accepted\/|rendered\/)/.test(path),
    );
    const read = readLedger(new Map(files));
    if (read.kind !== "read") throw new Error(`${commit} cannot be read: ${read.message}`);
    const line = parents.split(" ").filter((it) => it !== "");
    return { commit, parents: line, sequence: Number(sequence), ledger: read.ledger };
  });
}

/** Every file of the state branch, at its tip or at a commit. Texts that are `known` by their ids are not read again. */
export function filesAt(
  repo: string,
  commit = branch,
  known: Map<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const rows = gitIn(repo, ["ls-tree", "-r", "--format=%(objectname) %(path)", commit]).split("\n");
  const ids = [...new Set(rows.map((it) => it.slice(0, 40)))].filter((it) => !known.has(it));
  const whole = Buffer.from(gitIn(repo, ["cat-file", "--batch"], ids.map((it) => `${it}\n`).join("")), "utf8");
  let at = 0;
  for (const id of ids) {
    const end = whole.indexOf("\n", at);
    const size = Number(whole.toString("utf8", at, end).split(" ")[2]);
    known.set(id, whole.toString("utf8", end + 1, end + 1 + size));
    at = end + 1 + size + 1;
  }
  return new Map(rows.map((it) => [it.slice(41), known.get(it.slice(0, 40)) ?? ""]));
}
