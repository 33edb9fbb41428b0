import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ForgeFinding, ReviewQuestion } from "../../../src/core/model/history.ts";
import type { BlobId, Commit } from "../../../src/core/model/value.ts";
import { forgeAddressOf } from "../../../src/shell/forge/address.ts";
import { openForge } from "../../../src/shell/forge/forge.ts";
import { type ForgeServer, forgeServer, type Pages, partOf } from "./forge-server.ts";

const id = (letter: string): string => letter.repeat(40);
const question: ReviewQuestion = {
  path: "approvals/web/ann 1.yaml",
  blob: id("b") as BlobId,
  introducer: id("1") as Commit,
  arrival: id("2") as Commit,
};

const repository = "/api/v3/repos/team/fleet";
const rulesAt = `${repository}/rules/branches/main`;
const pullsAt = `${repository}/commits/${question.introducer}/pulls`;
const commitsAt = `${repository}/pulls/45/commits`;
const reviewsAt = `${repository}/pulls/45/reviews`;
const fileAt = `${repository}/contents/approvals/web/ann%201.yaml?ref=${question.introducer}`;

const parameters = {
  required_approving_review_count: 1,
  dismiss_stale_reviews_on_push: true,
  require_last_push_approval: true,
  require_code_owner_review: false,
  required_review_thread_resolution: false,
};
const rule = (more: object = {}) => ({
  type: "pull_request",
  ruleset_source_type: "Repository",
  ruleset_source: "team/fleet",
  ruleset_id: 42,
  parameters: { ...parameters, ...more },
});
const pull = (more: object = {}) => ({
  id: 1,
  number: 45,
  state: "closed",
  user: { id: 100, login: "flotilla-bot", type: "User" },
  head: { ref: "approve", sha: question.introducer },
  base: { ref: "main", sha: id("9"), repo: { id: 7, full_name: "team/fleet" } },
  merged_at: "2026-11-21T12:00:00Z",
  merge_commit_sha: question.arrival,
  ...more,
});
const commit = (sha: string, author: number | null, committer: number | null = author) => ({
  sha,
  commit: { author: { name: "somebody", email: "a@example.com" } },
  author: author === null ? null : { id: author },
  committer: committer === null ? null : { id: committer },
  parents: [{ sha: id("9") }],
});
const review = (more: object = {}) => ({
  id: 123,
  user: { id: 8928778, login: "ann", type: "User" },
  body: "fine",
  state: "APPROVED",
  commit_id: question.introducer,
  submitted_at: "2026-11-21T11:59:00Z",
  ...more,
});
const file = (more: object = {}) => ({ type: "file", path: question.path, sha: question.blob, ...more });

const usual: Pages = {
  [rulesAt]: [{ type: "deletion" }, rule()],
  [pullsAt]: [pull()],
  [commitsAt]: [commit(question.introducer, 200)],
  [reviewsAt]: [review()],
  [fileAt]: file(),
};

let server: ForgeServer;
beforeAll(async () => {
  server = await forgeServer();
});
afterEach(() => {
  server.instead = null;
  server.asked.length = 0;
});
afterAll(() => server.close());

async function askedFor(pages: Pages, more: Partial<ReviewQuestion> = {}, deadlineMs = 2000): Promise<ForgeFinding> {
  server.pages = { ...usual, ...pages };
  const address = forgeAddressOf(`github+${server.url}/team/fleet`);
  if (typeof address === "string") throw new Error(address);
  const forge = openForge({ address, branch: "main", token: "s3cret", deadlineMs, lagMs: 10 });
  return forge.review({ ...question, ...more });
}

const found = (...reviews: readonly (readonly [account: string, number: number])[]): ForgeFinding => ({
  kind: "reviewed",
  reviews: reviews.map(([account, number]) => ({
    forge: "github",
    account,
    blob: question.blob,
    source: `review ${number} of pull request 45 on ${new URL(server.url).host}/team/fleet`,
  })),
});

