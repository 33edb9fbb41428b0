import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { killGroup } from "../../host/system.ts";
import { isObjectId } from "../model/commits.ts";
import { repositoryFault } from "../model/repository-fault.ts";
import { type Git, spawnGit } from "./process.ts";

/** What git stores under an id. */
type ObjectType = "blob" | "tree" | "commit";

/** Limit for the contents of one call. A fleet's files are far smaller. */
const bytesLimit = 512 << 20;

/** Longest wait for the next bytes. */
const deadlineMs = 120_000;

/**
 * Reads objects in bulk through one `git cat-file --batch` that stays: 10,000 blobs in one go instead of 10,000
 * processes (`git/README.md#libraries`), and a look at a tree without any: starting a process costs more the more
 * memory we hold.
 *
 * A child that started before somebody repacked may not find what has moved, so what is missing is asked once more of a
 * fresh child before it counts as missing. Calls take turns.
 */
export class ObjectReader {
  readonly #git: Git;
  readonly #name: string;
  #child: Batch | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(git: Git, name: string) {
    this.#git = git;
    this.#name = name;
  }

  /** Contents by id; only the first `limit` + 1 bytes of what is longer. An object of another type counts as missing. */
  read(
    type: ObjectType,
    ids: readonly string[],
    limit = bytesLimit,
  ): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
    const result = this.#turn.then(() => this.#read(type, [...new Set(ids)], limit));
    // Does not keep the result in memory until the next call.
    this.#turn = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  close(): void {
    this.#child?.end();
    this.#child = null;
  }

  async #read(type: ObjectType, ids: readonly string[], limit: number) {
    const found: Found = new Map();
    const sound = ids.filter(isObjectId);
    await this.#ask({ type, ids: sound, limit }, found);
    const missing = sound.filter((it) => !found.has(it));
    if (missing.length > 0) {
      this.close();
      await this.#ask({ type, ids: missing, limit }, found);
    }
    const lost = ids.find((it) => !found.has(it));
    if (lost === undefined) return found;
    throw repositoryFault("RepositoryCorrupt", `reading ${this.#name}`, `there is no ${type} ${lost.slice(0, 80)}`);
  }

  async #ask(question: Question, found: Found): Promise<void> {
    if (question.ids.length === 0) return;
    this.#child ??= new Batch(spawnGit(this.#git, ["cat-file", "--batch"]));
    const verdict = await this.#child.ask(question, found);
    if (verdict === "whole") return;
    this.close();
    if (verdict === "broken") return;
    throw repositoryFault(
      "RepositoryUnsupported",
      `reading ${this.#name}`,
      `more than ${bytesLimit} bytes were asked for`,
    );
  }
}

type Found = Map<string, Uint8Array<ArrayBuffer>>;

interface Question {
  readonly type: ObjectType;
  readonly ids: readonly string[];
  readonly limit: number;
}

class Batch {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #bytes: ByteSource;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#bytes = new ByteSource(child.stdout);
    child.on("error", () => {});
    child.stderr.resume();
  }

  /** Fills `found` with those that are there and are of that type. "broken" when the child ended in the middle. */
  async ask({ type: wanted, ids, limit }: Question, found: Found): Promise<"whole" | "broken" | "flood"> {
    const timer = setTimeout(() => this.end(), deadlineMs);
    this.#child.stdin.write(`${ids.join("\n")}\n`);
    let size = 0;
    try {
      for (const id of ids) {
        const [, type, length] = (await this.#bytes.line()).split(" ");
        if (length === undefined) continue;
        const kept = Math.min(Number(length), limit + 1);
        size += kept;
        if (size > bytesLimit) return "flood";
        const content = await this.#bytes.exactly(kept);
        // What is not kept, and the line's end.
        await this.#bytes.skip(Number(length) - kept + 1);
        if (type === wanted) found.set(id, content);
        timer.refresh();
      }
      return "whole";
    } catch (error) {
      if (error instanceof EndOfBytes) return "broken";
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.#child.stdin.end();
    killGroup(this.#child);
  }
}

/** The stream ended before what was asked for. */
class EndOfBytes extends Error {}

/** A stream of chunks, read in lines and lengths. */
class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    let end = this.#rest.indexOf(10);
    while (end < 0) {
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
      end = this.#rest.indexOf(10);
    }
    const line = this.#rest.toString("latin1", 0, end);
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  /** A copy of its own: a slice would keep the whole chunk in memory. */
  async exactly(size: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(size);
    let filled = 0;
    while (filled < size) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const part = this.#rest.subarray(0, size - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return bytes;
  }

  async skip(size: number): Promise<void> {
    for (let left = size; left > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const part = Math.min(left, this.#rest.length);
      this.#rest = this.#rest.subarray(part);
      left -= part;
    }
  }

  async #next(): Promise<Buffer> {
    try {
      const { value, done } = await this.#chunks.next();
      if (done !== true) return value;
    } catch {
      // A killed child destroys its stream.
    }
    throw new EndOfBytes();
  }
}
