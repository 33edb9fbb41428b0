import { join } from "node:path";
import { stateEdits } from "../../src/core/ledger/writer.ts";
import { emptyLedger, type Ledger } from "../../src/core/model/ledger.ts";
import type { Clone } from "../shell/git/clone.ts";
import { gitIn } from "../shell/git/hub.ts";

/** Puts a ledger on the hub's state branch, and source files as accepted, as a reconciler would have. */
export function recordStateIn(
  { hub }: Pick<Clone, "hub">,
  ledger: Ledger,
  accepted: Readonly<Record<string, string>> = {},
): void {
  const shown = { rowsOf: () => [], indexOf: () => "", selectedOf: () => [] };
  const files = [
    ...stateEdits(emptyLedger, ledger, shown).flatMap((it) => (it.kind === "write" ? [it] : [])),
    ...Object.entries(accepted).map(([path, text]) => ({ path: `accepted/${path}`, text })),
  ];
  const blob = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const head = `commit refs/heads/fleet/state\ncommitter f <f@localhost> 1700000000 +0000\n${blob("state\n")}`;
  const stream = files.map(({ path, text }) => `M 100644 inline ${path}\n${blob(text)}`).join("");
  gitIn(join(hub.folder, hub.name), ["fast-import", "--quiet", "--force"], `${head}deleteall\n${stream}`);
}
