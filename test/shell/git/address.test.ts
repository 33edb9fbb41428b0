import { describe, expect, test } from "vitest";
import { addressOf, redact } from "../../../src/shell/git/model/address.ts";
import { branchesOf } from "../../../src/shell/git/model/branch.ts";

describe("an address", () => {
  test.each([
    ["./fleet", "path", "./fleet"],
    ["/srv/fleet.git", "path", "/srv/fleet.git"],
    ["fleet", "path", "fleet"],
    ["./odd:name", "path", "./odd:name"],
    ["C:\\fleet", "path", "C:\\fleet"],
    ["https://git.example/fleet.git", "http", "https://git.example/fleet.git"],
    ["HTTP://git.example/fleet", "http", "http://git.example/fleet"],
    ["https://ada:s3cr3t@git.example/fleet", "http", "https://git.example/fleet"],
    ["https://s3cr3t@git.example/fleet", "http", "https://git.example/fleet"],
    ["ssh://git@git.example:2222/fleet", "remote", "ssh://git@git.example:2222/fleet"],
    ["ssh://git:s3cr3t@git.example/fleet", "remote", "ssh://git@git.example/fleet"],
    ["git@git.example:team/fleet.git", "remote", "git@git.example:team/fleet.git"],
    ["file:///srv/fleet.git", "remote", "file:///srv/fleet.git"],
  ] as const)("%s is a %s called %s", (repo, kind, name) => {
    const address = addressOf(repo, null);
    expect([address.kind, address.name]).toEqual([kind, name]);
  });

  test.each([
    ["https://git.example/f", null, null, null],
    ["https://git.example/f", "tok", "Basic eC1hY2Nlc3MtdG9rZW46dG9r", null],
    ["https://ada@git.example/f", "tok", "Basic YWRhOnRvaw==", "ada"],
    ["https://ada@git.example/f", null, null, "ada"],
    ["https://ada:p%40ss@git.example/f", "tok", "Basic YWRhOnBAc3M=", "ada"],
  ] as const)("%s with token %s is sent with %s", (repo, token, authorization, username) => {
    expect(addressOf(repo, token)).toMatchObject({ url: "https://git.example/f", authorization, username });
  });

  // B-39, B-40
  test.each([
    "",
    "-u",
    "--upload-pack=touch x",
    "ext::sh -c touch% x",
    "fd::17",
    "git://git.example/fleet",
    "ftp://git.example/fleet",
    "javascript://x",
    "ssh://-oProxyCommand=touch%20x/fleet",
    "ssh://%2doProxyCommand=x/fleet",
    "-oProxyCommand=touch:fleet",
    "git@-oProxyCommand=touch:fleet",
    "https://git.example/fleet\nhost=evil.example",
    "https://",
    "https://git.example/fleet?sig=s3cr3t",
    "https://git.example/fleet#main",
    "git@host:fleet\n",
    "/srv/fl\0eet",
  ])("%j is refused", (repo) => {
    expect(() => addressOf(repo, null)).toThrowError(
      expect.objectContaining({ code: "RepositoryUnsupported" }) as Error,
    );
  });

  test("a URL that cannot be read is not repeated, since it may hold a password", () => {
    expect(() => addressOf("https://ada:s3cr3t@:x/", null)).toThrowError(
      "the address is refused: the URL cannot be read",
    );
  });

  test("passwords of URLs and known secrets leave a text", () => {
    const text = "fatal: https://ada:s3@cr3t@git.example/f and ssh://u@h/ and tok123";
    expect(redact(text, ["tok123", ""])).toBe("fatal: https://git.example/f and ssh://h/ and ***");
  });
});

describe("the names of branches", () => {
  test.each(["main", "fleet/state", "release-1.2", "größe", "a%2Fb"])("%s is one", (name) => {
    expect(branchesOf(name, "other")).toEqual({ source: name, state: "other" });
  });

  test.each([
    "",
    "@",
    "-u",
    "--upload-pack=x",
    "../../x",
    "a..b",
    "a//b",
    "/a",
    "a/",
    ".a",
    "a/.b",
    "a.lock",
    "a.",
    "a b",
    "a~1",
    "a^",
    "a:b",
    "a*",
    "a?",
    "a[",
    "a\\b",
    "a@{1}",
    "a\nb",
    "x".repeat(4096),
  ])("%j is none (B-39)", (name) => {
    const refused = expect.objectContaining({ code: "RepositoryUnsupported" }) as Error;
    expect(() => branchesOf(name, "other")).toThrowError(refused);
    expect(() => branchesOf("other", name)).toThrowError(refused);
  });

  test("the source branch cannot be the state branch", () => {
    expect(() => branchesOf("main", "main")).toThrowError("both called main");
  });
});
