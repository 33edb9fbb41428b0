import { expect, test } from "vitest";
import { pullRequestPage } from "../../../src/shell/git/author/person-push.ts";

const rows: readonly (readonly [url: string, said: string, page: string | null])[] = [
  ["https://github.com/acme/fleet.git", "", "https://github.com/acme/fleet/compare/main...flotilla/a%23b?expand=1"],
  [
    "https://ada:secret@github.com/acme/fleet",
    "",
    "https://github.com/acme/fleet/compare/main...flotilla/a%23b?expand=1",
  ],
  ["git@github.com:acme/fleet.git", "", "https://github.com/acme/fleet/compare/main...flotilla/a%23b?expand=1"],
  [
    "ssh://git@github.com:22/acme/fleet.git",
    "",
    "https://github.com/acme/fleet/compare/main...flotilla/a%23b?expand=1",
  ],
  ["git@codeberg.org:acme/fleet.git", "", "https://codeberg.org/acme/fleet/compare/main...flotilla/a%23b"],
  [
    "https://gitea.acme.example/acme/fleet.git",
    "",
    "https://gitea.acme.example/acme/fleet/compare/main...flotilla/a%23b",
  ],
  [
    "git@gitlab.com:acme/sub/fleet.git",
    "",
    "https://gitlab.com/acme/sub/fleet/-/merge_requests/new?merge_request%5Bsource_branch%5D=flotilla/a%23b&merge_request%5Btarget_branch%5D=main",
  ],
  ["https://git.acme.example/fleet.git", "", null],
  ["/srv/fleet.git", "", null],
  ["../fleet.git", "", null],
  [
    "https://git.acme.example/fleet.git",
    "remote: \nremote: Create a new pull request for 'flotilla/a':\nremote:   https://git.acme.example/fleet/compare/main...flotilla/a\nremote: ",
    "https://git.acme.example/fleet/compare/main...flotilla/a",
  ],
  [
    "git@github.com:acme/fleet.git",
    "remote: This repository moved: https://github.com/new/fleet\nremote:      https://github.com/new/fleet/pull/new/a\nTo github.com:acme/fleet.git",
    "https://github.com/new/fleet/pull/new/a",
  ],
];
test.each(rows)("%s %j", (url, said, page) => {
  expect(pullRequestPage({ url, said, base: "main", branch: "flotilla/a#b" })).toBe(page);
});
