/** The stream ended before what was asked for. */
export class EndOfBytes extends Error {}

/** A stream of chunks, read in lines and lengths. */
export class ByteSource {
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
