import { declined } from "./deliver.ts";
import type { FoundDocument } from "./edits/found-document.ts";
import { undefinedObject } from "./edits/named-objects.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";
import type { Workplace } from "./workplace.ts";

/** Where the MemberCluster of a name is defined; null when that is nowhere or in several places, which is said. */
export function memberFile(workplace: Workplace, cluster: string, terminal: Terminal): FoundDocument | null {
  const wanted = { kind: "MemberCluster", namespace: null, name: cluster };
  const found = workplace.find(wanted);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined) {
    const { message, fix } = undefinedObject(workplace, wanted);
    declined(message, fix, terminal);
  } else
    declined(
      `several files define ${cluster}: ${found.map((it) => it.path).join(", ")}`,
      "remove all but one",
      terminal,
    );
  return null;
}

/** That a file is laid out in a way that cannot be edited without loss. */
export const unsupported = ({ path }: FoundDocument, what: string, terminal: Terminal): ExitCode =>
  declined(`${path} cannot be edited`, `${what} cordon-key=cordon-value:NoSchedule by hand`, terminal);
