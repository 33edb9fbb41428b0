// The commands that write, sign and show the trust file, on real Git with real keys.
import { execFileSync, execSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/cmd/main.ts";
import { readTrust } from "../../src/core/intent/trust/trust-file.ts";
import { digestOfText } from "../../src/core/model/json.ts";
import { emptyLedger } from "../../src/core/model/ledger.ts";
import type { Commit, Sequence } from "../../src/core/model/value.ts";
import { type Clone, clonesWith } from "../shell/git/clone.ts";
import { temporaryFolder } from "../shell/git/hub.ts";
import { inForce } from "./asked-ledger.ts";
import { recordStateIn } from "./record-state.ts";
import { ledgerOf } from "./rollout-ledger.ts";

const clones = clonesWith({ "members.yaml": "# none yet\n" });
let place: Clone;
const keys = temporaryFolder();
const path = (name: string): string => join(keys.path, name);
const hasGpg = spawnSync("gpg", ["--version"]).status === 0;

beforeAll(() => {
  for (const name of ["ada", "ada-2", "bob", "eve"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path(name)]);
});
afterAll(() => keys.remove());
beforeEach(() => {
  place = clones();
  signsWith("ada");
});
afterEach(() => place.remove());

function signsWith(name: string): void {
  git("config", "gpg.format", "ssh");
  git("config", "user.signingKey", path(`${name}.pub`));
}
const git = (...args: readonly string[]): string => place.git(...args);
const root = (): string => readFileSync(join(place.path, "trust/root.yaml"), "utf8");
const trust = () => {
  const { trust: read, problems } = readTrust(root());
  expect(problems).toEqual([]);
  return read;
};
const fingerprint = (name: string): string =>
  execFileSync("ssh-keygen", ["-l", "-f", path(`${name}.pub`)], { encoding: "utf8" }).split(" ")[1] ?? "";
const publicLine = (name: string): string => readFileSync(path(`${name}.pub`), "utf8").trim();

async function flotilla(...argv: readonly string[]) {
  const said = { out: "", err: "" };
  const code = await main([...argv, "--repo", place.path], {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    environment: { XDG_CACHE_HOME: join(place.hub.folder, "cache") },
  });
  return { code, ...said };
}

const of = (...argv: readonly string[]) => flotilla("trust", ...argv);
const isSigned = (): boolean => git("cat-file", "commit", "HEAD").includes("SSH SIGNATURE");
const changed = (): readonly string[] => git("show", "--format=", "--name-only").split("\n");

/** A version 1 of ada's, that some other clone's daemon might have in force: what is recorded cannot be read here. */
async function begun(): Promise<void> {
  expect(await of("init", "--name", "ada")).toMatchObject({ code: 0 });
  unreadable();
}

/** As without a network: the state branch is not here, and its remote answers nothing. */
const unreadable = (): string => git("remote", "set-url", "origin", "../nowhere.git");

describe("trust init", () => {
  test("writes version 1 with the key that git signs with, and says what the operator has to set", async () => {
    const { code, out, err } = await of("init", "--name", "ada", "--expires", "100d");
    const digest = digestOfText(root());
    expect([code, changed(), isSigned()]).toEqual([0, ["trust/root.yaml"], true]);
    expect(out.split("\n").slice(2)).toEqual([
      `version 1 of trust/root.yaml has the SHA-256 ${digest}`,
      "check the file, then give this digest to every reconciler, from outside the repository:",
      `  flotilla reconcile --trust-anchor ${digest}`,
      `  flotilla reconcile --watch --trust-anchor ${digest}`,
      `  GitHub Action: with: { trust-anchor: ${digest} }`,
      "until then the version is not in force, and no gate opens",
      "",
    ]);
    expect(err).toMatch(/^warning: ada is the only one who may approve.*\n {2}add someone: flotilla trust add NAME/);
    expect(trust()).toMatchObject({
      version: 1,
      roots: { principals: ["ada"], threshold: 1 },
      approvals: [{ placements: ["*"], stages: ["*"], principals: ["ada"], fourEyes: true }],
    });
    expect(trust()?.principals.get("ada")?.sshKeys).toEqual([fingerprint("ada")]);
    expect((trust()?.expires ?? 0) - Date.now()).toBeGreaterThan(99 * 86_400_000);
  });

  test("takes other keys and certain gates", async () => {
    const gates = ["--approves", "web/prod", "--approves", "shop/api/*"];
    expect((await of("init", "--name", "bob", "--key", path("bob.pub"), ...gates)).code).toBe(0);
    expect(trust()?.approvals.map((it) => [...it.placements, ...it.stages])).toEqual([
      ["web", "prod"],
      ["shop/api", "*"],
    ]);
    expect(trust()?.principals.get("bob")?.sshKeys).toEqual([fingerprint("bob")]);
  });

  test("--dry-run prints the file alone", async () => {
    const { out } = await of("init", "--name", "ada", "--dry-run");
    expect(readTrust(out.replace(/^.*\n/, "")).trust?.version).toBe(1);
    expect(existsSync(join(place.path, "trust"))).toBe(false);
  });

  const rows: readonly (readonly [what: string, argv: readonly string[], code: number, message: RegExp])[] = [
    ["a private key", ["--name", "ada", "--key", "ada"], 64, /is a private key\n {2}give the public key/],
    ["no key", ["--name", "ada", "--key", "none"], 64, /cannot be read/],
    ["no gate", ["--name", "ada", "--approves", "web"], 64, /"web" is not PLACEMENT\/STAGE/],
    ["no time", ["--name", "ada", "--expires", "soon"], 64, /"soon" is not a valid expiry/],
    ["an end that is over", ["--name", "ada", "--expires", "2020-01-01"], 64, /would expire at 2020-01-01T00/],
    ["an end too far away", ["--name", "ada", "--expires", "3000d"], 64, /two years at most/],
    ["a name that is none", ["--name", "Ada"], 1, /root\.yaml:\d+:\d+.*FLT1309[\s\S]*nothing was written/],
  ];
  test("refuses what makes no sense, and writes nothing", async () => {
    for (const [what, argv, code, message] of rows) {
      const named = argv.map((it, at) => (argv[at - 1] === "--key" ? path(it) : it));
      const said = await of("init", ...named);
      expect([what, said.code, said.err]).toEqual([what, code, expect.stringMatching(message)]);
      expect(said.err).not.toMatch(/OPENSSH|b3BlbnNzaC/);
      expect(existsSync(join(place.path, "trust"))).toBe(false);
    }
  });

  test("refuses without a key, with how to set git up, and where there is a trust file", async () => {
    git("config", "--unset", "user.signingKey");
    expect((await of("init", "--name", "ada")).err).toMatch(
      /Git has no signing key configured.*\n.*git config gpg\.format ssh; git/,
    );
    signsWith("ada");
    await begun();
    expect((await of("init", "--name", "eve")).err).toMatch(/trust\/root\.yaml already exists/);
  });
});

describe("the next version", () => {
  test("is signed by the root who writes it, and brings trust/ alone", async () => {
    await begun();
    const first = root();
    const { code, out } = await of("add", "bob", "--key", path("bob.pub"), "--approver", "--github", "17");
    expect([code, isSigned()]).toEqual([0, true]);
    const [sig = ""] = readdirSync(join(place.path, "trust/sigs"));
    expect(changed()).toEqual(["trust/root.yaml", `trust/sigs/${sig}`]);
    expect(sig).toBe(`2.${fingerprint("ada").slice(7).replaceAll("/", "_").replaceAll("+", "-")}.sig`);
    expect(out).toContain("signed by ada: it is in force once flotilla has read it on main; change nothing else");
    expect(trust()).toMatchObject({ version: 2, previous: digestOfText(first) });
    expect(trust()?.approvals[0]?.principals).toEqual(["ada", "bob"]);
    writeFileSync(path("allowed"), `ada ${publicLine("ada")}\n`);
    const verify = ["-Y", "verify", "-n", "flotilla-trust-v1", "-I", "ada", "-f", path("allowed"), "-s"];
    const answer = spawnSync("ssh-keygen", [...verify, join(place.path, "trust/sigs", sig)], { input: root() });
    expect(answer.status).toBe(0);
  });

  test("needs no signature while nothing is in force: its digest is the anchor", async () => {
    await of("init", "--name", "ada");
    const { out } = await of("add", "bob", "--key", path("bob.pub"), "--approver");
    expect(out).toContain(`flotilla reconcile --trust-anchor ${digestOfText(root())}\n`);
    expect(out).toContain(
      "\nno version is in force yet, so the anchor has to be this version's, instead of version 1's\n",
    );
    expect(out).not.toContain("stays as it is");
  });

  test("takes no other anchor where it follows the one in force, unless a root's key was stolen", async () => {
    await of("init", "--name", "ada");
    recordStateIn(place, { ...ledgerOf([], []), hasTrust: true, trust: inForce(root()) });
    const bob = await of("add", "bob", "--key", path("bob.pub"), "--root", "--approver");
    expect(bob.out).toContain("signed by ada: it is in force once flotilla has read it on main");
    expect(bob.out.endsWith("\nthe trust anchor stays the same\n")).toBe(true);
    recordStateIn(place, { ...ledgerOf([], []), hasTrust: true, trust: inForce(root()) });
    const eve = await of("add", "eve", "--key", path("eve.pub"), "--approver", "--new-anchor");
    expect(eve.out).toMatch(/signed by ada: it is in force once [\s\S]*\nthe trust anchor stays the same\n$/);
    recordStateIn(place, { ...ledgerOf([], []), hasTrust: true, trust: inForce(root()) });
    const known = await of("revoke", fingerprint("eve"), "--compromised", "--dry-run");
    expect(known.out).not.toContain("was compromised");
    const stolen = await of("revoke", fingerprint("bob"), "--compromised");
    expect(stolen.out).toMatch(
      /signed by ada: it is in force once [\s\S]*\na key of bob, who may sign versions, was compromised: once this version is in force, give its SHA-256 as the trust anchor; /,
    );
  });

  test("by somebody who is no root carries no signature, and says who is missing", async () => {
    await begun();
    signsWith("eve");
    const { code, out } = await of("add", "eve", "--key", path("eve.pub"), "--approver");
    expect([code, changed()]).toEqual([0, ["trust/root.yaml"]]);
    expect(out).toContain(
      "is signed by 0 of the 1 roots that version 1 asks for (nobody); it needs the signature of ada",
    );
    expect(out).toContain(
      "do not merge it into main before that: a version that too few roots signed closes every gate",
    );
  });

  test("that lacks signatures is not pushed to the source branch", async () => {
    await begun();
    signsWith("eve");
    const before = git("rev-parse", "HEAD");
    const { code, err } = await of("add", "eve", "--key", path("eve.pub"), "--push");
    expect([code, err]).toEqual([
      64,
      expect.stringMatching(/needs the signature of ada\n {2}.*--pr instead of --push/),
    ]);
    expect(git("rev-parse", "HEAD")).toBe(before);
  });

  test("rotates a root's key in two steps, for one alone could be signed by nobody", async () => {
    await begun();
    expect((await of("rotate", "ada", "--key", path("ada-2.pub"))).err).toMatch(
      /leaves only 0 with a valid key\n {2}add the new key first/,
    );
    expect((await of("add", "ada", "--key", path("ada-2.pub"))).out).toContain("signed by ada: ");
    signsWith("ada-2");
    expect((await of("revoke", fingerprint("ada"), "--retired")).out).toContain("signed by ada: ");
    expect(trust()).toMatchObject({ version: 3, revocations: [{ key: fingerprint("ada"), kind: "retired" }] });
    expect(git("log", "--format=%s", "-2")).toBe(
      `Trust version 3: revoke ${fingerprint("ada")}, retired\nTrust version 2: add to ada`,
    );
  });

  test("exchanges another's key and revokes the old one", async () => {
    await begun();
    await of("add", "bob", "--key", path("bob.pub"), "--approver");
    const { code } = await of("rotate", "bob", "--key", path("eve.pub"), "--compromised", fingerprint("bob"));
    expect(code).toBe(0);
    expect(trust()?.principals.get("bob")?.sshKeys).toEqual([fingerprint("eve")]);
    expect(trust()?.revocations).toEqual([{ key: fingerprint("bob"), kind: "compromised" }]);
  });

  test("that nobody can sign takes a new anchor", async () => {
    await begun();
    const argv = ["revoke", "ada", "--compromised"] as const;
    expect((await of(...argv)).err).toMatch(/if no such key is left, give --new-anchor/);
    const { code, out } = await of(...argv, "--new-anchor");
    expect([code, out]).toEqual([0, expect.stringContaining(`--trust-anchor ${digestOfText(root())}`)]);
    expect(out).toContain("\ntoo few roots are left to sign it, so the operator vouches for it\n");
    expect(changed()).toEqual(["trust/root.yaml"]);
  });

  const rows: readonly (readonly [what: string, argv: readonly string[], message: RegExp])[] = [
    ["what already exists", ["add", "ada"], /says so already/],
    ["a name that nobody has", ["rotate", "eve", "--openpgp", "x"], /x cannot be read/],
    ["an account's name", ["add", "bob", "--github", "bob"], /"bob" is not an account id/],
    ["half a revocation", ["revoke", "ada"], /--retired or --compromised is missing/],
    ["an end that is over", ["add", "ada", "--expires", "2020-01-01"], /would expire at 2020-01-01/],
    [
      "a machine that approves",
      ["add", "bot", "--machine", "--github", "1", "--approver"],
      /FLT1231[\s\S]*nothing was/,
    ],
  ];
  test("refuses what makes no sense, and writes nothing", async () => {
    await begun();
    const before = git("rev-parse", "HEAD");
    for (const [what, argv, message] of rows) {
      const { code, err } = await of(...argv);
      expect([what, code === 64 || code === 1, err]).toEqual([what, true, expect.stringMatching(message)]);
    }
    expect([git("rev-parse", "HEAD"), git("status", "--porcelain")]).toEqual([before, ""]);
  });

  test("refuses a file whose line ends git changes, for nobody could verify what is signed", async () => {
    await begun();
    git("config", "core.autocrlf", "true");
    git("rm", "--quiet", "--cached", "trust/root.yaml");
    git("reset", "--quiet", "--hard");
    expect(root()).toContain("\r\n");
    expect((await of("add", "bob", "--key", path("bob.pub"))).err).toMatch(
      /converts the line endings.*\n.*trust\/\*\* -text/,
    );
  });

  test("refuses a file that cannot be used, with file:line:col", async () => {
    await begun();
    place.write("trust/root.yaml", root().replace("threshold: 1", "threshold: 5"));
    git("commit", "--quiet", "-am", "break it");
    expect(await of("add", "bob", "--key", path("bob.pub"))).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^trust\/root\.yaml:\d+:\d+: .*FLT1223/),
    });
  });
});

