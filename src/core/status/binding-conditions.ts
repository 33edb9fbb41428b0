import type { Binding, BindingFacts, ContestedObject, ObjectFailure, Target } from "../model/binding.ts";
import { boundedMessage, type Verdict } from "../model/condition.ts";
import type { ContactFailure } from "../model/ledger.ts";
import { objectText } from "../model/manifest.ts";
import { instantText } from "../model/value.ts";

/** Everything besides the binding itself that its conditions depend on. */
export interface BindingContext {
  /** Why the member cannot be contacted; null while it answers, or was not asked this time. */
  readonly contactFailure: ContactFailure | null;
  /** A newer version than the binding's waits for the rollout's budget. */
  readonly heldBack: boolean;
  /** Why the version that the cluster should have cannot be rendered; null when it can, or is not known. */
  readonly failure: RenderFailure | null;
}

/** `OverriddenFailed` for faults of overrides; every other cause is `SyncWorkFailed` (`status/README.md#c-9`). */
interface RenderFailure {
  readonly code: "OverriddenFailed" | "SyncWorkFailed";
  readonly message: string;
}

type Status = Verdict["status"];

/**
 * The conditions of one binding, in KubeFleet's terms: RolloutStarted, Overridden, WorkSynchronized, then Applied and
 * Available, or DiffReported for ReportDiff (`status/README.md#the-conditions-of-a-binding`). The first failure ends
 * the list.
 *
 * In progress is Unknown, never False (`#c-5`). Facts about an earlier target count as absent, and while the member is
 * out of contact its last facts are not shown as current (`#i-22`). A binding that is being removed has no such
 * conditions. A cluster that is held back keeps reporting on the version it has.
 */
export function bindingVerdicts(binding: Binding, context: BindingContext): readonly Verdict[] {
  const { target, removal, generation } = binding;
  const verdict = (type: string, status: Status, reason: string, message: string): Verdict => ({
    type,
    status,
    reason,
    message: boundedMessage(message),
    observedGeneration: generation,
  });
  if (removal !== null) return [];
  if (context.failure !== null) return failureVerdicts(context.failure, verdict);
  if (target === null) return context.heldBack ? [rolloutVerdict(true, verdict)] : [];
  return [
    rolloutVerdict(context.heldBack, verdict),
    overriddenVerdict(target, verdict),
    verdict("WorkSynchronized", "True", "AllWorkSynced", "what the cluster is to carry is rendered and recorded"),
    ...memberVerdicts(binding, target, context.contactFailure, verdict),
  ];
}

type MakeVerdict = (type: string, status: Status, reason: string, message: string) => Verdict;

const rolloutVerdict = (heldBack: boolean, verdict: MakeVerdict): Verdict =>
  heldBack
    ? verdict("RolloutStarted", "False", "RolloutNotStartedYet", "a newer version waits for the rollout's budget")
    : verdict("RolloutStarted", "True", "RolloutStarted", "the rollout of what the cluster is to carry has started");

/** The failing version got no further; the cluster keeps what it has (`render/README.md#o-04`). */
function failureVerdicts({ code, message }: RenderFailure, verdict: MakeVerdict): readonly Verdict[] {
  const started = rolloutVerdict(false, verdict);
  switch (code) {
    case "OverriddenFailed":
      return [started, verdict("Overridden", "False", "OverriddenFailed", message)];
    case "SyncWorkFailed":
      return [
        started,
        verdict("Overridden", "True", "OverriddenSucceeded", "no override failed"),
        verdict("WorkSynchronized", "False", "SyncWorkFailed", message),
      ];
  }
}

function overriddenVerdict({ clusterOverrides, resourceOverrides }: Target, verdict: MakeVerdict): Verdict {
  const count = clusterOverrides.length + resourceOverrides.length;
  if (count === 0) return verdict("Overridden", "True", "NoOverrideSpecified", "no override applies to this cluster");
  return verdict(
    "Overridden",
    "True",
    "OverriddenSucceeded",
    `${count} ${count === 1 ? "override" : "overrides"} applied`,
  );
}

/** The conditions that the member decides: Applied and Available, or DiffReported. */
function memberVerdicts(
  { facts }: Binding,
  target: Target,
  contactFailure: ContactFailure | null,
  verdict: MakeVerdict,
): readonly Verdict[] {
  const words = target.applyStrategy.type === "ReportDiff" ? diffWords : applyWords;
  if (contactFailure !== null) {
    const message = `the cluster cannot be asked (${contactFailure.code}): ${contactFailure.message}`;
    return [verdict(words.type, "Unknown", words.pending, message)];
  }
  const current = facts?.sequence === target.sequence ? facts : null;
  if (current === null || current.applied === "pending") {
    const isTold = current?.objectFailures.some((it) => it.type === "Applied") === true;
    const message = isTold ? troubleText(current, "Applied") : "the cluster has not confirmed every object yet";
    return [verdict(words.type, "Unknown", words.pending, message)];
  }
  if (current.applied === "failed")
    return [verdict(words.type, "False", words.failed, troubleText(current, "Applied"))];
  const done = verdict(words.type, "True", words.done, `${words.message}${fightText(current)}`);
  return words === applyWords ? [done, availableVerdict(current, verdict)] : [done];
}

const applyWords = {
  type: "Applied",
  pending: "ApplyPending",
  failed: "NotAllWorkHaveBeenApplied",
  done: "AllWorkHaveBeenApplied",
  message: "every object is applied",
};
const diffWords: typeof applyWords = {
  type: "DiffReported",
  pending: "DiffReportingPending",
  failed: "NotAllWorkHaveDiffReported",
  done: "AllWorkHaveDiffReported",
  message: "the differences of every object are reported",
};

/** Not available yet is False, as in KubeFleet; the message says which objects, and whether they still may be. */
function availableVerdict(facts: BindingFacts, verdict: MakeVerdict): Verdict {
  switch (facts.phase) {
    case "available":
      return verdict("Available", "True", "AllWorkAreAvailable", "every object is available");
    case "untrackable":
      return verdict(
        "Available",
        "True",
        "NotAllWorkAreAvailabilityTrackable",
        "every object is applied; whether all of them are available cannot be seen",
      );
    case "progressing":
      return verdict("Available", "False", "NotAllWorkAreAvailable", `not yet: ${troubleText(facts, "Available")}`);
    case "failed":
      return verdict("Available", "False", "NotAllWorkAreAvailable", troubleText(facts, "Available"));
  }
}

/** Applied stays True while somebody changes the object back; who does and how often is added to the message. */
function fightText({ contested = [] }: BindingFacts): string {
  const [first] = contested;
  if (first === undefined) return "";
  const rest = contested.length > 1 ? ` (and ${contested.length - 1} more like it)` : "";
  return `; ${objectText(first.id)}: ${contestText(first)}${rest}`;
}

/** Who changes the object back, how often it was repaired, and when it is tried next. */
export const contestText = ({ by, repairs, since }: Omit<ContestedObject, "id">): string =>
  `${by === null ? "somebody" : `field manager ${by}`} keeps changing it back; put right ${repairs} times or more since ` +
  `${instantText(since)}, ever more rarely`;

/** The first failing object, its failure, and how many more there are. */
function troubleText({ objectFailures, objectFailureCount }: BindingFacts, type: ObjectFailure["type"]): string {
  const first = objectFailures.find((it) => it.type === type) ?? objectFailures[0];
  if (first === undefined) return "the objects are not ready";
  const rest = objectFailureCount > 1 ? ` (and ${objectFailureCount - 1} more)` : "";
  return `${objectText(first.id)}: ${first.message}${rest}`;
}
