// What the second opinion says of a commit of the state branch is sorted by its codes and subjects, and never by its words.
import { expect, test } from "vitest";
import { auditStep } from "../../../src/core/audit/audit.ts";
import type { AuditCheck, AuditSubject } from "../../../src/core/audit/audit-finding.ts";
import { type AuditedDefectCode, findingOf } from "../../../src/core/audit/audit-opinion.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { Ledger, PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { DefectSubject } from "../../../src/core/model/plan-defect.ts";
import { runKey } from "../../../src/core/model/update-run.ts";
import type { ClusterName, Digest, PlacementKey } from "../../../src/core/model/value.ts";
import { clusterOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { World, write } from "../../world.ts";

/** Every code, with the check that it counts under. */
const codes: { readonly [Code in AuditedDefectCode]: AuditCheck } = {
  TrustForgotten: "trust",
  TrustFileForgotten: "trust",
  TrustFileNotFound: "trust",
  TrustFileExpired: "trust",
  TrustFileRolledBack: "trust",
  TrustFileUnvouched: "trust",
  TrustFileNotSuccessor: "trust",
  TrustFileCommitMixed: "trust",
  TrustFileBelowThreshold: "trust",
  AnswerForgotten: "approvals",
  AnswerJudgedAgain: "approvals",
  AnswerInvalid: "approvals",
  AnswerWithdrawn: "approvals",
  ApprovalNotRequested: "approvals",
  ApprovalWithoutApprover: "approvals",
  ApprovalWithoutTrustFile: "approvals",
  ApprovalAfterTrustExpiry: "approvals",
  ApprovalUnsigned: "approvals",
  ApprovalRejected: "approvals",
  ApprovalBelowMinimum: "approvals",
  ApproverDuplicate: "approvals",
  ApproverInvalid: "approvals",
  ApproverMismatch: "approvals",
  RequestChanged: "approvals",
  ProtectedTargetUnapproved: "approvals",
  ProtectedCascadeUnapproved: "approvals",
  TargetWithoutRun: "plans",
  RemovalWithoutRun: "plans",
  RunPlanChanged: "plans",
  RunContinuedAfterEnd: "plans",
  RunApprovalForgotten: "plans",
  StageOutOfOrder: "plans",
  StageFinishBackdated: "plans",
  StageSkippedAfterStart: "plans",
  StageStartUnapproved: "plans",
  StageEndUnapproved: "plans",
  StageWaitCutShort: "plans",
  StageNotRunning: "plans",
  ClusterUpdateUnapproved: "plans",
  MaxConcurrencyExceeded: "plans",
  MaxFailuresExceeded: "plans",
};

// Every one of these words names something else, too.
const misleading = "trusts approvals/web.yaml of run r, and goes back to web on m1";
const [web, shop] = ["web", "team/shop"] as PlacementKey[] as [PlacementKey, PlacementKey];
const [m1, r] = ["m1" as ClusterName, runKey(null, "r")];

test.each(Object.entries(codes))("%s counts under %s, whatever its message says", (code, check) => {
  const defect = { code: code as AuditedDefectCode, subject: { kind: "ledger" }, message: misleading } as const;
  expect(findingOf(defect)).toEqual({ check, subject: { kind: "ledger" }, what: misleading });
});

const run = { kind: "run", key: r } as const;
const placement = { kind: "placement", key: shop } as const;
const subjects: readonly (readonly [where: string, subject: DefectSubject, of: AuditSubject])[] = [
  ["the trust file in its own file", { kind: "trustFile" }, { kind: "trust" }],
  ["an approval file with the answers", { kind: "approvalFile", path: "approvals/r.yaml" }, { kind: "answers" }],
  ["a run in its own file", { kind: "run", run: r }, run],
  ["a stage with its run", { kind: "stage", run: r, stage: "one" }, run],
  ["a placement in its own file", { kind: "placement", placement: shop }, placement],
  ["a binding with its placement", { kind: "binding", placement: shop, cluster: m1 }, placement],
  ["an object with its placement", { kind: "object", placement: shop, cluster: m1, object: "/Secret/a/b" }, placement],
  ["a cluster in the ledger", { kind: "cluster", cluster: m1 }, { kind: "ledger" }],
  ["a held deletion in the ledger", { kind: "deletion", digest: "d" as Digest }, { kind: "ledger" }],
  ["the ledger in itself", { kind: "ledger" }, { kind: "ledger" }],
];

test.each(subjects)("the audit looks for %s, whatever the message says", (_, subject, of) => {
  expect(findingOf({ code: "RunPlanChanged", subject, message: misleading }).subject).toEqual(of);
});

test("a placement that is named like a cluster is not blamed for what another one does there", () => {
  const world = new World();
  const policy = policyOf("PickAll", undefined);
  world.commit(() => {
    world.join(clusterOf("m1"));
    write(world, objectOf("Namespace", "web", "one"));
    for (const name of ["m1", "web"] as const)
      world.placements.set(name as PlacementKey, placementOf({ name, policy, options: ["external"] }));
  });
  world.pass();
  const seen = world.look();
  const { placements } = seen.ledger;
  const record = placements.get(web) as PlacementRecord;
  const bound = record.bindings.get(m1) as Binding;
  const target = {
    sequence: 9,
    digest: "other",
    clusterOverrides: [],
    resourceOverrides: [],
    resourceIndex: 0,
  } as never;
  const bindings = new Map([...record.bindings, [m1, { ...bound, target }] as const]);
  const after: Ledger = { ...seen.ledger, placements: new Map([...placements, [web, { ...record, bindings }]]) };

  expect([...placements.keys()]).toEqual(["m1", "web"]);
  expect(auditStep(seen, after)).toContainEqual({
    check: "plans",
    subject: { kind: "placement", key: web },
    what: "moves web on m1, which no run says",
  });
});
