import { afterAll, beforeAll } from "vitest";
import { openRepository } from "../../../src/shell/git/open.ts";
import { type GitServer, serveGit } from "./http-server.ts";
import type { Hub } from "./hub.ts";
import type { Way } from "./repository.contract.ts";

type Engine = "program" | "iso";

/** A hub at a path, bare or with a work tree as its name says. */
export const atPath = (hubName: "hub.git" | "hub"): Way => ({
  name: `program at ${hubName}`,
  hubName,
  open: (hub) => open(hub, pathOf(hub), "program"),
});

/** A bare hub behind a server that runs while the tests of one file do. */
export function overHttp(engine: Engine): Way {
  let server: GitServer;
  beforeAll(async () => {
    server = await serveGit({ root: "/" });
  });
  afterAll(() => server.close());
  const urlOf = (hub: Hub): string => server.url(pathOf(hub).slice(1));
  return { name: `${engine} over http`, hubName: "hub.git", open: (hub) => open(hub, urlOf(hub), engine) };
}

const pathOf = ({ folder, name }: Hub): string => `${folder}/${name}`;

const open = (hub: Hub, repo: string, engine: Engine) =>
  openRepository({
    repo,
    branch: "main",
    stateBranch: "fleet/state",
    engine,
    cacheFolder: `${hub.folder}/cache`,
    token: null,
  });
