// A repository that people sign commits in, and what a process makes of its history.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readTrust } from "../../../src/core/intent/trust/trust-file.ts";
import type { History } from "../../../src/core/model/history.ts";
import { emptyLedger, type Ledger } from "../../../src/core/model/ledger.ts";
import type { Trust, TrustRecord } from "../../../src/core/model/trust.ts";
import type { Commit, Digest, Instant, Sequence } from "../../../src/core/model/value.ts";
import { openRepository } from "../../../src/shell/git/open.ts";
import { readHistory } from "../../../src/shell/reconcile/history.ts";
import { type Memory, newMemory } from "../../../src/shell/reconcile/memory.ts";
import type { Repository, Settings } from "../../../src/shell/reconcile/ports.ts";
import { readSource } from "../../../src/shell/reconcile/source.ts";
import { verifier } from "../../../src/shell/signature/verifier.ts";
import { openWorkshop, type Signer, sshSigner, type Workshop } from "../signature/workshop.ts";
import { once } from "./stage.ts";

export interface SignedHub {
  readonly workshop: Workshop;
  readonly ann: Signer;
  readonly bob: Signer;
  readonly repository: Repository;
  /** What was asked for since this was emptied: `history <head> <base>`, `commit <id>`, `detached`. */
  readonly asked: string[];
  /** Writes files and commits them; null: nobody signs. */
  push(signer: Signer | null, files: Readonly<Record<string, string>>): Commit;
  /** An armored signature, made by ssh-keygen. */
  sign(signer: Signer, namespace: string, text: string): string;
  /** What a process sees. Where nothing else is said it remembers nothing. */
  look(about?: Partial<Look>): Promise<History>;
  close(): Promise<void>;
}

interface Look {
  readonly ledger: Partial<Ledger>;
  readonly anchor: Digest | null;
  readonly memory: Memory;
  readonly settings: Partial<Settings>;
  readonly now: Instant;
}

export const noon = Date.parse("2026-11-21T12:00:00Z") as Instant;

export async function signedHub(): Promise<SignedHub> {
  const workshop = openWorkshop();
  const asked: string[] = [];
  const { root, repository: folder } = workshop;
  const real = await openRepository({
    ...{ repo: folder, branch: "main", stateBranch: "fleet/state", engine: "program", token: null },
    cacheFolder: join(root, "cache"),
  });
  const repository = noting(real, asked);
  const ports = { repository, verifier: notingVerifier(asked) };
  return {
    ...{ workshop, ann: sshSigner(workshop, "ann"), bob: sshSigner(workshop, "bob"), repository, asked },
    push(signer, files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
      workshop.git("add", "--all");
      if (signer === null) workshop.git("commit", "-q", "--allow-empty", "-m", "unsigned");
      else workshop.commit(signer, "signed");
      return workshop.git("rev-parse", "HEAD") as Commit;
    },
    sign: (signer, namespace, text) =>
      workshop.run("ssh-keygen", ["-q", "-Y", "sign", "-n", namespace, "-f", signer.key], text).toString("utf8"),
    async look({ ledger: more = {}, anchor = null, memory = newMemory(), settings = {}, now = noon } = {}) {
      const ledger = { ...emptyLedger, ...more };
      const { source: head } = await repository.heads();
      const state = { commit: null, ledger, accepted: new Map(), held: new Map() };
      const how = { memory, settings: { ...once, ...settings } };
      const source = await readSource(repository, head as Commit, state, how);
      return readHistory(ports, memory, { source, ledger, anchor, now });
    },
    async close() {
      await repository.close();
      workshop.close();
    },
  };
}

const noting = (repository: Repository, asked: string[]): Repository => ({
  name: repository.name,
  heads: () => repository.heads(),
  files: (...it) => repository.files(...it),
  blobs: (...it) => repository.blobs(...it),
  descends: (...it) => repository.descends(...it),
  history: (head, base, limit) => {
    asked.push(`history ${head} ${base}`);
    return repository.history(head, base, limit);
  },
  commit: (it) => repository.commit(it),
  close: () => repository.close(),
});

const notingVerifier = (asked: string[]): typeof verifier => ({
  commit: (from, ...how) => {
    asked.push(`commit ${from.commit}`);
    return verifier.commit(from, ...how);
  },
  detached: (...how) => {
    asked.push("detached");
    return verifier.detached(...how);
  },
});

/** `SHA256:…` of somebody's key, as ssh-keygen prints it. */
export const fingerprintOf = ({ workshop }: SignedHub, { key }: Signer): string =>
  workshop
    .run("ssh-keygen", ["-l", "-f", `${key}.pub`])
    .toString("utf8")
    .split(" ")[1] ?? "";

/** A trust file of Ann and Bob; with an OpenPGP certificate, that is Bob's too. */
export function trustText({ ann, bob }: SignedHub, version = 1, certificate: string | null = null): string {
  const keyOf = ({ key }: Signer): string => readFileSync(`${key}.pub`, "utf8").trim();
  const pgp = certificate === null ? "" : `, openpgp: [${JSON.stringify(certificate)}]`;
  const previous = version === 1 ? "" : `  previous: ${"cd".repeat(32)}\n`;
  return `apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: ${version}
${previous}  expires: "2027-10-01T00:00:00Z"
  threshold: 1
  roots: [ann]
  principals:
    ann: {human: true, keys: ["${keyOf(ann)}"]}
    bob: {human: true, keys: ["${keyOf(bob)}"]${pgp}}
`;
}

/** A trust file in force since it came with `first`. */
export function inForce(text: string, first: Commit): TrustRecord {
  const { trust, problems } = readTrust(text);
  if (trust === null) throw new Error(JSON.stringify(problems));
  return { trust: trust as Trust, text, since: 1 as Sequence, from: first, first, by: "anchor" };
}
