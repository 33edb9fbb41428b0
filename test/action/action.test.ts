import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWhenFound } from "../kubernetes/describe-kubernetes.ts";
import { makeScratch, type Scratch } from "../kubernetes/supervise.ts";
import { copyProject, findAct, makeRepository, runPullRequest, workflowOf } from "./act.ts";

const namespace = ["apiVersion: v1", "kind: Namespace", "metadata:", "  name: shop", ""].join("\n");
const nameTwice = namespace.replace("  name: shop", "  name: shop\n  name: shop");

const act = await findAct();
const missing = act.kind === "missing" ? act.why : null;
const program = act.kind === "found" ? join(act.folder, "act") : "";

describeWhenFound("the Action", missing, () => {
  let scratch: Scratch;
  let output: string;

  beforeAll(async () => {
    scratch = await makeScratch();
    const repository = join(scratch.path, "repository");
    const touch = `touch ${scratch.path}/broken-in`;
    const workflow = workflowOf({
      good: { command: "validate", repo: "hub/good" },
      broken: { command: "validate", repo: "hub/broken" },
      hostile: { command: "validate", repo: "${{ github.event.pull_request.title }}" },
      option: { command: "validate", repo: "--help" },
    });
    await copyProject(repository);
    await makeRepository(repository, {
      ".github/workflows/fleet.yaml": workflow,
      "hub/good/resources/shop.yaml": namespace,
      "hub/broken/resources/shop.yaml": nameTwice,
    });
    const title = `"; ${touch}; $(${touch}) \`${touch}\``;
    output = await runPullRequest(program, repository, join(scratch.path, "home"), { title });
  }, 300_000);
  afterAll(() => scratch?.stop());

  test("passes where nothing is wrong", () => {
    expect(output).toContain("good ended with success 0");
  });

  test("fails where something is, and annotates the line", () => {
    expect(output).toMatch(/::error file=hub\/broken\/resources\/shop\.yaml,line=5,col=3.*FLT1005/);
    expect(output).toContain("broken ended with failure 1");
  });

  test("takes an input for data, whatever it holds", () => {
    expect(existsSync(join(scratch.path, "broken-in"))).toBe(false);
    expect(output).toMatch(/hostile ended with failure [1-9]/);
    expect(output).toMatch(/option ended with failure [1-9]/);
    expect(output).not.toContain("Usage: flotilla");
  });
});

/** Says what it was given, and ends as a rollout that is stuck does. */
const witness = `
import { readFileSync, statSync } from "node:fs";
const arguments_ = process.argv.slice(2);
const paths = arguments_.flatMap((it) => it.match(/^--(?:kubeconfig|signing-key)=(\\/.*)/)?.[1] ?? []);
const kept = paths.map((it) => (statSync(it).mode & 0o777).toString(8) + " " + readFileSync(it, "utf8"));
const shown = arguments_.map((it) => it.replace(/=.*\\/flotilla-(\\w+).*/, "=FILE of $1"));
const secrets = Object.keys(process.env).filter((it) => /^INPUT_(KUBECONFIG_DATA|SIGNING_KEY)$/.test(it));
const token = process.env.FLOTILLA_GIT_TOKEN ?? "none";
console.log(JSON.stringify({ arguments: shown, kept, secrets, token: token.split("").reverse().join("") }));
for (const it of paths) console.log("file " + it);
process.exitCode = 3;
`;

describeWhenFound("the Action's command line", missing, () => {
  let scratch: Scratch;
  let output: string;

  beforeAll(async () => {
    scratch = await makeScratch();
    const repository = join(scratch.path, "repository");
    const action = await readFile(new URL("../../action.yml", import.meta.url), "utf8");
    const token = { "git-token": "abc" };
    const workflow = workflowOf({
      plain: { command: "validate", ...token },
      plan: {
        command: "plan",
        repo: "a b",
        branch: "--x",
        kubeconfig: "k",
        wait: "1m",
        "trust-anchor": "c0de",
        "signing-key": "unused",
        ...token,
      },
      reconcile: {
        command: "reconcile",
        "kubeconfig-data": "two\nlines\n",
        "signing-key": "a key\nof lines",
        forge: "https://forge.example.com",
        wait: "10m",
        ...token,
      },
      lines: { command: "validate", repo: "${{ github.event.pull_request.body }}" },
      unknown: { command: "demo" },
      both: { command: "plan", kubeconfig: "a", "kubeconfig-data": "b" },
    });
    await makeRepository(repository, {
      ".github/workflows/fleet.yaml": workflow,
      "action.yml": action,
      "package.json": `{ "type": "module" }`,
      "dist/flotilla.js": witness,
    });
    const event = { body: "hub\n::error::forged" };
    output = await runPullRequest(program, repository, join(scratch.path, "home"), event);
  }, 60_000);
  afterAll(() => scratch?.stop());

  const given = () =>
    output
      .split("\n")
      .flatMap((line) => (line.includes('{"arguments"') ? [JSON.parse(line.replace(/^[^{]*/, ""))] : []));

  test("says what the inputs say, and no more", () => {
    expect(given()).toEqual([
      { arguments: ["validate", "--", "."], kept: [], secrets: [], token: "enon" },
      {
        arguments: ["plan", "--repo=a b", "--branch=--x", "--kubeconfig=k", "--trust-anchor=c0de"],
        ...{ kept: [], secrets: [], token: "cba" },
      },
      {
        arguments: [
          "reconcile",
          "--kubeconfig=FILE of kubeconfig",
          "--forge=https://forge.example.com",
          "--signing-key=FILE of signing",
          "--wait=10m",
        ],
        ...{ kept: ["600 two\nlines\n", "600 a key\nof lines"], secrets: [], token: "cba" },
      },
    ]);
  });

  test("ends as Flotilla ends, and leaves no secret behind", () => {
    expect(output).toContain("reconcile ended with failure 3");
    const files = [...output.matchAll(/file (\/\S+)/g)].map(([, it = ""]) => it);
    expect(files.map((it) => it.replace(/.*\/(.*)\..*/, "$1"))).toEqual([
      "flotilla-kubeconfig",
      "flotilla-signing-key",
    ]);
    expect(files.filter((it) => existsSync(it))).toEqual([]);
  });

  test.each([
    ["lines", /::error title=Flotilla::the input repo holds a line break/],
    ["unknown", /::error title=Flotilla::the input command is none of/],
    ["both", /::error title=Flotilla::give either kubeconfig or kubeconfig-data/],
  ])("refuses what cannot be meant: %s", (id, complaint) => {
    expect(output).toMatch(complaint);
    expect(output).toContain(`${id} ended with failure 64`);
  });
});
