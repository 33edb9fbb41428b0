import { objectText } from "../model/manifest.ts";
import type { Reason } from "../model/reason.ts";
import type { RunWait } from "../model/update-run.ts";
import { type Instant, instantText } from "../model/value.ts";
import { contestText } from "../status/binding-conditions.ts";
import { quarantineText } from "../status/quarantine.ts";
import { waitText } from "../status/run-words.ts";
import { confirmationFile, heldReasons } from "./deletion-text.ts";
import { quantity, someNames } from "./phrases.ts";

/** How serious a reason is: somebody has to help (exit code 3), it waits (0), or it is only worth knowing (0). */
type Weight = "stuck" | "waiting" | "notice";

/** The weight of each kind of reason (`cmd/README.md#exit-codes`). */
export function weightOf(reason: Reason): Weight {
  switch (reason.kind) {
    case "renderFailed":
    case "applyFailed":
    case "contested":
    case "unhealthy":
    case "unreachable":
    case "selectionFailed":
    case "contentLost":
    case "sourceHeld":
    case "runFailed":
    case "trustRefused":
    case "quarantined":
      return "stuck";
    case "run":
      return runWeight(reason.wait);
    case "leaving":
      return reason.stuck ? "stuck" : "waiting";
    case "waitingForHandOver":
    case "heldBack":
    case "applying":
    case "awaitingHealth":
    case "confirmationNeeded":
    case "protected":
    case "answerPending":
      return "waiting";
    case "unfulfilled":
    case "nothingSelected":
    case "selectionWarning":
    case "started":
    case "adopted":
    case "wantedTwice":
    case "inventoryLost":
    case "orphans":
    case "left":
    case "beyondGrant":
    case "held":
    case "answerDenied":
    case "confirmationVoid":
      return "notice";
  }
}

function runWeight(wait: RunWait): Weight {
  switch (wait.kind) {
    case "failures":
    case "stuck":
    case "held":
      return "stuck";
    case "planning":
    case "task":
    case "clusters":
      return "waiting";
    case "stopped":
    case "joined":
    case "superseded":
      return "notice";
  }
}

/** One reason in words: what a terminal, the state branch's page and the log all show. One line, no full stop. */
export function reasonText(reason: Reason): string {
  switch (reason.kind) {
    case "unfulfilled":
      return `${reason.placement}: ${reason.found} of ${reason.wanted} clusters found${listed(reason.because, "; ")}`;
    case "quarantined":
    case "selectionFailed":
    case "nothingSelected":
      return `${reason.placement}: ${refusalText(reason)}`;
    case "contentLost":
      return `${reason.placement}: the content of resource snapshot ${reason.resourceIndex} is lost; commit it again`;
    case "selectionWarning":
      return `${reason.placement}: ${reason.message}`;
    case "renderFailed":
      return `${reason.placement}: cannot be rendered for ${reason.cluster}: ${reason.message}`;
    case "started":
      return `${reason.placement}: resource snapshot ${reason.resourceIndex} starts on ${someNames(reason.clusters)}`;
    case "heldBack":
      return `${reason.placement}: ${someNames(reason.clusters)} held back: ${reason.arithmetic}`;
    case "applying":
      return `${reason.placement}: applying to ${someNames(reason.clusters)}`;
    case "awaitingHealth":
      return `${reason.placement}: waiting for ${reason.cluster} to become available${untilText(reason.until)}: ${reason.message}`;
    case "applyFailed":
      return `${reason.placement}: ${objectText(reason.object)} failed on ${reason.cluster}: ${reason.code}: ${reason.message}`;
    case "contested":
      return `${reason.placement}: ${objectText(reason.id)} on ${reason.cluster}: ${contestText(reason)}`;
    case "unhealthy":
      return `${reason.placement}: not available on ${reason.cluster} since ${instantText(reason.since)}: ${reason.message}`;
    case "unreachable":
      return `${reason.cluster}: ${contactTexts[reason.code] ?? reason.code} since ${instantText(reason.since)}: ${reason.message}${reason.code === "Forbidden" ? "; check RBAC" : ""}`;
    case "adopted":
      return `${reason.placement}: took over on ${reason.cluster}: ${someNames(reason.objects.map(objectText))}`;
    case "waitingForHandOver":
    case "wantedTwice":
    case "held":
    case "beyondGrant":
      return ownerText(reason);
    case "leaving":
      return `${reason.placement}: ${quantity(reason.objects, "object")} still to be removed from ${reason.cluster}: ${reason.message}`;
    case "confirmationNeeded":
    case "confirmationVoid":
      return deletionText(reason);
    case "inventoryLost":
    case "orphans":
      return `${reason.placement}: ${strayText(reason)}`;
    case "left":
      return `${reason.cluster}: left the fleet; its objects of ${someNames(reason.placements)} stay there unchanged`;
    case "run":
      return `${reason.placement}: run ${reason.run}${runPlace(reason.wait)} ${waitText(reason.wait)}`;
    case "runFailed":
      return `${reason.placement}: run ${reason.run} failed: ${reason.code}: ${reason.message}`;
    case "trustRefused":
    case "answerDenied":
    case "answerPending":
    case "protected":
      return consentText(reason);
    case "sourceHeld":
      return `${reason.code} at ${reason.head.slice(0, 7)}: ${reason.message}`;
  }
}

