import { rm } from "node:fs/promises";
import { join } from "node:path";
import git from "isomorphic-git";
import { Defect } from "../../../core/model/assert.ts";
import type { BlobId, Commit } from "../../../core/model/value.ts";
import { Fault } from "../../reconcile/fault.ts";
import type {
  BranchNames,
  CommitResult,
  Heads,
  HistoricCommit,
  Proposal,
  RawCommit,
  Repository,
  TreeChange,
  TreeFile,
} from "../../reconcile/ports.ts";
import { cacheNameOf, exchangeDeadlineMs, type HttpAddress, type RemoteOptions, redact } from "../model/address.ts";
import { type Branches, branchNamesOf, refOf, trackingRef } from "../model/branch.ts";
import { identityLine, type SignCommit, signedCommit } from "../model/commits.ts";
import { repositoryFault } from "../model/repository-fault.ts";
import { isoDescends, isoHistory, isoLineage } from "./iso-history.ts";
import { codeOf, isoFault, isoHttp } from "./iso-http.ts";
import { changesBetween, type IsoStore, listFiles, writeTrees } from "./iso-tree.ts";
import { type ClaimedFolder, claimFolder, atomicFiles as fs } from "./mirror-folder.ts";

/** Times that we look again when a branch was rewritten between asking where it is and fetching it. */
const attempts = 3;

/** What the server may say about one push, in lines. */
const messageLimit = 100;

const nothing = "0".repeat(40);

/** Opens a hub behind http(s) through isomorphic-git: slower, otherwise the same (`git/README.md#libraries`). */
export async function openIso(address: HttpAddress, options: RemoteOptions): Promise<Repository> {
  const during = `preparing a mirror of ${address.name}`;
  const folder = await claimFolder(options.cacheFolder, `${cacheNameOf(address.url)}.iso`).catch((cause: unknown) => {
    const fix = "give --cache a folder that can be written";
    throw repositoryFault("RepositoryRefused", during, "the cache folder cannot be written", { fix, cause });
  });
  const repository = new IsoRepository(address, options, folder);
  await repository.prepare();
  return repository;
}

class IsoRepository implements Repository {
  readonly name: string;
  readonly #address: HttpAddress;
  readonly #branches: Branches;
  readonly #folder: ClaimedFolder;
  readonly #deadlineMs: number;
  readonly #sign: SignCommit | null;
  #store: IsoStore;

  constructor(address: HttpAddress, options: RemoteOptions, folder: ClaimedFolder) {
    this.name = address.name;
    this.#address = address;
    this.#branches = options.branches;
    this.#folder = folder;
    this.#deadlineMs = options.deadlineMs ?? exchangeDeadlineMs;
    this.#sign = options.sign ?? null;
    this.#store = { gitdir: join(folder.path, "git"), cache: {} };
  }

  prepare(): Promise<void> {
    return this.#guarded(`preparing a mirror of ${this.name}`, async () => {
      const { gitdir } = this.#store;
      await git.init({ fs, gitdir, bare: true, defaultBranch: "none" });
      await git.addRemote({ fs, gitdir, remote: "origin", url: this.#address.url, force: true });
    });
  }

