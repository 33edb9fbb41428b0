// What Gitea does not see to itself: it keeps a review when its pull request is given another base.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ReviewQuestion } from "../../../src/core/model/history.ts";
import type { BlobId, Commit } from "../../../src/core/model/value.ts";
import { forgeAddressOf } from "../../../src/shell/forge/address.ts";
import { openForge } from "../../../src/shell/forge/forge.ts";
import { type ForgeServer, forgeServer, type Pages } from "./forge-server.ts";

const id = (letter: string): string => letter.repeat(40);
const question: ReviewQuestion = {
  path: "approvals/web.yaml",
  blob: id("b") as BlobId,
  introducer: id("1") as Commit,
  arrival: id("2") as Commit,
};
const at = "/api/v1/repos/team/fleet";
const file = { type: "file", path: question.path, sha: question.blob };
const fileAt = (commit: string): string => `${at}/contents/${question.path}?ref=${commit}`;
const commit = (sha: string, ...parents: readonly string[]) => ({ sha, parents: parents.map((it) => ({ sha: it })) });
const commitsAt = `${at}/pulls/45/commits`;

const usual: Pages = {
  [`${at}/branches/main`]: { protected: true, effective_branch_protection_name: "main" },
  [`${at}/branch_protections/main`]: { required_approvals: 1, dismiss_stale_approvals: true },
  [`${at}/commits/${question.arrival}/pull`]: {
    number: 45,
    user: { id: 100 },
    head: { sha: question.introducer },
    base: { ref: "main", repo: { full_name: "team/fleet" } },
    merged_at: "2026-11-21T12:00:00Z",
    merge_commit_sha: question.arrival,
  },
  [commitsAt]: [commit(question.introducer, id("9"))],
  [`${at}/pulls/45/reviews`]: [
    { id: 7, user: { id: 2 }, state: "APPROVED", commit_id: question.introducer, submitted_at: "2026-11-21T11:00:00Z" },
  ],
  [fileAt(question.introducer)]: file,
};

let server: ForgeServer;
beforeAll(async () => {
  server = await forgeServer();
});
afterAll(() => server.close());

async function asked(pages: Pages) {
  server.pages = { ...usual, ...pages };
  const address = forgeAddressOf(`${server.url}/team/fleet`);
  if (typeof address === "string") throw new Error(address);
  return openForge({ address, branch: "main", token: null, lagMs: 10 }).review(question);
}

describe("on Gitea, a review counts of one commit that adds the file", () => {
  it("which shows it on every base", async () => {
    expect(await asked({})).toMatchObject({ kind: "reviewed", reviews: [{ forge: "gitea", account: "2" }] });
  });

  const rows: readonly (readonly [string, Pages])[] = [
    [
      "that the last of several commits hides on a base that has the others",
      { [commitsAt]: [commit(id("8"), id("9")), commit(question.introducer, id("8"))] },
    ],
    ["that was there before the commit that was reviewed", { [fileAt(id("9"))]: file }],
    ["in another form before", { [fileAt(id("9"))]: { ...file, sha: id("c") } }],
    ["that a merge brings", { [commitsAt]: [commit(question.introducer, id("9"), id("8"))] }],
    ["of which nobody knows on what it stands", { [commitsAt]: [commit(question.introducer)] }],
  ];
  it.each(rows)("and not of a file %s", async (_, pages) => {
    expect(await asked(pages)).toEqual({
      kind: "none",
      because: expect.stringMatching(/pull request 45 is not one commit that adds approvals.web.yaml.* of one commit$/),
    });
  });
});