test("two roots of two sign one after the other, and each is told what it changes (D 6)", async () => {
  await begun();
  await of("add", "bob", "--key", path("bob.pub"), "--approver", "--root");
  // By hand, as there is no command for it: the next one takes both.
  const second = root();
  const third = second
    .replace("version: 2", "version: 3")
    .replace(/previous: .*/, `previous: "${digestOfText(second)}"`)
    .replace("threshold: 1", "threshold: 2");
  place.write("trust/root.yaml", third.replace(/previous: .*/, `previous: "${"0".repeat(64)}"`));
  expect((await of("sign")).err).toMatch(/uncommitted changes\n {2}commit it on its own first/);
  place.write("trust/root.yaml", third);
  git("commit", "--quiet", "-am", "two of two");
  const first = await of("sign");
  expect(first.out.split("\n").slice(0, 4)).toEqual([
    `version 3 of trust/root.yaml, SHA-256 ${digestOfText(third)}`,
    `it changes version 2, SHA-256 ${digestOfText(second)}:`,
    "  - threshold 1",
    "  + threshold 2",
  ]);
  expect(first.out).toContain("no signatures so far\n");
  expect(first.out).toContain("1 of the 2 roots that version 3 asks for (ada); it needs the signature of bob");
  expect((await of("sign")).out).toContain("already contains your signature\n");
  signsWith("eve");
  expect(await of("sign")).toMatchObject({ code: 64, err: expect.stringMatching(/lists for nobody/) });
  signsWith("bob");
  const last = await of("sign");
  expect([last.code, last.out]).toEqual([0, expect.stringContaining("signed by ada, bob: it is in force once")]);
  expect(last.out).toMatch(/signatures so far:\n {2}trust\/sigs\/3\.\S+\.sig: ada with SHA256:/);
  expect(changed()).toEqual([expect.stringMatching(/^trust\/sigs\/3\.\S+\.sig$/)]);
});