  async heads(): Promise<Heads> {
    const during = `fetching ${this.name}`;
    const look = (): Promise<Heads> => this.#guarded(during, () => this.#look());
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "RepositoryCorrupt") throw error;
    }
    // A mirror that a crash or a full disk damaged is worth nothing: it is fetched anew (`git/README.md#f-05`).
    await rm(this.#store.gitdir, { recursive: true, force: true });
    this.#store = { ...this.#store, cache: {} };
    await this.prepare();
    return look();
  }

  branches(): Promise<BranchNames> {
    const { source, state } = this.#branches;
    return this.#guarded(`asking ${this.name}`, async () => {
      const refs = await git.listServerRefs({ ...this.#exchange(), symrefs: true });
      const head = refs.find((it) => it.ref === "HEAD")?.target ?? null;
      const names = refs.map((it) => it.ref);
      return { source, state, there: branchNamesOf(names, head) };
    });
  }

  files(commit: Commit, under?: string): Promise<readonly TreeFile[]> {
    return this.#guarded(`reading ${this.name}`, () => listFiles(this.#store, commit, under));
  }

  changes(from: Commit | null, to: Commit, enters?: (folder: string) => boolean): Promise<readonly TreeChange[]> {
    return this.#guarded(`reading ${this.name}`, () => changesBetween(this.#store, from, { to, enters }));
  }

  blobs(ids: readonly BlobId[], limit = Number.POSITIVE_INFINITY): Promise<ReadonlyMap<BlobId, Uint8Array>> {
    return this.#guarded(`reading ${this.name}`, async () => {
      const found = new Map<BlobId, Uint8Array>();
      // One after another: inflating is synchronous, so reading at once only costs memory (`git/README.md#libraries`).
      for (const oid of new Set(ids)) {
        const { blob } = await git.readBlob({ fs, ...this.#store, oid });
        found.set(oid, blob.length > limit ? blob.slice(0, limit + 1) : blob);
      }
      return found;
    });
  }

  async descends(commit: Commit, ancestor: Commit): Promise<boolean> {
    if (commit === ancestor) return true;
    return this.#guarded(`reading the history of ${this.name}`, () => isoDescends(this.#store, commit, ancestor));
  }

  history(head: Commit, base: Commit | null, limit: number): Promise<readonly HistoricCommit[] | null> {
    return this.#guarded(`reading the history of ${this.name}`, () => isoHistory(this.#store, { head, base, limit }));
  }

  firstParents(head: Commit, limit: number): Promise<readonly RawCommit[]> {
    return this.#guarded(`reading the history of ${this.name}`, () => isoLineage(this.#store, head, limit));
  }

  async commit(proposal: Proposal): Promise<CommitResult> {
    const commit = await this.#guarded(`writing to ${this.name}`, () => this.#write(proposal));
    const said: string[] = [];
    try {
      await this.#push(commit, proposal.parent, said);
    } catch (error) {
      if (!(await this.#landed(commit, proposal.parent, { error, said }))) return { kind: "superseded" };
    }
    // Only saves the next fetch some work: the push counts already.
    await this.#track(this.#branches.state, commit).catch(() => {});
    return { kind: "committed", commit };
  }

  close(): Promise<void> {
    return this.#folder.release();
  }

  /** Asks where both branches are, and fetches those whose commit is not here yet. */
  async #look(): Promise<Heads> {
    const { source, state } = this.#branches;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const heads = await this.#list();
      if ((await this.#brought(source, heads.source)) && (await this.#brought(state, heads.state))) return heads;
    }
    throw repositoryFault("RepositoryUnreachable", `fetching ${this.name}`, "the branches keep moving");
  }

  async #list(): Promise<Heads> {
    const refs = await git.listServerRefs({ ...this.#exchange(), prefix: "refs/heads/" });
    const headOf = (branch: string): Commit | null => {
      const oid = refs.find((it) => it.ref === refOf(branch))?.oid;
      if (oid === undefined || oid.length === nothing.length) return (oid as Commit | undefined) ?? null;
      throw repositoryFault("RepositoryUnsupported", `fetching ${this.name}`, "its object format is not sha1");
    };
    return { source: headOf(this.#branches.source), state: headOf(this.#branches.state) };
  }

  /**
   * Whether the commit is here, fetched if need be. Our own tracking ref moves once it is readable: isomorphic-git's
   * refs come before the pack arrives (`git/README.md#libraries`), and are never looked at.
   */
  async #brought(branch: string, head: Commit | null): Promise<boolean> {
    if (head === null || (await this.#has(head))) return true;
    const { gitdir, cache } = this.#store;
    const ref = trackingRef(branch);
    const common = { fs, gitdir, cache, ...this.#exchange(), remote: "origin", singleBranch: true, tags: false };
    await git.fetch({ ...common, ref, remoteRef: refOf(branch) });
    if (!(await this.#has(head))) return false;
    await this.#track(branch, head);
    return true;
  }

  #has(oid: Commit): Promise<boolean> {
    return git.readCommit({ fs, ...this.#store, oid }).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === "NotFoundError") return false;
        throw error;
      },
    );
  }

  async #track(branch: string, value: Commit): Promise<void> {
    await git.writeRef({ fs, gitdir: this.#store.gitdir, ref: trackingRef(branch), value, force: true });
  }

  /** Byte for byte what the git program writes, so that both engines give one proposal one id. */
  async #write({ parent, edits, message, at }: Proposal): Promise<Commit> {
    const tree = await writeTrees(this.#store, parent, edits);
    const parents = parent === null ? "" : `parent ${parent}\n`;
    const signature = identityLine(at);
    const text = `tree ${tree}\n${parents}author ${signature}\ncommitter ${signature}\n\n${message}`;
    const bare = Buffer.from(text);
    const object = this.#sign === null ? bare : signedCommit(bare, this.#sign);
    const { gitdir } = this.#store;
    return (await git.writeObject({ fs, gitdir, type: "commit", format: "content", object })) as Commit;
  }

  /** The old id goes with the push, so the server's own check makes it a compare-and-swap. */
  async #push(commit: Commit, parent: Commit | null, said: string[]): Promise<void> {
    const scratch = `refs/flotilla/write/${commit}`;
    const { gitdir, cache } = this.#store;
    await git.writeRef({ fs, gitdir, ref: scratch, value: commit, force: true });
    try {
      await git.push({
        fs,
        gitdir,
        cache,
        ...this.#exchange(),
        remote: "origin",
        ref: scratch,
        remoteRef: refOf(this.#branches.state),
        force: true,
        onPrePush: ({ remoteRef }) => remoteRef.oid === (parent ?? nothing),
        onMessage: (line) => {
          if (said.length < messageLimit) said.push(line.trimEnd());
        },
      });
    } finally {
      await git.deleteRef({ fs, gitdir, ref: scratch });
    }
  }

  /**
   * What a push that failed, or whose answer got lost, amounts to: the branch tells (`git/README.md#f-10`, `#f-12`).
   * True when it is there, false when somebody else moved the branch; a branch that did not move means a refusal.
   */
  async #landed(commit: Commit, parent: Commit | null, failed: FailedPush): Promise<boolean> {
    const { state } = await this.heads();
    if (state !== parent) return state !== null && this.descends(state, commit);
    const during = `pushing to ${this.name}`;
    const fault = isoFault(failed.error, during, this.#address.secrets);
    if (fault.code !== "RepositoryRefused" || failed.said.length === 0) throw fault;
    const message = redact([...failed.said, fault.message].join("\n"), this.#address.secrets);
    throw repositoryFault("RepositoryRefused", during, message, { cause: failed.error });
  }

  /** Fresh each time: isomorphic-git writes into the headers that it is given. */
  #exchange() {
    return { http: isoHttp(this.#address.authorization, this.#deadlineMs), url: this.#address.url, headers: {} };
  }

  async #guarded<T>(during: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Defect) throw error;
      throw isoFault(error, during, this.#address.secrets);
    }
  }
}

interface FailedPush {
  readonly error: unknown;
  /** The server's words, hooks' included. */
  readonly said: readonly string[];
}
