import type { Observation } from "../../src/core/model/observation.ts";
import type { ClusterActions } from "../../src/core/model/plan.ts";
import type { Instant } from "../../src/core/model/value.ts";
import type { Fleet, MemberAddress, Receipt } from "../../src/shell/reconcile/ports.ts";
import { Member } from "../member.ts";

/**
 * Members in this process's own memory, in which everything is available at once: what is left is the cost of deciding
 * and of writing it down. What did not change is observed as the same value, as it is by a fleet that watches.
 */
export function perfectFleet(
  names: readonly string[],
): Fleet & { readonly silence: (name: string, until: boolean) => void } {
  const members = new Map(names.map((it) => [it, perfectMember(it)]));
  const seen = new Map<string, Observation>();
  const memberAt = (name: string): Member => {
    const found = members.get(name) ?? perfectMember(name);
    members.set(name, found);
    return found;
  };
  const silent = new Set<string>();
  return {
    silence: (name, isSilent) => void (isSilent ? silent.add(name) : silent.delete(name)),
    async observe({ name }: MemberAddress) {
      if (silent.has(name)) return gone;
      const observed = seen.get(name) ?? memberAt(name).observe();
      seen.set(name, observed);
      return observed;
    },
    async act({ name }: MemberAddress, actions: ClusterActions): Promise<Receipt> {
      const interrupted = memberAt(name).act(actions, Date.now() as Instant);
      seen.delete(name);
      const created = actions.placements.reduce((sum, it) => sum + it.apply.length, 0);
      return { cluster: actions.cluster, created, configured: 0, deleted: 0, released: 0, failed: 0, interrupted };
    },
    clockOffsets: () => [],
    close: async () => {},
  };
}

const gone: Observation = { kind: "unreachable", code: "Unreachable", message: "nobody answers" };

function perfectMember(name: string): Member {
  const member = new Member(name);
  member.fresh = { phase: "available" };
  return member;
}
