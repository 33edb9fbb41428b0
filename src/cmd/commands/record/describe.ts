import { acceptedFolder } from "../../../core/ledger/layout.ts";
import type { JsonObject } from "../../../core/model/json.ts";
import type { RunRecord } from "../../../core/model/update-run.ts";
import { type Commit, oneLine, type RunKey } from "../../../core/model/value.ts";
import { gateRequestsOf, requestState } from "../../../core/plan/approval/approval-request.ts";
import { approvalFile, gateRequests, newApprovalPath, openGateRequests } from "../../../core/report/approval-files.ts";
import { actionLines, mayApprove, type Viewer } from "../../../core/report/approval-options.ts";
import { approvalContext } from "../../../core/report/approval-status.ts";
import { runApprovalValues, runUncountedLines } from "../../../core/report/approval-values.ts";
import { runTree, treeLines } from "../../../core/report/run-tree.ts";
import { gateRequestKey } from "../../../core/report/tables.ts";
import type { Repository } from "../../../shell/reconcile/ports.ts";
import { viewerOf } from "../../hub/approver.ts";
import { recordedObjects, standingAnswers, withRecord } from "../../hub/record.ts";
import { type HubOptions, now } from "../../hub/wire.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { keyNamed, type NamespaceOptions } from "../../terminal/namespaces.ts";
import { unknownText } from "../../terminal/outcome.ts";
import { encoded, type Format, type Terminal } from "../../terminal/terminal.ts";
import { describeMember } from "./describe-cluster.ts";

export interface DescribeOptions extends HubOptions, Pick<NamespaceOptions, "namespace"> {
  readonly kind: string;
  readonly name: string;
  readonly output: Format;
}

/** Shows one run, or one member cluster, in full. */
export async function describe(options: DescribeOptions, terminal: Terminal): Promise<ExitCode> {
  if (["cluster", "clusters"].includes(options.kind)) return describeMember(options, terminal);
  if (["run", "runs"].includes(options.kind)) return describeRun(options, terminal);
  terminal.err(`error: unknown kind ${options.kind}; choose run or cluster\n`);
  return exitCodes.usage;
}

/** A run from what is recorded: what is done, what waits, for whom and until when, and what fails. */
async function describeRun(options: DescribeOptions, terminal: Terminal): Promise<ExitCode> {
  return withRecord(options, terminal, async ({ repository, state, ledger, printAge }) => {
    const { commit: head } = state;
    const key = keyNamed(options.name, options);
    const run = ledger.runs.get(key as RunKey);
    if (head === null || run === undefined) {
      terminal.err(unknownText(`run ${key}`, [...ledger.runs.keys()]));
      return exitCodes.usage;
    }
    if (options.output !== "text") {
      const answers = runApprovalValues(run, ledger, await standingAnswers(repository, state));
      terminal.out(encoded({ ...(await asValue(repository, head, run)), answers }, options.output));
    } else {
      await printAge();
      const tree = runTree({ run, ledger, now: now() });
      terminal.out(
        treeLines(tree)
          .map((it) => `${oneLine(it)}\n`)
          .join(""),
      );
      const strays = runUncountedLines(run, ledger, await standingAnswers(repository, state));
      for (const line of strays) terminal.out(`\n${oneLine(line)}\n`);
      for (const path of await misplacedAnswers(repository, head, run))
        if (!strays.some((it) => it.startsWith(`${path} `)))
          terminal.out(`\n${oneLine(path)} answers no request: its requestDigest does not match\n`);
      const context = approvalContext(ledger, now());
      if (openGateRequests(run).length > 0)
        terminal.out(requestTexts(run, options.branch, await viewerOf(options, context)));
    }
    return exitCodes.done;
  });
}

/** What the viewer may do about each open request: the command and, if they may approve, the file to copy. */
export const requestTexts = (run: RunRecord, branch: string, reader: Viewer): string =>
  gateRequestsOf(run)
    .filter((it) => requestState(it) === "open")
    .map((ask) => {
      const lines = actionLines(ask, reader).map(oneLine);
      if (!mayApprove(ask, reader)) return `\n${lines.join("\n")}\n`;
      const isSigned = reader.context !== null;
      const principal = reader.principal ?? "your name";
      const { path, text } = approvalFile({ run, stage: ask.stage.name, when: ask.when }, ask.request, principal);
      const alone = isSigned ? ", on its own in a commit that you sign" : "";
      const where = isSigned ? newApprovalPath(ask, principal, () => false) : path;
      return `\n${lines.join("\n")}; or commit this file to ${branch}${alone}: ${where}\n\n${text}`;
    })
    .join("");

/** Files at the path of an open request's approval whose digest does not match. */
async function misplacedAnswers(repository: Repository, head: Commit, run: RunRecord): Promise<readonly string[]> {
  const files = new Map((await repository.files(head)).map((it) => [it.path, it.blob]));
  const there = openGateRequests(run).flatMap((it) => {
    const { path } = approvalFile(it, it.gate, "");
    const blob = files.get(`${acceptedFolder}${path}`);
    return blob === undefined ? [] : [{ path, blob, digest: it.gate.digest }];
  });
  const blobs = await repository.blobs(there.map((it) => it.blob));
  const decoder = new TextDecoder();
  return there.filter(({ blob, digest }) => !decoder.decode(blobs.get(blob)).includes(digest)).map((it) => it.path);
}

/** For programs: KubeFleet's objects as they are recorded, and the frozen plan. */
async function asValue(repository: Repository, head: Commit, run: RunRecord): Promise<JsonObject> {
  const objects = (kind: "runs" | "plans" | "approvals", key: string) => recordedObjects(repository, head, kind, key);
  const [its = null] = await objects("runs", run.key);
  const [plan = null] = await objects("plans", run.key);
  const approvals = await Promise.all(gateRequests(run).map((it) => objects("approvals", gateRequestKey(it))));
  return { run: its, plan, approvals: approvals.flat() };
}
