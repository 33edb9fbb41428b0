import { afterAll, beforeAll, expect, test } from "vitest";
import type { ForgeFinding, ReviewQuestion } from "../../src/core/model/history.ts";
import type { BlobId, Commit } from "../../src/core/model/value.ts";
import { forgeAddressOf } from "../../src/shell/forge/address.ts";
import { openForge } from "../../src/shell/forge/forge.ts";
import { describeWhenFound } from "../kubernetes/describe-kubernetes.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { type Answer, findGitea, type Gitea, type GiteaProgram, startGitea } from "./gitea.ts";

const found = await findGitea();

describeWhenFound("reviews on a real Gitea", found.kind === "missing" ? found.why : null, () => {
  const at = "/repos/ann/fleet";
  let forge: Gitea;
  let files = 0;

  beforeAll(async () => {
    forge = await startGitea(found as GiteaProgram);
    await forge.as("ann", "POST", "/user/repos", { name: "fleet", auto_init: true, default_branch: "main" });
    await forge.as("ann", "PUT", `${at}/collaborators/bob`, { permission: "write" });
    const protection = { rule_name: "ma*", required_approvals: 1, dismiss_stale_approvals: true };
    await forge.as("ann", "POST", `${at}/branch_protections`, protection);
  });
  afterAll(() => forge?.stop());

  const open = async (): Promise<Opened> => {
    files += 1;
    const path = `approvals/web/${files}.yaml`;
    const branch = `approve-${files}`;
    const content = { content: btoa(`${files}`), message: "approve", branch: "main", new_branch: branch };
    const file = await forge.as("ann", "POST", `${at}/contents/${path}`, content);
    const pull = await forge.as("ann", "POST", `${at}/pulls`, { head: branch, base: "main", title: "approve" });
    return {
      path,
      branch,
      blob: textIn(file, "content", "sha") as BlobId,
      head: textIn(pull, "head", "sha") as Commit,
      number: Number(pull["number"]),
    };
  };
  const approve = ({ number, head }: Opened): Promise<unknown> =>
    forge.as("bob", "POST", `${at}/pulls/${number}/reviews`, { event: "APPROVED", commit_id: head });
  const merge = async ({ number, head, path, blob }: Opened, how: string): Promise<ReviewQuestion> => {
    // Whether it can be merged is found out in the background.
    await eventually("the merge", () =>
      forge.as("ann", "POST", `${at}/pulls/${number}/merge`, { Do: how, force_merge: true }).then(
        () => true,
        () => null,
      ),
    );
    const arrival = textIn(await forge.as("ann", "GET", `${at}/pulls/${number}`), "merge_commit_sha") as Commit;
    return { path, blob, introducer: how === "merge" ? head : arrival, arrival };
  };
  const ask = (question: ReviewQuestion, who: "ann" | "bob" = "ann"): Promise<ForgeFinding> => {
    const address = forgeAddressOf(`${forge.url}/ann/fleet`);
    if (typeof address === "string") throw new Error(address);
    return openForge({ address, branch: "main", token: forge.tokens[who], lagMs: 10 }).review(question);
  };

  test.each(["merge", "squash", "rebase"])("count after a %s", async (how) => {
    const opened = await open();
    await approve(opened);
    const question = await merge(opened, how);
    const source = expect.stringContaining(` of pull request ${opened.number} on 127.0.0.1:`);
    const review = { forge: "gitea", account: "2", blob: opened.blob, source };
    expect(await ask(question)).toEqual({ kind: "reviewed", reviews: [review] });
  });

  test("do not count when there are none, whoever may merge without", async () => {
    const question = await merge(await open(), "merge");
    expect(await ask(question)).toEqual({ kind: "none", because: expect.stringContaining("nobody approved it") });
  });

  test("do not count once something was pushed on top", async () => {
    const opened = await open();
    await approve(opened);
    const content = { content: btoa("more"), message: "more", branch: opened.branch };
    await forge.as("ann", "POST", `${at}/contents/more-${opened.number}.txt`, content);
    // The forge hears of the push in the background.
    await eventually("the review to be dismissed", async () => {
      const reviews = await forge.as("ann", "GET", `${at}/pulls/${opened.number}/reviews`);
      return Object.values(reviews).some((it) => (it as Answer)["dismissed"] === true) ? true : null;
    });
    const question = await merge(opened, "merge");
    expect(await ask(question)).toEqual({
      kind: "none",
      because: expect.stringContaining("is dismissed"),
    });
  });

  test("do not count for a file that was pushed past them", async () => {
    const content = { content: btoa("x"), message: "approve", branch: "main" };
    const file = await forge.as("ann", "POST", `${at}/contents/approvals/web/pushed.yaml`, content).catch(() => null);
    expect(file).toBeNull();
    const { path, blob, head } = await open();
    expect(await ask({ path, blob, introducer: head, arrival: head })).toEqual({
      kind: "none",
      because: expect.stringContaining("no pull request brought commit"),
    });
  });

  test("are not known to a token that may not see the rules", async () => {
    const opened = await open();
    await approve(opened);
    const question = await merge(opened, "squash");
    expect(await ask(question, "bob")).toEqual({
      kind: "unavailable",
      because: expect.stringContaining("needs admin access to the repository"),
    });
  });

  test("do not count while the branch does not ask for them", async () => {
    const opened = await open();
    await approve(opened);
    const question = await merge(opened, "squash");
    const rule = `${at}/branch_protections/ma*`;
    await forge.as("ann", "PATCH", rule, { dismiss_stale_approvals: false, required_approvals: 0 });
    expect(await ask(question)).toEqual({
      kind: "none",
      because: expect.stringMatching(/enable at least 1 required approval, .Dismiss stale approvals.$/),
    });
    await forge.as("ann", "DELETE", rule);
    expect(await ask(question)).toEqual({ kind: "none", because: expect.stringContaining("a branch protection") });
  });
});

interface Opened {
  readonly path: string;
  readonly branch: string;
  readonly blob: BlobId;
  readonly head: Commit;
  readonly number: number;
}

function textIn(answer: unknown, ...names: readonly string[]): string {
  const value = names.reduce((at, name) => (at as Readonly<Record<string, unknown>>)[name], answer);
  if (typeof value !== "string") throw new Error(`no text at ${names.join(".")}`);
  return value;
}