describe("GitHub vouches for a review", () => {
  const other = { id: 124, user: { id: 5 } };
  const rows: readonly (readonly [string, Pages, Partial<ReviewQuestion>, readonly (readonly [string, number])[]])[] = [
    ["of a merge", {}, {}, [["8928778", 123]]],
    [
      "of what squash made of it",
      {
        [pullsAt]: [pull({ merge_commit_sha: question.introducer, head: { sha: id("7") } })],
        [commitsAt]: [commit(id("6"), 200), commit(id("7"), 200)],
        [reviewsAt]: [review({ commit_id: id("7") })],
        [fileAt.replace(question.introducer, id("7"))]: file(),
      },
      { arrival: question.introducer },
      [["8928778", 123]],
    ],
    [
      "by each of several",
      { [reviewsAt]: [review(), review(other)] },
      {},
      [
        ["8928778", 123],
        ["5", 124],
      ],
    ],
    [
      "that stands, beside one that does not",
      { [reviewsAt]: [review({ state: "DISMISSED" }), review(other)] },
      {},
      [["5", 124]],
    ],
    [
      "before a remark of the same person",
      { [reviewsAt]: [review(), review({ id: 130, state: "COMMENTED" })] },
      {},
      [["8928778", 123]],
    ],
    [
      "after another opinion of the same person, in whatever order they come",
      {
        [reviewsAt]: [
          review({ id: 120 }),
          review({ id: 110, state: "CHANGES_REQUESTED", submitted_at: "2026-11-21T11:00:00Z" }),
        ],
      },
      {},
      [["8928778", 120]],
    ],
    [
      "under rules of several rulesets",
      {
        [rulesAt]: [
          rule({ require_last_push_approval: false }),
          rule({ dismiss_stale_reviews_on_push: false, required_approving_review_count: 0 }),
        ],
      },
      {},
      [["8928778", 123]],
    ],
    [
      "of a commit whose author has no account",
      { [commitsAt]: [commit(question.introducer, null)] },
      {},
      [["8928778", 123]],
    ],
    [
      "whoever merged it",
      { [pullsAt]: [pull({ number: 44, merged_at: null }), pull({ merged_by: { id: 8928778 } })] },
      {},
      [["8928778", 123]],
    ],
  ];
  it.each(rows)("%s", async (_, pages, more, reviews) => {
    expect(await askedFor(pages, more)).toEqual(found(...reviews));
  });
});

