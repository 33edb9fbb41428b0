import { commitLines } from "../core/model/commit.ts";
import type { Ledger } from "../core/model/ledger.ts";
import type { Commit } from "../core/model/value.ts";
import type { Ask } from "../core/plan/approval/ask.ts";
import { type AskedView, readAsked } from "../shell/reconcile/asked.ts";
import { Fault } from "../shell/reconcile/fault.ts";
import type { Repository } from "../shell/reconcile/ports.ts";
import { type HubOptions, openRecord } from "./wire.ts";

/** What a request is about, and who says so. */
export interface AskedLook extends AskedView {
  /** One line for each of the commits that brought it. */
  readonly commitLines: readonly string[];
  /** The commit of the state branch where all of it stands. */
  readonly state: Commit;
}

/** Reads what an open request is about; null where nothing of it can be had: then only the record's own words are shown. */
export async function lookAt(
  ask: Ask,
  ledger: Ledger,
  options: HubOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<AskedLook | null> {
  const repository = await openRecord(options, environment);
  try {
    const { state } = await repository.heads();
    if (state === null) return null;
    const view = await readAsked(repository, state, ask, ledger);
    const lines: string[] = [];
    for (const it of view.commits) lines.push(await commitText(repository, it));
    return { ...view, commitLines: lines, state };
  } finally {
    await repository.close();
  }
}

/** `1a2b3c4d5e6f Take web 1.5 (Dave <dave@example.com>)`, as far as git has it here. */
async function commitText(repository: Repository, commit: Commit): Promise<string> {
  const short = commit.slice(0, 12);
  const raw = await rawOf(repository, commit);
  if (raw === null) return short;
  const text = new TextDecoder().decode(raw);
  const body = text.slice(text.indexOf("\n\n") + 2);
  const author = Buffer.from(commitLines(raw)?.author ?? "", "latin1").toString("utf8");
  const who = /^(.*?) \d+ [+-]\d{4}$/.exec(author)?.[1] ?? "nobody named";
  return `${short} ${body.split("\n", 1)[0]?.slice(0, 100) ?? ""} (${who.slice(0, 100)})`;
}

async function rawOf(repository: Repository, commit: Commit): Promise<Uint8Array | null> {
  try {
    const [found] = (await repository.lineage?.(commit, 1)) ?? [];
    return found?.commit === commit ? found.raw : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}
