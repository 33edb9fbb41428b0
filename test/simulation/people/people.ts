import { readLedger } from "../../../src/core/ledger/reader.ts";
import type { HeldDeletion } from "../../../src/core/model/deletion.ts";
import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { Commit } from "../../../src/core/model/value.ts";
import { requestsAt, type SeenRequest } from "../rules/recorded-runs.ts";
import type { Step } from "../step.ts";
import type { Hub } from "../world/hub.ts";
import { type Document, pathOf, textOf } from "./document.ts";
import type { Decision } from "./rollout-document.ts";

/** What a commit of the source branch says, by path. */
export type Draft = ReadonlyMap<string, Document>;

/** People with one working copy, and what they pushed. */
export class People {
  readonly #hub: Hub;
  #draft = new Map<string, Document>();
  /** Commits in the order in which they were pushed. */
  readonly pushed: Commit[] = [];
  readonly #drafts = new Map<Commit, Draft>();
  /** What the record showed under a digest when its confirmation was first pushed, and how far the record was. */
  readonly given = new Map<string, { readonly sequence: number; readonly set: HeldDeletion | null }>();

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  get draft(): Draft {
    return this.#draft;
  }

  /** What a pushed commit says. */
  at(commit: Commit): Draft {
    return this.#drafts.get(commit) ?? new Map();
  }

  write(document: Document): void {
    this.#draft.set(pathOf(document), document);
  }

  erase(path: string): boolean {
    return this.#draft.delete(path);
  }

  /** The working copy as it was pushed so many commits ago. */
  revert(back: number): boolean {
    const commit = this.pushed.at(-1 - back);
    if (commit === undefined) return false;
    this.#draft = new Map(this.at(commit));
    return true;
  }

  push(signer: string | null = null): Commit {
    return this.#push(this.#draft, this.#hub.source ?? this.pushed.at(-1) ?? null, signer);
  }

