// Signatures as git would make them, by the real programs: held against ssh-keygen, gpg and our own reading.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { openAuthor, pastTexts, signingKeyAt } from "../../../src/shell/git/author/author.ts";
import { detachedSignature } from "../../../src/shell/signature/verifier.ts";
import { type Clone, clonesWith } from "./clone.ts";
import { temporaryFolder } from "./hub.ts";

const clones = clonesWith({ "notes.txt": "one\n" });
let place: Clone;
beforeEach(() => {
  place = clones();
});
afterEach(() => place.remove());

const keys = temporaryFolder();
const home = process.env["HOME"];
let agent: ChildProcess | null = null;
let certificate = "";
const hasGpg = spawnSync("gpg", ["--version"]).status === 0;
const path = (name: string): string => join(keys.path, name);
const publicLine = (name: string): string => readFileSync(path(`${name}.pub`), "utf8").trim();

beforeAll(async () => {
  for (const name of ["ada", "inAgent"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "ada@example.com", "-f", path(name)]);
  process.env["HOME"] = keys.path;
  agent = spawn("ssh-agent", ["-D", "-a", path("socket")], { stdio: "ignore" });
  process.env["SSH_AUTH_SOCK"] = path("socket");
  for (let tries = 0; tries < 500 && !existsSync(path("socket")); tries++)
    await new Promise((it) => setTimeout(it, 10));
  execFileSync("ssh-add", ["-q", path("inAgent")], { stdio: "pipe" });
  execFileSync("rm", [path("inAgent")]);
  process.env["GNUPGHOME"] = path("gnupg");
  if (!hasGpg) return;
  mkdirSync(path("gnupg"), { mode: 0o700 });
  const batch = ["--batch", "--quiet", "--passphrase", "", "--quick-generate-key"];
  execFileSync("gpg", [...batch, "Ada <ada@example.com>", "ed25519", "sign", "never"], { stdio: "pipe" });
  certificate = execFileSync("gpg", ["--armor", "--export", "ada@example.com"], { encoding: "utf8" }).trim();
});
afterAll(() => {
  agent?.kill();
  if (hasGpg) spawnSync("gpgconf", ["--kill", "all"]);
  if (home !== undefined) process.env["HOME"] = home;
  delete process.env["GNUPGHOME"];
  delete process.env["SSH_AUTH_SOCK"];
  keys.remove();
});

const bytes = new TextEncoder().encode("version 2\n");
const configure = (settings: Readonly<Record<string, string>>): void => {
  for (const [key, value] of Object.entries(settings)) place.git("config", key, value);
};
const fingerprint = (name: string): string =>
  execFileSync("ssh-keygen", ["-l", "-f", path(`${name}.pub`)], { encoding: "utf8" }).split(" ")[1] ?? "";
const signed = async (): Promise<string> => (await openAuthor(place.path)).sign(bytes, "flotilla-trust-v1");
const factOf = (armored: string): Promise<SignatureFact> =>
  detachedSignature(bytes, armored, certificate === "" ? [] : [certificate], Date.now() as Instant);

describe("an SSH signature", () => {
  const rows: readonly (readonly [what: string, settings: () => Readonly<Record<string, string>>, key: string])[] = [
    ["by a public key beside its private half", () => ({ "user.signingKey": path("ada.pub") }), "ada"],
    ["by a private key", () => ({ "user.signingKey": path("ada") }), "ada"],
    ["by a key below ~", () => ({ "user.signingKey": "~/ada.pub" }), "ada"],
    ["by a public key whose private half an agent has", () => ({ "user.signingKey": "~/inAgent.pub" }), "inAgent"],
    ["by a key in the settings", () => ({ "user.signingKey": publicLine("inAgent") }), "inAgent"],
    ["by a key in the settings, marked", () => ({ "user.signingKey": `key::${publicLine("inAgent")}` }), "inAgent"],
    ["by the key that a command gives", () => ({ "gpg.ssh.defaultKeyCommand": "ssh-add -L" }), "inAgent"],
  ];
  test.each(rows)("%s, for its namespace and over these bytes", async (_, settings, key) => {
    configure({ "gpg.format": "ssh", ...settings() });
    const armored = await signed();
    expect(await factOf(armored)).toEqual({
      kind: "ssh",
      fingerprint: fingerprint(key),
      keyType: "ssh-ed25519",
      namespace: "flotilla-trust-v1",
      touched: null,
      certificate: null,
    });
    expect(await signingKeyAt(place.path)).toEqual({ kind: "ssh", line: publicLine(key) });
    writeFileSync(path("allowed"), `ada ${publicLine(key)}\n`);
    writeFileSync(path("sig"), armored);
    const verify = ["-Y", "verify", "-f", path("allowed"), "-I", "ada", "-n", "flotilla-trust-v1", "-s", path("sig")];
    expect(spawnSync("ssh-keygen", verify, { input: bytes }).status).toBe(0);
  });

  test("is made by the program that git would run", async () => {
    const program = path("my signer");
    writeFileSync(program, `#!/bin/sh\necho "$@" > '${path("seen")}'\nexec ssh-keygen "$@"\n`);
    chmodSync(program, 0o755);
    configure({ "gpg.format": "ssh", "user.signingKey": path("ada.pub"), "gpg.ssh.program": program });
    expect((await factOf(await signed())).kind).toBe("ssh");
    expect(readFileSync(path("seen"), "utf8")).toMatch(/^-Y sign -n flotilla-trust-v1 -f \S+ada\.pub \S+\n$/);
  });
});