const strayText = (reason: Extract<Reason, { kind: "inventoryLost" | "orphans" }>): string =>
  reason.kind === "orphans"
    ? `${quantity(reason.objects, "object")} on ${reason.cluster} that no decision explains; left alone`
    : `${reason.cluster} has lost its inventory; objects there with Flotilla's mark are listed again and, when removed, left in place instead of deleted`;

const untilText = (until: Instant | null): string => (until === null ? "" : ` (until ${instantText(until)})`);

/** Reasons why an object stays as it is, or with whom it is. */
function ownerText(
  reason: Extract<Reason, { kind: "waitingForHandOver" | "wantedTwice" | "held" | "beyondGrant" }>,
): string {
  if (reason.kind === "beyondGrant")
    return `${reason.placement}: stays on ${someNames(reason.clusters)} as it is, which its tenant is not granted (${reason.grant}): nothing new gets there`;
  if (reason.kind === "held")
    return `${objectText(reason.object)}: stays as accepted in ${reason.commit.slice(0, 7)}, ${reason.because ?? "its file cannot be used"}`;
  const objects = `${someNames(reason.objects.map(objectText))} on`;
  if (reason.kind === "waitingForHandOver")
    return `${reason.placement}: WaitingForHandOver: keeps ${objects} ${reason.cluster} until ${reason.to} takes over there`;
  if (reason.isLettingGo)
    return `${reason.placement}: ${objects} ${someNames(reason.clusters)}: ${reason.keeper} keeps that until its next version gets there`;
  const both = reason.files.join(" and ");
  return `${reason.placement}: ${objects} ${someNames(reason.clusters)}: ${reason.keeper} places the same and keeps it; take it out of one of ${both}`;
}

function refusalText(reason: Extract<Reason, { kind: "quarantined" | "selectionFailed" | "nothingSelected" }>): string {
  if (reason.kind === "quarantined") return quarantineText(reason.violations);
  return reason.kind === "nothingSelected" ? "selects nothing" : `cannot select resources: ${reason.message}`;
}

/** Reasons about deletions and their confirmations. */
function deletionText(reason: Extract<Reason, { kind: "confirmationNeeded" | "confirmationVoid" }>): string {
  if (reason.kind === "confirmationVoid") {
    const when = `when it was read, in ${reason.commit.slice(0, 7)}`;
    const { path } = confirmationFile(reason.digest);
    return `${path} confirms nothing: no deletion waited under its digest ${when}; remove it, and confirm what waits now`;
  }
  const what = `${quantity(reason.objects, "deletion")} on ${quantity(reason.clusters.length, "cluster")}`;
  const wait = reason.objects === 1 ? "waits" : "wait";
  const answer = reason.because === "protected" ? "an approval of the change" : `a confirmation of ${reason.digest}`;
  return `${someNames(reason.placements)}: ${what} ${wait} for ${answer}: ${heldReasons[reason.because]}`;
}

/** Reasons about trust, approvals and protection. */
function consentText(
  reason: Extract<Reason, { kind: "trustRefused" | "answerDenied" | "answerPending" | "protected" }>,
): string {
  switch (reason.kind) {
    case "trustRefused":
      return `every gate is closed: ${reason.code}: ${reason.message}`;
    case "answerDenied":
      return `${reason.path} of ${reason.principal} does not count: ${reason.code}: ${reason.message}`;
    case "answerPending":
      return `${reason.path} of ${reason.principal} is not judged yet: ${reason.code}: ${reason.message}`;
    case "protected": {
      if (reason.isUnreached === true) return `${reason.placement}: ${someNames(reason.clusters)}: ${reason.because}`;
      const asked = reason.digest === null ? "" : ` of request digest ${reason.digest}`;
      return `${reason.placement}: ${someNames(reason.clusters)} protected: waits for an approval${asked}: ${reason.because}`;
    }
  }
}

const runPlace = (wait: RunWait): string => ("stage" in wait && wait.stage !== null ? `, stage ${wait.stage}:` : ":");

const contactTexts: Readonly<Record<string, string>> = {
  Unreachable: "unreachable",
  NoConnection: "no connection configured",
  Unauthorized: "credentials rejected",
  Forbidden: "forbidden (403)",
  Unintelligible: "invalid response",
  IdentityChanged: "a different cluster",
};

const listed = (items: readonly string[], separator: string): string =>
  items.length === 0 ? "" : `: ${items.join(separator)}`;