  /**
   * Pushes a commit that writes and erases a few files and does nothing else; the working copy follows. Gives what was
   * brought; null where there is nothing to commit on.
   */
  commitAlone(
    documents: readonly Document[],
    erased: readonly string[],
    signer: string | null,
  ): { readonly path: string; readonly commit: Commit } | null {
    const head = this.#hub.source;
    if (head === null) return null;
    const next = new Map(this.at(head));
    for (const draft of [next, this.#draft]) {
      for (const it of documents) draft.set(pathOf(it), it);
      for (const it of erased) draft.delete(it);
    }
    const [first] = documents;
    return { path: first === undefined ? "" : pathOf(first), commit: this.#push(next, head, signer) };
  }

  /** Pushes a commit without any file; the working copy stays as it is. */
  pushNothing(): Commit {
    return this.#push(new Map(), this.#hub.source);
  }

  /** Deletes the source branch. */
  removeBranch(): void {
    this.#hub.source = null;
  }

  #push(draft: Draft, parent: Commit | null, signer: string | null = null): Commit {
    const files = new Map([...draft].map(([path, it]) => [path, textOf(it)]));
    const commit = this.#hub.pushSource(files, parent, signer);
    this.#note(draft);
    this.pushed.push(commit);
    this.#drafts.set(commit, new Map(draft));
    return commit;
  }

  /** Notes what somebody who confirms deletions was shown. */
  #note(draft: Draft): void {
    const fresh = [...draft.values()].flatMap((it) =>
      it.kind === "confirmation" && !this.given.has(it.digest) ? [it.digest] : [],
    );
    if (fresh.length === 0) return;
    const ledger = ledgerAt(this.#hub, this.#hub.state);
    for (const digest of fresh) {
      const set = ledger?.deletions.held.find((it) => it.digest === digest) ?? null;
      this.given.set(digest, { sequence: ledger?.sequence ?? 0, set });
    }
  }

  /** Pushes by force on top of an earlier commit; false when there is none so far back. */
  rewrite(back: number): boolean {
    const base = this.pushed.at(-1 - back);
    if (base === undefined || back === 0) return false;
    this.#push(this.#draft, base);
    return true;
  }

  /** Confirms the deletions that a ledger says wait, or one set of them. Gives how many. */
  confirm(ledger: Ledger, only?: "first" | "last"): number {
    const waiting = ledger.deletions.held.filter((it) => !it.confirmed);
    const chosen = only === undefined ? waiting : waiting.slice(...(only === "first" ? [0, 1] : [-1]));
    for (const { digest } of chosen) this.write({ kind: "confirmation", digest });
    return chosen.length;
  }

  /** Writes every confirmation once more that anybody ever gave. Gives how many. */
  confirmAgain(): number {
    for (const digest of this.given.keys()) this.write({ kind: "confirmation", digest });
    return this.given.size;
  }

  /** All approval requests, as the record shows them. */
  get #requests(): readonly SeenRequest[] {
    return requestsAt(this.#hub, this.#hub.state);
  }

  /** Approval requests that nobody has approved, as the record shows them; changes are not rejected here. */
  openRequests(decision: Decision): readonly SeenRequest[] {
    const open = this.#requests.filter((it) => !it.isApproved);
    return decision === "Approve" ? open : open.filter((it) => !it.name.endsWith("-change"));
  }

  /**
   * Answers every approval request of the record that nobody has approved; what is taken back may have been accepted.
   * Gives how many.
   */
  answer(decision: Decision): number {
    const open = this.#requests.filter((it) => decision === "Revoke" || !it.isApproved);
    for (const { digest } of open) this.write({ kind: "approval", digest, decision });
    return open.length;
  }
}

/** The documents that steps of people write. */
export function documentOf(step: Step): Document | null {
  switch (step.do) {
    case "manifest":
      return { kind: "manifest", object: step.object, value: step.value };
    case "placement":
      return { kind: "placement", name: step.name, policy: step.policy, options: step.options };
    case "cluster":
      return { kind: "cluster", name: step.name, words: step.words };
    case "override":
      return { kind: "override", name: step.name, object: step.object, label: step.label, value: step.value };
    case "strategy":
      return { kind: "strategy", name: step.name, stages: step.stages };
    case "run": {
      const { name, placement, strategy, index, state } = step;
      return { kind: "run", name, placement, strategy, index, state };
    }
    case "evict":
      return { kind: "eviction", name: step.name, placement: step.placement, cluster: step.cluster };
    case "budget":
      return { kind: "budget", name: step.name, bound: step.bound };
    case "guards":
      return { kind: "guards", objects: step.objects, clusters: step.clusters, profile: step.profile ?? "default" };
    case "break":
      return { kind: "broken", path: step.path, how: step.how };
    default:
      return null;
  }
}

/** What people do with the source branch other than writing a document. */
export function happenInSource(step: Step, people: People): void {
  switch (step.do) {
    case "erase":
      people.erase(step.path);
      break;
    case "revert":
      people.revert(step.back);
      break;
    case "push":
      people.push(step.by ?? null);
      break;
    case "rewrite":
      people.rewrite(step.back);
      break;
    case "empty":
      people.pushNothing();
      break;
    case "vanish":
      people.removeBranch();
  }
}

/** The record of a state commit, read as a process reads it that has just begun. */
export function ledgerAt(hub: Hub, commit: Commit | null): Ledger | null {
  if (commit === null) return null;
  const texts = new Map<string, string>();
  for (const path of hub.treeAt(commit).keys()) {
    const isRecord = !/^(README\.md$|accepted\/|rendered\/)|\/resource-snapshots\/\d+\/files\//.test(path);
    if (isRecord) texts.set(path, hub.textAt(commit, path) ?? "");
  }
  const read = readLedger(texts);
  if (read.kind === "unreadable") throw new Error(`the state at ${commit} cannot be read: ${read.message}`);
  return read.ledger;
}
