import { describe, expect, it } from "vitest";
import type { Binding } from "../../../src/core/model/binding.ts";
import { type Commit, instantText, type Sequence } from "../../../src/core/model/value.ts";
import { type BindingContext, bindingVerdicts } from "../../../src/core/status/binding-conditions.ts";
import { clientSide } from "../../strategy.ts";
import {
  binding,
  broken,
  facts,
  fine,
  heldBack,
  noon,
  notApplied,
  notYet,
  objectFailure,
  target,
  terse,
  unreachable,
} from "./record.ts";

const started = "RolloutStarted True RolloutStarted";
const synced = ["Overridden True NoOverrideSpecified", "WorkSynchronized True AllWorkSynced"];
const applied = "Applied True AllWorkHaveBeenApplied";
const begun = [started, ...synced];
const reportDiff = target(0, { applyStrategy: { ...clientSide, type: "ReportDiff" } });

describe("a binding's conditions", () => {
  const cases: readonly {
    id: string;
    claim: string;
    binding?: Partial<Binding>;
    context?: Partial<BindingContext>;
    want: readonly string[];
  }[] = [
    { id: "S-01", claim: "everything is available", want: [...begun, applied, "Available True AllWorkAreAvailable"] },
    {
      id: "S-02, against it C 5",
      claim: "in progress is Unknown",
      binding: { facts: facts({ applied: "pending", phase: "progressing" }) },
      want: [...begun, "Applied Unknown ApplyPending"],
    },
    {
      id: "also",
      claim: "a target that nobody has answered for yet",
      binding: { facts: null },
      want: [...begun, "Applied Unknown ApplyPending"],
    },
    {
      id: "also",
      claim: "an answer about an earlier target counts as none",
      binding: { facts: facts({ sequence: 6 as Sequence }) },
      want: [...begun, "Applied Unknown ApplyPending"],
    },
    {
      id: "also",
      claim: "what cannot be applied ends the list",
      binding: { facts: notApplied },
      want: [...begun, "Applied False NotAllWorkHaveBeenApplied"],
    },
    {
      id: "also",
      claim: "not yet available",
      binding: { facts: notYet },
      want: [...begun, applied, "Available False NotAllWorkAreAvailable"],
    },
    {
      id: "also",
      claim: "explicitly failed",
      binding: { facts: broken },
      want: [...begun, applied, "Available False NotAllWorkAreAvailable"],
    },
    {
      id: "also",
      claim: "untrackable counts as available, and says so",
      binding: { facts: facts({ phase: "untrackable" }) },
      want: [...begun, applied, "Available True NotAllWorkAreAvailabilityTrackable"],
    },
    {
      id: "I-22",
      claim: "what a silent member said last is not shown as current",
      context: { contactFailure: unreachable },
      want: [...begun, "Applied Unknown ApplyPending"],
    },
    {
      id: "O-01",
      claim: "overrides applied",
      binding: { target: target(0, { resourceOverrides: ["shop/ro-0"] }) },
      want: [
        started,
        "Overridden True OverriddenSucceeded",
        ...synced.slice(1),
        applied,
        "Available True AllWorkAreAvailable",
      ],
    },
    {
      id: "O-04",
      claim: "an override that fails ends the list",
      context: { failure: { code: "OverriddenFailed", message: "no" } },
      want: [started, "Overridden False OverriddenFailed"],
    },
    {
      id: "O-04",
      claim: "also before anything was placed, and while others are held back",
      binding: { target: null, facts: null, state: "Scheduled" },
      context: { failure: { code: "OverriddenFailed", message: "no" }, heldBack: true },
      want: [started, "Overridden False OverriddenFailed"],
    },
    {
      id: "R-05, C 9",
      claim: "another cause is not blamed on overrides",
      context: { failure: { code: "SyncWorkFailed", message: "no" } },
      want: [started, "Overridden True OverriddenSucceeded", "WorkSynchronized False SyncWorkFailed"],
    },
    {
      id: "S-09",
      claim: "held back, it goes on reporting on what it has",
      context: { heldBack: true },
      want: ["RolloutStarted False RolloutNotStartedYet", ...synced, applied, "Available True AllWorkAreAvailable"],
    },
    {
      id: "also",
      claim: "held back before the first version",
      binding: { target: null, facts: null, state: "Scheduled" },
      context: heldBack,
      want: ["RolloutStarted False RolloutNotStartedYet"],
    },
    { id: "also", claim: "picked a moment ago", binding: { target: null, facts: null, state: "Scheduled" }, want: [] },
    {
      id: "also",
      claim: "being removed, it claims nothing any more",
      binding: { removal: { since: noon, cause: "c0ffee" as Commit, propagation: "Delete", sequence: 8 as Sequence } },
      want: [],
    },
    {
      id: "S-08",
      claim: "ReportDiff, nothing reported yet",
      binding: { target: reportDiff, facts: null },
      want: [...begun, "DiffReported Unknown DiffReportingPending"],
    },
    {
      id: "S-08",
      claim: "ReportDiff, reported",
      binding: { target: reportDiff },
      want: [...begun, "DiffReported True AllWorkHaveDiffReported"],
    },
  ];
  for (const { id, claim, binding: own = {}, context = {}, want } of cases)
    it(`${id}: ${claim}`, () =>
      expect(bindingVerdicts(binding("c1", own), { ...fine, ...context }).map(terse)).toEqual(want));

  it("every one is about the binding's current revision", () =>
    expect(new Set(bindingVerdicts(binding("c1"), fine).map((it) => it.observedGeneration))).toEqual(new Set([3])));
});

describe("what they say", () => {
  const last = (own: Partial<Binding>, context: Partial<BindingContext> = {}): string | undefined =>
    bindingVerdicts(binding("c1", own), { ...fine, ...context }).at(-1)?.message;

  it("the object that cannot be applied, and why", () =>
    expect(last({ facts: notApplied })).toBe("Deployment shop/web: spec.selector is immutable"));

  it("who keeps changing back what is applied, and how often it was put right", () => {
    const id = { group: "apps", kind: "Deployment", namespace: "shop", name: "web" };
    const contests = [
      { id, by: "hpa", repairs: 6, since: noon },
      { id: { ...id, name: "api" }, by: null, repairs: 3, since: noon },
    ];
    const [applied] = bindingVerdicts(binding("c1", { facts: facts({ contested: contests }) }), fine).slice(-2);
    expect(applied).toMatchObject({ type: "Applied", status: "True" });
    expect(applied?.message).toBe(
      "every object is applied; Deployment shop/web: field manager hpa keeps changing it back; put right 6 times or more " +
        `since ${instantText(noon)}, ever more rarely (and 1 more like it)`,
    );
  });

  it("the first object that is not available, and how many more", () =>
    expect(last({ facts: broken })).toBe("Deployment shop/web: image pull failed (and 2 more)"));

  it("that what is not available yet still may be", () =>
    expect(last({ facts: notYet })).toBe("not yet: Deployment shop/web: 1 of 2 replicas"));

  it("why a member cannot be asked", () =>
    expect(last({}, { contactFailure: unreachable })).toBe(
      "the cluster cannot be asked (Unreachable): connection refused",
    ));

  it("no more than a status can hold, and no half characters", () => {
    const message = "𝄞".repeat(600);
    const said = last({
      facts: facts({ applied: "failed", objectFailures: [objectFailure("Applied", message)], objectFailureCount: 1 }),
    });
    expect(said?.length).toBeLessThanOrEqual(512);
    expect(said).not.toMatch(/\p{Surrogate}/u);
  });
});