describe("with a version in force by the record", () => {
  /** Records the trust file of the work tree as a reconciler would that accepted it. */
  function recordInForce(): void {
    const text = root();
    const read = trust();
    if (read === null) return;
    const from = git("rev-parse", "HEAD") as Commit;
    const record = { trust: read, text, since: 7 as Sequence, from, first: from, by: ["ada"] };
    const ledger = { ...emptyLedger, fleet: "f", sequence: 7 as Sequence, hasTrust: true, trust: record };
    recordStateIn(place, ledger);
  }

  test("the next follows it, and nothing follows what is not in force yet", async () => {
    await of("init", "--name", "ada");
    recordInForce();
    expect((await of("sign")).out).toBe("version 1 is already in force: it needs no more signatures\n");
    expect((await of("add", "bob", "--key", path("bob.pub"), "--push")).out).toContain(
      "signed by ada: it is in force once",
    );
    expect(await of("add", "eve", "--key", path("eve.pub"))).toMatchObject({
      code: 64,
      err: expect.stringMatching(
        /version 2 of .* is not the one in force, which is version 1\n {2}have it accepted first/,
      ),
    });
    recordInForce();
    expect((await of("show", "--state-branch", "none")).out).toContain("in force: none");
    place.git("fetch", "--quiet", "origin", "fleet/state:fleet/state");
    expect((await of("show")).out).toContain("in force: this version, since ledger 7, signed by ada\n");
    git("reset", "--quiet", "--hard", "HEAD~1");
    expect((await of("show")).out).toContain(", not this one, since ledger 7");
    expect((await of("add", "eve", "--key", path("eve.pub"))).err).toMatch(/bring the work tree up to date: git pull/);
  });

  test("a version by hand that does not follow it is not signed, and the right digest is told", async () => {
    await of("init", "--name", "ada");
    recordInForce();
    const digest = digestOfText(root());
    place.write("trust/root.yaml", root().replace("version: 1", `version: 2\n  previous: "${"0".repeat(64)}"`));
    git("commit", "--quiet", "-am", "by hand");
    expect(await of("sign")).toMatchObject({ code: 64, err: expect.stringContaining(digest) });
  });

  test("where its file is gone or broken, the way back is told, and none begins anew", async () => {
    await of("init", "--name", "ada");
    recordInForce();
    git("fetch", "--quiet");
    const restore = "git checkout origin/fleet/state -- trust/root.yaml";
    place.write("trust/root.yaml", "nothing\n");
    git("commit", "--quiet", "-am", "break it");
    expect((await of("show")).out).toMatch(
      /^trust\/root.yaml cannot be used, and every gate is closed: version 1 .*\n/,
    );
    expect((await of("show")).out).toContain(restore);
    git("rm", "--quiet", "-r", "trust");
    git("commit", "--quiet", "-m", "lose it");
    const begun = await of("init", "--name", "ada");
    expect([begun.code, begun.err]).toEqual([64, expect.stringContaining("version 1 of trust/root.yaml is in force")]);
    expect(begun.err).toContain(restore);
    const shown = await of("show");
    expect([shown.code, shown.err]).toEqual([
      64,
      expect.stringContaining("every gate is closed: version 1 is in force"),
    ]);
    expect(shown.err).toContain(restore);
    // As it says.
    execSync(`${restore} 2>&1`, { cwd: place.path });
    git("commit", "--quiet", "-m", "restore it");
    expect((await of("show")).out).toContain("in force: this version");
  });
});

