import { stateSignerObjection } from "../../core/audit/audit-chain.ts";
import type { TrustRecord } from "../../core/model/trust.ts";
import type { Commit, Instant } from "../../core/model/value.ts";
import { Fault } from "./fault.ts";
import type { Memory, State } from "./memory.ts";
import type { Ports, RawCommit, StateSigning } from "./ports.ts";
import { firstParentHistory } from "./repository-queries.ts";
import { readStateBranch } from "./state.ts";

/** How many commits are read first: nearly always the last one is ours. */
const atFirst = 16;

/** How far back a commit of ours is searched. */
const atMost = 10_000;

/**
 * Verifies that only we, and the machines that the trust file lists, wrote the state branch
 * (`trust/README.md#our-own-commits`).
 *
 * Begins at the latest commit that this key signed, that the operator accepted, or that was found right before: what
 * stands there is true. Every commit after it has to be signed by a machine of the trust file in force before it. Where
 * nothing vouches for anything, or something else came in between, it is a fault: nothing is written.
 */
export async function verifyStateSigners(
  { repository, verifier, clock }: Pick<Ports, "repository" | "verifier" | "clock">,
  head: Commit | null,
  stateSigning: StateSigning,
  { state: known }: Pick<Memory, "state">,
): Promise<void> {
  // What was read before is verified, and what was written since is ours.
  if (head === null || known?.commit === head) return;
  const now = clock.now();
  const isVouched = async (it: RawCommit): Promise<boolean> =>
    it.commit === known?.commit ||
    it.commit === stateSigning.accepted ||
    (await isOurs(it, stateSigning, verifier, now));
  const newer: RawCommit[] = [];
  let base: RawCommit | null = null;
  for (const limit of [atFirst, atMost]) {
    const history = await firstParentHistory(repository, head, limit);
    for (const it of history.slice(newer.length)) {
      if (await isVouched(it)) {
        base = it;
        break;
      }
      newer.push(it);
    }
    if (base !== null || history.length < limit) break;
  }
  if (base === null)
    throw tampered(repository.name, head, "is not signed by this key, and neither is any commit before it", head);
  let state: State = await readStateBranch(repository, base.commit, known);
  for (const it of newer.reverse()) {
    const objection = await objectionTo(it, state.ledger.trust, verifier, now);
    if (objection !== null) throw tampered(repository.name, it.commit, objection, head);
    state = await readStateBranch(repository, it.commit, state);
  }
}

async function isOurs(
  it: RawCommit,
  stateSigning: StateSigning,
  verifier: Ports["verifier"],
  now: Instant,
): Promise<boolean> {
  const { signature } = await verifier.commit({ ...it, changes: [], merge: null }, [], now);
  return (
    signature.kind === "ssh" && signature.namespace === "git" && signature.fingerprint === stateSigning.fingerprint
  );
}

async function objectionTo(
  it: RawCommit,
  record: TrustRecord | null,
  verifier: Ports["verifier"],
  now: Instant,
): Promise<string | null> {
  const trust = record?.trust ?? null;
  const certificates = [...(trust?.principals.values() ?? [])].flatMap((who) => [...who.openPgp.values()]);
  const { signature } = await verifier.commit({ ...it, changes: [], merge: null }, certificates, now);
  return stateSignerObjection(signature, trust, { commit: it.commit, now });
}

function tampered(name: string, commit: Commit, objection: string, head: Commit): Fault {
  return new Fault(
    "StatusTampered",
    `reading the state branch of ${name}`,
    `commit ${commit} ${objection}`,
    `see what was changed with flotilla verify and git show, and restore the branch to the last commit before it; ` +
      `if all of it is right, run once with --accept-state ${head}`,
  );
}
