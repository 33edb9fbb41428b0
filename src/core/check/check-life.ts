import type { Binding } from "../model/binding.ts";
import type { PlacementRecord } from "../model/ledger.ts";
import type { ObjectKey } from "../model/manifest.ts";
import type { World } from "../model/plan.ts";
import { keyText, sameKey } from "./check-words.ts";

/**
 * Whether a cluster does its work, as the member itself says it now; what was recorded counts where nobody asked.
 * Perhaps: something there cannot be seen, and the planner knows since when.
 */
export function lifeOf(
  { cluster, target, facts, removal, leaving }: Binding,
  { key, resourceSnapshots }: PlacementRecord,
  { observed }: World,
): "up" | "perhaps" | "down" {
  if (removal !== null || target === null) return "down";
  const seen = observed.get(cluster);
  if (seen === undefined) {
    if (facts?.sequence !== target.sequence || facts.applied !== "applied") return "down";
    return facts.phase === "available" ? "up" : facts.phase === "untrackable" ? "perhaps" : "down";
  }
  const carried = seen.kind === "reached" ? seen.inventory.placements.get(key) : undefined;
  if (seen.kind !== "reached" || carried?.sequence !== target.sequence) return "down";
  const wanted = resourceSnapshots.find((it) => it.index === target.resourceIndex)?.resources ?? [];
  const wasUp = facts?.sequence === target.sequence && /^(available|untrackable)$/.test(facts.phase);
  const phases = wanted.flatMap(({ id }) => {
    const at = keyText(id) as ObjectKey;
    const entry = carried.entries.get(at);
    if (entry === undefined || leaving.some((it) => sameKey(at, it.id))) return [];
    if (entry.outcome.kind !== "applied") return "failed";
    const live = seen.objects.get(at);
    if (live === undefined) return "untrackable";
    // What others made of it does its work as ours would only if ours did before.
    const isOurs = live.uid === entry.uid && live.fingerprint === entry.fingerprint;
    return isOurs || wasUp ? live.health.phase : "progressing";
  });
  if (phases.some((it) => it === "failed" || it === "progressing")) return "down";
  return phases.includes("untrackable") ? "perhaps" : "up";
}

/**
 * Whether nobody knows how a cluster is with its target, so that it may well do its work: its member was not heard since
 * it got it, or does not answer. Who was heard to have failed, or has had its time, is known.
 */
export function isUnheard(
  { cluster, target, facts, removal }: Binding,
  { key, spec }: PlacementRecord,
  { observed, now }: World,
): boolean {
  if (removal !== null || target === null) return false;
  const seen = observed.get(cluster);
  const told = facts?.sequence === target.sequence ? facts : null;
  if (seen === undefined) return told === null || (told.applied !== "failed" && told.phase === "progressing");
  if (seen.kind !== "reached") return true;
  const isCarried = seen.inventory.placements.get(key)?.sequence === target.sequence;
  return !isCarried && now < target.startedAt + spec.strategy.progressDeadline;
}

/** Whether a decision takes away or changes what a cluster carries. */
export const isDisturbed = (before: Binding, after: Binding | undefined): boolean =>
  after !== undefined &&
  (after.removal !== null ||
    (after.target?.sequence !== before.target?.sequence && after.target?.digest !== before.target?.digest));
