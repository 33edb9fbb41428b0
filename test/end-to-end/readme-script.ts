import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "./bundle.ts";

/** A command of the README, as people are to type it. */
export interface Command {
  /** As it stands there, on one line, without its comment. */
  readonly text: string;
  /** What stands behind `#`. */
  readonly comment: string;
  /** In the README, from 1. */
  readonly line: number;
}

/** What commands begin with: other blocks are files. */
const programs = /^(?:npx|cp|git|\$EDITOR) /;

/** The commands that the README gives in blocks, from one heading up to another, in its own order. */
export function commandsBetween(from: string, to: string): readonly Command[] {
  const lines = readFileSync(join(projectFolder, "README.md"), "utf8").split("\n");
  const [begin, end] = [lines.indexOf(from), lines.indexOf(to)];
  if (begin < 0 || end < begin) throw new Error(`the README has no ${from} before a ${to}`);
  const commands: Command[] = [];
  for (let at = begin; at < end; at++) {
    const line = at + 1;
    const indented = /^ {4}(\S.*)$/.exec(lines[at] ?? "")?.[1];
    if (indented === undefined || !programs.test(indented)) continue;
    let text = indented;
    while (text.endsWith("\\")) text = `${text.slice(0, -1)}${(lines[++at] ?? "").trim()}`;
    const [, command = "", comment = ""] = /^(.*?)(?:\s+# (.*))?$/.exec(text) ?? [];
    commands.push({ text: command, comment, line });
  }
  return commands;
}
