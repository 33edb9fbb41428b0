import { type Command, Option } from "commander";
import { isDnsLabel } from "../../core/intent/kinds/metadata.ts";
import { partsOfKey } from "../../core/model/value.ts";
import type { TableRows } from "../../core/report/tables.ts";

/** Which namespace is meant by what stands on the command line: without either the fleet itself. */
export interface NamespaceOptions {
  readonly namespace?: string;
  /** The fleet and every namespace. */
  readonly allNamespaces?: boolean;
}

/** The option of commands that name something which may be of a namespace (`cmd/README.md#namespaces`). */
export const withNamespace = (command: Command, of: string): Command =>
  command.addOption(new Option("-n, --namespace <name>", `namespace of ${of}`)).hook("preAction", (it) => {
    const { namespace } = it.opts<NamespaceOptions>();
    if (namespace === undefined) return;
    if (!isDnsLabel(namespace)) it.error(`error: ${JSON.stringify(namespace)} is not the name of a namespace`);
    const other = it.args.find((name) => name.includes("/") && !name.startsWith(`${namespace}/`));
    if (other !== undefined) it.error(`error: ${other} is not in the namespace ${namespace}; leave out one of the two`);
  });

/** The same for commands that also list. */
export const withNamespaces = (command: Command, of: string): Command =>
  withNamespace(command, of).addOption(
    new Option("-A, --all-namespaces", "list those of the fleet and of every namespace").conflicts("namespace"),
  );

/** The key of what was named: as `namespace/name`, or by its name in the namespace of the option. */
export const keyNamed = (name: string, { namespace }: Pick<NamespaceOptions, "namespace">): string =>
  namespace === undefined || name.includes("/") ? name : `${namespace}/${name}`;

/** Whether a list shows what has this key. */
export const isListed = (key: string, { namespace, allNamespaces = false }: NamespaceOptions): boolean =>
  allNamespaces || partsOfKey(key)[0] === (namespace ?? null);

/** Cells that name what is of the same namespace as their row. */
const named: ReadonlySet<string> = new Set(["NAME", "PLACEMENT", "STRATEGY"]);

/** The rows of what is listed, each of which begins with its key: by name, behind the namespace where all are listed. */
export function listedRows([header, rows]: TableRows, options: NamespaceOptions): TableRows {
  const shown = rows.filter(([key = ""]) => isListed(key, options));
  const short = shown.map((row) => {
    const [namespace] = partsOfKey(row[0] ?? "");
    const cells = row.map((it, at) => (namespace !== null && named.has(header[at] ?? "") ? partsOfKey(it)[1] : it));
    return options.allNamespaces === true ? [namespace ?? "-", ...cells] : cells;
  });
  return [options.allNamespaces === true ? ["NAMESPACE", ...header] : header, short];
}
