import { describe, expect, it, test } from "vitest";
import { decodeBlob } from "../../../src/core/intent/documents.ts";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { BlobId } from "../../../src/core/model/value.ts";
import { newDecodedFiles, newFactCache } from "../../../src/shell/reconcile/memory.ts";
import { openpgp, rejected, ssh } from "../../core/trust/scene.ts";

test("what two readings did not ask for is forgotten, what one of them asked for is kept", () => {
  const files = newDecodedFiles();
  const file = decodeBlob(new Uint8Array());
  const [a, b] = ["a", "b"] as readonly string[] as [BlobId, BlobId];
  files.set(a, file);
  files.set(b, file);
  const kept: boolean[] = [];
  for (let reading = 0; reading < 3; reading++) {
    files.rotate();
    kept.push(files.get(a) === file);
  }
  expect([kept, files.get(b)]).toEqual([[true, true, true], undefined]);
});

const facts: readonly (readonly [string, SignatureFact])[] = [
  ["ssh", ssh("ann")],
  ["unsigned", { kind: "unsigned" }],
  ["openpgp", openpgp("B0B")],
  ["rejected", rejected("UnknownKey")],
];

describe("a cache of facts about signatures", () => {
  const same: readonly string[] = ["a certificate"];
  it.each([
    ["the same certificates in the same period", same, 1, ["ssh", "unsigned", "openpgp", "rejected"]],
    ["other certificates", ["a certificate"], 1, ["ssh", "unsigned"]],
    ["a later period", same, 2, ["ssh", "unsigned"]],
  ] as const)("remembers with %s what they do not change", (_, certificates, period, kept) => {
    const cache = newFactCache<SignatureFact>(10);
    cache.expireFor(same, 1);
    for (const [key, fact] of facts) cache.set(key, fact, fact);
    cache.expireFor(certificates, period);
    expect(facts.filter(([key, fact]) => cache.get(key) === fact).map(([key]) => key)).toEqual(kept);
  });

  it("forgets what is oldest, and first what does not hold for good", () => {
    const cache = newFactCache<SignatureFact>(2);
    for (const [key, fact] of [...facts, facts[0] ?? expect.fail()].slice(1)) cache.set(key, fact, fact);
    expect(facts.flatMap(([key]) => (cache.get(key) === undefined ? [] : [key]))).toEqual(["ssh", "unsigned"]);
    cache.set("another", ssh("bob"), ssh("bob"));
    expect(["ssh", "unsigned", "another"].filter((key) => cache.get(key) !== undefined)).toEqual(["ssh", "another"]);
  });
});
