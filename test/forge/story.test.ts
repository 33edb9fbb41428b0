// A stage that opens by a reviewed and squashed pull request: a real forge, real Git, the program as its user runs it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestOfText, memberAt } from "../../src/core/model/json.ts";
import { type EmbeddedMembers, startEmbeddedMembers } from "../end-to-end/embedded.ts";
import type { Hub } from "../end-to-end/hub.ts";
import { objectAt } from "../end-to-end/member.ts";
import { flotilla, type Run } from "../end-to-end/program.ts";
import { externalPlacement, updateRun, updateStrategy } from "../end-to-end/rollouts.ts";
import { newSigner, type Signer } from "../end-to-end/signers.ts";
import { configMap, file, memberCluster, namespace, openFleet } from "../end-to-end/small-fleet.ts";
import { describeWhenFound } from "../kubernetes/describe-kubernetes.ts";
import { eventually } from "../kubernetes/eventually.ts";
import { makeScratch, type Scratch } from "../kubernetes/supervise.ts";
import { findGitea, type Gitea, type GiteaProgram, startGitea } from "./gitea.ts";

const found = await findGitea();
const at = "/repos/ann/fleet";

describeWhenFound("a stage that waits for a review", found.kind === "missing" ? found.why : null, () => {
  let forge: Gitea;
  let scratch: Scratch;
  let members: EmbeddedMembers;
  let ann: Signer;
  let anchor = "";
  let page = "";

  beforeAll(async () => {
    scratch = await makeScratch();
    [forge, members] = await Promise.all([
      startGitea(found as GiteaProgram),
      startEmbeddedMembers({ folder: scratch.path, names: ["east"] }),
    ]);
    page = `${forge.url}/ann/fleet`;
    await forge.as("ann", "POST", "/user/repos", { name: "fleet", default_branch: "main" });
    await forge.as("ann", "PUT", `${at}/collaborators/bob`, { permission: "write" });
    const repo = `${page.replace("://", `://ann:${forge.tokens.ann}@`)}.git`;
    ann = newSigner("ann", { repo } as Hub, scratch.path);
    const trust = trustText(readFileSync(ann.publicKey, "utf8").trim());
    anchor = digestOfText(trust);
    push({ ...files, "trust/root.yaml": trust });
    const protection = { required_approvals: 1, dismiss_stale_approvals: true, enable_push: true };
    await forge.as("ann", "POST", `${at}/branch_protections`, { rule_name: "main", ...protection });
  });
  afterAll(async () => {
    await Promise.all([forge?.stop(), members?.stop()]);
    await scratch?.stop();
  });

  const push = (written: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(written)) {
      mkdirSync(dirname(join(ann.clone, path)), { recursive: true });
      writeFileSync(join(ann.clone, path), text);
    }
    ann.git("add", "--all");
    ann.git("commit", "--quiet", "-m", "Change it");
    ann.git("push", "--quiet", "origin", "HEAD:main");
  };
  const environment = () => ({ FLOTILLA_GIT_TOKEN: forge.tokens.ann, XDG_CACHE_HOME: join(scratch.path, "cache") });
  /** Without a key, which each start says in a line that is left out here. */
  const reconcile = async (...more: readonly string[]): Promise<Run> => {
    const hub = ["--repo", `${page}.git`, "--kubeconfig", members.file, "--trust-anchor", anchor, "--wait", "5m"];
    const run = await flotilla(["reconcile", ...hub, ...more], { environment: environment() });
    return { ...run, err: run.err.replace(/^warning: fleet\/state is not signed.*\n/, "") };
  };
  const carried = async (): Promise<unknown> =>
    memberAt(await objectAt(members.member("east"), "/api/v1/namespaces/shop/configmaps/settings"), "data", "version");
  const digestOf = (run: string): string => {
    ann.git("fetch", "--quiet", "origin", "fleet/state");
    const text = ann.git("show", `FETCH_HEAD:approvals/${run}-before-east.yaml`);
    return /flotilla\.dev\/request-digest: "?([0-9a-f]{64})/.exec(text)?.[1] ?? "nobody is asked";
  };
  /** Opens a pull request with Bob's answer to the gate of a run, has him review it or not, and squashes it. */
  const merge = async (run: string, isReviewed: boolean): Promise<void> => {
    const spec = { requestDigest: digestOf(run), decision: "Approve", principal: "bob" };
    const approval = file({ apiVersion: "flotilla.dev/v1alpha1", kind: "Approval", spec });
    const content = { content: btoa(approval), message: "Approve", branch: "main", new_branch: `approve-${run}` };
    await forge.as("ann", "POST", `${at}/contents/approvals/${run}.yaml`, content);
    const pull = await forge.as("ann", "POST", `${at}/pulls`, { head: `approve-${run}`, base: "main", title: run });
    const { number, head } = pull as unknown as { readonly number: number; readonly head: { readonly sha: string } };
    const review = { event: "APPROVED", commit_id: head.sha };
    if (isReviewed) await forge.as("bob", "POST", `${at}/pulls/${number}/reviews`, review);
    await eventually("the merge", () =>
      forge.as("ann", "POST", `${at}/pulls/${number}/merge`, { Do: "squash", force_merge: true }).then(
        () => true,
        () => null,
      ),
    );
  };

  test("opens by one of the right person, of what was merged", async () => {
    expect(await reconcile("--forge", page)).toMatchObject({ code: 0, err: "" });
    await merge("first", true);
    const waiting = await reconcile("--wait", "30s");
    expect(waiting.out).toMatch(/approvals\/first\.yaml of bob is not judged yet: FLT1240: .*reconcile --forge URL/);
    expect(await carried()).toBeNull();
    expect(await reconcile("--forge", page)).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toBe("0");
  });

  test("does not open by a merge that nobody reviewed, and says what to do", async () => {
    ann.pull();
    push({
      "resources/settings.yaml": file(configMap("shop/settings", { version: "1" })),
      "runs/second.yaml": file(updateRun("second", "shop", "rings")),
    });
    expect(await reconcile("--forge", page)).toMatchObject({ code: 0, err: "" });
    await merge("second", false);
    const { out } = await reconcile("--forge", page);
    expect(out).toMatch(/second\.yaml of bob does not count: FLT1209: .*nobody approved it; have a new file reviewed/);
    expect(await carried()).toBe("0");
  });

  test("is what an audit finds in the record, and takes the forge's word for", async () => {
    ann.git("fetch", "--quiet", "origin", "+fleet/state:fleet/state", "+main:refs/remotes/origin/main");
    const { code, out } = await ann.run("verify", "--full", "--trust-anchor", anchor);
    expect(out).toContain("1 approvals that depend on the forge");
    expect(code).toBe(0);
  });
});

const files: Readonly<Record<string, string>> = {
  "fleet.yaml": file(openFleet),
  "clusters/east.yaml": file(memberCluster("east", { env: "east" })),
  "placements/shop.yaml": file(externalPlacement("shop")),
  "strategies/rings.yaml": file(updateStrategy("rings", { east: { beforeStageTasks: [{ type: "Approval" }] } })),
  "resources/namespace.yaml": file(namespace("shop")),
  "resources/settings.yaml": file(configMap("shop/settings", { version: "0" })),
  "runs/first.yaml": file(updateRun("first", "shop", "rings")),
};

/** Ann changes things; Bob, who has no key and an account, may approve them. */
const trustText = (key: string): string =>
  file({
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "Trust",
    metadata: { name: "root" },
    spec: {
      version: 1,
      expires: "2027-10-01T00:00:00Z",
      threshold: 1,
      roots: ["ann"],
      principals: { ann: { human: true, keys: [key] }, bob: { human: true, forge: { gitea: "2" } } },
      approvals: [{ placements: ["*"], stages: ["*"], principals: ["bob"], minimum: 1, accept: ["forge"] }],
    },
  });
