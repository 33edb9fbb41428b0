import { expect, test } from "vitest";
import { decodeBlob } from "../../../src/core/intent/documents.ts";
import type { BlobId } from "../../../src/core/model/value.ts";
import { newDecodedFiles } from "../../../src/shell/reconcile/decoded-files.ts";

test("what two readings did not ask for is forgotten, what one of them asked for is kept", () => {
  const files = newDecodedFiles();
  const file = decodeBlob(new Uint8Array());
  const [a, b] = ["a", "b"] as readonly string[] as [BlobId, BlobId];
  files.set(a, file);
  files.set(b, file);
  const kept: boolean[] = [];
  for (let reading = 0; reading < 3; reading++) {
    files.turn();
    kept.push(files.get(a) === file);
  }
  expect([kept, files.get(b)]).toEqual([[true, true, true], undefined]);
});
