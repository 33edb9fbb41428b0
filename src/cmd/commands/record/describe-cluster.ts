import type { Json } from "../../../core/model/json.ts";
import { type ClusterName, oneLine } from "../../../core/model/value.ts";
import { describeCluster, knownProperties } from "../../../core/report/cluster-text.ts";
import type { TableRows } from "../../../core/report/tables.ts";
import { newMemory } from "../../../shell/reconcile/memory.ts";
import { acceptedIntent } from "../../../shell/reconcile/source.ts";
import { cordonedIn } from "../../edits/drain.ts";
import { acceptedFiles, recordedObjects, withRecord } from "../../hub/record.ts";
import { type HubOptions, now } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { unknownText } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal, table } from "../../terminal/terminal.ts";

interface MemberOptions extends HubOptions {
  readonly name: string;
  readonly output: Format;
}

/** Everything that is known of a member: what its file says, what was found out, what it carries and why. */
export async function describeMember(options: MemberOptions, terminal: Terminal): Promise<ExitCode> {
  return withRecord(options, terminal, async ({ repository, state, ledger, printAge }) => {
    const record = ledger.clusters.get(options.name as ClusterName);
    if (state.commit === null || record === undefined) {
      terminal.err(unknownText(`cluster ${options.name}`, [...ledger.clusters.keys()]));
      return exitCodes.usage;
    }
    const intent = await acceptedIntent(repository, state, newMemory());
    if (options.output !== "text") {
      const [cluster = null] = await recordedObjects(repository, state.commit, "clusters", record.name);
      const properties = knownProperties(record, intent.clusters.get(record.name)) as unknown as Json;
      const placements = [...ledger.placements.values()].filter((it) => it.bindings.has(record.name));
      terminal.out(encoded({ cluster, properties, placements: placements.map((it) => it.key) }, options.output));
      return exitCodes.done;
    }
    await printAge();
    const cordoned = cordonedIn(await acceptedFiles(repository, state));
    const { lines, properties, placements } = describeCluster(record, { ledger, intent, cordoned, now: now() });
    terminal.out(lines.map((it) => `${oneLine(it)}\n`).join(""));
    for (const it of [properties, placements]) terminal.out(tableText(it));
    return exitCodes.done;
  });
}

const tableText = ([header, rows]: TableRows): string => (rows.length === 0 ? "" : `\n${table(header, rows)}`);