describe("trust show", () => {
  test("tells version, roots, keys, rules and signatures of the branch, and what is in force", async () => {
    const either =
      "if ada starts the run or changed what it brings, bob has to approve; nobody else may; " +
      "if bob starts the run or changed what it brings, ada has to approve; nobody else may";
    await of("init", "--name", "ada", "--expires", "2027-10-01");
    const added = await of("add", "bob", "--key", path("bob.pub"), "--approver", "--github", "17");
    expect(added.err).toBe(`note: placements *, stages *: ${either}\n`);
    // What the version before left to the same people is not said again.
    expect((await of("add", "eve", "--key", path("eve.pub"), "--dry-run")).err).toBe("");
    let problems = "";
    const err = (text: string): void => {
      problems += text;
    };
    expect(await main(["validate", place.path], { out: () => {}, err, environment: {} })).toBe(0);
    expect(problems).toMatch(/trust\/root\.yaml:\d+:\d+: note FLT1239: placements \*, stages \*: if ada starts/);
    const shown = await of("show");
    expect([shown.code, shown.err]).toEqual([0, ""]);
    expect(shown.out.replace(/sigs\/\S+/, "sigs/it:").split("\n")).toEqual([
      `version 2, SHA-256 ${digestOfText(root())}`,
      "expires 2027-10-01T00:00:00Z",
      "in force: none; start with flotilla reconcile --trust-anchor and the digest above",
      "signatures",
      `  trust/sigs/it: ada with ${fingerprint("ada")}`,
      "roots: 1 of ada",
      "principals",
      "  ada",
      `    ssh ${fingerprint("ada")}`,
      "  bob",
      `    ssh ${fingerprint("bob")}`,
      "    github 17",
      "approvals",
      "  placements *, stages *: 1 of ada, bob; by commit or detached; " +
        "four eyes, unsigned changes: one more approval; within 24h",
      "in effect",
      `  placements *, stages *: ${either}`,
      "",
    ]);
    const { trust: value } = JSON.parse((await of("show", "-o", "json")).out);
    expect(value).toMatchObject({ version: 2, roots: ["ada"], inForce: null, signatures: [{ principal: "ada" }] });
  });

  test("says where a file that cannot be used is wrong", async () => {
    await of("init", "--name", "ada");
    place.write("trust/root.yaml", root().replace("- ada", "- adda"));
    git("commit", "--quiet", "-am", "break it");
    const { code, out, err } = await of("show");
    expect([code, out]).toEqual([1, "trust/root.yaml cannot be used, and none is in force\n"]);
    expect(err).toMatch(/^trust\/root\.yaml:\d+:\d+: .*FLT1230/);
  });

  test("says that there is none", async () => {
    expect((await of("show")).err).toMatch(/there is no trust\/root\.yaml on main/);
  });
});

