// Commits that carry a signature: made alike by both engines, and verified by git.
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Instant } from "../../../src/core/model/value.ts";
import { openRepository } from "../../../src/shell/git/open.ts";
import type { Proposal } from "../../../src/shell/reconcile/ports.ts";
import { signingKeyOf } from "../../../src/shell/signature/ssh-sign.ts";
import { hasSshKeygen } from "../signature/workshop.ts";
import { type GitServer, serveGit } from "./http-server.ts";
import { hubWithSource } from "./hub.ts";

const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
const key = signingKeyOf(pem);
if (key.kind === "unusable") throw new Error(key.message);
const { sign, publicKey } = key;

let server: GitServer;
beforeAll(async () => {
  server = await serveGit({ root: "/" });
});
afterAll(() => server.close());

const proposal: Proposal = {
  parent: null,
  edits: [{ kind: "write", path: "ledger.yaml", text: "sequence: 1\n" }],
  message: "Łódź bekommt Grüße\n\nLedger-Sequence: 1\n",
  at: Date.UTC(2026, 10, 21) as Instant,
};

/** What stands on the state branch after two commits made in that way, and whether git believes them. */
async function written(way: "path" | "http" | "iso", isSigned: boolean): Promise<readonly string[]> {
  const hub = hubWithSource("hub.git");
  const path = `${hub.folder}/${hub.name}`;
  const repository = await openRepository({
    repo: way === "path" ? path : server.url(path.slice(1)),
    ...{ branch: "main", stateBranch: "fleet/state", engine: way === "iso" ? "iso" : "program", token: null },
    cacheFolder: `${hub.folder}/cache`,
    ...(isSigned ? { sign } : {}),
  });
  try {
    await repository.heads();
    const first = await repository.commit(proposal);
    if (first.kind === "superseded") throw new Error("superseded");
    const edits = [{ kind: "write", path: "ledger.yaml", text: "sequence: 2\n" }] as const;
    await repository.commit({ ...proposal, parent: first.commit, edits });
    expect(await repository.commit({ ...proposal, message: "too late\n" })).toEqual({ kind: "superseded" });
    const { state } = await repository.heads();
    const lineage = (await repository.firstParents?.(state as never, 5)) ?? [];
    const ids = hub.git("rev-list", "refs/heads/fleet/state").split("\n");
    expect(lineage.map((it) => it.commit)).toEqual(ids);
    expect((await repository.firstParents?.(state as never, 1))?.map((it) => it.commit)).toEqual(ids.slice(0, 1));
    if (isSigned && hasSshKeygen) {
      writeFileSync(`${hub.folder}/allowed`, `flotilla@localhost ${publicKey}\n`);
      for (const it of ids) hub.git("-c", `gpg.ssh.allowedSignersFile=${hub.folder}/allowed`, "verify-commit", it);
    }
    hub.git("fsck", "--strict");
    expect(hub.git("for-each-ref", "refs/flotilla")).toBe("");
    return ids;
  } finally {
    await repository.close();
    hub.remove();
  }
}

describe("commits that are signed", () => {
  test("are the same by every way, verify with git, and differ from those without", async () => {
    const signed = await written("path", true);
    expect(await written("http", true)).toEqual(signed);
    expect(await written("iso", true)).toEqual(signed);
    expect(await written("path", false)).not.toEqual(signed);
  });
});
