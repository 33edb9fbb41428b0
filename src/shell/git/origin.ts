import { resolve } from "node:path";
import { Fault } from "../reconcile/fault.ts";
import { addressOf } from "./model/address.ts";
import { type Git, gitEnvironment, runGit } from "./program/process.ts";

/**
 * Where the remote `origin` of the repository that `folder` lies in is, credentials included; null when there is no
 * repository, no such remote, or no git program to ask.
 *
 * An origin that cannot be the hub is a fault: to pass over it would make another repository the hub.
 */
export async function originOf(folder: string): Promise<string | null> {
  const url = await ask(folder, "remote", "get-url", "origin");
  if (url === null || url === "") return null;
  if (addressOf(url, null).kind !== "path") return url;
  // Git reads a relative path from the top of the work tree.
  return resolve((await ask(folder, "rev-parse", "--show-toplevel")) ?? folder, url);
}

async function ask(folder: string, ...args: readonly string[]): Promise<string | null> {
  const git: Git = { gitDir: null, environment: gitEnvironment(), secrets: [] };
  try {
    const during = "looking for the remote origin";
    const { code, output } = await runGit(git, ["-C", resolve(folder), ...args], { during });
    return code === 0 ? output.toString("utf8").trimEnd() : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}