describe("GitHub vouches for none, and it is said what is missing", () => {
  const rows: readonly (readonly [string, Pages, RegExp])[] = [
    [
      "no rule",
      { [rulesAt]: [] },
      /main of .*enable a ruleset .*at least 1 approval, .Dismiss stale.*, .Require approval of the most recent/,
    ],
    [
      "no approval required",
      { [rulesAt]: [rule({ required_approving_review_count: 0 })] },
      /enable a ruleset that requires .* 1 approval$/,
    ],
    [
      "stale approvals stay",
      { [rulesAt]: [rule({ dismiss_stale_reviews_on_push: false })] },
      /enable .Dismiss stale[^,]*$/,
    ],
    [
      "the last push needs nobody",
      { [rulesAt]: [rule({ require_last_push_approval: false })] },
      /enable .Require approval of the most recent[^,]*$/,
    ],
    ["no pull request", { [pullsAt]: [] }, /no pull request brought commit 111111111111 to main .*; open one/],
    [
      "one that was not merged",
      { [pullsAt]: [pull({ merged_at: null, merge_commit_sha: id("2") })] },
      /\(#45 did not\)/,
    ],
    [
      "one that was merged elsewhere",
      { [pullsAt]: [pull({ base: { ref: "next", repo: { full_name: "team/fleet" } } })] },
      /\(#45 did not\)/,
    ],
    [
      "one of a fork",
      { [pullsAt]: [pull({ base: { ref: "main", repo: { full_name: "mallory/fleet" } } })] },
      /\(#45 did not\)/,
    ],
    ["a merge that did not bring it", { [pullsAt]: [pull({ merge_commit_sha: id("5") })] }, /\(#45 did not\)/],
    [
      "a commit that is not of it",
      { [commitsAt]: [commit(id("6"), 200)] },
      /commit 111111111111 is not what pull request 45 became/,
    ],
    [
      "a last commit that is not there",
      { [pullsAt]: [pull({ head: { sha: id("8") } })] },
      /has no commit 888888888888/,
    ],
    ["another file", { [fileAt]: file({ sha: id("c") }) }, /does not contain approvals\/web\/ann 1.yaml as it is now/],
    ["a link", { [fileAt]: file({ type: "symlink" }) }, /does not contain/],
    ["no file", { [fileAt]: 404 }, /does not contain/],
    ["no review", { [reviewsAt]: [] }, /nobody approved it/],
    ["a remark", { [reviewsAt]: [review({ state: "COMMENTED" })] }, /nobody approved it/],
    [
      "a dismissed review",
      { [reviewsAt]: [review({ state: "DISMISSED" })] },
      /review 123 of github:8928778 is dismissed or asks/,
    ],
    [
      "a change of mind",
      { [reviewsAt]: [review(), review({ id: 124, state: "CHANGES_REQUESTED" })] },
      /review 124 .* asks for changes/,
    ],
    [
      "a change of mind on the page after one that shows less than fits",
      {
        [reviewsAt]: [
          review(),
          null,
          ...Array.from({ length: 98 }, () => review({ state: "COMMENTED" })),
          review({ id: 124, state: "CHANGES_REQUESTED" }),
        ],
      },
      /review 124 .* asks for changes/,
    ],
    [
      "a change of mind, among drafts without a time",
      {
        [reviewsAt]: [
          review({ id: 9, state: "CHANGES_REQUESTED", submitted_at: "2026-11-21T11:30:00Z" }),
          review({ id: 10, state: "PENDING", submitted_at: null, user: { id: 6 } }),
          review({ id: 12, submitted_at: "2026-11-21T11:00:00Z" }),
        ],
      },
      /review 9 .* asks for changes/,
    ],
    [
      "a change of mind of which nobody knows when",
      { [reviewsAt]: [review({ id: 100, state: "CHANGES_REQUESTED", submitted_at: null }), review()] },
      /review 100 .* asks for changes/,
    ],
    [
      "more text than is read, of whoever writes the pull request",
      { [commitsAt]: [{ ...commit(question.introducer, 200), text: " ".repeat(5 << 20) }] },
      /sent a response of more than 4 MiB; use a smaller pull request/,
    ],
    [
      "another head",
      { [reviewsAt]: [review({ commit_id: id("4") })] },
      /is for another commit than 111111111111, which was merged/,
    ],
    ["a late review", { [reviewsAt]: [review({ submitted_at: "2026-11-21T12:00:01Z" })] }, /came after the merge/],
    ["a review without a time", { [reviewsAt]: [review({ submitted_at: null })] }, /came after the merge/],
    ["T-06: its author", { [reviewsAt]: [review({ user: { id: 100 } })] }, /is by the author of the pull request/],
    [
      "the author of the last commit",
      { [reviewsAt]: [review({ user: { id: 200 } })] },
      /is by the author of its last commit/,
    ],
    [
      "its committer",
      { [commitsAt]: [commit(question.introducer, 200, 8928778)] },
      /is by the author of its last commit/,
    ],
    ["somebody who is gone", { [reviewsAt]: [review({ user: null })] }, /nobody approved it/],
    [
      "more reviews than are looked at",
      { [reviewsAt]: Array.from({ length: 501 }, () => review()) },
      /pulls\/45\/reviews has more than 5 pages; use a smaller/,
    ],
  ];
  it.each(rows)("%s", async (_, pages, because) => {
    const finding = await askedFor(pages);
    expect(finding.kind).toBe("none");
    expect(finding.kind === "none" && finding.because).toMatch(because);
  });
});

describe("GitHub says nothing, and nothing follows from that", () => {
  const rows: readonly (readonly [string, Pages, RegExp])[] = [
    ["it is broken", { [reviewsAt]: 502 }, /HTTP status 502$/],
    ["too many questions", { [pullsAt]: 429 }, /rate limit is exceeded/],
    [
      "a token that is not enough",
      { [rulesAt]: 403 },
      /forbidden \(403\): the token in FLOTILLA_FORGE_TOKEN needs read access/,
    ],
    ["a repository that it does not show", { [rulesAt]: 404 }, /are not visible on GitHub/],
    ["another answer than is documented", { [reviewsAt]: { reviews: [] } }, /does not show/],
  ];
  it.each(rows)("%s", async (_, pages, because) => {
    const finding = await askedFor(pages);
    expect(finding.kind).toBe("unavailable");
    expect(finding.kind === "unavailable" && finding.because).toMatch(because);
    expect(JSON.stringify(finding)).not.toMatch(/s3cret|so it is/);
  });

  const troubles: readonly (readonly [string, ForgeServer["instead"], RegExp])[] = [
    ["hangs", () => {}, /it timed out/],
    ["hangs up", (request) => request.socket.destroy(), /the connection failed/],
    ["never ends", (_, response) => void response.write(" ".repeat(5 << 20)), /more than 4 MiB/],
    ["is a page", (_, response) => void response.end("<html>"), /is not JSON/],
    [
      "T-25: sends us to another host",
      (_, response) => void response.writeHead(307, { location: "https://elsewhere.example/" }).end(),
      /redirects to another address/,
    ],
    [
      "sends us round and round",
      (request, response) => void response.writeHead(301, { location: request.url ?? "/" }).end(),
      /redirects to another address/,
    ],
  ];
  it.each(troubles)("a server that %s", async (what, instead, because) => {
    server.instead = instead;
    const finding = await askedFor({}, {}, what === "hangs" ? 300 : 10_000);
    expect(finding.kind === "unavailable" && finding.because).toMatch(because);
  });
});

it("sends its token with every question, follows a move on the same host, and waits for a merge to be known", async () => {
  server.pages = usual;
  let count = 0;
  server.instead = (request, response) => {
    const path = (request.url ?? "").replace(/[?&](?:per_page|limit|page)=[^&]*/g, "");
    if (path === rulesAt) return void response.writeHead(301, { location: "/api/v3/moved" }).end();
    if (path === pullsAt) count += 1;
    const page = path === "/api/v3/moved" ? usual[rulesAt] : path === pullsAt && count < 3 ? [] : usual[path];
    response.end(JSON.stringify(partOf(page, request.url ?? "")));
  };
  expect(await askedFor({})).toEqual(found(["8928778", 123]));
  expect(count).toBe(3);
  expect(server.asked.filter((it) => !it.endsWith(" Bearer s3cret"))).toEqual([]);
});