describe.runIf(hasGpg)("an OpenPGP signature", () => {
  const rows: readonly (readonly [what: string, settings: Readonly<Record<string, string>>])[] = [
    ["by the key of the one who commits", {}],
    [
      "by the key that is chosen, and the format named",
      { "gpg.format": "openpgp", "user.signingKey": "ada@example.com" },
    ],
    ["by the program that is chosen", { "gpg.program": "/nowhere/gpg", "gpg.openpgp.program": "gpg" }],
  ];
  test.each(rows)("%s", async (_, settings) => {
    configure(settings);
    expect(await factOf(await signed())).toMatchObject({
      kind: "openpgp",
      fingerprint: expect.stringMatching(/^.{40}$/),
    });
    expect((await signingKeyAt(place.path))?.kind).toBe("openpgp");
  });
});

describe("what is missing is said, with what to do", () => {
  const rows: readonly (readonly [what: string, Readonly<Record<string, string>>, message: RegExp, fix: RegExp])[] = [
    ["X.509", { "gpg.format": "x509" }, /"x509"/, /git config gpg\.format ssh; git config user\.signingKey/],
    ["no SSH key", { "gpg.format": "ssh" }, /user\.signingKey/, /git config gpg\.format ssh/],
    ["no such SSH key", { "gpg.format": "ssh", "user.signingKey": "/nowhere" }, /\/nowhere/, /ssh-add -l/],
    [
      "no agent's key",
      { "gpg.format": "ssh", "gpg.ssh.defaultKeyCommand": "echo none" },
      /defaultKeyCommand prints no key/,
      /ssh-add/,
    ],
    ["no program", { "gpg.program": "/nowhere/gpg" }, /\/nowhere\/gpg cannot be run/, /install GnuPG/],
    ...(hasGpg ? [["no OpenPGP key", { "user.signingKey": "eve" }, /the key eve/, /list-secret-keys/] as const] : []),
  ];
  test.each(rows)("%s", async (_, settings, message, fix) => {
    configure(settings);
    await expect(signed()).rejects.toEqual(
      expect.objectContaining({ message: expect.stringMatching(message), fix: expect.stringMatching(fix) }),
    );
    expect(await signingKeyAt(place.path)).toBeNull();
  });
});

test("a commit is signed where it is asked for, whatever git is set up to do, in place and on a branch of its own", async () => {
  configure({ "gpg.format": "ssh", "user.signingKey": path("ada.pub"), "commit.gpgSign": "false" });
  const author = await openAuthor(place.path);
  const of = (name: string) => ({ path: name, text: "a\n", before: null });
  await author.commit({ files: [of("a")], message: "A", signed: true, delivery: { kind: "commit" } });
  expect(place.git("cat-file", "commit", "HEAD")).toContain("BEGIN SSH SIGNATURE");
  const delivery = { kind: "pullRequest", branch: "b", base: "main" } as const;
  await author.commit({ files: [of("b")], message: "B", signed: true, delivery });
  expect(place.inHub("cat-file", "commit", "b")).toContain("BEGIN SSH SIGNATURE");
  await author.commit({ files: [of("c")], message: "C", delivery: { kind: "commit" } });
  expect(place.git("cat-file", "commit", "HEAD")).not.toContain("SIGNATURE");
});

test("earlier texts of a file come newest first, byte by byte", async () => {
  for (const text of ["two\n\n", "three"]) {
    place.write("notes.txt", text);
    place.git("commit", "--quiet", "-am", "next");
  }
  expect(await pastTexts(place.path, "notes.txt")).toEqual(["three", "two\n\n", "one\n"]);
  expect(await pastTexts(place.path, "never.txt")).toEqual([]);
});
