import { createHash } from "node:crypto";
import { type BlobId, type Commit, compareText, type Instant } from "../../../src/core/model/value.ts";
import type { Edit, HistoricCommit, Proposal } from "../../../src/shell/reconcile/ports.ts";
import { signedBy } from "../people/signing.ts";

/** Path → blob. Never changed in place. */
export type Tree = ReadonlyMap<string, BlobId>;

/** A commit as the hub keeps it. */
export interface HubCommit {
  readonly id: Commit;
  readonly parent: Commit | null;
  readonly tree: Tree;
  readonly message: string;
  /** Whose key signed it; null: nobody's. */
  readonly signer: string | null;
}

/** What becomes of a push onto the state branch. */
export type Pushed = { readonly kind: "committed"; readonly commit: Commit } | { readonly kind: "superseded" };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const people = ["author", "committer"].map((it) => `${it} people <people@example.com> 0 +0000`);

/** A repository in memory: a source branch that people push to, and a state branch that moves by compare-and-swap. */
export class Hub {
  source: Commit | null = null;
  state: Commit | null = null;
  /** Every commit that the state branch ever stood at, in order. */
  readonly history: Commit[] = [];
  readonly #commits = new Map<Commit, HubCommit>();
  readonly #blobs = new Map<BlobId, Uint8Array>();
  /** Every text that was ever written: most files of a commit are those of the one before. */
  readonly #written = new Map<string, BlobId>();

  commitAt(id: Commit): HubCommit {
    const found = this.#commits.get(id);
    if (found === undefined) throw new Error(`the hub has no commit ${id}`);
    return found;
  }

  treeAt(id: Commit | null): Tree {
    return id === null ? new Map() : this.commitAt(id).tree;
  }

  /** Null for an id that was never written. */
  blob(id: BlobId): Uint8Array | null {
    return this.#blobs.get(id) ?? null;
  }

  textAt(id: Commit | null, path: string): string | null {
    const blob = this.treeAt(id).get(path);
    return blob === undefined ? null : decoder.decode(this.#blobs.get(blob));
  }

  /** People push: the source branch moves to a new commit on `parent`. */
  pushSource(files: ReadonlyMap<string, string>, parent: Commit | null, signer: string | null = null): Commit {
    const tree = new Map([...files].map(([path, text]) => [path, this.#write(text)]));
    this.source = this.#record(parent, tree, { message: `people ${this.#commits.size}`, at: null, signer });
    return this.source;
  }

  /** A reconciler pushes: the state branch moves from the parent that was expected, or nothing happens. */
  pushState({ parent, edits, message, at }: Proposal): Pushed {
    if (parent !== this.state) return { kind: "superseded" };
    const tree = new Map(this.treeAt(parent));
    for (const it of edits) this.#edit(tree, it);
    const sorted = new Map([...tree].sort(([a], [b]) => compareText(a, b)));
    this.state = this.#record(parent, sorted, { message, at, signer: null });
    this.history.push(this.state);
    return { kind: "committed", commit: this.state };
  }

  descends(commit: Commit, ancestor: Commit): boolean {
    for (let at: Commit | null = commit; at !== null; at = this.commitAt(at).parent) if (at === ancestor) return true;
    return false;
  }

  /** What `head` has beyond `base`, parents first; null when that is more than `limit`. */
  historyOf(head: Commit, base: Commit | null, limit: number): readonly HistoricCommit[] | null {
    const known = new Set(base === null ? [] : this.descends(head, base) ? [base] : this.#chain(base));
    const found = this.#chain(head, known);
    return found.length > limit ? null : found.reverse().map((it) => this.#historic(this.commitAt(it)));
  }

  #chain(from: Commit, known: ReadonlySet<Commit> = new Set()): Commit[] {
    const chain: Commit[] = [];
    for (let at: Commit | null = from; at !== null && !known.has(at); at = this.commitAt(at).parent) chain.push(at);
    return chain;
  }

  #historic({ id, parent, tree, message, signer }: HubCommit): HistoricCommit {
    const before = this.treeAt(parent);
    const paths = [...new Set([...before.keys(), ...tree.keys()])].filter((it) => before.get(it) !== tree.get(it));
    const signed = signer === null ? [] : [signedBy(signer)];
    const above = [`tree ${"0".repeat(40)}`, ...(parent === null ? [] : [`parent ${parent}`]), ...people, ...signed];
    const lines = [...above, "", message];
    return {
      commit: id,
      raw: encoder.encode(lines.join("\n")),
      changes: paths
        .sort(compareText)
        .map((path) => ({ path, before: before.get(path) ?? null, after: tree.get(path) ?? null })),
      merge: null,
    };
  }

  #edit(tree: Map<string, BlobId>, edit: Edit): void {
    switch (edit.kind) {
      case "write":
        tree.set(edit.path, this.#write(edit.text));
        return;
      case "link":
        if (!this.#blobs.has(edit.blob)) throw new Error(`the hub has no blob ${edit.blob} for ${edit.path}`);
        tree.set(edit.path, edit.blob);
        return;
      case "remove":
        tree.delete(edit.path);
    }
  }

  #write(text: string): BlobId {
    const written = this.#written.get(text);
    if (written !== undefined) return written;
    const bytes = encoder.encode(text);
    const id = sha1(`blob ${bytes.length}\0${text}`) as BlobId;
    this.#blobs.set(id, bytes);
    this.#written.set(text, id);
    return id;
  }

  #record(
    parent: Commit | null,
    tree: Tree,
    { message, at, signer }: { readonly message: string; readonly at: Instant | null; readonly signer: string | null },
  ): Commit {
    const id = sha1(JSON.stringify([parent, [...tree], message, at, ...(signer === null ? [] : [signer])])) as Commit;
    this.#commits.set(id, { id, parent, tree, message, signer });
    return id;
  }
}

const sha1 = (text: string): string => createHash("sha1").update(text).digest("hex");
