import type { Buffer } from "node:buffer";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { commitBytes, commitId } from "../../../src/shell/signature/commit-bytes.ts";
import { type Corpus, makeCorpus } from "./corpus.ts";
import { mutant, randomOf } from "./mutator.ts";
import { hasSshKeygen, signatureOf } from "./workshop.ts";

/** `FUZZ=1000000 npx vitest run test/shell/signature/fuzz` is a long walk; `SEED=7` another one. */
const count = Number(process.env["FUZZ"] ?? 3000);
const seed = Number(process.env["SEED"] ?? 1);
const now = Date.now() as Instant;

let corpus: Corpus;
beforeAll(() => {
  corpus = makeCorpus(count > 100_000 ? "all" : "few");
});
afterAll(() => corpus?.workshop.close());

test.skipIf(!hasSshKeygen)(
  `of ${count} commits broken at random, none is accepted that git refuses or reads differently`,
  { timeout: 60_000 + count * 5 },
  async () => {
    const { specimens, certificates } = corpus;
    const originals = specimens.map((it) => it.raw);
    const random = randomOf(seed);
    const accepted = new Map<string, Buffer>();
    const codes = new Map<string, number>();
    for (let left = count; left > 0; left--) {
      const original = originals[random(originals.length)]!; // Below their number.
      const raw = mutant(original, originals, random);
      const fact = await signatureOf(raw, certificates, now);
      const name = nameOf(fact);
      codes.set(name, (codes.get(name) ?? 0) + 1);
      if (isGood(fact) && !raw.equals(original)) accepted.set(commitId(raw), raw);
    }
    if (count > 10_000) {
      const tally = [...codes].map(([name, times]) => `${name} ${times}`).join(", ");
      console.log(`${count} mutants: ${tally}; changed ${accepted.size}`);
    }
    // One that changed, and still verifies, is rare, and what all of this is for.
    expect(accepted.size).toBeGreaterThan(0);
    const wrong = refusedByGit([...accepted.values()]);
    expect(wrong.map((it) => it.toString("latin1"))).toEqual([]);
  },
);

const isGood = (fact: SignatureFact): boolean => fact.kind === "ssh" || fact.kind === "openpgp";
const nameOf = (fact: SignatureFact): string => (fact.kind === "rejected" ? fact.code : fact.kind);

/** Those that git does not verify, or whose tree or parents it takes for others than we. */
function refusedByGit(raws: readonly Buffer[]): readonly Buffer[] {
  const { plant, attempt, git, gitAccepts } = corpus.workshop;
  const wrong: Buffer[] = [];
  for (let at = 0; at < raws.length; at += 100) {
    const some = raws.slice(at, at + 100);
    const ids = some.map(plant);
    const isFine = attempt("git", ["verify-commit", ...ids]).code === 0;
    const seen = git("show", "-s", "--format=%H %T %P", ...ids)
      .split("\n")
      .map((it) => it.trim());
    wrong.push(...some.filter((raw, its) => (!isFine && !gitAccepts(raw)) || seen[its] !== asWeRead(raw)));
  }
  return wrong;
}

function asWeRead(raw: Buffer): string {
  const read = commitBytes(raw);
  return read.kind === "rejected" ? "" : [commitId(raw), read.tree, ...read.parents].join(" ");
}
