// A reconciler that signs takes nothing for its record that neither it nor a machine of the trust file signed.
import { afterEach, describe, expect, test } from "vitest";
import type { Commit } from "../../../src/core/model/value.ts";
import { Fault } from "../../../src/shell/reconcile/fault.ts";
import type { Repository, StateSigning } from "../../../src/shell/reconcile/ports.ts";
import { firstParentHistory } from "../../../src/shell/reconcile/repository-queries.ts";
import { hasSshKeygen, sshSigner } from "../signature/workshop.ts";
import { type AuditedHub, auditedHub } from "./audited-hub.ts";
import { withRepository } from "./stage.ts";

describe.skipIf(!hasSshKeygen)("a reconciler with a signing key", () => {
  let hub: AuditedHub;
  afterEach(() => hub.close());

  const begin = async (how: { readonly signed?: boolean } = {}): Promise<void> => {
    hub = await auditedHub(how);
    await hub.settle();
  };
  const ours = (accepted: Commit | null = null): StateSigning => ({ fingerprint: hub.key.fingerprint, accepted });
  const refusal = async (seal: StateSigning): Promise<string> => {
    const error = await hub.onePass(seal).catch((it: unknown) => it);
    if (!(error instanceof Fault)) return expect.fail(`it passed: ${JSON.stringify(error).slice(0, 200)}`);
    expect(error.fix).toContain("--accept-state");
    return `${error.code}: ${error.message}`;
  };

  test("signs every commit, and git agrees", async () => {
    await begin();
    const { workshop } = hub;
    const commits = workshop.git("rev-list", "refs/heads/fleet/state").split("\n");
    expect(commits.length).toBeGreaterThan(1);
    for (const it of commits) expect(workshop.attempt("git", ["verify-commit", it])).toMatchObject({ code: 0 });
    expect((await hub.onePass()).kind).toBe("passed");
  });

  test.each([
    ["nobody signed", () => null, "is not signed"],
    ["a person signed", () => hub.keyOf(hub.bob), "is signed by bob, who is a person"],
    [
      "somebody signed whom nobody knows",
      () => hub.keyOf(sshSigner(hub.workshop, "eve", "-t", "ed25519")),
      "which does not count",
    ],
  ])(
    "writes nothing on top of a commit that %s, also in a process that remembers nothing",
    async (_, signer, words) => {
      await begin();
      const before = hub.head();
      const commit = hub.forge({ signer: signer() });
      expect(await refusal(ours())).toContain(`StatusTampered: commit ${commit} is`);
      expect(await refusal(ours())).toContain(words);
      expect([hub.head(), before === commit]).toEqual([commit, false]);
    },
  );

  test("goes on once the operator accepts what stands there, and only that", async () => {
    await begin();
    const first = hub.forge({});
    expect((await hub.onePass(ours(first))).kind).toBe("passed");
    const next = hub.forge({ on: first });
    expect(await refusal(ours(first))).toContain(`commit ${next} is not signed`);
  });

  test("does not believe a branch that it never signed, whatever trust file that brings", async () => {
    await begin({ signed: false });
    expect(await refusal(ours())).toContain("is not signed by this key, and neither is any commit before it");
    expect((await hub.onePass(ours(hub.head()))).kind).toBe("passed");
  });

  test("takes what another machine of the trust file signed, as far as its own last commit vouches for that file", async () => {
    await begin();
    const other = sshSigner(hub.workshop, "other", "-t", "ed25519");
    hub.forge({ signer: hub.key });
    expect(
      (await hub.onePass({ fingerprint: hub.keyOf(other).fingerprint, accepted: hub.head("refs/heads/fleet/state~1") }))
        .kind,
    ).toBe("passed");
    expect(await refusal({ fingerprint: hub.keyOf(other).fingerprint, accepted: null })).toContain(
      "neither is any commit before it",
    );
  });

  test("reads the same line of commits from an adapter that only has whole histories", async () => {
    await begin();
    hub.forge({});
    const { repository } = hub.ports;
    const other = withRepository(hub.ports, {}).repository;
    const ids = async (from: Repository, limit: number) =>
      (await firstParentHistory(from, hub.head(), limit)).map((it) => it.commit);
    expect([other.firstParents, await ids(other, 9)]).toEqual([undefined, await ids(repository, 9)]);
    expect(await ids(other, 1)).toEqual([hub.head()]);
  });
});
