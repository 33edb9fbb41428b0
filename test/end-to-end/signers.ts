import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { gitIn } from "../shell/git/hub.ts";
import type { Hub } from "./hub.ts";
import { flotilla, type Run } from "./program.ts";

/** Somebody with a clone of the hub and a key of their own, who signs what he commits. */
export interface Signer {
  readonly name: string;
  readonly clone: string;
  /** `~/.ssh/id_ed25519.pub`, as it were. */
  readonly publicKey: string;
  /** Brings the clone to where the hub is. */
  pull(): void;
  /** Runs `flotilla …` in an up-to-date clone. */
  run(...args: readonly string[]): Promise<Run>;
  /** The same in the clone as it is, however far behind. */
  runBehind(...args: readonly string[]): Promise<Run>;
  git(...args: readonly string[]): string;
}

/** Makes a person with a clone and an ed25519 key below `folder`; the key is made by ssh-keygen. */
export function newSigner(name: string, hub: Hub, folder: string): Signer {
  const key = join(folder, `${name}-key`);
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key]);
  const clone = join(folder, name);
  gitIn(folder, ["clone", "--quiet", hub.repo, clone]);
  const settings = {
    "user.name": name,
    "user.email": `${name}@example.com`,
    "gpg.format": "ssh",
    "user.signingKey": `${key}.pub`,
    "commit.gpgSign": "true",
  };
  for (const [name, value] of Object.entries(settings)) gitIn(clone, ["config", name, value]);
  const git = (...args: readonly string[]): string => gitIn(clone, args);
  const pull = (): void => {
    git("fetch", "--quiet", "origin");
    git("checkout", "--quiet", "-B", "main", "origin/main");
  };
  const runBehind = (...args: readonly string[]): Promise<Run> =>
    flotilla(args, { cwd: clone, environment: { GIT_CONFIG_GLOBAL: "/dev/null" } });
  return {
    name,
    clone,
    publicKey: `${key}.pub`,
    git,
    pull,
    run: (...args) => {
      pull();
      return runBehind(...args);
    },
    runBehind,
  };
}
