// Breaks commits and signatures, the same way for the same seed.
import { Buffer } from "node:buffer";

export type Random = (below: number) => number;

/** Mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let it = Math.imul(state ^ (state >>> 15), 1 | state);
    it = (it + Math.imul(it ^ (it >>> 7), 61 | it)) ^ it;
    return Math.floor((((it ^ (it >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** One to three changes to a commit: of its bytes, of its lines, or of what its signature is made of. */
export function mutant(raw: Buffer, others: readonly Buffer[], random: Random): Buffer {
  let mutated = raw;
  for (let left = 1 + random(3) * random(2); left > 0; left--) {
    const way = ways[random(ways.length)]!; // Below their number.
    mutated = way(mutated, { random, other: others[random(others.length)]! }); // There are some.
  }
  return mutated;
}

interface Means {
  readonly random: Random;
  readonly other: Buffer;
}

type Way = (raw: Buffer, means: Means) => Buffer;

const splice = (raw: Buffer, at: number, drop: number, put: Uint8Array): Buffer =>
  Buffer.concat([raw.subarray(0, at), put, raw.subarray(at + drop)]);

const telling = [0, 9, 10, 13, 32, 45, 48, 61, 127, 128, 255];

const oneByte: Way = (raw, { random }) => {
  const byte = random(2) === 0 ? telling[random(telling.length)]! : random(256); // Below their number.
  return splice(raw, random(raw.length), 1, Buffer.from([byte]));
};

const oneBit: Way = (raw, { random }) => {
  const at = random(raw.length);
  return splice(raw, at, 1, Buffer.from([(raw[at] ?? 0) ^ (1 << random(8))]));
};

const insert: Way = (raw, { random }) => {
  const put = Buffer.from(Array.from({ length: 1 + random(4) }, () => telling[random(telling.length)] ?? 0));
  return splice(raw, random(raw.length + 1), 0, put);
};

const drop: Way = (raw, { random }) => splice(raw, random(raw.length), 1 + random(8), Buffer.alloc(0));

const linesOf = (raw: Buffer): string[] => raw.toString("latin1").split("\n");
const joined = (lines: readonly string[]): Buffer => Buffer.from(lines.join("\n"), "latin1");

const repeatLine: Way = (raw, { random }) => {
  const lines = linesOf(raw);
  return joined(lines.toSpliced(random(lines.length), 0, lines[random(lines.length)] ?? ""));
};

const swapLines: Way = (raw, { random }) => {
  const lines = linesOf(raw);
  const [a, b] = [random(lines.length), random(lines.length)];
  return joined(lines.map((line, at) => (at === a ? (lines[b] ?? "") : at === b ? (lines[a] ?? "") : line)));
};

const dropLine: Way = (raw, { random }) => {
  const lines = linesOf(raw);
  return joined(lines.toSpliced(random(lines.length), 1));
};

const strange = [
  "gpgsig x",
  "gpgsig-sha256 x",
  "tree 0",
  "parent 0",
  "encoding UTF-8",
  "x y",
  " more",
  "",
  "mergetag o",
];

const strangeLine: Way = (raw, { random }) => {
  const lines = linesOf(raw);
  return joined(lines.toSpliced(random(Math.min(lines.length, 12)), 0, strange[random(strange.length)] ?? ""));
};

const header = /gpgsig (.*\n(?: .*\n)*)/;

/** The header of one commit in another: in the place of its own, or beside it. */
const graft: Way = (raw, { random, other }) => {
  const theirs = header.exec(other.toString("latin1"))?.[0] ?? "";
  const text = raw.toString("latin1");
  return Buffer.from(
    random(2) === 0 ? text.replace(header, () => theirs) : text.replace("\n\n", () => `\n${theirs}\n`),
    "latin1",
  );
};

/** What is armored changes, and the armor fits again. */
const inside =
  (change: Way): Way =>
  (raw, means) => {
    const text = raw.toString("latin1");
    const armored = header.exec(text)?.[1]?.replaceAll("\n ", "\n") ?? "";
    const parts = /^(-----BEGIN .*\n(?:[A-Z].*: .*\n)*\n?)([A-Za-z0-9+/=\n]*?)\n(?:=(.{4})\n)?(-----END .*\n*)$/.exec(
      armored,
    );
    if (parts === null) return raw;
    const [, begin = "", body = "", sum, end = ""] = parts;
    const bytes = change(Buffer.from(body, "base64"), means);
    const width = means.random(20) > 0 ? 64 : 1 + means.random(120);
    const wrapped = bytes.toString("base64").replace(new RegExp(`.{${width}}(?=.)`, "g"), "$&\n");
    const rest = sum === undefined ? "" : `=${checksum(bytes)}\n`;
    const put = `${begin}${wrapped}\n${rest}${end}`.replace(/\n(?!$)/g, "\n ");
    return Buffer.from(
      text.replace(header, () => `gpgsig ${put}`),
      "latin1",
    );
  };

/** A length, or a number, that is a little off. */
const nudge: Way = (raw, { random }) => {
  const at = random(raw.length);
  return splice(raw, at, 1, Buffer.from([((raw[at] ?? 0) + [1, -1, 2, -2, 16, 64][random(6)]! + 256) & 255]));
};

/** The same signature at another place, between two headers. */
const move: Way = (raw, { random }) => {
  const text = raw.toString("latin1");
  const own = header.exec(text)?.[0] ?? "";
  const lines = text.replace(own, "").split("\n");
  return joined(lines.toSpliced(random(8), 0, own.replace(/\n$/, "")));
};

const asItIs: Way = (raw) => raw;
const twice: Way = (raw) => Buffer.concat([raw, raw]);

/** An OpenPGP packet may say in two ways what it is and how long. */
const newFormat: Way = (raw) => (raw[0] === 0x88 ? splice(raw, 0, 1, Buffer.of(0xc2)) : raw);

const ways: readonly Way[] = [
  ...[oneByte, oneBit, insert, drop, repeatLine, swapLines, dropLine, strangeLine, graft, move],
  ...[oneByte, oneBit, insert, drop, nudge, asItIs, twice, newFormat].map(inside),
];

function checksum(bytes: Buffer): string {
  let sum = 0xb704ce;
  for (const byte of bytes) {
    sum ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ ((sum & 0x800000) === 0 ? 0 : 0x1864cfb);
  }
  return Buffer.from([sum >> 16, sum >> 8, sum]).toString("base64");
}
