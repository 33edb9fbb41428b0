import { describe, expect, it } from "vitest";
import { type ForgeAddress, forgeAddressOf, gitHubOf } from "../../../src/shell/forge/address.ts";

const fleet = (dialect: ForgeAddress["dialect"], name: string, api: string): ForgeAddress => ({
  ...{ dialect, name, api, owner: "team", repository: "fleet" },
});

describe("a repository's page says where its forge is asked", () => {
  const rows: readonly (readonly [string, ForgeAddress])[] = [
    ["https://github.com/team/fleet", fleet("github", "github.com/team/fleet", "https://api.github.com")],
    ["https://github.com/team/fleet.git/", fleet("github", "github.com/team/fleet", "https://api.github.com")],
    ["github+https://git.corp/team/fleet", fleet("github", "git.corp/team/fleet", "https://git.corp/api/v3")],
    ["https://codeberg.org/team/fleet", fleet("gitea", "codeberg.org/team/fleet", "https://codeberg.org/api/v1")],
    ["https://corp/git/team/fleet", fleet("gitea", "corp/git/team/fleet", "https://corp/git/api/v1")],
    ["http://127.0.0.1:3000/team/fleet", fleet("gitea", "127.0.0.1:3000/team/fleet", "http://127.0.0.1:3000/api/v1")],
  ];
  it.each(rows)("%s", (text, address) => expect(forgeAddressOf(text)).toEqual(address));
});

describe("what is no such page is refused", () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["team/fleet", /not a URL/],
    ["http://git.corp/team/fleet", /only https/],
    ["file:///team/fleet", /only https/],
    ["https://ann:s3cret@git.corp/team/fleet", /contains credentials/],
    ["https://git.corp/team/fleet?token=s3cret", /contains \?/],
    ["https://git.corp/fleet", /names no repository/],
    ["https://git.corp/team/a%2F..%2Fb", /names no repository/],
  ];
  it.each(rows)("%s", (text, because) => {
    expect(forgeAddressOf(text)).toMatch(because);
    expect(forgeAddressOf(text)).not.toMatch(/s3cret/);
  });
});

describe("a remote on github.com says where it is, and no other does", () => {
  const rows: readonly (readonly [string, string | null])[] = [
    ["https://github.com/team/fleet.git", "github.com/team/fleet"],
    ["https://x-access-token:s3cret@github.com/team/fleet", "github.com/team/fleet"],
    ["git@github.com:team/fleet.git", "github.com/team/fleet"],
    ["ssh://git@github.com/team/fleet.git", "github.com/team/fleet"],
    ["https://github.com.evil.example/team/fleet", null],
    ["https://evil.example/github.com/team/fleet", null],
    ["https://codeberg.org/team/fleet", null],
    ["/srv/fleet.git", null],
  ];
  it.each(rows)("%s", (remote, name) => expect(gitHubOf(remote)?.name ?? null).toBe(name));
});