describe.runIf(hasGpg)("with OpenPGP", () => {
  const home = process.env["GNUPGHOME"];
  beforeAll(() => {
    process.env["GNUPGHOME"] = path("gnupg");
    mkdirSync(path("gnupg"), { mode: 0o700 });
    const batch = ["--batch", "--quiet", "--passphrase", "", "--quick-generate-key"];
    execFileSync("gpg", [...batch, "Ada <ada@example.com>", "ed25519", "sign", "never"], { stdio: "pipe" });
  });
  afterAll(() => {
    spawnSync("gpgconf", ["--kill", "all"]);
    if (home === undefined) delete process.env["GNUPGHOME"];
    else process.env["GNUPGHOME"] = home;
  });

  test("the file holds the certificate in a block, and the next version is signed with it", async () => {
    git("config", "gpg.format", "openpgp");
    git("config", "user.signingKey", "ada@example.com");
    await begun();
    expect(root()).toMatch(/openpgp:\n {8}- \|-\n {10}-----BEGIN PGP PUBLIC KEY BLOCK-----\n/);
    const { code, out } = await of("add", "bob", "--key", path("bob.pub"), "--approver");
    expect([code, out]).toEqual([0, expect.stringContaining("signed by ada: it is in force once")]);
    const [sig = ""] = readdirSync(join(place.path, "trust/sigs"));
    expect(sig).toMatch(/^2\.[0-9A-F]{40}\.sig$/);
    expect(git("cat-file", "commit", "HEAD")).toContain("PGP SIGNATURE");
  });
});
