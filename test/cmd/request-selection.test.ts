import { expect, test } from "vitest";
import { type RequestSelector, selectRequest } from "../../src/cmd/commands/approvals/request-selection.ts";
import type { Digest, Instant } from "../../src/core/model/value.ts";
import { approveCommand } from "../../src/core/report/approval-files.ts";
import { approvalOf, gateOf } from "../gate.ts";
import { askingRun } from "./asked-ledger.ts";
import { approval, at, ledgerOf, on, run, stage, web } from "./rollout-ledger.ts";

const request = gateOf({ requestedAt: at("09:00:00"), digest: "ab".repeat(32) as Digest });
const change = { clusters: new Map(), leaves: new Map(), others: [], since: [], request };
const given = { approval: approvalOf("ann", at("09:10:00")) };
const canary = stage("canary", ["east"], { before: [approval], after: [approval] });
const rest = stage("rest", ["west"], { before: [approval] });
const end = { kind: "succeeded", at: 5 as Instant } as const;
const ledger = ledgerOf(
  [web([on("east", 2)], { change })],
  [
    askingRun("one", [[canary, { before: given, after: {} }], [rest]]),
    askingRun("two", [
      [canary, { before: {} }],
      [rest, { before: {} }],
    ]),
    askingRun("over", [[canary, { before: {} }], [rest]], { end }),
    run("new", 1),
  ],
);
const nothing: RequestSelector = { run: null, stage: null, when: null, change: null };
const said = (wish: Partial<RequestSelector>, verb = "approve"): string => {
  const chosen = selectRequest(ledger, { ...nothing, ...wish }, verb);
  if (chosen.kind === "refused") return `${chosen.message}; ${chosen.fix}`;
  const { ask } = chosen;
  return `${approveCommand(ask, verb)}${ask.kind === "gate" ? ` --${ask.when}` : ""}`;
};

test.each([
  ["the only one", { run: "one" }, "flotilla approve one canary --after"],
  ["the stage's", { run: "two", stage: "rest" }, "flotilla approve two rest --before"],
  ["a placement's change", { change: "web" }, "flotilla approve --change web"],
  [
    "several",
    { run: "two" },
    "run two waits for several approvals; choose one: flotilla approve two canary --before or flotilla approve two rest --before",
  ],
  [
    "answered",
    { run: "one", stage: "canary", when: "before" },
    "the approval before stage canary of run one was approved at 2026-11-21T09:10:00Z by ann (approvals/ann.yaml); " +
      "an accepted approval is final; to stop what it allowed: flotilla run stop one",
  ],
  [
    "not asked yet",
    { run: "one", stage: "rest" },
    "run one has not requested that; it now requests the approval after stage canary; flotilla describe run one shows how far it is",
  ],
  [
    "moot",
    { run: "over" },
    "the approval before stage canary of run over, requested at 1970-01-01T00:00:00Z, is no longer needed: the run has ended; create a new run to continue (flotilla run create)",
  ],
  [
    "never asked, and over",
    { run: "over", stage: "rest" },
    "run over has ended: nothing is left to approve; create a new run to continue (flotilla run create)",
  ],
  [
    "without a plan",
    { run: "new" },
    "run new has not requested that; it requests nothing now; flotilla describe run new shows how far it is",
  ],
  ["no such stage", { run: "one", stage: "x" }, "run one has no stage x; its stages are: canary, rest"],
  ["no such run", { run: "x" }, "there is no record of run x; recorded are: one, two, over, new"],
  ["no such placement", { change: "x" }, "there is no record of placement x; recorded are: web"],
  ["nothing", {}, "no request is named; give a run and perhaps a stage; flotilla get approvals lists all"],
  [
    "both",
    { run: "one", change: "web" },
    "a run and --change cannot be combined; give a run and perhaps a stage, or --change and a placement",
  ],
])("which request is meant: %s", (_, wish, want) => expect(said(wish as Partial<RequestSelector>)).toBe(want));

test("what is to be typed instead begins as it did", () => {
  expect(said({ run: "two" }, "reject")).toContain("flotilla reject two canary --before or flotilla reject two rest");
});
